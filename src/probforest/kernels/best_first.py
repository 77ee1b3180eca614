"""One tree whose best leaf is split first, up to a number of leaves: the trees of boosting.

Where `grow` has a stack of nodes, there is a pool of leaves here, each with its best split, which is known before it is
carried out. What is pruned follows the other branch, so that two children add up to their parent: the histograms of
the larger child are those of the parent minus those of the smaller one. Nodes are numbered as they come into being, and
put in depth-first order at the end.
"""

import math
from typing import NamedTuple

import numpy as np

from .eights import EIGHT
from .grow import NO_ROOM, AppliedSplit, enter_root, link, new_nodes, settle_all, write_leaf, write_split
from .histogram import add_whole_node, subtract_node
from .jit import inlined, kernel
from .layout import (
    FEATURE,
    LEAF,
    REAL,
    RIGHT,
    SAME_COST,
    WEIGHT,
    Bins,
    Members,
    NodeMass,
    Nodes,
    Search,
)
from .propagate import cells_of_feature, conserve, left_probabilities, new_members, part, sum_products
from .split import new_node_mass, new_search
from .statistic import add_losses, bounded_score, bounded_step, impurity_of, weight_of
from .stored_split import split_stored_node

COLUMNS = 3  # g, h, 1
# Columns of `Pool.places`.
START, STOP = 0, 1  # the members of the node
DEPTH = 2
STORED = 3  # which histogram is that of the node
SPLIT_FEATURE = 4  # of its best split
# Columns of `Pool.numbers`.
GAIN = 0  # of the best split; -inf: the node stays a leaf
THRESHOLD = 1
SPLIT_MISSING = 2  # probability that a missing cell goes left; NaN: the observed share
LEAST = 3  # weight of both sides that the search asks for
LOWER, UPPER = 4, 5  # what the values of its children must lie between, if answers must rise or fall with a feature


class Pool(NamedTuple):
    """The nodes under way, a row per node in the order in which they came into being."""

    places: np.ndarray  # (n_nodes, 5) int64, columns START to SPLIT_FEATURE
    numbers: np.ndarray  # (n_nodes, 6) float64, columns GAIN to UPPER
    sums: np.ndarray  # (n_nodes, COLUMNS) what the members add up to
    order: np.ndarray  # (n_nodes, 2) int64, scratch space of `order_nodes`
    segments: np.ndarray  # (n_nodes, 2) int64, the members of each node of the finished tree, if it is a leaf


class GrowSpace(NamedTuple):
    """All space that growing a tree needs; it serves for one tree after the other."""

    node: NodeMass
    search: Search
    members: Members
    pool: Pool
    nodes: Nodes  # in the order of the pool; RIGHT is the number of the left child there, the right one comes next
    ordered: Nodes


class Growth(NamedTuple):
    """What a boosted tree needs to know beyond Rules."""

    max_leaf_nodes: int
    learning_rate: float


@inlined
def find_split(this, bins, rules, space):
    """Search the best split of a node, and note it in the pool."""
    node, search, pool = space.node, space.search, space.pool
    places, numbers = pool.places, pool.numbers
    for c in range(COLUMNS):
        node.total[c] = pool.sums[this, c]
    weight = weight_of(node.total, rules.criterion)
    search.bounds[0], search.bounds[1] = numbers[this, LOWER], numbers[this, UPPER]
    numbers[this, GAIN] = -math.inf
    if weight < rules.min_split_weight or 2.0 * numbers[this, LEAST] > weight:
        return
    search.in_use[0] = places[this, STORED]
    split = split_stored_node(node, bins, search, rules, numbers[this, LEAST])
    gain = split.score - bounded_score(node.total, weight, rules, search.bounds)
    if gain > SAME_COST * weight:
        numbers[this, GAIN] = gain
        numbers[this, THRESHOLD] = split.threshold
        numbers[this, SPLIT_MISSING] = split.missing_left
        places[this, SPLIT_FEATURE] = split.feature


@inlined
def begin_node(this, parent, start, stop, depth, rules, space):
    """Write a node whose sums are known, as a leaf without a split. The root is its own `parent`."""
    pool, nodes, total, bounds = space.pool, space.nodes, space.node.total, space.search.bounds
    pool.places[this, START], pool.places[this, STOP], pool.places[this, DEPTH] = start, stop, depth
    pool.numbers[this, GAIN], pool.numbers[this, LEAST] = -math.inf, rules.min_leaf_weight
    for c in range(2):
        bounds[c] = pool.numbers[parent, LOWER + c]
        pool.numbers[this, LOWER + c] = bounds[c]
    for c in range(COLUMNS):
        total[c] = pool.sums[this, c]
    weight = weight_of(total, rules.criterion)
    write_leaf(nodes, this, weight, impurity_of(bounded_score(total, weight, rules, bounds), weight, rules.criterion))
    nodes.value[this, 0] = bounded_step(total[0], total[1], rules, bounds)


