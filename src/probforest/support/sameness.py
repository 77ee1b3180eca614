"""Whether two values are the same, bit for bit, whatever they consist of."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

import numpy as np


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal: numbers, text, arrays, and tuples, lists, mappings and dataclasses of these. NaN is
    equal to NaN.

    >>> same({"a": (np.array([1.0, np.nan]), 2)}, {"a": (np.array([1.0, np.nan]), 2)})
    True
    >>> same([np.zeros(2)], [np.zeros(3)])
    False
    """
    if one is other:
        return True
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.array_equal(one, other, equal_nan=one.dtype.kind == "f" and other.dtype.kind == "f")
    if type(one) is not type(other):
        return False
    if isinstance(one, partial):
        return same((one.func, one.args, one.keywords), (other.func, other.args, other.keywords))
    if isinstance(one, Mapping):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if is_dataclass(one) and not isinstance(one, type):
        return all(same(getattr(one, each.name), getattr(other, each.name)) for each in fields(one))
    return bool(one == other)
