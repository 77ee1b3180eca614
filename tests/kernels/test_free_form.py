"""Draws as quantiles and as tables of F, beside their definitions."""

import numpy as np
import pytest

from probforest.kernels.free_form import quantiles_of_draws, tabulate


def random_draws(random, n, m):
    """Sorted, some fewer than others (NaN last), and some equal."""
    draws = random.normal(size=(n, m)).round(1)
    counts = random.integers(1, m + 1, n)
    draws[np.arange(m) >= counts[:, None]] = np.nan
    return np.sort(draws, axis=1), counts


def tabulated(draws, counts, center, lower, upper, z):
    out = np.full((len(draws), 1 + len(z)), np.nan)
    scratch, up_to = np.empty((4, len(z))), np.empty(len(z), dtype=np.int64)
    tabulate(draws, counts, center, lower, upper, z, out, scratch, up_to)
    return out


@pytest.mark.parametrize("m", [1, 2, 5, 30])
def test_quantiles_of_draws_are_those_of_hazen(m):
    """NumPy's name for draw i standing for the share (i + ½)/k."""
    draws, counts = random_draws(np.random.default_rng(m), 50, m)
    levels = np.array([0.0, 0.001, 0.16, 0.5, 0.84, 1.0])
    found = np.empty((50, len(levels)))
    found_counts = np.empty(50, dtype=np.int64)
    quantiles_of_draws(draws, levels, found_counts, found)
    np.testing.assert_array_equal(found_counts, counts)
    for i in range(50):
        expected = np.quantile(draws[i, : counts[i]], levels, method="hazen")
        np.testing.assert_allclose(found[i], expected, atol=1e-12)


def test_the_table_gives_back_the_levels_of_quantiles():
    random = np.random.default_rng(0)
    draws, counts = np.sort(random.normal(size=(40, 20)), axis=1), np.full(40, 20)
    levels = np.linspace(0.03, 0.97, 11)
    places = np.empty((40, 11))
    quantiles_of_draws(draws, levels, counts, places)
    for k in range(11):
        found = np.empty((40, 1))
        side = np.abs(places[:, k]) + 1e-9  # so that z = ±1 is the place
        z = np.array([-1.0]), np.array([1.0])
        for sign, rows in zip(z, (places[:, k] < 0, places[:, k] >= 0), strict=True):
            zeros = np.zeros(rows.sum())
            found[rows] = tabulated(draws[rows], counts[rows], zeros, side[rows], side[rows], sign)[:, 1:]
        np.testing.assert_allclose(found[:, 0], levels[k], atol=1e-6)


@pytest.mark.parametrize("m", [1, 2, 3, 7, 8, 30, 64, 200])
def test_tables_are_those_of_the_definition(m):
    """Of k draws, draw i stands for the share (i + ½)/k; equal ones among them, places at draws, and sides of width
    0 or with an overflow."""
    random = np.random.default_rng(m)
    draws, counts = random_draws(random, 60, m)
    center = random.normal(size=60).round(1)
    lower, upper = random.choice([0.0, 0.1, 1.0, 1e308], size=(2, 60))
    z = np.concatenate([np.linspace(-5, -0.5, 15), np.linspace(0, 5, 17)])
    found = tabulated(draws, counts, center, lower, upper, z)
    np.testing.assert_array_equal(found[:, 0], 0.0)
    for i in range(60):
        own, k = draws[i, : counts[i]], counts[i]
        with np.errstate(over="ignore"):
            places = center[i] + z * np.where(z < 0, lower[i], upper[i])
        for place, share in zip(places, found[i, 1:], strict=True):
            below, above = own[own <= place], own[own > place]
            if len(below) and len(above):
                between = (place - below[-1]) / (above[0] - below[-1])
                assert share == pytest.approx((len(below) - 0.5 + between) / k, abs=1e-15)
            else:
                assert share == (1.0 if len(below) else 0.0)


def test_cells_without_draws_have_no_quantiles_and_no_table():
    draws, counts = np.array([[np.nan, np.nan], [1.0, np.nan]]), np.empty(2, dtype=np.int64)
    found = np.empty((2, 2))
    quantiles_of_draws(draws, np.array([0.1, 0.5]), counts, found)
    np.testing.assert_array_equal(counts, [0, 1])
    np.testing.assert_array_equal(found, [[np.nan, np.nan], [1.0, 1.0]])
    tables = tabulated(draws, counts, found[:, 0], np.zeros(2), np.zeros(2), np.zeros(3))
    np.testing.assert_array_equal(tables, [[np.nan] * 4, [0.0, 1.0, 1.0, 1.0]])
