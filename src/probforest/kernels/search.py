"""Where numbers lie among others in increasing order."""

import numpy as np

from .jit import inlined


@inlined
def count_below(ordered, n_ordered, x, count, also_equal, below):
    """How many of the first `n_ordered` numbers in increasing order lie below each of the first `count` of `x`, or, if
    `also_equal`, are not above it: into `below` (int64). None lies below NaN.

    A search by halves, all numbers together: without a branch that can't be predicted, and none waits for another.
    """
    for m in range(count):
        below[m] = 0
    left = n_ordered
    while left > 1:
        half = left >> 1
        middle = ordered[half - 1 :]
        for m in range(count):
            here = below[m]
            at = middle[np.uint64(here)]
            below[m] = here + half * (at <= x[m] if also_equal else at < x[m])
        left -= half
    if n_ordered > 0:
        for m in range(count):
            at = ordered[np.uint64(below[m])]
            below[m] += at <= x[m] if also_equal else at < x[m]
