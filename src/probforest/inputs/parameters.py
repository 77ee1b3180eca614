"""Checks of the estimators' parameters; every complaint names the parameter, what it got and what it takes."""

import sys
from collections.abc import Iterable
from math import ceil
from numbers import Integral, Real
from typing import Any

import numpy as np

from ..kernels.layout import EQUAL, LEARNED, OBSERVED

MISSING_RULES = {"equal": EQUAL, "observed": OBSERVED, "learned": LEARNED}
UNKNOWN_ERROR_RULES = ("median", "exact", "raise")
VOTING_RULES = ("soft", "majority")
PREDICTIONS = ("mean", "median", "mode")  # of a distribution
MAX_MAX_BINS = 65_535
LARGEST_INTEGER = 2**31 - 1  # of a count: kernels number objects and nodes with 32 bits
LEAST_FRACTION = 1e-12  # of the training weight: less than one of all the objects that fit in memory


def is_integer(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, (bool, np.bool_))


def is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))


def complain(name: str, value: Any, expected: str) -> None:
    raise ValueError(f"{name} must be {expected}; got {_shown(value)}.")


def _shown(value: Any) -> str:
    if is_integer(value) and abs(value) > 10**30:  # Python refuses to write very long ones
        return f"an integer of {int(value).bit_length()} bits"
    text = repr(value)
    return text if len(text) <= 200 else text[:197] + "..."


def check_word(name: str, value: Any, words: Iterable[str]) -> None:
    known = list(words)
    if not isinstance(value, str) or value not in known:
        complain(name, value, "one of " + ", ".join(f'"{word}"' for word in known))


def check_flag(name: str, value: Any) -> None:
    if not isinstance(value, (bool, np.bool_)):
        complain(name, value, "True or False")


def check_integer(name: str, value: Any, low: int, high: int = LARGEST_INTEGER) -> None:
    if not (is_integer(value) and low <= value <= high):
        complain(name, value, f"an integer from {low} to {high}")


def check_n_jobs(n_jobs: Any) -> None:
    if n_jobs is not None and not (is_integer(n_jobs) and n_jobs != 0 and abs(n_jobs) <= LARGEST_INTEGER):
        complain("n_jobs", n_jobs, "None, a number of threads, or -1 for all cores (-2 for all but one)")


def check_number(name: str, value: Any, low: float, high: float = sys.float_info.max) -> None:
    if not (is_real(value) and low <= value <= high):
        limits = f"from {low} to {high}" if high < sys.float_info.max else f"of at least {low}, and finite"
        complain(name, value, f"a number {limits}")


def expected_objects(name: str, value: Any, least: int, total: float) -> float:
    """`min_samples_…` as an expected number of objects: an integer, or a fraction of the `total` weight."""
    if is_integer(value) and least <= value <= LARGEST_INTEGER:
        return float(value)
    if not is_integer(value) and is_real(value) and LEAST_FRACTION <= value <= 1:
        return float(value) * total
    complain(name, value, f"an integer from {least} to {LARGEST_INTEGER}, or a fraction from {LEAST_FRACTION:g} to 1")
    raise AssertionError


def number_of_features(max_features: Any, n_features: int) -> int:
    """How many features a node looks at."""
    if max_features is None:
        return n_features
    if isinstance(max_features, str) and max_features == "auto":
        # A value with an error splits less well than an exact one: one more feature makes up for it.
        return ceil(np.sqrt(n_features))
    if isinstance(max_features, str) and max_features in ("sqrt", "log2"):
        share = np.sqrt(n_features) if max_features == "sqrt" else np.log2(n_features)
        return max(1, int(share))
    if is_integer(max_features) and 1 <= max_features <= n_features:
        return int(max_features)
    if not is_integer(max_features) and is_real(max_features) and 0 < max_features <= 1:
        return max(1, int(max_features * n_features))
    complain(
        "max_features",
        max_features,
        f'"auto", "sqrt", "log2", None, a fraction in (0, 1], or an integer from 1 to the {n_features} features of X',
    )
    raise AssertionError


def number_of_draws(max_samples: Any, n_objects: int) -> int:
    """How many objects a tree draws."""
    if max_samples is None:
        return n_objects
    if is_integer(max_samples) and 1 <= max_samples <= n_objects:
        return int(max_samples)
    if not is_integer(max_samples) and is_real(max_samples) and 0 < max_samples <= 1:
        return max(1, round(n_objects * max_samples))
    complain(
        "max_samples",
        max_samples,
        f"None, a fraction in (0, 1], or an integer from 1 to the {n_objects} objects that weigh something",
    )
    raise AssertionError
