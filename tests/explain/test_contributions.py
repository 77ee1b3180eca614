"""What each feature adds to an answer."""

import numpy as np
import pytest
from scipy.stats import norm

from probforest import (
    ProbabilisticDecisionTreeClassifier,
    ProbabilisticDecisionTreeRegressor,
    ProbabilisticGradientBoostingClassifier,
    ProbabilisticGradientBoostingRegressor,
    ProbabilisticRandomForestClassifier,
    ProbabilisticRandomForestRegressor,
)
from probforest.explain import Contributions, contributions

RANDOM = np.random.default_rng(0)
N, D = 150, 4
X = RANDOM.normal(size=(N, D))
X_ERR = RANDOM.gamma(2, 0.2, size=(N, D))
Y = (X[:, 0] + X[:, 1] > 0).astype(int) + (X[:, 2] > 1)
HOLES = np.where(RANDOM.random((N, D)) < 0.2, np.nan, X)
PMF = 0.7 * np.eye(3)[Y] + 0.3 * RANDOM.dirichlet(np.ones(3), N)


def naive(tree, x, sigma, keep_proba):
    """Root value, and the contributions (d, k) of one object: go down recursively; every step counts with the share of
    the object's probability that ends below it."""
    out = np.zeros((len(x), tree.value.shape[1]))

    def go(node, reach, main):
        """The probability that ends in leaves below the node, and what the steps below it change, not divided yet."""
        j = tree.feature[node]
        if j < 0:
            return reach, np.zeros_like(out)
        threshold = tree.threshold[node]
        to_left = tree.missing_left[node] if np.isnan(x[j]) else norm.cdf(threshold, x[j], sigma[j])
        left_is_main = to_left > 0.5 or (to_left == 0.5 and tree.share_left[node] >= 0.5)
        total, changes = 0.0, np.zeros_like(out)
        for child, share, is_main in (
            (tree.left[node], to_left, left_is_main),
            (tree.right[node], 1 - to_left, not left_is_main),
        ):
            if reach * share > keep_proba or (main and is_main):
                ended, below = go(child, reach * share, main and is_main)
                total += ended
                changes += below
                changes[j] += ended * (tree.value[child] - tree.value[node])
        return total, changes

    ended, changes = go(0, 1.0, True)
    return tree.value[0], changes / ended


@pytest.mark.parametrize("keep_proba", [0.0, 0.05, 0.6])
def test_those_of_a_tree_are_those_of_a_walk(keep_proba):
    tree = ProbabilisticDecisionTreeClassifier(keep_proba=keep_proba, prior=None, random_state=0)
    tree.fit(HOLES, Y, X_err=X_ERR)
    found = tree.contributions(HOLES, X_err=X_ERR)
    for i in range(0, N, 7):
        base, expected = naive(tree.tree_, HOLES[i], X_ERR[i], keep_proba)
        np.testing.assert_allclose(found.base, base)
        np.testing.assert_allclose(found.values[i], expected, atol=2e-6)


KINDS = {
    "exact": ({}, {"X": X}),
    "errors": ({}, {"X": X, "X_err": X_ERR}),
    "asymmetric": ({"prior": "normal"}, {"X": X, "X_err": (X_ERR, 2 * X_ERR)}),
    "holes": ({"missing": "learned"}, {"X": HOLES, "X_err": X_ERR}),
    "limits": ({}, {"X": X, "X_err": X_ERR, "X_limit": np.where(X > 1, 1, 0)}),
    "samples": ({}, {"X": X, "X_samples": X[:, :, None] + RANDOM.normal(size=(N, D, 9))}),
    "no pruning": ({"keep_proba": 0.0}, {"X": X, "X_err": X_ERR}),
    "one path": ({"keep_proba": 1.0}, {"X": X, "X_err": X_ERR}),
    "error features": ({"error_features": True}, {"X": X, "X_err": X_ERR}),
    "balanced": ({"class_weight": "balanced"}, {"X": X, "X_err": X_ERR}),
}


