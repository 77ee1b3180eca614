"""Cells on the scale of normal scores, on which the true values of every feature have the same distribution, N(0, 1).

z = Φ⁻¹(F(x)) with F of the feature's prior, at its edges; between two of them z is linear. Units, skewness and outliers
are gone, and what a measurement says, without any prior, is close to a normal distribution: its posterior with N(0, 1)
divided out.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtri

from ..families import one_sigma_grid
from ..kernels.interpolation import interpolated
from ..kernels.scores import scored
from .measurements import Measurements
from .prior import EmpiricalPrior

_EDGE = 2e-4  # probability beyond either end of the prior, which knows the smallest and the largest of 2,500 values
_LEAST_SHARE = 1e-4  # of the mass is spread evenly: F rises everywhere, and each z belongs to one x
_LEAST_VARIANCE, _MOST_VARIANCE = 1e-8, 0.999  # of a posterior: as good as exact; a measurement that says nothing


@dataclass(frozen=True)
class NormalScores:
    """The scale of one feature."""

    edges: np.ndarray  # (m + 1,) increasing
    scores: np.ndarray  # (m + 1,) z at the edges, increasing; linear between them

    @classmethod
    def of(cls, prior: EmpiricalPrior) -> "NormalScores":
        """The scale on which the prior is N(0, 1)."""
        total = prior.mass.sum()
        known = prior.mass if total > 0 else np.ones(len(prior.mass))  # where nothing was seen between the edges
        mass = (1 - _LEAST_SHARE) * known / known.sum() + _LEAST_SHARE / len(known)
        below = np.concatenate([[0.0], np.cumsum(mass)])
        return cls(prior.edges, ndtri(_EDGE + (1 - 2 * _EDGE) * below / below[-1]))

    def score(self, x: np.ndarray) -> np.ndarray:
        """z of values; those beyond the prior's ends have the z of the ends. NaN for NaN."""
        return interpolated(x, self.edges, self.scores)

    def value(self, z: np.ndarray) -> np.ndarray:
        """The values with these z, from one end of the prior to the other."""
        return interpolated(z, self.scores, self.edges)

    def knows(self, x: np.ndarray) -> np.ndarray:
        """Which values lie between the prior's ends."""
        return (x >= self.edges[0]) & (x <= self.edges[-1])


class ScoredCells(NamedTuple):
    """The cells (n,) of one feature as normal scores; NaN for holes."""

    quantiles: np.ndarray  # (3, n) at −1σ, 0 and 1σ
    limit: np.ndarray  # +1 where the median is an upper limit instead, -1 a lower one
    is_hole: np.ndarray  # bool
    is_noisy: np.ndarray  # bool, values with an error that a prior can change: neither limits, nor samples


class Sites(NamedTuple):
    """What was measured of the cells (n,) of one feature, as normal scores: normal distributions without any prior."""

    place: np.ndarray  # 0 where nothing was measured
    variance: np.ndarray  # infinite where nothing was measured


def scored_cells(scale: NormalScores, measurements: Measurements, j: int) -> ScoredCells:
    """The cells of feature j. Values beyond the prior's ends, far from all that it knows, and those that are as good as
    exact are not noisy: they stay as they are."""
    center = measurements.center[j]
    nothing = np.zeros(len(center), dtype=np.int64)
    limit = measurements.limit[j] if measurements.has_limits else nothing
    is_hole = np.isnan(center)
    if measurements.is_exact:
        return ScoredCells(np.tile(scale.score(center), (3, 1)), limit, is_hole, nothing > 0)
    lower, upper = measurements.lower[j], measurements.upper[j]
    grid = one_sigma_grid(measurements.families[j])
    ends = (center + at * (lower if at < 0 else upper) for at in (grid[0], grid[-1]))
    is_noisy = ((lower > 0) | (upper > 0)) & (limit == 0)
    for end in ends:
        is_noisy &= scale.knows(end)
    if measurements.has_free_forms:
        is_noisy &= measurements.form_index[j] < 0
    quantiles = scored(center, lower, upper, grid, scale.edges, scale.scores)
    is_noisy &= np.square((quantiles[2] - quantiles[0]) / 2) > _LEAST_VARIANCE
    return ScoredCells(quantiles, limit, is_hole, is_noisy)


def sites_of(cells: ScoredCells) -> Sites:
    """Posteriors with N(0, 1) divided out."""
    below, mean, above = cells.quantiles
    variance = np.square((above - below) / 2)
    if cells.limit.any():
        truncated = _truncated(mean, cells.limit)
        mean, variance = (np.where(cells.limit != 0, *pair) for pair in zip(truncated, (mean, variance), strict=True))
    says_nothing = cells.is_hole | ~(variance < _MOST_VARIANCE)
    mean, variance = np.where(says_nothing, 0.0, mean), np.where(says_nothing, 0.0, variance)
    variance = np.maximum(variance, _LEAST_VARIANCE)
    return Sites(mean / (1.0 - variance), np.where(says_nothing, np.inf, variance / (1.0 - variance)))


def _truncated(z: np.ndarray, limit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of N(0, 1) below z (`limit` +1) or above it (-1)."""
    edge = np.where(limit < 0, -z, z)
    ratio = np.exp(-0.5 * edge**2 - log_ndtr(edge)) / np.sqrt(2 * np.pi)
    return np.where(limit < 0, ratio, -ratio), 1.0 - edge * ratio - ratio**2
