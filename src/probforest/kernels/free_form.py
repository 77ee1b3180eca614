"""Draws from a distribution as a table of its F."""

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
