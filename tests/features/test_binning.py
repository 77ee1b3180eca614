import numpy as np
import pytest

import naive
from probforest.families import NORMAL
from probforest.features.binning import encode
from probforest.features.feature_bins import learn_bins
from probforest.features.measurements import read_measurements
from problems import random_problem

GRID = NORMAL.grid()


def binned(values, errors=None, weight=None, max_bins=255):
    weight = np.ones(len(values)) if weight is None else weight
    measurements = read_measurements(np.asarray(values, dtype=float), errors)
    return encode(measurements, learn_bins(measurements, weight, max_bins), max_bins)


def n_bins(bins):
    return (~np.isnan(bins.high)).sum(axis=1)


def test_few_values_get_a_bin_each():
    bins = binned([[3.0], [1.0], [3.0], [np.nan], [2.0]])
    assert n_bins(bins).tolist() == [3]
    np.testing.assert_array_equal(bins.codes[:, 0, 0], [2, 0, 2, 255, 1])
    np.testing.assert_array_equal(bins.low[0], [1, 2, 3])
    np.testing.assert_array_equal(bins.high[0], [1, 2, 3])


def test_noisy_cells_have_a_code_per_run_of_grid_points():
    problem = random_problem(0, n=30, missing=0.1)
    bins = binned(problem.values, problem.errors, max_bins=65_535)
    assert bins.codes.dtype == np.uint16
    for j in range(3):
        observed = ~np.isnan(problem.values[:, j])
        number, ends = naive.runs(j, problem.values, problem.errors, problem.weight)
        points = problem.values[observed, j, None] + GRID * problem.errors[observed, j, None]
        expected = [[number[point] for point in row] for row in points.tolist()]
        np.testing.assert_array_equal(bins.codes[observed, j, :7], expected)
        np.testing.assert_array_equal(bins.low[j][: len(ends)], [low for low, _ in ends])
        np.testing.assert_array_equal(bins.high[j][: len(ends)], [high for _, high in ends])
        assert (bins.codes[~observed, j, :7] == bins.missing_code).all()


@pytest.mark.parametrize("max_bins", [2, 10, 255])
def test_bins_hold_about_the_same_mass(max_bins):
    values = np.random.default_rng(0).lognormal(0, 2, (5000, 1))
    bins = binned(values, max_bins=max_bins)
    counts = np.bincount(bins.codes[:, 0, 0], minlength=max_bins)
    assert n_bins(bins)[0] == max_bins
    assert counts.max() <= np.ceil(5000 / max_bins) + 1
    assert (bins.high[0, :-1] < bins.low[0, 1:]).all()


def test_codes_agree_with_the_extremes_of_the_bins():
    problem = random_problem(3, n=500, noise=2.0)
    bins = binned(problem.values, problem.errors, max_bins=40)
    points = problem.values.T[:, :, None] + GRID * problem.errors.T[:, :, None]
    for j in range(3):
        assert (points[j] >= bins.low[j][bins.codes[:, j, :7]]).all()
        assert (points[j] <= bins.high[j][bins.codes[:, j, :7]]).all()


@pytest.mark.parametrize("errors", [None, 0.5])
def test_weights_count_as_rows(errors):
    values = np.random.default_rng(0).normal(size=(300, 2))
    weight = np.random.default_rng(1).integers(1, 5, 300)
    weighted = binned(values, errors, weight.astype(float), max_bins=16)
    repeated = binned(np.repeat(values, weight, axis=0), errors, max_bins=16)
    np.testing.assert_array_equal(weighted.high, repeated.high)


def test_a_feature_without_any_value():
    bins = binned([[np.nan, 1.0], [np.nan, 2.0]], 0.1)
    assert (bins.codes[:, 0, :7] == 255).all()
    assert n_bins(bins).tolist() == [1, 2]


def test_a_rare_value_of_a_large_table_has_its_bin():
    values = np.zeros((200_000, 1))
    values[[7, 70_000]] = 1.0
    for errors in (None, 1e-9):
        codes = binned(values, errors).codes[:, 0, :7]
        assert (codes[7, -1] > codes[8, -1]) & (codes[70_000, 0] > codes[8, -1])


@pytest.mark.parametrize("errors", [None, 0.3])
def test_bins_of_a_sample_hold_about_the_same_mass(errors, monkeypatch):
    monkeypatch.setattr("probforest.features.feature_bins.SAMPLE", 7 * 2000)
    values = np.random.default_rng(0).normal(size=(30_000, 2))
    bins = binned(values, errors, max_bins=40)
    assert n_bins(bins).tolist() == [40, 40]
    for j in range(2):
        counts = np.bincount(bins.codes[:, j, 0 if errors is None else 3], minlength=40)
        assert counts.max() < 2 * 30_000 / 40
        n_points = 1 if errors is None else 7
        points = values[:, j, None] + GRID[:n_points] * (errors or 0.0)
        codes = bins.codes[:, j, :n_points]
        assert ((points > bins.low[j][codes]) & (points <= bins.high[j][codes])).all()


def test_threads_change_no_bin():
    problem = random_problem(3, n=500)
    table = read_measurements(problem.values, problem.errors)
    one, two = (encode(table, learn_bins(table, problem.weight, 40, n_jobs), 40, n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(two.codes[:, :, :7], one.codes[:, :, :7])
    np.testing.assert_array_equal(two.low, one.low)
    np.testing.assert_array_equal(two.high, one.high)


@pytest.mark.parametrize("n", [200, 2000])
def test_tiny_errors_give_the_bins_of_exact_values(n):
    values = np.random.default_rng(0).normal(size=(n, 2))
    values[::10] = values[::10].round(1)  # with ties
    exact, noisy = binned(values), binned(values, 1e-9)
    np.testing.assert_array_equal(n_bins(noisy), n_bins(exact))
    for g in range(7):
        np.testing.assert_array_equal(noisy.codes[:, :, g], exact.codes[:, :, 0])


def test_cells_of_one_value_with_different_errors_are_not_parted_by_their_own_points():
    bins = binned([[1.0], [1.0], [9.0]], np.array([[0.1], [0.2], [0.1]]))
    assert n_bins(bins).tolist() == [2]
    assert (bins.low[0], bins.high[0]) == (pytest.approx([0.4, 8.7]), pytest.approx([1.6, 9.3]))


def test_bins_do_not_depend_on_the_order_of_rows_with_equal_grid_points():
    values, errors = np.array([[0.0], [3.0], [1.0], [2.0], [3.0]]), np.array([[1.0], [1.0], [1.0], [0.0], [0.0]])
    expected = binned(values, errors)
    for order in ([4, 3, 2, 1, 0], [2, 0, 4, 1, 3]):
        found = binned(values[order], errors[order])
        np.testing.assert_array_equal(found.codes[..., :7], expected.codes[order][..., :7])


def test_quick_bins_are_those_of_few_objects():
    random = np.random.default_rng(0)
    measurements = read_measurements(random.normal(size=(4000, 2)), random.gamma(1, 0.1, (4000, 2)))
    thorough, quick = (learn_bins(measurements, np.ones(4000), 64, quick=quick) for quick in (False, True))
    for one, other in zip(thorough, quick, strict=True):
        assert len(one.edges) == len(other.edges) == 63
        assert np.abs(np.searchsorted(one.edges, other.edges) - np.arange(63)).max() <= 4
    few = read_measurements(np.repeat([[0.0], [1.0], [2.0]], 1000, axis=0))
    np.testing.assert_array_equal(learn_bins(few, np.ones(3000), 64, quick=True)[0].edges, [0.5, 1.5])
