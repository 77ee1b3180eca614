"""Errors beside those of training objects with the same values; noise that is added."""

import numpy as np
import pytest

from probforest import families
from probforest.features.measurements import read_measurements
from probforest.features.usual_errors import beyond_chance, learn_usual_errors


def photometry(seed, n, factor=1.0, scatter=0.1):
    """Magnitudes whose errors grow with them, and scatter."""
    random = np.random.default_rng(seed)
    X = random.uniform(18, 22, (n, 3))
    return X, factor * 0.05 * 10 ** (0.3 * (X - 20)) * np.exp(scatter * random.normal(size=X.shape))


def measured(X, X_err, family=families.NORMAL):
    return read_measurements(X, X_err, None, None, (family,) * X.shape[1])


@pytest.fixture(scope="module")
def usual():
    X, X_err = photometry(0, 3000)
    return learn_usual_errors(measured(X, X_err), np.ones(3000), np.array([0.6, 0.3, 0.1]))


def test_errors_like_those_of_the_training_set_have_a_factor_of_one(usual):
    for seed in range(5):
        assert usual.factor(measured(*photometry(seed, 500))) == pytest.approx(1, abs=0.02)
    X, X_err = photometry(7, 2000)
    faint = X.mean(axis=1) > 20.5  # larger errors, but usual ones for such objects
    assert np.median(X_err[faint]) > 1.2 * np.median(X_err)
    assert usual.factor(measured(X[faint], X_err[faint])) == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize("factor", [1.3, 2.0, 10.0])
def test_larger_errors_are_found(usual, factor):
    X, X_err = photometry(1, 500)
    assert usual.factor(measured(X, factor * X_err)) == pytest.approx(factor, rel=0.03)
    missing = np.where(np.random.default_rng(0).uniform(size=X.shape) < 0.3, np.nan, X)
    unknown = np.where(np.random.default_rng(1).uniform(size=X.shape) < 0.3, np.nan, factor * X_err)
    assert usual.factor(measured(missing, unknown)) == pytest.approx(factor, rel=0.05)


def test_what_says_nothing_is_no_noise(usual):
    X, X_err = photometry(1, 50)
    assert usual.factor(measured(X, 0.5 * X_err)) == 1
    assert usual.factor(measured(X, None)) == 1
    assert usual.factor(measured(X, 0.0 * X_err)) == 1
    assert usual.factor(measured(X, np.full(X.shape, np.nan))) == 1
    assert usual.factor(measured(X[:1], 1.05 * X_err[:1])) == 1  # one object: the errors scatter more than that
    assert usual.factor(measured(X[:1], 5 * X_err[:1])) > 2
    assert learn_usual_errors(measured(X, 0.0 * X_err), np.ones(50), np.ones(3)) is None
    assert learn_usual_errors(measured(X, X_err), np.ones(50), np.zeros(3)) is None


def test_objects_of_zero_weight_do_not_count():
    X, X_err = photometry(0, 400)
    weight = np.where(np.arange(400) < 300, 1.0, 0.0)
    X_err[300:] *= 100
    with_them = learn_usual_errors(measured(X, X_err), weight, np.ones(3))
    without = learn_usual_errors(measured(X[:300], X_err[:300]), np.ones(300), np.ones(3))
    np.testing.assert_array_equal(with_them.sizes, without.sizes)
    assert (with_them.middle, with_them.scatter) == (without.middle, without.scatter)


def test_what_chance_explains_does_not_count_and_what_is_clear_counts_in_full():
    assert beyond_chance(-1.0, 0.5) == beyond_chance(0.3, 0.5) == beyond_chance(0.5, 0.5) == 0
    assert beyond_chance(0.0, 0.0) == 0
    assert 0 < beyond_chance(0.501, 0.5) < 0.01  # no jump
    assert beyond_chance(50.0, 0.5) == pytest.approx(50, rel=1e-3)
    steps = [beyond_chance(excess, 0.5) for excess in np.linspace(0, 3, 50)]
    assert (np.diff(steps) >= 0).all()
