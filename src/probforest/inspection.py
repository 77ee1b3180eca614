"""What a fitted ensemble says about features and objects: importances, leaf probabilities, proximities."""

from collections.abc import Sequence

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse

from .fitted_tree import FittedTree
from .kernels.layout import Cells, Visits


def mean_importances(trees: Sequence[FittedTree], n_features: int) -> np.ndarray:
    """Impurity importances averaged over the trees that have a split; they sum to 1, or are all 0."""
    each = [tree.importances(n_features) for tree in trees if tree.n_nodes > 1]
    if not each:
        return np.zeros(n_features)
    mean = np.mean(each, axis=0)
    return mean / mean.sum()


def all_visits(trees: Sequence[FittedTree], cells: Cells, keep_proba: float, n_jobs: int | None) -> list[Visits]:
    work = (delayed(tree.visits)(cells, keep_proba) for tree in trees)
    return Parallel(n_jobs=n_jobs, prefer="threads")(work)


def leaf_probabilities(
    trees: Sequence[FittedTree], cells: Cells, keep_proba: float, n_jobs: int | None = None, *, scaled: bool = False
) -> sparse.csr_matrix:
    """π of every object in every leaf, (n, all leaves): the leaves of the first tree, then of the second, and so on.

    `scaled` makes up for what `keep_proba` pruned: then every object has a sum of 1 in every tree.
    """
    n_objects = cells.center.shape[1]
    rows, columns, reach = [], [], []
    offset = 0
    for tree, visits in zip(trees, all_visits(trees, cells, keep_proba, n_jobs), strict=True):
        rows.append(visits.row)
        columns.append(offset + np.searchsorted(tree.leaves, visits.leaf))
        whole = np.bincount(visits.row, visits.reach) if scaled else np.ones(n_objects)
        reach.append(visits.reach / whole[visits.row])
        offset += len(tree.leaves)
    entries = (np.concatenate(reach), (np.concatenate(rows), np.concatenate(columns)))
    return sparse.csr_matrix(entries, shape=(n_objects, offset))


def most_probable_leaves(
    trees: Sequence[FittedTree], cells: Cells, keep_proba: float, n_jobs: int | None = None
) -> np.ndarray:
    """Node number of the leaf with the largest π per object and tree, (n, n_trees); of equals the first."""
    answer = np.empty((cells.center.shape[1], len(trees)), dtype=np.int64)
    for t, visits in enumerate(all_visits(trees, cells, keep_proba, n_jobs)):
        order = np.lexsort((visits.leaf, -visits.reach, visits.row))
        rows, first = np.unique(visits.row[order], return_index=True)
        answer[rows, t] = visits.leaf[order][first]
    return answer


def proximities(leaf_proba: sparse.csr_matrix, other: sparse.csr_matrix, n_trees: int) -> sparse.csr_matrix:
    """The probability that two objects end in the same leaf, averaged over the trees, (n, n_other).

    Both arguments are scaled `leaf_probabilities`.
    """
    return (leaf_proba @ other.T / n_trees).tocsr()
