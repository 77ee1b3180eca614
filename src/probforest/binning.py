"""Candidate thresholds of every feature, and the grid points of every training cell as bin codes.

The bins hold about equal probability of the training set; a feature with no more distinct grid points than bins
gets a bin for each, and the split search is exact.
"""

from collections.abc import Sequence

import numpy as np

from .kernels.encode import encode_feature
from .kernels.layout import CODE_SLOTS, Bins, Shape
from .measurements import Measurements
from .threads import in_threads

SAMPLE = 70_000  # grid points that say where the quantiles are; more would move an edge by less than a bin's width


def bin_measurements(
    measurements: Measurements, weight: np.ndarray, max_bins: int, shape: Shape, n_jobs: int | None = None
) -> Bins:
    """Bin the grid points of `measurements`, each object counting with its `weight` (n,)."""
    n_features, n_objects = measurements.center.shape
    exact = measurements.is_exact
    dtype = np.uint8 if max_bins <= 255 else np.uint16
    missing_code = np.iinfo(dtype).max
    sample = _sample(n_objects, 1 if exact else len(shape.grid))
    codes = np.empty((n_objects, n_features, 1 if exact else CODE_SLOTS), dtype=dtype)

    def bin_feature(j: int) -> tuple[np.ndarray, np.ndarray]:
        center = np.ascontiguousarray(measurements.center[j])
        scale = np.empty(0) if exact else np.ascontiguousarray(measurements.scale[j])
        edges, low, high = _bins_of_feature(center, scale, weight, sample, shape, max_bins)
        encode_feature(center, scale, shape.grid, edges, missing_code, codes[:, j])
        return low, high

    lows, highs = zip(*in_threads(bin_feature, range(n_features), n_jobs), strict=True)
    eight_bytes = codes.itemsize * codes.shape[2] == 8
    words = codes.view(np.uint64)[:, :, 0] if eight_bytes else np.empty((0, n_features), dtype=np.uint64)
    n_bins = np.array([len(low) for low in lows], dtype=np.int64)
    return Bins(codes, words, n_bins, _padded(lows), _padded(highs), missing_code)


def _sample(n_objects: int, points_per_object: int) -> np.ndarray | None:
    """Objects that stand for all in a large table, the same ones in every fit."""
    n_sample = SAMPLE // points_per_object
    if n_objects <= n_sample:
        return None
    return np.random.default_rng(0).choice(n_objects, n_sample, replace=False, shuffle=False)


def _bins_of_feature(
    center: np.ndarray,
    scale: np.ndarray,
    weight: np.ndarray,
    sample: np.ndarray | None,
    shape: Shape,
    max_bins: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The edges of one feature's bins, and the smallest and the largest grid point in each.

    Those of a large table come from the objects `sample`; then the extremes of a bin are its edges. A sample with too
    few distinct points for all the bins says nothing about rare values: then all objects count.
    """
    if sample is not None:
        sample_scale = scale[sample] if len(scale) else scale
        edges, _, _ = _edges(*_grid_points(center[sample], sample_scale, weight[sample], shape), max_bins)
        if len(edges) == max_bins - 1:
            return edges, np.append(-np.inf, edges), np.append(edges, np.inf)
    return _edges(*_grid_points(center, scale, weight, shape), max_bins)


def _grid_points(
    center: np.ndarray, scale: np.ndarray, weight: np.ndarray, shape: Shape
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The grid points of one feature's observed cells, the weight of each, and the centre of its cell."""
    observed = ~np.isnan(center)
    center, weight = center[observed], weight[observed]
    if len(scale) == 0:
        return center, weight, center
    largest = np.finfo(float).max
    with np.errstate(over="ignore"):
        points = np.clip(center[:, None] + shape.grid * scale[observed, None], -largest, largest)
    return points.ravel(), (weight[:, None] * shape.chunk).ravel(), np.repeat(center, len(shape.grid))


def _edges(
    points: np.ndarray, masses: np.ndarray, centers: np.ndarray, max_bins: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Up to max_bins - 1 edges, midway between neighbouring distinct points, at quantiles of the mass; and the smallest
    and the largest point between them."""
    if len(points) == 0:
        return np.empty(0), np.full(1, -np.inf), np.full(1, np.inf)
    order = np.argsort(points)
    points, centers = points[order], centers[order]
    gap = np.flatnonzero(points[1:] > points[:-1])  # gap i lies behind the sorted point i
    if len(gap) >= max_bins:
        # Between two points of the same cell nothing else lies. Such gaps go first: with errors that are small beside
        # the distances of the values, the edges then are those of exact values.
        gap = gap[centers[gap] != centers[gap + 1]]
    if len(gap) >= max_bins:
        below = np.cumsum(masses[order])
        targets = below[-1] * np.arange(1, max_bins) / max_bins
        chosen = np.searchsorted(below[gap], targets * (1 - 1e-9))  # sums of chunks are rounded
        gap = gap[np.unique(chosen[chosen < len(gap)])]
    low, high = points[gap], points[gap + 1]
    middle = 0.5 * low + 0.5 * high
    edges = np.where((low <= middle) & (middle < high), middle, low)
    return edges, np.append(points[0], high), np.append(low, points[-1])


def _padded(rows: Sequence[np.ndarray]) -> np.ndarray:
    padded = np.full((len(rows), max(map(len, rows))), np.nan)
    for row, values in zip(padded, rows, strict=True):
        row[: len(values)] = values
    return padded