@pytest.mark.parametrize("doubtful", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_they_sum_up_to_the_answer(kind, doubtful):
    parameters, given = KINDS[kind]
    labels = {"y_proba": PMF, "classes": [0, 1, 2]} if doubtful else {"y": Y}
    forest = ProbabilisticRandomForestClassifier(8, random_state=0, **parameters).fit(**given, **labels)
    found = contributions(forest, **given)
    assert isinstance(found, Contributions)
    answers = forest.predict_proba(**given)
    np.testing.assert_array_equal(found.answers, answers)
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), answers, atol=1e-12)
    np.testing.assert_allclose(found.values.sum(axis=2), 0, atol=1e-6 if doubtful else 1e-12)  # of all classes
    assert found.base.sum() == pytest.approx(1)


def test_shares_of_doubtful_labels_are_those_of_the_trees():
    """With two classes, all contributions are enlarged alike on the way from labels to truth."""
    wrong = np.full(N, 0.8)
    forest = ProbabilisticRandomForestClassifier(8, random_state=0).fit(X, Y > 0, X_err=X_ERR, y_proba=wrong)
    truth = forest.contributions(X, X_err=X_ERR).values[:, :, 1]
    forest.label_truth_ = None
    labels = forest.contributions(X, X_err=X_ERR).values[:, :, 1]
    clear = np.abs(labels.sum(axis=1)) > 0.05
    factor = (truth.sum(axis=1) / labels.sum(axis=1))[clear, None]
    np.testing.assert_allclose(truth[clear], factor * labels[clear], atol=1e-3)


def test_an_object_is_explained_alike_alone_and_by_any_number_of_threads():
    forest = ProbabilisticRandomForestClassifier(8, random_state=0).fit(X, Y, X_err=X_ERR)
    expected = forest.contributions(X, X_err=X_ERR).values
    np.testing.assert_array_equal(forest.contributions(X[3:4], X_err=X_ERR[3:4]).values[0], expected[3])
    np.testing.assert_array_equal(forest.set_params(n_jobs=2).contributions(X, X_err=X_ERR).values, expected)


def test_with_other_errors_the_fallback_is_explained():
    forest = ProbabilisticRandomForestClassifier(8, error_features=True, random_state=0).fit(X, Y, X_err=X_ERR)
    with pytest.warns(UserWarning, match="not like those of the training set"):
        found = forest.contributions(X, X_err=20 * X_ERR)
    assert found.values.shape == (N, D, 3)
    assert len(found.names) == D
    assert len(forest.contributions(X, X_err=X_ERR).names) == 2 * D


def test_in_words():
    forest = ProbabilisticRandomForestClassifier(8, random_state=0).fit(X, Y, X_err=X_ERR)
    found = forest.contributions(X, X_err=X_ERR)
    assert repr(found) == "<Contributions of 4 features to 3 classes for 150 objects>"
    listed = found.of(0, of_class=1)
    assert [abs(number) for _, number in listed] == sorted((abs(number) for _, number in listed), reverse=True)
    assert sum(number for _, number in listed) == pytest.approx(found.answers[0, 1] - found.base[1])
    lines = found.text(0, of_class=1, most=2).splitlines()
    assert lines[0] == f"1: {found.answers[0, 1]:.3f}"
    assert lines[2].endswith(listed[0][0])
    assert lines[-1].endswith("2 other features")
    assert found.brief(0, of_class=1, most=2) == ", ".join(f"{name} {number:+.2f}" for name, number in listed[:2])
    assert found.headline(0, of_class=1) == lines[0]
    assert found.text(0).startswith(f"{forest.predict(X[:1], X_err=X_ERR[:1])[0]}: ")
    with pytest.raises(ValueError, match=r"of_class is 7; expected one of \[0, 1, 2\]"):
        found.of(0, of_class=7)


