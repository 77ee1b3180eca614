"""Which columns of a table a model is trained on, by the options of the user and by their types and names."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from ..inputs.column_names import looks_like_error_of
from ..inputs.columns import Errors, pair_columns, without_empty
from ..storage.catalogues import Catalogue
from ..storage.catalogues.catalogue import NUMERAL, first_text, is_number, is_text
from ..support.wording import suggestion

EMPTY = "empty"


@dataclass
class ColumnsToUse:
    """The features of a training set, each with its error columns, and the columns that are left out."""

    order: list[str]  # all columns of the table
    pairs: dict[str, Errors | None] = field(default_factory=dict)
    ignored: dict[str, str] = field(default_factory=dict)  # column and reason

    @property
    def names(self) -> list[str]:
        """All columns that are read, features, errors and limits, in the order of the table."""
        of_errors = (column for pair in self.pairs.values() if pair is not None for column in pair.columns)
        used = {*self.pairs, *of_errors}
        return [name for name in self.order if name in used]

    @property
    def error_columns(self) -> dict[str, Errors] | None:
        """As the estimators' parameter."""
        return {name: pair for name, pair in self.pairs.items() if pair is not None} or None


def matching(patterns: Iterable[str], names: Sequence[str], option: str) -> list[str]:
    """Names that match any of the patterns, in the order of the table; a pattern without a match is an error.

    >>> matching(["mag_*"], ["id", "mag_g", "mag_r"], "--features")
    ['mag_g', 'mag_r']
    """
    found: set[str] = set()
    for pattern in patterns:
        fitting = [pattern] if pattern in names else [name for name in names if fnmatchcase(name, pattern)]
        if not fitting:
            raise ValueError(f"{option} {pattern}: the table has no such column. {suggestion(pattern, names)}")
        found.update(fitting)
    return [name for name in names if name in found]


def choose_columns(
    catalogue: Catalogue,
    table: Any,
    rows: Sequence[int],
    reserved: Sequence[str],
    features: Sequence[str] | None,
    drop: Sequence[str],
    errors: str | dict[str, Any] | None,
) -> ColumnsToUse:
    """Choose the columns of a `pyarrow.Table` to train on.

    Parameters
    ----------
    catalogue : Catalogue
        Where the table comes from.
    table : pyarrow.Table
        All of it.
    rows : list of int
        Where its rows are in the file.
    reserved : list of str
        Columns with another role: the target, the probability of the label.
    features : list of str or None
        Patterns of the features; None: all columns with numbers.
    drop : list of str
        Patterns of columns to leave out.
    errors : "auto", None or dict
        Which columns are errors of which.
    """
    chosen = ColumnsToUse(catalogue.names, ignored=dict(catalogue.skipped))
    dropped = {name for name in matching(drop, catalogue.names, "--drop") if name not in reserved}
    chosen.ignored |= {name: "--drop" for name in catalogue.names if name in dropped}
    names = [name for name in catalogue.names if name not in reserved and name not in dropped]
    wanted = None if features is None else set(matching(features, names, "--features"))
    if wanted is not None:
        names = _with_their_errors(wanted, names, errors)
    why_not = {name: _why_not(name, table.column(name), rows, requested=name in (features or ())) for name in names}
    chosen.ignored |= {name: reason for name, reason in why_not.items() if reason not in (None, EMPTY)}
    empty = {name for name in names if why_not[name] == EMPTY}
    usable = [name for name in names if name not in chosen.ignored]
    pairs = dict.fromkeys(usable) if errors is None else pair_columns(usable, errors)
    chosen.pairs = {name: pair for name, pair in pairs.items() if wanted is None or name in wanted}
    _leave_out_empty(chosen, empty)
    if not chosen.pairs:
        raise ValueError(f"{catalogue.path} has no column with numbers to train on.")
    return chosen


def _leave_out_empty(chosen: ColumnsToUse, empty: set[str]) -> None:
    """Leave out empty value columns, together with their errors, and empty error columns, as `fit` does."""
    for value in [value for value in chosen.pairs if value in empty]:
        pair = chosen.pairs.pop(value)
        chosen.ignored[value] = EMPTY
        for column in pair.columns if pair is not None else ():
            chosen.ignored[column] = EMPTY if column in empty else "error of an empty column"
    chosen.pairs, lost = without_empty(chosen.pairs, empty)
    chosen.ignored |= {column: EMPTY for columns in lost.values() for column in columns}


def _with_their_errors(wanted: set[str], names: Sequence[str], errors: Any) -> list[str]:
    """The features, and the columns that are or look like their errors."""
    if errors is None:
        return [name for name in names if name in wanted]
    if isinstance(errors, dict):
        kept = {column for value, pair in errors.items() if value in wanted for column in pair.columns}
        for value in [value for value in errors if value not in wanted]:
            del errors[value]
        return [name for name in names if name in wanted or name in kept]
    all_names = set(names)
    return [name for name in names if name in wanted or looks_like_error_of(name, wanted, all_names)]


def _why_not(name: str, column: Any, rows: Sequence[int], *, requested: bool) -> str | None:
    """Why a column can't be a feature; None if it can."""
    import pyarrow.compute as compute

    if is_number(column.type):
        return EMPTY if column.null_count == len(column) or _all_nan(column) else None
    if column.null_count == len(column):
        return EMPTY
    if is_text(column.type):
        numeral = compute.match_substring_regex(column.cast("string"), NUMERAL)
        share = compute.mean(numeral.cast("float64")).as_py() or 0.0
        if requested or share >= 0.5:
            row, word = first_text(column)
            where = f"text such as {word!r} in row {rows[row] + 1}"
            raise ValueError(
                f"the column {name!r} has {where}{', and numbers elsewhere' if share else ''}. "
                f"Correct it, or leave it out with --drop {name}."
            )
        return "text"
    if requested:
        raise ValueError(f"the column {name!r} is of the type {column.type}; a feature must be a number.")
    return f"of the type {column.type}"


def _all_nan(column: Any) -> bool:
    import pyarrow.compute as compute
    from pyarrow import types

    return bool(types.is_floating(column.type) and compute.all(compute.is_nan(column)).as_py())


def look_like_errors(chosen: ColumnsToUse) -> list[str]:
    """Features with names like those of error columns of other features."""
    names = set(chosen.pairs)
    return [name for name in chosen.pairs if looks_like_error_of(name, names, names)]


def look_like_identifiers(table: Any, names: Sequence[str]) -> list[str]:
    """Columns of whole numbers that are all different, which are hardly features."""
    from pyarrow import types

    found = []
    for name in names:
        column = table.column(name)
        if types.is_integer(column.type) and len(column) > 50 and len(column.unique()) == len(column):
            found.append(name)
    return found
