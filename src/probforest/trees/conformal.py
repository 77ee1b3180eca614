"""Intervals that contain a target with at least a given probability, whatever the forest is like: conformalized
quantile regression (Romano, Patterson & Candès 2019), scaled by the deviation of each distribution.

For every probability p, the score of an object is how far its target lies outside of the central interval of its
distribution, below 0 if it lies inside, in units of the deviation. The interval of a new object is widened, or made
narrower, by the ⌈(n + 1) p⌉-th smallest of the n scores. If the new object and the n objects are exchangeable, and the
forest has seen none of them, it contains the new target with a probability of at least p: the new score is not above
this one with a probability of at least ⌈(n + 1) p⌉ / (n + 1).
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from .weighted_targets import WeightedTargets

# For which margins are kept: an interval for another probability is that for the next larger one.
PROBABILITIES = np.append(np.arange(1, 200) / 200, [0.9973, 0.999])
_LEVELS = np.concatenate([(1 - PROBABILITIES) / 2, (1 + PROBABILITIES) / 2])
_LEAST_SCALE = 0.01  # of the median deviation: a distribution may consist of one target
_ROUNDING = 1e-12


class Margins(NamedTuple):
    """What the ends of intervals are moved by, outwards."""

    of_probabilities: np.ndarray  # (len(PROBABILITIES),) in deviations; inf where there are too few objects
    least_scale: float  # a smaller deviation counts as this one

    def scale(self, distributions: WeightedTargets) -> np.ndarray:
        """The unit of the margins of each object, (n,)."""
        return np.maximum(distributions.std, self.least_scale)


def learn_margins(distributions: Iterable[tuple[np.ndarray | slice, WeightedTargets]], y: np.ndarray) -> Margins | None:
    """Margins from distributions of some rows of the targets `y` (n,) after the other; None if there are none."""
    outside, deviations = [], []
    for rows, piece in distributions:
        ends = piece.quantiles(_LEVELS)
        low, high = ends[:, : len(PROBABILITIES)], ends[:, len(PROBABILITIES) :]
        truth = y[rows, None]
        outside.append(np.maximum(low - truth, truth - high))
        deviations.append(piece.std)
    if not outside:
        return None
    deviation = np.concatenate(deviations)
    least = _LEAST_SCALE * float(np.median(deviation))
    least = least if least > 0 else 1.0
    scores = np.sort(np.concatenate(outside) / np.maximum(deviation, least)[:, None], axis=0)
    n_objects = len(scores)
    rank = np.ceil((n_objects + 1) * PROBABILITIES - _ROUNDING * n_objects).astype(np.int64)
    known = rank <= n_objects
    margins = np.full(len(PROBABILITIES), np.inf)
    margins[known] = scores[rank[known] - 1, np.flatnonzero(known)]
    return Margins(margins, least)


def conformal_interval(distributions: WeightedTargets, margins: Margins, p: float) -> np.ndarray:
    """Ends (n, 2) of intervals with at least the probability p, of which `PROBABILITIES` must have one that is not
    smaller."""
    place = int(np.searchsorted(PROBABILITIES, p - _ROUNDING))
    level, margin = PROBABILITIES[place], margins.of_probabilities[place]
    ends = distributions.quantiles(np.array([(1 - level) / 2, (1 + level) / 2]))
    if np.isinf(margin):
        return np.broadcast_to([-np.inf, np.inf], ends.shape)
    ends = ends + np.array([-1.0, 1.0]) * (margin * margins.scale(distributions))[:, None]
    crossed = ends[:, 0] > ends[:, 1]  # a margin below 0 may be larger than a narrow interval: its middle is left
    ends[crossed] = ends[crossed].mean(axis=1, keepdims=True)
    return ends
