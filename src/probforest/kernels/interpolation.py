"""Linear interpolation between points."""

import numpy as np

from .jit import inlined, kernel
from .layout import REAL, SCRATCH
from .search import MOST_SLOTS, count_below_guided, fill_guide


@inlined
def between(x, below, places, values, goes_on):
    """The `values` (m,) at increasing `places` (m,), of which `below` lie below x, interpolated at x. Beyond the ends
    they are constant, or the line `goes_on`, as far as the last two places are apart. NaN for NaN. Halves, as a
    difference of large numbers may overflow."""
    n_places = places.shape[0]
    left = np.uint64(min(max(below - 1, 0), max(n_places - 2, 0)))
    right = min(left + np.uint64(1), np.uint64(n_places - 1))
    low, high = places[left], places[right]
    inside = min(max(x, low), high)
    width, to = 0.5 * high - 0.5 * low, 0.5 * inside - 0.5 * low
    share = min(to / width, 1.0) if width > 0.0 else 0.0
    if goes_on and width > 0.0:
        share = min(max(share + 0.5 * (x - inside) / width, -1.0), 2.0)
    return (1.0 - share) * values[left] + share * values[right] if x == x else x


@kernel
def interpolate(x, places, values, goes_on, space, out):
    """The `values` (m,) at increasing `places` (m,), interpolated at `x` (n,), into `out` (n,), which may be `x`.
    Beyond the ends they are constant, or the line `goes_on`. `space` is a `search_space`."""
    below, guide = space[:SCRATCH], space[SCRATCH:]
    about = fill_guide(places, x.shape[0], guide)
    for first in range(0, x.shape[0], SCRATCH):
        count = min(SCRATCH, x.shape[0] - first)
        here, to = x[first:], out[first:]
        count_below_guided(places, guide, about, here, count, below)
        for m in range(count):
            to[m] = between(here[m], below[m], places, values, goes_on)


# Not kernels: arrays that are made in Python need not be compiled.
def search_space() -> np.ndarray:
    """Scratch space for `interpolate`: places among others, and a guide to these."""
    return np.empty(SCRATCH + MOST_SLOTS + 1, dtype=np.int64)


def interpolated(x: np.ndarray, places: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The `values` (m,) at increasing `places` (m,), interpolated at `x` of any shape; constant beyond the ends.
    `np.interp` goes by slopes, which overflow between points that are close, or far apart."""
    flat = np.ascontiguousarray(x, dtype=REAL).reshape(-1)
    out, places, values = np.empty_like(flat), *(np.ascontiguousarray(part, dtype=REAL) for part in (places, values))
    interpolate(flat, places, values, False, search_space(), out)
    return out.reshape(np.shape(x))
