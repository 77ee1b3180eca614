"""Small random generators for kernels: xorshift on 32 bits or 64, the state in the caller's array.

Numba's own generator has one hidden state per thread, so trees would depend on which thread grew them.
"""

import numpy as np

from .jit import kernel

_MASK = 0xFFFFFFFF
_NUMBERS = 1 << 13  # so many are a small table, in which the rarest point has 11 of them
_SIXTEEN, _LOW = np.uint64(16), np.uint64(_NUMBERS - 1)


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
def draw_points(codes, missing_code, point_of, shift, offset, state, drawn):
    """One grid point of every cell, drawn with its probability: of `codes` (n, d, CODE_SLOTS) into `drawn` (n, d, 1).

    `point_of` (2¹³,) uint8 is the point that each of as many equally probable numbers stands for. A random number of 64
    bits serves for four cells. Of a feature's bins, 2^`shift` become one each, and the first one has `offset` fewer,
    both (d,) int64. Advances `state` (1,) uint64, which must not be 0.
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
            code = codes[i, j, np.uint64(point_of[dice & _LOW])]
            merged = (np.int64(code) + offset[j]) >> shift[j]
            drawn[i, j, 0] = merged if code != missing_code else missing_code
            dice >>= _SIXTEEN
            n_left -= 1
    state[0] = x


# Not a kernel: arrays are made in Python.
def points_of_numbers(chunk: np.ndarray) -> np.ndarray:
    """`point_of` of `draw_points` for grid points with the probabilities `chunk` (GRID_POINTS,)."""
    numbers = (np.arange(_NUMBERS) + 0.5) / _NUMBERS
    return np.searchsorted(np.cumsum(chunk)[:-1], numbers).astype(np.uint8)
