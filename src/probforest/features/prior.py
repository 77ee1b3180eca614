"""Empirical Bayes: what the training set says about the true values of a feature, before one is measured.

N(x, σ²) around a measured value counts its noise twice: the measured values scatter more than the true ones, and their
errors scatter them again. A prior, the spread of the true values, is learnt from the training set, and each cell
becomes the posterior of its true value. An exact cell stays as it is; one with a huge error becomes the prior.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy.optimize import minimize_scalar

from ..families import (
    LEVELS,
    ONE_SIGMA,
    Family,
    full_table,
    inverse_of_table,
    one_sigma_grid,
    reach_of,
    squashed_table,
)
from ..kernels.posterior import most_likely_masses, posterior_quantiles
from ..kernels.scores import set_cells
from ..kernels.sorting import order_of
from ..support.block_copy import row_by_row
from ..support.threads import in_threads
from .measurements import Measurements

SAMPLE = 2500  # objects that a prior is learnt from
_HUGE = 1e100  # an error of so many deviations says nothing, and its square is still a number
_LEAST_VARIANCE = 1e-4  # of the measured one: a prior that leaves no difference between objects would be of no use
_GRID = 64  # cells of a free-form prior
_LEAST_WIDTH = 1e-290  # of such a cell, and of a deviation: their inverses are numbers
_STEPS = 20  # of its EM algorithm; more would make spikes of it
_DIGITS = 9  # of a prior: sums of the same numbers in another order must not make another forest
PRIORS = ("normal", "empirical", "joint")

Cell = tuple[np.ndarray, np.ndarray, np.ndarray]  # centre, σ below, σ above


class Prior(Protocol):
    """The distribution of the true values of one feature."""

    def posterior(self, center: np.ndarray, lower: np.ndarray, upper: np.ndarray, family: Family) -> Cell:
        """The cells (n,) of measured values, as centre and σ on either side."""


@dataclass(frozen=True)
class NormalPrior:
    """True values with a mean and a standard deviation."""

    mean: float
    deviation: float

    def posterior(self, center: np.ndarray, lower: np.ndarray, upper: np.ndarray, family: Family) -> Cell:
        """The best linear estimate, which is the posterior when all is normal; `family` keeps its shape.

        The truth is drawn towards the mean, and so over the error on that side.
        """
        share_lower, share_upper = self._share(lower), self._share(upper)
        share = np.where(center > self.mean, share_lower, share_upper)
        center = self.mean + share * (center - self.mean)
        return center, lower * np.sqrt(share_lower), upper * np.sqrt(share_upper)

    def _share(self, error: np.ndarray) -> np.ndarray:
        """How much of a difference from the mean is not noise."""
        return 1.0 / (1.0 + _ratio(error, self.deviation) ** 2)


@dataclass(frozen=True)
class EmpiricalPrior:
    """True values with any distribution: a density that is constant between edges."""

    edges: np.ndarray  # (m + 1,) increasing
    mass: np.ndarray  # (m,)

    def posterior(self, center: np.ndarray, lower: np.ndarray, upper: np.ndarray, family: Family) -> Cell:
        """The posterior's median and its half-widths that hold 34 % of the probability, as a member of `family`.

        A cell that is finer than the prior, or far from all that the prior knows, stays as it is.
        """
        density = self.mass / np.diff(self.edges)
        table, reach = full_table(family), reach_of(family)
        found = posterior_quantiles(
            center, lower, upper, reach, self.edges, density, table, LEVELS[ONE_SIGMA], inverse_of_table(family)
        )
        cell = center.copy(), lower.copy(), upper.copy()
        set_cells(np.ascontiguousarray(found.T), ~np.isnan(found[:, 1]), one_sigma_grid(family), *cell)
        return cell


def sample_of(weight: np.ndarray, size: int = SAMPLE) -> np.ndarray:
    """The objects that priors are learnt from: at most `size` of those that weigh something."""
    sample = np.flatnonzero(weight)
    if len(sample) > size:
        sample = np.random.default_rng(0).choice(sample, size, replace=False, shuffle=False)
    return sample


def learn_priors(
    kind: str | None, measurements: Measurements, weight: np.ndarray, n_jobs: int | None = None
) -> list[Prior | None]:
    """The prior of every feature, also of one without errors: it may have some in a prediction. None: there is none."""
    n_features = len(measurements.center)
    if kind is None:
        return [None] * n_features
    sample = sample_of(weight)

    def learn(j: int) -> Prior | None:
        column = measurements.column(j)
        used = sample[~np.isnan(column.center[sample])]
        if len(used) == 0:
            return None
        exact = np.zeros(len(used))
        lower, upper = (exact, exact) if measurements.is_exact else (column.lower[used], column.upper[used])
        shares = weight[used] / weight[used].max()  # quotients with weights of any size are numbers then
        if kind == "normal":
            return _learn_normal(column.center[used], lower, upper, shares)
        return _learn_empirical(column.center[used], lower, upper, shares, measurements.families[j])

    return list(in_threads(learn, range(n_features), n_jobs))


def _learn_normal(center: np.ndarray, lower: np.ndarray, upper: np.ndarray, weight: np.ndarray) -> NormalPrior | None:
    """Mean and deviation of the true values, by maximum likelihood; the errors of the measured ones are known."""
    offset = center - np.average(center, weights=weight)
    largest = np.abs(offset).max()
    if largest < _LEAST_WIDTH:
        return None
    scatter = largest * np.sqrt(np.average((offset / largest) ** 2, weights=weight))
    if scatter < _LEAST_WIDTH:
        return None
    offset = np.clip(offset / scatter, -_HUGE, _HUGE)  # far out if the weight is minute
    noise = 0.5 * _ratio(lower, scatter) ** 2 + 0.5 * _ratio(upper, scatter) ** 2

    def mean_for(variance: float) -> float:
        return float(np.average(offset, weights=weight / (variance + noise)))

    def surprise(log_variance: float) -> float:
        variance = np.exp(log_variance)
        total = variance + noise
        return float((weight * (np.log(total) + (offset - mean_for(variance)) ** 2 / total)).sum())

    variance = 1.0
    if noise.any():
        found = minimize_scalar(
            surprise, bounds=(np.log(_LEAST_VARIANCE), np.log(2.0)), method="bounded", options={"xatol": 1e-2}
        )
        variance = float(np.exp(found.x))
    mean = np.average(center, weights=weight) + scatter * mean_for(variance)
    return _rounded(float(mean), float(scatter * np.sqrt(variance)))


def _ratio(error: np.ndarray, deviation: float) -> np.ndarray:
    """Errors in units of a deviation, whose squares are numbers."""
    with np.errstate(over="ignore"):
        return np.minimum(error / deviation, _HUGE)


def _rounded(mean: float, deviation: float) -> NormalPrior:
    deviation = float(f"{deviation:.{_DIGITS - 1}e}")
    quantum = 10.0 ** (np.floor(np.log10(deviation)) - _DIGITS)
    return NormalPrior(float(np.round(mean / quantum) * quantum) if quantum > 0 else mean, deviation)


def _learn_empirical(
    center: np.ndarray, lower: np.ndarray, upper: np.ndarray, weight: np.ndarray, family: Family
) -> EmpiricalPrior | None:
    """A few steps of the EM algorithm from a prior with equal masses in the cells between quantiles."""
    edges = np.unique(_quantiles_of_well_measured(center, lower, upper, weight))
    edges = edges[np.append(True, np.diff(edges) > _LEAST_WIDTH)]
    if len(edges) < 3:
        return None
    mass = most_likely_masses(center, lower, upper, weight, reach_of(family), edges, squashed_table(family), _STEPS)
    return EmpiricalPrior(edges, np.round(mass, _DIGITS))


def _quantiles_of_well_measured(
    center: np.ndarray, lower: np.ndarray, upper: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """Quantiles of the values that say where true ones lie: one with a huge error may lie far beyond them all."""
    low, high = weighted_quantiles(center, weight, np.array([0.16, 0.84]))
    good = lower + upper <= high - low
    if weight[good].sum() < 0.5 * weight.sum():
        good[:] = True
    return weighted_quantiles(center[good], weight[good], np.linspace(0, 1, _GRID + 1))


def weighted_quantiles(values: np.ndarray, weight: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Values such that shares `levels` of the weight lie below; an object of weight 2 counts as two."""
    if (weight == weight[0]).all():  # numbers alone are sorted much faster than with what belongs to them
        ordered, below = np.sort(values), np.cumsum(weight)
    else:
        order = order_of(values)
        ordered, below = values[order], np.cumsum(weight[order])
    return ordered[np.searchsorted(below, levels * below[-1] * (1 - 1e-9))]


