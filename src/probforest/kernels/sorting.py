"""The order of many numbers, by counting their digits: a third of the time of NumPy's `argsort`, and stable.

Numbers are sorted by one digit of _BITS bits after the other, the last one first; each pass keeps the order of numbers
with the same digit.
"""

import numpy as np

from .jit import kernel
from .layout import INDEX

_BITS = 11  # six passes; their counts stay in the fastest cache
_DIGITS = 1 << _BITS
_SIGN = np.int64(-(2**63))


@kernel
def sort_by_digit(keys, order, shift, count, keys_out, order_out):
    """Sort `keys` (n,) uint64 and what belongs to them by the digit from bit `shift` on; `count` (_DIGITS,) is
    scratch space. Returns False, and writes nothing, if all have the same digit."""
    low = np.uint64(_DIGITS - 1)
    for digit in range(_DIGITS):
        count[digit] = 0
    for m in range(keys.shape[0]):
        count[(keys[m] >> shift) & low] += 1
    if count[(keys[0] >> shift) & low] == keys.shape[0]:
        return False
    below = 0
    for digit in range(_DIGITS):
        here = count[digit]
        count[digit] = below
        below += here
    for m in range(keys.shape[0]):
        digit = (keys[m] >> shift) & low
        place = np.uint64(count[digit])
        count[digit] += 1
        keys_out[place] = keys[m]
        order_out[place] = order[m]
    return True


# Not kernels: arrays that are made in Python need not be compiled.
def order_of(values: np.ndarray, first: np.ndarray | None = None) -> np.ndarray:
    """The order (n,) int32 of numbers without NaN. Equal ones stay in the order `first` (n,), or in their own."""
    order = np.arange(len(values), dtype=INDEX) if first is None else first.copy()
    keys = _keys(values)[order]
    other_keys, other_order, count = np.empty_like(keys), np.empty_like(order), np.empty(_DIGITS, dtype=INDEX)
    for shift in range(0, 64 if len(values) else 0, _BITS):
        if sort_by_digit(keys, order, np.uint64(shift), count, other_keys, other_order):
            keys, other_keys, order, other_order = other_keys, keys, other_order, order
    return order


def _keys(values: np.ndarray) -> np.ndarray:
    """Unsigned numbers in the order of floating point numbers: of negative ones all bits are inverted, of others the
    sign. There is only one zero."""
    bits = (values + 0.0).view(np.int64)
    return (bits ^ ((bits >> 63) | _SIGN)).view(np.uint64)
