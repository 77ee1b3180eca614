"""A tree as a figure."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..support.extras import need
from ..support.wording import one_line, shortened
from .figures import NEUTRAL, UP
from .tree_words import LEAF, TreeWords

_LONGEST_NAME = 22
_BOX_WIDTH, _ROW_HEIGHT = 1.5, 1.1  # inches
_WIDEST_LINE = 6.0  # points, for a branch that is taken for sure


class _Spot(NamedTuple):
    """Where a node is drawn."""

    node: int
    x: float  # in widths of boxes
    depth: int
    parent: _Spot | None
    is_left: bool


def plot_tree(
    model: Any,
    tree: int = 0,
    *,
    X: Any = None,
    max_depth: int = 3,
    decimals: int = 3,
    ax: Any = None,
    **measured: Any,
) -> Any:
    """Draw a tree, and the ways of an object through it.

    An object goes down both sides of a split. The probabilities of its branches are written beside them, and drawn as
    the width of the lines.

    Parameters
    ----------
    model : fitted model
        Any model of probforest.
    tree : int, default=0
        Which of its trees.
    X : array-like or table of shape (1, n_features), default=None
        One object; None: only the tree is drawn.
    max_depth : int, default=3
        Down to which depth.
    decimals : int, default=3
        Significant digits of numbers.
    ax : matplotlib Axes, default=None
        Where to draw; None: a new figure.
    **measured
        `X_err`, `X_limit`, `X_samples` of the object, as `predict` takes them.

    Returns
    -------
    matplotlib Axes
        With the figure. Needs matplotlib (`pip install "probforest[plots]"`).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from probforest import ProbabilisticDecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = ProbabilisticDecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y, X_err=0.1)
    >>> from probforest.explain import plot_tree
    >>> axes = plot_tree(tree, X=X[70:71], X_err=0.1)
    >>> len(axes.texts) > 3
    True
    """
    words = TreeWords(model, tree, decimals)
    reach = None if X is None else _reach_of_one(words, model, X, measured)
    spots = _spots(words.tree, max_depth)
    width, n_levels = max(spot.x for spot in spots) + 1, max(spot.depth for spot in spots) + 1
    if ax is None:
        plt = need("matplotlib.pyplot", "A figure", "plots")
        _, ax = plt.subplots(figsize=(_BOX_WIDTH * width, _ROW_HEIGHT * n_levels), layout="constrained")
    for spot in spots:
        if spot.parent is not None:
            _draw_branch(ax, spot, reach)
        _draw_node(ax, spot, _text_of(words, spot, max_depth), reach)
    ax.set(xlim=(-0.5, width - 0.5), ylim=(-n_levels + 0.5, 0.5))
    ax.axis("off")
    return ax


def _reach_of_one(words: TreeWords, model: Any, X: Any, measured: dict[str, Any]) -> np.ndarray:
    reach = words.leaf_reach(model, X, measured)
    if len(reach) != 1:
        raise ValueError(f"X has {len(reach)} objects; expected one, such as X[3:4].")
    return words.node_reach(reach[0])


def _spots(tree: Any, max_depth: int) -> list[_Spot]:
    """Places of all nodes that are drawn, parents before their children: ends of branches side by side, parents in the
    middle above their children."""
    places: dict[int, float] = {}
    n_ends = 0

    def place(node: int, depth: int) -> float:
        nonlocal n_ends
        if tree.feature[node] == LEAF or depth == max_depth:
            places[node] = float(n_ends)
            n_ends += 1
        else:
            children = int(tree.left[node]), int(tree.right[node])
            places[node] = sum(place(child, depth + 1) for child in children) / 2
        return places[node]

    place(0, 0)
    spots = [_Spot(0, places[0], 0, None, True)]
    for spot in spots:  # grows on the way
        if tree.feature[spot.node] != LEAF and spot.depth < max_depth:
            for child, is_left in ((int(tree.left[spot.node]), True), (int(tree.right[spot.node]), False)):
                spots.append(_Spot(child, places[child], spot.depth + 1, spot, is_left))
    return spots


def _text_of(words: TreeWords, spot: _Spot, max_depth: int) -> str:
    objects = f"{words.short(words.tree.weight[spot.node])} objects"
    if words.tree.feature[spot.node] == LEAF or spot.depth == max_depth:
        cut = "" if words.tree.feature[spot.node] == LEAF else "\n…"
        return f"{shortened(one_line(words.value(spot.node)), _LONGEST_NAME)}\n{objects}{cut}"
    name, threshold = words.split(spot.node)
    return f"{shortened(one_line(name), _LONGEST_NAME)}\n≤ {words.short(threshold)}"


def _draw_node(ax: Any, spot: _Spot, text: str, reach: np.ndarray | None) -> None:
    is_reached = reach is None or reach[spot.node] > 0
    box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": UP if is_reached else "#cccccc"}
    colour = "black" if is_reached else NEUTRAL
    ax.text(
        spot.x, -spot.depth, text, ha="center", va="center", fontsize="small", color=colour, bbox=box, parse_math=False
    )


def _draw_branch(ax: Any, spot: _Spot, reach: np.ndarray | None) -> None:
    """The line from a parent to its child, with the probability that the object goes there."""
    assert spot.parent is not None
    ends = [spot.parent.x, spot.x], [-spot.parent.depth, -spot.depth]
    probability = None if reach is None else float(reach[spot.node])
    width = 1.0 if probability is None else max(0.5, _WIDEST_LINE * probability)
    ax.plot(*ends, color=NEUTRAL if not probability else UP, linewidth=width, alpha=0.5, zorder=0)
    text = ("yes" if spot.is_left else "no") if probability is None else f"{probability:.2f}"
    middle = (spot.parent.x + 1.5 * spot.x) / 2.5, -(spot.parent.depth + 1.5 * spot.depth) / 2.5
    side, offset = ("right", -6) if spot.is_left else ("left", 6)
    ax.annotate(text, middle, (offset, 0), textcoords="offset points", ha=side, va="bottom", fontsize="small")
