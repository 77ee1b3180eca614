"""What the trees of a forest say about the objects that they did not draw: distributions of targets, out of bag."""

from collections.abc import Iterator, Sequence

import numpy as np
from scipy import sparse

from ..kernels.layout import Cells
from ..support.threads import in_threads
from .bootstrap import Draw, SampleDraw
from .fitted_tree import FittedTree
from .leaf_slopes import Scales, stacked_slopes
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
    return sparse.csr_matrix((reach, (rows[row], tree.leaf_numbers[leaf])), shape=shape)


def sample_of(n_objects: int) -> np.ndarray:
    """Rows of some objects, or of all if there are few, increasing."""
    if n_objects <= MOST_OBJECTS:
        return np.arange(n_objects)
    return np.sort(np.random.default_rng(_SEED).choice(n_objects, MOST_OBJECTS, replace=False))


def distributions_of_left_out(
    judges: Sequence[tuple[FittedTree, Draw | SampleDraw]],
    query: Cells,
    rows: np.ndarray,
    keep_proba: float,
    n_jobs: int | None = None,
    scales: Scales | None = None,
) -> Iterator[tuple[np.ndarray, WeightedTargets]]:
    """Distributions of the targets of the objects of `query` (n), some after the other, with their places in it, by the
    trees that did not draw them; objects that every tree drew are left out.

    `judges` are trees and what each drew. `rows` (n,) are the numbers of the objects among those that could be drawn;
    -1 for one that could not. `scales` are those of slopes, if trees have some.
    """
    y, shares = stacked([tree.targets for tree, _ in judges if tree.targets is not None])
    slopes = None if scales is None else stacked_slopes([tree.slopes for tree, _ in judges], scales)
    for start in range(0, len(rows), _BLOCK):
        block = slice(start, start + _BLOCK)
        asked = query._replace(values=query.values[block])

        def reach_of(
            judge: tuple[FittedTree, Draw | SampleDraw], block: slice = block, asked: Cells = asked
        ) -> sparse.csr_matrix:
            tree, draw = judge
            left_out = np.append(draw.counts() == 0, True)[rows[block]]
            return reach_of_left_out(tree, left_out, asked, keep_proba)

        reach = sparse.hstack(list(in_threads(reach_of, judges, n_jobs)), format="csr")
        judged = np.flatnonzero(np.diff(reach.indptr))
        if len(judged):
            reach, asked = reach[judged], asked._replace(values=asked.values[judged])
            shift = None if slopes is None else slopes.shift(asked, reach)
            for piece, distributions in weigh_targets(reach, y, shares, shift):
                yield start + judged[piece], distributions
