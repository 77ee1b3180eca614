"""Draws from a distribution as quantiles and as a table of its F."""

import numpy as np

from .jit import kernel
from .search import count_below


@kernel
def tabulate(draws, counts, center, lower, upper, z, out, scratch, up_to):
    """F of cells (n,) with sorted `draws` (n, m), of which the first `counts` (n,) count, into `out` (n, 1 + len(z)):
    0, and F at `center` + `z` × σ, that below the centre or that above it. Nothing for cells without draws.
    `scratch` is (4, len(z)), `up_to` is (len(z),) int64; the loops are fast if that is a multiple of eight.

    Of k draws, draw i stands for the share (i + ½)/k; between draws, F is linear.
    """
    place, rank, before, after = scratch[0], scratch[1], scratch[2], scratch[3]
    for i in range(center.shape[0]):
        count, of_cell, to = counts[i], draws[i], out[i, 1:]
        if count == 0:
            continue
        for k in range(z.shape[0]):
            place[k] = center[i] + z[k] * (lower[i] if z[k] < 0.0 else upper[i])
        count_below(of_cell, count, place, z.shape[0], True, up_to)
        for k in range(z.shape[0]):
            here = up_to[k]
            rank[k] = here
            before[k] = of_cell[np.uint64(max(here - 1, 0))]
            after[k] = of_cell[np.uint64(min(here, count - 1))]
        out[i, 0], n_draws = 0.0, 1.0 * count
        for k in range(z.shape[0]):  # vector instructions; beyond all draws, ½ is added, so that F is 0 or 1
            inside = (rank[k] > 0.0) & (rank[k] < n_draws)
            offset, width = (place[k] - before[k], after[k] - before[k]) if inside else (0.5, 1.0)
            to[k] = (rank[k] - 0.5 + offset / width) / n_draws


@kernel
def quantiles_of_draws(draws, levels, counts, out):
    """The quantiles of cells (n,) with sorted `draws` (n, m), NaN last, at `levels` (q,), into `out` (n, q): the
    inverse of F as `tabulate` has it, from the first draw to the last; NaN where there are none. The number of draws
    of each cell is written to `counts` (n,)."""
    for i in range(counts.shape[0]):
        count = draws.shape[1]
        while count > 0 and draws[i, count - 1] != draws[i, count - 1]:
            count -= 1
        counts[i] = count
        last = max(count - 1, 0)
        for q in range(levels.shape[0]):
            place = min(max(levels[q] * count - 0.5, 0.0), 1.0 * last)
            below = min(np.int64(place), last)
            low, high = draws[i, below], draws[i, min(below + 1, last)]
            out[i, q] = low + (place - below) * (high - low)
