"""The figures of an Evaluation, and of feature importances. Needs matplotlib."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..support.wording import one_line, shortened
from .accuracy import share_right
from .curves import ClassCurve
from .drawing import WIDE, WIDTH, Plot, count_ticks, new_figure, percent_ticks
from .findings import ErrorCosts
from .scores import Evaluation
from .tables import percent, size_range

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which colour-blind readers can tell apart.
BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "#6B6B6B"
COLOURS = (BLUE, VERMILION, "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
LINES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)))
MOST_NUMBERED_CLASSES = 12  # cells of more classes have no room for their counts
MOST_IN_NARROW_FIGURES = 6  # classes
LONGEST_NAME = 22
LONGEST_NAME_OF_MANY = 18  # along two sides of a matrix
LONGEST_FEATURE = 28
ALMOST_ALL = 0.98  # recall
MOST_TICKS = 5  # of numbers with several digits, side by side
SHARE_TICKS = (0, 0.05, 0.2, 0.5, 1)


def figures_of(evaluation: Evaluation, importances=None, names=None, error_costs=None) -> tuple[Plot, ...]:
    """All figures of an evaluation, in the order in which they should be shown.

    `importances` (n_features,) are drawn if they are given, with the `names` of the features; and `error_costs`, which
    are ErrorCosts.

    >>> from probforest.evaluation.scores import evaluate
    >>> evaluation = evaluate([0, 1, 1], [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]], [0, 1])
    >>> [plot.name for plot in figures_of(evaluation, importances=[0.7, 0.3])]
    ['confusion', 'per_class', 'roc', 'precision_recall', 'reliability', 'coverage', 'importance']
    """
    names_of_drawn = [name for name in _FIGURES if name != "error_size" or evaluation.error_sizes]
    plots = [Plot(name, _FIGURES[name].caption, _FIGURES[name].draw(evaluation)) for name in names_of_drawn]
    if error_costs is not None:
        plots.append(Plot("error_cost", _caption_of_costs(error_costs), _error_cost_figure(error_costs)))
    if importances is not None:
        names = [f"feature {i}" for i in range(len(importances))] if names is None else names
        plots.append(
            Plot(
                "importance",
                "The features with the largest gain in the splits of the model.",
                importance_figure(names, importances),
            )
        )
    return tuple(plots)


def confusion_figure(evaluation: Evaluation) -> "Figure":
    """The confusion matrix; colour is the share of the row, so that rare classes are seen as well."""
    n_classes = len(evaluation.classes)
    with new_figure(_height_of_confusion(n_classes), _width_for(n_classes)) as figure:
        axes = figure.add_subplot()
        shares = _share_of_row(evaluation.confusion)
        # Cells without objects are not drawn: 50 classes have 2,500 cells, and most are empty.
        drawn = np.ma.masked_equal(shares, 0)
        image = axes.pcolormesh(drawn, cmap="Blues", norm=_norm_of_shares(), edgecolors="face", linewidth=0.1)
        if n_classes <= MOST_NUMBERED_CLASSES:
            _write_counts(axes, evaluation.confusion, shares)
        _name_cells(axes, evaluation.names)
        bar = figure.colorbar(
            image,
            ax=axes,
            location="top",
            shrink=0.9,
            aspect=40,
            pad=0.02,
            ticks=SHARE_TICKS,
            format=percent_ticks(),
        )
        bar.set_label("share of the true class")
        bar.outline.set_visible(False)
    return figure


def per_class_figure(evaluation: Evaluation) -> "Figure":
    """Precision and recall of every class, a row each."""
    n_classes = len(evaluation.classes)
    height = 1.3 + max(0.6, _row_height(n_classes, 0.35) * n_classes)
    with new_figure(height) as figure:
        axes = figure.add_subplot()
        n_right = np.diag(evaluation.confusion)
        recall = n_right, evaluation.confusion.sum(axis=1)
        precision = n_right, evaluation.confusion.sum(axis=0)
        rows = np.arange(n_classes)
        _plot_shares(axes, rows - 0.14, *recall, colour=BLUE, marker="o", label="recall: true objects that were found")
        _plot_shares(axes, rows + 0.14, *precision, VERMILION, "s", "precision: answers that are right")
        axes.set_yticks(rows, _short_names(evaluation.names, LONGEST_NAME), fontsize=_font_size(n_classes))
        axes.set_ylim(n_classes - 0.4, -0.6)
        axes.set_xlim(_floor(evaluation) - 0.02, 1.02)
        axes.xaxis.set_major_formatter(percent_ticks())
        figure.legend(loc="outside upper left")
    return figure


def _floor(evaluation: Evaluation) -> float:
    """Where an axis of precision and recall begins: the room below all intervals is not needed."""
    confusion = evaluation.confusion
    n_right = np.tile(np.diag(confusion), 2).tolist()
    pairs = zip(n_right, np.concatenate([confusion.sum(axis=1), confusion.sum(axis=0)]).tolist(), strict=True)
    lowest = min(share_right(hits, trials).low for hits, trials in pairs if trials)
    return float(np.floor(10 * lowest) / 10)


def reliability_figure(evaluation: Evaluation) -> "Figure":
    """The reliability curve of the most probable class; below, how many objects each point stands for."""
    bins = evaluation.reliability
    with new_figure(4.6) as figure:
        axes, below = figure.subplots(2, 1, sharex=True, height_ratios=(3.5, 1))
        axes.plot([0, 1], [0, 1], color=GREY, linestyle="--", linewidth=1, label="perfect")
        _plot_accuracies(axes, [bin.mean_proba for bin in bins], [bin.accuracy for bin in bins], label="this model")
        axes.text(0.03, 0.97, "too modest", color=GREY, va="top", transform=axes.transAxes)
        axes.text(0.97, 0.03, "too sure", color=GREY, ha="right", transform=axes.transAxes)
        lowest = min(bins[0].low, *(np.floor(10 * bin.accuracy.low) / 10 for bin in bins))
        axes.set(xlim=(bins[0].low - 0.01, 1.01), ylim=(lowest - 0.01, 1.01), ylabel="share of right answers")
        figure.legend(loc="outside upper left", ncols=2)
        counts = [bin.n_objects for bin in bins]
        below.bar([bin.low for bin in bins], counts, width=0.1, align="edge", color=BLUE, edgecolor="white")
        below.set(xlabel="probability of the answer", ylabel="objects")
        axes.yaxis.set_major_formatter(percent_ticks())
        below.xaxis.set_major_formatter(percent_ticks())
        below.yaxis.set_major_formatter(count_ticks())
    return figure


def error_size_figure(evaluation: Evaluation) -> "Figure":
    """Accuracy against the size of the errors, beside the accuracy that the model expects."""
    bins = evaluation.error_sizes
    if not bins:
        raise ValueError("There are no sizes of errors to draw: evaluate was called without error_size.")
    places = np.arange(len(bins))
    with new_figure(3.6) as figure:
        axes = figure.add_subplot()
        expected = [bin.mean_proba for bin in bins]
        axes.plot(places, expected, "D", color=VERMILION, fillstyle="none", label="expected by the model")
        _plot_accuracies(axes, places, [bin.accuracy for bin in bins], label="share of right answers", linestyle="none")
        labels = [size_range(bin).replace(" – ", " –\n") for bin in bins]
        axes.set_xticks(places, labels, fontsize=8.5)
        axes.set(xlim=(-0.5, len(bins) - 0.5), xlabel="size of the errors", ylabel="accuracy")
        axes.grid(visible=False, axis="x")
        axes.yaxis.set_major_formatter(percent_ticks())
        figure.legend(loc="outside upper left")
    return figure


def roc_figure(evaluation: Evaluation) -> "Figure":
    """True positive rate against false positive rate of the largest classes."""
    with new_figure(4.4) as figure:
        axes = figure.add_subplot()
        axes.plot([0, 1], [0, 1], color=GREY, linestyle="--", linewidth=1)
        _plot_curves(axes, evaluation, lambda curve: (curve.roc, curve.roc_auc))
        axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
        axes.set(xlabel="share of all others that are taken for it", ylabel="share of the class that is found")
        _percent_axes(axes)
        axes.legend(loc="lower right", title="area under the curve")
    return figure


def precision_recall_figure(evaluation: Evaluation) -> "Figure":
    """Precision against recall of the largest classes."""
    with new_figure(4.0) as figure:
        axes = figure.add_subplot()
        drawn = _plot_curves(axes, evaluation, lambda curve: (curve.precision_recall, curve.average_precision))
        axes.set(xlim=(-0.01, 1.01), ylim=(_lowest_precision(drawn) - 0.01, 1.01))
        axes.set(xlabel="recall: share of the class that is found", ylabel="precision: share that is right")
        _percent_axes(axes)
        axes.legend(loc="lower left", title="average precision")
    return figure


def _lowest_precision(curves: Sequence[ClassCurve]) -> float:
    """Where an axis of precision begins. The last drop, where the last objects of a class are found, may end below."""
    points = np.concatenate([curve.precision_recall for curve in curves] or [np.ones((1, 2))])
    lowest = points[points[:, 0] <= ALMOST_ALL, 1].min(initial=1.0)
    return float(min(np.floor(10 * lowest) / 10, 0.9))


def _plot_curves(axes: Any, evaluation: Evaluation, part: Callable[[ClassCurve], tuple[np.ndarray, float]]) -> list:
    """Draw a curve of each of the largest classes; returns those that are drawn."""
    with_points = [curve for curve in evaluation.curves if len(curve.roc)]
    drawn = sorted(with_points, key=lambda curve: -curve.share)[: len(COLOURS)]
    for curve, colour, line in zip(drawn, COLOURS, LINES, strict=False):
        points, score = part(curve)
        label = f"{shortened(curve.name, LONGEST_NAME_OF_MANY)} {score:.3f}"
        axes.plot(*points.T, color=colour, linestyle=line, label=label)
    if len(drawn) < len(evaluation.curves):
        axes.plot([], [], " ", label=f"({len(evaluation.curves) - len(drawn)} more are in the table)")
    return drawn


def _percent_axes(axes: Any) -> None:
    axes.xaxis.set_major_formatter(percent_ticks())
    axes.yaxis.set_major_formatter(percent_ticks())


def coverage_figure(evaluation: Evaluation) -> "Figure":
    """Accuracy against the share of objects that are answered, the most confident first."""
    points = evaluation.coverage
    share, accuracies = [point.share for point in points], [point.accuracy for point in points]
    with new_figure(3.6) as figure:
        axes = figure.add_subplot()
        low, high = [accuracy.low for accuracy in accuracies], [accuracy.high for accuracy in accuracies]
        axes.fill_between(share, low, high, color=BLUE, alpha=0.18, linewidth=0)
        axes.plot(share, [accuracy.value for accuracy in accuracies], "o-", color=BLUE)
        axes.set(xlim=(0, 1.02), xlabel="share of the objects, the most confident first", ylabel="accuracy")
        axes.xaxis.set_major_formatter(percent_ticks())
        axes.yaxis.set_major_formatter(percent_ticks())
    return figure


def importance_figure(names, importances, most=20, *, errors=None, quantity="importance") -> "Figure":
    """The `most` important features, the first on top, with standard `errors` if there are any.

    >>> figure = importance_figure(["u", "g", "r"], [0.2, 0.5, 0.3], most=2)
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['g', 'r']
    """
    importances = np.asarray(importances, dtype=np.float64)
    if importances.shape != (len(names),):
        raise ValueError(f"There are {len(names)} names of features, but importances has shape {importances.shape}.")
    first = np.argsort(-importances, kind="stable")[:most]
    with new_figure(0.9 + 0.24 * len(first)) as figure:
        axes = figure.add_subplot()
        scatter = None if errors is None else np.asarray(errors)[first]
        axes.barh(np.arange(len(first)), importances[first], xerr=scatter, color=BLUE, ecolor=GREY, height=0.7)
        axes.set_yticks(np.arange(len(first)), _short_names([names[i] for i in first], LONGEST_FEATURE))
        axes.set_ylim(len(first) - 0.4, -0.6)
        axes.grid(visible=False, axis="y")
        axes.locator_params(axis="x", nbins=MOST_TICKS)
        axes.set_xlabel(quantity + _about_the_rest(importances, first))
    return figure


def _caption_of_costs(costs: ErrorCosts) -> str:
    objects = f"{costs.n_objects:,} of the objects"
    return f"How much higher the accuracy is expected to be without the errors of one feature, from {objects}."


def _error_cost_figure(costs: ErrorCosts) -> "Figure":
    quantity = "expected gain of accuracy"
    return importance_figure(costs.names, costs.gains, errors=costs.errors, quantity=quantity)


class _Recipe(NamedTuple):
    caption: str
    draw: Callable[[Evaluation], Any]


_FIGURES = {
    "confusion": _Recipe("How often each true class (row) got each answer (column).", confusion_figure),
    "per_class": _Recipe("Precision and recall of every class, with 95 % intervals.", per_class_figure),
    "roc": _Recipe("ROC: how much of a class is found, and how many others come with it.", roc_figure),
    "precision_recall": _Recipe("Precision against recall of every class.", precision_recall_figure),
    "reliability": _Recipe(
        "Share of right answers against the probability of the answer, with 95 % intervals.", reliability_figure
    ),
    "error_size": _Recipe(
        "Accuracy of objects with small and with large errors, with 95 % intervals.", error_size_figure
    ),
    "coverage": _Recipe("Accuracy when only the most confident answers count, with 95 % intervals.", coverage_figure),
}


def _norm_of_shares() -> Any:
    """Colours by the square root of a share, so that mix-ups of a few per cent stand out."""
    from matplotlib.colors import PowerNorm

    return PowerNorm(0.5, vmin=0, vmax=1)


def _short_names(names: Sequence[Any], longest: int) -> list[str]:
    return [shortened(one_line(name), longest) for name in names]


def _font_size(n_classes: int) -> float:
    """Letters as high as the rows of a confusion matrix, which is always as wide as the page."""
    return float(np.clip(9 - (n_classes - MOST_NUMBERED_CLASSES) * 0.12, 5.5, 9))


def _row_height(n_classes: int, widest: float) -> float:
    """Inches for a row of letters."""
    return max(0.13, min(widest, 0.0167 * _font_size(n_classes))) if n_classes > MOST_NUMBERED_CLASSES else widest


def _width_for(n_classes: int) -> float:
    return WIDTH if n_classes <= MOST_IN_NARROW_FIGURES else WIDE


def _height_of_confusion(n_classes: int) -> float:
    rows = n_classes * _row_height(n_classes, 0.34)
    return 1.9 + max(1.0, rows)


def _share_of_row(confusion: np.ndarray) -> np.ndarray:
    return confusion / np.maximum(confusion.sum(axis=1, keepdims=True), 1)


def _write_counts(axes: Any, confusion: np.ndarray, shares: np.ndarray) -> None:
    size = 9 if len(confusion) <= 6 else 7
    for (row, column), count in np.ndenumerate(confusion):
        colour = "white" if shares[row, column] > 0.35 else "#B0B0B0" if count == 0 else "black"
        axes.text(column + 0.5, row + 0.5, f"{count:,}", ha="center", va="center", color=colour, fontsize=size)


def _name_cells(axes: Any, names: Sequence[str]) -> None:
    """Names at the sides of the matrix; the first class is on top."""
    short = _short_names(names, LONGEST_NAME if len(names) <= MOST_NUMBERED_CLASSES else LONGEST_NAME_OF_MANY)
    middle, size = np.arange(len(names)) + 0.5, _font_size(len(names))
    upright = max(map(len, short)) * len(names) > 32
    axes.set_yticks(middle, short, fontsize=size)
    axes.set_xticks(middle, short, fontsize=size, rotation=90 if upright else 0)
    axes.set_ylim(len(names), 0)
    axes.set(xlabel="answer", ylabel="true class")
    axes.grid(visible=False)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    if len(names) > MOST_NUMBERED_CLASSES:
        _thin_lines(axes, len(names))


def _thin_lines(axes: Any, n_classes: int) -> None:
    """A line at every fifth class leads the eye to the names."""
    for place in range(0, n_classes + 1, 5):
        axes.axhline(place, color="#D8D8D8", linewidth=0.5)
        axes.axvline(place, color="#D8D8D8", linewidth=0.5)


def _plot_shares(axes: Any, rows: Any, n_hits: Any, n_all: Any, colour: str, marker: str, label: str) -> None:
    """Shares with intervals, a row each; empty rows are left out."""
    there = n_all > 0
    shares = [share_right(int(hits), int(trials)) for hits, trials in zip(n_hits[there], n_all[there], strict=True)]
    value, low, high = np.reshape(shares, (-1, 3)).T
    axes.hlines(rows[there], low, high, color=colour, linewidth=1, alpha=0.6)
    axes.plot(value, rows[there], marker, color=colour, markersize=5 if len(rows) <= 20 else 3.5, label=label)


def _plot_accuracies(axes: Any, x: Any, accuracies: Any, label: str, linestyle: str = "-") -> None:
    """Points with intervals."""
    value, low, high = np.transpose(accuracies)
    axes.vlines(x, low, high, color=BLUE, linewidth=1)
    axes.plot(x, value, "o", color=BLUE, linestyle=linestyle, label=label)


def _about_the_rest(importances: np.ndarray, first: np.ndarray) -> str:
    """What the features that are not drawn add up to."""
    n_others, total = len(importances) - len(first), importances.sum()
    if n_others == 0:
        return ""
    if (importances < 0).any() or total <= 0:  # permutation importances don't add up
        return f" (not shown: {n_others:,} of {len(importances):,} features)"
    share = percent(1 - importances[first].sum() / total)
    return f" (not shown: {n_others:,} of {len(importances):,} features, with {share} of the sum)"
