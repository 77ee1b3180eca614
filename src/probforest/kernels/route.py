"""Objects go down a fitted tree (eq. 14, 15), one after the other: its cells and the tree stay in the cache."""

import numpy as np

from .arrays import enlarged
from .cdf import left_probability
from .jit import kernel
from .layout import FEATURE, INDEX, LEAF, LEFT, MISSING_LEFT, REAL, RIGHT, SHARE_LEFT, THRESHOLD, Path, Visits
from .propagate import branch


@kernel
def new_path(n_nodes):
    """Room for the longest way through a tree of `n_nodes` nodes."""
    return Path(
        np.empty(n_nodes, dtype=INDEX),
        np.empty(n_nodes, dtype=REAL),
        np.empty(n_nodes, dtype=np.bool_),
        np.empty(n_nodes, dtype=INDEX),
        np.empty(n_nodes, dtype=REAL),
    )


@kernel
def visit_leaves(query, row, nodes, keep_proba, table, path):
    """Find the leaves that one object reaches: fills `path.leaf` and `path.leaf_reach`, returns their number."""
    links, numbers, center, inverse_scale = nodes.links, nodes.numbers, query.center, query.inverse_scale
    exact = inverse_scale.shape[0] == 0
    n_leaves, n_pending = np.uint64(0), np.uint64(0)
    node, reach, main = np.uint64(0), 1.0, np.bool_(True)
    while True:
        feature = links[node, FEATURE]
        goes_on = False
        if feature == LEAF:
            path.leaf[n_leaves] = node
            path.leaf_reach[n_leaves] = reach
            n_leaves += np.uint64(1)
        else:
            x = center[row, np.uint64(feature)]
            scale = np.inf if exact else inverse_scale[row, np.uint64(feature)]
            to_left = left_probability(numbers[node, THRESHOLD], x, scale, numbers[node, MISSING_LEFT], table)
            left, right, reach_left, reach_right, main_left = branch(
                reach, main, to_left, numbers[node, SHARE_LEFT], keep_proba
            )
            if left & right:
                path.node[n_pending] = links[node, RIGHT]
                path.reach[n_pending] = reach_right
                path.main[n_pending] = main & (not main_left)
                n_pending += np.uint64(1)
            goes_on = left | right
            node = np.uint64(links[node, LEFT] if left else links[node, RIGHT])
            reach = reach_left if left else reach_right
            main = main & (main_left == left)
        if not goes_on:
            if n_pending == 0:
                return np.int64(n_leaves)
            n_pending -= np.uint64(1)
            node, reach, main = np.uint64(path.node[n_pending]), path.reach[n_pending], path.main[n_pending]


@kernel
def route(query, nodes, keep_proba, table):
    """The leaves that all objects reach, with their π. Returns Visits, and how many there are."""
    n_rows = query.center.shape[0]
    path = new_path(nodes.links.shape[0])
    rows, leaves, reach = np.empty(n_rows, dtype=INDEX), np.empty(n_rows, dtype=INDEX), np.empty(n_rows, dtype=REAL)
    n_visits = np.int64(0)
    for row in range(n_rows):
        n_leaves = visit_leaves(query, row, nodes, keep_proba, table, path)
        if n_visits + n_leaves > rows.shape[0]:
            capacity = 2 * (n_visits + n_leaves)
            rows, leaves = enlarged(rows, n_visits, capacity), enlarged(leaves, n_visits, capacity)
            reach = enlarged(reach, n_visits, capacity)
        for v in range(n_leaves):
            rows[n_visits + v] = row
            leaves[n_visits + v] = path.leaf[v]
            reach[n_visits + v] = path.leaf_reach[v]
        n_visits += n_leaves
    return Visits(rows, leaves, reach), n_visits


@kernel
def add_tree(query, first, last, nodes, keep_proba, table, majority, out):
    """Add one tree's answer for the objects [first, last) to the same rows of `out` (n, k): its probabilities or its
    vote."""
    n_classes = out.shape[1]
    path = new_path(nodes.links.shape[0])
    answer = np.empty(n_classes, dtype=REAL)
    for row in range(first, last):
        n_leaves = visit_leaves(query, row, nodes, keep_proba, table, path)
        reached = 0.0
        for c in range(n_classes):
            answer[c] = 0.0
        for v in range(n_leaves):
            leaf, reach = np.uint64(path.leaf[v]), path.leaf_reach[v]
            reached += reach
            for c in range(n_classes):
                answer[c] += reach * nodes.value[leaf, c]
        if majority:
            best = 0
            for c in range(1, n_classes):
                if answer[c] > answer[best]:
                    best = c
            out[row, best] += 1.0
        else:
            for c in range(n_classes):
                out[row, c] += answer[c] / reached
