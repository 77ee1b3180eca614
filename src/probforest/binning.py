"""Candidate thresholds of every feature, and the grid points of every training cell as bin codes.

The bins hold about equal probability of the training set; a feature with no more distinct grid points than bins
gets a bin for each, and the split search is exact.
"""

import numpy as np

from .kernels.encode import encode_feature
from .kernels.layout import CODE_SLOTS, Bins, Shape
from .measurements import Measurements


def bin_measurements(measurements: Measurements, weight: np.ndarray, max_bins: int, shape: Shape) -> Bins:
    """Bin the grid points of `measurements`, each object counting with its `weight` (n,)."""
    n_features, n_objects = measurements.center.shape
    exact = measurements.is_exact
    dtype = np.uint8 if max_bins <= 255 else np.uint16
    missing_code = np.iinfo(dtype).max
    codes = np.empty((n_features, n_objects, 1 if exact else CODE_SLOTS), dtype=dtype)
    lows, highs = [], []
    for j in range(n_features):
        center = measurements.center[j]
        scale = np.empty(0) if exact else measurements.scale[j]
        edges = _edges(*_grid_points(center, scale, weight, shape), max_bins)
        low, high = np.full(len(edges) + 1, np.inf), np.full(len(edges) + 1, -np.inf)
        encode_feature(center, scale, shape.grid, edges, missing_code, codes[j], low, high)
        lows.append(low)
        highs.append(high)
    return Bins(codes, _padded(lows), _padded(highs), missing_code)


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


def _edges(points: np.ndarray, masses: np.ndarray, centers: np.ndarray, max_bins: int) -> np.ndarray:
    """Up to max_bins - 1 edges, midway between neighbouring distinct points, at quantiles of the mass."""
    if len(points) == 0:
        return np.empty(0)
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
    return np.where((low <= middle) & (middle < high), middle, low)


def _padded(rows: list[np.ndarray]) -> np.ndarray:
    padded = np.full((len(rows), max(map(len, rows))), np.nan)
    for row, values in zip(padded, rows, strict=True):
        row[: len(values)] = values
    return padded
