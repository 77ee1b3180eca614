"""The steps of leaves at which the loss of their members is smallest, where Newton steps only tell the direction:
weighted quantiles and Huber centres of what is left of their targets. Neither needs the members in order.

A quantile is found by adding up weights in ranges of values, again and again in the range that it is in. A Huber centre
is where the pulls of all values cancel, each at most δ strong. Together they fall in straight lines, so that Newton's
method ends at the very place, after a few looks at all values.
"""

import math

import numpy as np

from .best_first import GrowSpace
from .jit import inlined, kernel
from .layout import FEATURE, LEAF, REAL

QUANTILE, HUBER_CENTER = 0, 1
SAME_SHARE = 1e-9  # a share of weights is reached in spite of rounding
_RANGES = 512  # outliers leave few of them to the others


@kernel
def extremes(values):
    """The smallest and the largest of some values."""
    low, high = math.inf, -math.inf
    for m in range(values.shape[0]):
        low, high = min(low, values[m]), max(high, values[m])
    return low, high


@inlined
def range_of(value, low, width):
    """The range of a value, the first one for NaN. Divided, not multiplied, as one over a tiny width is infinite."""
    place = (value - low) / width * _RANGES
    return np.uint64(min(place, _RANGES - 1.0) if place >= 0.0 else 0.0)


@kernel
def add_up_ranges(values, mass, low, width, sums):
    """The mass of each range, into `sums` (_RANGES,)."""
    for r in range(_RANGES):
        sums[r] = 0.0
    for m in range(values.shape[0]):
        sums[range_of(values[m], low, width)] += mass[m]


@kernel
def range_that_reaches(sums, wanted, below):
    """The range in which the masses sum to `wanted`, with those `below`; if rounding is in the way, the last one with
    any. Returns also what is below it."""
    found, below_found, up_to = np.uint64(0), below, below
    for r in range(_RANGES):
        if up_to >= wanted:
            break
        if sums[r] > 0.0:
            found, below_found = np.uint64(r), up_to
        up_to += sums[r]
    return found, below_found


@kernel
def take_range(values, mass, low, width, wanted_range, to_values, to_mass):
    """Copy the members of a range one after the other, perhaps over themselves. Returns their number."""
    count = np.uint64(0)
    for m in range(values.shape[0]):
        value = values[m]
        to_values[count], to_mass[count] = value, mass[m]
        count += np.uint64(range_of(value, low, width) == wanted_range)
    return np.int64(count)


@kernel
def first_that_reaches(values, mass, wanted, kept_values, kept_mass, sums):
    """The smallest value up to which the masses sum to `wanted`, and this sum; `kept_values` and `kept_mass`, with
    space for one more than there are, and `sums` are scratch space."""
    below = 0.0
    low, high = extremes(values)
    while low < high:
        add_up_ranges(values, mass, low, high - low, sums)
        wanted_range, below = range_that_reaches(sums, wanted, below)
        count = take_range(values, mass, low, high - low, wanted_range, kept_values, kept_mass)
        values, mass = kept_values[:count], kept_mass[:count]
        low, high = extremes(values)
    for m in range(values.shape[0]):
        below += mass[m]
    return low, below


@kernel
def find_quantile(values, mass, level, kept_values, kept_mass, sums):
    """The value below which `level` of the mass lies; where that is true of a whole interval, its middle."""
    total = 0.0
    for m in range(values.shape[0]):
        total += mass[m]
    wanted, margin = level * total, SAME_SHARE * total
    first, up_to = first_that_reaches(values, mass, wanted - margin, kept_values, kept_mass, sums)
    last = first
    if up_to < wanted + margin:
        last, _ = first_that_reaches(values, mass, min(wanted + margin, total), kept_values, kept_mass, sums)
    return 0.5 * first + 0.5 * last


@kernel
def pull_at(values, mass, place, delta):
    """How strongly values pull at a place, Σ mass (value − place) with each term at most ±δ; the mass of those that
    pull less than δ; and the numbers of values that pull with all their strength to the left, and to the right."""
    pull, inside, n_left, n_right = 0.0, 0.0, 0, 0
    for m in range(values.shape[0]):
        off = values[m] - place
        is_left, is_right = off <= -delta, off >= delta
        pull += mass[m] * min(max(off, -delta), delta)
        inside += 0.0 if is_left | is_right else mass[m]
        n_left += is_left
        n_right += is_right
    return pull, inside, n_left, n_right


