"""The candidate thresholds of every feature, learnt from the training set together with how its values are spread.

The bins hold about equal probability of the training set; a feature with no more distinct grid points than bins
gets a bin for each, and the split search is exact.
"""

from typing import NamedTuple

import numpy as np

from ..families import CHUNK
from ..kernels.layout import GRID_POINTS, Column
from ..kernels.sorting import order_of
from ..support.threads import in_threads
from .limits import TrainingSpread
from .measurements import Measurements

_DIGITS = 12  # of a share of the weight
SAMPLE = 70_000  # grid points that say where the quantiles are; more would move an edge by less than a bin's width
QUICK_SAMPLE = 3500  # the same for a trial


class FeatureBins(NamedTuple):
    """The bins of one feature."""

    edges: np.ndarray  # (n_bins - 1,) increasing
    low: np.ndarray  # (n_bins,) smallest grid point in each
    high: np.ndarray  # (n_bins,) largest
    spread: TrainingSpread  # how much of the training set lies below each edge


def learn_bins(
    measurements: Measurements,
    weight: np.ndarray,
    max_bins: int,
    n_jobs: int | None = None,
    *,
    quick: bool = False,
) -> list[FeatureBins]:
    """The bins of every feature, each object counting with its `weight` (n,). Limits have no part in them. `quick`:
    they are learnt from few objects."""
    weighty = weight > 0
    share = weight[weighty]
    n_points = max(QUICK_SAMPLE, 4 * max_bins) if quick else SAMPLE
    sample = _sample(len(share), n_points // (1 if measurements.is_exact else GRID_POINTS))

    def of_feature(j: int) -> FeatureBins:
        column = measurements.column(j)
        column = column if weighty.all() else rows_of(column, weighty)
        return _learn(column, measurements.families[j].grid(), share, sample, max_bins)

    return list(in_threads(of_feature, range(len(measurements.families)), n_jobs))


def _sample(n_objects: int, n_sample: int) -> np.ndarray | None:
    """Objects that stand for all in a large table, the same ones in every fit."""
    if n_objects <= n_sample:
        return None
    return np.random.default_rng(0).choice(n_objects, n_sample, replace=False, shuffle=False)


def _learn(
    column: Column, grid: np.ndarray, weight: np.ndarray, sample: np.ndarray | None, max_bins: int
) -> FeatureBins:
    """The bins of one feature.

    In a large table they come from the objects `sample`; then the extremes of a bin are its edges. A sample with too
    few distinct points for all the bins says nothing about rare values: then all objects count.
    """
    if sample is not None:
        bins = _bins_of_points(*_grid_points(rows_of(column, sample), grid, weight[sample]), max_bins)
        if len(bins.edges) == max_bins - 1:
            return bins_between(bins.edges, bins.spread)
    return _bins_of_points(*_grid_points(column, grid, weight), max_bins)


def bins_between(edges: np.ndarray, spread: TrainingSpread) -> FeatureBins:
    """Bins of which no more is known than their edges."""
    return FeatureBins(edges, np.append(-np.inf, edges), np.append(edges, np.inf), spread)


def rows_of(column: Column, rows: np.ndarray) -> Column:
    """The cells of some objects, given by their numbers or by a mask."""
    center, lower, upper, form_index = (part[rows] if len(part) else part for part in column[:4])
    return Column(center, lower, upper, form_index, column.points)


def _grid_points(column: Column, grid: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The grid points of one feature's observed cells, the weight of each, and the centre of its cell."""
    center, lower, upper, form_index, own_points = column
    observed = ~np.isnan(center)
    if len(lower) == 0:
        return center[observed], weight[observed], center[observed]
    largest = np.finfo(float).max
    with np.errstate(over="ignore"):
        scale = np.where(grid < 0, lower[observed, None], upper[observed, None])
        points = np.clip(center[observed, None] + grid * scale, -largest, largest)
    if len(form_index):
        free = form_index[observed] >= 0
        points[free] = own_points[form_index[observed][free]]
    return points.ravel(), (weight[observed, None] * CHUNK).ravel(), np.repeat(center[observed], len(grid))


def _bins_of_points(points: np.ndarray, masses: np.ndarray, centers: np.ndarray, max_bins: int) -> FeatureBins:
    """Up to max_bins - 1 edges, midway between neighbouring distinct points, at quantiles of the mass; and the smallest
    and the largest point between them."""
    if len(points) == 0:
        nothing = TrainingSpread(np.zeros(1), np.ones(1))
        return FeatureBins(np.empty(0), np.full(1, -np.inf), np.full(1, np.inf), nothing)
    order = _order(points, centers)
    points, centers, below = points[order], centers[order], np.cumsum(masses[order])
    gap = _gaps(points, centers)
    if len(gap) >= max_bins:
        targets = below[-1] * np.arange(1, max_bins) / max_bins
        chosen = np.searchsorted(below[gap], targets * (1 - 1e-9))  # sums of chunks are rounded
        gap = gap[np.unique(chosen[chosen < len(gap)])]
    low, high = points[gap], points[gap + 1]
    middle = 0.5 * low + 0.5 * high
    edges = np.where((low <= middle) & (middle < high), middle, low)
    # Rounded, so that neither the order of rows nor a value in seven equal parts (error 0) makes a difference.
    shares = np.concatenate([[0.0], np.round(below[gap] / below[-1], _DIGITS), [1.0]])
    spread = TrainingSpread(np.concatenate([points[:1], edges, points[-1:]]), shares)
    return FeatureBins(edges, np.append(points[0], high), np.append(low, points[-1]), spread)


def _order(points: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """By points, and equal ones by centres. Where no two points are equal, one sort is enough."""
    order = order_of(points)
    ordered = points[order]
    return order if (ordered[1:] > ordered[:-1]).all() else order_of(points, order_of(centers))


def _gaps(points: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Where an edge may lie: gap i is behind point i, the points being sorted, and equal ones by the centres of their
    cells.

    Not between two points of the same cell with nothing else between them. A cut there parts that cell alone, and can't
    be better than both of the cuts beside the cell, as the score is convex in the part. But where a side must have
    some weight, it may be the only one that is allowed; then tiny errors would give another tree than none.
    """
    last = np.flatnonzero(np.append(points[1:] > points[:-1], True))  # of each run of equal points
    first = np.append(0, last[:-1] + 1)
    lowest, highest = centers[first], centers[last]
    within_a_cell = (lowest[:-1] == highest[:-1]) & (lowest[:-1] == lowest[1:]) & (lowest[1:] == highest[1:])
    return last[:-1][~within_a_cell]
