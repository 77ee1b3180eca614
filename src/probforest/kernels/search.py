"""Where numbers lie among others in increasing order."""

import numpy as np

from .jit import inlined

MOST_SLOTS = 1024  # of a guide: it stays in the fastest cache
_SLOTS_PER_NUMBER = 8
_MOST_IN_SLOT = 8  # numbers in a slot of a guide; with more, a search by halves takes no more steps


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


@inlined
def slot_of(x, lowest, slots_per_unit, n_slots):
    """The slot of a guide that x lies in. It never falls when x rises, however it is rounded."""
    return np.int64(min(max((x - lowest) * slots_per_unit, 0.0), n_slots - 1.0))


@inlined
def fill_guide(ordered, n_x, guide):
    """How many of the numbers in increasing order `ordered` (n,) lie in slots below each of those of the `guide`
    (MOST_SLOTS + 1,), which are as wide as each other. Returns how many slots there are, how many to a unit, and the
    most numbers in one of them: no slots where a guide is of no use, as there are only `n_x` numbers to look up, or too
    many in one slot."""
    n_ordered, n_slots = ordered.shape[0], np.int64(0)
    slots_per_unit, most = 0.0, np.int64(0)
    if n_ordered > 1 and n_x > n_ordered:
        wanted = min(_SLOTS_PER_NUMBER * n_ordered, MOST_SLOTS)
        slots_per_unit = wanted / (ordered[n_ordered - 1] - ordered[0])
        if 0.0 < slots_per_unit < np.inf:
            n_slots = np.int64(wanted)
            filled = np.int64(0)  # slots whose number is known
            for k in range(n_ordered):
                slot = slot_of(ordered[k], ordered[0], slots_per_unit, n_slots)
                while filled <= slot:
                    guide[filled] = k
                    filled += 1
                most = max(most, k + 1 - guide[slot])
            while filled <= n_slots:
                guide[filled] = n_ordered
                filled += 1
    return (n_slots if most <= _MOST_IN_SLOT else np.int64(0)), slots_per_unit, most


@inlined
def count_below_guided(ordered, guide, about, x, count, below):
    """`count_below`, without equal ones, with the help of a guide and what `fill_guide` says `about` it: only the
    numbers in the slot of x are compared. Where it is of no use, by halves."""
    n_slots, slots_per_unit, most = about
    if n_slots == 0:
        count_below(ordered, ordered.shape[0], x, count, False, below)
        return
    last = np.uint64(ordered.shape[0] - 1)
    for m in range(count):
        here = x[m] if x[m] == x[m] else -np.inf
        below[m] = guide[np.uint64(slot_of(here, ordered[0], slots_per_unit, n_slots))]
    # The numbers behind those of the slot are not below x, so that comparing too many changes nothing.
    for _ in range(most):
        for m in range(count):
            at = ordered[min(np.uint64(below[m]), last)]
            below[m] += (at < x[m]) & (np.uint64(below[m]) <= last)