@kernel
def place_of_pull(values, mass, delta, wanted, place, n_left, n_right, low, high):
    """Where values pull with the strength `wanted`, between `low` and `high`. Newton's method from `place` on, where as
    many pull with all their strength as on the straight line that it was found on: -1 if it was not found on any.
    Returns the place, and mass and numbers of values there, as in `pull_at`.
    """
    while True:
        pull, inside, n_left_here, n_right_here = pull_at(values, mass, place, delta)
        if n_left_here == n_left and n_right_here == n_right:  # the same line: there is nothing to correct
            return place, inside, n_left, n_right
        n_left, n_right = n_left_here, n_right_here
        low, high = (place, high) if pull > wanted else (low, place)
        after = place + (pull - wanted) / inside
        if after == place or pull == wanted:
            return place, inside, n_left, n_right
        if not low < after < high:
            after, n_left = 0.5 * low + 0.5 * high, -1
            if not low < after < high:
                return place, inside, n_left, n_right
        place = after


@kernel
def find_huber_center(values, mass, delta):
    """The place at which the Huber loss of values is smallest; where that is a whole interval, its middle."""
    total, start = 0.0, 0.0
    for m in range(values.shape[0]):
        total += mass[m]
        start += mass[m] * values[m]
    low, high = extremes(values)
    low, high, start, margin = low - delta, high + delta, start / total, SAME_SHARE * delta * total
    first, inside, n_left, n_right = place_of_pull(
        values, mass, delta, margin, start, np.int64(-1), np.int64(-1), low, high
    )
    # Most often, it is on the same line that they pull as strongly to the other side.
    start = min(first + 2.0 * margin / inside, high) if inside > 0.0 else high
    last, _, _, _ = place_of_pull(values, mass, delta, -margin, start, n_left, n_right, first, high)
    return 0.5 * first + 0.5 * last


@kernel
def write_best_steps(n_nodes, space, left, kind, about, values, kept_values, kept_mass, sums):
    """Write the best step for the members of each leaf in `space.ordered`: of `left` (n,), their weighted quantile at
    the level `about`, or their Huber centre with δ = `about`. `values`, `kept_values` and `kept_mass` have space for
    the members of a leaf, the latter two for one more."""
    members, segments, ordered = space.members, space.pool.segments, space.ordered
    for this in range(n_nodes):
        if ordered.links[this, FEATURE] != LEAF:
            continue
        start, stop = segments[this, 0], segments[this, 1]
        if start == stop:  # rounding of huge weights: nobody is there to tell
            ordered.value[this, 0] = 0.0
            continue
        mass, of_leaf = members.mass[start:stop], values[: stop - start]
        for m in range(stop - start):
            of_leaf[m] = left[np.uint64(members.row[start + m])]
        if kind == HUBER_CENTER:
            ordered.value[this, 0] = find_huber_center(of_leaf, mass, about)
        else:
            ordered.value[this, 0] = find_quantile(of_leaf, mass, about, kept_values, kept_mass, sums)


# Not kernels: arrays are made in Python.
def best_steps(n_nodes: int, space: GrowSpace, left: np.ndarray, kind: int, about: float) -> None:
    """Give the leaves of the tree that was grown into a GrowSpace the values of `write_best_steps`."""
    write_best_steps(n_nodes, space, left, kind, about, np.empty(len(left), dtype=REAL), *_scratch(len(left)))


def weighted_quantile(values: np.ndarray, weight: np.ndarray, level: float) -> float:
    """The value below which `level` of the weight lies; where that is true of a whole interval, its middle.

    >>> weighted_quantile(np.array([3.0, 1.0, 2.0, 10.0]), np.array([1.0, 1.0, 1.0, 1.0]), 0.5)
    2.5
    >>> weighted_quantile(np.array([3.0, 1.0, 2.0]), np.array([2.0, 1.0, 1.0]), 0.75)
    3.0
    """
    return find_quantile(_own(values), _own(weight), level, *_scratch(len(values)))


def huber_center(values: np.ndarray, weight: np.ndarray, delta: float) -> float:
    """The c at which the Huber loss of values − c is smallest; where that is a whole interval, its middle.

    >>> round(huber_center(np.array([0.0, 1.0, 2.0, 100.0]), np.ones(4), 3.0), 6)
    2.0
    >>> round(huber_center(np.array([0.0, 1.0, 2.0, 100.0]), np.ones(4), 1000.0), 6)
    25.75
    """
    return find_huber_center(_own(values), _own(weight), delta)


def _own(values: np.ndarray) -> np.ndarray:
    """A copy: kernels take one kind of arrays."""
    return np.array(values, dtype=REAL)


def _scratch(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.empty(count + 1, dtype=REAL), np.empty(count + 1, dtype=REAL), np.empty(_RANGES, dtype=REAL)
