"""The laws of the method: identities and limits that hold whatever the data."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from probforest import ProbabilisticDecisionTreeClassifier, ProbabilisticRandomForestClassifier
from problems import random_problem

TABLES = {"iris": load_iris, "wine": load_wine, "digits": load_digits, "cancer": load_breast_cancer}
FULL_GRID = 65_535


def leaf_impurity(weight, impurity, is_leaf):
    return np.sum((weight * impurity)[is_leaf]) / weight[0]


def leaf_impurity_of(tree):
    return leaf_impurity(tree.weight, tree.impurity, tree.feature == -1)


def sklearn_leaf_impurity(tree):
    return leaf_impurity(tree.weighted_n_node_samples, tree.impurity, tree.children_left == -1)


def first_difference(ours, theirs):
    """Walk both trees together; (our node, their node, depth) where the splits first differ on each way down."""
    found, pending = [], [(0, 0, 0)]
    while pending:
        a, b, depth = pending.pop()
        ours_is_leaf, theirs_is_leaf = ours.feature[a] == -1, theirs.children_left[b] == -1
        if ours_is_leaf and theirs_is_leaf:
            continue
        same = ours.feature[a] == theirs.feature[b] and np.isclose(ours.threshold[a], theirs.threshold[b], rtol=1e-6)
        if ours_is_leaf != theirs_is_leaf or not same:
            found.append((a, b, depth))
        else:
            pending.append((ours.left[a], theirs.children_left[b], depth + 1))
            pending.append((ours.right[a], theirs.children_right[b], depth + 1))
    return found


def sklearn_decrease(tree, node):
    weight, impurity = tree.weighted_n_node_samples, tree.impurity
    left, right = tree.children_left[node], tree.children_right[node]
    children = (weight[left] * impurity[left] + weight[right] * impurity[right]) / weight[node]
    return impurity[node] - children


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_exact_tree_is_a_cart_tree(name, criterion):
    """The same impurity at every depth. Where two splits of a node are equally good, either tree may take another one
    and differ below; then the two splits are shown to be equally good."""
    X, y = TABLES[name](return_X_y=True)
    depths = [*range(1, 16), None]
    equal = 0
    for depth in depths:
        ours = ProbabilisticDecisionTreeClassifier(max_depth=depth, criterion=criterion, max_bins=FULL_GRID).fit(X, y)
        theirs = DecisionTreeClassifier(max_depth=depth, criterion=criterion, random_state=0).fit(X, y)
        differences = first_difference(ours.tree_, theirs.tree_)
        for a, b, _ in differences:
            assert ours.tree_.decrease[a] == pytest.approx(sklearn_decrease(theirs.tree_, b), abs=1e-9)
        if all(depth_of_difference + 1 == depth for _, _, depth_of_difference in differences):
            assert leaf_impurity_of(ours.tree_) == pytest.approx(sklearn_leaf_impurity(theirs.tree_), abs=1e-9)
            equal += 1
        if depth is None:
            assert leaf_impurity_of(ours.tree_) == pytest.approx(0, abs=1e-12)
            assert ours.score(X, y) == 1.0
    assert equal > 0


@pytest.mark.parametrize("name", TABLES)
def test_every_node_of_an_exact_tree_is_the_best_split_of_cart(name):
    """Below a tie two trees can't be compared, but each node can: with a stump of scikit-learn on its objects."""
    X, y = TABLES[name](return_X_y=True)
    tree = ProbabilisticDecisionTreeClassifier(max_bins=FULL_GRID).fit(X, y).tree_
    pending = [(0, np.arange(len(y)))]
    depth = {0: 0}
    while pending:
        node, rows = pending.pop()
        assert tree.weight[node] == len(rows)
        stump = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X[rows], y[rows]).tree_
        assert tree.impurity[node] == pytest.approx(stump.impurity[0], abs=1e-12)
        if tree.feature[node] == -1:
            assert stump.node_count == 1
            continue
        assert tree.decrease[node] == pytest.approx(sklearn_decrease(stump, 0), abs=1e-9)
        goes_left = X[rows, tree.feature[node]] <= tree.threshold[node]
        for child, those in ((tree.left[node], rows[goes_left]), (tree.right[node], rows[~goes_left])):
            depth[child] = depth[node] + 1
            pending.append((child, those))
    assert max(depth.values()) >= 5
    assert len(depth) == tree.n_nodes


