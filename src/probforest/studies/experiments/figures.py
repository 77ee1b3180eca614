"""The figures of the experiments, in the paper's layout; as wide as a journal column, readable for the colour-blind."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...datasets import add_noise
from ...support.extras import need
from .report import distinct, mean, select
from .studies import Row

COLUMN = 3.5  # inches
# Okabe and Ito's colours, which colour-blind readers can tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LABEL_TITLES = {
    "uniform": "p from U(0, 2w)",
    "upper": "p from U(2w − 0.5, 0.5)",
    "constant": "p = w for all",
    "clean": "10 % clean, the others p = w",
    "authors": "10 % clean, p from N(w, 0.25)",
}


def pyplot() -> Any:
    """pyplot, set up to draw into files."""
    need("matplotlib", "Drawing figures", "plots").use("Agg")
    from matplotlib import pyplot as plt

    plt.rcParams.update({"font.size": 7, "axes.linewidth": 0.6, "lines.linewidth": 1.0, "lines.markersize": 3})
    return plt


def save(figure: Any, path: Path) -> None:
    for suffix in (".png", ".svg"):
        figure.savefig(path.with_suffix(suffix), dpi=300)


def curve(rows: Sequence[Row], x: str, y: str = "accuracy") -> tuple[list[float], list[float]]:
    """Means over the seeds, level by level."""
    levels = distinct(rows, "level")
    return (
        [mean(select(rows, level=level), x) for level in levels],
        [mean(select(rows, level=level), y) for level in levels],
    )


def against_trees(axes: Any, rows: Sequence[Row], x: str, contenders: Sequence[str]) -> None:
    """Accuracy for every number of trees: colour by contender, line by number of trees."""
    for name, colour, marker in zip(contenders, COLOURS, MARKERS, strict=False):
        for n_trees, style in zip(distinct(rows, "trees"), reversed(STYLES), strict=False):
            chosen = select(rows, contender=name, trees=n_trees)
            label = f"{name}, {n_trees} tree{'s' if n_trees > 1 else ''}"
            axes.plot(
                *curve(chosen, x),
                color=colour,
                linestyle=style,
                marker=marker,
                label=label,
            )
    axes.set_ylabel("accuracy")
    axes.legend(fontsize=5, ncols=2, frameon=False)


def side_by_side(axes: Any, below: Any, rows: Sequence[Row], x: str, contenders: Sequence[str]) -> None:
    """Accuracy of the contenders with the most trees, and their lead over the forest, in points."""
    rows = select(rows, trees=max(distinct(rows, "trees")))
    _, base = curve(select(rows, contender="forest"), x)
    for name, colour, marker in zip(contenders, COLOURS, MARKERS, strict=False):
        chosen = select(rows, contender=name)
        if not chosen:
            continue
        places, accuracy = curve(chosen, x)
        axes.plot(places, accuracy, color=colour, marker=marker, label=name)
        if len(accuracy) == len(base):
            below.plot(places, 100 * (np.array(accuracy) - np.array(base)), color=colour, marker=marker)
    axes.set_ylabel("accuracy")
    axes.legend(fontsize=5, frameon=False)
    below.axhline(0, color="grey", linewidth=0.5)
    below.set_ylabel("points above\nthe forest")


def draw_features(rows: Sequence[Row], path: Path) -> None:
    plt = pyplot()
    figure, (top, middle, bottom) = plt.subplots(3, 1, figsize=(COLUMN, 6), layout="constrained", sharex=True)
    against_trees(top, rows, "mean_noise", ("full PRF", "forest"))
    side_by_side(
        middle,
        bottom,
        rows,
        "mean_noise",
        ("full PRF", "forest", "training-only PRF", "test-only PRF", "PRF, no prior"),
    )
    bottom.set_xlabel("mean error / standard deviation of the true values")
    save(figure, path)
    figure, (top, bottom) = plt.subplots(2, 1, figsize=(COLUMN, 4), layout="constrained", sharex=True)
    rivals = (
        "full PRF",
        "forest",
        "boosted PRF",
        "gradient boosting",
        "forest, errors as columns",
        "forest, perturbed values",
        "forest, shrunk values",
    )
    side_by_side(top, bottom, rows, "mean_noise", rivals)
    bottom.set_xlabel("mean error / standard deviation of the true values")
    save(figure, path.with_name(path.name + "_rivals"))


def draw_labels(rows: Sequence[Row], path: Path) -> None:
    plt = pyplot()
    for noise in distinct(rows, "noise"):
        here = select(rows, noise=noise)
        figure, (top, middle, bottom) = plt.subplots(3, 1, figsize=(COLUMN, 6), layout="constrained", sharex=True)
        top.set_title(LABEL_TITLES[noise])
        against_trees(top, here, "level", ("PRF", "forest"))
        contenders = ["PRF", "forest", *(name for name in distinct(here, "contender") if name not in ("PRF", "forest"))]
        side_by_side(middle, bottom, here, "level", contenders)
        bottom.set_xlabel("level w of wrong labels")
        save(figure, path.with_name(f"{path.name}_{noise}"))


def draw_complexity(rows: Sequence[Row], path: Path) -> None:
    plt = pyplot()
    rows = select(rows, trees=max(distinct(rows, "trees")))
    noises = distinct(rows, "noise")
    figure, panels = plt.subplots(2, 2, figsize=(2 * COLUMN, 4.5), layout="constrained", sharex=True, sharey=True)
    for axes, noise in zip(panels.flat, noises, strict=False):
        here = select(rows, noise=noise)
        for name, colour, marker in zip(distinct(here, "contender"), COLOURS, MARKERS, strict=False):
            axes.plot(*curve(select(here, contender=name), "level"), color=colour, marker=marker, label=name)
        axes.set_title(noise)
        axes.set_xlabel("N_s")
        axes.set_ylabel("accuracy")
    panels.flat[0].legend(fontsize=5, frameon=False)
    save(figure, path)
    draw_noise(path.with_name(path.name + "_matrices"))


def draw_noise(path: Path) -> None:
    """The paper's picture of the noise: an error per object and feature, dark where it is large."""
    plt = pyplot()
    figure, panels = plt.subplots(1, 4, figsize=(2 * COLUMN, 2.2), layout="constrained", sharey=True)
    X = np.random.RandomState(0).normal(size=(60, 15))
    for axes, case in zip(panels, ("constant", "objects", "groups", "cells"), strict=True):
        groups = np.arange(60) >= 30 if case == "groups" else None
        errors = add_noise(X, 1, case=case, groups=groups, random_state=0).X_err / X.std(axis=0)
        image = axes.imshow(errors, cmap="Greys", vmin=0, vmax=1, aspect="auto", interpolation="nearest")
        axes.set_title(case)
        axes.set_xlabel("feature")
    panels[0].set_ylabel("object")
    figure.colorbar(image, ax=panels, label="error / spread of the feature")
    save(figure, path)


