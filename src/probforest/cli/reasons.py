"""Reasons for answers, in words: columns of a table, and worst mistakes."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..features.error_shift import ErrorShift

COLUMNS = ("reasons", "limited_by", "limited_by_gain")
_SURE = 0.01  # bits of entropy; what is less doubtful has no limiting error worth a word


class Reasons(NamedTuple):
    """The main reasons for the answers of some rows, and what limits them."""

    because: list[str]
    limited_by: list[str]  # empty where nothing does
    gain: np.ndarray  # (n,) what would be gained: bits of information, or variance


def reasons_of(model: Any, X: Any, shifts: Sequence[ErrorShift], proba: np.ndarray | None = None) -> Reasons:
    """Explain the rows of a table whose errors are as the `shifts` say. With class probabilities `proba` (n, k), rows
    that are sure are not asked what limits them."""
    with model.assuming(shifts):
        why = model.contributions(X)
        n_rows = len(why.answers)
        doubtful = np.arange(n_rows) if proba is None else np.flatnonzero(entropy_of(proba) > _SURE)
        limited_by, gain = [""] * n_rows, np.zeros(n_rows)
        if len(doubtful):
            value = model.value_of_measurement(rows_of(X, doubtful))
            for place, row in enumerate(doubtful.tolist()):
                limited_by[row] = value.brief(place)
                gain[row] = max(value.gain[place].max(), 0.0) if limited_by[row] else 0.0
    return Reasons([why.brief(row) for row in range(n_rows)], limited_by, gain)


def with_reasons(table: Any, reasons: Reasons, prefix: str) -> Any:
    """A table of pyarrow with the columns of reasons."""
    import pyarrow

    columns = pyarrow.array(reasons.because), pyarrow.array(reasons.limited_by), pyarrow.array(reasons.gain)
    for name, column in zip(names_of_columns(prefix), columns, strict=True):
        table = table.append_column(name, column)
    return table


def names_of_columns(prefix: str) -> list[str]:
    """Names of these columns."""
    return [f"{prefix}{name}" for name in COLUMNS]


def rows_of(X: Any, rows: np.ndarray) -> Any:
    """Rows of a table of pandas or astropy."""
    return X[rows] if hasattr(X, "colnames") else X.iloc[rows]


def entropy_of(proba: np.ndarray) -> np.ndarray:
    """Entropies of class probabilities (n, k), in bits."""
    return -(proba * np.log2(np.where(proba > 0, proba, 1.0))).sum(axis=1)
