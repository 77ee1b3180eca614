"""How good a model's probabilities are, in numbers.

`text` shows an Evaluation in a terminal, `figures` draws it, and `report` makes a web page of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import isfinite, isnan, nan
from typing import Any, NamedTuple

import numpy as np

from ..inputs.labels import SUM_TOLERANCE
from ..metrics import pmf_brier_score, pmf_log_loss
from ..support.wording import one_line
from .accuracy import Accuracy, share_right
from .curves import ClassCurve, curves_of
from .mistakes import Mistake, worst_mistakes

N_RELIABILITY_BINS = 10
N_COVERAGE_POINTS = 10
MOST_ERROR_BINS = 5
LEAST_OBJECTS_PER_ERROR_BIN = 10  # an accuracy of fewer objects says nothing


class Baseline(NamedTuple):
    """The scores of a model that only knows the shares of the classes."""

    accuracy: float
    log_loss: float
    brier: float


class ClassScores(NamedTuple):
    """Precision (share of right ones among the answers) and recall (share of its objects found) of one class."""

    name: str
    n_objects: int
    n_answers: int
    precision: float
    recall: float
    f1: float


class ReliabilityBin(NamedTuple):
    """The objects whose most probable class has a probability in (low, high]."""

    low: float
    high: float
    n_objects: int
    mean_proba: float
    accuracy: Accuracy


class ErrorBin(NamedTuple):
    """The objects whose errors have a size of low … high; NaN if their errors are unknown."""

    low: float
    high: float
    median: float
    n_objects: int
    mean_proba: float
    accuracy: Accuracy

    @property
    def is_unknown(self) -> bool:
        return isnan(self.median)


class CoveragePoint(NamedTuple):
    """The objects that are left when only answers with at least this probability count."""

    share: float
    n_objects: int
    least_proba: float
    accuracy: Accuracy


@dataclass(frozen=True, eq=False)
class Evaluation:
    """How good the answers for a set of objects are. Made by :func:`evaluate`.

    Attributes
    ----------
    n_objects : int
        Objects that were evaluated.
    n_left_out : int
        Objects without an answer.
    classes : tuple
        The classes, in the order of the columns of the probabilities.
    accuracy : Accuracy
        Share of objects whose most probable class is the true one.
    balanced_accuracy : float
        Mean recall of the classes: rare classes count as much as frequent ones.
    log_loss, brier : float
        Scores of the probabilities, see :mod:`probforest.metrics`; lower is better.
    baseline : Baseline
        The scores of a model that only knows the shares of the classes.
    mean_proba : float
        Mean probability of the most probable class: the accuracy that the model itself expects.
    calibration_error : float
        Expected calibration error, the mean distance of probability and accuracy over the bins of `reliability`.
    confusion : ndarray of shape (n_classes, n_classes)
        Objects by true class (row) and answer (column).
    per_class : tuple of ClassScores
        Precision, recall and F1; NaN for a division by zero.
    reliability : tuple of ReliabilityBin
        Accuracy by probability of the most probable class, in ten bins; empty bins are left out.
    error_sizes : tuple of ErrorBin
        Accuracy by size of the errors, in up to five bins with about equal numbers of objects, and one for objects
        with unknown errors. Empty if no sizes were given.
    coverage : tuple of CoveragePoint
        Accuracy when only the most confident answers count. Equally confident objects come in together.
    curves : tuple of ClassCurve
        ROC and precision–recall of every class.
    mistakes : tuple of Mistake
        The wrong answers with the lowest probabilities of the true classes.
    """

    n_objects: int
    n_left_out: int
    classes: tuple
    accuracy: Accuracy
    balanced_accuracy: float
    log_loss: float
    brier: float
    baseline: Baseline
    mean_proba: float
    calibration_error: float
    confusion: np.ndarray
    per_class: tuple[ClassScores, ...]
    reliability: tuple[ReliabilityBin, ...]
    error_sizes: tuple[ErrorBin, ...]
    coverage: tuple[CoveragePoint, ...]
    curves: tuple[ClassCurve, ...]
    mistakes: tuple[Mistake, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The classes as text of one line each."""
        return tuple(scores.name for scores in self.per_class)

    def as_dict(self) -> dict[str, Any]:
        """All attributes as plain Python objects that `json` can write; None stands for NaN."""
        plain = {field.name: _plain(getattr(self, field.name)) for field in fields(self) if field.name != "curves"}
        return plain | {"curves": [curve.as_dict() for curve in self.curves]}