@pytest.mark.parametrize("name", TABLES)
def test_exact_forest_is_as_good_as_a_random_forest(name):
    X, y = TABLES[name](return_X_y=True)
    ours, theirs = [], []
    for seed in range(8):
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=seed, stratify=y)
        ours.append(
            ProbabilisticRandomForestClassifier(50, random_state=seed).fit(X_train, y_train).score(X_test, y_test)
        )
        theirs.append(RandomForestClassifier(50, random_state=seed).fit(X_train, y_train).score(X_test, y_test))
    difference = np.array(ours) - np.array(theirs)
    scatter = max(np.std(theirs), 0.5 / len(y_test))
    assert abs(difference.mean()) < scatter


@pytest.mark.parametrize("max_bins", [16, 255, FULL_GRID])
def test_vanishing_errors_give_the_forest_without_errors(max_bins):
    problem = random_problem(1, n=200, d=5, k=3, noise=0.0)
    y = problem.pmf.argmax(axis=1)
    queries = random_problem(2, n=100, d=5, noise=0.0).values
    exact = ProbabilisticRandomForestClassifier(20, random_state=0, max_bins=max_bins).fit(problem.values, y)
    expected = exact.predict_proba(queries)
    distance = []
    for error in (1e-1, 1e-3, 1e-9, 0.0):
        forest = ProbabilisticRandomForestClassifier(20, random_state=0, max_bins=max_bins)
        forest.fit(problem.values, y, X_err=error)
        distance.append(np.abs(forest.predict_proba(queries, X_err=error) - expected).max())
    assert distance[0] > 0.05
    assert distance[2] < 1e-6
    assert distance[3] == 0


def test_hard_labels_do_not_know_label_information():
    problem = random_problem(3, n=100, d=4)
    y = problem.pmf.argmax(axis=1)
    kwargs = {"n_estimators": 10, "random_state": 0}
    on = ProbabilisticRandomForestClassifier(**kwargs, label_information=True).fit(
        problem.values, y, X_err=problem.errors
    )
    off = ProbabilisticRandomForestClassifier(**kwargs, label_information=False)
    off.fit(problem.values, y, X_err=problem.errors, y_proba=np.ones(100))
    for a, b in zip(on.trees_, off.trees_, strict=True):
        np.testing.assert_array_equal(a.value, b.value)


