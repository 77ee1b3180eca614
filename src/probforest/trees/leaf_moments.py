"""Means and variances of what a regressor answers, without its distributions."""

from collections.abc import Sequence

import numpy as np

from ..kernels.layout import Cells
from .fitted_tree import FittedTree, sum_of_answers


class Moments:
    """The first two moments of the answers of trees that predict numbers, from those of their nodes.

    They are taken around the mean of the training set: targets may be large, and their scatter small.
    """

    def __init__(self, trees: Sequence[FittedTree], keep_proba: float, n_jobs: int | None = None) -> None:
        self._center = float(np.mean([tree.value[0, 0] for tree in trees]))
        self._trees = [self._with_moments(tree) for tree in trees]
        self._keep_proba, self._n_jobs = keep_proba, n_jobs

    def _with_moments(self, tree: FittedTree) -> FittedTree:
        """A tree whose nodes answer with their mean and their mean square."""
        mean = tree.value[:, 0] - self._center
        value = np.column_stack([mean, np.square(mean) + tree.impurity])
        return FittedTree(tree.nodes._replace(value=value), None, tree.conserves)

    def of(self, query: Cells) -> np.ndarray:
        """Mean and variance of the target of every object, (n, 2)."""
        total = sum_of_answers(self._trees, query, self._keep_proba, n_jobs=self._n_jobs)
        mean, square = (total / len(self._trees)).T
        return np.column_stack([mean + self._center, np.maximum(square - np.square(mean), 0.0)])
