"""What the training set has of each feature, over which a limit is spread."""

from dataclasses import dataclass

import numpy as np

from .samples import LEVELS, new_knots


@dataclass(frozen=True)
class Reference:
    """The distribution of one feature in the training set: its F is linear between points."""

    points: np.ndarray  # (m,) increasing
    below: np.ndarray  # (m,) F at the points, from 0 to 1

    def share_below(self, value: np.ndarray) -> np.ndarray:
        """F; 0 below all points, 1 above them."""
        return np.interp(value, self.points, self.below)

    def knots_within(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """The knots (n, KNOT_SLOTS) of what lies between the shares `low` and `high` (n,)."""
        knots = new_knots(len(low))
        knots[:, : len(LEVELS)] = np.interp(low[:, None] + LEVELS * (high - low)[:, None], self.below, self.points)
        return knots


def spread_limits(reference: Reference, value: np.ndarray, limit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The cells of limits `value` (n,), `limit` +1 upper or -1 lower, of one feature.

    Returns knots (n, KNOT_SLOTS), and the kind of each cell: 0 spread over the allowed side, 1 all on one side of the
    training set, as good as an exact value, -1 excluding nothing, as good as missing.
    """
    if len(reference.points) == 1:  # the training set has nothing
        return new_knots(len(value)), np.full(len(value), -1)
    share = reference.share_below(value)
    low, high = np.where(limit > 0, 0.0, share), np.where(limit > 0, share, 1.0)
    kind = np.where(high <= low, 1, np.where((low <= 0.0) & (high >= 1.0), -1, 0))
    return reference.knots_within(low, high), kind
