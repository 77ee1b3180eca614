"""What users say about the labels, checked once: classes, a probability mass function per object, label information.

Every complaint about y, y_proba and classes is raised here.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from ..kernels.layout import INDEX, Target, real_empty
from ..support.exact_sum import as_float, exact_sum
from ..support.warning import warn_caller
from .cell_error import CellError
from .measured_values import unmasked

SUM_TOLERANCE = 1e-6
_FEW = 10  # objects of a class say nothing about a mistake
_EVERY_OBJECT = (
    "every object needs a label. For an object of unknown class leave it out, or give all classes the same probability "
    "with y_proba."
)


@dataclass(frozen=True)
class LabelTable:
    """Labels of n objects over k classes, which are sorted."""

    classes: np.ndarray  # (k,)
    class_index: np.ndarray  # (n,) int32, the most probable class of every object
    pmf: np.ndarray | None = None  # (n, k) float64, rows sum to 1; None when all labels are hard

    @property
    def information(self) -> np.ndarray:
        """I = (k Σ p² − 1)/(k − 1) of every object: 1 for a hard label, 0 for a uniform one."""
        n_classes = len(self.classes)
        if self.pmf is None or n_classes == 1:
            return np.ones(len(self.class_index))
        information = (n_classes * np.square(self.pmf).sum(axis=1) - 1) / (n_classes - 1)
        information[information < 1e-12] = 0.0  # what rounding leaves of a uniform PMF
        return np.minimum(information, 1.0)

    def rows(self, keep: np.ndarray) -> "LabelTable":
        """Some of the objects: where `keep` (n,) is true, or with these numbers. All of them may have hard labels."""
        if self.pmf is None:
            return LabelTable(self.classes, self.class_index[keep])
        return soft_labels(self.classes, self.pmf[keep])

    def exact_masses(self, weight: np.ndarray) -> list[int]:
        """Expected weight of every class, k sums without rounding (see `exact_sum`)."""
        if self.pmf is None:
            members = (weight[self.class_index == number] for number in range(len(self.classes)))
            return [exact_sum(each) for each in members]
        return [exact_sum(weight * column) for column in self.pmf.T]

    def class_masses(self, weight: np.ndarray) -> np.ndarray:
        """Expected weight of every class (k,)."""
        return np.array([as_float(mass) for mass in self.exact_masses(weight)])

    def all_soft(self) -> "LabelTable":
        """The same labels with PMFs, also if all of them are hard."""
        if self.pmf is not None:
            return self
        return LabelTable(self.classes, self.class_index, np.eye(len(self.classes))[self.class_index])

    def reweighted(self, class_weight: np.ndarray) -> tuple["LabelTable", np.ndarray]:
        """Class masses multiplied by `class_weight` (k,): the new PMFs, and the factor of each object's weight (n,)."""
        if self.pmf is None:
            return self, class_weight[self.class_index]
        masses = self.pmf * class_weight
        factor = masses.sum(axis=1)
        return soft_labels(self.classes, masses / np.where(factor > 0, factor, 1.0)[:, None]), factor

    def for_kernels(self) -> Target:
        """Class indices when all labels are hard, which is faster; PMFs otherwise."""
        pmf = real_empty(0, len(self.classes)) if self.pmf is None else np.ascontiguousarray(self.pmf)
        return Target(self.class_index, pmf)


def soft_labels(classes: np.ndarray, pmf: np.ndarray) -> LabelTable:
    """Labels with the given PMFs (n, k), which are hard if all of them are."""
    hard = bool((pmf.max(axis=1) == 1.0).all())
    return LabelTable(classes, pmf.argmax(axis=1).astype(INDEX), None if hard else pmf)


def read_labels(y, y_proba, classes, n_objects: int, *, warn: bool = True) -> LabelTable:
    """Labels from `y`, from a confidence per object (`y_proba` (n,)), or from PMFs (`y_proba` (n, k)). `warn` if these
    look like a mistake.

    >>> read_labels(["b", "a"], [0.9, 0.6], None, 2).pmf
    array([[0.1, 0.9],
           [0.6, 0.4]])
    """
    names = _class_names(classes, y_proba)
    if y is not None:
        y = _read_y(y, n_objects)
    proba = None if y_proba is None else _read_probabilities(y_proba, n_objects)
    if proba is not None and proba.ndim == 2:
        known, pmf = _sorted_pmf(proba, _names_of_columns(names, y, proba.shape[1]))
        if y is not None and warn:
            _warn_if_contradicted(pmf, _index_of(y, known)[1], known)
        return soft_labels(known, pmf)
    if y is None:
        raise ValueError(
            "This classifier requires y to be passed, but the target y is None. "
            "Give y, or y_proba with a column per class and classes=."
        )
    known, index = _index_of(y, names)
    if proba is None:
        return LabelTable(known, index.astype(INDEX))
    pmf = _spread(index, proba, len(known))
    if warn:
        _warn_if_contradicted(pmf, index, known)
    return soft_labels(known, pmf)


def _warn_if_contradicted(pmf: np.ndarray, index: np.ndarray, classes: np.ndarray) -> None:
    """Probabilities of another thing than the label (of being a planet, say) are an easy mistake, and ruin a model."""
    contradicted = pmf[np.arange(len(pmf)), index] < pmf.max(axis=1)
    counts = np.bincount(index, minlength=pmf.shape[1])
    shares = np.bincount(index, contradicted, minlength=pmf.shape[1]) / np.maximum(counts, 1)
    worst = int(np.argmax(np.where(counts >= _FEW, shares, 0.0)))
    if contradicted.mean() > 0.5:
        whom = f"{contradicted.mean():.0%} of the objects"
    elif counts[worst] >= _FEW and shares[worst] > 0.5:
        whom = f"{shares[worst]:.0%} of the objects whose label is {classes.tolist()[worst]!r}"
    else:
        return
    warn_caller(
        f"y_proba calls another class more probable than y for {whom}. With shape (n,) y_proba is the probability that "
        "the label in y is right, not that of a certain class; with shape (n, k) its columns are the classes in sorted "
        "order, unless classes= says otherwise."
    )


