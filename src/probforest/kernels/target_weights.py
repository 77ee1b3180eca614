"""Weights of training targets: from the leaves that objects reach to one distribution each, and its quantiles.

The targets of several leaves have to be put in order. Sorting them takes most of the time of a prediction. Instead
their places are marked in a row of bits, which is then read from left to right.
"""

import numpy as np

from .jit import inlined, kernel
from .layout import INDEX, REAL

_WORD, _LAST = np.uint64(6), np.uint64(63)  # 2⁶ bits of a word
_ONE, _PRIME = np.uint64(1), np.uint64(67)  # the powers of two up to 2⁶³ leave different remainders
BIT_OF = np.zeros(67, dtype=np.uint64)  # the number of the bit, by this remainder
BIT_OF[[pow(2, bit, 67) for bit in range(64)]] = np.arange(64)


@inlined
def add_leaf(reach, begin, end, place, share, mass, marks):
    """Add `reach` × the shares of a leaf, the entries [begin, end), to `mass`, and mark their places."""
    for e in range(begin, end):
        at = np.uint64(place[np.uint64(e)])
        mass[at] += reach * share[np.uint64(e)]
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
            add_leaf(reach[v], head, tail, place, share, mass, marks)
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


# Not a kernel: arrays are made in Python.
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
