"""Cells as normal scores, and moved on their scale, beside the equations."""

import numpy as np
import pytest
from scipy.stats import gamma

from probforest.families import LAPLACE, NORMAL, ONE_SIGMA, family_from_scipy
from probforest.kernels.scores import move_cells, scored, set_cells

EDGES = np.array([-4.0, -1.0, 0.0, 0.5, 3.0, 10.0])
SCORES = np.array([-3.5, -1.0, -0.2, 0.3, 1.5, 3.5])
SKEWED = family_from_scipy(gamma(2.0))


def naive_moved(quantiles, place, variance, mean, spread, narrowing, grid):
    """One cell: its quantiles in z are shifted and scaled, and mapped back. The median stays on the scale; the lines at
    its ends go on by as much again."""
    is_hole = np.isnan(quantiles[1])
    below, median, above = (-1.0, 0.0, 1.0) if is_hole else quantiles
    alone = 1.0 if is_hole else 1.0 - 1.0 / (1.0 + variance)
    scale = np.sqrt(spread / alone) if is_hole else np.sqrt(spread / alone) ** narrowing
    center = np.clip(median + mean - place / (1.0 + variance), SCORES[0], SCORES[-1])
    z = [center - scale * (median - below), center, center + scale * (above - median)]
    scores = np.concatenate([[2 * SCORES[0] - SCORES[1]], SCORES, [2 * SCORES[-1] - SCORES[-2]]])
    edges = np.concatenate([[2 * EDGES[0] - EDGES[1]], EDGES, [2 * EDGES[-1] - EDGES[-2]]])
    low, middle, high = np.interp(z, scores, edges)
    lower, upper = (middle - low) / (grid[1] - grid[0]), (high - middle) / (grid[2] - grid[1])
    return middle - grid[1] * (lower if grid[1] < 0 else upper), lower, upper


@pytest.mark.parametrize("family", [NORMAL, LAPLACE, SKEWED], ids=lambda family: family.name)
def test_scores_are_those_of_the_quantiles(family):
    random = np.random.default_rng(0)
    center, lower, upper = random.normal(size=50), random.gamma(1, size=50), random.gamma(1, size=50)
    center[3], lower[4], upper[4] = np.nan, 0.0, 0.0
    grid = family.grid()[ONE_SIGMA]
    found = scored(center, lower, upper, grid, EDGES, SCORES)
    for at, each in zip(grid, found, strict=True):
        expected = np.interp(center + at * (lower if at < 0 else upper), EDGES, SCORES)
        np.testing.assert_allclose(each, np.where(np.isnan(center), np.nan, expected), atol=1e-12)


@pytest.mark.parametrize("narrowing", [1.0, 2.0, 1.5])
@pytest.mark.parametrize("family", [NORMAL, LAPLACE, SKEWED], ids=lambda family: family.name)
def test_moved_cells_are_those_of_the_equations(family, narrowing):
    random = np.random.default_rng(1)
    n, grid = 60, family.grid()[ONE_SIGMA]
    quantiles = np.sort(random.normal(size=(3, n)), axis=0)
    place, variance = random.normal(size=n), random.gamma(1, size=n)
    mean, spread = random.normal(size=n), random.gamma(1, 0.3, n)
    quantiles[:, ::7], place[::7], variance[::7] = np.nan, 0.0, np.inf  # holes
    place[1::7], variance[1::7] = 0.0, np.inf  # measurements that say nothing
    changed = np.arange(n) % 5 > 0
    before = [random.normal(size=n), random.gamma(1, size=n), random.gamma(1, size=n)]
    found = [part.copy() for part in before]
    move_cells(quantiles, place, variance, mean, spread, narrowing, changed, EDGES, SCORES, grid, *found)
    for i in range(n):
        expected = [part[i] for part in before]
        if changed[i]:
            expected = naive_moved(quantiles[:, i], place[i], variance[i], mean[i], spread[i], narrowing, grid)
        np.testing.assert_allclose([part[i] for part in found], expected, atol=1e-12)


@pytest.mark.parametrize("grid", [[-1.0, 0.0, 1.0], [-0.9, -0.2, 1.3], [-0.7, 0.1, 0.8]])
def test_cells_have_the_quantiles_that_were_found(grid):
    """In a family with a centre that is not its median, the median lies on the side where its scale is that of it."""
    random, grid = np.random.default_rng(0), np.array(grid)
    found, known = np.sort(random.normal(size=(3, 50)), axis=0), np.arange(50) % 7 > 0
    before = random.normal(size=(3, 50))
    center, lower, upper = after = before.copy()
    set_cells(found, known, grid, *after)
    np.testing.assert_array_equal(after[:, ::7], before[:, ::7])
    for at, quantile in zip(grid, found[:, known], strict=True):
        # Between the median and the centre, both halves of a cell would have the scale of the median's side.
        scale = np.where(at < grid[1] or (at == grid[1] and at < 0), lower[known], upper[known])
        of_median = lower[known] if grid[1] < 0 else upper[known]
        expected = center[known] + grid[1] * of_median + (at - grid[1]) * scale
        np.testing.assert_allclose(quantile, expected, atol=1e-12)


def test_a_cell_that_is_moved_beyond_the_scale_keeps_a_width():
    """At the end, not beyond it, and not as if it were exact."""
    one = np.ones(1)
    cell = [0.3 * one, 0.1 * one, 0.1 * one]
    quantiles = np.array([[-0.1], [0.0], [0.1]])
    of_cell = quantiles, 0 * one, 0.05 * one, 9.0 * one, 0.04 * one, 1.0, one > 0
    move_cells(*of_cell, EDGES, SCORES, NORMAL.grid()[ONE_SIGMA], *cell)
    assert cell[0][0] == EDGES[-1]
    assert cell[1][0] > 0.1
    assert cell[2][0] == pytest.approx(cell[1][0])
