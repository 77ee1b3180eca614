"""How good a model's probabilities are: the numbers, as Python, as JSON and as text for a terminal.

`plotting` draws an Evaluation and `html_report` makes a page of it. Neither is needed here.
"""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import isfinite, isnan, nan, sqrt
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from ..inputs.labels import SUM_TOLERANCE
from ..metrics import pmf_brier_score, pmf_log_loss

N_RELIABILITY_BINS = 10
N_COVERAGE_POINTS = 10
MOST_ERROR_BINS = 5
LEAST_OBJECTS_PER_ERROR_BIN = 10  # an accuracy of fewer objects says nothing
TEXT_WIDTH = 100
MOST_CONFUSION_CLASSES = 12  # in text, beside each other
MOST_CLASS_ROWS = 40  # in text, below each other
LONGEST_NAME = 28  # in text
SHORTEST_NAME = 8


class Accuracy(NamedTuple):
    """A share of right answers, and the interval in which the true share lies with a confidence of 95 %."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f} … {self.high:.3f})"


class Baseline(NamedTuple):
    """What one scores who knows nothing but the shares of the classes: what a model has to beat."""

    accuracy: float
    log_loss: float
    brier: float


class ClassScores(NamedTuple):
    """One class: of the answers, how many were right, of its objects, how many were found."""

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
    """The objects whose errors have a size of low … high; NaN for those whose errors nobody knows."""

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
        Objects that were judged.
    n_left_out : int
        Objects without an answer.
    classes : tuple
        The classes, in the order of the columns of the probabilities.
    accuracy : Accuracy
        Share of objects whose most probable class is the true one.
    balanced_accuracy : float
        Mean of the classes' recalls, which rare classes move as much as frequent ones.
    log_loss, brier : float
        Scores of the probabilities, see :mod:`probforest.metrics`; lower is better.
    baseline : Baseline
        The scores of one who knows only the shares of the classes.
    mean_proba : float
        Mean probability of the most probable class: the accuracy that the model itself expects.
    calibration_error : float
        Expected calibration error, the mean distance of probability and accuracy over the bins of `reliability`.
    confusion : ndarray of shape (n_classes, n_classes)
        Objects by true class (row) and answer (column).
    per_class : tuple of ClassScores
        Precision, recall and F1; NaN where there is nothing to divide by.
    reliability : tuple of ReliabilityBin
        Accuracy by probability of the most probable class, in ten bins; those without an object are left out.
    error_sizes : tuple of ErrorBin
        Accuracy by size of the errors, in up to five bins of about as many objects, and one where they are unknown.
        Empty if no sizes were given.
    coverage : tuple of CoveragePoint
        Accuracy when only the most confident answers count. Equally confident objects come in together.
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

    @property
    def names(self) -> tuple[str, ...]:
        """The classes as text of one line each."""
        return tuple(scores.name for scores in self.per_class)

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain Python that `json` can write; None stands for NaN.

        Returns
        -------
        dict
            A key for each attribute.
        """
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}

    def as_text(self) -> str:
        """Everything as text of at most 100 columns.

        Returns
        -------
        str
            Lines for a terminal, the last one without a newline.
        """
        parts = [
            _headline_text(self),
            "In short\n" + "\n".join(_wrapped(sentence) for sentence in self.findings()),
            "Classes\n" + per_class_text(self.per_class),
            "Confusion matrix (rows: true class, columns: answer)\n" + confusion_text(self.confusion, self.names),
            "Reliability (is the probability of the answer the share of right answers?)\n" + _reliability_text(self),
        ]
        if self.error_sizes:
            parts.append("Size of the errors\n" + _error_size_text(self))
        parts.append("Clean samples (only the most confident answers count)\n" + _coverage_text(self))
        return "\n\n".join(parts)

    def findings(self) -> tuple[str, ...]:
        """What stands out, a sentence each.

        Returns
        -------
        tuple of str
            Sentences for people who don't read tables.
        """
        sentences = [_hardest_class(self), _most_frequent_mix_up(self), _honesty(self), _clean_half(self)]
        sentences.append(_effect_of_errors(self))
        return tuple(sentence for sentence in sentences if sentence)


