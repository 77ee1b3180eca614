"""Draws from posteriors as free-form cells: each becomes a few quantiles, between which a normal's z is linear."""

import numpy as np
from scipy.special import ndtr

from .kernels.cdf import FIRST_KNOT, KNOT_STEP
from .kernels.layout import KNOT_SLOTS, KNOTS

LEVELS = ndtr(FIRST_KNOT + KNOT_STEP * np.arange(KNOTS))  # the share of the probability below each knot


def knots_of_samples(samples: np.ndarray) -> np.ndarray:
    """The knots (n, KNOT_SLOTS) of n cells with up to m draws each, `samples` (n, m), NaN where there are fewer.

    Of k draws, the sorted draw i stands for the share (i + ½)/k; shares between are interpolated.
    """
    ordered = np.sort(samples, axis=1)  # NaN last
    counts = np.count_nonzero(~np.isnan(samples), axis=1)
    knots = new_knots(len(samples))
    for count in np.unique(counts):  # mostly there is but one
        rows = slice(None) if (counts == count).all() else np.flatnonzero(counts == count)
        of_count = ordered[rows]
        for k, level in enumerate(LEVELS):
            place = np.clip(level * count - 0.5, 0, count - 1)
            below = int(place)
            low, high = of_count[:, below], of_count[:, min(below + 1, count - 1)]
            knots[rows, k] = low + (place - below) * (high - low)
    return knots


def new_knots(n_cells: int) -> np.ndarray:
    """Space for the knots of cells, with what stands behind them."""
    knots = np.empty((n_cells, KNOT_SLOTS))
    knots[:, KNOTS:] = np.inf
    return knots
