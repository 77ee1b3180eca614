"""Tables that carry their errors, limits, samples and units with them, turned into arrays.

What users have, DataFrames and astropy's tables, is known here only; the numbers are checked in `measurements`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .columns import Errors, pair_columns
from .measurements import is_pair, unmasked
from .parameters import is_integer, is_real


class Given(NamedTuple):
    """All that was said about the features of a table."""

    X: np.ndarray  # (n, d) float64
    X_err: Any
    X_limit: Any
    X_samples: Any


class _Sides(NamedTuple):
    """The columns of a feature's errors, as in Errors, but it may have none."""

    lower: str | None
    upper: str | None
    limit: str | None


@dataclass(frozen=True)
class Layout:
    """How the table of a fit was made up, which later ones must follow."""

    names: list | None = None  # of all columns
    pairs: dict[str, Errors | None] | None = None  # the features and their errors; None: every column is a feature
    units: dict[str, Any] = field(default_factory=dict)  # of columns that have one; of an array, under ""

    @property
    def features(self) -> list | None:
        """Names of the features."""
        return self.names if self.pairs is None else list(self.pairs)


def read_table(
    given: tuple[Any, Any, Any, Any],
    validate: Callable[[Any], np.ndarray],
    error_columns: Any,
    sentinels: Any,
    layout: Layout | None = None,
) -> tuple[Given, Layout]:
    """Take `given` (X, X_err, X_limit, X_samples) apart; `validate` makes an array of X.

    Without the `layout` of a fit, this is the fit. Returns what there is about each feature, and the layout.
    """
    X, X_err, X_limit, X_samples = given
    X, units, drawn = _without_units(X, {} if layout is None else layout.units)
    names = _names(X)
    array = _without_sentinels(_validated(validate, X), names, sentinels)
    if error_columns is None:
        layout = Layout(names, None, units) if layout is None else layout
        X_samples = _samples_of(drawn, names or [], len(array)) if drawn and X_samples is None else X_samples
        return Given(array, _errors_in_units(X_err, names, units), X_limit, X_samples), layout
    for word, other in (("X_err", X_err), ("X_limit", X_limit), ("X_samples", X_samples)):
        if other is not None:
            raise ValueError(
                f"{word} is given, but error_columns says that the columns of X have it. Give one of both."
            )
    if layout is None or layout.pairs is None:
        if names is None:
            raise ValueError(
                "error_columns needs a table with names of columns (pandas, polars, astropy); X has none. "
                "Give arrays of errors as X_err."
            )
        layout = Layout(names, pair_columns(names, error_columns), units)
    assert layout.names is not None
    assert layout.pairs is not None
    return _apart(array, layout.names, layout.pairs, layout.units, drawn), layout


def _names(X: Any) -> list | None:
    columns = getattr(X, "columns", None)
    return None if columns is None else list(columns)


def _validated(validate: Callable[[Any], np.ndarray], X: Any) -> np.ndarray:
    try:
        return validate(unmasked(X))
    except ValueError as problem:
        text = _column_of_text(X) if "convert" in str(problem) else None
        if text is None:
            raise
        raise ValueError(
            f"X has text in column {text!r}: {problem}. Drop the column, or make numbers of it."
        ) from problem


def _column_of_text(X: Any) -> str | None:
    for name in _names(X) or []:
        try:
            np.asarray(X[name], dtype=np.float64)
        except (TypeError, ValueError):
            return name
    return None


# Columns


def _apart(
    array: np.ndarray, names: list, pairs: dict[str, Errors | None], units: dict, drawn: dict[str, np.ndarray]
) -> Given:
    """The values of a table, and what its other columns say about them."""
    place = {name: j for j, name in enumerate(names)}

    def column(name: str | None, of: str, otherwise: float) -> np.ndarray:
        if name is None:
            return np.full(len(array), otherwise)
        return array[:, place[name]] * _factor(units, name, of)

    errors = {
        name: _Sides(None, None, None) if pair is None else _Sides(pair.lower, pair.upper, pair.limit)
        for name, pair in pairs.items()
    }
    lower = np.column_stack([column(pair.lower, name, 0.0) for name, pair in errors.items()])
    X_err: Any = lower
    if any(pair.upper is not None for pair in errors.values()):
        upper = [column(pair.upper or pair.lower, name, 0.0) for name, pair in errors.items()]
        X_err = lower, np.column_stack(upper)
    X_limit = None
    if any(pair.limit is not None for pair in errors.values()):
        X_limit = np.zeros((len(array), len(pairs)))
        for j, pair in enumerate(errors.values()):
            if pair.limit is not None:
                X_limit[:, j] = array[:, place[pair.limit]]
    if not any(pair.lower for pair in errors.values()):
        X_err = None
    X_samples = _samples_of(drawn, list(pairs), len(array)) if drawn else None
    return Given(array[:, [place[name] for name in pairs]], X_err, X_limit, X_samples)


def _without_sentinels(array: np.ndarray, names: list | None, sentinels: Any) -> np.ndarray:
    """NaN in place of numbers that stand for a missing one."""
    if sentinels is None:
        return array
    if not isinstance(sentinels, Mapping):
        raise ValueError(f'sentinels must be a mapping such as {{"W3mag": 99, "*": -9999}}; got {sentinels!r}.')
    array = array.copy()
    for key, numbers in sentinels.items():
        columns = slice(None) if isinstance(key, str) and key == "*" else _place_of(key, names, array.shape[1])
        listed = numbers if isinstance(numbers, Sequence | np.ndarray) and not isinstance(numbers, str) else [numbers]
        if not all(is_real(number) for number in listed):
            raise ValueError(f"sentinels[{key!r}] must be a number or a list of numbers; got {numbers!r}.")
        view = array[:, columns]
        view[np.isin(view, listed)] = np.nan
        array[:, columns] = view
    return array


