"""Distributions that are right in the mean: learnt from the objects that trees did not draw.

If the distributions F of a forest are right, F(y) of true targets is uniform. G, how F(y) is really distributed, tells
what to correct: G(F) is uniform for objects like those of the training set.
"""

from collections.abc import Iterable

import numpy as np

from .weighted_targets import WeightedTargets

LEVELS = np.linspace(0.0, 1.0, 129)  # at which G is kept
NOISES = np.array([0.0, 0.5, 1.0, 2.0])  # added to features, in their errors: G is learnt for each of them
LITTLE_NOISE = NOISES[1:2]  # for a forest that answers only if there is not more
_FEWEST_OBJECTS = 20


def learn_calibration(
    distributions: Iterable[tuple[np.ndarray, WeightedTargets]], y: np.ndarray, weight: np.ndarray
) -> np.ndarray | None:
    """G at LEVELS, from distributions of some rows of the targets `y` (n,) after the other, each object counting with
    its `weight` (n,); None if there are too few objects to learn it from."""
    pits, weights = [], []
    for rows, piece in distributions:
        truth = y[rows, None]
        middle = (piece.cdf(truth) + piece.cdf(truth, below=True))[:, 0] / 2
        pits.append(piece.as_probabilities(middle))
        weights.append(weight[rows])
    if sum(map(len, pits)) < _FEWEST_OBJECTS:
        return None
    return _share_up_to(np.concatenate(pits), np.concatenate(weights))


def recalibrated(distributions: WeightedTargets, calibration: np.ndarray | None) -> WeightedTargets:
    """Distributions that are corrected by G at LEVELS; the same if there is none."""
    return distributions if calibration is None else distributions.recalibrated(LEVELS, calibration)


def calibration_at(calibrations: np.ndarray | None, factor: float) -> np.ndarray | None:
    """G for a table whose errors are larger by a factor than those of the training set, from those for NOISES, or from
    fewer, (k, len(LEVELS)): that of the nearest noise, or between two."""
    if calibrations is None:
        return None
    wanted = float(np.interp(np.sqrt(max(factor**2 - 1, 0.0)), NOISES, np.arange(len(NOISES))))
    place = min(wanted, len(calibrations) - 1)
    before, share = int(place), place - int(place)
    after = min(before + 1, len(calibrations) - 1)
    return (1 - share) * calibrations[before] + share * calibrations[after]


def _share_up_to(pit: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The share of the weight with `pit` up to each of the LEVELS; 0 at the first, 1 at the last."""
    order = np.argsort(pit, kind="stable")
    below = np.concatenate([[0.0], np.cumsum(weight[order])])
    share = below[np.searchsorted(pit[order], LEVELS, side="right")] / below[-1]
    share[0], share[-1] = 0.0, 1.0
    return share