def evaluate(truth, proba, classes, *, error_size=None) -> Evaluation:
    """Judge the probabilities that a model gives, with the true classes.

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

    Returns
    -------
    Evaluation
        The scores.

    Examples
    --------
    >>> from probforest.evaluation import evaluate
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
        raise ValueError(f"There is nothing to judge: none of the {len(answered)} objects has an answer.")
    confidence, answers = np.minimum(proba.max(axis=1), 1.0), proba.argmax(axis=1)
    right = answers == codes
    confusion = np.bincount(codes * len(classes) + answers, minlength=len(classes) ** 2).reshape(len(classes), -1)
    per_class = _per_class(confusion, [one_line(name) for name in classes])
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
    )


def confidence_interval(successes, trials, level=0.95) -> tuple[float, float]:
    """Wilson's score interval of a share: where the true one lies, given how often something happened.

    Parameters
    ----------
    successes : int
        How often it happened.
    trials : int
        How often it could have.
    level : float, default=0.95
        Confidence that the true share is in the interval.

    Returns
    -------
    low, high : float
        The ends of the interval; 0 and 1 when there were no trials.

    Examples
    --------
    >>> from probforest.evaluation import confidence_interval
    >>> low, high = confidence_interval(9, 10)
    >>> round(low, 3), round(high, 3)
    (0.596, 0.982)
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"successes must be between 0 and trials={trials}; got {successes}.")
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1; got {level}.")
    if trials == 0:
        return 0.0, 1.0
    z = float(ndtri((1 + level) / 2))
    share, shrink = successes / trials, 1 + z**2 / trials
    centre = (share + z**2 / (2 * trials)) / shrink
    half = z * sqrt(share * (1 - share) / trials + z**2 / (4 * trials**2)) / shrink
    # The ends of certain shares are exact, but for rounding.
    return (0.0 if successes == 0 else centre - half), (1.0 if successes == trials else centre + half)


def share_right(n_right, n_objects) -> Accuracy:
    """The accuracy of so many right answers, with its interval.

    Parameters
    ----------
    n_right : int
        Right answers.
    n_objects : int
        All answers.

    Returns
    -------
    Accuracy
        The share; NaN if there are no answers.

    Examples
    --------
    >>> from probforest.evaluation import share_right
    >>> print(share_right(90, 100))
    0.900 (0.826 … 0.945)
    """
    n_right, n_objects = int(n_right), int(n_objects)
    return Accuracy(n_right / n_objects if n_objects else nan, *confidence_interval(n_right, n_objects))


def confusion_text(confusion, classes, most=MOST_CONFUSION_CLASSES) -> str:
    """A confusion matrix as aligned text of at most 100 columns.

    Parameters
    ----------
    confusion : array-like of shape (n_classes, n_classes)
        Objects by true class (row) and answer (column).
    classes : sequence of length n_classes
        Names of the classes. If they are too long for the columns, the classes are numbered.
    most : int, default=12
        The most frequent classes are shown, at most as many as this.

    Returns
    -------
    str
        The lines.

    Examples
    --------
    >>> from probforest.evaluation import confusion_text
    >>> print(confusion_text([[8, 2], [1, 9]], ["galaxy", "star"]))
    true \\ answer  galaxy  star
    galaxy              8     2
    star                1     9
    """
    confusion, names = np.asarray(confusion), [one_line(name) for name in classes]
    shown = _most_frequent(confusion, most)
    rows = [[f"{count:,}" for count in confusion[row, shown]] for row in shown]
    numbered = not _names_fit(rows, [names[i] for i in shown])
    heads = [str(i + 1) if numbered else names[i] for i in shown]
    used = sum(2 + max(map(len, column)) for column in zip(heads, *rows, strict=True))
    room = max(SHORTEST_NAME, min(LONGEST_NAME, TEXT_WIDTH - used))
    labels = [shortened(f"{i + 1} {names[i]}" if numbered else names[i], room) for i in shown]
    corner = shortened("true \\ answer", room)
    text = _aligned([[corner, *heads], *([label, *row] for label, row in zip(labels, rows, strict=True))])
    return text + _note_about_more(len(names) - len(shown))


