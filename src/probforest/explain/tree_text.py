"""Trees and paths through them, in words."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .tree_words import LEAF, TreeWords


class Path(NamedTuple):
    """A way of an object through a tree, and what it finds at its end.

    Attributes
    ----------
    probability : float
        That the object takes it.
    conditions : str
        Which values lead there.
    answer : str
        What the leaf says, and how many training objects it has.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from probforest import ProbabilisticDecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = ProbabilisticDecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y, X_err=0.1)
    >>> from probforest.explain import decision_paths
    >>> path = decision_paths(tree, X[:1], X_err=0.1)[0][0]
    >>> path.probability > 0.9, len(path.conditions) > 0
    (True, True)
    """

    probability: float
    conditions: str
    answer: str


def export_text(model: Any, tree: int = 0, *, max_depth: int = 5, decimals: int = 3) -> str:
    """A tree as an indented text, two lines per split and one per leaf.

    An object goes down both sides of a split, each with the probability that its true value lies there. Numbers of
    objects are expected ones.

    Parameters
    ----------
    model : fitted model
        Any model of probforest.
    tree : int, default=0
        Which of its trees.
    max_depth : int, default=5
        Down to which depth.
    decimals : int, default=3
        Significant digits of numbers.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from probforest import ProbabilisticDecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> print(export_text(ProbabilisticDecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y)))
    |--- x2 <= 2.45
    |   |--- 0 1 (50 objects)
    |--- x2 >  2.45
    |   |--- 1 0.5 (100 objects)
    """
    return "\n".join(_below(TreeWords(model, tree, decimals), 0, 0, max_depth))


def decision_paths(model: Any, X: Any, *, tree: int = 0, most: int = 3, **measured: Any) -> list[list[Path]]:
    """The most probable paths of objects through a tree.

    Parameters
    ----------
    model : fitted model
        Any model of probforest.
    X : array-like or table of shape (n_samples, n_features)
        Values.
    tree : int, default=0
        Which of its trees.
    most : int, default=3
        How many paths of each object.
    **measured
        `X_err`, `X_limit`, `X_samples`, as `predict` takes them.

    Returns
    -------
    list of list of Path
        Of every object, the most probable first. Conditions on the same side of a feature are given as one.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from probforest import ProbabilisticDecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = ProbabilisticDecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y, X_err=0.1)
    >>> from probforest.explain import decision_paths
    >>> paths = decision_paths(tree, X[70:71], X_err=0.1, most=2)[0]
    >>> paths[0].conditions.startswith("x2 > ")
    True
    """
    words = TreeWords(model, tree, 3)
    leaves, paths = words.tree.leaves, []
    for of_object in words.leaf_reach(model, X, measured):
        order = np.argsort(-of_object, kind="stable")[:most]
        found = [(float(of_object[place]), int(leaves[place])) for place in order if of_object[place] > 0]
        paths.append([Path(share, _path_to(words, leaf), words.answer(leaf)) for share, leaf in found])
    return paths


def _below(words: TreeWords, node: int, depth: int, max_depth: int) -> list[str]:
    """Lines for a node and all below it."""
    indent, tree = "|   " * depth, words.tree
    if tree.feature[node] == LEAF or depth == max_depth:
        cut = "" if tree.feature[node] == LEAF else " ..."
        return [f"{indent}|--- {words.answer(node)}{cut}"]
    lines = []
    for child, sign in ((tree.left[node], "<="), (tree.right[node], "> ")):
        name, threshold = words.split(node)
        lines.append(f"{indent}|--- {name} {sign} {words.short(threshold)}")
        lines += _below(words, int(child), depth + 1, max_depth)
    return lines


def _path_to(words: TreeWords, leaf: int) -> str:
    """The conditions on the way to a leaf."""
    tree, bounds, node = words.tree, dict[tuple[str, str], float](), 0
    while node != leaf:
        name, threshold = words.split(node)
        goes_left = leaf < tree.right[node]  # nodes are numbered in depth-first order
        sign, narrower = ("<=", min) if goes_left else (">", max)
        bounds[name, sign] = narrower(threshold, bounds.get((name, sign), threshold))
        node = int(tree.left[node] if goes_left else tree.right[node])
    conditions = [f"{name} {sign} {words.short(threshold)}" for (name, sign), threshold in bounds.items()]
    return ", ".join(conditions) or "always"
