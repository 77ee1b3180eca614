"""Shapley values: exact where they can be enumerated, additive always."""

from itertools import combinations
from math import factorial

import numpy as np
import pandas as pd
import pytest

from probforest import (
    ProbabilisticDecisionTreeClassifier,
    ProbabilisticGradientBoostingClassifier,
    ProbabilisticGradientBoostingRegressor,
    ProbabilisticRandomForestClassifier,
    ProbabilisticRandomForestRegressor,
)
from probforest.explain import ShapExplainer

RANDOM = np.random.default_rng(0)
N, D = 120, 4
X = RANDOM.normal(size=(N, D))
X_ERR = RANDOM.gamma(2, 0.2, size=(N, D))
Y = (X[:, 0] + X[:, 1] > 0).astype(int) + (X[:, 2] > 1)
HOLES = np.where(RANDOM.random((N, D)) < 0.2, np.nan, X)


def by_enumeration(answers_of, x, error, others, other_errors):
    """Shapley's formula: all coalitions, all background objects; features outside take value and error from these."""
    d = len(x)

    def worth(coalition):
        values, errors = others.copy(), other_errors.copy()
        values[:, list(coalition)], errors[:, list(coalition)] = x[list(coalition)], error[list(coalition)]
        return answers_of(values, errors).mean(axis=0)

    found = []
    for j in range(d):
        rest = [other for other in range(d) if other != j]
        total = 0.0
        for size in range(d):
            weight = factorial(size) * factorial(d - size - 1) / factorial(d)
            for coalition in combinations(rest, size):
                total = total + weight * (worth((*coalition, j)) - worth(coalition))
        found.append(total)
    return np.array(found)


@pytest.mark.parametrize("n_features", [1, 2])
def test_with_few_features_they_are_exact(n_features):
    """An order and its reverse are all orders of two features."""
    x, error = HOLES[:, :n_features], X_ERR[:, :n_features]
    forest = ProbabilisticRandomForestClassifier(6, random_state=0).fit(x, Y, X_err=error)
    found = forest.shapley_values(x[:5], X_err=error[:5], background=x[50:60], background_err=error[50:60])
    for i in range(5):
        expected = by_enumeration(
            lambda values, errors: forest.predict_proba(values, X_err=errors), x[i], error[i], x[50:60], error[50:60]
        )
        np.testing.assert_allclose(found.values[i], expected, atol=1e-12)
    np.testing.assert_array_equal(found.data, x[:5])


def test_with_more_features_they_are_sampled_without_bias():
    forest = ProbabilisticRandomForestClassifier(6, random_state=0, prior="joint").fit(X, Y, X_err=X_ERR)
    given = {"X_err": X_ERR[:3], "background": X[50:60], "background_err": X_ERR[50:60]}
    found = forest.shapley_values(X[:3], **given, n_orders=40)
    for i in range(3):
        expected = by_enumeration(
            lambda values, errors: forest.predict_proba(values, X_err=errors), X[i], X_ERR[i], X[50:60], X_ERR[50:60]
        )
        assert (np.abs(found.values[i] - expected) < 5 * found.errors[i] + 1e-12).all()
        assert np.abs(found.values[i] - expected).max() < 0.01
    rough = forest.shapley_values(X[:3], **given, n_orders=2)
    assert rough.errors.mean() > 3 * found.errors.mean()


ERRORS = {"X_err": X_ERR}
KINDS = {
    "exact": (ProbabilisticRandomForestClassifier(4), {}, Y),
    "errors": (ProbabilisticRandomForestClassifier(4), ERRORS, Y),
    "asymmetric": (ProbabilisticRandomForestClassifier(4), {"X_err": (X_ERR, 2 * X_ERR)}, Y),
    "limits": (ProbabilisticRandomForestClassifier(4), {**ERRORS, "X_limit": np.where(X > 1, 1, 0)}, Y),
    "samples": (
        ProbabilisticRandomForestClassifier(4),
        {"X_samples": X[:, :, None] + RANDOM.normal(size=(N, D, 9))},
        Y,
    ),
    "error features": (ProbabilisticRandomForestClassifier(4, error_features=True), ERRORS, Y),
    "votes": (ProbabilisticRandomForestClassifier(4, voting="majority"), ERRORS, Y),
    "one tree": (ProbabilisticDecisionTreeClassifier(keep_proba=0.5), ERRORS, Y),
    "boosting": (ProbabilisticGradientBoostingClassifier(max_iter=4), ERRORS, Y),
    "numbers": (ProbabilisticRandomForestRegressor(4), ERRORS, X[:, 0] + 1000),
    "boosted numbers": (ProbabilisticGradientBoostingRegressor("poisson", max_iter=4), ERRORS, np.exp(X[:, 0])),
}