def per_class_text(per_class: Sequence[ClassScores], most=MOST_CLASS_ROWS) -> str:
    """Precision, recall and F1 of the classes as aligned text.

    Parameters
    ----------
    per_class : sequence of ClassScores
        The scores.
    most : int, default=40
        Show the classes with the most objects, at most as many as this.

    Returns
    -------
    str
        The lines.

    Examples
    --------
    >>> from probforest.evaluation import ClassScores, per_class_text
    >>> print(per_class_text([ClassScores("star", 10, 9, 1.0, 0.9, 0.947)]))
    class  objects  answers  precision  recall     F1
    star        10        9      1.000   0.900  0.947
    """
    counts = np.array([scores.n_objects for scores in per_class])
    shown = [per_class[i] for i in np.sort(np.argsort(-counts, kind="stable")[:most])]
    rows = [["class", "objects", "answers", "precision", "recall", "F1"]]
    for name, n_objects, n_answers, *shares in shown:
        rows.append([shortened(name, LONGEST_NAME), f"{n_objects:,}", f"{n_answers:,}", *map(decimals, shares)])
    return _aligned(rows) + _note_about_more(len(per_class) - len(shown))


def one_line(name: Any) -> str:
    """A class as text of one line, without what could control a terminal."""
    return "".join(letter if letter.isprintable() else "�" for letter in " ".join(str(name).split()))


def shortened(text: str, longest: int) -> str:
    """The text, cut in its middle when it is too long: names often differ at their end."""
    if len(text) <= longest:
        return text
    tail = (longest - 1) // 3
    return text[: longest - 1 - tail] + "…" + text[len(text) - tail :]


def decimals(value: float) -> str:
    """Three decimals, or a dash for NaN."""
    return "–" if isnan(value) else f"{value:.3f}"


def percent(share: float) -> str:
    """A share in whole per cent; 100 % is said of all only, and 0 % of none."""
    whole = 100 * share
    return f"{whole if share in (0, 1) else min(max(whole, 1), 99):.0f} %"


def size_range(bin: ErrorBin) -> str:
    """The range of an error bin in words."""
    if bin.is_unknown:
        return "unknown"
    low, high = f"{bin.low:.3g}", f"{bin.high:.3g}"
    return low if low == high else f"{low} – {high}"


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
    return share_right(np.count_nonzero(right), len(right))


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


# Sentences


def _hardest_class(evaluation: Evaluation) -> str:
    there = [scores for scores in evaluation.per_class if scores.n_objects]
    hardest = min(there, key=lambda scores: scores.recall)
    if hardest.recall == 1:
        return "All objects of every class were found."
    found = round(hardest.recall * hardest.n_objects)
    name = shortened(hardest.name, LONGEST_NAME)
    return f"Hardest class: {name}, of which {found:,} of {hardest.n_objects:,} were found ({percent(hardest.recall)})."


def _most_frequent_mix_up(evaluation: Evaluation) -> str:
    wrong = evaluation.confusion - np.diag(np.diag(evaluation.confusion))
    if not wrong.any():
        return ""
    row, column = np.unravel_index(np.argmax(wrong), wrong.shape)
    true, said = (shortened(evaluation.names[i], LONGEST_NAME) for i in (row, column))
    n_true = evaluation.confusion[row].sum()
    return f"Most frequent mix-up: {wrong[row, column]:,} of {n_true:,} {true} were taken for {said}."


def _honesty(evaluation: Evaluation) -> str:
    expected, accuracy = evaluation.mean_proba, evaluation.accuracy
    if accuracy.low <= expected <= accuracy.high:
        verdict = "honest"
    else:
        verdict = "too sure" if expected > accuracy.value else "too modest"
    numbers = f"Mean probability of the answers {expected:.3f}, accuracy {accuracy.value:.3f}"
    return f"{numbers}: on average, the model is {verdict}."


def _clean_half(evaluation: Evaluation) -> str:
    half = next(point for point in evaluation.coverage if point.share >= 0.5 - 1e-9)
    if half.share == 1:
        return ""
    threshold, accuracy = half.least_proba, half.accuracy.value
    return f"Accuracy of the most confident {percent(half.share)} (probability from {threshold:.3f}): {accuracy:.3f}."


