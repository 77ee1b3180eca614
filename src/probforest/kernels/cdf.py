"""F(t): the probability that a cell's true value lies at or below a threshold (eq. 5)."""

import numpy as np

from .jit import kernel

# Linear interpolation over ±6σ in 4,096 steps is wrong by at most 2.6e-7 for the normal, ten times faster than erfc.
TABLE_REACH = 6.0
TABLE_STEPS = 4096
_STEPS_PER_SIGMA = TABLE_STEPS / (2.0 * TABLE_REACH)


@kernel
def left_probability(threshold, center, inverse_scale, missing_left, table):
    """F(threshold) of one cell, from the `table` of TABLE_STEPS + 1 values of the standard distribution; exactly 0 and
    1 beyond it. `missing_left` if the cell is missing.

    Written as choices between values, not as branches: a processor can't predict which way a cell goes.
    """
    missing = center != center
    exact = inverse_scale == np.inf
    difference = 0.0 if missing else threshold - center
    z = 0.0 if exact | missing else difference * inverse_scale
    step_like = TABLE_STEPS * 1.0 if difference >= 0.0 else 0.0
    position = step_like if exact else (z + TABLE_REACH) * _STEPS_PER_SIGMA
    position = min(max(position, 0.0), TABLE_STEPS * 1.0)
    step = min(int(position), TABLE_STEPS - 1)
    low, high = table[np.uint64(step)], table[np.uint64(step + 1)]
    return missing_left if missing else low + (position - step) * (high - low)
