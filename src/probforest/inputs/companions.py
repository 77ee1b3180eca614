"""Errors and draws that come beside X as arrays or tables of their own, in the units of its values."""

from typing import Any

import numpy as np

from .measured_values import as_numbers, is_pair
from .units import Change, is_astropy_table, is_quantity, numbers_of, plain


class Companions:
    """Errors and draws beside X, brought to the units that its values had in the fit."""

    def __init__(self, given: dict[str, Any], names: list | None, units_at_fit: dict[str, Any], n_columns: int):
        """`given` has the units of X, by column, or under "" if it is an array; `names` are those of its columns."""
        self._names, self._units_at_fit = names, units_at_fit
        places = names if "" not in given and names is not None else [""] * n_columns
        self._targets = [units_at_fit.get(place) for place in places]
        self._given = [given.get(place) for place in places]
        self._changes = [
            None if unit is None or unit == target else Change(unit, target)
            for unit, target in zip(self._given, self._targets, strict=True)
        ]

    def errors(self, X_err: Any) -> Any:
        """X_err; without units, it has those in which the values are given."""
        if is_pair(X_err):
            return tuple(self.errors(side) for side in X_err)
        if is_astropy_table(X_err):
            return self._errors_of_table(X_err)
        if is_quantity(X_err):
            return plain(X_err) * Change(X_err.unit, self._unit_of_X("X_err", X_err)).of_errors("X_err")
        X_err = plain(X_err) if hasattr(X_err, "unmasked") else X_err
        if not any(self._changes) or X_err is None:
            return X_err
        errors = as_numbers(X_err, "X_err")
        fits = errors.ndim == 0 or errors.shape[min(errors.ndim - 1, 1)] == len(self._changes)
        if not fits or not errors.any():  # the first is refused later, by its shape; exact is exact in any unit
            return errors
        factors = np.array([1.0 if change is None else change.of_errors("X_err") for change in self._changes])
        return errors * (factors[:, None] if errors.ndim == 3 else factors)

    def refuse_sides(self, X_err: Any, X_limit: Any) -> None:
        """Raise an error if the conversion of the values would change the sides of errors or limits."""
        if X_limit is not None or is_pair(X_err) or getattr(X_err, "ndim", 0) == 3:
            for j, change in enumerate(self._changes):
                if change is not None:
                    change.refuse_sides(f"column {j} of X")

    def samples(self, X_samples: Any) -> Any:
        """X_samples; without units, they have those in which the values are given."""
        if hasattr(X_samples, "distribution"):
            X_samples = X_samples.distribution
        if is_quantity(X_samples):
            change = Change(X_samples.unit, self._unit_of_X("X_samples", X_samples))
            return change.of_values(plain(X_samples), "X_samples")
        X_samples = plain(X_samples) if hasattr(X_samples, "unmasked") else X_samples
        if not any(self._changes) or X_samples is None:
            return X_samples
        samples = np.array(as_numbers(X_samples, "X_samples"))
        if samples.ndim == 3 and samples.shape[1] == len(self._changes):
            for place, step in enumerate(self._changes):
                if step is not None:
                    samples[:, place] = step.of_values(samples[:, place], "X_samples")
        return samples

    def _errors_of_table(self, table: Any) -> np.ndarray:
        if self._names is None or len(table.colnames) != len(self._names):
            raise ValueError("X_err is a table of astropy; it needs a column for each of those of X, a table, too.")
        errors = []
        for name, of_value, target in zip(table.colnames, self._given, self._targets, strict=True):
            own = getattr(table[name], "unit", None)
            unit = of_value if own is None else own
            factor = 1.0 if unit is None else Change(unit, target).of_errors(f"column {name!r} of X_err")
            errors.append(factor * numbers_of(table[name], name))
        return np.column_stack(errors)

    def _unit_of_X(self, word: str, given: Any) -> Any:
        if "" not in self._units_at_fit:
            has = "is a table with units of its own" if self._units_at_fit else "has none"
            raise ValueError(f"{word} has the unit {given.unit}, but X {has}. Give both in the same way.")
        return self._units_at_fit[""]
