"""Trees and paths through them, in words."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

_LEAF = -1


class Path(NamedTuple):
    """A way of an object through a tree, and what it finds at its end."""

    probability: float  # that the object takes it
    conditions: str
    answer: str


def export_text(model: Any, tree: int = 0, *, max_depth: int = 5, decimals: int = 3) -> str:
    """A tree as an indented text, two lines per split and one per leaf.

    An object goes down both sides of a split, each with the probability that its true value lies there. Numbers of
    objects are expected ones.

    Parameters
    ----------
    model : fitted classifier
        A tree or a forest of probforest.
    tree : int, default=0
        Which tree of a forest.
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
    words = _Words(model, tree, decimals)
    return "\n".join(words.below(0, 0, max_depth))


def decision_paths(model: Any, X: Any, *, tree: int = 0, most: int = 3, **measured: Any) -> list[list[Path]]:
    """The most probable paths of objects through a tree.

    Parameters
    ----------
    model : fitted classifier
        A tree or a forest of probforest.
    X : array-like or table of shape (n_samples, n_features)
        Values.
    tree : int, default=0
        Which tree of a forest.
    most : int, default=3
        How many paths of each object.
    **measured
        `X_err`, `X_limit`, `X_samples`, as `predict` takes them.

    Returns
    -------
    list of list of Path
        Of every object, the most probable first. Conditions on the same side of a feature are given as one.
    """
    words = _Words(model, tree, 3)
    first = sum(len(other.leaves) for other in _trees(model)[:tree])
    leaves = words.tree.leaves
    reach = model.leaf_proba(X, **measured)[:, first : first + len(leaves)].toarray()
    paths = []
    for of_object in reach:
        order = np.argsort(-of_object, kind="stable")[:most]
        found = [(float(of_object[place]), int(leaves[place])) for place in order if of_object[place] > 0]
        paths.append([Path(share, words.path_to(leaf), words.answer(leaf)) for share, leaf in found])
    return paths


class _Words:
    """The nodes of one tree of a model, in words."""

    def __init__(self, model: Any, tree: int, decimals: int):
        trees = _trees(model)
        if not -len(trees) <= tree < len(trees):
            raise ValueError(f"tree is {tree}; the model has {len(trees)} trees, from 0 on.")
        self.tree = trees[tree]
        self._classes, self._decimals = model.classes_, decimals
        features = model.feature_model_
        self._names, self._families = features.names, features.families

    def answer(self, node: int) -> str:
        """The most probable class of a node, its probability, and how many objects the node has."""
        pmf = self.tree.value[node]
        best = int(pmf.argmax())
        return f"{self._classes[best]} {self._short(pmf[best])} ({self._short(self.tree.weight[node])} objects)"

    def below(self, node: int, depth: int, max_depth: int) -> list[str]:
        """Lines for a node and all below it."""
        indent, tree = "|   " * depth, self.tree
        if tree.feature[node] == _LEAF or depth == max_depth:
            cut = "" if tree.feature[node] == _LEAF else " ..."
            return [f"{indent}|--- {self.answer(node)}{cut}"]
        lines = []
        for child, sign in ((tree.left[node], "<="), (tree.right[node], "> ")):
            name, threshold = self._split(node)
            lines.append(f"{indent}|--- {name} {sign} {self._short(threshold)}")
            lines += self.below(int(child), depth + 1, max_depth)
        return lines

    def path_to(self, leaf: int) -> str:
        """The conditions on the way to a leaf."""
        tree, bounds, node = self.tree, dict[tuple[str, str], float](), 0
        while node != leaf:
            name, threshold = self._split(node)
            goes_left = leaf < tree.right[node]  # nodes are numbered in depth-first order
            sign, narrower = ("<=", min) if goes_left else (">", max)
            bounds[name, sign] = narrower(threshold, bounds.get((name, sign), threshold))
            node = int(tree.left[node] if goes_left else tree.right[node])
        conditions = [f"{name} {sign} {self._short(threshold)}" for (name, sign), threshold in bounds.items()]
        return ", ".join(conditions) or "always"

    def _split(self, node: int) -> tuple[str, float]:
        """Feature and threshold; that of a logarithm as the value itself."""
        j, threshold = int(self.tree.feature[node]), float(self.tree.threshold[node])
        is_log = j < len(self._families) and self._families[j].log
        return self._names[j], float(np.exp(threshold)) if is_log else threshold

    def _short(self, number: float) -> str:
        return f"{number:.{self._decimals}g}"


def _trees(model: Any) -> list[Any]:
    return list(model.trees_) if hasattr(model, "trees_") else [model.tree_]
