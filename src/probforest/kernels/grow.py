"""One tree, from the root down: a stack of nodes, the next one always on top."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .jit import inlined, kernel
from .layout import (
    DECREASE,
    FEATURE,
    IMPURITY,
    INDEX,
    LEAF,
    MISSING_LEFT,
    REAL,
    RIGHT,
    SAME_COST,
    SHARE_LEFT,
    WEIGHT,
    Nodes,
)
from .propagate import left_probabilities, new_members, replace_parent, send, sum_products
from .split import new_node_mass, new_search, split_node
from .statistic import add_members, impurity_of, is_pure, n_values, score_of, weight_of, write_value

NO_ROOM, TOO_MANY_NODES = 0, -1  # instead of a number of nodes
_LARGE, _HIGH = 16, 1.5  # a node with one in so many objects; a stack with so many members per object
INDEX_LIMIT = int(np.iinfo(INDEX).max)


class AppliedSplit(NamedTuple):
    """A split that was carried out, and where its children end on the stack of members."""

    feature: int
    threshold: float
    missing_left: float
    share_left: float
    decrease: float
    right_end: int
    left_end: int


@inlined
def write_leaf(nodes, this, weight, impurity):
    """Every node begins as a leaf."""
    nodes.links[this, FEATURE] = LEAF
    nodes.links[this, RIGHT] = LEAF
    nodes.threshold[this] = math.nan
    nodes.shares[this, MISSING_LEFT] = math.nan
    nodes.shares[this, SHARE_LEFT] = math.nan
    nodes.summary[this, WEIGHT] = weight
    nodes.summary[this, IMPURITY] = impurity
    nodes.summary[this, DECREASE] = 0.0


@inlined
def write_split(nodes, this, split):
    nodes.links[this, FEATURE] = split.feature
    nodes.threshold[this] = split.threshold
    nodes.shares[this, MISSING_LEFT] = split.missing_left
    nodes.shares[this, SHARE_LEFT] = split.share_left
    nodes.summary[this, DECREASE] = split.decrease


@inlined
def link(nodes, parent, child):
    """The left child comes right behind its parent, and needs no link."""
    if parent != LEAF and child != parent + 1:
        nodes.links[parent, RIGHT] = child


@inlined
def enter_root(members, weight, class_index):
    """Put all objects that weigh something into `members`, π = 1; returns their number, and what they weigh."""
    count, total = 0, 0.0
    for i in range(weight.shape[0]):
        if weight[i] > 0.0:
            members.row[count] = i
            members.reach[count] = 1.0
            members.mass[count] = weight[i]
            members.main[count] = True
            members.class_index[count] = class_index[i]
            count += 1
            total += weight[i]
    return count, total


@inlined
def settle_missing(to_left, mass, missing_left):
    """Give missing members (NaN in `to_left` (m,)) their probability to go left.

    NaN as `missing_left` stands for the share of the observed weight. Returns (missing_left, share_left).
    """
    left, observed, missing = 0.0, 0.0, 0.0
    for m in range(to_left.shape[0]):
        if math.isnan(to_left[m]):
            missing += mass[m]
        else:
            left += mass[m] * to_left[m]
            observed += mass[m]
    if math.isnan(missing_left):
        missing_left = left / observed
    if missing > 0.0:
        for m in range(to_left.shape[0]):
            if math.isnan(to_left[m]):
                to_left[m] = missing_left
    return missing_left, (left + missing * missing_left) / (observed + missing)


@inlined
def has_missing(to_left):
    """Whether some of the probabilities (m,) are NaN."""
    found = False
    for m in range(to_left.shape[0]):
        found |= to_left[m] != to_left[m]
    return found


@inlined
def settle_all(to_left, mass, weight, missing_left, complete):
    """`settle_missing` of members who have the `weight` together; quicker if there is no missing cell. A node without
    any has the same bits in a table with some and in a `complete` one."""
    if not complete and has_missing(to_left):
        return settle_missing(to_left, mass, missing_left)
    share_left = sum_products(mass, to_left) / weight
    return (share_left if math.isnan(missing_left) else missing_left), share_left


@inlined
def apply_best_split(members, start, stop, node_weight, score, node, cells, bins, search, rules):
    """Find the split of the node [start, stop) and write its children above it on the stack.

    The search works with the masses of the grid; the exact ones, of the members that really enter a child, may be
    smaller. When they fall short of `min_leaf_weight`, the next best split with heavier sides is taken.
    Returns an AppliedSplit, whose feature is LEAF when the node stays a leaf.
    """
    index = members.row[start:stop]
    least = rules.min_leaf_weight
    n_drawn = np.int64(0)
    while 2.0 * least <= node_weight:
        split, n_drawn = split_node(index, node, bins, search, rules, least, n_drawn)
        decrease = (split.score - score) / node_weight
        if not decrease > SAME_COST:
            break
        to_left = node.to_left[: stop - start]
        left_probabilities(cells, split.feature, split.threshold, index, to_left, node.scratch, node.steps)
        missing_left, share_left = settle_all(
            to_left, node.mass[: stop - start], node_weight, split.missing_left, cells.complete
        )
        right_end, left_end, right_weight, left_weight = send(
            members, start, stop, stop, stop + (stop - start), to_left, share_left, rules.keep_proba
        )
        if min(right_weight, left_weight) >= rules.min_leaf_weight:
            return AppliedSplit(split.feature, split.threshold, missing_left, share_left, decrease, right_end, left_end)
        least *= 2.0
    return AppliedSplit(LEAF, math.nan, math.nan, math.nan, 0.0, stop, stop)


@inlined
def place_children(members, start, stop, split, n_objects):
    """Where the children of the node [start, stop) are: start and end of the right one, and of the left one.

    Those of a node with a small share of the objects stay where `send` wrote them. The place of their parent is lost
    until both are done, but nothing is copied. Those of a larger one move down, and all if the stack is high.
    """
    right, right_end, left, left_end = stop, split.right_end, stop + (stop - start), split.left_end
    if stop - start > n_objects // _LARGE or stop > _HIGH * n_objects:
        right_end, left_end = replace_parent(members, start, stop, right_end, left_end)
        right, left = start, right_end
    return right, right_end, left, left_end


@inlined
def push(pending, count, start, stop, parent, depth):
    """Put a node to be made on top of `count` others."""
    pending[count, 0] = start
    pending[count, 1] = stop
    pending[count, 2] = parent
    pending[count, 3] = depth


@kernel
def grow_nodes(cells, bins, target, weight, rules, node, search, members, pending, nodes):
    """Fill `nodes`, which like `members` and `pending` may be too small; the others are scratch space.
    Returns the number of nodes; NO_ROOM or TOO_MANY_NODES if there was not enough room."""
    n_objects, root_weight = enter_root(members, weight, target.class_index)
    push(pending, 0, 0, n_objects, LEAF, 0)
    n_nodes, n_pending = np.int64(0), np.int64(1)
    while n_pending > 0:
        n_pending -= 1
        start, stop = pending[n_pending, 0], pending[n_pending, 1]
        parent, depth = pending[n_pending, 2], pending[n_pending, 3]
        if n_nodes == nodes.threshold.shape[0]:
            return TOO_MANY_NODES
        if n_pending + 2 > pending.shape[0] or 3 * stop - 2 * start + 1 > members.row.shape[0]:
            return NO_ROOM
        this = n_nodes
        n_nodes += 1
        link(nodes, parent, this)
        add_members(members, start, stop, target, node)
        node_weight = weight_of(node.total, rules.criterion)
        score = score_of(node.total, node_weight, rules)
        impurity = impurity_of(score, node_weight, rules.criterion)
        write_leaf(nodes, this, node_weight, impurity)
        write_value(nodes.value[this], node.total, node_weight, rules)
        stays_leaf = depth >= rules.max_depth or node_weight < rules.min_split_weight
        if stays_leaf or is_pure(impurity, rules.criterion):
            continue
        split = apply_best_split(members, start, stop, node_weight, score, node, cells, bins, search, rules)
        if split.feature == LEAF or split.decrease * node_weight / root_weight < rules.min_impurity_decrease:
            continue
        write_split(nodes, this, split)
        right, right_end, left, left_end = place_children(members, start, stop, split, n_objects)
        push(pending, n_pending, right, right_end, this, depth + 1)
        push(pending, n_pending + 1, left, left_end, this, depth + 1)
        n_pending += 2
    return n_nodes


# Not kernels: arrays that are made in Python need not be compiled.
def new_nodes(capacity: int, n_values: int) -> Nodes:
    return Nodes(
        links=np.empty((capacity, 2), dtype=INDEX),
        threshold=np.empty(capacity, dtype=REAL),
        shares=np.empty((capacity, 2), dtype=REAL),
        summary=np.empty((capacity, 3), dtype=REAL),
        value=np.empty((capacity, n_values), dtype=REAL),
    )


@dataclass
class Room:
    """For how many nodes, and members on the stack, there is space per object. What was too little for one tree is not
    tried with the next one."""

    per_object: int = 4


def grow(cells, bins, target, weight, rules, seed, most_nodes=INDEX_LIMIT, room: Room | None = None):
    """Grow one tree on the objects with `weight` (n,) > 0; `seed` > 0. Returns its Nodes; None if it would have more
    than `most_nodes`.

    If there is too little `room`, which is hardly ever so, the tree is grown again with twice as much.
    """
    room = Room() if room is None else room
    n_objects, n_columns = int(np.count_nonzero(weight)), target.columns.shape[1]
    node, per_object = new_node_mass(n_objects, n_columns, target.columns.shape[0] == 0), room.per_object
    while True:
        capacity = per_object * (n_objects + 16)
        node_capacity = min(capacity, most_nodes)
        nodes = new_nodes(node_capacity, n_values(rules.criterion, n_columns))
        pending = np.empty((capacity, 4), dtype=np.int64)
        search, members = new_search(bins, n_columns, seed), new_members(capacity)
        n_nodes = grow_nodes(cells, bins, target, weight, rules, node, search, members, pending, nodes)
        if n_nodes > 0:
            room.per_object = max(room.per_object, per_object)
            return Nodes(*(array[:n_nodes].copy() for array in nodes))
        if n_nodes == TOO_MANY_NODES and node_capacity == most_nodes:
            return None
        per_object *= 2
