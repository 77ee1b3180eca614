"""Features that are sums or differences of two others, such as colours of magnitudes: their noise goes together.

A feature is taken for one if its values are the sum or the difference of two others up to a small part of its errors,
and its errors are those of independent noise in both, √(σ_a² + σ_b²).
"""

from itertools import combinations
from typing import NamedTuple

import numpy as np

from .measurements import Measurements

_MOST_FEATURES = 60  # more have too many pairs
_MOST_OBJECTS = 200  # that are looked at
_FEWEST_OBJECTS = 20
_PART_OF_ERROR = 0.02  # of its error by which a value may be off, for rounded tables
_PART_OF_ERRORS = 0.05  # by which the errors may be off
_SHARE = 0.95  # of the objects for which both must hold


class Derived(NamedTuple):
    """A feature that is `sign_of_one` × one feature + `sign_of_other` × another one."""

    feature: int
    one: int
    other: int
    sign_of_one: int
    sign_of_other: int


def find_derived(table: Measurements) -> tuple[Derived, ...]:
    """The derived features of a table, those that others may be derived from first."""
    d = len(table.center)
    if table.is_exact or d > _MOST_FEATURES or any(family.log for family in table.families):
        return ()
    few = table.every(-(-table.n_objects // _MOST_OBJECTS))
    value, error = few.center, few.lower / 2 + few.upper / 2
    known = few.has_errors() & np.isfinite(error) & (error > 0)
    value, error = np.where(known, value, np.nan), np.where(known, error, np.nan)
    found: dict[int, Derived] = {}
    for one, other in combinations(range(d), 2):
        fitting = _fitting_errors(error, np.hypot(error[one], error[other]))
        for feature in np.flatnonzero(fitting):
            if feature not in (one, other, *found):
                signs = _signs(value[feature], value[one], value[other], error[feature])
                if signs is not None:
                    found[int(feature)] = Derived(int(feature), one, other, *signs)
    return tuple(sorted(found.values(), key=lambda each: float(np.nanmedian(error[each.feature]))))


def _fitting_errors(error: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Which features (d,) have the `expected` errors (n,)."""
    both = ~np.isnan(error) & ~np.isnan(expected)
    close = np.abs(error - expected) <= _PART_OF_ERRORS * expected
    n_known = both.sum(axis=1)
    return (n_known >= _FEWEST_OBJECTS) & ((close & both).sum(axis=1) >= _SHARE * n_known)


def _signs(value: np.ndarray, one: np.ndarray, other: np.ndarray, error: np.ndarray) -> tuple[int, int] | None:
    """The signs with which two features add up to a third, if they do."""
    known = ~np.isnan(value) & ~np.isnan(one) & ~np.isnan(other)
    for signs in ((1, -1), (-1, 1), (1, 1)):
        distance = np.abs(value - signs[0] * one - signs[1] * other)
        if (distance[known] <= _PART_OF_ERROR * error[known]).mean() >= _SHARE:
            return signs
    return None
