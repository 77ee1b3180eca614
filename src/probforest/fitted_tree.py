"""One grown tree as flat arrays."""

from dataclasses import dataclass, fields

import numpy as np

from .families import normal_shape
from .kernels.layout import LEAF, Cells, Nodes, Visits
from .kernels.route import add_tree, route


@dataclass(frozen=True, eq=False)
class FittedTree:
    """A fitted tree: one entry per node in every array, in depth-first order, the root first.

    Attributes
    ----------
    feature : ndarray of int32
        The feature that the node splits on; -1 marks a leaf.
    threshold : ndarray of float64
        A cell goes left with the probability that its true value is <= threshold. NaN in a leaf.
    left, right : ndarray of int32
        The children's numbers; -1 in a leaf.
    missing_left : ndarray of float64
        The probability that a missing cell goes left.
    share_left : ndarray of float64
        The share of the node's training weight that goes left.
    value : ndarray of shape (n_nodes, n_classes)
        Class probabilities.
    weight : ndarray of float64
        Expected number of training objects (the sum of w π).
    impurity : ndarray of float64
        Gini impurity, or entropy in bits.
    decrease : ndarray of float64
        Impurity minus the cost of the node's split; 0 in a leaf.
    """

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    missing_left: np.ndarray
    share_left: np.ndarray
    value: np.ndarray
    weight: np.ndarray
    impurity: np.ndarray
    decrease: np.ndarray

    @property
    def nodes(self) -> Nodes:
        """As the kernels take it."""
        return Nodes(*(getattr(self, field.name) for field in fields(self)))

    @property
    def n_nodes(self) -> int:
        return len(self.feature)

    @property
    def leaves(self) -> np.ndarray:
        """The node numbers of the leaves, in order."""
        return np.flatnonzero(self.feature == LEAF)

    @property
    def depth(self) -> int:
        """Depth of the deepest leaf; 0 when the root is one."""
        depth = np.zeros(self.n_nodes, dtype=int)
        for node in np.flatnonzero(self.feature != LEAF):  # parents come before their children
            depth[self.left[node]] = depth[self.right[node]] = depth[node] + 1
        return int(depth.max())

    def add_answers(self, cells: Cells, first: int, last: int, keep_proba: float, majority: bool, out: np.ndarray):
        """Add the class probabilities (or the votes) of the objects [first, last) to `out`."""
        add_tree(cells, first, last, self.nodes, keep_proba, normal_shape().table, majority, out)

    def visits(self, cells: Cells, keep_proba: float) -> Visits:
        """The leaves that every object of `cells` reaches."""
        found = route(cells, 0, cells.center.shape[1], self.nodes, keep_proba, normal_shape().table)
        used = slice(found.n_visits)
        return Visits(found.row[used], found.leaf[used], found.reach[used], found.n_visits)

    def importances(self, n_features: int) -> np.ndarray:
        """Impurity decrease of every feature, weighted by expected objects; sums to 1 if the tree has a split."""
        split = self.feature != LEAF
        total = np.bincount(self.feature[split], (self.weight * self.decrease)[split], minlength=n_features)
        return total / total.sum() if total.any() else total
