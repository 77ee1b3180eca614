"""The drawings of the front page and of "How it works", made with the site: one for light pages, one for dark."""

import io
import re
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from scipy.stats import norm

FOLDER = Path(__file__).parents[1]


class Colours(NamedTuple):
    """What a drawing is drawn with."""

    ink: str
    faint: str
    left: str
    right: str


MODES = {
    "light": Colours("#24292f", "#9aa4ae", "#0072b2", "#d55e00"),
    "dark": Colours("#e6edf3", "#7d8590", "#56b4e9", "#f0a35e"),
}


@contextmanager
def _pen(colours: Colours) -> Iterator[None]:
    style = {
        "font.size": 11,
        "text.color": colours.ink,
        "axes.labelcolor": colours.ink,
        "axes.edgecolor": colours.faint,
        "xtick.color": colours.ink,
        "ytick.color": colours.ink,
        "axes.facecolor": "none",
        "figure.facecolor": "none",
        "savefig.facecolor": "none",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "legend.frameon": False,
        "svg.hashsalt": "probforest",
    }
    with plt.rc_context(style):
        yield


def split(colours: Colours) -> Figure:
    """An object, its error bar, a threshold, and both branches."""
    value, error, threshold = 18.6, 0.4, 18.4
    share = norm.cdf(threshold, value, error)
    figure, (curve, node) = plt.subplots(1, 2, figsize=(9, 3), width_ratios=[1.25, 1])
    _draw_areas(curve, value, error, threshold, colours)
    curve.errorbar(value, -0.12, xerr=error, fmt="o", color=colours.ink, capsize=4)
    curve.text(value + error + 0.08, -0.12, "measured: 18.6 ± 0.4", va="center")
    curve.set(xlabel="magnitude", yticks=[], ylim=(-0.3, 1.2), xlim=(17.3, 20.1))
    curve.spines["left"].set_visible(False)
    _draw_branches(node, share, colours)
    figure.tight_layout()
    return figure


def _draw_areas(ax, value: float, error: float, threshold: float, colours: Colours) -> None:
    x = np.linspace(value - 3.2 * error, value + 3.2 * error, 400)
    density = norm.pdf(x, value, error) * error / 0.4
    ax.plot(x, density, color=colours.ink, linewidth=1.5)
    for side, colour in ((x <= threshold, colours.left), (x >= threshold, colours.right)):
        ax.fill_between(x[side], density[side], color=colour, alpha=0.55, linewidth=0)
    ax.plot([threshold, threshold], [-0.22, 1.05], color=colours.ink, linestyle="--")
    ax.text(threshold, 1.09, "is it below 18.4?", ha="center")


def _draw_branches(ax, share: float, colours: Colours) -> None:
    parts = ((-1, share, colours.left, "below 18.4"), (1, 1 - share, colours.right, "above"))
    for x, part, colour, _ in parts:
        ax.plot([0, x], [1, 0.1], color=colour, linewidth=16 * part, solid_capstyle="round", zorder=1)
    for x, part, colour, words in parts:
        ax.text(
            0.62 * x, 0.68, f"{part:.0%}", color=colour, fontsize=16, fontweight="bold", ha="right" if x < 0 else "left"
        )
        ax.text(x, -0.25, words, ha="center", color=colours.ink)
        ax.scatter([x], [0.1], s=550, color=colour, zorder=2)
    ax.scatter([0], [1], s=550, color=colours.faint, zorder=2)
    ax.text(0, 1.22, "one object, 100%", ha="center")
    ax.set(xlim=(-1.6, 1.6), ylim=(-0.4, 1.45))
    ax.set_axis_off()


# Nodes of the drawn tree: place, share of the object, words; and the node that each one comes from.
_NODES = [
    (0.0, 3, 1.00, "g < 18.4 ?"),
    (-2.0, 2, 0.31, "g − r < 0.6 ?"),
    (2.0, 2, 0.69, "r < 17.9 ?"),
    (-3.0, 1, 0.28, "star"),
    (-1.0, 1, 0.03, "dropped"),
    (1.0, 1, 0.14, "star"),
    (3.0, 1, 0.55, "quasar"),
]
_PARENTS = [None, 0, 0, 1, 1, 2, 2]