def _effect_of_errors(evaluation: Evaluation) -> str:
    bins = [bin for bin in evaluation.error_sizes if not bin.is_unknown]
    if len(bins) < 2:
        return ""
    small, large = (bin.accuracy.value for bin in (bins[0], bins[-1]))
    return f"Accuracy with the smallest errors: {small:.3f}, with the largest: {large:.3f}."


# Text


def _plain(value: Any) -> Any:
    """Without NumPy's types and NaN, which JSON does not have."""
    if hasattr(value, "_asdict"):
        return {name: _plain(part) for name, part in value._asdict().items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist())
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value if isinstance(value, (bool, int, str)) else str(value)


def _headline_text(evaluation: Evaluation) -> str:
    accuracy, baseline = evaluation.accuracy, evaluation.baseline
    left_out = f"{evaluation.n_left_out:,} more left out, which have no answer" if evaluation.n_left_out else ""
    interval = f"95 % interval {accuracy.low:.3f} … {accuracy.high:.3f}"
    shares = "0 is best; the shares of the classes give"
    lines = [
        ("Objects", f"{evaluation.n_objects:,}", left_out),
        ("Accuracy", f"{accuracy.value:.3f}", f"{interval}; the most frequent class gives {baseline.accuracy:.3f}"),
        ("Balanced accuracy", f"{evaluation.balanced_accuracy:.3f}", "mean over the classes"),
        ("Log loss", f"{evaluation.log_loss:.3f}", f"{shares} {baseline.log_loss:.3f}"),
        ("Brier score", f"{evaluation.brier:.3f}", f"{shares} {baseline.brier:.3f}"),
        ("Calibration error", f"{evaluation.calibration_error:.3f}", "0 is best"),
    ]
    width = max(len(value) for _, value, _ in lines)
    return "\n".join(f"{name:<17}  {value:>{width}}  {note}".rstrip() for name, value, note in lines)


def _reliability_text(evaluation: Evaluation) -> str:
    rows = [["probability", "objects", "mean", "accuracy (95 % interval)"]]
    for low, high, n_objects, mean_proba, accuracy in evaluation.reliability:
        rows.append([f"{low:.1f} – {high:.1f}", f"{n_objects:,}", f"{mean_proba:.3f}", str(accuracy)])
    return _aligned(rows)


def _error_size_text(evaluation: Evaluation) -> str:
    rows = [["error size", "objects", "median", "accuracy (95 % interval)", "expected by the model"]]
    for bin in evaluation.error_sizes:
        median = "–" if bin.is_unknown else f"{bin.median:.3g}"
        rows.append([size_range(bin), f"{bin.n_objects:,}", median, str(bin.accuracy), f"{bin.mean_proba:.3f}"])
    return _aligned(rows)


def _coverage_text(evaluation: Evaluation) -> str:
    rows = [["share", "objects", "probability from", "accuracy (95 % interval)"]]
    for share, n_objects, least_proba, accuracy in evaluation.coverage:
        rows.append([percent(share), f"{n_objects:,}", f"{least_proba:.3f}", str(accuracy)])
    return _aligned(rows)


def _most_frequent(confusion: np.ndarray, most: int) -> np.ndarray:
    """The classes with the most objects, in their order."""
    return np.sort(np.argsort(-confusion.sum(axis=1), kind="stable")[:most])


def _names_fit(rows: list[list[str]], names: list[str]) -> bool:
    """Whether there is room for the names of the classes above the columns and before the rows."""
    columns = zip(names, *rows, strict=True)
    before_rows = min(LONGEST_NAME, max(map(len, names)))
    return before_rows + sum(2 + max(map(len, column)) for column in columns) <= TEXT_WIDTH


def _aligned(rows: list[list[str]]) -> str:
    """Columns beside each other: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join([row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))])
        for row in rows
    )
    return "\n".join(lines)


def _wrapped(sentence: str) -> str:
    return textwrap.fill(sentence, TEXT_WIDTH, initial_indent="  ", subsequent_indent="    ")


def _note_about_more(n_more: int) -> str:
    if n_more == 0:
        return ""
    classes = "1 further class is" if n_more == 1 else f"{n_more} further classes are"
    return f"\n({classes} in the report and in --json)"