def _place_of(key: Any, names: list | None, n_columns: int) -> int:
    if names is not None and key in names:
        return names.index(key)
    if is_integer(key) and 0 <= key < n_columns:
        return int(key)
    known = f"the columns {names}" if names is not None else f"columns 0 to {n_columns - 1}, without names"
    raise ValueError(f"sentinels names the column {key!r}, but X has {known}.")


def _samples_of(drawn: dict[str, np.ndarray], features: list, n_objects: int) -> np.ndarray:
    """Draws of some features as one array (n, d, m), NaN for the others."""
    most = max(samples.shape[1] for samples in drawn.values())
    X_samples = np.full((n_objects, len(features), most), np.nan)
    for name, samples in drawn.items():
        X_samples[:, features.index(name), : samples.shape[1]] = samples
    return X_samples


# Units


def is_astropy_table(X: Any) -> bool:
    """Whether X is a Table or a QTable."""
    return hasattr(X, "colnames") and type(X).__module__.split(".")[0] == "astropy"


def _is_quantity(value: Any) -> bool:
    return hasattr(value, "to_value") and hasattr(value, "unit")


def _without_units(X: Any, units_at_fit: dict) -> tuple[Any, dict[str, Any], dict[str, np.ndarray]]:
    """X without units, in those of the fit if it had some; its units; and draws of columns that have them."""
    if is_astropy_table(X):
        return _from_astropy(X, units_at_fit)
    if hasattr(X, "distribution") and hasattr(X, "pdf_median"):
        raise ValueError("X is a distribution of samples; give them as X_samples, and values (X.pdf_median()) as X.")
    if _is_quantity(X):
        unit = units_at_fit.get("", X.unit)
        return _in_unit(X.value, X.unit, unit, "X"), {"": unit}, {}
    return X, units_at_fit, {}


def _from_astropy(table: Any, units_at_fit: dict) -> tuple[Any, dict[str, Any], dict[str, np.ndarray]]:
    try:
        from pandas import DataFrame  # type: ignore[import-untyped]
    except ImportError as problem:
        raise ImportError("Tables of astropy are read by way of pandas: pip install probforest[astro]") from problem
    columns, units, drawn = {}, {}, {}
    for name in table.colnames:
        column = table[name]
        unit = getattr(column, "unit", None)
        values = _numbers(column)
        if unit is not None:
            units[name] = units_at_fit.get(name, unit)
            values = _in_unit(values, unit, units[name], f"column {name!r} of X")
        if values.ndim == 2 and _has_draws(column):
            drawn[name] = values
            values = np.median(values, axis=-1)
        if values.ndim != 1:
            raise ValueError(
                f"X has several numbers per row in column {name!r}, shape {values.shape[1:]}; expected one."
            )
        columns[name] = values
    return DataFrame(columns), units or units_at_fit, drawn


def _has_draws(column: Any) -> bool:
    """Whether it is a Distribution; a Table may make a column with an array of samples in each row of it."""
    return hasattr(column, "distribution") or column.dtype.names == ("samples",)


def _numbers(column: Any) -> np.ndarray:
    """A column of astropy as a plain array, NaN where it is masked; text stays text."""
    if _has_draws(column):
        column = column.distribution if hasattr(column, "distribution") else column.data["samples"]["sample"]
    mask = getattr(column, "mask", None)
    plain = getattr(column, "unmasked", column)
    plain = plain.value if _is_quantity(plain) else np.ma.getdata(np.asanyarray(getattr(plain, "data", plain)))
    plain = np.asarray(plain)
    if plain.dtype.kind not in "biuf":
        return plain
    plain = plain.astype(np.float64)
    if mask is not None:
        plain[np.broadcast_to(mask, plain.shape)] = np.nan
    return plain


def _in_unit(values: np.ndarray, unit: Any, target: Any, what: str) -> np.ndarray:
    if unit == target:
        return values
    if not unit.is_equivalent(target):
        raise ValueError(f"{what} has the unit {unit}, which can't be converted to {target}.")
    return unit.to(target, values)


def _factor(units: dict, name: str, of: str) -> float:
    """From the unit of an error column to that of its value."""
    if name not in units or of not in units:
        return 1.0
    return float(_in_unit(np.ones(()), units[name], units[of], f"column {name!r}, the error of {of!r},"))


def _errors_in_units(X_err: Any, names: list | None, units: dict) -> Any:
    """Errors that come with units of their own, in the units of the values."""
    if is_pair(X_err):
        return tuple(_errors_in_units(side, names, units) for side in X_err)
    if is_astropy_table(X_err):
        if names is None or len(X_err.colnames) != len(names):
            raise ValueError("X_err is a table of astropy; it needs a column for each of those of X, a table, too.")
        targets = {error: units[name] for error, name in zip(X_err.colnames, names, strict=True) if name in units}
        table, _, _ = _from_astropy(X_err, targets)
        return table
    if _is_quantity(X_err):
        if "" not in units:
            raise ValueError(f"X_err has the unit {X_err.unit}, but X has none. Give both with units, or both without.")
        return _in_unit(X_err.value, X_err.unit, units[""], "X_err")
    return X_err