def tree(colours: Colours) -> Figure:
    """One object in all nodes of a tree, with its probabilities."""
    figure, ax = plt.subplots(figsize=(8, 3.4))
    for (x, y, share, words), parent in zip(_NODES, _PARENTS, strict=True):
        is_dropped = words == "dropped"
        if parent is not None:
            shade = colours.faint if is_dropped else colours.right if x > _NODES[parent][0] else colours.left
            ax.plot(
                [_NODES[parent][0], x],
                [_NODES[parent][1], y],
                color=shade,
                linewidth=1 + 14 * share,
                linestyle=":" if is_dropped else "-",
                solid_capstyle="round",
            )
        side = 1 if parent is None or x > _NODES[parent][0] else -1
        ax.text(
            x + 0.22 * side,
            y + (0.05 if parent is not None else 0.18),
            f"{words}\nπ = {share:.2f}",
            ha="left" if side > 0 else "right",
            va="center",
            color=colours.faint if is_dropped else colours.ink,
        )
        ax.scatter([x], [y], s=160, color=colours.faint if is_dropped else colours.ink, zorder=3)
    ax.text(0, 0.3, "answer: quasar with 0.55 / (0.28 + 0.14 + 0.55) = 57%, if all leaves are pure", ha="center")
    ax.set(xlim=(-4.2, 4.2), ylim=(0.2, 3.4))
    ax.set_axis_off()
    figure.tight_layout()
    return figure


def priors(colours: Colours) -> Figure:
    """A noisy value, the distribution of true values, and the posterior."""
    x = np.linspace(-3, 7, 600)
    prior = 0.6 * norm.pdf(x, 0, 0.6) + 0.4 * norm.pdf(x, 2.5, 0.5)
    likelihood = norm.pdf(x, 4, 1.4)
    posterior = prior * likelihood / np.trapezoid(prior * likelihood, x)
    figure, ax = plt.subplots(figsize=(8, 2.8))
    ax.fill_between(
        x, prior, color=colours.faint, alpha=0.35, linewidth=0, label="true values of this feature: the prior"
    )
    ax.plot(x, likelihood, color=colours.left, label="what was measured: 4 ± 1.4")
    ax.plot(x, posterior, color=colours.right, linewidth=2.5, label="what the tree works with: the posterior")
    ax.set(yticks=[], xlabel="value", ylim=(0, 1.1))
    ax.spines["left"].set_visible(False)
    ax.legend(loc="upper left")
    figure.tight_layout()
    return figure


def distribution(colours: Colours) -> Figure:
    """The answer of a forest for an object with small and with large errors."""
    from probforest import ProbabilisticRandomForestRegressor

    random = np.random.default_rng(0)
    X = random.uniform(0, 3, (800, 1))
    y = np.sin(2 * X[:, 0]) + X[:, 0] + random.normal(0, 0.15, 800)
    forest = ProbabilisticRandomForestRegressor(100, min_samples_leaf=5, error_scale=1.0, prior=None, random_state=0)
    forest.fit(X, y, X_err=0.02)
    places = np.linspace(-0.3, 4.2, 400)[None]
    figure, (curve, answer) = plt.subplots(1, 2, figsize=(9, 2.9), width_ratios=[1, 1.2])
    curve.scatter(X[:, 0], y, s=2, color=colours.faint)
    for error, colour, height in ((0.05, colours.left, 3.0), (0.4, colours.right, 2.6)):
        density = forest.predict_distribution([[0.6]], X_err=error).pdf(places)[0]
        answer.plot(places[0], density, color=colour, linewidth=2, label=f"feature = 0.6 ± {error}")
        curve.errorbar(0.6, height, xerr=error, fmt="o", color=colour, capsize=4)
    curve.set(xlabel="feature", ylabel="target")
    answer.set(xlabel="target", yticks=[], ylabel="predicted density")
    answer.legend(loc="upper right")
    figure.tight_layout()
    return figure


def _start() -> Figure:
    """The picture of the page "Start", made by the code on that page."""
    blocks = re.findall(r"^```python\n(.*?)^```", (FOLDER / "start.md").read_text(encoding="utf-8"), re.M | re.S)
    names: dict = {}
    with tempfile.TemporaryDirectory() as folder, chdir(folder), redirect_stdout(io.StringIO()):
        for block in blocks:
            exec(compile(block, "start.md", "exec"), names)
    return names["display"].figure_


def draw_all(app=None) -> None:
    target = FOLDER / "drawn"
    target.mkdir(exist_ok=True)
    for drawing in (split, tree, priors, distribution):
        for mode, colours in MODES.items():
            with _pen(colours):
                drawing(colours).savefig(target / f"{drawing.__name__}_{mode}.svg", metadata={"Date": None})
    _start().savefig(target / "start.svg", bbox_inches="tight", metadata={"Date": None})
    plt.close("all")


def setup(app):
    app.connect("builder-inited", draw_all)


if __name__ == "__main__":
    draw_all()
