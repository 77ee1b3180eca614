"""Tables that carry their errors, limits, samples and units with them, turned into arrays.

DataFrames and astropy's tables are known here only; the numbers are checked in `measured_values`.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..support.extras import need
from .cell_error import CellError
from .columns import Errors
from .companions import Companions
from .measured_values import names_of_errors, refuse_reordered, unmasked
from .parameters import is_integer, is_real
from .table_columns import names_of, pairs_of, picked, telling_pairs
from .units import Change, has_draws, implied_units, is_astropy_table, is_quantity, numbers_of, plain


@dataclass(frozen=True)
class Layout:
    """How the table of a fit was made up, which later ones must follow."""

    names: list | None = None  # of all columns
    pairs: dict[str, Errors | None] | None = None  # the features and their errors; None: every column is a feature
    units: dict[str, Any] = field(default_factory=dict)  # of columns that have one; of an array, under ""
    error_names: list | tuple | None = None  # of the columns of X_err, if it was a table; two for a pair of tables

    @property
    def features(self) -> list | None:
        """Names of the features."""
        return self.names if self.pairs is None else list(self.pairs)

    def by_column(self, of_features: np.ndarray) -> np.ndarray:
        """Numbers of the features as numbers of all columns: errors and limits have that of their value."""
        if self.pairs is None or self.names is None:
            return of_features
        by_name = dict.fromkeys(self.names, 0.0)
        for number, (value, errors) in zip(of_features.tolist(), self.pairs.items(), strict=True):
            by_name |= dict.fromkeys([value, *(errors.columns if errors is not None else ())], number)
        return np.array(list(by_name.values()))

    @contextmanager
    def naming_columns(self) -> Iterator[None]:
        """Errors about a value name its column as the table does."""
        try:
            yield
        except CellError as error:
            raise self._named(error) from None

    def _named(self, error: CellError) -> CellError:
        """The error with the name of the column that it is about, if columns have names."""
        if self.features is None or error.column is None:
            return error
        feature = self.features[error.column]
        if error.what == "X":
            return error.renamed(f"column {feature!r} of X")
        pair = None if self.pairs is None else self.pairs[feature]
        if pair is None:
            return error
        is_upper = "upper" in error.what and pair.upper is not None
        column = pair.limit if error.what == "X_limit" else pair.upper if is_upper else pair.lower
        return error.renamed(f"column {column!r} of X")


class TableContent(NamedTuple):
    """The features of a table and what is known about them, apart from each other; the numbers are not checked yet."""

    X: np.ndarray  # (n, d) float64
    X_err: Any
    X_limit: Any
    X_samples: Any
    layout: Layout
    unlabelled: "TableContent | None" = None  # more objects, of which only the features are known

    @property
    def has_errors(self) -> bool:
        """Whether it says how well its values are known."""
        return self.X_err is not None or self.X_samples is not None


def read_table(
    given: tuple[Any, Any, Any, Any],
    validate: Callable[[Any], np.ndarray],
    error_columns: Any,
    sentinels: Any,
    layout: Layout | None = None,
) -> TableContent:
    """Take `given` (X, X_err, X_limit, X_samples) apart; `validate` makes an array of X.

    The table must follow the `layout` of a fit. Without one, this is the fit, and the table has a layout of its own.
    """
    X, X_err, X_limit, X_samples = given
    refuse_reordered(X, X_err, None if layout is None else layout.error_names)
    refuse_reordered(X, X_limit, word="X_limit")
    names = names_of(X)
    if layout is None:
        pairs = pairs_of(names, error_columns)
    else:
        pairs = layout.pairs
        if (pairs is None) != (error_columns is None):
            raise ValueError("error_columns is not what it was in fit. Fit again.")
        if pairs is not None and names is not None and names != layout.names:
            X, names = picked(X, names, layout.names or []), layout.names
        names = layout.names if names is None else names
    missing = _sentinels(sentinels, names, pairs)
    X, units, drawn, is_blanked = _without_units(X, pairs, None if layout is None else layout.units, missing)
    array = _validated(validate, X, layout)
    if not is_blanked:
        array = _blank_all(array, missing)
    if layout is None:
        if pairs is not None:
            is_guessed = isinstance(error_columns, str) and not drawn
            pairs = telling_pairs(array, names or [], pairs, warn_of_none=is_guessed)
        codes = _limit_columns(pairs)
        units_of_values = {name: unit for name, unit in units.items() if name not in codes}
        layout = Layout(names, pairs, units_of_values, names_of_errors(X_err))
    if drawn and X_samples is not None:
        raise ValueError("X_samples is given, but X has columns with samples. Give one of both.")
    if pairs is None:
        beside = Companions(units, names, layout.units, array.shape[1])
        beside.refuse_sides(X_err, X_limit)
        X_samples = _samples_of(drawn, names or [], len(array)) if drawn else beside.samples(X_samples)
        return TableContent(array, beside.errors(X_err), X_limit, X_samples, layout)
    for word, other in (("X_err", X_err), ("X_limit", X_limit), ("X_samples", X_samples)):
        if other is not None:
            raise ValueError(f"{word} is given, but error_columns says that X has it in its columns. Give one of both.")
    assert names is not None
    return _apart(array, names, pairs, layout, drawn)


def _validated(validate: Callable[[Any], np.ndarray], X: Any, layout: Layout | None) -> np.ndarray:
    try:
        return validate(unmasked(X))
    except (TypeError, ValueError) as problem:
        if "feature names should match" in str(problem):
            has_all = layout is not None and set(layout.names or []) <= set(names_of(X) or [])
            remedy = "They are all there. Select them with X[list(model.feature_names_in_)]." if has_all else ""
            raise ValueError(f"{problem}{remedy}") from problem
        column = _column_without_numbers(X)
        if column is None:
            raise _about_X(problem) from problem
        raise ValueError(
            f"X has something that is no number in column {column!r}: {problem}. Drop it, or make numbers of it."
        ) from problem


def _about_X(problem: Exception) -> Exception:
    """scikit-learn's error about X, which does not always say so."""
    return problem if re.search(r"\bX\b", str(problem)) else type(problem)(f"X can't be used: {problem}")


