"""Grid points to bin codes."""

import sys

import numpy as np

from .jit import kernel
from .layout import GRID_POINTS, SCRATCH, Column
from .search import MOST_SLOTS, count_below_guided, fill_guide

_LARGEST = sys.float_info.max


@kernel
def encode_cells(column, grid, edges, missing_code, points, below, guide, codes):
    """Write `codes` (n, 1 or GRID_POINTS or more) of the cells of a Column: bin b has edges[b - 1] < point <= edges[b].
    `points` and `below` (SCRATCH × GRID_POINTS,), numbers and int64, and the `guide` (MOST_SLOTS + 1,) are scratch."""
    center, lower, upper, points_row, own_points = column
    exact = codes.shape[1] == 1
    n_points = 1 if exact else GRID_POINTS
    about = fill_guide(edges, n_points * center.shape[0], guide)
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
        count_below_guided(edges, guide, about, points, count * n_points, below)
        for m in range(count):
            missing = center[first + m] != center[first + m]
            for g in range(n_points):
                codes[first + m, g] = missing_code if missing else below[m * n_points + g]


# Not a kernel: arrays that are made in Python need not be compiled.
def encode_column(column: Column, grid, edges, missing_code, codes) -> None:
    """Write the `codes` (n, CODE_SLOTS), or (n, 1) when all cells are exact."""
    points, below = np.empty(SCRATCH * GRID_POINTS), np.empty(SCRATCH * GRID_POINTS, dtype=np.int64)
    guide = np.empty(MOST_SLOTS + 1, dtype=np.int64)
    encode_cells(column, grid, edges, missing_code, points, below, guide, codes)
