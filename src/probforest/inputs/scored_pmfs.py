"""True labels or PMFs and predicted PMFs that are to be compared: checked, with the same classes in the same order."""

from typing import Any

import numpy as np

from .labels import SUM_TOLERANCE
from .measured_values import unmasked
from .parameters import complain


def read_pmfs(y_true: Any, y_pred: Any, classes: Any) -> tuple[np.ndarray, np.ndarray]:
    """The true and the predicted PMFs, both (n, k)."""
    _refuse_reordered(y_true, y_pred, classes)
    names = None if classes is None else _read_classes(classes)
    truth = _one_hot(y_true, names) if np.ndim(y_true) == 1 else _read_pmf("y_true", y_true)
    if names is not None and len(names) != truth.shape[1]:
        raise ValueError(f"y_true has {truth.shape[1]} columns, but there are {len(names)} classes: {names}.")
    predicted = _with_both_classes(y_pred) if np.ndim(y_pred) == 1 else _read_pmf("y_pred", y_pred)
    if predicted.shape != truth.shape:
        two = ", which means two classes" if np.ndim(y_pred) == 1 else ""
        raise ValueError(
            f"y_pred has shape {np.shape(y_pred)}{two}; expected a probability per object and class, {truth.shape}, "
            "as y_true and classes say."
        )
    return truth, predicted


def _refuse_reordered(y_true: Any, y_pred: Any, classes: Any) -> None:
    """Columns are matched by position. Tables that say by name that this is wrong are refused."""
    orders = {
        "classes": classes,
        "y_true": getattr(y_true, "columns", None),
        "y_pred": getattr(y_pred, "columns", None),
    }
    known = [(name, list(order)) for name, order in orders.items() if order is not None]
    for name, order in known[1:]:
        first, expected = known[0]
        if order != expected and len(order) == len(expected) and set(order) == set(expected):
            raise ValueError(f"{name} has the columns {order}, but the order of {first} is {expected}.")


def _read_classes(classes: Any) -> list:
    names = np.asarray(classes)
    if names.ndim != 1 or len(names) == 0:
        complain("classes", classes, "a list of class names, one per column of y_pred")
    if len(set(names.tolist())) < len(names):
        complain("classes", names.tolist(), "different for every column of y_pred")
    return names.tolist()


def _one_hot(y_true: Any, names: list | None) -> np.ndarray:
    """Labels as PMFs that are certain."""
    if names is None:
        raise ValueError(
            "y_true holds labels, but nothing says which class each column of y_pred is. Give classes=[...] in the "
            "order of the columns, or y_true with one probability per class."
        )
    column_of = {name: column for column, name in enumerate(names)}
    pmf = np.zeros((len(y_true), len(names)))
    for row, label in enumerate(np.asarray(y_true).tolist()):
        if label not in column_of:
            raise ValueError(f"y_true is {label!r} at row {row}, which is not one of the classes {names}.")
        pmf[row, column_of[label]] = 1.0
    return pmf


def _with_both_classes(y_pred: Any) -> np.ndarray:
    """The probabilities of both classes from those of the second."""
    second = np.minimum(_read_probabilities("y_pred", y_pred), 1.0)
    return np.column_stack([1 - second, second])


def _read_pmf(name: str, table: Any) -> np.ndarray:
    pmf = _read_probabilities(name, table)
    if pmf.ndim != 2:
        raise ValueError(f"{name} has shape {pmf.shape}; expected a probability per class, (n_samples, n_classes).")
    sums = pmf.sum(axis=1, dtype=np.float64)
    off = np.abs(sums - 1) > SUM_TOLERANCE
    if off.any():
        row = int(np.argmax(off))
        raise ValueError(f"{name} sums to {sums[row]:.9g} in row {row}; the probabilities of an object must sum to 1.")
    return pmf


def _read_probabilities(name: str, table: Any) -> np.ndarray:
    """As floats of the type they have, since that says how they are to be clipped."""
    try:
        proba = np.asarray(unmasked(table))
        proba = proba if proba.dtype.kind == "f" else proba.astype(np.float64)
    except (TypeError, ValueError) as problem:
        raise ValueError(f"{name} must hold numbers: {problem}") from problem
    bad = ~((proba >= 0) & (proba <= 1 + SUM_TOLERANCE))
    if bad.any():
        where = np.unravel_index(np.argmax(bad), bad.shape)
        place = ", ".join(f"{axis} {i}" for axis, i in zip(("row", "column"), where, strict=False))
        raise ValueError(f"{name} is {proba[where]} at {place}; expected a probability between 0 and 1.")
    return proba