@pytest.mark.parametrize("max_bins", [16, 255])
def test_an_object_with_a_uniform_label_changes_nothing_at_all(max_bins):
    problem = random_problem(4, n=80, d=4, k=3, soft=True, missing=0.05)
    kwargs = {"n_estimators": 30, "random_state": 0, "max_bins": max_bins, "class_weight": "balanced"}
    problem.errors[5, 0] = np.nan  # takes the median error
    without = ProbabilisticRandomForestClassifier(**kwargs)
    without.fit(problem.values, X_err=problem.errors, y_proba=problem.pmf, classes=[0, 1, 2])
    values = np.vstack([problem.values[:30], [[1e3, -5.0, 0.0, np.nan]], problem.values[30:]])
    errors = np.vstack([problem.errors[:30], [[9.0, 0.0, 1.0, 1.0]], problem.errors[30:]])
    pmf = np.vstack([problem.pmf[:30], np.full((1, 3), 1 / 3), problem.pmf[30:]])
    with_it = ProbabilisticRandomForestClassifier(**kwargs, oob_score=True)
    with_it.fit(values, X_err=errors, y_proba=pmf, classes=[0, 1, 2])
    for a, b in zip(without.trees_, with_it.trees_, strict=True):
        np.testing.assert_array_equal(a.threshold, b.threshold)
        np.testing.assert_allclose(a.value, b.value, rtol=1e-12)
    # no tree drew it, so all of them judge it
    expected = without.predict_proba(values[[30]], X_err=errors[[30]])
    np.testing.assert_allclose(with_it.oob_decision_function_[[30]], expected, rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_an_object_without_any_value_gets_the_class_frequencies(seed):
    problem = random_problem(seed, n=60, d=3, k=3, missing=0.2, soft=True, weighted=True)
    tree = ProbabilisticDecisionTreeClassifier(keep_proba=0.0, missing="observed", label_information=False)
    tree.fit(problem.values, X_err=problem.errors, y_proba=problem.pmf, classes=[0, 1, 2], sample_weight=problem.weight)
    assert tree.get_n_leaves() > 3
    expected = problem.weight @ problem.pmf / problem.weight.sum()
    np.testing.assert_allclose(tree.predict_proba(np.full((1, 3), np.nan), X_err=0.0)[0], expected, atol=1e-12)


def test_keep_proba_one_follows_one_path_and_zero_loses_nothing():
    problem = random_problem(6, n=100, d=4, noise=1.0, missing=0.1)
    y = problem.pmf.argmax(axis=1)
    for keep_proba in (0.0, 0.05, 1.0):
        forest = ProbabilisticRandomForestClassifier(5, keep_proba=keep_proba, random_state=0)
        forest.fit(problem.values, y, X_err=problem.errors)
        leaves = forest.leaf_proba(problem.values, X_err=problem.errors)
        if keep_proba == 1.0:
            assert leaves.nnz == 5 * 100
        if keep_proba == 0.0:
            np.testing.assert_allclose(leaves.sum(axis=1), 5, atol=1e-11)
        else:
            assert leaves.sum() < 500


def test_with_errors_the_forest_beats_one_that_ignores_them():
    """The point of it all, on the paper's hardest noise: every cell has its own error."""
    random = np.random.default_rng(0)
    gains = []
    for seed in range(3):
        n = 2000
        y = random.integers(0, 2, n)
        truth = random.normal(0, 1, (n, 10)) + np.where(y[:, None] == 1, 0.5, -0.5)
        errors = 4 * random.random((n, 10)) ** 2
        values = truth + errors * random.normal(0, 1, (n, 10))
        train, test = slice(0, 1000), slice(1000, n)
        ours = ProbabilisticRandomForestClassifier(50, random_state=seed).fit(
            values[train], y[train], X_err=errors[train]
        )
        theirs = RandomForestClassifier(50, random_state=seed).fit(values[train], y[train])
        gains.append(ours.score(values[test], y[test], X_err=errors[test]) - theirs.score(values[test], y[test]))
    assert np.mean(gains) > 0.01


@pytest.mark.parametrize("max_bins", [16, 255, 65_535])
@pytest.mark.parametrize("missing", ["observed", "equal", "learned"])
def test_tiny_errors_are_none_also_beside_missing_values(max_bins, missing):
    """Missing values make weights that are no whole numbers: no split may part a value to fill a leaf."""
    for seed in range(6):
        problem = random_problem(seed, n=40, k=2 + seed % 2, missing=0.2, weighted=seed % 2 == 1)
        label = problem.pmf.argmax(axis=1)
        forest = ProbabilisticRandomForestClassifier(3, random_state=0, max_bins=max_bins, missing=missing)
        answers = [
            clone(forest)
            .fit(problem.values, label, X_err=error, sample_weight=problem.weight)
            .predict_proba(problem.values, X_err=error)
            for error in (None, 1e-12)
        ]
        np.testing.assert_allclose(answers[1], answers[0], atol=1e-6)
