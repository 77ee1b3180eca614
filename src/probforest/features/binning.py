"""Candidate thresholds of every feature, and the grid points of every training cell as bin codes.

The bins hold about equal probability of the training set; a feature with no more distinct grid points than bins
gets a bin for each, and the split search is exact.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..families import CHUNK
from ..kernels.encode import encode_column
from ..kernels.layout import CODE_SLOTS, GRID_POINTS, Bins, Column
from ..support.threads import in_threads
from .limits import Reference
from .measurements import Measurements

_DIGITS = 12  # of a share of the weight
SAMPLE = 70_000  # grid points that say where the quantiles are; more would move an edge by less than a bin's width


class Ladder(NamedTuple):
    """The bins of one feature."""

    edges: np.ndarray  # (n_bins - 1,) increasing
    low: np.ndarray  # (n_bins,) smallest grid point in each
    high: np.ndarray  # (n_bins,) largest
    reference: Reference  # how much lies below each edge


def find_ladders(
    measurements: Measurements, weight: np.ndarray, max_bins: int, n_jobs: int | None = None
) -> list[Ladder]:
    """The bins of every feature, each object counting with its `weight` (n,). Limits take no part."""
    n_features, n_objects = measurements.center.shape
    sample = _sample(n_objects, 1 if measurements.is_exact else GRID_POINTS)

    def of_feature(j: int) -> Ladder:
        return _ladder(measurements.column(j), measurements.families[j].grid(), weight, sample, max_bins)

    return list(in_threads(of_feature, range(n_features), n_jobs))


def bin_measurements(
    measurements: Measurements, ladders: Sequence[Ladder], max_bins: int, n_jobs: int | None = None
) -> Bins:
    """The grid points of `measurements` as codes of the bins; limits must be spread."""
    n_features, n_objects = measurements.center.shape
    dtype = np.uint8 if max_bins <= 255 else np.uint16
    missing_code = np.iinfo(dtype).max
    codes = np.empty((n_objects, n_features, 1 if measurements.is_exact else CODE_SLOTS), dtype=dtype)

    def encode(j: int) -> None:
        grid = measurements.families[j].grid()
        encode_column(measurements.column(j), grid, ladders[j].edges, missing_code, codes[:, j])

    for _ in in_threads(encode, range(n_features), n_jobs):
        pass
    eight_bytes = codes.itemsize * codes.shape[2] == 8
    words = codes.view(np.uint64)[:, :, 0] if eight_bytes else np.empty((0, n_features), dtype=np.uint64)
    n_bins = np.array([len(ladder.low) for ladder in ladders], dtype=np.int64)
    low, high = _padded([ladder.low for ladder in ladders]), _padded([ladder.high for ladder in ladders])
    return Bins(codes, words, n_bins, low, high, missing_code, CHUNK)


def _sample(n_objects: int, points_per_object: int) -> np.ndarray | None:
    """Objects that stand for all in a large table, the same ones in every fit."""
    n_sample = SAMPLE // points_per_object
    if n_objects <= n_sample:
        return None
    return np.random.default_rng(0).choice(n_objects, n_sample, replace=False, shuffle=False)


def _ladder(column: Column, grid: np.ndarray, weight: np.ndarray, sample: np.ndarray | None, max_bins: int) -> Ladder:
    """The bins of one feature.

    Those of a large table come from the objects `sample`; then the extremes of a bin are its edges. A sample with too
    few distinct points for all the bins says nothing about rare values: then all objects count.
    """
    if sample is not None:
        center, lower, upper, number = (part[sample] if len(part) else part for part in column[:4])
        sampled = Column(center, lower, upper, number, column.points)
        ladder = _ladder_of_points(*_grid_points(sampled, grid, weight[sample]), max_bins)
        if len(ladder.edges) == max_bins - 1:
            edges = ladder.edges
            return Ladder(edges, np.append(-np.inf, edges), np.append(edges, np.inf), ladder.reference)
    return _ladder_of_points(*_grid_points(column, grid, weight), max_bins)


def _grid_points(column: Column, grid: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The grid points of one feature's observed cells, the weight of each, and the centre of its cell."""
    center, lower, upper, number, own_points = column
    observed = ~np.isnan(center)
    if len(lower) == 0:
        return center[observed], weight[observed], center[observed]
    largest = np.finfo(float).max
    with np.errstate(over="ignore"):
        scale = np.where(grid < 0, lower[observed, None], upper[observed, None])
        points = np.clip(center[observed, None] + grid * scale, -largest, largest)
    if len(number):
        free = number[observed] >= 0
        points[free] = own_points[number[observed][free]]
    return points.ravel(), (weight[observed, None] * CHUNK).ravel(), np.repeat(center[observed], len(grid))


def _ladder_of_points(points: np.ndarray, masses: np.ndarray, centers: np.ndarray, max_bins: int) -> Ladder:
    """Up to max_bins - 1 edges, midway between neighbouring distinct points, at quantiles of the mass; and the smallest
    and the largest point between them."""
    if len(points) == 0:
        nothing = Reference(np.zeros(1), np.ones(1))
        return Ladder(np.empty(0), np.full(1, -np.inf), np.full(1, np.inf), nothing)
    order = np.lexsort((centers, points))
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
    reference = Reference(np.concatenate([points[:1], edges, points[-1:]]), shares)
    return Ladder(edges, np.append(points[0], high), np.append(low, points[-1]), reference)


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


def _padded(rows: Sequence[np.ndarray]) -> np.ndarray:
    padded = np.full((len(rows), max(map(len, rows))), np.nan)
    for row, values in zip(padded, rows, strict=True):
        row[: len(values)] = values
    return padded
