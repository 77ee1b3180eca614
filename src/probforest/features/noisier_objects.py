"""Objects that are measured much worse than the training set.

Which prior suits a table shows in objects that are measured as well as the training set. For objects with much larger
errors the other features say more than their own values do, so that the joint prior is best for them whatever is best
for others. Trees need not be grown on its cells: true values, which thresholds part, are the same.
"""

from dataclasses import dataclass, replace

import numpy as np

from .joint_prior import JointPrior, with_posteriors
from .measurements import Measurements
from .prior import Prior

MUCH_WORSE = 8.0  # times the median error of a feature, in the geometric mean over the features of an object


@dataclass(frozen=True, eq=False)
class NoisierObjects:
    """What is known about objects that are measured much worse."""

    priors: tuple[Prior | None, ...]  # (d) the distributions of true values
    joint: JointPrior

    def replaced(
        self,
        among: Measurements,
        measured: Measurements,
        worse: np.ndarray,
        n_jobs: int | None,
        narrowing: float,
    ) -> Measurements:
        """The objects `worse` (n,) as posteriors of what was `measured`, and `among` others as they are. All cells have
        two sides: those of an object must not depend on others in the table. The memory of `among` is taken over."""
        memory = among.memory
        if memory is None:
            memory = np.empty((*among.center.T.shape, 3))
            np.stack([among.center.T, among.lower.T, among.upper.T], axis=2, out=memory)
        center, lower, upper = parts = memory.transpose(2, 1, 0)
        if worse.any():
            found = with_posteriors(self.priors, self.joint, measured.rows(worse), n_jobs, narrowing)
            for part, values in zip(parts, (found.center, found.lower, found.upper), strict=True):
                part[:, worse] = values
        return replace(among, center=center, lower=lower, upper=upper, memory=memory)


def measured_worse(measurements: Measurements, median_errors: np.ndarray) -> np.ndarray:
    """Which objects (n,) have much larger errors than the training set. Errors below the usual ones count as these: a
    few very good values do not make up for others."""
    ratio = relative_errors(measurements, median_errors)
    known = np.maximum(np.count_nonzero(~np.isnan(ratio), axis=0), 1)
    return np.log(np.fmax(ratio, 1.0)).sum(axis=0) / known > np.log(MUCH_WORSE)


def relative_errors(measurements: Measurements, median_errors: np.ndarray) -> np.ndarray:
    """Errors (d, n) in units of the median errors of the training set, (d,) or (2, d) for lower and upper ones; NaN
    where one of them is not known. Limits and samples have none."""
    medians = np.atleast_2d(median_errors).mean(axis=0)
    usable = np.isfinite(medians) & (medians > 0)
    with np.errstate(over="ignore", invalid="ignore"):
        ratio = (measurements.lower + measurements.upper) / 2 / np.where(usable, medians, np.nan)[:, None]
    return np.where(measurements.has_errors() & np.isfinite(ratio), ratio, np.nan)
