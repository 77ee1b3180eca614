"""Checks of the estimators' parameters; every complaint names the parameter, what it got and what it takes."""

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np

from .kernels.layout import ENTROPY, EQUAL, GINI, LEARNED, OBSERVED

CRITERIA = {"gini": GINI, "entropy": ENTROPY}
MISSING_RULES = {"equal": EQUAL, "observed": OBSERVED, "learned": LEARNED}
UNKNOWN_ERROR_RULES = ("median", "exact", "raise")
VOTING_RULES = ("soft", "majority")
MAX_MAX_BINS = 65_535


def is_integer(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, (bool, np.bool_))


def is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))


def complain(name: str, value: Any, expected: str) -> None:
    raise ValueError(f"{name} must be {expected}; got {value!r}.")


def check_word(name: str, value: Any, words: Iterable[str]) -> None:
    known = list(words)
    if not isinstance(value, str) or value not in known:
        complain(name, value, "one of " + ", ".join(f'"{word}"' for word in known))


def check_flag(name: str, value: Any) -> None:
    if not isinstance(value, (bool, np.bool_)):
        complain(name, value, "True or False")


def check_integer(name: str, value: Any, low: int, high: float = np.inf) -> None:
    if not (is_integer(value) and low <= value <= high):
        complain(name, value, f"an integer of at least {low}" + (f" and at most {high}" if high < np.inf else ""))


def check_number(name: str, value: Any, low: float, high: float = np.inf) -> None:
    if not (is_real(value) and low <= value <= high):
        complain(name, value, f"a number from {low} to {high}" if high < np.inf else f"a number of at least {low}")


def expected_objects(name: str, value: Any, least: int, total: float) -> float:
    """`min_samples_…` as an expected number of objects: an integer, or a fraction of the `total` weight."""
    if is_integer(value) and value >= least:
        return float(value)
    if not is_integer(value) and is_real(value) and 0 < value <= 1:
        return float(value) * total
    complain(name, value, f"an integer of at least {least}, or a fraction in (0, 1]")
    raise AssertionError


def number_of_features(max_features: Any, n_features: int) -> int:
    """How many features a node looks at."""
    if max_features is None:
        return n_features
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
        f'"sqrt", "log2", None, a fraction in (0, 1], or an integer from 1 to the {n_features} features of X',
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
