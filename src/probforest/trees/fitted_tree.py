"""One grown tree, frozen: flat arrays with an entry per node."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from joblib import effective_n_jobs

from ..kernels.descend import add_answers_of_leaves, visits_of_leaves
from ..kernels.layout import (
    DECREASE,
    FEATURE,
    IMPURITY,
    LEAF,
    MISSING_LEFT,
    RIGHT,
    SHARE_LEFT,
    WEIGHT,
    Cells,
    Nodes,
    Visits,
)
from ..kernels.route import add_answers, route
from ..support.threads import in_threads
from .leaf_slopes import LeafSlopes
from .leaf_targets import LeafTargets

LARGEST_BLOCK, SMALLEST_BLOCK = 2**21, 512  # bytes of the cells that a thread takes through all trees; objects
FEWEST_ANSWERS = 20_000  # of all trees for a block: to start a thread takes as long as a tenth of them
BLOCKS_PER_THREAD = 2  # so that all threads have work until the end


@dataclass(frozen=True, eq=False)
class FittedTree:
    """A fitted tree. Its arrays have an entry per node, in depth-first order, the root first."""

    nodes: Nodes
    targets: LeafTargets | None = None  # of a regressor: the training targets in its leaves
    conserves: bool = False  # whether objects that are pruned from a branch follow the other one, with their whole π
    slopes: LeafSlopes | None = None  # of a regressor with slopes

    def __repr__(self) -> str:
        return f"<FittedTree: {self.n_nodes} nodes, {len(self.leaves)} leaves, depth {self.depth}>"

    @property
    def feature(self) -> np.ndarray:
        """The feature that the node splits on, int32; -1 marks a leaf."""
        return self.nodes.links[:, FEATURE]

    @property
    def threshold(self) -> np.ndarray:
        """A cell goes left with the probability that its true value is <= threshold. NaN in a leaf."""
        return self.nodes.threshold

    @property
    def left(self) -> np.ndarray:
        """Number of the left child, int32; -1 in a leaf."""
        number = np.arange(1, self.n_nodes + 1, dtype=np.int32)
        return np.where(self.feature == LEAF, np.int32(LEAF), number)

    @property
    def right(self) -> np.ndarray:
        """Number of the right child, int32; -1 in a leaf."""
        return self.nodes.links[:, RIGHT]

    @property
    def missing_left(self) -> np.ndarray:
        """Probability that a missing cell goes left; NaN in a leaf."""
        return self.nodes.shares[:, MISSING_LEFT]

    @property
    def share_left(self) -> np.ndarray:
        """Share of the node's training weight that goes left; NaN in a leaf."""
        return self.nodes.shares[:, SHARE_LEFT]

    @property
    def value(self) -> np.ndarray:
        """Mean PMFs of labels, shape (n_nodes, n_classes); see `label_truth` for doubtful ones. Means of numbers,
        (n_nodes, 1)."""
        return self.nodes.value

    @property
    def weight(self) -> np.ndarray:
        """Expected number of training objects, the sum of w π."""
        return self.nodes.summary[:, WEIGHT]

    @property
    def impurity(self) -> np.ndarray:
        """Gini impurity, entropy in bits, or variance."""
        return self.nodes.summary[:, IMPURITY]

    @property
    def decrease(self) -> np.ndarray:
        """Impurity minus the cost of the node's split; 0 in a leaf."""
        return self.nodes.summary[:, DECREASE]

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.nodes.links)

    @property
    def leaves(self) -> np.ndarray:
        """The node numbers of the leaves, in order."""
        return np.flatnonzero(self.feature == LEAF)

    @property
    def leaf_numbers(self) -> np.ndarray:
        """The place of every node among the leaves, if it is one, (n_nodes,)."""
        return np.cumsum(self.feature == LEAF) - 1

    @property
    def depth(self) -> int:
        """Depth of the deepest leaf; 0 when the root is one."""
        depth = np.zeros(self.n_nodes, dtype=int)
        left, right = self.left, self.right
        for node in np.flatnonzero(self.feature != LEAF):  # parents come before their children
            depth[left[node]] = depth[right[node]] = depth[node] + 1
        return int(depth.max())

    def visits(self, query: Cells, keep_proba: float) -> Visits:
        """The leaves that every object reaches."""
        if self.conserves:
            return visits_of_leaves(query, self.nodes, keep_proba)
        return route(query, self.nodes, keep_proba)

    def importances(self, n_features: int) -> np.ndarray:
        """Impurity decrease of every feature, weighted by expected objects; sums to 1 if the tree has a split."""
        split = self.feature != LEAF
        total = np.bincount(self.feature[split], (self.weight * self.decrease)[split], minlength=n_features)
        return total / total.sum() if total.any() else total


def sum_of_answers(
    trees: Sequence[FittedTree],
    query: Cells,
    keep_proba: float,
    *,
    majority: bool = False,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Sum of the trees' class probabilities (or votes) for every object, (n, k).

    Threads share the objects, not the trees: each sum is made in the order of the trees, whatever `n_jobs`.
    """
    n_objects, n_classes = len(query.values), trees[0].value.shape[1]
    total = np.zeros((n_objects, n_classes))

    nodes, conserves = [tree.nodes for tree in trees], trees[0].conserves

    def answer(block: tuple[int, int]) -> None:
        first, last = block
        if conserves:
            add_answers_of_leaves(query, first, last, nodes, keep_proba, total)
        else:
            add_answers(query, first, last, nodes, keep_proba, majority, total)

    n_blocks = BLOCKS_PER_THREAD * effective_n_jobs(n_jobs)
    n_cached = LARGEST_BLOCK * n_objects // (query.values.nbytes + query.table.nbytes) + 1  # stay in the cache
    smallest = max(SMALLEST_BLOCK, FEWEST_ANSWERS // len(trees))
    block = max(smallest, min(-(-n_objects // n_blocks), n_cached))
    blocks = list(pairwise([*range(0, n_objects, block), n_objects]))
    for _ in in_threads(answer, blocks, n_jobs):
        pass
    return total
