"""Blocks of objects go down a fitted tree (eq. 14, 15)."""

import numpy as np

from .arrays import enlarged, enlarged_table
from .jit import kernel
from .layout import FEATURE, INDEX, LEAF, LEFT, MISSING_LEFT, REAL, RIGHT, SHARE_LEFT, THRESHOLD, Visits
from .propagate import enlarged_members, left_probabilities, new_members, replace_parent, send
from .stack import new_stack, push


@kernel
def new_visits(capacity):
    return Visits(np.empty(capacity, dtype=INDEX), np.empty(capacity, dtype=INDEX), np.empty(capacity, dtype=REAL))


@kernel
def enlarged_visits(visits, used, capacity):
    """The first `used` visits in larger arrays."""
    return Visits(
        enlarged(visits.row, used, capacity),
        enlarged(visits.leaf, used, capacity),
        enlarged(visits.reach, used, capacity),
    )


@kernel
def write_visits(visits, used, members, start, stop, leaf, first):
    """Append the members [start, stop) as visits of `leaf` to the `used` ones."""
    for m in range(stop - start):
        visits.row[used + m] = members.row[start + m] - first
        visits.leaf[used + m] = leaf
        visits.reach[used + m] = members.reach[start + m]


@kernel
def route(cells, first, last, nodes, keep_proba, table):
    """The leaves that the objects [first, last) reach, with their π. Returns Visits, and how many there are."""
    n_rows = last - first
    members = new_members(4 * n_rows)
    for m in range(n_rows):
        members.row[m] = first + m
        members.reach[m] = 1.0
        members.main[m] = True
    probability = np.empty(n_rows, dtype=REAL)
    visits = new_visits(4 * n_rows)
    n_visits = np.int64(0)
    pending = new_stack(n_rows, np.int64(0))
    n_pending = np.int64(1)
    while n_pending > 0:
        n_pending -= 1
        start, stop = pending[n_pending, 0], pending[n_pending, 1]
        this, depth = pending[n_pending, 2], pending[n_pending, 3]
        if start == stop:
            continue
        if nodes.links[this, FEATURE] == LEAF:
            if n_visits + stop - start > visits.row.shape[0]:
                visits = enlarged_visits(visits, n_visits, 2 * (n_visits + stop - start))
            write_visits(visits, n_visits, members, start, stop, this, first)
            n_visits += stop - start
            continue
        feature, threshold = np.int64(nodes.links[this, FEATURE]), nodes.numbers[this, THRESHOLD]
        missing_left, share_left = nodes.numbers[this, MISSING_LEFT], nodes.numbers[this, SHARE_LEFT]
        objects = members.row[start:stop]
        left_probabilities(cells, feature, threshold, missing_left, objects, table, probability)
        # Assigned only where they grow: every assignment of an array has its reference counted.
        if 3 * stop - 2 * start > members.row.shape[0]:
            members = enlarged_members(members, stop, 2 * (3 * stop - 2 * start))
        if n_pending + 2 > pending.shape[0]:
            pending = enlarged_table(pending, n_pending, 2 * pending.shape[0])
        right_end, left_end = send(members, start, stop, probability, share_left, keep_proba)
        right_end, left_end = replace_parent(members, start, stop, right_end, left_end)
        push(pending, n_pending, start, right_end, np.int64(nodes.links[this, RIGHT]), depth + 1)
        push(pending, n_pending + 1, right_end, left_end, np.int64(nodes.links[this, LEFT]), depth + 1)
        n_pending += 2
    return visits, n_visits


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
    visits, n_visits = route(cells, first, last, nodes, keep_proba, table)
    n_rows, n_classes = out.shape
    answer = np.zeros((n_rows, n_classes), dtype=REAL)
    reached = np.zeros(n_rows, dtype=REAL)
    for v in range(n_visits):
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
