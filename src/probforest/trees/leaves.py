"""What a fitted ensemble says about features and objects: importances, leaf probabilities, proximities."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from ..kernels.layout import LEAF, Cells
from ..support.threads import in_threads
from .fitted_tree import FittedTree


def mean_importances(trees: Sequence[FittedTree], n_features: int) -> np.ndarray:
    """Impurity importances averaged over the trees that have a split; they sum to 1, or are all 0."""
    each = [tree.importances(n_features) for tree in trees if tree.n_nodes > 1]
    if not each:
        return np.zeros(n_features)
    mean = np.mean(each, axis=0)
    return mean / mean.sum()


def total_importances(trees: Sequence[FittedTree], n_features: int) -> np.ndarray:
    """Decrease of the loss by the splits of every feature, summed over trees that build on each other; they sum to 1,
    or are all 0."""
    total = np.zeros(n_features)
    for tree in trees:
        split = tree.feature != LEAF
        total += np.bincount(tree.feature[split], (tree.weight * tree.decrease)[split], minlength=n_features)
    return total / total.sum() if total.any() else total


def leaf_probabilities(
    trees: Sequence[FittedTree], query: Cells, keep_proba: float, n_jobs: int | None = None, *, scaled: bool = False
) -> sparse.csr_matrix:
    """π of every object in every leaf, (n, all leaves): the leaves of the first tree, then of the second, and so on.

    `scaled` makes up for what `keep_proba` pruned: then every object has a sum of 1 in every tree.
    """

    def of_tree(tree: FittedTree) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
        row, leaf, reach = tree.visits(query, keep_proba)
        if scaled:
            reach = reach / np.bincount(row, reach)[row]
        number = tree.leaf_numbers
        return row, number[leaf], reach, int(number[-1]) + 1

    rows, columns, reaches, sizes = zip(*in_threads(of_tree, trees, n_jobs), strict=True)
    first = np.cumsum([0, *sizes])
    column = np.concatenate([number + start for number, start in zip(columns, first[:-1], strict=True)])
    shape = (len(query.values), int(first[-1]))
    return sparse.csr_matrix((np.concatenate(reaches), (np.concatenate(rows), column)), shape=shape)


def most_probable_leaves(
    trees: Sequence[FittedTree], query: Cells, keep_proba: float, n_jobs: int | None = None
) -> np.ndarray:
    """Node number of the leaf with the largest π per object and tree, (n, n_trees); of equals the first."""

    def of_tree(tree: FittedTree) -> np.ndarray:
        row, leaf, reach = tree.visits(query, keep_proba)
        order = np.lexsort((leaf, -reach, row))
        _, first = np.unique(row[order], return_index=True)
        return leaf[order][first].astype(np.int64)

    return np.column_stack(list(in_threads(of_tree, trees, n_jobs)))


def proximities(leaf_proba: sparse.csr_matrix, other: sparse.csr_matrix, n_trees: int) -> sparse.csr_matrix:
    """The probability that two objects end in the same leaf, averaged over the trees, (n, n_other).

    Both arguments are scaled `leaf_probabilities`.
    """
    return (leaf_proba @ other.T / n_trees).tocsr()
