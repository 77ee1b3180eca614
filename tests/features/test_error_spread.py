"""The errors of the training set, and their sizes as features."""

import numpy as np
import pytest

from probforest.features.error_spread import (
    BOTH,
    EXACT_SIZE,
    LEVELS,
    LOWER,
    UPPER,
    learn_error_spreads,
    sizes_of_errors,
)
from probforest.features.measurements import read_measurements

RANDOM = np.random.default_rng(0)
N = 200
X = RANDOM.normal(size=(N, 3))
X_ERR = 10.0 ** RANDOM.normal(-1, 0.5, (N, 3))
ONES = np.ones(N)


def learn(X_err, weight=ONES, **about):
    return learn_error_spreads(read_measurements(X, X_err, **about), weight)


def sizes(X_err, spreads, **about):
    return sizes_of_errors(read_measurements(X, X_err, **about), spreads)


def test_which_errors_there_are():
    assert learn(None) == ()
    assert learn(0.0) == ()
    assert [(each.feature, each.side) for each in learn([0.0, 0.1, np.nan])] == [(1, BOTH)]
    upper = X_ERR * [1, 2, 1]
    keys = [(each.feature, each.side) for each in learn((X_ERR, upper))]
    assert keys == [(0, BOTH), (1, LOWER), (1, UPPER), (2, BOTH)]
    assert [each.name("mag") for each in learn((X_ERR, upper))][:3] == [
        "error of mag",
        "lower error of mag",
        "upper error of mag",
    ]
    never_known = np.where(np.arange(3) == 1, np.nan, X_ERR)
    assert (1, LOWER) not in [(each.feature, each.side) for each in learn((never_known, X_ERR))]


def test_quantiles_are_those_of_the_sizes():
    (spread, *_) = learn(X_ERR)
    ordered = np.sort(np.log10(X_ERR[:, 0]))
    expected = [ordered[np.searchsorted(np.arange(1, N + 1) / N, level * (1 - 1e-9))] for level in LEVELS]
    np.testing.assert_array_equal(spread.quantiles, expected)
    assert (spread.unknown, spread.n_objects) == (0.0, pytest.approx(N))
    assert (spread.quantiles[0], spread.quantiles[-1]) == (ordered[0], ordered[-1])


def test_limits_samples_and_values_with_unknown_errors_have_none_and_missing_values_do_not_count():
    errors, values, limit = X_ERR.copy(), X.copy(), np.zeros((N, 3))
    errors[:40, 0] = np.nan
    values[20:40, 0] = np.nan
    limit[10:20, 0] = 1
    samples = np.full((N, 3, 4), np.nan)
    samples[5:10, 0] = 1.0
    measurements = read_measurements(values, errors, limit, samples)
    spread = learn_error_spreads(measurements, ONES)[0]
    assert spread.n_objects == pytest.approx(N - 20)
    assert spread.unknown == pytest.approx(20 / (N - 20))
    found = sizes_of_errors(measurements, [spread])[0]
    assert np.isnan(found[:40]).all()
    np.testing.assert_array_equal(found[40:], np.log10(errors[40:, 0]))


def test_weight_two_is_two_objects_and_weight_zero_none():
    weight = RANDOM.integers(0, 3, N).astype(float)
    index = np.repeat(np.arange(N), weight.astype(int))
    repeated = learn_error_spreads(read_measurements(X[index], X_ERR[index]), np.ones(len(index)))
    for found, expected in zip(learn(X_ERR, weight), repeated, strict=True):
        np.testing.assert_array_equal(found.quantiles, expected.quantiles)
    errors = np.where((weight == 0)[:, None], np.nan, X_ERR)
    assert all(spread.unknown == 0 for spread in learn(errors, weight))


def test_constant_errors_tell_nothing():
    assert [spread.is_constant for spread in learn([0.1, 0.2, 0.3])] == [True, True, True]
    some_unknown = np.where(RANDOM.random((N, 3)) < [0.0, 0.5, 0.0], np.nan, 0.1)
    assert [spread.is_constant for spread in learn(some_unknown)] == [True, False, True]
    assert not learn(X_ERR)[0].is_constant


def test_an_error_of_zero_is_smaller_than_any_other():
    errors = np.where(np.arange(N)[:, None] < 3, 0.0, X_ERR)
    errors[5] = 1e-300
    found = sizes(errors, learn(errors))
    assert (found[:, :3] == EXACT_SIZE).all()
    assert np.isfinite(found).all()
    assert (found[:, 3:] > EXACT_SIZE).all()
    assert (found[:, 5] == found[:, 3:].min(axis=1)).all()


def test_one_side_or_two_of_another_table():
    pair = learn((X_ERR, 2 * X_ERR))
    np.testing.assert_array_equal(sizes(X_ERR, pair)[0], sizes(X_ERR, pair)[1])
    np.testing.assert_allclose(sizes((X_ERR, 3 * X_ERR), learn(X_ERR)), np.log10(2 * X_ERR.T))
    assert np.isnan(sizes(None, pair)).all()


def test_the_share_of_unknown_errors_is_never_above_one():
    """Whatever the last digits of its sums are: the known error weighs next to nothing here."""
    for seed in range(50):
        random = np.random.default_rng(seed)
        errors = np.append(1.0, np.full(30, np.nan))[:, None]
        weight = np.append(1e-300, random.uniform(0.1, 1.0, 30))
        (spread,) = learn_error_spreads(read_measurements(np.zeros((31, 1)), errors), weight)
        assert spread.unknown <= 1
