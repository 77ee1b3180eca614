"""Draws from a distribution as a table of its F."""

import numpy as np

from .jit import kernel


@kernel
def tabulate(draws, counts, center, lower, upper, z, out):
    """F of cells (n,) with sorted `draws` (n, m), of which the first `counts` (n,) count, into `out` (n, len(z)): at
    `center` + `z` × σ, that below the centre or that above it.

    Of k draws, draw i stands for the share (i + ½)/k; between draws, F is linear.
    """
    for i in range(center.shape[0]):
        count, below = counts[i], 0
        for k in range(z.shape[0]):
            place = center[i] + z[k] * (lower[i] if z[k] < 0.0 else upper[i])
            while below < count and draws[i, below] <= place:
                below += 1
            if below == 0:
                out[i, k] = 0.0
            elif below == count:
                out[i, k] = 1.0
            else:
                before, after = draws[i, below - 1], draws[i, below]
                out[i, k] = (below - 0.5 + (place - before) / (after - before)) / count


@kernel
def quantiles_of_draws(draws, counts, levels, out):
    """The quantiles of cells (n,) with sorted `draws` (n, m), of which the first `counts` (n,) count, at `levels` (q,),
    into `out` (n, q): the inverse of F as `tabulate` has it, from the first draw to the last."""
    for i in range(counts.shape[0]):
        last = counts[i] - 1
        for q in range(levels.shape[0]):
            place = min(max(levels[q] * counts[i] - 0.5, 0.0), 1.0 * last)
            below = min(np.int64(place), last)
            low, high = draws[i, below], draws[i, min(below + 1, last)]
            out[i, q] = low + (place - below) * (high - low)
