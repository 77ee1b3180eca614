"""What astropy's tables and arrays carry beside their numbers: units, masks and draws. Here they become plain numbers.

astropy is never imported: its objects are known by what they have.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from .columns import Errors


def is_astropy_table(X: Any) -> bool:
    """Whether X is a Table or a QTable."""
    return hasattr(X, "colnames") and type(X).__module__.split(".")[0] == "astropy"


def is_quantity(value: Any) -> bool:
    """Whether it is an array with a unit."""
    return hasattr(value, "to_value") and hasattr(value, "unit")


def has_draws(column: Any) -> bool:
    """Whether it is a Distribution; a Table may make a column with an array of samples in each row of it."""
    return hasattr(column, "distribution") or column.dtype.names == ("samples",)


def numbers_of(column: Any, name: str) -> np.ndarray:
    """A column of a table as a plain array, NaN where it is masked; text stays text."""
    if not hasattr(column, "dtype"):
        raise ValueError(
            f"X has a {type(column).__name__} in column {name!r}; expected numbers. Drop it, or convert it."
        )
    if has_draws(column):
        column = column.distribution if hasattr(column, "distribution") else column.data["samples"]["sample"]
    return plain(column)


def plain(values: Any) -> np.ndarray:
    """The numbers of an array with a unit, a mask or both, NaN where it is masked."""
    mask = getattr(values, "mask", None)
    bare = getattr(values, "unmasked", values)
    bare = bare.value if is_quantity(bare) else np.ma.getdata(np.asanyarray(getattr(bare, "data", bare)))
    bare = np.asarray(bare)
    if bare.dtype.kind not in "biuf":
        return bare
    bare = bare.astype(np.float64)
    if mask is not None:
        bare[np.broadcast_to(mask, bare.shape)] = np.nan
    return bare


def implied_units(units: Mapping[str, Any], pairs: Mapping[str, Errors | None] | None) -> dict[str, Any]:
    """Units of columns, those of values and those of errors: an error without a unit has that of its value, and a limit
    has none."""
    implied = dict(units)
    for value, errors in (pairs or {}).items():
        if errors is None:
            continue
        implied.pop(errors.limit or "", None)
        if value in units:
            for column in errors.sides:
                implied.setdefault(column, error_unit(units[value]))
    return implied


def error_unit(unit: Any) -> Any:
    """The unit of an error of a value: that of mag(AB) is mag."""
    return getattr(unit, "function_unit", unit)


class Change(NamedTuple):
    """From the unit in which the values of a column are given to that of the fit."""

    unit: Any
    target: Any

    def of_values(self, values: np.ndarray, what: str) -> np.ndarray:
        """Values in the unit of the fit."""
        if self.target is None:
            raise ValueError(
                f"{what} has the unit {self.unit}, but there is none to compare it with: in fit it had none."
            )
        if self.unit == self.target:
            return values
        if not self.unit.is_equivalent(self.target):
            raise ValueError(f"{what} has the unit {self.unit}, which can't be converted to {self.target}.")
        return self.unit.to(self.target, values)

    def of_errors(self, what: str) -> float:
        """The factor of errors; between magnitudes and dex it would be negative, which is no matter of a width."""
        change = Change(error_unit(self.unit), error_unit(self.target))
        return abs(float(change.of_values(np.ones(()), what)))

    def turns_round(self) -> bool:
        """Whether large values become small ones."""
        if self.target is None or self.unit == self.target or not self.unit.is_equivalent(self.target):
            return False
        one, two = self.unit.to(self.target, np.array([1.0, 2.0]))
        return bool(two < one)

    def refuse_sides(self, what: str) -> None:
        """Raise an error for errors with two sides, or limits, if the conversion would change the sides."""
        if self.turns_round():
            raise ValueError(
                f"{what} has lower and upper errors, or limits, and the conversion from {self.unit} to {self.target} "
                f"turns its values round: below would be above. Give it in {self.target}."
            )
