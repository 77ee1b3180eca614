"""Cells on the scale of normal scores, and back: see features/scored_cells.py."""

import numpy as np

from .interpolation import interpolate, search_space
from .jit import kernel
from .layout import REAL


@kernel
def score_cells(center, lower, upper, grid, edges, scores, space, out):
    """The scores of the cells (n,) of a feature at −1σ, 0 and 1σ, into `out` (3, n); `grid` (3,) says where these are
    for a centre of 0 and a σ of 1. A scale has `scores` (m,) at `edges` (m,). `space` is that of `interpolate`."""
    for q in range(grid.shape[0]):
        to = out[q]
        for i in range(center.shape[0]):
            to[i] = center[i] + grid[q] * (lower[i] if grid[q] < 0.0 else upper[i])
        interpolate(to, edges, scores, False, space, to)


@kernel
def move_scores(scored, place, variance, mean, spread, narrowing, changed, scores, out):
    """The scores of cells (n,) of a feature that are `changed`, at −1σ, 0 and 1σ, as `mean` and `spread` (n,) given all
    features make them, into `out` (3, n).

    Quantiles `scored` (3, n) are shifted and scaled as mean and variance differ from those given the feature alone,
    which saw `place` and `variance` (n,). So features that say nothing about each other leave cells as they are. A hole
    has an infinite variance, and is N(0, 1) given the feature alone. Medians stay between the ends of the `scores` (m,)
    of the scale.
    """
    lowest, highest = scores[0], scores[scores.shape[0] - 1]
    for i in range(place.shape[0]):
        if not changed[i]:
            out[0, i] = out[1, i] = out[2, i] = np.nan
            continue
        is_hole = variance[i] == np.inf and scored[1, i] != scored[1, i]
        share = 1.0 / (1.0 + variance[i])  # how much of a difference from 0 is not noise, given the feature alone
        ratio = spread[i] if is_hole else spread[i] / (1.0 - share)
        scale = ratio if narrowing == 2.0 and not is_hole else ratio ** (0.5 if is_hole else 0.5 * narrowing)
        middle = 0.0 if is_hole else scored[1, i]
        before, behind = (1.0, 1.0) if is_hole else (middle - scored[0, i], scored[2, i] - middle)
        moved = min(max(middle + mean[i] - share * place[i], lowest), highest)
        out[0, i], out[1, i], out[2, i] = moved - scale * before, moved, moved + scale * behind


@kernel
def set_cells(quantiles, changed, grid, center, lower, upper):
    """Replace cells (n,) that are `changed` by those whose quantiles at −1σ, 0 and 1σ are the rows of `quantiles`
    (3, n)."""
    at_below, at_median, at_above = grid[0], grid[1], grid[2]
    for i in range(center.shape[0]):
        if changed[i]:
            below, median, above = quantiles[0, i], quantiles[1, i], quantiles[2, i]
            lower[i], upper[i] = (median - below) / (at_median - at_below), (above - median) / (at_above - at_median)
            center[i] = median - at_median * (lower[i] if at_median < 0.0 else upper[i])


# Not kernels: arrays that are made in Python need not be compiled.
def scored(center: np.ndarray, lower: np.ndarray, upper: np.ndarray, grid, edges, scores) -> np.ndarray:
    """The scores (3, n) of cells (n,) at −1σ, 0 and 1σ."""
    out = np.empty((len(grid), len(center)), dtype=REAL)
    center, lower, upper = (np.ascontiguousarray(part) for part in (center, lower, upper))
    score_cells(center, lower, upper, grid, edges, scores, search_space(), out)
    return out


def move_cells(
    scored, place, variance, mean, spread, narrowing, changed, edges, scores, grid, center, lower, upper
) -> None:
    """Replace cells (n,) of a feature that are `changed` by what `mean` and `spread` (n,) given all features make of
    them: see `move_scores`. A scale has `scores` (m,) at `edges` (m,)."""
    moved, space = np.empty((len(grid), len(center)), dtype=REAL), search_space()
    move_scores(scored, place, variance, mean, spread, narrowing, changed, scores, moved)
    for each in moved:  # a cell at an end of the scale has two sides: one that is exact would be sure of it
        interpolate(each, scores, edges, True, space, each)
    set_cells(moved, changed, grid, center, lower, upper)
