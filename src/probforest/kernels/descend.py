"""Objects go down a tree of boosting, node after node, by the kernels that move them in training.

Such trees are small: there are many objects in a node, and what they need of it is fetched once. In large trees, as
forests have them, `route` is faster.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from .eights import EIGHT
from .jit import inlined, kernel
from .layout import (
    FEATURE,
    INDEX,
    LEAF,
    MISSING_LEFT,
    REAL,
    RIGHT,
    SCRATCH,
    SHARE_LEFT,
    CellColumns,
    Cells,
    Members,
    Nodes,
    Visits,
)
from .propagate import cell_columns, cells_of_feature, conserve, left_probabilities, new_members, part
from .route import add_exact_answers, has_single_paths, route

_MOST_ROWS = 1024  # objects that start together: their cells stay in the second fastest cache
_ROOM = 6  # members per object; if that is too little, there will be more
NO_ROOM = -1  # instead of a number of visits


class Descent(NamedTuple):
    """Space for objects that go down a tree together."""

    members: Members
    pending: np.ndarray  # (n_nodes, 3) int64, nodes still to be visited and their members [start, stop)
    to_left: np.ndarray  # (n_rows,)
    scratch: np.ndarray  # (2, SCRATCH) see left_probabilities
    steps: np.ndarray  # (SCRATCH,) int32, the same
    leaves: Visits  # what has come to a leaf; empty: it is added up at once
    answer: np.ndarray  # (n_rows, k) of one tree, the sum of its leaves


@inlined
def give_missing(to_left, missing_left):
    """Give missing members (NaN in `to_left` (m,)) their probability to go left."""
    for m in range(to_left.shape[0]):
        if math.isnan(to_left[m]):
            to_left[m] = missing_left


@inlined
def keep_leaf(members, start, stop, node, leaves, n_leaves):
    """Append the members [start, stop), which are in a leaf, to `leaves`. Returns how many these are then."""
    for m in range(stop - start):
        leaves.row[n_leaves + m] = members.row[start + m]
        leaves.leaf[n_leaves + m] = node
        leaves.reach[n_leaves + m] = members.reach[start + m]
    return n_leaves + stop - start


@inlined
def add_leaf(members, start, stop, value, answer):
    """Add π × `value` (k,) of a leaf to the `answer` (n_rows, k) of its members [start, stop)."""
    for m in range(start, stop):
        row = np.uint64(members.row[m])
        for c in range(value.shape[0]):
            answer[row, c] += members.reach[m] * value[c]


@kernel
def descend(columns, nodes, keep_proba, descent):
    """Take all objects of `columns` to their leaves, the first leaf first: these are then in `descent.leaves`, or added
    to `descent.answer` if leaves are not kept. Returns how many were kept; NO_ROOM if there is too little for members.

    The right child takes the place of its parent, the left one, which is visited first, goes on top.
    """
    members, pending, to_left, scratch, steps, leaves, answer = descent
    n_rows, adds = columns.values.shape[1], leaves.row.shape[0] == 0
    for m in range(n_rows):
        members.row[m], members.reach[m], members.mass[m] = m, 1.0, 1.0
    pending[0, 0], pending[0, 1], pending[0, 2] = 0, 0, n_rows
    n_pending, n_leaves = np.int64(1), np.int64(0)
    while n_pending > 0:
        n_pending -= 1
        node, start, stop = pending[n_pending, 0], pending[n_pending, 1], pending[n_pending, 2]
        feature = np.int64(nodes.links[node, FEATURE])
        if feature == LEAF and adds:
            add_leaf(members, start, stop, nodes.value[node], answer)
            continue
        if feature == LEAF:
            n_leaves = keep_leaf(members, start, stop, node, leaves, n_leaves)
            continue
        if 2 * stop - start + EIGHT > members.row.shape[0]:
            return np.int64(NO_ROOM)
        here, rows, threshold = to_left[: stop - start], members.row[start:stop], nodes.threshold[node]
        of_feature = cells_of_feature(columns, feature)
        left_probabilities(of_feature, np.int64(0), threshold, rows, here, scratch, steps)
        if not columns.complete:
            give_missing(here, nodes.shares[node, MISSING_LEFT])
        conserve(members, start, stop, here, nodes.shares[node, SHARE_LEFT], keep_proba)
        right_end, left_end = part(members, start, stop, start, stop, here)
        pending[n_pending, 0], pending[n_pending, 1], pending[n_pending, 2] = nodes.links[node, RIGHT], start, right_end
        n_pending += right_end > start
        pending[n_pending, 0], pending[n_pending, 1], pending[n_pending, 2] = node + 1, stop, left_end
        n_pending += left_end > stop
    return n_leaves


@kernel
def add_trees(columns, nodes, first_node, tree, keep_proba, descent, out):
    """Add the answers of trees from `tree` on to `out` (n_rows, k). The trees are the parts of `nodes` between
    `first_node` (n_trees + 1,). Returns the number of trees, or the first one that there was too little room for.

    The sum over the leaves of a tree comes first, so that one tree after the other gives the same bits as all of them.
    """
    answer = descent.answer
    while tree < first_node.shape[0] - 1:
        first, last = first_node[tree], first_node[tree + 1]
        here = Nodes(
            nodes.links[first:last],
            nodes.threshold[first:last],
            nodes.shares[first:last],
            nodes.summary[first:last],
            nodes.value[first:last],
        )
        for m in range(out.shape[0]):
            for c in range(out.shape[1]):
                answer[m, c] = 0.0
        if descend(columns, here, keep_proba, descent) == NO_ROOM:
            break
        for m in range(out.shape[0]):
            for c in range(out.shape[1]):
                out[m, c] += answer[m, c]
        tree += 1
    return tree


# Not kernels: arrays that are made in Python need not be compiled.
def new_descent(n_rows: int, most_nodes: int, n_values: int, most_leaves: int = 0) -> Descent:
    """Space for `n_rows` objects and trees of up to `most_nodes` nodes with `n_values` each. With `most_leaves` > 0, up
    to so many leaves of an object are kept."""
    return Descent(
        members=new_members(_ROOM * (n_rows + 1)),
        pending=np.empty((most_nodes + 1, 3), dtype=np.int64),
        to_left=np.empty(n_rows, dtype=REAL),
        scratch=np.empty((2, SCRATCH), dtype=REAL),
        steps=np.empty(SCRATCH, dtype=INDEX),
        leaves=_new_visits(n_rows * most_leaves),
        answer=np.empty((n_rows, n_values), dtype=REAL),
    )


def _new_visits(capacity: int) -> Visits:
    return Visits(*(np.empty(capacity, dtype=kind) for kind in (INDEX, INDEX, REAL)))


def _with_more_room(descent: Descent) -> Descent:
    return descent._replace(members=new_members(2 * len(descent.members.row)))


def _most_leaves(n_nodes: int, keep_proba: float) -> int:
    """Leaves that an object can reach: its probabilities in them are above `keep_proba`, and add up to 1."""
    n_leaves = n_nodes // 2 + 1
    return n_leaves if keep_proba * n_leaves < 1 else int(1 / keep_proba) + 1


class Block(NamedTuple):
    """Objects that start together."""

    first: int
    last: int
    columns: CellColumns  # their cells


def blocks_of(query: Cells, first: int, last: int) -> Iterator[Block]:
    """The objects [first, last) in blocks."""
    for start in range(first, last, _MOST_ROWS):
        stop = min(start + _MOST_ROWS, last)
        yield Block(start, stop, cell_columns(query._replace(values=query.values[start:stop])))


def add_answers_of_leaves(
    query: Cells, first: int, last: int, trees: Sequence[Nodes], keep_proba: float, out: np.ndarray
) -> None:
    """Add the trees' values for the objects [first, last) to the same rows of `out` (n, k)."""
    if has_single_paths(query):
        add_exact_answers(query, first, last, trees, False, out)
    else:
        add_answers_of_blocks(blocks_of(query, first, last), trees, keep_proba, out)


