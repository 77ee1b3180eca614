"""The figures of an Evaluation, and of feature importances, for readers of all eyes. Needs matplotlib.

Figures are made without pyplot and in a style of their own: nothing of the user's matplotlib changes, and nothing of it
changes them.
"""

import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .scores import Evaluation, confidence_interval, one_line, percent, shortened, size_range

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 6.0  # inches; all figures are 600 pixels wide at 100 dots per inch
DOTS_PER_INCH = 200
# Okabe and Ito's colours, which colour-blind readers can tell apart.
BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "#6B6B6B"
MOST_NUMBERED_CLASSES = 12  # cells of more classes have no room for their counts
LONGEST_NAME = 26
LONGEST_NAME_OF_MANY = 18  # along two sides of a matrix
LONGEST_FEATURE = 34
SHARE_TICKS = (0, 0.05, 0.2, 0.5, 1)
STYLE = {
    "font.size": 9,
    "font.family": "sans-serif",
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.7,
    "lines.linewidth": 1.5,
    "lines.markersize": 5,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.w_pad": 0.08,
    "figure.constrained_layout.h_pad": 0.06,
    "text.parse_math": False,  # a class may have a $ in its name
    "svg.fonttype": "path",  # looks the same wherever it is opened
    "svg.hashsalt": "probforest",  # the same figure is the same file
}


class Plot(NamedTuple):
    """A figure, a name for its file and a sentence that says what it shows."""

    name: str
    caption: str
    figure: "Figure"


def figures_of(evaluation: Evaluation, importances=None, names=None) -> tuple[Plot, ...]:
    """All figures that can be drawn of an evaluation, in the order in which they should be shown.

    Parameters
    ----------
    evaluation : Evaluation
        What is to be drawn.
    importances : array-like of shape (n_features,), default=None
        The importance of every feature, such as `feature_importances_` of a forest. None: not drawn.
    names : sequence of str, default=None
        Names of the features; None numbers them.

    Returns
    -------
    tuple of Plot
        The figures, with names and captions.

    Examples
    --------
    >>> from probforest.evaluation import evaluate
    >>> from probforest.plotting import figures_of
    >>> evaluation = evaluate([0, 1, 1], [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]], [0, 1])
    >>> [plot.name for plot in figures_of(evaluation, importances=[0.7, 0.3])]
    ['confusion', 'per_class', 'reliability', 'coverage', 'importance']
    """
    plots = [
        Plot(
            "confusion", "How often each true class (row) was given each answer (column).", confusion_figure(evaluation)
        ),
        Plot("per_class", "Precision and recall of every class, with 95 % intervals.", per_class_figure(evaluation)),
        Plot(
            "reliability",
            "Share of right answers against the probability that the model gave them, with 95 % intervals.",
            reliability_figure(evaluation),
        ),
    ]
    if evaluation.error_sizes:
        caption = "Accuracy of objects with small and with large errors, with 95 % intervals."
        plots.append(Plot("error_size", caption, error_size_figure(evaluation)))
    caption = "Accuracy when only the most confident answers count, with 95 % intervals."
    plots.append(Plot("coverage", caption, coverage_figure(evaluation)))
    if importances is not None:
        names = [f"feature {i}" for i in range(len(importances))] if names is None else names
        caption = "The features that the model's splits gain most from."
        plots.append(Plot("importance", caption, importance_figure(names, importances)))
    return tuple(plots)


def confusion_figure(evaluation: Evaluation) -> "Figure":
    """The confusion matrix; colour is the share of the row, so that rare classes are seen as well.

    Parameters
    ----------
    evaluation : Evaluation
        What is to be drawn.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; with counts in the cells of up to twelve classes.
    """
    n_classes = len(evaluation.classes)
    with _new_figure(_height_of_confusion(n_classes)) as figure:
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
            aspect=45,
            pad=0.02,
            ticks=SHARE_TICKS,
            format=_percent_formatter(),
        )
        bar.set_label("share of the true class")
        bar.outline.set_visible(False)
    return figure


def per_class_figure(evaluation: Evaluation) -> "Figure":
    """Precision and recall of every class, a row each.

    Parameters
    ----------
    evaluation : Evaluation
        What is to be drawn.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.
    """
    n_classes = len(evaluation.classes)
    with _new_figure(1.1 + max(0.6, _row_height(n_classes, 0.35) * n_classes)) as figure:
        axes = figure.add_subplot()
        n_right = np.diag(evaluation.confusion)
        recall = n_right, evaluation.confusion.sum(axis=1)
        precision = n_right, evaluation.confusion.sum(axis=0)
        rows = np.arange(n_classes)
        _plot_shares(axes, rows - 0.14, *recall, colour=BLUE, marker="o", label="recall: true objects that were found")
        _plot_shares(axes, rows + 0.14, *precision, VERMILION, "s", "precision: answers that are right")
        axes.set_yticks(rows, _short_names(evaluation.names, LONGEST_NAME), fontsize=_font_size(n_classes))
        axes.set_ylim(n_classes - 0.4, -0.6)
        axes.set_xlim(-0.02, 1.02)
        axes.xaxis.set_major_formatter(_percent_formatter())
        figure.legend(loc="outside upper left", ncols=2)
    return figure


