"""What the trees of a forest say about the objects that they did not draw: distributions of targets, out of bag."""

from collections.abc import Iterator, Sequence

import numpy as np
from scipy import sparse

from ..kernels.layout import Cells
from ..support.threads import in_threads
from .bootstrap import Draw
from .fitted_tree import FittedTree
from .leaf_targets import stacked
from .weighted_targets import WeightedTargets, weigh_targets

MOST_OBJECTS = 5000  # of a sample: shares of objects are known to 0.7 % then
_SEED = 1  # of the sample: the same in every fit
_BLOCK = 8192  # objects whose ways through the trees are in memory


def reach_of_left_out(tree: FittedTree, left_out: np.ndarray, query: Cells, keep_proba: float) -> sparse.csr_matrix:
    """π of the objects in the leaves (n, n_leaves) of a tree that left them out, with sums of 1; nothing for others."""
    shape, rows = (len(left_out), len(tree.leaves)), np.flatnonzero(left_out)
    if not len(rows):
        return sparse.csr_matrix(shape)
    row, leaf, reach = tree.visits(query._replace(values=query.values[rows]), keep_proba)
    reach = reach / np.bincount(row, reach)[row]
    return sparse.csr_matrix((reach, (rows[row], np.searchsorted(tree.leaves, leaf))), shape=shape)


def sample_of(n_objects: int) -> np.ndarray:
    """Rows of some objects, or of all if there are few, increasing."""
    if n_objects <= MOST_OBJECTS:
        return np.arange(n_objects)
    return np.sort(np.random.default_rng(_SEED).choice(n_objects, MOST_OBJECTS, replace=False))


def distributions_of_left_out(
    judges: Sequence[tuple[FittedTree, Draw]],
    query: Cells,
    rows: np.ndarray,
    keep_proba: float,
    n_jobs: int | None = None,
    kept: np.ndarray | None = None,
) -> Iterator[tuple[np.ndarray, WeightedTargets]]:
    """Distributions of the targets of the objects `rows` of `query`, some after the other, by the trees that did not
    draw them; objects that every tree drew are left out.

    `judges` are trees and what each drew of all objects of `query`, or of those where `kept` (n,) is true: the others
    are out of every bag.
    """
    y, shares = stacked([tree.targets for tree, _ in judges if tree.targets is not None])
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK]
        asked = query._replace(values=query.values[block])

        def reach_of(
            judge: tuple[FittedTree, Draw], block: np.ndarray = block, asked: Cells = asked
        ) -> sparse.csr_matrix:
            tree, draw = judge
            return reach_of_left_out(tree, _left_out(draw, kept)[block], asked, keep_proba)

        reach = sparse.hstack(list(in_threads(reach_of, judges, n_jobs)), format="csr")
        judged = np.flatnonzero(np.diff(reach.indptr))
        if len(judged):
            for piece, distributions in weigh_targets(reach[judged], y, shares):
                yield block[judged[piece]], distributions


def _left_out(draw: Draw, kept: np.ndarray | None) -> np.ndarray:
    """Which objects a tree did not draw, (n,)."""
    if kept is None:
        return draw.counts() == 0
    found = np.ones(len(kept), dtype=bool)
    found[kept] = draw.counts() == 0
    return found