def rows(given, part):
    """X_err and so on of some objects."""
    return {
        name: tuple(side[part] for side in array) if isinstance(array, tuple) else array[part]
        for name, array in given.items()
    }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("background_is_exact", [False, True])
def test_they_sum_up_to_the_answer(kind, background_is_exact):
    model, given, y = KINDS[kind]
    model.set_params(random_state=0).fit(X, y, **given)
    few, others = slice(0, 6), slice(40, 60)
    of_background = {"X_err": np.zeros((20, D))} if background_is_exact else rows(given, others)
    of_background = {name.replace("X_", "background_"): array for name, array in of_background.items()}
    found = model.shapley_values(X[few], **rows(given, few), background=X[others], **of_background, n_background=8)
    predict = model.predict if "numbers" in kind else model.predict_proba
    answers = predict(X[few], **rows(given, few)).reshape(6, -1)
    np.testing.assert_array_equal(found.answers, answers)
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), answers, rtol=1e-12, atol=1e-12)
    assert found.names == ["x0", "x1", "x2", "x3"]


def test_company_and_threads_change_nothing():
    forest = ProbabilisticRandomForestClassifier(4, random_state=0).fit(X, Y, X_err=X_ERR)
    others = {"background": X, "background_err": X_ERR, "n_background": 7}
    expected = forest.shapley_values(X, X_err=X_ERR, **others).values
    np.testing.assert_array_equal(forest.shapley_values(X[3:4], X_err=X_ERR[3:4], **others).values[0], expected[3])
    again = forest.set_params(n_jobs=2).shapley_values(X, X_err=X_ERR, **others).values
    np.testing.assert_array_equal(again, expected)
    other_seed = forest.shapley_values(X, X_err=X_ERR, **others, random_state=1).values
    assert (other_seed != expected).any()


def test_a_feature_that_is_not_used_adds_nothing():
    tree = ProbabilisticDecisionTreeClassifier(max_depth=1, random_state=0).fit(X, Y, X_err=X_ERR)
    unused = [j for j in range(D) if j != tree.tree_.feature[0]]
    found = tree.shapley_values(X[:9], X_err=X_ERR[:9], background=X, background_err=X_ERR)
    np.testing.assert_array_equal(found.values[:, unused], 0)


def test_tables_carry_their_errors():
    table = pd.DataFrame(X, columns=list("abcd")).assign(
        **{f"{name}_err": X_ERR[:, j] for j, name in enumerate("abcd")}
    )
    forest = ProbabilisticRandomForestClassifier(4, random_state=0, error_columns="auto").fit(table, Y)
    plain = ProbabilisticRandomForestClassifier(4, random_state=0).fit(X, Y, X_err=X_ERR)
    found = forest.shapley_values(table[:3], background=table)
    expected = plain.shapley_values(X[:3], X_err=X_ERR[:3], background=X, background_err=X_ERR)
    assert found.names == list("abcd")
    np.testing.assert_array_equal(found.values, expected.values)


def test_bad_arguments():
    forest = ProbabilisticRandomForestClassifier(2, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="n_background"):
        forest.shapley_values(X[:2], background=X, n_background=0)
    with pytest.raises(ValueError, match="background: X has 3 features, but"):
        forest.shapley_values(X[:2], background=X[:, :3])
    with pytest.raises(ValueError, match="expected a fitted model of probforest"):
        ShapExplainer(object(), X)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
def test_plots_of_shap_take_it():
    shap = pytest.importorskip("shap")
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    forest = ProbabilisticRandomForestClassifier(4, random_state=0).fit(X, Y, X_err=X_ERR)
    explainer = ShapExplainer(forest, X, X_err=X_ERR, n_background=5)
    explanation = explainer(X[:12], X_err=X_ERR[:12])
    assert isinstance(explanation, shap.Explanation)
    assert explanation.shape == (12, D, 3)
    np.testing.assert_array_equal(explanation.values, explainer.shap_values(X[:12], X_err=X_ERR[:12]))
    total = explanation.base_values + explanation.values.sum(axis=1)
    np.testing.assert_allclose(total, forest.predict_proba(X[:12], X_err=X_ERR[:12]), atol=1e-12)
    shap.plots.waterfall(explanation[0, :, 1], show=False)
    shap.plots.beeswarm(explanation[:, :, 1], show=False)
    shap.plots.bar(explanation[:, :, 1], show=False)
    plt.close("all")
    numbers = ProbabilisticRandomForestRegressor(4, random_state=0).fit(X, X[:, 0])
    explanation = ShapExplainer(numbers, X, n_background=5)(X[:4])
    assert explanation.shape == (4, D)
    shap.plots.waterfall(explanation[0], show=False)
    plt.close("all")
    assert forest.contributions(X[:2], X_err=X_ERR[:2]).to_shap(X[:2]).shape == (2, D, 3)