def reliability_figure(evaluation: Evaluation) -> "Figure":
    """The reliability curve of the most probable class; below, how many objects each point stands for.

    Parameters
    ----------
    evaluation : Evaluation
        What is to be drawn.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.
    """
    bins = evaluation.reliability
    with _new_figure(5.6) as figure:
        axes, below = figure.subplots(2, 1, sharex=True, height_ratios=(3.5, 1))
        axes.plot([0, 1], [0, 1], color=GREY, linestyle="--", linewidth=1, label="perfect")
        _plot_accuracies(axes, [bin.mean_proba for bin in bins], [bin.accuracy for bin in bins], label="this model")
        axes.text(0.03, 0.97, "too modest", color=GREY, va="top", transform=axes.transAxes)
        axes.text(0.97, 0.03, "too sure", color=GREY, ha="right", transform=axes.transAxes)
        axes.set(xlim=(0, 1.01), ylim=(0, 1.01), ylabel="share of right answers")
        axes.legend(loc="upper center")
        counts = [bin.n_objects for bin in bins]
        below.bar([bin.low for bin in bins], counts, width=0.1, align="edge", color=BLUE, edgecolor="white")
        below.set(xlabel="probability of the answer", ylabel="objects")
        axes.yaxis.set_major_formatter(_percent_formatter())
        below.xaxis.set_major_formatter(_percent_formatter())
        below.yaxis.set_major_formatter(_count_formatter())
    return figure


def error_size_figure(evaluation: Evaluation) -> "Figure":
    """Accuracy against the size of the errors, beside the accuracy that the model expects.

    Parameters
    ----------
    evaluation : Evaluation
        What is to be drawn, made with `error_size`.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.
    """
    bins = evaluation.error_sizes
    if not bins:
        raise ValueError("There are no sizes of errors to draw: evaluate was called without error_size.")
    places = np.arange(len(bins))
    with _new_figure(3.6) as figure:
        axes = figure.add_subplot()
        expected = [bin.mean_proba for bin in bins]
        axes.plot(places, expected, "D", color=VERMILION, fillstyle="none", label="expected by the model")
        _plot_accuracies(axes, places, [bin.accuracy for bin in bins], label="share of right answers", linestyle="none")
        labels = [f"{size_range(bin)}\nn = {bin.n_objects:,}".replace(" – ", " –\n") for bin in bins]
        axes.set_xticks(places, labels, fontsize=8)
        axes.set(xlim=(-0.5, len(bins) - 0.5), xlabel="size of the errors", ylabel="accuracy")
        axes.grid(visible=False, axis="x")
        axes.yaxis.set_major_formatter(_percent_formatter())
        figure.legend(loc="outside upper left", ncols=2)
    return figure


def coverage_figure(evaluation: Evaluation) -> "Figure":
    """Accuracy against the share of objects that are answered, the most confident first.

    Parameters
    ----------
    evaluation : Evaluation
        What is to be drawn.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.
    """
    points = evaluation.coverage
    share, accuracies = [point.share for point in points], [point.accuracy for point in points]
    with _new_figure(3.6) as figure:
        axes = figure.add_subplot()
        low, high = [accuracy.low for accuracy in accuracies], [accuracy.high for accuracy in accuracies]
        axes.fill_between(share, low, high, color=BLUE, alpha=0.18, linewidth=0)
        axes.plot(share, [accuracy.value for accuracy in accuracies], "o-", color=BLUE)
        axes.set(xlim=(0, 1.02), xlabel="share of the objects, the most confident first", ylabel="accuracy")
        axes.xaxis.set_major_formatter(_percent_formatter())
        axes.yaxis.set_major_formatter(_percent_formatter())
    return figure


