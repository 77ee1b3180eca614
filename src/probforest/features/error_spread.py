"""How large the errors of the training set are, feature by feature: the errors of other tables are compared with them,
and with `error_features` they are features themselves.

The size of an error is its logarithm to the base of ten, in the unit of the training set.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from .measurements import Measurements
from .prior import weighted_quantiles

BOTH, LOWER, UPPER = "both", "lower", "upper"
SIDES = (BOTH, LOWER, UPPER)
EXACT_SIZE = -400.0  # of an error of 0: below that of any number
LEVELS = np.concatenate([[0.0, 0.01], np.arange(1, 64) / 64, [0.99, 1.0]])  # of the quantiles that are kept
LOW, BELOW, MEDIAN, ABOVE, HIGH = 1, 11, 33, 55, -2  # the places of 1 %, 10/64, 50 %, 54/64 and 99 %


@dataclass(frozen=True, eq=False)
class ErrorSpread:
    """The distribution of the errors of one feature in the training set, of both sides or of one."""

    feature: int
    side: str  # one of SIDES
    quantiles: np.ndarray  # (len(LEVELS),) of the sizes of known errors
    unknown: float  # share of the values without a known error; limits and samples are such values, too
    n_objects: float  # how many values there are, with and without a known error, as if all weighed the same

    @property
    def is_constant(self) -> bool:
        """Whether the errors tell no two objects apart."""
        return self.unknown == 0 and self.quantiles[0] == self.quantiles[-1]

    def name(self, of: str) -> str:
        """What the errors are called, the feature being called `of`."""
        return f"error of {of}" if self.side == BOTH else f"{self.side} error of {of}"


def learn_error_spreads(measurements: Measurements, weight: np.ndarray) -> tuple[ErrorSpread, ...]:
    """The errors of all features that have some, each object counting with its `weight` (n,). Errors may be unknown.

    A feature has two entries if its lower and upper errors differ.
    """
    if measurements.is_exact:
        return ()
    found = []
    for j, with_errors in enumerate(measurements.has_errors()):
        counted = with_errors & (weight > 0)
        lower = _some_of(measurements.lower[j], counted)
        upper = lower if measurements.is_symmetric else _some_of(measurements.upper[j], counted)
        if not ((lower > 0).any() or (upper > 0).any()):
            continue
        others = ~np.isnan(measurements.center[j]) & (weight > 0) & ~with_errors
        weights = np.append(weight[counted], weight[others])
        for side in (BOTH,) if lower is upper or np.array_equal(lower, upper, equal_nan=True) else (LOWER, UPPER):
            errors = np.append(_errors_of_side(lower, upper, side), np.full(others.sum(), np.nan))
            if not np.isnan(errors).all():
                found.append(_learn(j, side, errors, weights))
    return tuple(found)


def _some_of(numbers: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    return numbers if chosen.all() else numbers[chosen]


def _learn(feature: int, side: str, errors: np.ndarray, weight: np.ndarray) -> ErrorSpread:
    """The `errors` (n,) of values, NaN if they are not known."""
    known = ~np.isnan(errors)
    share = weight / weight.max()  # squares of weights of any size are numbers then
    quantiles = _sizes(weighted_quantiles(_some_of(errors, known), _some_of(share, known), LEVELS))
    unknown = min(1.0, float(share[~known].sum() / share.sum()))  # sums of other orders, rounded
    return ErrorSpread(feature, side, quantiles, unknown, float(share.sum() ** 2 / (share**2).sum()))


def sizes_of_errors(measurements: Measurements, spreads: Sequence[ErrorSpread]) -> np.ndarray:
    """The sizes of the errors of a table, (len(spreads), n): NaN where an error is unknown, or there is none.

    The errors of the table may have one side where those of the training set have two, and the other way round.
    """
    sizes = np.full((len(spreads), measurements.n_objects), np.nan)
    if measurements.is_exact or not spreads:
        return sizes
    of_values = measurements.has_errors()
    for place, spread in enumerate(spreads):
        j, known = spread.feature, of_values[spread.feature]
        sizes[place, known] = _sizes(
            _errors_of_side(measurements.lower[j, known], measurements.upper[j, known], spread.side)
        )
    return sizes


def known_errors(measurements: Measurements, spreads: Sequence[ErrorSpread]) -> Iterator[np.ndarray]:
    """The errors of a table that are known, those of one of the `spreads` after the other."""
    if measurements.is_exact:
        yield from (np.empty(0) for _ in spreads)
        return
    of_values = measurements.has_errors()
    for spread in spreads:
        column = measurements.column(spread.feature)
        errors = _errors_of_side(column.lower, column.upper, spread.side)
        known = of_values[spread.feature] & ~np.isnan(errors)
        yield errors if known.all() else errors[known]


def _errors_of_side(lower: np.ndarray, upper: np.ndarray, side: str) -> np.ndarray:
    if side == BOTH:
        return lower / 2 + upper / 2
    return lower if side == LOWER else upper


def size_of(error: float) -> float:
    """The size of one error."""
    return float(_sizes(np.array([error]))[0])


def _sizes(errors: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.where(errors == 0, EXACT_SIZE, np.log10(errors))