def _column_without_numbers(X: Any) -> str | None:
    for name in names_of(X) or []:
        try:
            np.asarray(X[name], dtype=np.float64)
        except (TypeError, ValueError):
            return name
    return None


# Columns


def _apart(
    array: np.ndarray, names: list, pairs: dict[str, Errors | None], layout: Layout, drawn: dict[str, np.ndarray]
) -> TableContent:
    """The values of a table, and what its other columns say about them."""
    place = {name: j for j, name in enumerate(names)}

    def column(name: str | None, of: str | None = None) -> np.ndarray:
        """A column of the table, in the unit of the value `of`; an exact value has no error, and is no limit."""
        if name is None:
            return np.zeros(len(array))
        return array[:, place[name]] * (1.0 if of is None else _factor(layout.units, name, of))

    lower = {name: None if pair is None else pair.lower for name, pair in pairs.items()}
    upper = {name: None if pair is None else pair.upper for name, pair in pairs.items()}
    limit = {name: None if pair is None else pair.limit for name, pair in pairs.items()}
    X_err: Any = None
    if any(lower.values()):
        X_err = np.column_stack([column(error, name) for name, error in lower.items()])
    if any(upper.values()):
        X_err = X_err, np.column_stack([column(error or lower[name], name) for name, error in upper.items()])
    X_limit = np.column_stack([column(code) for code in limit.values()]) if any(limit.values()) else None
    X_samples = _samples_of(drawn, list(pairs), len(array)) if drawn else None
    return TableContent(array[:, [place[name] for name in pairs]], X_err, X_limit, X_samples, layout)


def _sentinels(
    sentinels: Any, names: list | None, pairs: dict[str, Errors | None] | None
) -> dict[int | None, list[float]]:
    """The numbers that stand for a missing one, by the number of the column; None: in all columns but those that say
    what is a limit, whose numbers are codes."""
    if sentinels is None:
        return {}
    if not isinstance(sentinels, Mapping):
        raise ValueError(f'sentinels must be a mapping such as {{"W3mag": 99, "*": -9999}}; got {sentinels!r}.')
    missing: dict[int | None, list[float]] = {}
    for key, numbers in sentinels.items():
        listed = numbers if isinstance(numbers, Sequence | np.ndarray) and not isinstance(numbers, str) else [numbers]
        if not all(is_real(number) for number in listed):
            raise ValueError(f"sentinels[{key!r}] must be a number or a list of numbers; got {numbers!r}.")
        place = None if isinstance(key, str) and key == "*" else _place_of(key, names)
        missing.setdefault(place, []).extend(listed)
    codes = _limit_columns(pairs)
    if None in missing and codes:
        everywhere = missing.pop(None)
        for j, name in enumerate(names or []):
            if name not in codes:
                missing.setdefault(j, []).extend(everywhere)
    return missing


def _limit_columns(pairs: dict[str, Errors | None] | None) -> set[str]:
    """Columns with codes, which have no unit and no sentinels."""
    return {errors.limit for errors in (pairs or {}).values() if errors is not None and errors.limit is not None}


def _place_of(key: Any, names: list | None) -> int:
    if names is not None and key in names:
        return names.index(key)
    if is_integer(key) and key >= 0 and (names is None or key < len(names)):
        return int(key)
    known = f"the columns {names}" if names is not None else "no names"
    raise ValueError(f"sentinels names the column {key!r}, but X has {known}.")


