"""F(t): the probability that a cell's true value lies at or below a threshold (eq. 5)."""

import numpy as np

from .jit import kernel

# Linear interpolation over ±6σ in 4,096 steps is wrong by at most 2.6e-7 for the normal, ten times faster than erfc.
TABLE_REACH = 6.0
TABLE_STEPS = 4096
_STEPS_PER_SIGMA = TABLE_STEPS / (2.0 * TABLE_REACH)


@kernel
def standard_cdf(z, table):
    """F of the standard distribution from its `table` of TABLE_STEPS + 1 values; exactly 0 and 1 beyond it."""
    position = (z + TABLE_REACH) * _STEPS_PER_SIGMA
    if position <= 0.0:
        return 0.0
    if position >= TABLE_STEPS:
        return 1.0
    step = int(position)
    return table[step] + (position - step) * (table[step + 1] - table[step])


@kernel
def left_probability(threshold, center, inverse_scale, table):
    """F(threshold) of one cell that is not missing."""
    if inverse_scale == np.inf:
        return 1.0 if center <= threshold else 0.0
    return standard_cdf((threshold - center) * inverse_scale, table)
