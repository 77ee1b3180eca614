import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from probforest import ProbabilisticDecisionTreeClassifier
from problems import random_problem


def test_exact_tree_reports_what_scikit_learn_reports():
    X, y = load_iris(return_X_y=True)
    # one feature: no equal splits on different features
    ours = ProbabilisticDecisionTreeClassifier(max_depth=3).fit(X[:, 2:3], y)
    theirs = DecisionTreeClassifier(max_depth=3).fit(X[:, 2:3], y)
    assert ours.get_depth() == theirs.get_depth()
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    tree, reference = ours.tree_, theirs.tree_
    np.testing.assert_array_equal(tree.left, reference.children_left)
    np.testing.assert_array_equal(tree.right, reference.children_right)
    inner = tree.feature >= 0
    np.testing.assert_allclose(tree.threshold[inner], reference.threshold[inner])
    np.testing.assert_allclose(tree.value, reference.value[:, 0])
    np.testing.assert_allclose(tree.weight, reference.weighted_n_node_samples)
    np.testing.assert_allclose(tree.impurity, reference.impurity, atol=1e-12)
    np.testing.assert_array_equal(ours.apply(X[:, 2:3]), theirs.apply(X[:, 2:3]))


def test_importances_of_an_exact_tree():
    X, y = load_iris(return_X_y=True)
    y = y[50:]  # two classes, where the best splits are unique
    ours = ProbabilisticDecisionTreeClassifier(max_depth=2).fit(X[50:], y)
    theirs = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X[50:], y)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-9)


def test_leaf_probabilities_of_a_tree():
    problem = random_problem(1, n=80)
    y = problem.pmf.argmax(axis=1)
    tree = ProbabilisticDecisionTreeClassifier(keep_proba=0.0).fit(problem.values, y, X_err=problem.errors)
    leaves = tree.leaf_proba(problem.values, X_err=problem.errors)
    assert leaves.shape == (80, tree.get_n_leaves())
    expected = leaves @ tree.tree_.value[tree.tree_.leaves]
    np.testing.assert_allclose(tree.predict_proba(problem.values, X_err=problem.errors), expected, atol=1e-12)
    assert tree.apply(problem.values, X_err=problem.errors).shape == (80,)


def test_a_tree_of_all_features_does_not_depend_on_the_seed_and_one_of_some_does():
    problem = random_problem(2, n=100, d=6)
    y = problem.pmf.argmax(axis=1)

    def features(**options):
        tree = ProbabilisticDecisionTreeClassifier(**options).fit(problem.values, y, X_err=problem.errors)
        return tree.tree_.feature.tolist()

    assert features(random_state=0) == features(random_state=1)
    assert features(random_state=0, max_features=2) != features(random_state=1, max_features=2)


@pytest.mark.parametrize(
    ("max_features", "expected"),
    [("auto", 4), ("sqrt", 3), ("log2", 3), (0.5, 5), (4, 4), (None, 10), (1.0, 10), (0.01, 1)],
)
def test_number_of_features(max_features, expected):
    from probforest.inputs.parameters import number_of_features

    assert number_of_features(max_features, 10) == expected