@inlined
def bound_children(parent, left, rules, space):
    """If answers must rise or fall with the feature that `parent` splits, let everything below its children stay on
    its own side of the mean of both."""
    places, numbers, value = space.pool.places, space.pool.numbers, space.nodes.value
    direction = rules.monotonic[places[parent, SPLIT_FEATURE]] if rules.monotonic.shape[0] > 0 else 0
    if direction == 0:
        return
    middle = 0.5 * (value[left, 0] + value[left + 1, 0])
    low, high = (left, left + 1) if direction > 0 else (left + 1, left)
    numbers[low, UPPER], numbers[high, LOWER] = middle, middle
    # The search saw grid masses; with the exact ones, values may go the wrong way.
    value[low, 0], value[high, 0] = min(value[low, 0], middle), max(value[high, 0], middle)


@inlined
def best_leaf(pool, n_nodes):
    """The leaf whose split gains most, the first of equals; LEAF if none gains anything."""
    best, gain = np.int64(LEAF), -math.inf
    for this in range(n_nodes):
        if pool.numbers[this, GAIN] > gain:
            best, gain = np.int64(this), pool.numbers[this, GAIN]
    return best


@kernel
def part_members(this, top, columns, rules, space):
    """Send the members of a node to its children: the larger one takes the place of the node, the other one goes to
    the free space from `top` on. Returns an AppliedSplit; its feature is LEAF, and nothing has changed, if a child
    weighs too little, and its ends are NO_ROOM if there is not enough room."""
    members, places, numbers = space.members, space.pool.places, space.pool.numbers
    start, stop = places[this, START], places[this, STOP]
    feature, threshold = places[this, SPLIT_FEATURE], numbers[this, THRESHOLD]
    to_left = space.node.to_left[: stop - start]
    of_feature, weight, node = cells_of_feature(columns, feature), space.nodes.summary[this, WEIGHT], space.node
    left_probabilities(of_feature, np.int64(0), threshold, members.row[start:stop], to_left, node.scratch, node.steps)
    missing_left, share_left = settle_all(
        to_left, members.mass[start:stop], weight, numbers[this, SPLIT_MISSING], columns.complete
    )
    n_right, n_left = conserve(members, start, stop, to_left, share_left, rules.keep_proba)
    left_weight, decrease = sum_products(members.mass[start:stop], to_left), numbers[this, GAIN] / weight
    right_end, left_end = NO_ROOM, NO_ROOM
    if min(weight - left_weight, left_weight) < rules.min_leaf_weight:
        feature = LEAF
    elif top + min(n_right, n_left) + EIGHT <= members.row.shape[0]:
        right_start, left_start = (top, start) if n_left >= n_right else (start, top)
        right_end, left_end = part(members, start, stop, right_start, left_start, to_left)
    return AppliedSplit(feature, threshold, missing_left, share_left, decrease, right_end, left_end)


@kernel
def begin_children(parent, left, top, split, is_last, target, bins, rules, space):
    """Write both children of a node, `left` and `left` + 1, and search their splits, unless no more is needed."""
    node, search, members, pool, nodes, _ = space
    left_start, right_start = pool.places[parent, START], top
    if split.left_end > top:  # then the left one is the smaller one
        left_start, right_start = top, pool.places[parent, START]
    left_stop, right_stop = split.left_end, split.right_end
    right, depth = left + 1, pool.places[parent, DEPTH] + 1
    smaller, larger, start, stop = left, right, left_start, left_stop
    if right_stop - right_start < left_stop - left_start:
        smaller, larger, start, stop = right, left, right_start, right_stop
    add_losses(members, start, stop, target, node)
    for c in range(COLUMNS):
        pool.sums[smaller, c] = node.total[c]
        pool.sums[larger, c] = pool.sums[parent, c] - node.total[c]
    pool.places[larger, STORED] = pool.places[parent, STORED]
    pool.places[smaller, STORED] = right // 2  # one more with each split
    begin_node(left, parent, left_start, left_stop, depth, rules, space)
    begin_node(right, parent, right_start, right_stop, depth, rules, space)
    bound_children(parent, left, rules, space)
    heavier = max(nodes.summary[left, WEIGHT], nodes.summary[right, WEIGHT])
    if is_last or depth >= rules.max_depth or 2.0 * rules.min_leaf_weight > heavier:
        return
    histogram = search.stored[pool.places[smaller, STORED]]
    add_whole_node(bins, members.row[start:stop], node.columns, histogram)
    subtract_node(search.stored[pool.places[larger, STORED]], histogram)
    find_split(left, bins, rules, space)
    find_split(right, bins, rules, space)