def evaluate(truth, proba, classes, *, error_size=None) -> Evaluation:
    """Compare the probabilities that a model gives with the true classes.

    Parameters
    ----------
    truth : array-like of shape (n_samples,)
        The true classes.
    proba : array-like of shape (n_samples, n_classes)
        Probability of every class. An object with a row of NaN has no answer and is left out, as in the
        `oob_decision_function_` of a forest.
    classes : array-like of shape (n_classes,)
        The class of every column of `proba`.
    error_size : array-like of shape (n_samples,), default=None
        How large the errors of an object are, in any unit; NaN if they are unknown.

    Examples
    --------
    >>> truth = ["star", "star", "galaxy", "galaxy"]
    >>> proba = [[0.1, 0.9], [0.6, 0.4], [0.8, 0.2], [1.0, 0.0]]
    >>> evaluation = evaluate(truth, proba, ["galaxy", "star"])
    >>> print(evaluation.accuracy)
    0.750 (0.301 … 0.954)
    >>> evaluation.confusion.tolist()
    [[2, 0], [1, 1]]
    >>> evaluation.as_dict()["per_class"][1]["recall"]
    0.5
    """
    classes = np.asarray(classes).tolist()
    codes = _read_truth(truth, classes)
    proba, answered = _read_proba(proba, len(codes), len(classes))
    sizes = None if error_size is None else _read_error_size(error_size, len(codes))[answered]
    codes, proba = codes[answered], proba[answered]
    if len(codes) == 0:
        raise ValueError(f"There is nothing to evaluate: none of the {len(answered)} objects has an answer.")
    confidence, answers = np.minimum(proba.max(axis=1), 1.0), proba.argmax(axis=1)
    right = answers == codes
    confusion = np.bincount(codes * len(classes) + answers, minlength=len(classes) ** 2).reshape(len(classes), -1)
    names = [one_line(name) for name in classes]
    per_class = _per_class(confusion, names)
    reliability = _reliability(confidence, right)
    pmf = np.eye(len(classes))[codes]
    return Evaluation(
        n_objects=len(codes),
        n_left_out=int(np.count_nonzero(~answered)),
        classes=tuple(classes),
        accuracy=_accuracy(right),
        balanced_accuracy=float(np.nanmean([scores.recall for scores in per_class])),
        log_loss=pmf_log_loss(pmf, proba),
        brier=pmf_brier_score(pmf, proba),
        baseline=_baseline(confusion.sum(axis=1) / len(codes)),
        mean_proba=float(confidence.mean()),
        calibration_error=_calibration_error(reliability),
        confusion=confusion,
        per_class=per_class,
        reliability=reliability,
        error_sizes=() if sizes is None else _error_sizes(sizes, confidence, right),
        coverage=_coverage(confidence, right),
        curves=curves_of(codes, proba, names),
        mistakes=worst_mistakes(codes, proba, names, np.flatnonzero(answered)),
    )


# Reading


def _read_truth(truth, classes: list) -> np.ndarray:
    """The column of every object's true class."""
    column_of = {name: column for column, name in enumerate(classes)}
    if len(column_of) < len(classes):
        raise ValueError(f"classes must differ; got {classes}.")
    labels = np.asarray(truth)
    if labels.ndim != 1:
        raise ValueError(f"truth has shape {labels.shape}; expected a class per object, (n_samples,).")
    codes = np.empty(len(labels), dtype=np.int64)
    for row, label in enumerate(labels.tolist()):
        if label not in column_of:
            raise ValueError(f"truth is {label!r} at row {row}, which is not one of the classes {classes}.")
        codes[row] = column_of[label]
    return codes


