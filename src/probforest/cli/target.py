"""The column with the classes: its labels, and which classes of a model they are."""

from typing import Any

import numpy as np

from ..storage.catalogues.catalogue import is_text

_NO_CLASS = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "<NA>", "--")


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


def positions(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The place of each label among the `classes`, -1 if it is not one of them.

    Labels are compared as text, because the same class is 1 in one file and 1.0 or "1" in another.

    >>> positions(np.array(["1", "2.0", "x"]), np.array([1, 2]))
    array([ 0,  1, -1])
    """
    are_numbers = classes.dtype.kind in "iuf"
    place = {_written(name, are_numbers): number for number, name in enumerate(classes.tolist())}
    unique, inverse = np.unique(labels, return_inverse=True)
    found = np.array([place.get(_written(name, are_numbers), -1) for name in unique.tolist()], dtype=np.int64)
    return found[inverse] if len(found) else np.zeros(0, dtype=np.int64)


def _written(name: Any, is_number: bool) -> str:
    if is_number and not isinstance(name, int):  # a float would lose digits of a large one
        try:
            number = float(name)
        except ValueError:
            return str(name)
        return str(int(number)) if number.is_integer() else str(number)
    return str(name)
