"""Doubtful labels: answers are about the true classes."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import log_loss

from probforest import ProbabilisticDecisionTreeClassifier, ProbabilisticRandomForestClassifier
from probforest.datasets import flip_labels, make_two_classes
from probforest.trees.label_truth import INFORMATION_SHARE
from problems import random_problem

PROBLEM = random_problem(0, n=150, d=3, k=3, soft=True, missing=0.05, weighted=True)
QUERY = random_problem(1, n=40, d=3, k=3)
FOREST = ProbabilisticRandomForestClassifier(20, random_state=0)
TREE = ProbabilisticDecisionTreeClassifier(random_state=0)
both = pytest.mark.parametrize("model", [FOREST, TREE], ids=["forest", "tree"])


def fitted(model, pmf=PROBLEM.pmf, **options):
    model = clone(model).set_params(**options)
    return model.fit(PROBLEM.values, X_err=PROBLEM.errors, y_proba=pmf, classes=[0, 1, 2], sample_weight=PROBLEM.weight)


def answers(model):
    return model.predict_proba(QUERY.values, X_err=QUERY.errors)


def mean_labels(model):
    """What the leaves say, without the way back to the truth."""
    trees = model.trees_ if hasattr(model, "trees_") else [model.tree_]
    reach = model.leaf_proba(QUERY.values, X_err=QUERY.errors).toarray()
    values = np.vstack([tree.value[tree.leaves] for tree in trees])
    starts = np.cumsum([0, *(len(tree.leaves) for tree in trees)])
    each = [reach[:, a:b] @ values[a:b] / reach[:, a:b].sum(axis=1)[:, None] for a, b in pairwise(starts)]
    return np.mean(each, axis=0)


@both
def test_certain_labels_stay_as_they_are(model):
    hard = np.eye(3)[PROBLEM.pmf.argmax(axis=1)]
    by_pmf = fitted(model, hard)
    by_label = clone(model).fit(
        PROBLEM.values, PROBLEM.pmf.argmax(axis=1), X_err=PROBLEM.errors, sample_weight=PROBLEM.weight
    )
    assert by_pmf.label_truth_ is None
    assert by_label.label_truth_ is None
    np.testing.assert_array_equal(answers(by_pmf), answers(by_label))
    np.testing.assert_allclose(answers(by_pmf), mean_labels(by_pmf), atol=1e-12)


@both
@pytest.mark.parametrize("options", [{}, {"label_information": False}, {"class_weight": "balanced"}])
def test_answers_are_the_truth_behind_the_mean_labels(model, options):
    model = fitted(model, **options)
    found = answers(model)
    np.testing.assert_allclose(found, model.label_truth_.answers(mean_labels(model)), atol=1e-9)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert (found > 0).all()
    assert np.abs(found - mean_labels(model)).max() > 0.02
    np.testing.assert_array_equal(model.predict(QUERY.values, X_err=QUERY.errors), model.classes_[found.argmax(axis=1)])
    np.testing.assert_array_equal(model.predict_log_proba(QUERY.values, X_err=QUERY.errors), np.log(found))


def naive_leaf_means(tree, values, errors, pmf, weight):
    """Mean PMFs of leaves, object by object."""
    masses = np.zeros(tree.tree_.value.shape)
    reach = tree.leaf_proba(values, X_err=errors).toarray()
    for i in range(len(values)):
        for column, leaf in enumerate(tree.tree_.leaves):
            masses[leaf] += weight[i] * reach[i, column] * pmf[i]
    return masses[tree.tree_.leaves] / masses[tree.tree_.leaves].sum(axis=1)[:, None]


def test_most_of_a_leaf_does_without_label_information():
    tree = fitted(TREE)
    information = (3 * np.square(PROBLEM.pmf).sum(axis=1) - 1) / 2
    cases = PROBLEM.values, PROBLEM.errors, PROBLEM.pmf
    plain = naive_leaf_means(tree, *cases, PROBLEM.weight)
    weighted = naive_leaf_means(tree, *cases, PROBLEM.weight * information)
    expected = (1 - INFORMATION_SHARE) * plain + INFORMATION_SHARE * weighted
    np.testing.assert_allclose(tree.tree_.value[tree.tree_.leaves], expected, rtol=1e-9)
    alike = fitted(TREE, label_information=False)
    expected = naive_leaf_means(alike, *cases, PROBLEM.weight)
    np.testing.assert_allclose(alike.tree_.value[alike.tree_.leaves], expected, rtol=1e-9)


def two_clumps(n, wrong):
    """Objects at 0 are all of class 0, those at 1 of class 1; exactly a share `wrong` of their labels is wrong."""
    y = np.repeat([0, 1], n)
    flipped = np.tile(np.arange(n) < round(wrong * n), 2)
    return y[:, None].astype(float), np.where(flipped, 1 - y, y), np.full(2 * n, 1 - wrong)


@both
@pytest.mark.parametrize("wrong", [0.1, 0.2, 0.4])
def test_a_pure_leaf_under_known_flips_answers_one(model, wrong):
    """The more objects it has, the closer: with few of them, flips could be another share by chance."""
    off = []
    for n in (100, 5000, 200_000 if model is TREE else 20_000):
        X, y, confidence = two_clumps(n, wrong)
        found = clone(model).fit(X, y, y_proba=confidence).predict_proba([[0.0], [1.0]])
        off.append(np.abs(found - np.eye(2)).max())
    assert off[0] > 2 * off[2]
    assert max(off[1:]) < 0.15
    assert off[2] < 0.05


def test_answers_have_a_better_log_loss_than_mean_labels():
    X, y = make_two_classes(3000, random_state=0)
    labels = flip_labels(y[:1500], 0.2, random_state=1)
    forest = clone(FOREST).set_params(n_estimators=50).fit(X[:1500], labels.y, y_proba=labels.confidence)
    found = forest.predict_proba(X[1500:])
    accuracy = forest.score(X[1500:], y[1500:])
    assert forest.label_truth_.wrong == pytest.approx(0.2)
    forest.label_truth_ = None
    assert log_loss(y[1500:], found) < log_loss(y[1500:], forest.predict_proba(X[1500:])) - 0.1
    assert accuracy > forest.score(X[1500:], y[1500:]) - 0.01


@pytest.mark.parametrize(
    ("class_weight", "odds"), [(None, 9), ({0: 1, 1: 3}, 3), ("balanced", 1), ("balanced_subsample", 1)]
)
def test_class_weights_multiply_the_true_classes(class_weight, odds):
    """A rare class, at N(2, 1) instead of N(0, 1), of which 40 % are labelled as the frequent one."""
    n, random, x = 20_000, np.random.default_rng(0), np.array([-2.0, 1.0, 2.0, 3.0])
    y = (random.random(n) < 0.1).astype(int)
    values = (2.0 * y + random.normal(size=n))[:, None]
    joint = np.array([[0.9], [0.1]]) * np.array([[0.95, 0.05], [0.4, 0.6]])
    pmf = (joint / joint.sum(axis=0)).T[(random.random(n) < np.where(y == 1, 0.6, 0.05)).astype(int)]
    forest = ProbabilisticRandomForestClassifier(50, class_weight=class_weight, random_state=0, min_samples_leaf=200)
    found = forest.fit(values, y_proba=pmf, classes=[0, 1]).predict_proba(x[:, None])[:, 1]
    np.testing.assert_allclose(found, 1 / (1 + odds * np.exp(2 - 2 * x)), atol=0.12)


def test_out_of_bag_answers_are_about_the_truth_as_well():
    X, y = make_two_classes(1000, random_state=0)
    labels = flip_labels(y, 0.3, random_state=1)
    forest = clone(FOREST).set_params(n_estimators=50, oob_score=True).fit(X, labels.y, y_proba=labels.confidence)
    found = forest.oob_decision_function_
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert forest.oob_score_ == np.mean(forest.classes_[found.argmax(axis=1)] == labels.y)
    truth, forest.label_truth_ = forest.label_truth_, None
    assert log_loss(y, found) < 0.6  # an answer that says nothing has 0.69
    total = np.zeros((1000, 2))
    counts = np.zeros(1000)
    for tree, draw in zip(forest.trees_, forest.draws_, strict=True):
        left_out = draw.counts() == 0
        single = clone(forest).set_params(oob_score=False)
        single.__dict__.update({**forest.__dict__, "trees_": [tree]})
        total[left_out] += single.predict_proba(X)[left_out]
        counts += left_out
    np.testing.assert_allclose(found, truth.answers(total / counts[:, None]), atol=1e-9)


def test_votes_are_counted_as_they_are():
    soft, votes = fitted(FOREST), fitted(FOREST, voting="majority")
    np.testing.assert_array_equal(soft.label_truth_.channel, votes.label_truth_.channel)
    assert soft.label_truth_.softness == votes.label_truth_.softness  # learnt from means, not from votes
    shares = answers(votes) * 20
    np.testing.assert_allclose(shares, shares.round(), atol=1e-9)
    np.testing.assert_array_equal(answers(votes.set_params(voting="soft")), answers(soft))


def test_trees_that_are_added_give_the_forest_that_was_grown_at_once():
    at_once = fitted(FOREST)
    later = clone(FOREST).set_params(n_estimators=8, warm_start=True)
    for n_trees in (8, 20):
        later.set_params(n_estimators=n_trees).fit(
            PROBLEM.values,
            X_err=PROBLEM.errors,
            y_proba=PROBLEM.pmf,
            classes=[0, 1, 2],
            sample_weight=PROBLEM.weight,
        )
    np.testing.assert_array_equal(answers(later), answers(at_once))


def test_the_number_of_threads_changes_nothing():
    np.testing.assert_array_equal(answers(fitted(FOREST, n_jobs=2)), answers(fitted(FOREST, n_jobs=1)))


@both
def test_the_names_of_classes_change_nothing(model):
    order = [2, 0, 1]
    permuted = clone(model).fit(
        PROBLEM.values,
        X_err=PROBLEM.errors,
        y_proba=PROBLEM.pmf[:, order],
        classes=[0, 1, 2],
        sample_weight=PROBLEM.weight,
    )
    np.testing.assert_allclose(answers(permuted), answers(fitted(model))[:, order], atol=1e-6)


@both
def test_an_object_without_information_changes_nothing(model):
    before = fitted(model)
    after = clone(model).fit(
        np.vstack([PROBLEM.values, [[50.0, 0.0, -50.0]]]),
        X_err=np.vstack([PROBLEM.errors, [[1.0, 1.0, 1.0]]]),
        y_proba=np.vstack([PROBLEM.pmf, np.full((1, 3), 1 / 3)]),
        classes=[0, 1, 2],
        sample_weight=np.append(PROBLEM.weight, 5.0),
    )
    np.testing.assert_array_equal(after.label_truth_.channel, before.label_truth_.channel)
    np.testing.assert_allclose(answers(after), answers(before), atol=1e-12)


@both
@pytest.mark.parametrize("information", [True, False])
def test_labels_that_say_next_to_nothing(model, information):
    """Answers are not harder than such labels warrant."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(200, 2)), random.integers(0, 2, 200)
    model = clone(model).set_params(label_information=information)
    if information:
        with pytest.warns(UserWarning, match="No tree can have a split"):
            found = model.fit(X, y, y_proba=np.full(200, 0.501)).predict_proba(X)
    else:
        found = model.fit(X, y, y_proba=np.full(200, 0.501)).predict_proba(X)
    assert np.isfinite(found).all()
    assert np.abs(found - 0.5).max() < 0.3


