"""F(t): the probability that a cell's true value lies at or below a threshold (eq. 5), from a table.

In two steps, so that loops over many cells can take the first as vector instructions: where in the table a cell lies,
and what stands there. There are two kinds of table. Where all cells are normal, it is even in z = (t − x)/σ. Another
family may have long tails; then all tables are even in z/(SQUASH + |z|), which brings all z between −1 and 1 and costs
a division.
"""

import numpy as np

from .jit import inlined
from .layout import FREE_STEPS

# Linear interpolation over ±6σ in 4,096 steps is wrong by at most 2.6e-7 for the normal, ten times faster than erfc.
TABLE_REACH = 6.0
TABLE_STEPS = 4096
_STEPS_PER_SIGMA = TABLE_STEPS / (2.0 * TABLE_REACH)
SQUASH = 3.0**0.5  # so that the ends of a uniform distribution, ±√3σ, lie at points of the table
_FARTHEST = 1e12


@inlined
def table_position(threshold, center, inverse_scale):
    """Where F(threshold) stands in an even table, in [0, TABLE_STEPS]; any place for a missing cell.

    An exact cell has an infinite `inverse_scale` and so lies beyond an end of the table, or, when it is equal to the
    threshold, nowhere: 0 × inf. Then it goes left.
    """
    position = ((threshold - center) * inverse_scale + TABLE_REACH) * _STEPS_PER_SIGMA
    position = position if position == position else TABLE_STEPS * 1.0
    return min(max(position, 0.0), TABLE_STEPS * 1.0)


@inlined
def squashed_position(threshold, center, inverse_scale):
    """The same in a squashed table."""
    z = (threshold - center) * inverse_scale
    z = z if z == z else _FARTHEST
    z = min(max(z, -_FARTHEST), _FARTHEST)
    return (z / (SQUASH + abs(z)) + 1.0) * (0.5 * TABLE_STEPS)


@inlined
def look_up(table, start, position):
    """The TABLE_STEPS + 1 values of `table` from `start` on, at a position; exactly 0 and 1 at its ends."""
    step = min(int(position), TABLE_STEPS - 1)
    low, high = table[np.uint64(start + step)], table[np.uint64(start + step + 1)]
    return low + (position - step) * (high - low)


@inlined
def look_up_own(table, start, position):
    """The same of the FREE_STEPS + 1 values of a cell without a family."""
    position *= FREE_STEPS / TABLE_STEPS
    step = min(int(position), FREE_STEPS - 1)
    low, high = table[np.uint64(start + step)], table[np.uint64(start + step + 1)]
    return low + (position - step) * (high - low)
