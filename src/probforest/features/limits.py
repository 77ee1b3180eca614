"""What the training set has of each feature, over which a limit is spread."""

from dataclasses import dataclass

import numpy as np

from ..families import LEVELS
from ..kernels.interpolation import interpolated
from ..kernels.layout import FREE_STEPS
from .tabulated_cells import INNER, SIDES, FreeForms, both_sides


@dataclass(frozen=True)
class TrainingSpread:
    """The distribution of one feature in the training set: its F is linear between points."""

    points: np.ndarray  # (m,) increasing; a single one: the training set has nothing
    below: np.ndarray  # (m,) F at the points, from 0 to 1

    def share_below(self, value: np.ndarray) -> np.ndarray:
        """F; 0 below all points, 1 above them."""
        return interpolated(value, self.points, self.below)

    def quantile(self, share: np.ndarray) -> np.ndarray:
        """The inverse of F."""
        return interpolated(share, self.below, self.points)


SPREAD, EXACT, NOTHING = 0, 1, -1  # what a limit is: spread over its side; beyond all data; excluding nothing


def kinds_of_limits(spread: TrainingSpread, value: np.ndarray, limit: np.ndarray) -> np.ndarray:
    """What the limits `value` (n,) of one feature are, `limit` +1 being an upper one and -1 a lower."""
    share = spread.share_below(value)
    if len(spread.points) == 1:
        return np.full(len(value), NOTHING)
    excludes_nothing, excludes_all = np.where(limit > 0, (share >= 1, share <= 0), (share <= 0, share >= 1))
    return np.where(excludes_nothing, NOTHING, np.where(excludes_all, EXACT, SPREAD))


def forms_of_limits(spread: TrainingSpread, value: np.ndarray, limit: np.ndarray) -> FreeForms:
    """Limits that are spread over what the training set has on their allowed side."""
    share = spread.share_below(value)
    low, high = np.where(limit > 0, 0.0, share)[:, None], np.where(limit > 0, share, 1.0)[:, None]
    below, center, above = spread.quantile(low + (high - low) * SIDES).T
    lower, upper = both_sides(center - below, above - center)
    places = center[:, None] + INNER * np.where(INNER < 0, lower[:, None], upper[:, None])
    table = np.empty((len(value), FREE_STEPS + 1))
    table[:, 0], table[:, -1] = 0.0, 1.0
    table[:, 1:-1] = np.clip((spread.share_below(places) - low) / (high - low), 0.0, 1.0)
    points = spread.quantile(low + (high - low) * LEVELS)
    return FreeForms(center, lower, upper, points, table)
