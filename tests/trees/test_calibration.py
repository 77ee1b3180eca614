"""Calibration by out-of-bag objects: intervals contain what they should."""

import numpy as np
import pytest

from distributions import weighted_targets
from probforest import ProbabilisticRandomForestRegressor
from probforest.trees.calibration import LEVELS


def draw(seed, n):
    random = np.random.default_rng(seed)
    X = random.uniform(size=(n, 3))
    return X, np.sin(6 * X[:, 0]) + (0.1 + X[:, 1]) * random.normal(size=n)


def covered(forest, X, y, p):
    low, high = forest.predict_distribution(X).interval(p).T
    return np.mean((low <= y) & (y <= high))


@pytest.mark.parametrize("parameters", [{"min_samples_leaf": 1}, {"max_depth": 2}])
def test_intervals_cover_after_calibration(parameters):
    X, y = draw(0, 2000)
    X_test, y_test = draw(1, 3000)
    plain = ProbabilisticRandomForestRegressor(40, random_state=0, **parameters).fit(X, y)
    calibrated = ProbabilisticRandomForestRegressor(40, random_state=0, calibrate=True, **parameters).fit(X, y)
    for p in (0.5, 0.68, 0.95):
        assert covered(calibrated, X_test, y_test, p) == pytest.approx(p, abs=0.045)
        error = abs(covered(calibrated, X_test, y_test, p) - p)
        assert error < abs(covered(plain, X_test, y_test, p) - p) + 0.01
    np.testing.assert_array_equal(plain.predict(X_test), calibrated.predict(X_test))
    np.testing.assert_allclose(calibrated.predict_distribution(X_test[:5]).cdf(1e9), 1)
    assert (calibrated.predict_distribution(X_test[:5]).weights.toarray() >= 0).all()


def test_uniform_transforms_change_nothing():
    y = np.arange(6.0)
    weights = np.random.default_rng(0).dirichlet(np.ones(6), size=3)
    before = weighted_targets(y, weights)
    inner = np.delete(np.arange(18), [5, 11, 17])
    after = before.recalibrated(LEVELS, LEVELS)
    n = np.repeat(1 / np.square(weights).sum(axis=1), 6)
    expected = 0.5 + (np.cumsum(weights, axis=1).ravel() - 0.5) * n / (n + 1)
    np.testing.assert_allclose(after.up_to[inner], expected[inner], atol=1e-12)
    squared = before.recalibrated(LEVELS, LEVELS**2)
    np.testing.assert_allclose(squared.up_to[inner], expected[inner] ** 2, atol=1e-4)
    assert squared.up_to[[5, 11, 17]].tolist() == [1.0, 1.0, 1.0]


def test_what_it_needs():
    X, y = draw(0, 200)
    with pytest.raises(ValueError, match="calibrate needs bootstrap=True"):
        ProbabilisticRandomForestRegressor(5, calibrate=True, bootstrap=False).fit(X, y)
    assert ProbabilisticRandomForestRegressor(5, calibrate=True).fit(X[:10], y[:10]).calibration_ is None
    assert ProbabilisticRandomForestRegressor(5).fit(X, y).calibration_ is None
