"""Weights of training targets: from the leaves that objects reach to one distribution each, and its quantiles.

The targets of several leaves have to be put in order. Sorting them takes most of the time of a prediction. Instead
their places are marked in a row of bits, which is then read from left to right.

A few quantiles need no order of all targets: the masses of ranges of targets tell which ranges they are in, and only
the targets of these are put in order.
"""

import numpy as np

from .jit import inlined, kernel
from .layout import INDEX, REAL
from .prefetch import prefetch
from .running_sums import running_sums

_WORD, _LAST = np.uint64(6), np.uint64(63)  # 2⁶ bits of a word
_AHEAD = 8  # leaves whose targets are on their way from memory
_RANGES = 8  # between 2⁷ and 2⁸ ranges of targets, if there are many of these
_ONE, _PRIME = np.uint64(1), np.uint64(67)  # the powers of two up to 2⁶³ leave different remainders
BIT_OF = np.zeros(67, dtype=np.uint64)  # the number of the bit, by this remainder
BIT_OF[[pow(2, bit, 67) for bit in range(64)]] = np.arange(64)


@inlined
def fetch_ahead(v, leaf, first, place, share):
    """Have the targets of a leaf that comes later on their way: both ends, and the middle of a leaf of usual size."""
    number = leaf[min(v + _AHEAD, leaf.shape[0] - 1)]
    head, tail = first[number], first[number + 1]
    prefetch(place, head)
    prefetch(place, tail - 1)
    prefetch(share, head)
    prefetch(share, head + 8)
    prefetch(share, tail - 1)


@inlined
def add_and_mark(at, amount, mass, marks):
    """Add to the mass of a target, and mark its place."""
    mass[at] += amount
    marks[at >> _WORD] |= _ONE << (at & _LAST)


@inlined
def take_marked(low, high, mass, marks, bit_of, places, weights, end):
    """Move the masses that are marked in the words [low, high] to the ends of `places` and `weights`, in order, and
    leave nothing behind. Returns their sum and the new end."""
    total = 0.0
    for w in range(low, high + 1):
        word = marks[np.uint64(w)]
        marks[np.uint64(w)] = np.uint64(0)
        while word != np.uint64(0):
            rest = word & (word - _ONE)
            at = (np.uint64(w) << _WORD) + bit_of[(word ^ rest) % _PRIME]
            places[np.uint64(end)] = at
            weights[np.uint64(end)] = mass[at]
            total += mass[at]
            mass[at] = 0.0
            end += 1
            word = rest
    return total, end


@kernel
def merge_leaves(leaf_first, leaf, reach, first, place, share, bit_of, mass, marks, begin, places, weights):
    """The distributions of n objects from the leaves that they reach.

    Object i reaches the leaves `leaf` with the probabilities `reach` at [leaf_first[i], leaf_first[i + 1]), at least
    one. Leaf l has the targets `place`, increasing, with their `share` at [first[l], first[l + 1]). Writes the targets
    of object i, increasing, with weights that sum to 1, to `places` and `weights` at [begin[i], begin[i + 1]). `mass`
    has a zero for every target, and `marks` a bit; so they do afterwards.
    """
    end = np.int64(0)
    begin[0] = end
    for i in range(begin.shape[0] - 1):
        low, high, start = np.int64(marks.shape[0]), np.int64(-1), end
        for v in range(leaf_first[i], leaf_first[i + 1]):
            number = leaf[v]
            head, tail = first[number], first[number + 1]
            fetch_ahead(v, leaf, first, place, share)
            for e in range(head, tail):
                add_and_mark(np.uint64(place[np.uint64(e)]), reach[v] * share[np.uint64(e)], mass, marks)
            low = min(low, np.int64(place[head]) >> 6)
            high = max(high, np.int64(place[tail - 1]) >> 6)
        total, end = take_marked(low, high, mass, marks, bit_of, places, weights, end)
        for e in range(start, end):
            weights[e] /= total
        begin[i + 1] = end


@kernel
def find_quantiles(first, weight, levels, found):
    """The first entries of each object up to which its weights sum to `levels` (k,), increasing, or else its last one,
    into `found` (n, k). Object i has the entries [first[i], first[i + 1]), at least one."""
    for i in range(found.shape[0]):
        at, last = first[i], first[i + 1] - 1
        up_to = weight[at]
        for k in range(levels.shape[0]):
            while up_to < levels[k] and at < last:
                at += 1
                up_to += weight[at]
            found[i, k] = at


@inlined
def add_to_ranges(leaf_first, leaf, reach, first, place, share, i, shift, sums, listed, amount):
    """Add the masses of the targets of object i to those of their ranges, 2^shift targets each, and list the targets in
    `listed` and their masses in `amount`. Returns the first and the last range with any, and how many are listed."""
    low, high, end = np.int64(sums.shape[0]), np.int64(-1), np.uint64(0)
    for v in range(leaf_first[i], leaf_first[i + 1]):
        number, probability = leaf[v], reach[v]
        head, tail = first[number], first[number + 1]
        fetch_ahead(v, leaf, first, place, share)
        for e in range(head, tail):
            at, mass = np.uint64(place[np.uint64(e)]), probability * share[np.uint64(e)]
            sums[at >> shift] += mass
            listed[end] = at
            amount[end] = mass
            end += _ONE
        low = min(low, np.int64(place[head]) >> np.int64(shift))
        high = max(high, np.int64(place[tail - 1]) >> np.int64(shift))
    return low, high, np.int64(end)


