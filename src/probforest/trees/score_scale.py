"""By which factor the raw scores of boosting are best multiplied, according to objects that were held out.

Doubtful labels are learnt from in short steps, which end before they explain mistakes of labels: differences between
objects are then right in their order, but too small. The likelihood of the labels that were held out says by which
factor.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from .losses import Loss

_LARGEST = 4.0  # factor, or one over it
# Deviation of a normal prior for the logarithm of the factor: few labels, which say little, leave scores as they are.
_DEVIATION = 0.4


class HeldOutScores(NamedTuple):
    """What a model says about objects that it was grown without."""

    loss: Loss
    raw: np.ndarray  # (n_scores, n) of all objects
    weight: np.ndarray  # (n,) 0 for objects that were not held out

    def total_loss(self, scale: float) -> float:
        """The loss of those that were held out, all together, if scores are multiplied by `scale`."""
        baseline = self.loss.baseline[:, None]
        return np.count_nonzero(self.weight) * self.loss.mean(baseline + scale * (self.raw - baseline), self.weight)


def best_scale(models: Sequence[HeldOutScores]) -> float:
    """The most probable factor of the differences between raw scores and their baseline."""

    def surprise(log_scale: float) -> float:
        total = sum(model.total_loss(float(np.exp(log_scale))) for model in models)
        return total + 0.5 * (log_scale / _DEVIATION) ** 2

    most = np.log(_LARGEST)
    found = minimize_scalar(surprise, bounds=(-most, most), method="bounded", options={"xatol": 1e-3})
    return float(np.exp(found.x))
