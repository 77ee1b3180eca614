"""The column with the classes: which classes of a model its labels are."""

from typing import Any

import numpy as np


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
