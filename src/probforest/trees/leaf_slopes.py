"""Slopes in the leaves of a tree: how the target changes with the features around a leaf.

A leaf answers with the mean of its targets wherever in it an object lies. Where the target changes steadily, objects at
its edge would be answered better by a linear model (local linear forests: Friedberg, Tibshirani, Athey & Wager 2020).
A leaf is too small for one. So it has the slopes of the smallest node above it that has enough objects, shrunk as far
as noise explains them. The targets of the leaf keep their weights, and are moved together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ..features.limits import TrainingSpread
from ..kernels.layout import FEATURE, INDEX, LEAF, REAL, RIGHT, WEIGHT, Cells, Nodes
from ..kernels.slopes import add_moments, add_to_leaves, add_to_models_above, slopes_of_leaves
from .leaf_targets import LeafMembers

LEAST_WEIGHT = 60.0  # expected objects of a node with slopes of its own
MOST_FEATURES = 64  # the work grows with the square of their number
_SHRINKAGE = 10.0  # prior variances of a slope, in deviations of all targets per deviation of the feature: 1 / this
_LEAST_PENALTY = 1e-6  # of features that are the same for all objects of a node, or follow from others
_NO_VARIANCE = 1e-12  # of the variance of all targets
_ENDS, _DEVIATION = (0.005, 0.995), (0.1587, 0.8413)  # shares of the training set


class Scales(NamedTuple):
    """Where values lie in the training set."""

    center: np.ndarray  # (d,) median
    width: np.ndarray  # (d,) half of the range of the middle 68 %; infinite for a feature with a single value
    low: np.ndarray  # (d,) the ends of the training set, but for its 0.5 % beyond each
    high: np.ndarray

    def places(self, cells: Cells) -> np.ndarray:
        """The centres of cells as places (n, d): in widths from the median, not beyond the ends. A missing value is at
        0."""
        centers = cells.values[:, : len(self.center), 0]
        places = (np.clip(centers, self.low, self.high) - self.center) / self.width
        return np.ascontiguousarray(np.where(np.isnan(places), 0.0, places))


def scales_of(spreads: Sequence[TrainingSpread]) -> Scales:
    """The scales of features, from how they are spread in the training set."""
    shares = np.array([0.5, *_DEVIATION, *_ENDS])
    center, left, right, low, high = np.array([each.quantile(shares) for each in spreads]).T
    width = np.where(right > left, (right - left) / 2, (high - low) / 4)
    return Scales(center, np.where(width > 0, width, np.inf), low, high)


@dataclass(frozen=True, eq=False)
class LeafSlopes:
    """The slopes of all leaves of a tree, in the order of its leaves."""

    model: np.ndarray  # (n_leaves,) int32, which of the slopes
    slope: np.ndarray  # (n_models, d) of the target, in its unit per width of the feature
    mean: np.ndarray  # (n_leaves, d) mean place of the training objects in the leaf


def find_leaf_slopes(nodes: Nodes, members: LeafMembers, places: np.ndarray, y: np.ndarray, scale: float) -> LeafSlopes:
    """Learn slopes from the objects in the leaves of a tree, which are at `places` (n, d). `y` (n,) are their targets
    with a deviation of 1, which is `scale` in the unit of the target."""
    model, above = _models(nodes)
    columns = np.column_stack([np.ones(len(y)), places, y])
    moments = np.zeros((len(above), columns.shape[1], columns.shape[1]))
    add_moments(members.row, model[members.leaf], members.mass, columns, moments)
    add_to_models_above(above, moments)
    mean, total = np.zeros((len(model), places.shape[1])), np.zeros(len(model))
    add_to_leaves(members.row, members.leaf, members.mass, places, mean, total)
    return LeafSlopes(model, scale * _slopes(moments), mean / total[:, None])


def _models(nodes: Nodes) -> tuple[np.ndarray, np.ndarray]:
    """The model of every leaf, and the model above each model, -1 for the first one: every node with enough objects
    has a model, and so has the root."""
    links, weight = nodes.links, nodes.summary[:, WEIGHT]
    parent = np.zeros(len(links), dtype=np.int64)
    inner = np.flatnonzero(links[:, FEATURE] != LEAF)
    parent[inner + 1] = parent[links[inner, RIGHT]] = inner
    has_one = weight >= LEAST_WEIGHT
    has_one[0] = True
    nodes_with = np.flatnonzero(has_one)
    number = np.cumsum(has_one) - 1
    above = number[parent[nodes_with]].astype(INDEX)
    above[0] = -1
    at = np.flatnonzero(links[:, FEATURE] == LEAF)
    while not has_one[at].all():  # a child weighs no more than its parent
        at = np.where(has_one[at], at, parent[at])
    return number[at].astype(INDEX), above


def _slopes(moments: np.ndarray) -> np.ndarray:
    """Ridge regressions (n_models, d), from Σ m (1, x, y)ᵀ (1, x, y), upper triangles.

    The penalty is the variance of the targets over the number of objects, that is the variance of what noise alone
    would make of a slope, over the variance that slopes are expected to have.
    """
    weight = moments[:, 0, 0]
    means = moments[:, 0, 1:] / weight[:, None]
    upper = np.triu(moments[:, 1:, 1:] / weight[:, None, None] - means[:, :, None] * means[:, None, :])
    covariance = upper + np.triu(upper, 1).transpose(0, 2, 1)
    variance = np.maximum(covariance[:, -1, -1], 0.0)
    penalty = np.maximum(_SHRINKAGE * variance / weight, _LEAST_PENALTY)
    matrix = covariance[:, :-1, :-1] + penalty[:, None, None] * np.eye(covariance.shape[1] - 1)
    slope = np.linalg.solve(matrix, covariance[:, :-1, -1:])[:, :, 0]
    return np.where(variance[:, None] > _NO_VARIANCE, slope, 0.0)


class Slopes(NamedTuple):
    """Those of several trees, one tree's leaves after the other's, and what makes places of values."""

    scales: Scales
    leaves: LeafSlopes

    def by_feature(self, query: Cells, reach: sparse.csr_matrix) -> np.ndarray:
        """What each feature adds to the means of objects, (n, d), that reach leaves with probabilities (n, all
        leaves)."""
        places = self.scales.places(query)
        found = np.empty(places.shape, dtype=REAL)
        rows = reach.indptr.astype(np.int64, copy=False), reach.indices.astype(INDEX, copy=False), reach.data
        slopes_of_leaves(*rows, places, self.leaves.model, self.leaves.slope, self.leaves.mean, found)
        return found

    def shift(self, query: Cells, reach: sparse.csr_matrix) -> np.ndarray:
        """How far the distributions of objects are moved, (n,)."""
        return self.by_feature(query, reach).sum(axis=1)


def stacked_slopes(of_trees: Sequence[LeafSlopes | None], scales: Scales) -> Slopes | None:
    """The slopes of several trees; None if a tree has none."""
    known = [each for each in of_trees if each is not None]
    if len(known) < len(of_trees):
        return None
    before = np.cumsum([0, *(len(each.slope) for each in known[:-1])])
    model = np.concatenate([each.model + start for each, start in zip(known, before, strict=True)])
    slope, mean = np.concatenate([each.slope for each in known]), np.concatenate([each.mean for each in known])
    return Slopes(scales, LeafSlopes(model.astype(INDEX), slope, mean))
