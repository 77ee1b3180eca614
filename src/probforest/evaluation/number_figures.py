"""The figures of predicted numbers and distributions. Needs matplotlib."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..number_metrics import expected_bars
from .drawing import Plot, new_figure, percent_ticks
from .figures import BLUE, GREY, VERMILION, importance_figure
from .number_scores import NumberAnswers, NumberEvaluation, root_mean_square

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_POINTS = 2000  # more are drawn as a map of their density
MOST_BINS = 20  # of a histogram or a running median
LEAST_IN_BIN = 25  # objects


def number_figures(
    answers: NumberAnswers, evaluation: NumberEvaluation, target: str, importances=None, names=None
) -> tuple[Plot, ...]:
    """All figures, in the order in which they should be shown; `importances` (n_features,) with the `names` of the
    features, if they are given."""
    plots = [
        Plot("predicted", "Predicted numbers against the true ones.", predicted_figure(answers, target)),
        Plot("bias", "Errors against the prediction: medians, and where 68 % lie.", bias_figure(answers, target)),
    ]
    if answers.pit is not None:
        plots.append(Plot("pit", "How F(true number) is distributed.", pit_figure(answers.pit)))
        plots.append(Plot("interval_coverage", "What intervals contain.", coverage_figure(answers.pit)))
    if answers.std is not None:
        plots.append(Plot("expected_error", "Errors against what the model expects.", expected_figure(answers)))
    if evaluation.by_error_size:
        plots.append(Plot("number_error_size", "Errors of well and badly measured objects.", size_figure(evaluation)))
    if importances is not None:
        figure = importance_figure(names, importances)
        plots.append(Plot("importance", "The features with the largest gain in the splits of the model.", figure))
    return tuple(plots)


def predicted_figure(answers: NumberAnswers, target: str) -> "Figure":
    """Predicted against true numbers, as points or, if there are many, as a map."""
    low, high = _range_of(np.concatenate([answers.truth, answers.predicted]))
    with new_figure(5.6) as figure:
        axes = figure.add_subplot()
        if len(answers.truth) <= MOST_POINTS:
            axes.plot(answers.truth, answers.predicted, ".", color=BLUE, markersize=3, alpha=0.6)
        else:
            edges = np.linspace(low, high, 101)
            counts, _, _ = np.histogram2d(answers.truth, answers.predicted, (edges, edges))
            drawn = np.ma.masked_equal(counts.T, 0)
            image = axes.pcolormesh(edges, edges, drawn, cmap="Blues", norm=_log_norm(counts), rasterized=True)
            figure.colorbar(image, ax=axes, label="objects", shrink=0.8)
        axes.plot([low, high], [low, high], color=GREY, linestyle="--", linewidth=1)
        axes.set(xlim=(low, high), ylim=(low, high), xlabel=f"true {target}", ylabel=f"predicted {target}")
        axes.set_aspect("equal")
    return figure


def bias_figure(answers: NumberAnswers, target: str) -> "Figure":
    """Median and quantiles of errors in bins of the prediction."""
    groups = _groups_by(answers.predicted)
    place = [float(np.median(answers.predicted[rows])) for rows in groups]
    low, middle, high = np.transpose([np.quantile(answers.errors[rows], [0.16, 0.5, 0.84]) for rows in groups])
    with new_figure(3.6) as figure:
        axes = figure.add_subplot()
        axes.axhline(0, color=GREY, linestyle="--", linewidth=1)
        axes.fill_between(place, low, high, color=BLUE, alpha=0.18, linewidth=0, label="68 % of the errors")
        axes.plot(place, middle, "o-", color=BLUE, label="median error")
        axes.set(xlabel=f"predicted {target}", ylabel="predicted − true")
        axes.legend()
    return figure


def pit_figure(pit: np.ndarray) -> "Figure":
    """A histogram of PITs, with the range that chance explains."""
    n_bins = int(np.clip(len(pit) // LEAST_IN_BIN, 2, MOST_BINS))
    counts, edges = np.histogram(pit, n_bins, (0.0, 1.0))
    low, high = expected_bars(len(pit), n_bins)
    with new_figure(3.6) as figure:
        axes = figure.add_subplot()
        axes.stairs(counts * n_bins / len(pit), edges, fill=True, color=BLUE)
        axes.axhspan(low, high, color=GREY, alpha=0.25, linewidth=0, label="95 % of the bars, if all is right")
        axes.axhline(1, color=GREY, linestyle="--", linewidth=1)
        axes.set(xlim=(0, 1), xlabel="F(true number)", ylabel="density")
        figure.legend(loc="outside upper left")
    return figure


def coverage_figure(pit: np.ndarray) -> "Figure":
    """The share of targets in central intervals of all probabilities."""
    p = np.linspace(0, 1, 101)
    share = np.searchsorted(np.sort(np.abs(2 * pit - 1)), p, side="right") / len(pit)
    error = 1.96 * np.sqrt(p * (1 - p) / len(pit))
    with new_figure(4.6) as figure:
        axes = figure.add_subplot()
        axes.fill_between(p, p - error, p + error, color=GREY, alpha=0.25, linewidth=0, label="95 %, if all is right")
        axes.plot(p, share, color=BLUE, label="this model")
        axes.text(0.03, 0.9, "too wide", color=GREY, transform=axes.transAxes)
        axes.text(0.97, 0.05, "too narrow", color=GREY, ha="right", transform=axes.transAxes)
        axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="probability of the interval", ylabel="share of the targets inside")
        axes.xaxis.set_major_formatter(percent_ticks())
        axes.yaxis.set_major_formatter(percent_ticks())
        axes.legend(loc="upper center")
    return figure


def expected_figure(answers: NumberAnswers) -> "Figure":
    """Root mean square errors in bins of the predicted standard deviation."""
    assert answers.std is not None
    groups = _groups_by(answers.std)
    expected = [root_mean_square(answers.std[rows]) for rows in groups]
    found = [root_mean_square(answers.errors[rows]) for rows in groups]
    top = 1.05 * max(*expected, *found, np.finfo(float).tiny)
    with new_figure(4.6) as figure:
        axes = figure.add_subplot()
        axes.plot([0, top], [0, top], color=GREY, linestyle="--", linewidth=1, label="as expected")
        axes.plot(expected, found, "o-", color=BLUE, label="this model")
        axes.set(xlim=(0, top), ylim=(0, top), xlabel="predicted standard deviation", ylabel="root mean square error")
        axes.legend(loc="upper left")
    return figure


def size_figure(evaluation: NumberEvaluation) -> "Figure":
    """Errors against the size of the errors of features."""
    groups = evaluation.by_error_size or []
    places = np.arange(len(groups))
    with new_figure(3.6) as figure:
        axes = figure.add_subplot()
        if all("expected_rmse" in group for group in groups):
            expected = [group["expected_rmse"] for group in groups]
            axes.plot(places, expected, "D", color=VERMILION, fillstyle="none", label="expected by the model")
        axes.plot(places, [group["rmse"] for group in groups], "o", color=BLUE, label="root mean square error")
        labels = [f"{group['size']:.2g}\nn = {group['n_objects']:,}" for group in groups]
        axes.set_xticks(places, labels, fontsize=8)
        axes.set(xlim=(-0.5, len(groups) - 0.5), xlabel="size of the errors (1: median of the training set)")
        axes.set_ylim(bottom=0)
        axes.grid(visible=False, axis="x")
        figure.legend(loc="outside upper left", ncols=2)
    return figure


def _range_of(numbers: np.ndarray) -> tuple[float, float]:
    low, high = np.quantile(numbers, [0.001, 0.999])
    margin = 0.05 * (high - low) if high > low else max(abs(low), 1.0) * 0.05
    return float(low - margin), float(high + margin)


def _groups_by(numbers: np.ndarray) -> list[np.ndarray]:
    """Rows of objects with about the same number, increasing, as many in each group."""
    n_groups = int(np.clip(len(numbers) // LEAST_IN_BIN, 1, MOST_BINS))
    return np.array_split(np.argsort(numbers, kind="stable"), n_groups)


def _log_norm(counts: np.ndarray) -> Any:
    from matplotlib.colors import LogNorm

    return LogNorm(vmin=1, vmax=max(float(counts.max()), 2.0))
