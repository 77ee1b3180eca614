"""Blocks of objects go down a fitted tree (eq. 14, 15)."""

import numpy as np

from .arrays import enlarged
from .jit import kernel
from .layout import FEATURE, INDEX, LEAF, LEFT, MISSING_LEFT, REAL, RIGHT, SHARE_LEFT, THRESHOLD, Visits
from .propagate import left_probabilities, new_members, replace_parent, send, with_room
from .stack import new_stack, push


@kernel
def new_visits(capacity):
    return Visits(np.empty(capacity, dtype=INDEX), np.empty(capacity, dtype=INDEX), np.empty(capacity, dtype=REAL), 0)


@kernel
def with_leaf(visits, members, start, stop, leaf, first):
    """Append the members [start, stop) as visits of `leaf`."""
    used = visits.n_visits
    end = used + stop - start
    row, leaves, reach = visits.row, visits.leaf, visits.reach
    if end > row.shape[0]:
        row, leaves, reach = (
            enlarged(row, used, 2 * end),
            enlarged(leaves, used, 2 * end),
            enlarged(reach, used, 2 * end),
        )
    for m in range(stop - start):
        row[used + m] = members.row[start + m] - first
        leaves[used + m] = leaf
        reach[used + m] = members.reach[start + m]
    return Visits(row, leaves, reach, end)


@kernel
def route(cells, first, last, nodes, keep_proba, table):
    """The leaves that the objects [first, last) reach, with their π."""
    n_rows = last - first
    members = new_members(4 * n_rows)
    for m in range(n_rows):
        members.row[m] = first + m
        members.reach[m] = 1.0
        members.main[m] = True
    probability = np.empty(n_rows, dtype=REAL)
    visits = new_visits(4 * n_rows)
    pending = new_stack(n_rows, np.int64(0))
    n_pending = np.int64(1)
    while n_pending > 0:
        n_pending -= 1
        start, stop = pending[n_pending, 0], pending[n_pending, 1]
        this, depth = pending[n_pending, 2], pending[n_pending, 3]
        if start == stop:
            continue
        if nodes.links[this, FEATURE] == LEAF:
            visits = with_leaf(visits, members, start, stop, this, first)
            continue
        feature, threshold = np.int64(nodes.links[this, FEATURE]), nodes.numbers[this, THRESHOLD]
        missing_left, share_left = nodes.numbers[this, MISSING_LEFT], nodes.numbers[this, SHARE_LEFT]
        objects = members.row[start:stop]
        left_probabilities(cells, feature, threshold, missing_left, objects, table, probability)
        members = with_room(members, stop, 3 * stop - 2 * start)
        right_end, left_end = send(members, start, stop, probability, share_left, keep_proba)
        right_end, left_end = replace_parent(members, start, stop, right_end, left_end)
        pending = push(pending, n_pending, start, right_end, np.int64(nodes.links[this, RIGHT]), depth + 1)
        pending = push(pending, n_pending + 1, right_end, left_end, np.int64(nodes.links[this, LEFT]), depth + 1)
        n_pending += 2
    return visits


@kernel
def largest(table, row):
    """Column of the largest entry of a row; of equals the first."""
    best = 0
    for c in range(1, table.shape[1]):
        if table[row, c] > table[row, best]:
            best = c
    return best


@kernel
def add_tree(cells, first, last, nodes, keep_proba, table, majority, out):
    """Add one tree's answer for the objects [first, last) to `out` (last - first, k): its probabilities or its vote."""
    visits = route(cells, first, last, nodes, keep_proba, table)
    n_rows, n_classes = out.shape
    answer = np.zeros((n_rows, n_classes), dtype=REAL)
    reached = np.zeros(n_rows, dtype=REAL)
    for v in range(visits.n_visits):
        row, leaf, reach = visits.row[v], visits.leaf[v], visits.reach[v]
        reached[row] += reach
        for c in range(n_classes):
            answer[row, c] += reach * nodes.value[leaf, c]
    for row in range(n_rows):
        if majority:
            out[row, largest(answer, row)] += 1.0
        else:
            for c in range(n_classes):
                out[row, c] += answer[row, c] / reached[row]
