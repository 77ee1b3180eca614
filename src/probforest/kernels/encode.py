"""Grid points to bin codes."""

import sys

import numpy as np

from .jit import inlined, kernel
from .layout import GRID_POINTS

_LARGEST = sys.float_info.max


@inlined
def first_bin(edges, n_edges, point, low):
    """Number of `edges` below `point`, at least `low`: the bin with edges[bin - 1] < point <= edges[bin]."""
    high = n_edges
    while low < high:
        middle = (low + high) // 2
        if edges[middle] < point:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def grid_point(center, scale, offset):
    """center + offset σ, kept finite."""
    return min(max(center + offset * scale, -_LARGEST), _LARGEST)


@kernel
def encode_feature(center, scale, grid, edges, missing_code, codes, low, high):
    """Write `codes` (n, 1 or GRID_POINTS) of one feature and the smallest and largest grid point of each bin
    into `low` and `high` (len(edges) + 1,), which hold +inf and -inf before.
    `scale` is (n,), or (0,) when all cells are exact."""
    n_edges = edges.shape[0]
    n_points = GRID_POINTS if codes.shape[1] > 1 else 1
    for i in range(center.shape[0]):
        if center[i] != center[i]:
            for g in range(n_points):
                codes[i, g] = missing_code
            continue
        code = np.int64(0)
        for g in range(n_points):
            point = center[i] if n_points == 1 else grid_point(center[i], scale[i], grid[g])
            code = first_bin(edges, n_edges, point, code)
            codes[i, g] = code
            low[code] = min(low[code], point)
            high[code] = max(high[code], point)