def _read_proba(proba, n_objects: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """The probabilities, and which objects have them."""
    proba = np.asarray(proba, dtype=np.float64)
    if proba.shape != (n_objects, n_classes):
        raise ValueError(
            f"proba has shape {proba.shape}; expected {(n_objects, n_classes)}, a probability per object and class."
        )
    answered = ~np.isnan(proba).all(axis=1)
    good = (proba >= 0).all(axis=1) & (np.abs(proba.sum(axis=1) - 1) <= SUM_TOLERANCE)
    if (answered & ~good).any():
        row = int(np.argmax(answered & ~good))
        raise ValueError(f"proba is {proba[row].tolist()} at row {row}; expected probabilities that sum to 1.")
    return proba, answered


def _read_error_size(error_size, n_objects: int) -> np.ndarray:
    sizes = np.asarray(error_size, dtype=np.float64)
    if sizes.shape != (n_objects,):
        raise ValueError(f"error_size has shape {sizes.shape}; expected a number per object, {(n_objects,)}.")
    bad = (sizes < 0) | np.isinf(sizes)
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(f"error_size is {sizes[row]} at row {row}; expected a size, or NaN if the errors are unknown.")
    return sizes


# Scores


def _accuracy(right: np.ndarray) -> Accuracy:
    return share_right(int(np.count_nonzero(right)), len(right))


def _baseline(shares: np.ndarray) -> Baseline:
    """The scores of the shares themselves as the answer for every object."""
    there = shares[shares > 0]
    return Baseline(float(shares.max()), float(-(there * np.log(there)).sum()), float(1 - np.square(shares).sum()))


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole else nan


def _per_class(confusion: np.ndarray, names: Sequence[str]) -> tuple[ClassScores, ...]:
    n_right, n_objects, n_answers = np.diag(confusion), confusion.sum(axis=1), confusion.sum(axis=0)
    return tuple(
        ClassScores(name, int(true), int(said), _ratio(hit, said), _ratio(hit, true), _ratio(2 * hit, true + said))
        for name, hit, true, said in zip(names, n_right, n_objects, n_answers, strict=True)
    )


def _reliability(confidence: np.ndarray, right: np.ndarray) -> tuple[ReliabilityBin, ...]:
    edges = np.linspace(0, 1, N_RELIABILITY_BINS + 1)
    bins = np.searchsorted(edges[1:-1], confidence)
    return tuple(
        ReliabilityBin(
            low=float(edges[i]),
            high=float(edges[i + 1]),
            n_objects=int(np.count_nonzero(bins == i)),
            mean_proba=float(confidence[bins == i].mean()),
            accuracy=_accuracy(right[bins == i]),
        )
        for i in np.unique(bins)
    )


def _calibration_error(reliability: Sequence[ReliabilityBin]) -> float:
    gaps = [abs(bin.mean_proba - bin.accuracy.value) for bin in reliability]
    return float(np.average(gaps, weights=[bin.n_objects for bin in reliability]))


def _error_sizes(sizes: np.ndarray, confidence: np.ndarray, right: np.ndarray) -> tuple[ErrorBin, ...]:
    known = ~np.isnan(sizes)
    groups = [members for members in (~known,) if members.any()]
    if known.any():
        tops = _tops_of_bins(sizes[known])
        bins = np.where(known, np.searchsorted(tops, sizes), -1)
        groups += [bins == i for i in range(len(tops))]
    return tuple(_error_bin(sizes[members], confidence[members], right[members]) for members in groups)


def _tops_of_bins(sizes: np.ndarray) -> np.ndarray:
    """The largest size of each bin. They are sizes of objects, so that no bin is empty; ties make fewer of them."""
    n_bins = max(1, min(MOST_ERROR_BINS, len(sizes) // LEAST_OBJECTS_PER_ERROR_BIN))
    return np.unique(np.quantile(sizes, np.arange(1, n_bins + 1) / n_bins, method="inverted_cdf"))


def _error_bin(sizes: np.ndarray, confidence: np.ndarray, right: np.ndarray) -> ErrorBin:
    low, median, high = (nan, nan, nan) if np.isnan(sizes).any() else np.quantile(sizes, [0, 0.5, 1])
    return ErrorBin(
        float(low), float(high), float(median), len(sizes), float(confidence.mean()), accuracy=_accuracy(right)
    )


def _coverage(confidence: np.ndarray, right: np.ndarray) -> tuple[CoveragePoint, ...]:
    falling = np.sort(confidence)[::-1]
    wanted = np.ceil(len(falling) * np.arange(1, N_COVERAGE_POINTS + 1) / N_COVERAGE_POINTS - 1e-9).astype(int)
    # Equally confident objects come in together: their order in the table must not decide.
    thresholds = np.unique(falling[wanted - 1])[::-1]
    return tuple(_coverage_point(confidence >= threshold, right, float(threshold)) for threshold in thresholds)


def _coverage_point(chosen: np.ndarray, right: np.ndarray, threshold: float) -> CoveragePoint:
    n_chosen = int(np.count_nonzero(chosen))
    return CoveragePoint(n_chosen / len(chosen), n_chosen, threshold, _accuracy(right[chosen]))


def _plain(value: Any) -> Any:
    """The value without NumPy's types and NaN, which JSON does not have."""
    if hasattr(value, "_asdict"):
        return {name: _plain(part) for name, part in value._asdict().items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist())
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value if isinstance(value, (bool, int, str)) else str(value)
