"""Quantiles of cells as kernels see them, and cells that are known better than they are."""

from collections.abc import Sequence

import numpy as np

from ..families import even_normal_table, squashed_places
from ..kernels.cdf import TABLE_REACH, TABLE_STEPS
from ..kernels.layout import EXACT_CELLS, FREE_STEPS, NORMAL_CELLS, OWN_TABLE, TABULATED_CELLS, Cells
from .limits import TrainingSpread

_EVEN = np.linspace(-TABLE_REACH, TABLE_REACH, TABLE_STEPS + 1)


def cell_quantiles(cells: Cells, spreads: Sequence[TrainingSpread], levels: np.ndarray) -> np.ndarray:
    """Where F of every cell is one of the `levels` (q,), (n, d, q). A missing cell has those of the training set,
    `spreads` (d); NaN where there are none, as for features beyond these."""
    _, n_features, kind = cells.values.shape
    found = np.repeat(cells.values[:, :, :1], len(levels), axis=2)
    if kind > EXACT_CELLS:
        for j in range(n_features):
            found[:, j] = _of_feature(cells, j, levels)
    for j, spread in enumerate(spreads):
        is_missing = np.isnan(cells.values[:, j, 0])
        if len(spread.points) > 1 and is_missing.any():
            found[is_missing, j] = spread.quantile(levels)
    return found


def _of_feature(cells: Cells, j: int, levels: np.ndarray) -> np.ndarray:
    """Of one feature, (n, q); NaN where it is missing."""
    kind = cells.values.shape[2]
    of_feature = cells.values[:, j]
    center, inverse_lower, inverse_upper = of_feature[:, 0], of_feature[:, 1], of_feature[:, min(kind, 3) - 1]
    if kind == NORMAL_CELLS:
        z = np.interp(levels, even_normal_table(), _EVEN)[None]
    else:
        start = cells.start[j]
        z = _squashed_quantiles(cells.table[start : start + TABLE_STEPS + 1], levels)[None]
    if kind == TABULATED_CELLS:
        z = np.broadcast_to(z, (len(center), len(levels))).copy()
        own = cells.values[:, j, OWN_TABLE]
        for i in np.flatnonzero(own >= 0):
            start = int(own[i])
            z[i] = _squashed_quantiles(cells.table[start : start + FREE_STEPS + 1], levels)
    return center[:, None] + z / np.where(z < 0, inverse_lower[:, None], inverse_upper[:, None])


def _squashed_quantiles(table: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """z at some levels of F; its table is even in the squashed z, and its ends are infinitely far away."""
    n_steps = len(table) - 1
    places = squashed_places(n_steps)
    return np.interp(levels, table[1:-1], places)


def better_known(cells: Cells, places: np.ndarray, medians: np.ndarray, j: int, factor: float) -> Cells:
    """The cells of feature j as they would be if their errors were `factor` × as large and their medians at `places`
    (n,) instead of `medians` (n,); a factor of 0 makes them exact. Missing cells become exact."""
    values = cells.values.copy()
    cell = values[:, j]
    was_missing = np.isnan(cell[:, 0])
    exact = was_missing | (factor == 0)
    cell[:, 0] = np.where(exact, places, places - factor * (medians - cell[:, 0]))
    for side in range(1, min(values.shape[2], 3)):
        cell[:, side] = np.where(exact, np.inf, cell[:, side] / (factor or 1.0))
    if values.shape[2] == TABULATED_CELLS:
        cell[:, OWN_TABLE] = np.where(exact, -1.0, cell[:, OWN_TABLE])  # no table of its own; any other has 0 and 1
    complete = cells.complete or not np.isnan(values[:, :, 0]).any()
    return cells._replace(values=values, complete=bool(complete))
