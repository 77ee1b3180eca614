"""Grid points to bin codes."""

import sys

import numpy as np

from .jit import kernel
from .layout import GRID_POINTS, SCRATCH, Column

_LARGEST = sys.float_info.max


@kernel
def find_bins(ladder, points, count, below):
    """Number of edges in a padded `ladder` below each of the first `count` `points`: the bin with
    edges[bin - 1] < point <= edges[bin].

    A search by halves, all points together: without a branch, and none waits for another.
    """
    for p in range(count):
        below[p] = np.uint64(0)
    step = np.uint64(ladder.shape[0] + 1) >> np.uint64(1)
    while step > np.uint64(0):
        for p in range(count):
            here = below[p]
            below[p] = here + step * np.uint64(ladder[here + step - np.uint64(1)] < points[p])
        step >>= np.uint64(1)


@kernel
def encode_cells(column, grid, ladder, missing_code, points, below, codes):
    """Write `codes` (n, 1 or GRID_POINTS or more) of the cells of a Column.
    `points` and `below` (SCRATCH × GRID_POINTS,) are scratch space."""
    center, lower, upper, points_row, own_points = column
    exact = codes.shape[1] == 1
    n_points = 1 if exact else GRID_POINTS
    for first in range(0, center.shape[0], SCRATCH):
        count = min(SCRATCH, center.shape[0] - first)
        for m in range(count):
            free = points_row.shape[0] > 0 and points_row[first + m] >= 0
            for g in range(n_points):
                if exact:
                    point = center[first + m]
                elif free:
                    point = own_points[points_row[first + m], g]
                else:
                    point = center[first + m] + grid[g] * (lower[first + m] if grid[g] < 0.0 else upper[first + m])
                points[m * n_points + g] = min(max(point, -_LARGEST), _LARGEST)  # NaN stays, in a bin that nobody reads
        find_bins(ladder, points, count * n_points, below)
        for m in range(count):
            missing = center[first + m] != center[first + m]
            for g in range(n_points):
                codes[first + m, g] = missing_code if missing else below[m * n_points + g]


# Not kernels: arrays that are made in Python need not be compiled.
def padded(edges: np.ndarray) -> np.ndarray:
    """The edges, and infinity up to a length of one less than a power of two."""
    length = 2 ** len(edges).bit_length() - 1
    return np.append(edges, np.full(length - len(edges), np.inf))


def encode_column(column: Column, grid, edges, missing_code, codes) -> None:
    """Write the `codes` (n, CODE_SLOTS), or (n, 1) when all cells are exact."""
    points, below = np.empty(SCRATCH * GRID_POINTS), np.empty(SCRATCH * GRID_POINTS, dtype=np.uint64)
    encode_cells(column, grid, padded(edges), missing_code, points, below, codes)