@inlined
def find_ranges(levels, low, high, sums, range_of, is_wanted):
    """The ranges of the quantiles into `range_of` (k,); mark them in `is_wanted`. The masses `sums` of the ranges
    [low, high] become those up to and with each range."""
    total = running_sums(sums[np.uint64(low) : np.uint64(high + 1)])
    at = low
    for k in range(levels.shape[0]):
        while sums[np.uint64(at)] < levels[k] * total and at < high:
            at += 1
        range_of[k] = at
        is_wanted[np.uint64(at)] = True


@inlined
def keep_wanted(count, shift, is_wanted, listed, amount):
    """Of `count` targets, leave those in ranges that are wanted. Returns their number. Every target is written: where
    the next one goes depends on whether it is wanted, and not a branch that the processor can't predict."""
    end = np.uint64(0)
    for m in range(count):
        at, mass = np.uint64(listed[np.uint64(m)]), amount[np.uint64(m)]
        listed[end] = at
        amount[end] = mass
        end += np.uint64(is_wanted[at >> shift])
    return np.int64(end)


@kernel
def find_quantiles_in_leaves(
    leaf_first,
    leaf,
    reach,
    first,
    place,
    share,
    levels,
    shift,
    bit_of,
    sums,
    range_of,
    is_wanted,
    listed,
    amount,
    mass,
    marks,
    places,
    weights,
    found,
):
    """The quantiles of n objects at `levels` (k,), increasing, as places of targets, into `found` (n, k).

    They are those of `merge_leaves` and `find_quantiles`. `sums` has a zero for every range of 2^shift >= 64 targets,
    and `is_wanted` a False; so they do afterwards, as `mass` and `marks`. `listed` and `amount` have space for all
    targets of an object, once per leaf, `places` and `weights` for those of k ranges.
    """
    words = np.int64(1) << np.int64(shift - _WORD)  # of a range
    for i in range(found.shape[0]):
        low, high, count = add_to_ranges(leaf_first, leaf, reach, first, place, share, i, shift, sums, listed, amount)
        find_ranges(levels, low, high, sums, range_of, is_wanted)
        for m in range(keep_wanted(count, shift, is_wanted, listed, amount)):
            add_and_mark(np.uint64(listed[np.uint64(m)]), amount[np.uint64(m)], mass, marks)
        total, here, end, entry, up_to = sums[high], np.int64(-1), np.int64(0), np.int64(0), 0.0
        for k in range(levels.shape[0]):
            if range_of[k] != here:  # its targets follow those of the range before it
                here, entry = range_of[k], end
                top = min((here + 1) * words, marks.shape[0]) - 1
                _, end = take_marked(here * words, top, mass, marks, bit_of, places, weights, end)
                up_to = weights[entry] + (sums[here - 1] if here > low else 0.0)
                is_wanted[here] = False
            while up_to < levels[k] * total and entry < end - 1:
                entry += 1
                up_to += weights[entry]
            found[i, k] = places[entry]
        for r in range(low, high + 1):
            sums[np.uint64(r)] = 0.0


# Not kernels: arrays are made in Python.
def merged(
    leaf_first: np.ndarray,
    leaf: np.ndarray,
    reach: np.ndarray,
    first: np.ndarray,
    place: np.ndarray,
    share: np.ndarray,
    n_targets: int,
    n_entries: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`begin`, `places` and `weights` of `merge_leaves`, for not more than `n_entries` of the latter."""
    mass, marks = np.zeros(n_targets, dtype=REAL), np.zeros(n_targets // 64 + 1, dtype=np.uint64)
    begin = np.empty(len(leaf_first), dtype=np.int64)
    places, weights = np.empty(n_entries, dtype=INDEX), np.empty(n_entries, dtype=REAL)
    merge_leaves(leaf_first, leaf, reach, first, place, share, BIT_OF, mass, marks, begin, places, weights)
    return begin, places[: begin[-1]], weights[: begin[-1]]


def quantile_places(
    leaf_first: np.ndarray,
    leaf: np.ndarray,
    reach: np.ndarray,
    first: np.ndarray,
    place: np.ndarray,
    share: np.ndarray,
    n_targets: int,
    levels: np.ndarray,
) -> np.ndarray:
    """The places of the quantiles of n objects at `levels` (k,), increasing, (n, k)."""
    shift = max(int(n_targets).bit_length() - _RANGES, int(_WORD))
    n_ranges = (n_targets >> shift) + 1
    n_places = min(n_targets, len(levels) << shift)
    # Of the leaves that an object reaches, if they were the largest ones, and of all leaves at most. The system gives
    # memory when it is written to, and most objects have far less.
    n_listed = min(int(np.diff(leaf_first).max(initial=0)) * int(np.diff(first).max(initial=0)), len(place))
    found = np.empty((len(leaf_first) - 1, len(levels)), dtype=INDEX)
    find_quantiles_in_leaves(
        leaf_first,
        leaf,
        reach,
        first,
        place,
        share,
        levels,
        np.uint64(shift),
        BIT_OF,
        np.zeros(n_ranges, dtype=REAL),
        np.empty(len(levels), dtype=np.int64),
        np.zeros(n_ranges, dtype=np.bool_),
        np.empty(n_listed, dtype=INDEX),
        np.empty(n_listed, dtype=REAL),
        np.zeros(n_targets, dtype=REAL),
        np.zeros(n_targets // 64 + 1, dtype=np.uint64),
        np.empty(n_places, dtype=INDEX),
        np.empty(n_places, dtype=REAL),
        found,
    )
    return found
