"""Objects go down a tree of boosting, node after node, by the kernels that move them in training.

Such trees are small: there are many objects in a node, and what they need of it is fetched once. In large trees, as
forests have them, `route` is faster.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

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
    leaves: Visits  # what has come to a leaf
    answer: np.ndarray  # (n_rows, k) of one tree


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


@kernel
def descend(columns, nodes, keep_proba, descent):
    """Take all objects of `columns` to their leaves, which are then in `descent.leaves`, the first leaf first. Returns
    their number; NO_ROOM if there is too little for members.

    The right child takes the place of its parent, the left one, which is visited first, goes on top.
    """
    members, pending, to_left, scratch, steps, leaves, _ = descent
    n_rows = columns.values.shape[1]
    for m in range(n_rows):
        members.row[m], members.reach[m], members.mass[m] = m, 1.0, 1.0
    pending[0, 0], pending[0, 1], pending[0, 2] = 0, 0, n_rows
    n_pending, n_leaves = np.int64(1), np.int64(0)
    while n_pending > 0:
        n_pending -= 1
        node, start, stop = pending[n_pending, 0], pending[n_pending, 1], pending[n_pending, 2]
        feature = np.int64(nodes.links[node, FEATURE])
        if feature == LEAF:
            n_leaves = keep_leaf(members, start, stop, node, leaves, n_leaves)
            continue
        if 2 * stop - start + 1 > members.row.shape[0]:
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
def add_leaves(descent, n_leaves, value, out):
    """Add π × value (n_nodes, k) of their leaves to `out` (n_rows, k): the sum over the leaves of a tree first, so that
    one tree after the other gives the same bits as all of them."""
    leaves, answer = descent.leaves, descent.answer
    for m in range(out.shape[0]):
        for c in range(out.shape[1]):
            answer[m, c] = 0.0
    for v in range(n_leaves):
        row, leaf = np.uint64(leaves.row[v]), np.uint64(leaves.leaf[v])
        for c in range(out.shape[1]):
            answer[row, c] += leaves.reach[v] * value[leaf, c]
    for m in range(out.shape[0]):
        for c in range(out.shape[1]):
            out[m, c] += answer[m, c]


# Not kernels: arrays that are made in Python need not be compiled.
def new_descent(n_rows: int, most_nodes: int, n_values: int, keep_proba: float) -> Descent:
    """Space for `n_rows` objects and trees of up to `most_nodes` nodes with `n_values` each. The probabilities of an
    object in the leaves are above `keep_proba`, and add up to 1."""
    n_leaves = most_nodes // 2 + 1
    most_entries = n_leaves if keep_proba * n_leaves < 1 else int(1 / keep_proba) + 1
    return Descent(
        members=new_members(_ROOM * (n_rows + 1)),
        pending=np.empty((most_nodes + 1, 3), dtype=np.int64),
        to_left=np.empty(n_rows, dtype=REAL),
        scratch=np.empty((2, SCRATCH), dtype=REAL),
        steps=np.empty(SCRATCH, dtype=INDEX),
        leaves=_new_visits(n_rows * most_entries),
        answer=np.empty((n_rows, n_values), dtype=REAL),
    )


def _new_visits(capacity: int) -> Visits:
    return Visits(*(np.empty(capacity, dtype=kind) for kind in (INDEX, INDEX, REAL)))


def _descended(columns: CellColumns, nodes: Nodes, keep_proba: float, descent: Descent) -> tuple[int, Descent]:
    """`descend`, and the space that it took: if there was too little, which is rare, a larger one."""
    while True:
        n_leaves = descend(columns, nodes, keep_proba, descent)
        if n_leaves != NO_ROOM:
            return n_leaves, descent
        descent = descent._replace(members=new_members(2 * len(descent.members.row)))


def _blocks(query: Cells, first: int, last: int) -> Iterator[tuple[int, CellColumns]]:
    """The objects [first, last) in blocks that start together: the first one, and the columns of all."""
    for start in range(first, last, _MOST_ROWS):
        yield start, cell_columns(query._replace(values=query.values[start : min(start + _MOST_ROWS, last)]))


def add_answers_of_leaves(
    query: Cells, first: int, last: int, trees: Sequence[Nodes], keep_proba: float, out: np.ndarray
) -> None:
    """Add the trees' values for the objects [first, last) to the same rows of `out` (n, k)."""
    if has_single_paths(query):
        add_exact_answers(query, first, last, trees, False, out)
        return
    most_nodes = max(len(nodes.value) for nodes in trees)
    descent = new_descent(min(_MOST_ROWS, last - first), most_nodes, out.shape[1], keep_proba)
    for start, columns in _blocks(query, first, last):
        for nodes in trees:
            n_leaves, descent = _descended(columns, nodes, keep_proba, descent)
            add_leaves(descent, n_leaves, nodes.value, out[start : start + columns.values.shape[1]])


def visits_of_leaves(query: Cells, nodes: Nodes, keep_proba: float) -> Visits:
    """The leaves that all objects reach, with their π."""
    if has_single_paths(query):
        return route(query, nodes, keep_proba)
    n_objects, found = len(query.values), []
    n_nodes, n_values = nodes.value.shape
    descent = new_descent(min(_MOST_ROWS, n_objects), n_nodes, n_values, keep_proba)
    for start, columns in _blocks(query, 0, n_objects):
        count, descent = _descended(columns, nodes, keep_proba, descent)
        row, node, reach = (array[:count].copy() for array in descent.leaves)
        found.append((row + np.int32(start), node, reach))
    return Visits(*(np.concatenate(parts) for parts in zip(*found, strict=True)))
