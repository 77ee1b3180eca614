"""What a fitted ensemble says about features and objects: importances, leaf probabilities, proximities."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from ..kernels.layout import INDEX, LEAF, REAL, Cells
from ..kernels.reached import add_reach, count_rows, put_in_rows
from ..support.threads import in_threads
from .fitted_tree import FittedTree
from .leaf_slopes import Scales, stacked_slopes

_BLOCK = 4096  # objects whose ways through the trees are in memory


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
    trees: Sequence[FittedTree],
    query: Cells,
    keep_proba: float,
    n_jobs: int | None = None,
    *,
    scaled: bool = False,
    in_order: bool = True,
) -> sparse.csr_matrix:
    """π of every object in every leaf, (n, all leaves): the leaves of the first tree, then of the second, and so on.

    `scaled` makes up for what `keep_proba` pruned: then every object has a sum of 1 in every tree. The entries of an
    object are those of one tree after the other; `in_order` also sorts those of a tree.
    """

    n_objects = len(query.values)
    visits = list(in_threads(lambda tree: tree.visits(query, keep_proba), trees, n_jobs))
    count = np.zeros(n_objects, dtype=np.int64)
    for row, _, _ in visits:
        count_rows(row, count)
    first = np.concatenate([[0], np.cumsum(count)])
    end, n_leaves = first[:-1].copy(), 0
    columns, values = np.empty(first[-1], dtype=INDEX), np.empty(first[-1], dtype=REAL)
    for tree, (row, leaf, reach) in zip(trees, visits, strict=True):
        total = np.zeros(n_objects) if scaled else np.ones(n_objects)
        if scaled:
            add_reach(row, reach, total)
        number = (n_leaves + tree.leaf_numbers).astype(INDEX)
        put_in_rows(row, leaf, reach, number, total, end, columns, values)
        n_leaves = int(number[-1]) + 1
    found = sparse.csr_matrix((values, columns, first), shape=(n_objects, n_leaves))
    if in_order:
        found.sort_indices()
    return found


def slopes_by_feature(
    trees: Sequence[FittedTree], scales: Scales, query: Cells, keep_proba: float, n_jobs: int | None = None
) -> np.ndarray:
    """What each feature adds to the answers of trees with slopes, (n, d), averaged over the trees."""
    slopes = stacked_slopes([tree.slopes for tree in trees], scales)
    found = np.zeros((len(query.values), len(scales.center)))
    if slopes is None:
        return found
    for top in range(0, len(found), _BLOCK):
        block = query._replace(values=query.values[top : top + _BLOCK])
        reach = leaf_probabilities(trees, block, keep_proba, n_jobs, scaled=True)
        found[top : top + _BLOCK] = slopes.by_feature(block, reach)
    return found


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
