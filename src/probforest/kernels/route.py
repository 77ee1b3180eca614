"""Blocks of objects go down a fitted tree (eq. 14, 15)."""

import numpy as np

from .jit import kernel
from .layout import INDEX, LEAF, REAL, Visits
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
        larger = new_visits(2 * end)
        row, leaves, reach = larger.row, larger.leaf, larger.reach
        row[:used] = visits.row[:used]
        leaves[:used] = visits.leaf[:used]
        reach[:used] = visits.reach[:used]
    for m in range(start, stop):
        row[used + m - start] = members.row[m] - first
        leaves[used + m - start] = leaf
        reach[used + m - start] = members.reach[m]
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
    pending = push(new_stack(), 0, 0, n_rows, 0, 0)
    n_pending = 1
    while n_pending > 0:
        n_pending -= 1
        start, stop, this, depth = pending[n_pending]
        if start == stop:
            continue
        if nodes.feature[this] == LEAF:
            visits = with_leaf(visits, members, start, stop, this, first)
            continue
        left_probabilities(
            cells, nodes.feature[this], nodes.threshold[this], nodes.missing_left[this], members.row[start:stop],
            table, probability,
        )  # fmt: skip
        members = with_room(members, stop, 3 * stop - 2 * start)
        right_end, left_end = send(members, start, stop, probability, nodes.share_left[this], keep_proba)
        right_end, left_end = replace_parent(members, start, stop, right_end, left_end)
        pending = push(pending, n_pending, start, right_end, nodes.right[this], depth + 1)
        pending = push(pending, n_pending + 1, right_end, left_end, nodes.left[this], depth + 1)
        n_pending += 2
    return visits


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
            out[row, np.argmax(answer[row])] += 1.0
        else:
            for c in range(n_classes):
                out[row, c] += answer[row, c] / reached[row]
