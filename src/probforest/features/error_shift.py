"""Whether the errors of a table are like those of the training set, and where they are not, by how much.

Two questions. With `error_features`, trees have learnt from the sizes of errors, and any clear difference makes their
answers worthless: the Kolmogorov distance between both distributions tells. Without, tables that are measured better or
worse are what a forest is made for, and only errors that lie far outside are worth a warning: often a wrong unit.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .error_spread import (
    ABOVE,
    BELOW,
    EXACT_SIZE,
    HIGH,
    LEVELS,
    LOW,
    MEDIAN,
    ErrorSpread,
    known_errors,
    size_of,
    sizes_of_errors,
)
from .measurements import Measurements

LEAST_DISTANCE = 0.1  # of the distributions: smaller ones cost less than the fallback
LEAST_SIGNIFICANCE = 2.3  # distance × √n; chance reaches it in one of 20,000 columns
# Sizes that are closer than this are the same: 2 %, as tables are rounded and units converted, up to 26 %, or to half
# the width that holds 68 % of the training set. Where all errors of a test set were 12 % larger, trees with error
# features still were the better ones; where they were 41 % larger, mostly not.
LEAST_TOLERANCE, LARGEST_TOLERANCE = 0.01, 0.1
BEYOND_ALL = np.log10(2)  # how far outside all errors of the training set even a few objects say something
FAR = np.log10(3)  # how far medians must be apart for a warning without error features
LEAST_KNOWN = 10  # known errors for such a warning
MOST_OBJECTS = 20_000  # that are compared: more would tell no more

# What follows from a shift.
FALLBACK_ANSWERS = "The trees that use the sizes of errors are not used; those that look at the values alone answer."
LEAVES_STAY = "The leaves are those of trees that use the sizes of errors all the same."
CHECK_UNITS = "Check their units; if these are right, the predictions take the errors into account."


class ErrorShift(NamedTuple):
    """The errors of one feature in a table, compared with those in the training set."""

    name: str  # such as "error of mag"
    n_objects: int  # values, whether their error is known or not
    distance: float  # of the cumulative distributions, an unknown error being larger than any other; see `_distance`
    ratio: float  # median known error / that of the training set; 1 if both are 0, NaN if there is none
    unknown: float  # share of values without a known error, such as limits and samples
    unknown_in_training: float
    is_shifted: bool  # whether the errors are not those of the training set

    def in_words(self) -> str:
        """How large the errors are, beside those of the training set."""
        if self.unknown == 1 or abs(self.unknown - self.unknown_in_training) > 0.9 * self.distance:
            return f"not known for {self.unknown:.0%} of the values, {self.unknown_in_training:.0%} in the training set"
        if self.ratio == 0:
            return "mostly 0, which they rarely are in the training set"
        if self.ratio == np.inf:
            return "rarely 0, which they mostly are in the training set"
        if 0.95 < self.ratio < 1.05:
            return "distributed differently, with the same median as in the training set"
        digits = f"{self.ratio:.2g}" if 0.01 <= self.ratio < 100 else f"{self.ratio:.1e}"
        return f"{digits} times those of the training set"

    def as_dict(self) -> dict[str, object]:
        """Everything, for JSON, which has neither NaN nor infinity."""
        return self._asdict() | {"ratio": self.ratio if np.isfinite(self.ratio) else None}


def find_shifts(
    spreads: Sequence[ErrorSpread], names: Sequence[str], measurements: Measurements, *, strict: bool
) -> tuple[ErrorShift, ...]:
    """The errors of a table beside those of the training set, the most different ones first.

    `strict` is for trees that have learnt from the sizes of errors.
    """
    thinned = _thinned(measurements)
    found = [
        _compare(spread, name, sizes[~np.isnan(thinned.center[spread.feature])], thinned.is_exact, strict=strict)
        for spread, name, sizes in zip(spreads, names, sizes_of_errors(thinned, spreads), strict=True)
    ]
    return tuple(sorted(found, key=lambda shift: (not shift.is_shifted, -shift.distance)))


def has_far_errors(spreads: Sequence[ErrorSpread], measurements: Measurements) -> bool:
    """Whether `find_shifts`, if it is not strict, would find any: medians need no order of all errors."""
    return any(
        len(known) >= LEAST_KNOWN and _is_far(spread, size_of(np.partition(known, middle)[middle]))
        for spread, known in zip(spreads, known_errors(_thinned(measurements), spreads), strict=True)
        if (middle := (len(known) - 1) // 2) >= 0
    )


def _thinned(measurements: Measurements) -> Measurements:
    return measurements.every(-(-measurements.n_objects // MOST_OBJECTS))


def _compare(spread: ErrorSpread, name: str, sizes: np.ndarray, is_exact: bool, *, strict: bool) -> ErrorShift:
    """The errors of one feature; `sizes` (n,) are NaN where they are unknown, all of them if none is given."""
    known = np.sort(sizes[~np.isnan(sizes)])
    n_objects, n_known = len(sizes), len(known)
    if n_objects == 0:
        return ErrorShift(name, 0, 0.0, np.nan, 0.0, spread.unknown, strict and is_exact)
    distance, unknown = _distance(spread, known, n_objects), 1 - n_known / n_objects
    median = float(known[(n_known - 1) // 2]) if n_known else np.nan
    if strict:
        is_shifted = is_exact or _is_significant(spread, distance, n_objects) or _is_beyond(spread, median, unknown)
    else:
        is_shifted = n_known >= LEAST_KNOWN and _is_far(spread, median)
    ratio = _ratio(median, float(spread.quantiles[MEDIAN]))
    return ErrorShift(name, n_objects, distance, ratio, unknown, spread.unknown, bool(is_shifted))


def _ratio(median: float, median_in_training: float) -> float:
    if EXACT_SIZE in (median, median_in_training):
        return 1.0 if median == median_in_training else 0.0 if median == EXACT_SIZE else np.inf
    return float(10.0 ** np.clip(median - median_in_training, -300, 300))


def _distance(spread: ErrorSpread, known: np.ndarray, n_objects: int) -> float:
    """Kolmogorov's distance, as far as the quantiles of the training set are certain to know it, but for the tolerance.

    With q_k <= y < q_k+1 the F of the training set is between the levels of both. F of the table jumps at `known`,
    sorted: above its F there, and below its F just before the next one, the difference is largest.
    """
    share, tolerance = 1 - spread.unknown, _tolerance(spread)
    after, before = np.arange(1, len(known) + 1) / n_objects, np.arange(len(known)) / n_objects
    highest = np.append(0.0, np.append(LEVELS[1:], 1.0))  # of F, if so many quantiles lie below
    lowest = np.append(0.0, LEVELS)
    above = after - share * highest[np.searchsorted(spread.quantiles, known + tolerance, side="right")]
    below = share * lowest[np.searchsorted(spread.quantiles, known - tolerance, side="left")] - before
    unknown = abs(share - len(known) / n_objects)
    return float(max(unknown, above.max(initial=0.0), below.max(initial=0.0)))


def _tolerance(spread: ErrorSpread) -> float:
    half_width = (spread.quantiles[ABOVE] - spread.quantiles[BELOW]) / 2
    return float(np.clip(half_width, LEAST_TOLERANCE, LARGEST_TOLERANCE))


def _is_significant(spread: ErrorSpread, distance: float, n_objects: int) -> bool:
    both = n_objects / (1 + n_objects / spread.n_objects)
    return distance > LEAST_DISTANCE and distance * np.sqrt(both) >= LEAST_SIGNIFICANCE


def _is_beyond(spread: ErrorSpread, median: float, unknown: float) -> bool:
    """Whether most errors lie far beyond all of the training set, as those of a few objects may."""
    smallest, largest = spread.quantiles[[0, -1]]
    return unknown < 0.5 and not smallest - BEYOND_ALL <= median <= largest + BEYOND_ALL


def _is_far(spread: ErrorSpread, median: float) -> bool:
    """Whether most errors lie outside of almost all of the training set; exact values are no mistake."""
    low, middle, high = spread.quantiles[[LOW, MEDIAN, HIGH]]
    return EXACT_SIZE not in (median, middle) and not low <= median <= high and abs(median - middle) > FAR


def shift_note(shifts: Sequence[ErrorShift], what_now: str, most: int = 3) -> str:
    """What users should know about the errors of a table that are not those of the training set."""
    worst = "; ".join(f"{shift.name}: {shift.in_words()}" for shift in shifts[:most])
    more = f"; and {len(shifts) - most} more" if len(shifts) > most else ""
    return f"The errors of this table are not like those of the training set ({worst}{more}). {what_now}"