def _blank(values: np.ndarray, numbers: Sequence[float]) -> np.ndarray:
    """NaN in place of the numbers, also of what they are in single precision."""
    same = [*numbers, *(float(np.float32(number)) for number in numbers)]
    return np.where(np.isin(values, same), np.nan, values)


def _blank_all(array: np.ndarray, missing: dict[int | None, list[float]]) -> np.ndarray:
    for place, numbers in missing.items():
        if place is None:
            array = _blank(array, numbers)
        elif place < array.shape[1]:
            array = array.copy()
            array[:, place] = _blank(array[:, place], numbers)
        else:
            raise ValueError(f"sentinels names the column {place}, but X has columns 0 to {array.shape[1] - 1}.")
    return array


def _samples_of(drawn: dict[str, np.ndarray], features: list, n_objects: int) -> np.ndarray:
    """Draws of some features as one array (n, d, m), NaN for the others."""
    most = max(samples.shape[1] for samples in drawn.values())
    X_samples = np.full((n_objects, len(features), most), np.nan)
    for name, samples in drawn.items():
        X_samples[:, features.index(name), : samples.shape[1]] = samples
    return X_samples


# Units


class _Plain(NamedTuple):
    """X without units."""

    X: Any  # in the units of the fit, if there was one
    units: dict[str, Any]  # in which it was given: of columns; of an array, under ""
    drawn: dict[str, np.ndarray]  # draws of columns that have them
    is_blanked: bool  # whether sentinels are gone already: they are numbers in the unit that was given


def _without_units(
    X: Any, pairs: dict[str, Errors | None] | None, units_at_fit: dict | None, missing: dict[int | None, list[float]]
) -> _Plain:
    if is_astropy_table(X):
        return _from_astropy(X, pairs, units_at_fit, missing)
    if hasattr(X, "distribution") and hasattr(X, "pdf_median"):
        raise ValueError("X is a distribution of samples; give them as X_samples, and values (X.pdf_median()) as X.")
    if is_quantity(X):
        change = Change(X.unit, X.unit if units_at_fit is None else units_at_fit.get(""))
        return _Plain(change.of_values(_blank_all(plain(X), missing), "X"), {"": X.unit}, {}, True)
    return _Plain(X, {}, {}, False)


def _from_astropy(
    table: Any,
    pairs: dict[str, Errors | None] | None,
    units_at_fit: dict | None,
    missing: dict[int | None, list[float]],
) -> _Plain:
    """A DataFrame, every column in the unit that it had in the fit."""
    pandas = need("pandas", "Reading tables of astropy", "astro")
    given = {name: unit for name in table.colnames if (unit := getattr(table[name], "unit", None)) is not None}
    change = _changes_of_columns(given, pairs, units_at_fit)
    columns, drawn = {}, {}
    for j, name in enumerate(table.colnames):
        values = numbers_of(table[name], name)
        if values.dtype.kind == "f":
            values = change(name, _blank(values, missing.get(j, []) + missing.get(None, [])))
        if values.ndim == 2 and has_draws(table[name]):
            drawn[name] = values
            values = np.median(values, axis=-1)
        if values.ndim != 1:
            raise ValueError(f"X has {values.shape[1:]} numbers per row in column {name!r}; expected one.")
        columns[name] = values
    return _Plain(pandas.DataFrame(columns), given, drawn, True)


def _changes_of_columns(
    given: dict[str, Any], pairs: dict[str, Errors | None] | None, units_at_fit: dict | None
) -> Callable[[str, np.ndarray], np.ndarray]:
    """A function that brings a column to the unit that it had in the fit; in the fit itself, nothing changes."""
    now = implied_units(given, pairs)
    then = now if units_at_fit is None else implied_units(units_at_fit, pairs)
    owner = {column: value for value, pair in (pairs or {}).items() if pair is not None for column in pair.sides}
    for value, pair in (pairs or {}).items():
        if value in now and pair is not None and (pair.upper is not None or pair.limit is not None):
            Change(now[value], then.get(value)).refuse_sides(f"column {value!r} of X")

    def change(name: str, values: np.ndarray) -> np.ndarray:
        if name not in now:
            return values
        step = Change(now[name], then.get(name))
        if name in owner:
            remark = "" if name in given else " (without a unit, it has that of its value)"
            return values * step.of_errors(f"column {name!r}, the error of {owner[name]!r}{remark},")
        return step.of_values(values, f"column {name!r} of X")

    return change


def _factor(units: dict, name: str, of: str) -> float:
    """From the unit of an error column to that of its value, both in the fit."""
    if name not in units:
        return 1.0
    if of not in units:
        raise ValueError(f"column {name!r}, the error of {of!r}, has the unit {units[name]}, but {of!r} has none.")
    return Change(units[name], units[of]).of_errors(f"column {name!r}, the error of {of!r},")
