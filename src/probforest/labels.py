"""What users say about the labels, checked once: classes, a probability mass function per object, label information.

Every complaint about y, y_proba and classes is raised here.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from .kernels.layout import INDEX, Labels, real_empty

SUM_TOLERANCE = 1e-6


@dataclass(frozen=True)
class LabelTable:
    """Labels of n objects over k classes, which are sorted."""

    classes: np.ndarray  # (k,)
    pmf: np.ndarray  # (n, k) float64, rows sum to 1

    @property
    def most_probable(self) -> np.ndarray:
        """Index of the most probable class of every object (n,)."""
        return self.pmf.argmax(axis=1)

    @property
    def information(self) -> np.ndarray:
        """I = (k Σ p² − 1)/(k − 1) of every object: 1 for a hard label, 0 for a uniform one."""
        n_classes = len(self.classes)
        if n_classes == 1:
            return np.ones(len(self.pmf))
        information = (n_classes * np.square(self.pmf).sum(axis=1) - 1) / (n_classes - 1)
        information[information < 1e-12] = 0.0  # what rounding leaves of a uniform PMF
        return np.minimum(information, 1.0)

    def rows(self, keep: np.ndarray) -> "LabelTable":
        """The objects where `keep` (n,) is true."""
        return self if keep.all() else LabelTable(self.classes, self.pmf[keep])

    def class_masses(self, weight: np.ndarray) -> np.ndarray:
        """Expected weight of every class (k,)."""
        return weight @ self.pmf

    def reweighted(self, class_weight: np.ndarray) -> tuple["LabelTable", np.ndarray]:
        """Class masses multiplied by `class_weight` (k,): the new PMFs, and the factor of each object's weight (n,)."""
        masses = self.pmf * class_weight
        factor = masses.sum(axis=1)
        return LabelTable(self.classes, masses / np.where(factor > 0, factor, 1.0)[:, None]), factor

    def for_kernels(self) -> Labels:
        """Class indices when all labels are hard, which is faster; PMFs otherwise."""
        hard = bool((self.pmf.max(axis=1) == 1.0).all())
        pmf = real_empty(0, len(self.classes)) if hard else np.ascontiguousarray(self.pmf)
        return Labels(self.most_probable.astype(INDEX), pmf)


def read_labels(y, y_proba, classes, n_objects: int) -> LabelTable:
    """Labels from `y`, from a confidence per object (`y_proba` (n,)), or from PMFs (`y_proba` (n, k)).

    >>> read_labels(["b", "a"], [0.9, 0.5], None, 2).pmf
    array([[0.1, 0.9],
           [0.5, 0.5]])
    """
    names = _class_names(classes, y_proba)
    if y is not None:
        y = _read_y(y, n_objects)
    proba = None if y_proba is None else _read_probabilities(y_proba, n_objects)
    if proba is not None and proba.ndim == 2:
        return _from_pmf(proba, _names_of_columns(names, y, proba.shape[1]), y)
    if y is None:
        raise ValueError(
            "This classifier requires y to be passed, but the target y is None. "
            "Give y, or y_proba with a column per class and classes=."
        )
    known, index = _index_of(y, names)
    pmf = np.zeros((n_objects, len(known)))
    pmf[np.arange(n_objects), index] = 1.0
    return LabelTable(known, pmf if proba is None else _spread(pmf, proba))


def _spread(one_hot: np.ndarray, confidence: np.ndarray) -> np.ndarray:
    """The rest of the confidence is shared evenly by the other classes."""
    n_classes = one_hot.shape[1]
    if n_classes == 1:
        if (confidence < 1).any():
            raise ValueError(
                f"y_proba is {confidence.min()} at row {confidence.argmin()}, but y has a single class: there is no "
                "other class to share the rest. Name all classes with classes=."
            )
        return one_hot
    rest = (1 - confidence) / (n_classes - 1)
    return np.where(one_hot == 1.0, confidence[:, None], rest[:, None])