def _spread(index: np.ndarray, confidence: np.ndarray, n_classes: int) -> np.ndarray:
    """The rest of the confidence is shared evenly by the other classes."""
    if n_classes == 1:
        if (confidence < 1).any():
            raise ValueError(
                f"y_proba is {confidence.min()} at row {confidence.argmin()}, but y has a single class: there is no "
                "other class to share the rest. Name all classes with classes=."
            )
        return np.ones((len(index), 1))
    pmf = np.repeat((1 - confidence)[:, None] / (n_classes - 1), n_classes, axis=1)
    pmf[np.arange(len(index)), index] = confidence
    return pmf


def _sorted_pmf(pmf: np.ndarray, names: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The classes, sorted, and the PMFs in their order, with sums of exactly 1."""
    sums = pmf.sum(axis=1)
    off = np.abs(sums - 1) > SUM_TOLERANCE
    if off.any():
        row = int(np.argmax(off))
        hint = " One confidence per object has shape (n,), not (n, 1)." if pmf.shape[1] == 1 else ""
        raise ValueError(
            f"y_proba sums to {sums[row]:.9g} in row {row}; the probabilities of an object must sum to 1.{hint}"
        )
    known, order = _sorted_names(names)
    return known, pmf[:, order] / sums[:, None]


def _read_probabilities(y_proba, n_objects: int) -> np.ndarray:
    y_proba = unmasked(y_proba)
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
        row, column = int(where[0]), int(where[1]) if proba.ndim == 2 else None
        hint = (
            "; for an unknown one give all classes the same, or leave the object out" if np.isnan(proba[where]) else ""
        )
        raise CellError("y_proba", proba[where], row, column, f"expected a probability between 0 and 1{hint}")
    return np.minimum(proba, 1.0) if proba.ndim == 1 else proba


def _read_y(y, n_objects: int) -> np.ndarray:
    _refuse_masked(y)
    y = column_or_1d(y, warn=True)
    if y.dtype.kind == "S":
        raise ValueError("y holds bytes, as string columns of FITS tables do. Decode them: y.astype(str).")
    if len(y) != n_objects:
        raise ValueError(f"y has {len(y)} labels, but X has {n_objects} objects: inconsistent numbers of samples.")
    _refuse_missing(y)
    try:
        check_classification_targets(y)
    except TypeError as problem:
        raise ValueError(f"y mixes labels that can't be sorted, such as text and numbers: {problem}") from problem
    return y


def _refuse_masked(y) -> None:
    """What lies below a mask, of NumPy or astropy, is no label."""
    mask = np.atleast_1d(getattr(y, "mask", False)) if isinstance(y, np.ndarray) else np.zeros(1, dtype=bool)
    if mask.any():
        raise ValueError(f"y is masked at row {int(np.argmax(mask.ravel()))}; {_EVERY_OBJECT}")


def _refuse_missing(y: np.ndarray) -> None:
    if y.dtype.kind == "f":
        missing = ~np.isfinite(y)
    elif y.dtype.kind == "O":
        missing = np.array([_is_missing(label) for label in y], dtype=bool)
    else:
        return
    if missing.any():
        row = int(np.argmax(missing))
        raise ValueError(f"y is {y[row]} (NaN or infinity) at row {row}; {_EVERY_OBJECT}")


def _is_missing(label) -> bool:
    """None, NaN, and pandas' NA, which answers no question at all."""
    try:
        return label is None or bool(label != label)
    except TypeError:
        return True


def _class_names(classes, y_proba):
    """The names of the classes as the user gave them, or None."""
    columns = getattr(y_proba, "columns", None)
    if classes is None:
        return None if columns is None else np.asarray(list(columns))
    names = np.asarray(classes)
    if names.ndim != 1 or len(names) == 0:
        raise ValueError(f"classes must be a list of class names; got {classes!r}.")
    n_text = sum(isinstance(name, str) for name in classes)
    if any(_is_missing(name) for name in classes) or 0 < n_text < len(names):
        raise ValueError(f"classes must be all text or all numbers, without a missing one; got {list(classes)}.")
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
        raise ValueError(
            f"y_proba has {n_columns} columns, but there are {len(names)} classes: {names.tolist()}. "
            "Name the class of every column with classes=."
        )
    return names


def _sorted_names(names: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The names in sorted order, as everything in scikit-learn expects them, and the order that sorts them."""
    known, order = np.unique(names, return_index=True)
    if len(known) < len(names):
        raise ValueError(f"classes must be different; got {names.tolist()}.")
    return known, order


def _index_of(y: np.ndarray, names) -> tuple[np.ndarray, np.ndarray]:
    """The classes, and the class index of every label."""
    if names is None:
        return np.unique(y, return_inverse=True)
    known, _ = _sorted_names(names)
    if (known.dtype.kind in "OUT") != (y.dtype.kind in "OUT"):
        raise ValueError(f"y has labels such as {y[0]!r}, but the classes are {known.tolist()}.")
    index = np.minimum(np.searchsorted(known, y), len(known) - 1)
    strange = known[index] != y
    if strange.any():
        row = int(np.argmax(strange))
        raise ValueError(f"y is {y[row]} at row {row}, which is not one of the classes {known.tolist()}.")
    return known, index
