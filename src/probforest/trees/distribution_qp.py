"""Predicted distributions for qp, the format of photometric redshifts. Needs qp-prob.

A density is a mean over the cell around each place of a grid, not the value at the place: a distribution that is
narrower than the grid would lie between two places, or be normalised to something else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..support.extras import need
from .weighted_targets import WeightedTargets

_PLACES = 501  # of the grid, if none is given
_MARGIN = 0.25  # of the range of targets, on each side: kernels around the outermost targets need room


def checked_grid(grid: ArrayLike | None, targets: np.ndarray) -> np.ndarray:
    """The places at which densities are tabulated, (k,) increasing; by default around all `targets`, increasing."""
    if grid is None:
        low, high = targets[0], targets[-1]
        margin = _MARGIN * (high - low) if high > low else max(abs(low), 1.0) * _MARGIN
        return np.linspace(low - margin, high + margin, _PLACES)
    places = np.array(grid, dtype=np.float64)
    if places.ndim != 1 or len(places) < 3 or not np.isfinite(places).all() or not (np.diff(places) > 0).all():
        raise ValueError("grid must be at least three increasing numbers.")
    if targets[-1] < places[0] or targets[0] > places[-1]:
        raise ValueError(
            f"grid goes from {places[0]:g} to {places[-1]:g}, but the targets from {targets[0]:g} to {targets[-1]:g}: "
            "the distributions are outside of it."
        )
    return places


def to_ensemble(pieces: Iterator[tuple[slice, WeightedTargets]], n_objects: int, grid: np.ndarray) -> Any:
    """A qp.Ensemble of densities at the places of a grid (k,)."""
    qp = need("qp", "to_qp", "photoz")
    edges = np.concatenate([grid[:1], (grid[1:] + grid[:-1]) / 2, grid[-1:]])
    densities = np.empty((n_objects, len(grid)))
    for rows, piece in pieces:
        places = np.broadcast_to(edges, (piece.n_objects, len(edges)))
        densities[rows] = np.diff(piece.smooth_cdf(places), axis=1) / np.diff(edges)
    return qp.Ensemble(qp.interp, data={"xvals": grid, "yvals": densities})
