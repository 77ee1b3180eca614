"""What better measurements would bring to answers that are numbers."""

import numpy as np
import pytest
from scipy.stats import norm

from probforest import ProbabilisticDecisionTreeRegressor, ProbabilisticRandomForestRegressor
from probforest.explain import NumberMeasurementValue, value_of_measurement
from probforest.trees.fitted_tree import FittedTree

OFFSET = 1e5  # targets that are large compared with their scatter


def only_the_second_counts(n, random):
    truth = random.normal(size=(n, 4))
    errors = np.full((n, 4), 0.1)
    errors[:, 2] = 0.5
    y = OFFSET + 3 * truth[:, 2] + 0.1 * random.normal(size=n)
    return truth, truth + errors * random.normal(size=(n, 4)), errors, y


_, X, X_ERR, Y = only_the_second_counts(600, np.random.default_rng(0))


@pytest.fixture(scope="module")
def forest():
    model = ProbabilisticRandomForestRegressor(
        20, random_state=0, error_scale=1.0, prior="empirical", keep_proba=0.002, max_depth=8
    )
    return model.fit(X, Y, X_err=X_ERR)


def test_the_limiting_error_is_found(forest):
    _, X_new, errors, _ = only_the_second_counts(150, np.random.default_rng(1))
    found = value_of_measurement(forest, X_new, X_err=errors)
    assert isinstance(found, NumberMeasurementValue)
    limiting = [found.limiting(row) for row in range(150)]
    limited = [j for j in limiting if j is not None]
    assert len(limited) > 100
    assert np.mean(np.array(limited) == 2) > 0.95
    scatter = found.gain.std(axis=0) / np.sqrt(len(found.gain))
    assert (found.gain.mean(axis=0) > -2 * scatter - 1e-6).all()
    costs = found.error_importances()
    assert costs.index[0] == "x2"
    assert costs.values[0] == pytest.approx(found.gain[:, 2].mean())
    assert "loss of variance" in repr(costs)


def test_variances_are_those_of_the_distributions(forest):
    found = forest.value_of_measurement(X[:50], X_err=X_ERR[:50])
    np.testing.assert_allclose(found.std, forest.predict_distribution(X[:50], X_err=X_ERR[:50]).std, rtol=1e-6)


def test_it_is_what_answers_for_exact_values_say():
    tree = ProbabilisticDecisionTreeRegressor(
        random_state=0, prior=None, error_scale=1.0, keep_proba=0.002, max_depth=6
    )
    tree.fit(X, Y, X_err=X_ERR)
    row, errors = X[5], X_ERR[5]
    rows, all_errors = np.tile(row, (12, 1)), np.tile(errors, (12, 1))
    rows[:, 2], all_errors[:, 2] = norm.ppf((np.arange(12) + 0.5) / 12, row[2], errors[2]), 0
    then = np.square(tree.predict_distribution(rows, X_err=all_errors).std)
    now = tree.predict_distribution(row[None], X_err=errors[None]).std[0] ** 2
    found = tree.value_of_measurement(row[None], X_err=errors[None])
    assert found.gain[0, 2] == pytest.approx(now - then.mean(), rel=1e-4)


def test_the_forecast_comes_true(forest):
    """Objects whose second value is measured again with half of its error lose the variance that was forecast."""
    random = np.random.default_rng(2)
    truth, X_new, errors, _ = only_the_second_counts(800, random)
    forecast = forest.value_of_measurement(X_new, X_err=errors, factor=0.5).gain[:, 2]
    better, X_better = errors.copy(), X_new.copy()
    better[:, 2] /= 2
    X_better[:, 2] = truth[:, 2] + better[:, 2] * random.normal(size=len(truth))
    before = forest.predict_distribution(X_new, X_err=errors).std ** 2
    real = before - forest.predict_distribution(X_better, X_err=better).std ** 2
    error = (real - forecast).std() / np.sqrt(len(real))
    assert forecast.mean() > 5 * error
    assert real.mean() == pytest.approx(forecast.mean(), abs=3 * error)


def test_nothing_is_gained_where_nothing_is_open(forest):
    errors = X_ERR[:20].copy()
    errors[:, 1] = 0
    np.testing.assert_array_equal(forest.value_of_measurement(X[:20], X_err=errors).gain[:, 1], 0)
    np.testing.assert_array_equal(forest.value_of_measurement(X[:20], X_err=errors, factor=1).gain, 0)


def test_a_model_that_takes_values_as_exact_says_so():
    model = ProbabilisticRandomForestRegressor(3, random_state=0, error_scale=0.0).fit(X, Y, X_err=X_ERR)
    with pytest.warns(UserWarning, match="takes values as exact"):
        found = model.value_of_measurement(X[:3], X_err=X_ERR[:3])
    np.testing.assert_array_equal(found.gain, 0)


def test_without_distributions_it_is_the_scatter_of_answers():
    """Trees without targets in their leaves, as those of boosting."""
    tree = ProbabilisticDecisionTreeRegressor(random_state=0, prior=None, error_scale=1.0, max_depth=6)
    tree.fit(X, Y, X_err=X_ERR)
    row, errors = X[5], X_ERR[5]
    rows, all_errors = np.tile(row, (12, 1)), np.tile(errors, (12, 1))
    rows[:, 2], all_errors[:, 2] = norm.ppf((np.arange(12) + 0.5) / 12, row[2], errors[2]), 0
    expected = tree.predict(rows, X_err=all_errors).var()
    tree.tree_ = FittedTree(tree.tree_.nodes)
    found = tree.value_of_measurement(X[:30], X_err=X_ERR[:30])
    assert found.gain[5, 2] == pytest.approx(expected, rel=1e-4)
    np.testing.assert_allclose(found.std, np.sqrt(found.gain.sum(axis=1)))
    assert found.limiting(5) == 2


def test_in_words(forest):
    found = forest.value_of_measurement(X[:30], X_err=X_ERR[:30])
    row, name, _ = found.ranking(1)[0]
    assert name == "x2"
    assert found.text(row).startswith("x2 limits this answer most. If it were known exactly, the target would be")
    effect = f"a standard deviation of {found.std[row]:.3g} would become {found.expected_std[row, 2]:.3g}"
    assert found.brief(row) == f"x2: if it were exact, {effect}"
    assert repr(found) == "<NumberMeasurementValue of 4 features for 30 objects, errors × 0>"
    exact = forest.value_of_measurement(X[:1], X_err=0)
    assert exact.text(0).startswith("No single error limits this answer (± ")
