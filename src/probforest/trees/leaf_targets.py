"""The training targets in the leaves of a tree: what makes a distribution of its answer.

A leaf holds each training object with the share w π / W of its weight. Objects with the same target are one entry.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ..kernels.layout import DECREASE, FEATURE, IMPURITY, INDEX, LEAF, RIGHT, SHARE_LEFT, Cells, Nodes
from ..kernels.route import route

_BLOCK = 8192  # objects whose ways through the tree are in memory


@dataclass(frozen=True, eq=False)
class LeafTargets:
    """The targets in all leaves of a tree, in the order of its leaves."""

    y: np.ndarray  # (m,) float64, increasing; trees of one fit share it
    first: np.ndarray  # (n_leaves + 1,) int64, where the entries of each leaf begin, and where the last one ends
    place: np.ndarray  # int32, of an entry's target in `y`; increasing in each leaf
    share: np.ndarray  # float64, of the weight of the leaf; they sum to 1 in each leaf

    @property
    def matrix(self) -> sparse.csr_matrix:
        """Shares, (n_leaves, m)."""
        return sparse.csr_matrix((self.share, self.place, self.first), shape=(len(self.first) - 1, len(self.y)))


class LeafMembers(NamedTuple):
    """Which training objects are in which leaves of a tree, in no order."""

    row: np.ndarray  # int64, the object
    leaf: np.ndarray  # int32, the number of the leaf
    mass: np.ndarray  # float64, w π


def find_members(nodes: Nodes, cells: Cells, weight: np.ndarray, keep_proba: float) -> LeafMembers:
    """Take the training objects that weigh something down their tree."""
    number = (np.cumsum(nodes.links[:, FEATURE] == LEAF) - 1).astype(INDEX)
    rows = np.flatnonzero(weight > 0)
    found = []
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK]
        row, leaf, reach = route(cells._replace(values=cells.values[block]), nodes, keep_proba)
        found.append((block[row], number[leaf], weight[block[row]] * reach))
    return LeafMembers(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def find_leaf_targets(members: LeafMembers, y: np.ndarray, place: np.ndarray) -> LeafTargets:
    """The targets of the objects in the leaves. `place` (n,) are their places in `y` (m,)."""
    entries = members.mass, (members.leaf, place[members.row])
    shape = int(members.leaf.max()) + 1, len(y)  # no leaf is empty
    together = sparse.coo_matrix(entries, shape=shape).tocsr()  # adds up equal targets
    together.sort_indices()
    sizes = np.diff(together.indptr)
    total = np.add.reduceat(together.data, together.indptr[:-1])
    share = together.data / np.repeat(total, sizes)
    return LeafTargets(y, together.indptr.astype(np.int64), together.indices.astype(INDEX), share)


def variances_of_nodes(nodes: Nodes, variance_of_leaves: np.ndarray) -> np.ndarray:
    """The variance in every node (n_nodes,), from those of the leaves: the decrease of a node's split is its variance
    minus the mean of its children's."""
    variance = np.zeros(len(nodes.links))
    feature, right = nodes.links[:, FEATURE], nodes.links[:, RIGHT]
    variance[feature == LEAF] = variance_of_leaves
    for parents in _levels_from_below(feature, right):
        to_left = nodes.shares[parents, SHARE_LEFT]
        below = to_left * variance[parents + 1] + (1 - to_left) * variance[right[parents]]
        variance[parents] = nodes.summary[parents, DECREASE] + below
    return variance


def _levels_from_below(feature: np.ndarray, right: np.ndarray) -> list[np.ndarray]:
    """The inner nodes of each level, the lowest level first."""
    level, levels = np.zeros(1, dtype=np.int64), []
    while len(level):
        parents = level[feature[level] != LEAF]
        levels.append(parents)
        level = np.concatenate([parents + 1, right[parents]])
    return levels[::-1]


def in_units(nodes: Nodes, targets: LeafTargets, center: float, scale: float) -> Nodes:
    """The nodes of a tree that was grown on (y − center) / scale, with means and variances of y itself."""
    matrix, standardized = targets.matrix, (targets.y - center) / scale
    variance = matrix @ np.square(standardized) - np.square(matrix @ standardized)
    summary = nodes.summary.copy()
    summary[:, IMPURITY] = variances_of_nodes(nodes, np.maximum(variance, 0.0)) * scale**2
    summary[:, DECREASE] *= scale**2
    return nodes._replace(summary=summary, value=nodes.value * scale + center)


def stacked(all_targets: Sequence[LeafTargets]) -> tuple[np.ndarray, sparse.csr_matrix]:
    """The targets of several trees: all of them (m,), increasing, and shares (all leaves, m), one tree's leaves after
    the other's."""
    y = all_targets[0].y
    if all(each.y is y for each in all_targets):
        return y, sparse.vstack([each.matrix for each in all_targets], format="csr")
    y = np.unique(np.concatenate([each.y for each in all_targets]))
    moved = []
    for each in all_targets:
        place = np.searchsorted(y, each.y)[each.place]
        moved.append(sparse.csr_matrix((each.share, place, each.first), shape=(len(each.first) - 1, len(y))))
    return y, sparse.vstack(moved, format="csr")
