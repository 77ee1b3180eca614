"""What each feature adds to the answer of trees.

An object in a node is answered with the node's value. One step further down, with those of the children that it enters;
the difference is what the feature of the split adds. All differences and the value of the root sum up to the answer.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ..kernels.layout import INDEX, LEAF, Cells
from ..kernels.paths import add_changes
from ..support.threads import in_threads
from .fitted_tree import FittedTree

_BLOCK = 2048  # objects that a thread takes through all trees


def mean_contributions(
    trees: Sequence[FittedTree], query: Cells, keep_proba: float, n_jobs: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The mean value of the roots (k,), and what each feature adds to it for every object, (n, d, k).

    Probability that was pruned on the way belongs to the leaves that are left, as in an answer.
    """
    n_objects, n_features, n_columns = *query.values.shape[:2], trees[0].value.shape[1]
    added = np.zeros((n_objects, n_features, n_columns))
    parents = [_parents(tree) for tree in trees]

    def explain(block: tuple[int, int]) -> None:
        part = slice(*block)
        cells = query._replace(values=query.values[part])
        for tree, parent in zip(trees, parents, strict=True):
            visits = tree.visits(cells, keep_proba)
            reached = np.bincount(visits.row, visits.reach, minlength=len(cells.values))
            add_changes(visits.row, visits.leaf, visits.reach / reached[visits.row], parent, tree.nodes, added[part])

    blocks = pairwise([*range(0, n_objects, _BLOCK), n_objects])
    for _ in in_threads(explain, list(blocks), n_jobs):
        pass
    base = np.mean([tree.value[0] for tree in trees], axis=0)
    return base, added / len(trees)


def close_the_sum(values: np.ndarray, total: np.ndarray) -> None:
    """Let contributions (n, d, k) sum up to `total` (n, k) to the last digits, which depend on the order of sums: what
    is left goes to the feature that adds most."""
    rows, largest = np.arange(len(values)), np.abs(values).sum(axis=2).argmax(axis=1)
    values[rows, largest] += total - values.sum(axis=1)


def _parents(tree: FittedTree) -> np.ndarray:
    """The parent of every node, -1 for the root."""
    parent = np.full(tree.n_nodes, -1, dtype=INDEX)
    split = np.flatnonzero(tree.feature != LEAF)
    parent[tree.left[split]] = parent[tree.right[split]] = split
    return parent
