"""The tables of an Evaluation as rows of text, for a terminal and for a web page alike."""

from math import isnan
from typing import NamedTuple

from ..support.wording import shortened
from .scores import ClassScores, ErrorBin, Evaluation

ACCURACY = "accuracy (95 % interval)"


class Table(NamedTuple):
    """Text in rows and columns; the first column names the rows."""

    heads: list[str]
    rows: list[list[str]]


class Headline(NamedTuple):
    """One of the main scores, and what to compare it with."""

    name: str
    value: str
    note: str


def headlines(evaluation: Evaluation, out_of_bag: tuple[float, float] | None = None) -> list[Headline]:
    """The main scores; beside accuracy and log loss, both of the `out_of_bag` answers of the training."""
    accuracy, baseline = evaluation.accuracy, evaluation.baseline
    beside = ["", ""] if out_of_bag is None else [f"; out of bag {score:.3f}" for score in out_of_bag]
    shares = "0 is best; the shares of the classes alone give"
    return [
        Headline(
            "Accuracy",
            f"{accuracy.value:.3f}",
            f"95 % interval {accuracy.low:.3f} … {accuracy.high:.3f}{beside[0]}",
        ),
        Headline("Most frequent class", f"{baseline.accuracy:.3f}", "accuracy if it were the answer for every object"),
        Headline(
            "Balanced accuracy",
            f"{evaluation.balanced_accuracy:.3f}",
            "mean recall: rare classes count as much as frequent ones",
        ),
        Headline("Log loss", f"{evaluation.log_loss:.3f}", f"{shares} {baseline.log_loss:.3f}{beside[1]}"),
        Headline("Brier score", f"{evaluation.brier:.3f}", f"{shares} {baseline.brier:.3f}"),
        Headline(
            "Calibration error",
            f"{evaluation.calibration_error:.3f}",
            "0 is best; mean difference between probability and accuracy",
        ),
    ]


def per_class_table(per_class: tuple[ClassScores, ...] | list[ClassScores], longest_name: int) -> Table:
    """Precision, recall and F1 of every class."""
    rows = [
        [shortened(name, longest_name), f"{n_objects:,}", f"{n_answers:,}", *map(decimals, shares)]
        for name, n_objects, n_answers, *shares in per_class
    ]
    return Table(["class", "objects", "answers", "precision", "recall", "F1"], rows)


def reliability_table(evaluation: Evaluation) -> Table:
    """Accuracy against the probability of the answer."""
    rows = [
        [f"{low:.1f} – {high:.1f}", f"{n_objects:,}", f"{mean_proba:.3f}", str(accuracy)]
        for low, high, n_objects, mean_proba, accuracy in evaluation.reliability
    ]
    return Table(["probability", "objects", "mean probability", ACCURACY], rows)


def ranking_table(evaluation: Evaluation, longest_name: int) -> Table:
    """How well the probabilities of every class rank objects."""
    rows = [
        [
            shortened(curve.name, longest_name),
            *map(decimals, (curve.roc_auc, curve.average_precision, curve.share)),
        ]
        for curve in evaluation.curves
    ]
    return Table(["class", "area under ROC", "average precision", "share of the objects"], rows)


def error_size_table(evaluation: Evaluation) -> Table:
    """Accuracy against the size of the measurement errors."""
    rows = [
        [size_range(bin), f"{bin.n_objects:,}", _median(bin), str(bin.accuracy), f"{bin.mean_proba:.3f}"]
        for bin in evaluation.error_sizes
    ]
    return Table(["size of the errors", "objects", "median size", ACCURACY, "expected by the model"], rows)


def coverage_table(evaluation: Evaluation) -> Table:
    """Accuracy of the most confident answers."""
    rows = [
        [percent(share), f"{n_objects:,}", f"{least_proba:.3f}", str(accuracy)]
        for share, n_objects, least_proba, accuracy in evaluation.coverage
    ]
    return Table(["share kept", "objects", "probability from", ACCURACY], rows)


def decimals(value: float) -> str:
    """Three decimals, or a dash for NaN."""
    return "–" if isnan(value) else f"{value:.3f}"


def percent(share: float) -> str:
    """A share in whole per cent; only exact shares are shown as 0 % and 100 %.

    >>> percent(0.999), percent(1)
    ('99 %', '100 %')
    """
    whole = 100 * share
    return f"{whole if share in (0, 1) else min(max(whole, 1), 99):.0f} %"


def plain_number(number: float) -> str:
    """Two significant digits, without an exponent unless the number is extreme.

    >>> plain_number(0.4523), plain_number(12345.6), plain_number(0), plain_number(3.2e-9)
    ('0.45', '12,000', '0', '3.2e-09')
    """
    if number != 0 and not 1e-4 <= abs(number) < 1e9:
        return f"{number:.2g}"
    rounded = float(f"{number:.2g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 10 else f"{rounded:.6g}"


def size_range(bin: ErrorBin) -> str:
    """The range of an error bin."""
    if bin.is_unknown:
        return "unknown"
    low, high = plain_number(bin.low), plain_number(bin.high)
    return low if low == high else f"{low} – {high}"


def _median(bin: ErrorBin) -> str:
    return "–" if bin.is_unknown else plain_number(bin.median)
