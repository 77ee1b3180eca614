"""Whether the Huber loss estimates means better than the squared error: what small models leave of the targets.

The squared error gives each object the same pull. If residuals have heavy tails on both sides, means of leaves scatter
more than they need to, and the Huber loss estimates the same means more precisely. If one tail is heavier than the
other, it estimates something else. Both can be seen in residuals of objects that small models were grown without.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..kernels.best_steps import huber_center, weighted_quantile

LEVEL = 0.9  # share of the residuals in the quadratic part, if nothing else is asked for
_SMALLER = 0.8  # the variance of a Huber estimate of a mean, relative to that of the mean itself, which is worth it
_SHIFTED = 2.0  # standard errors by which Huber estimate and mean may differ
# Standard errors by which the squared error of the Huber loss may be larger: they know nothing of chance in trees.
_WORSE = 3.0

# Folds of the objects by which squared errors are compared: two models that learn the same differ by their trees, too.
_FOLDINGS = 8

# Predictions (n,) of small models that were grown without the objects, by the name of the loss, its δ, and the seed of
# the folds.
Predictions = Callable[[str, float, int], np.ndarray]


class LossTrial(NamedTuple):
    """What residuals of small models with the squared error are like; if they have heavy tails, and the same on both
    sides, also the mean squared errors of small models with both losses."""

    relative_variance: float  # of the Huber estimate of the mean residual: that of the mean is 1
    shift: float  # Huber estimate − mean of the residuals, in the unit of the target
    shift_error: float  # its standard error
    squared_error: float  # mean squared error with loss="squared_error"
    huber: float | None  # the same with loss="huber"; None if it was not tried
    error: float | None  # standard error of their difference
    n_objects: int

    @property
    def is_worth_trying(self) -> bool:
        """Whether the Huber loss estimates the same means, more precisely."""
        return self.relative_variance < _SMALLER and abs(self.shift) <= _SHIFTED * self.shift_error

    @property
    def choice(self) -> str:
        """The loss to take."""
        if not self.is_worth_trying or self.huber is None or self.error is None:
            return "squared_error"
        return "huber" if self.huber - self.squared_error <= _WORSE * self.error else "squared_error"


def try_huber(y: np.ndarray, weight: np.ndarray, predictions: Predictions) -> tuple[LossTrial, float]:
    """Compare both losses for targets (n,) with weights (n,). Returns the trial, and the δ of the Huber loss."""
    share, left = weight / weight.sum(), y - predictions("squared_error", np.inf, 1)
    mean = float(share @ left)
    delta = delta_of(left, weight, LEVEL)
    center = huber_center(left, weight, delta)
    within = float(share @ (np.abs(left - center) < delta))
    moves = np.clip(left - center, -delta, delta) / within  # what an object adds to the Huber estimate, × n
    variance = share @ np.square(left - mean)
    shift_error = np.sqrt(np.square(share) @ np.square(moves - (left - mean)))
    ratio = float(share @ np.square(moves) / variance) if variance > 0 else 1.0
    trial = LossTrial(ratio, center - mean, float(shift_error), float(share @ np.square(left)), None, None, len(y))
    if not trial.is_worth_trying:
        return trial, delta
    delta = delta_of(y - predictions("absolute_error", np.inf, 1), weight, LEVEL)
    plain, huber = (
        np.mean([np.square(y - predictions(kind, delta, 1 + n)) for n in range(_FOLDINGS)], axis=0)
        for kind in ("squared_error", "huber")
    )
    difference = huber - plain
    error = np.sqrt(np.square(share) @ np.square(difference - share @ difference))
    trial = trial._replace(squared_error=float(share @ plain), huber=float(share @ huber), error=float(error))
    return trial, delta


def delta_of(left: np.ndarray, weight: np.ndarray, level: float) -> float:
    """δ for residuals (n,): the size that a share `level` of them does not exceed. It is above 0."""
    off = np.abs(left)
    return weighted_quantile(off, weight, level) or float(off.max()) or 1.0
