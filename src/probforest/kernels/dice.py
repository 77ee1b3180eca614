"""Small random generators for kernels: xorshift on 32 bits or 64, the state in the caller's array.

Numba's own generator has one hidden state per thread, so trees would depend on which thread grew them.
"""

import numpy as np

from .jit import inlined, kernel
from .layout import INDEX

_MASK = 0xFFFFFFFF
_NUMBERS = 1 << 13  # the rarest point has 11 of them
_LOW = np.int16(_NUMBERS - 1)
_CELLS = 128  # in a block: so few that the processor begins with the next random numbers, which wait for each other


@kernel
def draw_below(state, bound):
    """A whole number in [0, bound); advances `state` (1,) int64, which must not be 0."""
    x = state[0]
    x ^= (x << 13) & _MASK
    x ^= x >> 17
    x ^= (x << 5) & _MASK
    state[0] = x
    return x % bound


@inlined
def points_of(numbers, first, count, points):
    """The grid points that `count` numbers stand for: a number that is not below `first[g]` (GRID_POINTS - 1,) stands
    for a point behind g. Names for these: the compiler can't know that `points` are not written over them."""
    a, b, c, d, e, f = first[0], first[1], first[2], first[3], first[4], first[5]
    for m in range(count):
        n = numbers[m] & _LOW
        below = np.uint8(n >= a) + np.uint8(n >= b) + np.uint8(n >= c)
        points[m] = below + np.uint8(n >= d) + np.uint8(n >= e) + np.uint8(n >= f)


@inlined
def fetch_codes(codes, words, start, count, points, found):
    """The codes of the `points` of `count` cells from `start` on; at once, if those of a cell fit in a word."""
    if words.shape[0] > 0:
        cells = words[start : start + count]
        for m in range(count):
            found[m] = (cells[m] >> (np.uint64(8) * np.uint64(points[m]))) & np.uint64(255)
    else:
        slots, cells = np.uint64(codes.shape[2]), codes.reshape(-1)
        for m in range(count):
            found[m] = cells[np.uint64(start + m) * slots + np.uint64(points[m])]


@kernel
def draw_blocks(codes, words, missing_code, first, shift, offset, state, dice, numbers, points, found, drawn):
    """`draw_points`, one block of cells after the other. Each loop does one thing, and so many cells at once. `shift`
    and `offset` are those of the cells of a block; `dice` and `numbers`, which are the same memory, `points` and
    `found` are scratch space for one."""
    out, x = drawn.reshape(-1), state[0]
    n_cells, n_block = out.shape[0], found.shape[0]
    for start in range(0, n_cells, n_block):
        count = min(n_block, n_cells - start)
        for step in range((count + 3) // 4):
            x ^= x << np.uint64(13)
            x ^= x >> np.uint64(7)
            x ^= x << np.uint64(17)
            dice[step] = x
        points_of(numbers, first, count, points)
        fetch_codes(codes, words, start, count, points, found)
        to = out[start : start + count]
        for m in range(count):
            merged = (found[m] + offset[m]) >> shift[m]
            to[m] = merged if found[m] != missing_code else missing_code
    state[0] = x


# Not kernels: arrays are made in Python.
def draw_points(
    codes: np.ndarray,
    missing_code: int,
    first: np.ndarray,
    shift: np.ndarray,
    offset: np.ndarray,
    state: np.ndarray,
    drawn: np.ndarray,
) -> None:
    """One grid point of every cell, drawn with its probability: of `codes` (n, d, CODE_SLOTS) into `drawn` (n, d, 1).

    `first` is that of `first_numbers`. A random number of 64 bits serves for four cells. Of a feature's bins, 2^`shift`
    become one each, and the first one has `offset` fewer, both (d,). Advances `state` (1,) uint64, which must not be 0.
    """
    n_rows = 4 * max(1, _CELLS // (4 * codes.shape[1]))
    shifts, offsets = (np.tile(each.astype(INDEX), n_rows) for each in (shift, offset))
    words = codes.reshape(-1).view(np.uint64) if codes.itemsize * codes.shape[2] == 8 else np.empty(0, dtype=np.uint64)
    dice = np.empty(len(shifts) // 4, dtype=np.uint64)
    points, found = np.empty(len(shifts), dtype=np.uint8), np.empty(len(shifts), dtype=INDEX)
    numbers = dice.view(np.int16)
    draw_blocks(codes, words, missing_code, first, shifts, offsets, state, dice, numbers, points, found, drawn)


def first_numbers(chunk: np.ndarray) -> np.ndarray:
    """The first one of 2¹³ equally probable numbers that stands for each grid point but the first, if these have the
    probabilities `chunk` (GRID_POINTS,)."""
    numbers = (np.arange(_NUMBERS) + 0.5) / _NUMBERS
    return np.searchsorted(numbers, np.cumsum(chunk)[:-1], side="right").astype(np.int16)