def draw_lines(rows: Sequence[Row], path: Path, xlabel: str, y: str, ylabel: str, logarithmic: bool) -> None:
    plt = pyplot()
    rows = select(rows, trees=max(distinct(rows, "trees")))
    figure, axes = plt.subplots(figsize=(COLUMN, 2.6), layout="constrained")
    for name, colour, marker in zip(distinct(rows, "contender"), COLOURS, MARKERS, strict=False):
        axes.plot(*curve(select(rows, contender=name), "level", y), color=colour, marker=marker, label=name)
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    if logarithmic:
        axes.set_xscale("log")
    if y == "seconds":
        axes.set_yscale("log")
    axes.legend(fontsize=5, frameon=False)
    save(figure, path)


def draw(experiment: str, rows: Sequence[Row], path: Path) -> None:
    """All figures of an experiment, as `path` with its suffixes."""
    if experiment in ("objects", "groups", "transfer"):
        draw_features(rows, path)
    elif experiment == "labels":
        draw_labels(rows, path)
    elif experiment == "complexity":
        draw_complexity(rows, path)
    elif experiment == "missing":
        draw_lines(rows, path, "share of missing cells", "accuracy", "accuracy", False)
    elif experiment == "threshold":
        draw_lines(rows, path, "keep_proba", "accuracy", "accuracy", True)
    else:
        draw_lines(rows, path, "objects in the training set", "seconds", "fit and predict [s]", True)
