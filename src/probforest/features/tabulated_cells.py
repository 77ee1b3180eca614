"""Cells that belong to no family: draws from a posterior, and limits. Each has a table of its own F."""

from typing import NamedTuple

import numpy as np

from ..families import LEVELS, ONE_SIGMA, squashed_places
from ..kernels.free_form import quantiles_of_draws, tabulate
from ..kernels.layout import FREE_STEPS, GRID_POINTS

INNER = squashed_places(FREE_STEPS)  # where a table has its values, in σ; 0 and 1 stand at its ends
_INNER_AND_END = np.append(INNER, 0.0)  # the end is no place: F is 1 there
SIDES = LEVELS[ONE_SIGMA]  # the probability below the ends of the half-widths, and the median
_BLOCK = 4096  # cells whose draws are sorted and tabulated while they are in the cache
_LEAST_SIDE = 1e-3  # of the other: a σ of 0 would have no table on its side


class FreeForms(NamedTuple):
    """Cells with tables of their own. Centre and σ say where in its table a cell has its values."""

    center: np.ndarray  # (n,) the median
    lower: np.ndarray  # (n,) half-widths that hold 34 % of the probability; both 0: an exact value
    upper: np.ndarray
    points: np.ndarray  # (n, GRID_POINTS), the grid points
    table: np.ndarray  # (n, FREE_STEPS + 1), F, even in the squashed z


def empty_forms(n: int) -> FreeForms:
    """Room for n cells."""
    center, lower, upper = np.empty((3, n))
    return FreeForms(center, lower, upper, np.empty((n, GRID_POINTS)), np.empty((n, FREE_STEPS + 1)))


def forms_of_samples(samples: np.ndarray) -> tuple[np.ndarray, FreeForms]:
    """Which cells (n, d) have draws, of `samples` (n, d, m), NaN where there are fewer than m; and these cells, one
    object after the other."""
    draws = samples.reshape(-1, samples.shape[2])
    sampled = _have_draws(draws)
    cells = np.flatnonzero(sampled)
    forms = empty_forms(len(cells))
    for first in range(0, len(cells), _BLOCK):
        some = slice(first, first + _BLOCK)
        of_some = draws[cells[some]]
        of_some += 0.0  # -0 is 0 then: differences of both may be a σ of -0
        of_some.sort(axis=1)  # NaN last
        _tabulate(of_some, FreeForms(*(part[some] for part in forms)))
    return sampled.reshape(samples.shape[:2]), forms


def _have_draws(draws: np.ndarray) -> np.ndarray:
    """Which cells (n,) have any, of `draws` (n, m). The first one says it of almost all."""
    found = ~np.isnan(draws[:, 0])
    if not found.all():
        found[~found] = ~np.isnan(draws[~found]).all(axis=1)
    return found


def _tabulate(draws: np.ndarray, forms: FreeForms) -> None:
    """Write the `forms` of cells with sorted `draws` (n, m), of which each has some."""
    counts = np.empty(len(draws), dtype=np.int64)
    quantiles_of_draws(draws, LEVELS, counts, forms.points)
    below, center, above = forms.points[:, ONE_SIGMA].T.copy()
    # Where most draws are equal, the half-widths say nothing of the others.
    last = draws[np.arange(len(draws)), counts - 1]
    lower = np.where(below < center, center - below, center - draws[:, 0])
    upper = np.where(above > center, above - center, last - center)
    forms.center[:], (forms.lower[:], forms.upper[:]) = center, both_sides(lower, upper)
    scratch, up_to = np.empty((4, FREE_STEPS)), np.empty(FREE_STEPS, dtype=np.int64)
    tabulate(draws, counts, *forms[:3], _INNER_AND_END, forms.table, scratch, up_to)
    forms.table[:, -1] = 1.0
    forms.table[forms.upper == 0, : FREE_STEPS // 2] = 0.0  # an exact value has nothing below itself


def both_sides(lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Half-widths of which none is 0 beside another."""
    return np.maximum(lower, _LEAST_SIDE * upper), np.maximum(upper, _LEAST_SIDE * lower)


def in_order_of_cells(tables: np.ndarray, index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The tables (n_free, FREE_STEPS + 1) of the cells of an object side by side, as nodes read those of few objects,
    and the `index` (n, d) of cells in them. Tables that no cell has are left out."""
    has_form = index >= 0
    order = index[has_form]
    if np.array_equal(order, np.arange(len(tables))):
        return tables, index
    of_cells = np.full(index.shape, -1)
    of_cells[has_form] = np.arange(len(order))
    return tables[order], of_cells
