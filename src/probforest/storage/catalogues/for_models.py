"""Columns of a `pyarrow.Table` as models take them: features with their units, classes, numbers to learn, and
a number that tells whether two tables are the same."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import numpy as np

from ...support.extras import need
from .catalogue import is_text

_NO_CLASS = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "<NA>", "--")


def table_for(piece: Any, names: Sequence[str], units: dict[str, Any]) -> Any:
    """Columns of a piece as a table of astropy if they have units, else of pandas."""
    columns = {name: piece.column(name).to_numpy().astype(np.float64, copy=False) for name in names}
    if not any(units.values()):
        return need("pandas", "A table", "tables").DataFrame(columns)
    astropy = need("astropy.table", "A table with units", "astro")
    return astropy.Table([astropy.Column(values, name, unit=units.get(name)) for name, values in columns.items()])


def read_labels_of(column: Any) -> tuple[np.ndarray, np.ndarray]:
    """Labels of the rows that have one, and which rows these are, (n,) bool. Empty text, NA and so on are missing."""
    import pyarrow
    import pyarrow.compute as compute

    if is_text(column.type) or pyarrow.types.is_temporal(column.type):
        column = column.cast(pyarrow.string())
        words = pyarrow.array(_NO_CLASS)
        known = compute.invert(compute.is_in(compute.utf8_trim_whitespace(column), words))
        known = compute.and_(compute.is_valid(column), known)
    else:
        known = compute.is_valid(column)
        if pyarrow.types.is_floating(column.type):
            known = compute.and_(known, compute.invert(compute.fill_null(compute.is_nan(column), True)))
    return np.asarray(column.filter(known).to_pylist()), np.asarray(known.to_pylist(), dtype=bool)


def read_numbers_of(column: Any) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the rows that have one, and which rows these are, (n,) bool."""
    values = column.cast("float64", safe=False).to_numpy()
    known = np.isfinite(values)
    return values[known], known


class Fingerprint:
    """A number that tells whether the columns of two tables are the same, however they are cut into pieces."""

    def __init__(self, names: Sequence[str]):
        self._names = names
        self._digest = sha256()

    def after(self, piece: Any) -> "Fingerprint":
        """With another piece, the columns being numbers."""
        values = np.column_stack([piece.column(name).to_numpy() for name in self._names])
        self._digest.update(np.where(np.isnan(values), np.nan, values).tobytes())  # there are many NaNs
        return self

    def hex(self) -> str:
        """The number."""
        return self._digest.hexdigest()