def add_answers_of_blocks(blocks: Iterable[Block], trees: Sequence[Nodes], keep_proba: float, out: np.ndarray) -> None:
    """The same for objects in blocks."""
    sizes = [len(nodes.value) for nodes in trees]
    descent = None
    # One call for all trees: going from Python to a kernel takes as long as a hundred objects of a tree.
    nodes, first_node = Nodes(*map(np.concatenate, zip(*trees, strict=True))), np.append(0, np.cumsum(sizes))
    for first, last, columns in blocks:
        here, tree = out[first:last], 0
        descent = new_descent(last - first, max(sizes), out.shape[1]) if descent is None else descent
        while True:
            tree = add_trees(columns, nodes, first_node, np.int64(tree), keep_proba, descent, here)
            if tree == len(trees):
                break
            descent = _with_more_room(descent)  # which is rare


def visits_of_leaves(query: Cells, nodes: Nodes, keep_proba: float) -> Visits:
    """The leaves that all objects reach, with their π."""
    if has_single_paths(query):
        return route(query, nodes, keep_proba)
    n_objects, found = len(query.values), []
    n_nodes, n_values = nodes.value.shape
    descent = new_descent(min(_MOST_ROWS, n_objects), n_nodes, n_values, _most_leaves(n_nodes, keep_proba))
    for start, _, columns in blocks_of(query, 0, n_objects):
        while (count := descend(columns, nodes, keep_proba, descent)) == NO_ROOM:
            descent = _with_more_room(descent)
        row, node, reach = (array[:count].copy() for array in descent.leaves)
        found.append((row + np.int32(start), node, reach))
    return Visits(*(np.concatenate(parts) for parts in zip(*found, strict=True)))
