"""Tables of measurements put together from others: a value always comes with its errors, its limit and its samples."""

from dataclasses import replace

import numpy as np

from .measurements import Measurements
from .tabulated_cells import FreeForms


def one_after_the_other(first: Measurements, second: Measurements) -> Measurements:
    """The objects of two tables of the same features."""
    is_exact, is_symmetric = first.is_exact and second.is_exact, first.is_symmetric and second.is_symmetric
    tables = first, second
    lower = first.lower if is_exact else np.hstack([_or(each.lower, each, 0.0) for each in tables])
    upper = lower if is_exact or is_symmetric else np.hstack([_or(each.upper, each, 0.0) for each in tables])
    has_limits, has_forms = first.has_limits or second.has_limits, first.has_free_forms or second.has_free_forms
    n_forms = len(first.forms.center)
    moved = np.where(second.form_index >= 0, second.form_index + n_forms, -1) if second.has_free_forms else _NONE
    forms = FreeForms(*(np.concatenate(parts) for parts in zip(first.forms, second.forms, strict=True)))
    return replace(
        first,
        center=np.hstack([first.center, second.center]),
        lower=lower,
        upper=upper,
        limit=np.hstack([_or(each.limit, each, 0) for each in tables]) if has_limits else first.limit,
        form_index=np.hstack([_or(first.form_index, first, -1), _or(moved, second, -1)]) if has_forms else _NONE,
        forms=forms if has_forms else first.forms,
    )


def mixed(measurements: Measurements, rows: np.ndarray) -> Measurements:
    """New objects: the value of feature j of object i is that of the object `rows` (n, d) [i, j]."""
    index = rows.T

    def taken(array: np.ndarray) -> np.ndarray:
        return np.take_along_axis(array, index, axis=1)

    lower = measurements.lower if measurements.is_exact else taken(measurements.lower)
    return replace(
        measurements,
        center=taken(measurements.center),
        lower=lower,
        upper=lower if measurements.is_symmetric else taken(measurements.upper),
        limit=taken(measurements.limit) if measurements.has_limits else measurements.limit,
        form_index=taken(measurements.form_index) if measurements.has_free_forms else measurements.form_index,
    )


_NONE = np.empty((0, 0), dtype=np.int64)


def _or(array: np.ndarray, table: Measurements, number: float) -> np.ndarray:
    """An array (d, n) of a table, or the number everywhere if the table has none."""
    return array if array.size else np.full(table.center.shape, number, dtype=array.dtype)
