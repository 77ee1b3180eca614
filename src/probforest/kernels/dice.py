"""Small random generators for kernels: xorshift on 32 bits or 64, the state in the caller's array.

Numba's own generator has one hidden state per thread, so trees would depend on which thread grew them.
"""

import numpy as np

from .jit import kernel
from .layout import GRID_POINTS

_MASK = 0xFFFFFFFF
_SIXTEEN, _LOW = np.uint64(16), np.uint64(0xFFFF)


@kernel
def draw_below(state, bound):
    """A whole number in [0, bound); advances `state` (1,) int64, which must not be 0."""
    x = state[0]
    x ^= (x << 13) & _MASK
    x ^= x >> 17
    x ^= (x << 5) & _MASK
    state[0] = x
    return x % bound


@kernel
def draw_points(codes, below, state, drawn):
    """One grid point of every cell, drawn with its probability: of `codes` (n, d, CODE_SLOTS) into `drawn` (n, d, 1).

    Of 65,536 equally probable numbers, `below` (GRID_POINTS,) int64 is how many belong to the points up to each. A
    number of 64 bits serves for four cells. Advances `state` (1,) uint64, which must not be 0.
    """
    x, n_left = state[0], 0
    dice = x
    for i in range(codes.shape[0]):
        for j in range(codes.shape[1]):
            if n_left == 0:
                x ^= x << np.uint64(13)
                x ^= x >> np.uint64(7)
                x ^= x << np.uint64(17)
                dice, n_left = x, 4
            number, point = np.int64(dice & _LOW), 0
            for g in range(GRID_POINTS - 1):
                point += number >= below[g]
            drawn[i, j, 0] = codes[i, j, point]
            dice >>= _SIXTEEN
            n_left -= 1
    state[0] = x


# Not a kernel: arrays are made in Python.
def numbers_below(chunk: np.ndarray) -> np.ndarray:
    """`below` of `draw_points` for grid points with the probabilities `chunk` (GRID_POINTS,)."""
    return np.round(65_536 * np.cumsum(chunk)).astype(np.int64)
