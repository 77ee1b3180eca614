"""Draws from posteriors as free-form cells: each becomes a few quantiles, between which a normal's z is linear."""

import numpy as np
from scipy.special import ndtr

from .kernels.cdf import FIRST_KNOT, KNOT_STEP
from .kernels.layout import KNOTS

LEVELS = ndtr(FIRST_KNOT + KNOT_STEP * np.arange(KNOTS))  # the share of the probability below each knot


def knots_of_samples(samples: np.ndarray) -> np.ndarray:
    """The knots (n, KNOTS) of n cells with up to m draws each, `samples` (n, m), NaN where there are fewer.

    Of k draws, the sorted draw i stands for the share (i + ½)/k; shares between are interpolated.
    """
    ordered = np.sort(samples, axis=1)  # NaN last
    count = np.count_nonzero(~np.isnan(samples), axis=1)[:, None]
    place = np.clip(LEVELS * count - 0.5, 0, count - 1)
    below = place.astype(np.int64)
    low = np.take_along_axis(ordered, below, axis=1)
    high = np.take_along_axis(ordered, np.minimum(below + 1, count - 1), axis=1)
    return low + (place - below) * (high - low)
