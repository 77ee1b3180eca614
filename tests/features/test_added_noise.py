"""Noise that is added to measurements, and features whose noise goes together."""

import numpy as np
import pytest

from probforest import families
from probforest.features.added_noise import with_noise_added
from probforest.features.derived_features import Derived, find_derived
from probforest.features.measurements import read_measurements


def measured(X, X_err, family=families.NORMAL):
    return read_measurements(X, X_err, None, None, (family,) * X.shape[1])


def colours(n, digits=8):
    """u - g, three magnitudes u, g and r, and g - r."""
    random = np.random.default_rng(0)
    magnitudes, error = random.normal(20, 1, (n, 3)), random.uniform(0.05, 0.3, (n, 3))
    u, g, r = magnitudes.T
    X = np.column_stack([u - g, u, g, r, g - r]).round(digits)
    eu, eg, er = error.T
    return X, np.column_stack([np.hypot(eu, eg), eu, eg, er, np.hypot(eg, er)])


@pytest.mark.parametrize("digits", [8, 3])
def test_colours_are_found(digits):
    X, X_err = colours(500, digits)
    found = {each.feature: each for each in find_derived(measured(X, X_err))}
    assert found == {0: Derived(0, 1, 2, 1, -1), 4: Derived(4, 2, 3, 1, -1)}
    X[:, 4] = -X[:, 4]
    X[::7, 1] = np.nan
    found = {each.feature: each for each in find_derived(measured(X, X_err))}
    assert found == {0: Derived(0, 1, 2, 1, -1), 4: Derived(4, 2, 3, -1, 1)}


def test_what_is_no_colour():
    X, X_err = colours(500)
    assert find_derived(measured(X, 1.5 * X_err * [1, 2, 1, 1, 0.5])) == ()  # other errors
    assert find_derived(measured(X + 0.1 * X_err, X_err)) == ()  # other values
    assert find_derived(measured(X, None)) == ()
    assert find_derived(measured(X[:5], X_err[:5])) == ()  # too few to say


def test_noise_of_colours_is_that_of_their_magnitudes():
    X, X_err = colours(2000)
    table = measured(X, X_err)
    noisy = with_noise_added(table, 2.0, np.random.default_rng(1))
    steps = noisy.center - table.center
    np.testing.assert_allclose(steps[0], steps[1] - steps[2])
    np.testing.assert_allclose(steps[4], steps[2] - steps[3])
    np.testing.assert_allclose((steps / table.lower).std(axis=1), 2.0, rtol=0.06)
    np.testing.assert_allclose(noisy.lower, table.lower * np.sqrt(5))


def test_added_noise_has_the_size_of_the_errors():
    random = np.random.default_rng(0)
    X, lower, upper = np.zeros((20_000, 1)), np.full((20_000, 1), 0.5), np.full((20_000, 1), 2.0)
    noisy = with_noise_added(measured(X, (lower, upper)), 1.5, random)
    moved = noisy.center[0]
    assert np.quantile(moved, [0.16, 0.5, 0.84]) == pytest.approx([-0.75, 0, 3], abs=0.1)
    np.testing.assert_allclose(noisy.lower, 0.5 * np.hypot(1, 1.5))
    np.testing.assert_allclose(noisy.upper, 2.0 * np.hypot(1, 1.5))
    X = np.array([[1.0, np.nan, 3.0]])
    unknown = with_noise_added(measured(X, np.array([[np.nan, 1.0, 0.0]])), 1.0, random)
    np.testing.assert_array_equal(unknown.center[:, 0], X[0])
    positive = with_noise_added(measured(np.full((1000, 1), 2.0), 1.0, families.LOGNORMAL), 2.0, random)
    assert (positive.center > 0).all()
    assert np.std(np.log(positive.center)) == pytest.approx(1.0, rel=0.1)
