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


@pytest.mark.parametrize("m", [1, 2, 5, 30])
def test_quantiles_of_draws_are_those_of_hazen(m):
    """NumPy's name for draw i standing for the share (i + ½)/k."""
    draws, counts = random_draws(np.random.default_rng(m), 50, m)
    levels = np.array([0.0, 0.001, 0.16, 0.5, 0.84, 1.0])
    found = np.empty((50, len(levels)))
    quantiles_of_draws(draws, counts, levels, found)
    for i in range(50):
        expected = np.quantile(draws[i, : counts[i]], levels, method="hazen")
        np.testing.assert_allclose(found[i], expected, atol=1e-12)


def test_the_table_gives_back_the_levels_of_quantiles():
    random = np.random.default_rng(0)
    draws, counts = np.sort(random.normal(size=(40, 20)), axis=1), np.full(40, 20)
    levels = np.linspace(0.03, 0.97, 11)
    places = np.empty((40, 11))
    quantiles_of_draws(draws, counts, levels, places)
    for k in range(11):
        found = np.empty((40, 1))
        side = np.abs(places[:, k]) + 1e-9  # so that z = ±1 is the place
        z = np.array([-1.0]), np.array([1.0])
        for sign, rows in zip(z, (places[:, k] < 0, places[:, k] >= 0), strict=True):
            part = np.empty((int(rows.sum()), 1))
            tabulate(draws[rows], counts[rows], np.zeros(rows.sum()), side[rows], side[rows], sign, part)
            found[rows] = part
        np.testing.assert_allclose(found[:, 0], levels[k], atol=1e-6)
