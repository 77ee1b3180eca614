"""Linear interpolation between points."""

import numpy as np

from .jit import inlined, kernel
from .layout import REAL

_FEW = np.uint64(128)  # places: counting those below, as vector instructions, is faster than a search among them


@inlined
def interpolate_at(at, places, values):
    """The `values` (m,) at increasing `places` (m,), interpolated at one place; constant beyond the ends, NaN for NaN.
    Halves, as a difference of large numbers may overflow. The processor can't predict the branches of a search."""
    n_places = places.shape[0]
    first, count = np.uint64(0), np.uint64(n_places)
    while count > _FEW:  # the first of `count` places from `first` on lies below, or is the first of all
        half = count >> np.uint64(1)
        first += half * np.uint64(places[first + half] < at)
        count -= half
    below, few = np.int64(0), places[first : first + count]
    for k in range(few.shape[0]):
        below += few[k] < at
    left = min(first + np.uint64(below - (below > 0)), np.uint64(max(n_places - 2, 0)))
    right = min(left + np.uint64(1), np.uint64(n_places - 1))
    low, high = places[left], places[right]
    width, to = 0.5 * high - 0.5 * low, 0.5 * min(max(at, low), high) - 0.5 * low
    share = min(to / width, 1.0) if width > 0.0 else 0.0
    return (1.0 - share) * values[left] + share * values[right] if at == at else at


@kernel
def interpolate(x, places, values, out):
    """The same for many places (n,), into `out` (n,)."""
    for i in range(x.shape[0]):
        out[i] = interpolate_at(x[i], places, values)


# Not a kernel: arrays that are made in Python need not be compiled.
def interpolated(x: np.ndarray, places: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The `values` (m,) at increasing `places` (m,), interpolated at `x` of any shape; constant beyond the ends.
    `np.interp` goes by slopes, which overflow between points that are close, or far apart."""
    flat = np.ascontiguousarray(x, dtype=REAL).reshape(-1)
    out = np.empty_like(flat)
    interpolate(flat, np.ascontiguousarray(places, dtype=REAL), np.ascontiguousarray(values, dtype=REAL), out)
    return out.reshape(np.shape(x))
