"""The columns and classes that a model knows, as JSON and back, with a check that they belong together."""

from typing import Any

import numpy as np

from ..inputs.columns import Errors
from ..inputs.tables import Layout
from .saved_units import unit_from_json, unit_to_json
from .saved_values import from_json, to_json

Json = dict[str, Any]


def layout_to_json(layout: Layout) -> Json:
    """How the table of a fit was made up."""
    return {
        "names": to_json(layout.names, "the names of the columns of X"),
        "pairs": to_json(layout.pairs, "error_pairs_"),
        "units": [[name, unit_to_json(unit, name)] for name, unit in layout.units.items()],
    }


def layout_from_json(data: Json, error_names: Any, n_columns: Any, n_features: int) -> Layout:
    """The layout, `error_names` being the columns of X_err. A ValueError if tables that follow it don't have as many
    columns and features as the model."""
    if type(n_columns) is not int or n_features < 1:
        raise ValueError("it has no features")
    names, pairs = from_json(data["names"]), from_json(data["pairs"])
    if names is not None and (type(names) is not list or len(names) != n_columns):
        raise ValueError("it does not have as many names as columns")
    if pairs is None and n_columns != n_features:
        raise ValueError("it does not have as many columns as features")
    if pairs is not None:
        _check_pairs(pairs, names or [], n_features)
    units = {name: unit_from_json(unit) for name, unit in data["units"]}
    if not units.keys() <= set([""] if names is None else names):
        raise ValueError("it has the unit of a column that does not exist")
    return Layout(names, pairs, units, _checked_error_names(error_names))


def _check_pairs(pairs: Any, names: list, n_features: int) -> None:
    if type(pairs) is not dict or not all(each is None or isinstance(each, Errors) for each in pairs.values()):
        raise ValueError("its error columns are invalid")
    used = [column for errors in pairs.values() if errors is not None for column in errors.columns]
    all_used = {*pairs, *used}  # a table may have more columns: those of errors that are all empty
    if len(pairs) != n_features or len(all_used) != len(pairs) + len(used) or not all_used <= set(names):
        raise ValueError("its error columns are not those of its table")


def checked_names(names: Any, n_columns: int) -> np.ndarray:
    """Names of the columns, an array of objects."""
    if not isinstance(names, np.ndarray) or names.dtype != object or names.shape != (n_columns,):
        raise ValueError("the names of its features are invalid")
    return names


def _checked_error_names(names: Any) -> list | tuple | None:
    """A list, or two for a pair, or None."""
    sides = names if type(names) is tuple and len(names) == 2 else (names,)
    if not all(side is None or type(side) is list for side in sides):
        raise ValueError("the names of its error columns are invalid")
    return names


def checked_classes(classes: Any) -> np.ndarray:
    """The classes: each is there once, and they are sorted, unless they are of several types."""
    if not isinstance(classes, np.ndarray) or classes.ndim != 1 or len(classes) == 0:
        raise ValueError("it has no classes")
    items = classes.tolist()
    if len({(type(item), item) for item in items}) < len(items):
        raise ValueError("it has a class twice")
    if len(set(map(type, items))) == 1 and sorted(items) != items:
        raise ValueError("its classes are not in order")
    return classes


def checked_errors(medians: np.ndarray, n_features: int) -> np.ndarray:
    """The median errors of features; NaN if a feature has no errors."""
    if medians.dtype != np.float64 or medians.shape not in ((n_features,), (2, n_features)):
        raise ValueError("its median errors have another shape")
    if (medians < 0).any() or np.isinf(medians).any():
        raise ValueError("a median error is negative or infinite")
    return medians
