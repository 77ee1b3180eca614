"""What users say about the numbers that a regressor learns, checked once: the numbers and their errors.

Every complaint about y and y_err of a regressor is raised here.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils import column_or_1d

from ..kernels.layout import INDEX, Target
from ..support.exact_sum import exact_sum
from .measured_values import unmasked
from .units import Change, plain

FEWEST_DRAWS = 3  # from the posterior of a target; two numbers are a lower and an upper error
LARGEST = 1e100  # of a target or its error: its square, and sums of these, are still numbers


@dataclass(frozen=True, eq=False)
class NumberTable:
    """The targets of n objects, and the scale on which trees see them."""

    y: np.ndarray  # (n,) float64
    center: float = 0.0
    scale: float = 1.0

    def rows(self, keep: np.ndarray) -> "NumberTable":
        """Some of the objects, on the same scale: where `keep` (n,) is true, or with these numbers."""
        return NumberTable(self.y[keep], self.center, self.scale)

    def scaled_by(self, weight: np.ndarray) -> "NumberTable":
        """The same numbers, which trees see with a weighted mean of 0 and a deviation of 1."""
        middle = float(self.y[np.argmax(weight > 0)])
        center, scale = center_and_scale(middle, weight_sums(self.y, weight, middle))
        return NumberTable(self.y, center, scale)

    @property
    def standardized(self) -> np.ndarray:
        """The numbers as trees see them, (n,)."""
        return (self.y - self.center) / self.scale

    @cached_property
    def distinct(self) -> tuple[np.ndarray, np.ndarray]:
        """The different numbers in increasing order, and the place of each object among them (n,)."""
        values, place = np.unique(self.y, return_inverse=True)
        return values, place.astype(INDEX)

    def for_kernels(self) -> Target:
        """Columns (y, 1)."""
        columns = np.column_stack([self.standardized, np.ones(len(self.y))])
        return Target(np.zeros(len(self.y), dtype=INDEX), np.ascontiguousarray(columns))


def weight_sums(y: np.ndarray, weight: np.ndarray, middle: float) -> tuple[int, int, int]:
    """Σ w, Σ w (y − middle) and Σ w (y − middle)² without rounding, which add up over the pieces of a table. `middle`
    is one of the targets: a large offset must not cost digits."""
    off = y - middle
    return exact_sum(weight), exact_sum(weight * off), exact_sum(weight * np.square(off))


def center_and_scale(middle: float, sums: tuple[int, int, int]) -> tuple[float, float]:
    """Mean and deviation of targets with these `weight_sums`; a deviation of 0 is given as 1."""
    total, first, second = sums
    scale = np.sqrt(max(second * total - first * first, 0) / (total * total))
    return middle + first / total, float(scale) if scale > 0 else 1.0


def read_numbers(y: Any, n_objects: int) -> NumberTable:
    """The targets of all objects.

    >>> read_numbers([1, 2], 2).y
    array([1., 2.])
    """
    if y is None:
        raise ValueError("This regressor requires y to be passed, but the target y is None.")
    numbers = _numbers("y", column_or_1d(unmasked(y), warn=True))
    if len(numbers) != n_objects:
        raise ValueError(
            f"y has {len(numbers)} numbers, but X has {n_objects} objects: inconsistent numbers of samples."
        )
    bad = ~(np.abs(numbers) <= LARGEST)
    if bad.any():
        row = int(np.argmax(bad))
        what = "contains NaN" if np.isnan(numbers[row]) else "contains infinity, or a number as large"
        raise ValueError(
            f"y {what}: {numbers[row]} at row {row}; expected a finite number for every object. Leave out an object "
            "whose target is not known."
        )
    return NumberTable(numbers)


def read_target_errors(
    y_err: Any, n_objects: int, y: np.ndarray | None = None, typical: float | None = None
) -> np.ndarray | None:
    """The standard deviation of every target (n,), infinite where nothing is known about it; None: all are exact.

    `y_err` is None, a number, one number per object, or a pair of these, lower and upper errors, of which the root mean
    square counts. Or three or more draws from the posterior of every target (n, m): their root mean square distance
    from the targets `y` (n,) counts. Unknown errors (NaN) are `typical`, or else the median of the others.

    >>> read_target_errors([0.3, float("nan"), 0.5], 3)
    array([0.3, 0.4, 0.5])
    >>> read_target_errors([[1.0, 3.0, 2.0, 2.0], [5.0, 5.0, 5.0, 7.0]], 2, np.array([2.0, 5.0])).round(3)
    array([0.707, 1.   ])
    """
    if y_err is None:
        return None
    if isinstance(y_err, tuple):
        if len(y_err) != 2:
            raise ValueError(f"y_err is a tuple of {len(y_err)}; expected a pair (lower errors, upper errors).")
        lower, upper = (_one_side(side, n_objects) for side in y_err)
        _refuse_negative(upper)
        errors = np.hypot(lower, upper) / np.sqrt(2.0)  # a lower error may have a minus sign, as archives store them
    else:
        given = _numbers("y_err", unmasked(y_err))
        if given.ndim == 2 and given.shape == (n_objects, 2):
            return read_target_errors((given[:, 0], given[:, 1]), n_objects, typical=typical)
        if y is not None and given.ndim == 2 and len(given) == n_objects and given.shape[1] >= FEWEST_DRAWS:
            errors = _deviations(given, y)
        else:
            errors = _one_side(given, n_objects)
    _refuse_negative(errors)
    return _with_unknown_ones(errors) if typical is None else np.where(np.isnan(errors), typical, errors)


def in_unit_of_targets(y_err: Any, y: Any) -> Any:
    """Errors of targets in the unit of these; errors without a unit are in it."""
    if isinstance(y_err, tuple):
        return tuple(in_unit_of_targets(side, y) for side in y_err)
    unit, target = _unit_of(y_err), _unit_of(y)
    if unit is None:
        return y_err
    if target is None:
        raise ValueError(f"y_err has the unit {unit}, but y has none. Give y its unit, or y_err as plain numbers.")
    return plain(y_err) * Change(unit, target).of_errors("y_err")


def _unit_of(values: Any) -> Any:
    unit = getattr(values, "unit", None) if isinstance(values, np.ndarray) else None
    return unit if hasattr(unit, "is_equivalent") else None


def _numbers(name: str, given: Any) -> np.ndarray:
    if np.asarray(given).dtype.kind in "SUM":
        raise ValueError(f"{name} must hold numbers; got text such as {np.asarray(given).ravel()[:1].tolist()}.")
    if np.iscomplexobj(given):
        raise ValueError(f"Complex data not supported: {name} must hold real numbers.")
    try:
        return np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise ValueError(f"{name} must hold numbers: {problem}") from problem


def _deviations(draws: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Root mean square distance of draws (n, m) from the targets `y` (n,); NaN where no draw is known."""
    bad = np.abs(draws) > LARGEST
    if bad.any():
        row, column = (int(each) for each in np.argwhere(bad)[0])
        raise ValueError(f"y_err has the draw {draws[row, column]} at row {row}, column {column}; expected numbers.")
    known = ~np.isnan(draws)
    squares = np.square(np.where(known, draws - y[:, None], 0.0)).sum(axis=1)
    n_known = known.sum(axis=1)
    return np.where(n_known > 0, np.sqrt(squares / np.maximum(n_known, 1)), np.nan)