def test_as_a_table():
    forest = ProbabilisticRandomForestClassifier(8, random_state=0).fit(X, Y, X_err=X_ERR)
    found = forest.contributions(X, X_err=X_ERR)
    table = found.to_table(of_class=1)
    assert list(table.columns) == ["base", "x0", "x1", "x2", "x3", "answer"]
    np.testing.assert_allclose(table.drop(columns="answer").sum(axis=1), table["answer"], atol=1e-12)
    np.testing.assert_array_equal(table["answer"], found.answers[:, 1])
    likely = found.to_table()
    np.testing.assert_array_equal(likely["class"], forest.predict(X, X_err=X_ERR))
    np.testing.assert_array_equal(likely["answer"], found.answers.max(axis=1))


def test_votes_are_not_explained():
    forest = ProbabilisticRandomForestClassifier(3, voting="majority").fit(X, Y)
    with pytest.raises(ValueError, match="only votes"):
        forest.contributions(X)


def test_a_figure():
    plt = pytest.importorskip("matplotlib.pyplot")
    forest = ProbabilisticRandomForestClassifier(8, random_state=0).fit(X, Y, X_err=X_ERR)
    found = forest.contributions(X, X_err=X_ERR)
    _, ax = plt.subplots()
    assert found.plot(0, most=2, ax=ax) is ax
    first, second = (name for name, _ in found.of(0)[:2])
    shown = [text.get_text() for text in ax.get_yticklabels()]
    assert shown == ["average", first, second, "2 other features", "this object"]
    last = ax.patches[-1]
    assert last.get_x() + last.get_width() == pytest.approx(found.answers[0].max())
    assert all(not text.get_parse_math() for text in ax.get_yticklabels())
    plt.close("all")


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_of_boosting(n_classes):
    y = np.minimum(Y, n_classes - 1)
    model = ProbabilisticGradientBoostingClassifier(max_iter=5, random_state=0).fit(HOLES, y, X_err=X_ERR)
    found = model.contributions(HOLES, X_err=X_ERR)
    scores = model.decision_function(HOLES, X_err=X_ERR).reshape(N, -1)
    np.testing.assert_allclose(found.answers, scores)
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), scores, atol=1e-12)
    assert found.text(0).startswith("score of ")
    value = model.value_of_measurement(HOLES[:30], X_err=X_ERR[:30])
    np.testing.assert_allclose(value.top_probability, model.predict_proba(HOLES[:30], X_err=X_ERR[:30]).max(axis=1))
    assert value.gain.mean() > 0


ESTIMATORS = {
    "tree": ProbabilisticDecisionTreeClassifier(),
    "forest": ProbabilisticRandomForestClassifier(5),
    "boosting": ProbabilisticGradientBoostingClassifier(max_iter=8),
    "tree of numbers": ProbabilisticDecisionTreeRegressor(error_scale=1.0),
    "forest of numbers": ProbabilisticRandomForestRegressor(5, error_scale=1.0),
    "boosting of numbers": ProbabilisticGradientBoostingRegressor(max_iter=8, error_scale=1.0),
}


@pytest.mark.parametrize("keep_proba", [0.0, 0.05, 0.3, 1.0])
@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("exact", [False, True])
def test_every_estimator(kind, keep_proba, exact):
    model = ESTIMATORS[kind].set_params(keep_proba=keep_proba, random_state=0)
    errors = {} if exact else {"X_err": X_ERR}
    target = X @ [3.0, 1.0, 0.0, -1.0] if "numbers" in kind else Y
    found = model.fit(HOLES, target, **errors).contributions(HOLES, **errors)
    predict = {"boosting": "decision_function"}.get(kind, "predict" if "numbers" in kind else "predict_proba")
    answers = getattr(model, predict)(HOLES, **errors).reshape(N, -1)
    np.testing.assert_allclose(found.answers, answers, atol=1e-12)
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), answers, atol=1e-12)


def test_means_of_numbers():
    target = 1e6 + X @ [3.0, 1.0, 0.0, -1.0]
    model = ProbabilisticRandomForestRegressor(8, random_state=0, error_scale=1.0).fit(HOLES, target, X_err=X_ERR)
    found = model.contributions(HOLES, X_err=X_ERR)
    np.testing.assert_array_equal(found.answers[:, 0], model.predict(HOLES, X_err=X_ERR))
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), found.answers, rtol=1e-14)
    assert found.text(0).startswith("mean of the target: ")