def importance_figure(names, importances, most=20) -> "Figure":
    """The most important features, the first on top.

    Parameters
    ----------
    names : sequence of str
        Names of the features.
    importances : array-like of shape (n_features,)
        Importance of each.
    most : int, default=20
        How many features are drawn.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Examples
    --------
    >>> from probforest.plotting import importance_figure
    >>> figure = importance_figure(["u", "g", "r"], [0.2, 0.5, 0.3], most=2)
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['g', 'r']
    """
    importances = np.asarray(importances, dtype=np.float64)
    if importances.shape != (len(names),):
        raise ValueError(f"There are {len(names)} names of features, but importances has shape {importances.shape}.")
    first = np.argsort(-importances, kind="stable")[:most]
    with _new_figure(0.9 + 0.24 * len(first)) as figure:
        axes = figure.add_subplot()
        axes.barh(np.arange(len(first)), importances[first], color=BLUE, height=0.7)
        axes.set_yticks(np.arange(len(first)), _short_names([names[i] for i in first], LONGEST_FEATURE))
        axes.set_ylim(len(first) - 0.4, -0.6)
        axes.grid(visible=False, axis="y")
        axes.set_xlabel("importance" + _about_the_rest(importances, first))
    return figure


def write_figures(plots: Sequence[Plot], folder) -> list[Path]:
    """Write every figure as PNG and as SVG.

    Parameters
    ----------
    plots : sequence of Plot
        The figures; their names become the names of the files.
    folder : str or Path
        Where to; made if it is not there.

    Returns
    -------
    list of Path
        The files.

    Examples
    --------
    >>> import tempfile
    >>> from probforest.plotting import Plot, importance_figure, write_figures
    >>> plot = Plot("importance", "Importances.", importance_figure(["u", "g"], [0.4, 0.6]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write_figures([plot], folder)]
    ['importance.png', 'importance.svg']
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for plot in plots:
        png, svg = folder / f"{plot.name}.png", folder / f"{plot.name}.svg"
        with drawing():
            plot.figure.savefig(png, dpi=DOTS_PER_INCH)
        svg.write_text(as_svg(plot.figure), encoding="utf-8")
        paths += [png, svg]
    return paths


def as_svg(figure: "Figure") -> str:
    """A figure as the text of an SVG file, always the same for the same figure.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure.

    Returns
    -------
    str
        The SVG.
    """
    file = io.StringIO()
    with drawing():
        figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


@contextmanager
def drawing() -> Iterator[None]:
    """Our style, whatever the user's is, while something is drawn or written."""
    try:
        from matplotlib import style
    except ImportError as problem:
        raise ImportError("Figures need matplotlib: pip install probforest[plots]") from problem
    with style.context(["default", STYLE]), warnings.catch_warnings():
        # Names may have letters that matplotlib's font lacks; boxes in a figure are no reason to stop.
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        yield


@contextmanager
def _new_figure(height: float) -> Iterator["Figure"]:
    """A figure to be drawn in; afterwards its layout is fixed, or each file written of it would change the next."""
    with drawing():
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure(figsize=(WIDTH, height))
        FigureCanvasAgg(figure)
        yield figure
        figure.draw_without_rendering()
        figure.set_layout_engine("none")


def _percent_formatter() -> Any:
    from matplotlib.ticker import FuncFormatter

    return FuncFormatter(lambda share, _: f"{100 * share:.4g} %")


def _count_formatter() -> Any:
    from matplotlib.ticker import FuncFormatter

    return FuncFormatter(lambda count, _: f"{count:,.4g}" if count < 1e4 else f"{count:,.0f}")


def _norm_of_shares() -> Any:
    """Colours for shares by their square root: mix-ups of a few per cent are what one looks for."""
    from matplotlib.colors import PowerNorm

    return PowerNorm(0.5, vmin=0, vmax=1)


def _short_names(names: Sequence[Any], longest: int) -> list[str]:
    return [shortened(one_line(name), longest) for name in names]


def _font_size(n_classes: int) -> float:
    """Letters as high as the rows of a confusion matrix, which has the width of a page whatever it shows."""
    return float(np.clip(9 - (n_classes - MOST_NUMBERED_CLASSES) * 0.12, 5.5, 9))


def _row_height(n_classes: int, widest: float) -> float:
    """Inches for a row of letters."""
    return max(0.13, min(widest, 0.0167 * _font_size(n_classes))) if n_classes > MOST_NUMBERED_CLASSES else widest


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
    upright = max(map(len, short)) * len(names) > 50
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
    """Shares with intervals, a row each; rows of nothing are left out."""
    there = n_all > 0
    share = n_hits[there] / n_all[there]
    ends = [confidence_interval(hits, trials) for hits, trials in zip(n_hits[there], n_all[there], strict=True)]
    axes.hlines(rows[there], *np.transpose(ends), color=colour, linewidth=1, alpha=0.6)
    axes.plot(share, rows[there], marker, color=colour, markersize=5 if len(rows) <= 20 else 3.5, label=label)


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
    if (importances < 0).any() or total <= 0:  # of permutations: these don't add up
        return f" (not shown: {n_others:,} of {len(importances):,} features)"
    share = percent(1 - importances[first].sum() / total)
    return f" (not shown: {n_others:,} of {len(importances):,} features, with {share} of the sum)"