def _one_side(given: Any, n_objects: int) -> np.ndarray:
    errors = _numbers("y_err", unmasked(given))
    if errors.ndim == 0:
        errors = np.full(n_objects, float(errors))
    if errors.shape != (n_objects,):
        raise ValueError(
            f"y_err has shape {errors.shape}; expected a number, one per object, ({n_objects},), a pair of these, or "
            f"draws from the posterior of every target, ({n_objects}, m) with m of at least {FEWEST_DRAWS}."
        )
    return errors


def _refuse_negative(errors: np.ndarray) -> None:
    bad = (errors < 0) | (np.isfinite(errors) & (errors > LARGEST))
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(f"y_err is {errors[row]} at row {row}; expected a number >= 0, NaN if it is unknown.")


def _with_unknown_ones(errors: np.ndarray) -> np.ndarray:
    unknown = np.isnan(errors)
    if unknown.all():
        raise ValueError("y_err is NaN for all objects: no error is known. Give some of them, or leave out y_err.")
    known = errors[~unknown]
    if np.isinf(known).all():
        raise ValueError("y_err is infinite for all objects with a known error: there is nothing to learn from.")
    return np.where(unknown, np.median(known[np.isfinite(known)]), errors)


@dataclass(frozen=True)
class ErrorWeights:
    """What targets count by their errors σ: 1 / (s² + σ²), in units in which this is a number."""

    floor: float  # s
    unit: float
    factor: float  # that makes the mean weight 1; 0: nothing is known

    def of(self, errors: np.ndarray) -> np.ndarray:
        """The weights of targets with `errors` (n,); 0 where an error is infinite."""
        finite = np.isfinite(errors)
        if self.unit == 0.0:  # all errors are equal
            return finite * self.factor
        least = (self.floor / self.unit) ** 2
        relative = np.zeros(len(errors))
        relative[finite] = least / (least + np.square(errors[finite] / self.unit))
        return relative * self.factor


def learn_error_weights(errors: np.ndarray, scatter: float, weight: np.ndarray) -> ErrorWeights:
    """1 / (s² + σ²) of every object, with `scatter` s and `errors` σ (n,), scaled to a mean of 1 over `weight` (n,).

    Equal errors give weights of exactly 1, and an infinite error 0. Where the scatter is 0, exact targets would leave
    nothing for the others: it counts as a thousandth of the typical error.
    """
    counted = np.isfinite(errors) & (weight > 0)
    if not counted.any():
        return ErrorWeights(0.0, 0.0, 0.0)
    first = errors[counted][0]
    if (errors[counted] == first).all():
        return ErrorWeights(0.0, 0.0, 1.0)
    largest = float(errors[counted].max())
    floor = max(scatter, 1e-3 * float(np.sqrt(np.mean(np.square(errors[counted] / largest)))) * largest)
    plain = ErrorWeights(floor, max(floor, largest), 1.0)
    return ErrorWeights(floor, plain.unit, float(weight[counted].sum() / (weight @ plain.of(errors))))


def weights_of_errors(errors: np.ndarray, scatter: float, weight: np.ndarray) -> np.ndarray:
    """The weights (n,) of targets by their `errors` (n,); see `learn_error_weights`."""
    return learn_error_weights(errors, scatter, weight).of(errors)
