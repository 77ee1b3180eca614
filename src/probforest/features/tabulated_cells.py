"""Cells that belong to no family: draws from a posterior, and limits. Each has a table of its own F."""

from typing import NamedTuple

import numpy as np

from ..families import LEVELS, ONE_SIGMA, squashed_places
from ..kernels.free_form import quantiles_of_draws, tabulate
from ..kernels.layout import FREE_STEPS, GRID_POINTS

INNER = squashed_places(FREE_STEPS)  # where a table has its values, in σ; 0 and 1 stand at its ends
SIDES = LEVELS[ONE_SIGMA]  # the probability below the ends of the half-widths, and the median
_LEAST_SIDE = 1e-3  # of the other: a σ of 0 would have no table on its side


class FreeForms(NamedTuple):
    """Cells with tables of their own. Centre and σ say where in its table a cell has its values."""

    center: np.ndarray  # (n,) the median
    lower: np.ndarray  # (n,) half-widths that hold 34 % of the probability; both 0: an exact value
    upper: np.ndarray
    points: np.ndarray  # (n, GRID_POINTS), the grid points
    table: np.ndarray  # (n, FREE_STEPS + 1), F, even in the squashed z


def no_forms() -> FreeForms:
    """Nothing."""
    nothing = np.empty(0)
    return FreeForms(nothing, nothing, nothing, np.empty((0, GRID_POINTS)), np.empty((0, FREE_STEPS + 1)))


def forms_of_samples(samples: np.ndarray) -> FreeForms:
    """Cells with up to m draws each, `samples` (n, m), NaN where there are fewer, but at least one."""
    draws = np.sort(samples, axis=1)  # NaN last
    counts = np.count_nonzero(~np.isnan(samples), axis=1)
    points = np.empty((len(draws), GRID_POINTS))
    quantiles_of_draws(draws, counts, LEVELS, points)
    below, center, above = points[:, ONE_SIGMA].T.copy()
    # Where most draws are equal, the half-widths say nothing of the others.
    last = np.take_along_axis(draws, counts[:, None] - 1, axis=1)[:, 0]
    lower = np.where(below < center, center - below, center - draws[:, 0])
    upper = np.where(above > center, above - center, last - center)
    lower, upper = both_sides(lower, upper)
    table = np.empty((len(draws), FREE_STEPS + 1))
    table[:, 0], table[:, -1] = 0.0, 1.0
    tabulate(draws, counts, center, lower, upper, INNER, table[:, 1:-1])
    table[upper == 0, : FREE_STEPS // 2] = 0.0  # an exact value has nothing below itself
    return FreeForms(center, lower, upper, points, table)


def both_sides(lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Half-widths of which none is 0 beside another."""
    return np.maximum(lower, _LEAST_SIDE * upper), np.maximum(upper, _LEAST_SIDE * lower)
