"""What follows for the other nodes of a tree when its leaves get new values."""

import numpy as np

from ..kernels.layout import FEATURE, LEAF, RIGHT, WEIGHT, Nodes


def revise(n_nodes: int, nodes: Nodes, monotonic: np.ndarray) -> None:
    """Let the first `n_nodes`, a tree in depth-first order whose leaves have new values, answer consistently: where
    answers must rise or fall with a feature (`monotonic`, as in Rules), leaves stay on their side of the mean of a
    split; and inner nodes have the mean of their children."""
    if len(monotonic):
        _fill_inner_nodes(n_nodes, nodes)
        _bind_leaves(n_nodes, nodes, monotonic)
    _fill_inner_nodes(n_nodes, nodes)


def _fill_inner_nodes(n_nodes: int, nodes: Nodes) -> None:
    weight, value = nodes.summary[:, WEIGHT], nodes.value[:, 0]
    for this in range(n_nodes - 1, -1, -1):  # children come behind their parents
        if nodes.links[this, FEATURE] != LEAF:
            left, right = this + 1, nodes.links[this, RIGHT]
            value[this] = (weight[left] * value[left] + weight[right] * value[right]) / (weight[left] + weight[right])


def _bind_leaves(n_nodes: int, nodes: Nodes, monotonic: np.ndarray) -> None:
    """From the root down, everything on either side of a split of a bound feature keeps to its side of a middle."""
    bounds = np.tile([-np.inf, np.inf], (n_nodes, 1))
    value = nodes.value[:, 0]
    for this in range(n_nodes):
        value[this] = np.clip(value[this], *bounds[this])
        feature, right = nodes.links[this]
        if feature == LEAF:
            continue
        bounds[this + 1] = bounds[right] = bounds[this]
        if monotonic[feature] != 0:
            low, high = (this + 1, right) if monotonic[feature] > 0 else (right, this + 1)
            middle = np.clip(0.5 * (value[low] + value[high]), *bounds[this])
            bounds[low, 1] = bounds[high, 0] = middle
