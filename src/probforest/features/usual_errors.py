"""How large errors usually are at each value of a feature, and by which factor those of a table are larger.

Errors follow values: a faint object has larger ones. A table of fainter objects is measured as well as the training set
if its errors are those of training objects with the same values.
"""

from dataclasses import dataclass

import numpy as np

from .measurements import Measurements
from .prior import weighted_quantiles

_BINS = 32  # of the values of a feature, with the same weight each
_LEAST_IN_BIN = 30  # objects
_DEVIATION = 1.4826  # of a normal distribution, in median absolute deviations
SIGNIFICANT = 2.0  # standard errors by which a few objects must be above to count


@dataclass(frozen=True, eq=False)
class UsualErrors:
    """Logarithms of the errors of the training set by value, and how those of whole objects scatter around them."""

    edges: np.ndarray  # (d, b - 1) of the bins of values, increasing
    sizes: np.ndarray  # (d, b) median logarithm of the errors in each bin; NaN for a feature without errors
    shares: np.ndarray  # (d,) how much a feature counts
    middle: float  # median of the excesses of the training set
    scatter: float  # their robust standard deviation

    def factor(self, table: Measurements) -> float:
        """By which factor the errors of a table are larger than those of training objects with the same values: at
        least 1, and 1 if chance explains it."""
        excess = _excesses(table, self.edges, self.sizes, self.shares)
        excess = excess[~np.isnan(excess)]
        if not len(excess):
            return 1.0
        chance = SIGNIFICANT * self.scatter / np.sqrt(len(excess))
        above = beyond_chance(float(np.median(excess)) - self.middle, chance)
        return float(np.exp(min(above, 10.0)))


def learn_usual_errors(measurements: Measurements, weight: np.ndarray, shares: np.ndarray) -> UsualErrors | None:
    """The errors of a training set, each object counting with its `weight` (n,), each feature with its share (d,); None
    if no feature that counts has errors."""
    counted = weight > 0
    n_bins = int(np.clip(counted.sum() // _LEAST_IN_BIN, 1, _BINS))
    logs = error_logarithms(measurements)
    edges = np.zeros((len(logs), n_bins - 1))
    sizes = np.full((len(logs), n_bins), np.nan)
    for j, (value, size) in enumerate(zip(measurements.center, logs, strict=True)):
        known = ~np.isnan(size) & counted
        if known.any():
            levels = np.arange(1, n_bins) / n_bins
            edges[j] = weighted_quantiles(value[known], weight[known], levels) if n_bins > 1 else []
            sizes[j] = medians_of_bins(np.searchsorted(edges[j], value[known]), size[known], n_bins)
    shares = np.where(np.isnan(sizes[:, 0]), 0.0, shares)
    if not shares.sum() > 0:
        return None
    shares = shares / shares.sum()
    excess = _excesses(measurements, edges, sizes, shares)[counted]
    excess = excess[~np.isnan(excess)]
    middle = float(np.median(excess))
    return UsualErrors(edges, sizes, shares, middle, float(_DEVIATION * np.median(np.abs(excess - middle))))


def beyond_chance(excess: float, chance: float) -> float:
    """An excess that chance does not explain: 0 up to what chance makes of 0, and close to the excess itself where that
    is far more, without a jump in between (the non-negative garrote)."""
    return excess - chance**2 / excess if excess > chance else 0.0


def medians_of_bins(bins: np.ndarray, size: np.ndarray, n_bins: int) -> np.ndarray:
    """The median in each bin; that of all where there is none."""
    everywhere = np.median(size)
    return np.array([np.median(size[bins == b]) if (bins == b).any() else everywhere for b in range(n_bins)])


def error_logarithms(measurements: Measurements) -> np.ndarray:
    """Of the errors (d, n), means of both sides; NaN where there is none, or where it is unknown or 0."""
    if measurements.is_exact:
        return np.full(measurements.center.shape, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(measurements.lower / 2 + measurements.upper / 2)
    return np.where(measurements.has_errors() & np.isfinite(logs), logs, np.nan)


def _excesses(table: Measurements, edges: np.ndarray, sizes: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Of every object, the mean over the features of ln(error / usual error), (n,); NaN without a known error."""
    total, weight = np.zeros(table.n_objects), np.zeros(table.n_objects)
    for value, size, cuts, usual, share in zip(
        table.center, error_logarithms(table), edges, sizes, shares, strict=True
    ):
        known = ~np.isnan(size) & (share > 0)
        total[known] += share * (size[known] - usual[np.searchsorted(cuts, value[known])])
        weight[known] += share
    return np.where(weight > 0, total / np.where(weight > 0, weight, 1.0), np.nan)
