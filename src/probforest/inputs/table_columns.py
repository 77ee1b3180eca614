"""The columns of a table as it is given: their names, which of them a model uses, which say something."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..support.warning import warn_caller
from .columns import Errors, pair_columns, without_empty
from .rescaling import refuse_scaled
from .units import is_astropy_table


def names_of(X: Any) -> list | None:
    """Names of the columns, if X has some."""
    columns = getattr(X, "colnames", None) if is_astropy_table(X) else getattr(X, "columns", None)
    return None if columns is None else list(columns)


def pairs_of(names: list | None, error_columns: Any) -> dict[str, Errors | None] | None:
    """The features and their errors as `error_columns` says; None: every column is a feature."""
    if error_columns is None:
        return None
    if names is None:
        raise ValueError(
            "error_columns needs a table with names of columns (pandas, polars, astropy); X has none. If it comes "
            "from a transformer in a pipeline: leave out a StandardScaler and the like, as forests need no scaling, "
            'and let others keep the names with set_output(transform="pandas"). Arrays of errors are given as X_err.'
        )
    return pair_columns(names, error_columns)


def picked(X: Any, names: list, wanted: list) -> Any:
    """The columns that a fit had seen, in its order, out of a table that may have more."""
    counts = Counter(names)
    lacking = [name for name in wanted if name not in counts]
    if lacking:
        columns = "column" if len(lacking) == 1 else "columns"
        raise ValueError(f"X lacks the {columns} {_quoted(lacking)}, which it had in fit; it has {_quoted(names)}.")
    twice = [name for name in wanted if counts[name] > 1]
    if twice:
        raise ValueError(f"X has two columns with the name {twice[0]!r}. Rename or drop one.")
    return X[wanted]


def _quoted(names: Sequence) -> str:
    return ", ".join(map(repr, names))


def telling_pairs(
    array: np.ndarray, names: list, pairs: dict[str, Errors | None], *, warn_of_none: bool
) -> dict[str, Errors | None]:
    """The pairs of a fit without error columns that say nothing. Warns about these, and about errors that are none."""
    place = {name: j for j, name in enumerate(names)}
    sides = {value: errors.sides for value, errors in pairs.items() if errors is not None}
    if not sides and warn_of_none:
        warn_caller(
            f'error_columns="auto" found no error column among {_quoted(names)}: all values are taken as exact. Say '
            "which columns are errors with a mapping in error_columns; error_columns=None means that there are none."
        )
    known = ~np.isnan(array)
    empty = {
        column
        for value, columns in sides.items()
        for column in columns
        if not (known[:, place[column]] & known[:, place[value]]).any()
    }
    pairs, lost = without_empty(pairs, empty)
    for value, columns in lost.items():
        have, it_is = ("have", "they are") if len(columns) > 1 else ("has", "it is")
        warn_caller(
            f"{' and '.join(map(repr, columns))} {have} no number beside a value of {value!r} in the training set: "
            f"{it_is} left out, here and in prediction, and the values of {value!r} are taken as exact."
        )
    errors = [array[:, place[name]] for names in sides.values() for name in names]
    refuse_scaled([array[:, place[name]] for name in sides], errors)
    return pairs