def with_priors(priors: Sequence[Prior | None], measurements: Measurements) -> Measurements:
    """The posteriors of all cells with errors; limits and samples stay as they are. In memory, the objects of a feature
    lie one after the other: a large table is better given in pieces."""
    if measurements.is_exact or not any(priors):
        return measurements
    center, lower = row_by_row(measurements.center), row_by_row(measurements.lower)
    upper = row_by_row(measurements.upper) if have_two_sides(priors, measurements) else lower
    for j, (prior, family) in enumerate(zip(priors, measurements.families, strict=True)):
        if prior is not None:
            # Not exact or missing ones, limits (error 0) and samples.
            changed = (lower[j] > 0) | (upper[j] > 0)
            if measurements.has_free_forms:
                changed &= measurements.form_index[j] < 0
            found = prior.posterior(center[j], lower[j], upper[j], family)
            for part, values in zip((center, lower, upper), found, strict=True):
                np.copyto(part[j], values, where=changed)
    return replace(measurements, center=center, lower=lower, upper=upper)


def have_two_sides(priors: Sequence[Prior | None], measurements: Measurements) -> bool:
    """Whether the cells of a table with errors have lower and upper ones under the `priors`."""
    return any(isinstance(prior, EmpiricalPrior) for prior in priors) or not measurements.is_symmetric
