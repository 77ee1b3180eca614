"""Sums without rounding, so that a table has the same sums however it is cut into pieces."""

import numpy as np

_UNIT = 1200  # sums are multiples of 2^-1200: below all floating-point numbers
_DIGITS = 53  # of a floating-point number
_LOW = 26  # of these, which are summed up apart, so that sums of very many numbers fit into 64 bits


def exact_sum(values: np.ndarray) -> int:
    """The sum of finite numbers (n,), as a multiple of 2^-1200. Such sums of pieces are added as they are.

    >>> as_float(exact_sum(np.array([1e100, 1.0])) + exact_sum(np.array([-1e100])))
    1.0
    """
    fraction, exponent = np.frexp(np.asarray(values, dtype=np.float64))
    digits = np.ldexp(fraction, _DIGITS).astype(np.int64)
    if not len(digits):
        return 0
    order = np.argsort(exponent, kind="stable")
    digits, exponent = digits[order], exponent[order]
    first = np.flatnonzero(np.append(True, exponent[1:] != exponent[:-1]))
    low = np.add.reduceat(digits & ((1 << _LOW) - 1), first).tolist()
    high = np.add.reduceat(digits >> _LOW, first).tolist()
    powers = (exponent[first] + (_UNIT - _DIGITS)).tolist()
    return sum(((b << _LOW) + a) << power for a, b, power in zip(low, high, powers, strict=True))


def as_float(total: int) -> float:
    """The sum as the nearest floating-point number."""
    return total / (1 << _UNIT)