@both
def test_a_class_that_no_label_allows(model):
    pmf = np.column_stack([PROBLEM.pmf[:, :2] / PROBLEM.pmf[:, :2].sum(axis=1)[:, None], np.zeros(150)])
    found = answers(fitted(model, pmf))
    assert (found[:, 2] == 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_a_forest_without_bootstrap_has_no_objects_to_learn_the_softness_from():
    forest = fitted(FOREST, bootstrap=False)
    assert 0 < forest.label_truth_.softness < np.inf
    np.testing.assert_allclose(answers(forest).sum(axis=1), 1)


def test_a_fit_with_certain_labels_forgets_doubtful_ones():
    forest = fitted(FOREST)
    forest.fit(PROBLEM.values, PROBLEM.pmf.argmax(axis=1), X_err=PROBLEM.errors)
    assert forest.label_truth_ is None


def test_a_class_weight_of_0_may_leave_hard_labels_only():
    X = np.random.default_rng(0).normal(size=(100, 2))
    y = (X[:, 0] > 0).astype(int)
    for model in (ProbabilisticDecisionTreeClassifier, ProbabilisticRandomForestClassifier):
        fitted = model(class_weight={0: 1, 1: 0}, random_state=0).fit(X, y, y_proba=np.full(100, 0.8))
        np.testing.assert_allclose(fitted.predict_proba(X), np.tile([1.0, 0.0], (100, 1)))


def test_an_object_with_a_uniform_pmf_changes_nothing():
    X = np.random.default_rng(1).normal(size=(60, 2))
    y = (X[:, 0] + 0.5 * X[:, 1] > 0).astype(int)
    pmf = np.eye(2)[y]
    pmf[55:] = 0.5
    model = ProbabilisticRandomForestClassifier(10, random_state=0)
    found = model.fit(X, y_proba=pmf, classes=[0, 1]).predict_proba(X)
    assert model.label_truth_ is None
    np.testing.assert_array_equal(found, model.fit(X[:55], y[:55]).predict_proba(X))


def test_weight_2_is_two_objects():
    random = np.random.default_rng(2)
    X, confidence = random.normal(size=(80, 2)), random.uniform(0.6, 1.0, 80)
    y = (X[:, 0] > 0).astype(int)
    model = ProbabilisticDecisionTreeClassifier(min_samples_leaf=8)
    heavy = model.fit(X, y, y_proba=confidence, sample_weight=np.full(80, 2.0)).predict_proba(X)
    twice = [np.concatenate([each, each]) for each in (X, y, confidence)]
    found = model.fit(twice[0], twice[1], y_proba=twice[2]).predict_proba(X)
    np.testing.assert_allclose(heavy, found, atol=1e-9)


@pytest.mark.parametrize("first", [None, np.full(40, 0.8)])
def test_warm_start_needs_labels_of_the_same_kind(first):
    X = np.random.default_rng(3).normal(size=(40, 2))
    y = (X[:, 0] > 0).astype(int)
    model = ProbabilisticRandomForestClassifier(2, random_state=0, warm_start=True).fit(X, y, y_proba=first)
    with pytest.raises(ValueError, match="warm_start=True needs labels as before"):
        model.set_params(n_estimators=3).fit(X, y, y_proba=np.full(40, 0.8) if first is None else None)


@both
def test_labels_that_are_hard_once_classes_are_weighted(model):
    """Only one class has a weight."""
    found = answers(fitted(model, class_weight={0: 0.0, 1: 0.0, 2: 3.0}))
    np.testing.assert_array_equal(found, np.tile([0.0, 0.0, 1.0], (40, 1)))


@pytest.mark.parametrize("seed", range(20))
def test_classes_that_a_draw_does_not_have(seed):
    """Balanced in a few objects, labels of a tree can be hard although those of the training set are not."""
    random = np.random.default_rng(seed)
    X, pmf = random.normal(size=(5, 2)), np.eye(3)[[0, 0, 1, 1, 2]]
    pmf[4] = [0.0, 0.4, 0.6]
    forest = ProbabilisticRandomForestClassifier(5, class_weight="balanced_subsample", max_samples=1, random_state=seed)
    found = forest.fit(X, y_proba=pmf, classes=[0, 1, 2]).predict_proba(X)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.sum(axis=1), 1)
