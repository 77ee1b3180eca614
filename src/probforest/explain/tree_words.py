"""The nodes of one tree of a model, in words, and how probable they are for objects."""

from __future__ import annotations

from typing import Any

import numpy as np

LEAF = -1


class TreeWords:
    """One tree of a model that predicts classes, scores or numbers."""

    def __init__(self, model: Any, tree: int, decimals: int):
        trees = list(model.trees_) if hasattr(model, "trees_") else [model.tree_]
        if not -len(trees) <= tree < len(trees):
            raise ValueError(f"tree is {tree}; the model has {len(trees)} trees, from 0 on.")
        self._place = tree % len(trees)
        self.tree = trees[tree]
        self._first_leaf = sum(len(other.leaves) for other in trees[: self._place])
        self._classes, self._decimals = getattr(model, "classes_", None), decimals
        self._n_scores = getattr(model, "n_trees_per_iteration_", None)  # of boosting
        features = model.feature_model_
        self._names, self._families = features.names, features.families

    def answer(self, node: int) -> str:
        """What a node answers, and how many objects it has."""
        return f"{self.value(node)} ({self.short(self.tree.weight[node])} objects)"

    def value(self, node: int) -> str:
        """The most probable class of a node and its probability; what it adds to a score; a mean and its scatter."""
        value = self.tree.value[node]
        if self._n_scores is not None:
            return f"{value[0]:+.{self._decimals}g}{self._of_class(self._n_scores)}"
        if self._classes is None:
            return f"{self.short(value[0])} ± {self.short(np.sqrt(max(self.tree.impurity[node], 0.0)))}"
        best = int(value.argmax())
        return f"{self._classes[best]} {self.short(value[best])}"

    def _of_class(self, n_scores: int) -> str:
        """Whose score a tree of boosting adds to."""
        if self._classes is None:
            return ""
        return f" for {self._classes[1 if n_scores == 1 else self._place % n_scores]}"

    def split(self, node: int) -> tuple[str, float]:
        """Feature and threshold; that of a logarithm as the value itself."""
        j, threshold = int(self.tree.feature[node]), float(self.tree.threshold[node])
        is_log = j < len(self._families) and self._families[j].log
        return self._names[j], float(np.exp(threshold)) if is_log else threshold

    def short(self, number: float) -> str:
        """Some significant digits of a number."""
        return f"{number:.{self._decimals}g}"

    def leaf_reach(self, model: Any, X: Any, measured: dict[str, Any]) -> np.ndarray:
        """The probabilities of objects to reach the leaves of the tree, (n, n_leaves)."""
        last = self._first_leaf + len(self.tree.leaves)
        return model.leaf_proba(X, **measured)[:, self._first_leaf : last].toarray()

    def node_reach(self, leaf_reach: np.ndarray) -> np.ndarray:
        """The probability of an object to reach each node, (n_nodes,), from those of the leaves. What was pruned is
        shared out among the leaves that are left, as in an answer."""
        tree = self.tree
        reach = np.zeros(tree.n_nodes)
        reach[tree.leaves] = leaf_reach / leaf_reach.sum()
        for node in np.flatnonzero(tree.feature != LEAF)[::-1]:  # children come after their parents
            reach[node] = reach[tree.left[node]] + reach[tree.right[node]]
        return reach
