"""The losses of numbers, their gradients and hessians: what boosted trees learn of a target that is a number.

With the raw score r and the target y of an object, and its error of 1 where nothing else is said,

    loss            of an object          gradient                   hessian     prediction
    squared_error   (y − r)² / 2          r − y                      1           r
    absolute_error  |y − r|               ±1                         1           r
    quantile        (y − r)(q − [y < r])  −q or 1 − q                1           r
    huber           (y − r)² / 2          r − y, but at most ±δ      1           r
    poisson         exp(r) − y r          exp(r) − y                 exp(r)      exp(r)
    gamma           r + y exp(−r)         1 − y exp(−r)              y exp(−r)   exp(r)

The absolute and the quantile loss have no curvature: splits are searched with a hessian of 1, and the value of a leaf
is then the best step for its members, a weighted quantile of y − r.

The Huber loss is δ (|y − r| − δ / 2) beyond δ. In the first iterations, residuals are larger than δ because little has
been learnt. So a tree takes the q-quantile of |y − r| instead as long as it is larger, as scikit-learn's
GradientBoosting does; with δ from the start, splits would hardly see where targets are far off. The values of leaves
are then the best steps, too: with few outliers per leaf, Newton steps would be shorter than they need be.

Kernels need numbers of order 1. So targets are (y − center) / unit here, or y / exp(center) of a loss with a logarithm,
and raw scores (r − center) / unit.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..inputs.targets import NumberTable
from ..kernels.best_first import GrowSpace
from ..kernels.best_steps import HUBER_CENTER, QUANTILE, best_steps, huber_center, weighted_quantile
from .losses import weighted_mean

NUMBER_LOSSES = ("squared_error", "absolute_error", "gamma", "huber", "poisson", "quantile")
LOG_LOSSES = ("poisson", "gamma")  # raw scores are logarithms of predictions
_LARGEST_LOGARITHM = 100.0  # of a scaled prediction: products of sums of exp are still numbers
_LARGEST_STEP = 10.0  # of a logarithm: where there is next to no curvature, a Newton step is of any size


@dataclass(frozen=True, eq=False)
class NumberLoss:
    """The loss of n objects whose targets are numbers; raw scores are (1, n)."""

    kind: str
    y: np.ndarray  # (n,) scaled
    level: float  # q of "quantile" and "huber", 0.5 of "absolute_error"
    center: float
    unit: float
    baseline: np.ndarray  # (1,) the best raw score without any features
    delta: float = np.inf  # δ of "huber", scaled
    weight: np.ndarray | None = None  # (n,) of the objects to learn from, for "huber"

    n_scores = 1

    @property
    def hessian_unit(self) -> float:
        """Hessians of targets that are not scaled are as many times as large."""
        return float(np.exp(self.center)) if self.kind == "poisson" else 1.0

    @property
    def gain_unit(self) -> float:
        """The same for gains of splits, G² / H."""
        return self.unit**2 if self.kind in ("squared_error", "huber") else self.hessian_unit

    @property
    def largest_step(self) -> float:
        """What the value of a leaf can be at most, before it is shrunk."""
        return _LARGEST_STEP if self.kind in LOG_LOSSES else np.inf

    @property
    def revises_leaves(self) -> bool:
        """Whether the value of a leaf is found by `write_steps`."""
        return self.kind in ("absolute_error", "quantile", "huber")

    def at(self, raw: np.ndarray) -> "NumberLoss":
        """The loss that a tree is grown on, from these scores."""
        if self.weight is None:
            return self
        off = np.abs(self.y - raw[0])
        return replace(self, delta=max(self.delta, weighted_quantile(off, self.weight, self.level)))

    def derivatives(self, raw: np.ndarray) -> np.ndarray:
        """What a node adds up, (1, n, 3): gradient, hessian and 1 of every object."""
        columns = np.ones((*raw.shape, 3))
        gradient, hessian, raw = columns[0, :, 0], columns[0, :, 1], raw[0]
        if self.kind in ("squared_error", "huber"):
            np.subtract(raw, self.y, out=gradient)
            np.clip(gradient, -self.delta, self.delta, out=gradient)
        elif self.kind == "poisson":
            hessian[:] = _exp(raw)
            np.subtract(hessian, self.y, out=gradient)
        elif self.kind == "gamma":
            hessian[:] = self.y * _exp(-raw)
            np.subtract(1.0, hessian, out=gradient)
        else:
            gradient[:] = np.where(self.y >= raw, -self.level, 1 - self.level)
            if self.kind == "absolute_error":
                gradient *= 2
        return columns

    def write_steps(self, n_nodes: int, space: GrowSpace, raw: np.ndarray) -> None:
        """Give each leaf of the tree that was grown into a space the raw score to add to those of its members at which
        their loss is smallest."""
        kind, about = (HUBER_CENTER, self.delta) if self.kind == "huber" else (QUANTILE, self.level)
        best_steps(n_nodes, space, self.y - raw[0], kind, about)

    def of_objects(self, raw: np.ndarray) -> np.ndarray:
        """The loss of every object (n,), of targets that are not scaled."""
        return self._losses(raw[0])

    def mean(self, raw: np.ndarray, weight: np.ndarray) -> float:
        """The weighted mean over all objects."""
        return self.mean_of(self.of_objects(raw), weight)

    def mean_of(self, losses: np.ndarray, weight: np.ndarray) -> float:
        """The same, if the `losses` (n,) of all objects are known."""
        return weighted_mean(losses, weight)

    def _losses(self, raw: np.ndarray) -> np.ndarray:
        if self.kind == "squared_error":
            return 0.5 * np.square(self.unit * (self.y - raw))
        if self.kind == "poisson":
            return np.exp(self.center) * (_exp(raw) - self.y * (raw + self.center))
        if self.kind == "gamma":
            return self.center + raw + self.y * _exp(-raw)
        left = self.unit * (self.y - raw)
        if self.kind == "huber":
            off, delta = np.abs(left), self.unit * self.delta
            return np.where(off < delta, 0.5 * np.square(left), delta * (off - 0.5 * delta))
        pinball = np.where(left > 0, self.level * left, (self.level - 1) * left)
        return 2 * pinball if self.kind == "absolute_error" else pinball


def number_loss(
    kind: str, numbers: NumberTable, weight: np.ndarray, level: float = 0.5, delta: float = np.inf
) -> NumberLoss:
    """The loss of targets, those with `weight` (n,) > 0 being learnt from; `level` is that of "quantile" and "huber",
    `delta` that of "huber", in the unit of the targets."""
    if kind in LOG_LOSSES:
        mean = float((numbers.y * weight).sum() / weight.sum())
        if mean == 0.0:  # rare counts may be 0 in all objects of a fold: then the mean of all is known
            mean = numbers.center if numbers.center > 0 else 1.0
        center, unit, y = np.log(mean), 1.0, numbers.y / mean
    else:
        center, unit = _center_and_unit(kind, numbers, weight, delta)
        y = (numbers.y - center) / unit
    level, delta = level if kind in ("quantile", "huber") else 0.5, delta / unit
    baseline, learnt = 0.0, weight > 0  # 0: that of a mean of 1, whose logarithm it is
    if kind == "squared_error":
        baseline = float((y * weight).sum() / weight.sum())
    elif kind == "huber":
        baseline = huber_center(y[learnt], weight[learnt], delta)
    elif kind not in LOG_LOSSES:
        baseline = weighted_quantile(y[learnt], weight[learnt], level)
    of_huber = (delta, weight) if kind == "huber" else ()
    return NumberLoss(kind, y, level, float(center), float(unit), np.array([baseline]), *of_huber)


def _center_and_unit(kind: str, numbers: NumberTable, weight: np.ndarray, delta: float) -> tuple[float, float]:
    """Mean and deviation of the targets; where a few outliers may be of any size, their median and δ."""
    if kind == "squared_error":
        return numbers.center, numbers.scale
    learnt = weight > 0
    center = weighted_quantile(numbers.y[learnt], weight[learnt], 0.5)
    is_smaller = kind == "huber" and 0.0 < delta < numbers.scale
    return center, delta if is_smaller else numbers.scale


def check_targets(kind: str, y: np.ndarray, weight: np.ndarray) -> None:
    """Raise a ValueError for targets (n,) that a loss with a logarithm can't have, if they weigh something."""
    if kind not in LOG_LOSSES:
        return
    bad = (weight > 0) & ((y < 0) if kind == "poisson" else (y <= 0))
    if bad.any():
        row, least = int(np.argmax(bad)), ">= 0" if kind == "poisson" else "> 0"
        raise ValueError(f"loss={kind!r} requires y {least}; got {y[row]} at row {row}.")
    if not (y[weight > 0] > 0).any():
        raise ValueError(f"loss={kind!r} requires a y above 0; all are 0.")


def predicted_numbers(kind: str, raw: np.ndarray) -> np.ndarray:
    """Predictions (n,) from raw scores (1, n) that are not scaled."""
    return np.exp(np.clip(raw[0], -700, 700)) if kind in LOG_LOSSES else raw[0]


def _exp(raw: np.ndarray) -> np.ndarray:
    return np.exp(np.clip(raw, -_LARGEST_LOGARITHM, _LARGEST_LOGARITHM))