@kernel
def order_nodes(n_nodes, learning_rate, space):
    """Copy the nodes to `space.ordered` in depth-first order, and shrink their values."""
    pool, nodes, ordered = space.pool, space.nodes, space.ordered
    pending, n_pending = pool.order, 1
    pending[0, 0], pending[0, 1] = 0, LEAF
    for this in range(n_nodes):
        n_pending -= 1
        old, parent = pending[n_pending, 0], pending[n_pending, 1]
        link(ordered, parent, this)
        ordered.links[this, FEATURE] = nodes.links[old, FEATURE]
        ordered.links[this, RIGHT] = LEAF
        ordered.threshold[this] = nodes.threshold[old]
        for c in range(2):
            ordered.shares[this, c] = nodes.shares[old, c]
        for c in range(3):
            ordered.summary[this, c] = nodes.summary[old, c]
        ordered.value[this, 0] = learning_rate * nodes.value[old, 0]
        pool.segments[this, 0], pool.segments[this, 1] = pool.places[old, START], pool.places[old, STOP]
        if nodes.links[old, FEATURE] == LEAF:
            continue
        left = nodes.links[old, RIGHT]
        pending[n_pending, 0], pending[n_pending, 1] = left + 1, this
        pending[n_pending + 1, 0], pending[n_pending + 1, 1] = left, this
        n_pending += 2


@kernel
def add_to_scores(n_nodes, space, raw):
    """Add π × value of their leaf in `space.ordered` to the `raw` (n,) scores of all members."""
    members, segments, ordered = space.members, space.pool.segments, space.ordered
    for this in range(n_nodes):
        if ordered.links[this, FEATURE] == LEAF:
            value = ordered.value[this, 0]
            for m in range(segments[this, 0], segments[this, 1]):
                raw[np.uint64(members.row[m])] += members.reach[m] * value


@kernel
def grow_best_first(columns, bins, target, weight, rules, growth, space):
    """Grow a tree on the objects with `weight` (n,) > 0 into `space.ordered`; `columns` are the CellColumns.
    Returns the number of nodes; NO_ROOM if there was not enough room for members."""
    node, search, members, pool, nodes, _ = space
    n_objects, _ = enter_root(members, weight, target.class_index)
    top = np.int64(n_objects)
    add_losses(members, np.int64(0), top, target, node)
    for c in range(COLUMNS):
        pool.sums[0, c] = node.total[c]
    pool.places[0, STORED] = 0
    pool.numbers[0, LOWER], pool.numbers[0, UPPER] = -math.inf, math.inf
    begin_node(0, 0, 0, top, 0, rules, space)
    if rules.max_depth > 0 and growth.max_leaf_nodes > 1:
        add_whole_node(bins, members.row[:top], node.columns, search.stored[0])
        find_split(0, bins, rules, space)
    n_nodes = np.int64(1)
    while n_nodes < 2 * growth.max_leaf_nodes - 1:
        this = best_leaf(pool, n_nodes)
        if this == LEAF:
            break
        split = part_members(this, top, columns, rules, space)
        if split.feature == LEAF:  # exact masses are lighter than those of the grid: the next best with heavier sides
            pool.numbers[this, LEAST] *= 2.0
            find_split(this, bins, rules, space)
            continue
        if split.right_end == NO_ROOM:
            return NO_ROOM
        write_split(nodes, this, split)
        nodes.links[this, RIGHT] = n_nodes
        pool.numbers[this, GAIN] = -math.inf
        is_last = n_nodes + 2 >= 2 * growth.max_leaf_nodes - 1
        begin_children(this, n_nodes, top, split, is_last, target, bins, rules, space)
        top = max(split.right_end, split.left_end)
        n_nodes += 2
    order_nodes(n_nodes, growth.learning_rate, space)
    return n_nodes


# Not kernels: arrays that are made in Python need not be compiled.
def new_grow_space(n_objects: int, bins: Bins, max_leaf_nodes: int, seed: int, room: int = 6) -> GrowSpace:
    """Space for trees on up to `n_objects`, with room for `room` members per object; `seed` > 0 is that of the choice
    of features."""
    n_nodes = 2 * max_leaf_nodes - 1
    pool = Pool(
        places=np.zeros((n_nodes, 5), dtype=np.int64),
        numbers=np.zeros((n_nodes, 6), dtype=REAL),
        sums=np.zeros((n_nodes, COLUMNS), dtype=REAL),
        order=np.zeros((n_nodes + 1, 2), dtype=np.int64),
        segments=np.zeros((n_nodes, 2), dtype=np.int64),
    )
    return GrowSpace(
        node=new_node_mass(n_objects, COLUMNS, hard=False),
        search=new_search(bins, COLUMNS, seed, n_stored=max_leaf_nodes),
        members=new_members(room * (n_objects + 16)),
        pool=pool,
        nodes=new_nodes(n_nodes, 1),
        ordered=new_nodes(n_nodes, 1),
    )


def grow_leaf_by_leaf(columns, bins, target, weight, rules, growth, space) -> tuple[int, GrowSpace]:
    """Grow one tree on CellColumns. Returns its number of nodes, and the space that it is in: if there was too little,
    which is rare, a larger one."""
    while True:
        n_nodes = grow_best_first(columns, bins, target, weight, rules, growth, space)
        if n_nodes != NO_ROOM:
            return n_nodes, space
        space = space._replace(members=new_members(2 * len(space.members.row)))


def grown_nodes(n_nodes: int, space: GrowSpace) -> Nodes:
    """The tree that was grown into a space, which serves for the next one then."""
    return Nodes(*(array[:n_nodes].copy() for array in space.ordered))