def _from_pmf(pmf: np.ndarray, names: np.ndarray, y) -> LabelTable:
    sums = pmf.sum(axis=1)
    off = np.abs(sums - 1) > SUM_TOLERANCE
    if off.any():
        row = int(np.argmax(off))
        raise ValueError(f"y_proba sums to {sums[row]:.9g} in row {row}; the probabilities of an object must sum to 1.")
    known, order = _sorted_names(names)
    if y is not None:
        _index_of(y, known)
    pmf = pmf[:, order] / sums[:, None]
    return LabelTable(known, pmf)


def _read_probabilities(y_proba, n_objects: int) -> np.ndarray:
    try:
        proba = np.asarray(y_proba, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise ValueError(f"y_proba must hold numbers: {problem}") from problem
    if proba.ndim not in (1, 2) or len(proba) != n_objects:
        raise ValueError(
            f"y_proba has shape {proba.shape}, but X has {n_objects} objects. Give one confidence per object, shape "
            f"({n_objects},), or one probability per class, shape ({n_objects}, n_classes)."
        )
    bad = ~((proba >= 0) & (proba <= 1 + SUM_TOLERANCE))
    if bad.any():
        where = np.unravel_index(np.argmax(bad), bad.shape)
        place = f"row {where[0]}" + (f", column {where[1]}" if proba.ndim == 2 else "")
        raise ValueError(f"y_proba is {proba[where]} at {place}; expected a probability between 0 and 1.")
    return np.minimum(proba, 1.0) if proba.ndim == 1 else proba


def _read_y(y, n_objects: int) -> np.ndarray:
    y = column_or_1d(y, warn=True)
    if len(y) != n_objects:
        raise ValueError(f"y has {len(y)} labels, but X has {n_objects} objects: inconsistent numbers of samples.")
    _refuse_missing(y)
    try:
        check_classification_targets(y)
    except TypeError as problem:
        raise ValueError(f"y mixes labels that can't be sorted, such as text and numbers: {problem}") from problem
    return y


def _refuse_missing(y: np.ndarray) -> None:
    if y.dtype.kind == "f":
        missing = ~np.isfinite(y)
    elif y.dtype.kind == "O":
        missing = np.array([label is None or bool(label != label) for label in y], dtype=bool)
    else:
        return
    if missing.any():
        row = int(np.argmax(missing))
        raise ValueError(
            f"y is {y[row]} (NaN or infinity) at row {row}; every object needs a label. For an object of unknown "
            "class leave it out, or give all classes the same probability with y_proba."
        )


def _class_names(classes, y_proba):
    """The names of the classes as the user gave them, or None."""
    columns = getattr(y_proba, "columns", None)
    if classes is None:
        return None if columns is None else np.asarray(list(columns))
    names = np.asarray(classes)
    if names.ndim != 1 or len(names) == 0:
        raise ValueError(f"classes must be a list of class names; got {classes!r}.")
    if columns is not None and list(columns) != list(classes):
        raise ValueError(f"classes is {list(classes)}, but y_proba has the columns {list(columns)}.")
    return names


def _names_of_columns(names, y, n_columns: int) -> np.ndarray:
    if names is None:
        if y is None:
            raise ValueError(
                f"y_proba has {n_columns} columns, but nothing says which class each one is. "
                "Give classes=[...] in the order of the columns, or a DataFrame whose columns are the classes."
            )
        names = np.unique(y)
    if len(names) != n_columns:
        raise ValueError(f"y_proba has {n_columns} columns, but there are {len(names)} classes: {list(names)}.")
    return names


def _sorted_names(names: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The names in sorted order, as everything in scikit-learn expects them, and the order that sorts them."""
    known, order = np.unique(names, return_index=True)
    if len(known) < len(names):
        raise ValueError(f"classes must be different; got {list(names)}.")
    return known, order


def _index_of(y: np.ndarray, names) -> tuple[np.ndarray, np.ndarray]:
    """The classes, and the class index of every label."""
    if names is None:
        return np.unique(y, return_inverse=True)
    known, _ = _sorted_names(names)
    index = np.minimum(np.searchsorted(known, y), len(known) - 1)
    strange = known[index] != y
    if strange.any():
        row = int(np.argmax(strange))
        raise ValueError(f"y is {y[row]!r} at row {row}, which is not one of the classes {list(known)}.")
    return known, index
