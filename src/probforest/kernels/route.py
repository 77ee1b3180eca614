"""Objects go down a fitted tree (eq. 14, 15), many at a time and level by level.

One object alone would wait at every node for its place in memory and for its cell. In a wave, all objects of a level
take their step in the same short loops, which wait for many of them at once and have no branch to mispredict.
"""

import numpy as np

from .arrays import enlarged
from .cdf import TABLE_STEPS, look_up, table_position
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
    Visits,
    Wave,
)
from .propagate import branch

_ROWS = 256  # objects that start together
_FEWEST_ROWS = 8


@kernel
def new_wave(capacity):
    return Wave(
        np.empty(capacity, dtype=INDEX),
        np.empty(capacity, dtype=INDEX),
        np.empty(capacity, dtype=REAL),
        np.empty(capacity, dtype=np.bool_),
    )


@inlined
def rows_at_once(keep_proba):
    """An object is in at most 1 / keep_proba nodes of a level, more or less: fewer objects start when that is many."""
    return max(_FEWEST_ROWS, int(_ROWS * min(1.0, 20.0 * keep_proba)))


@inlined
def start_wave(wave, first, last):
    """The objects [first, last) at the root; returns their number."""
    for m in range(last - first):
        wave.row[m] = first + m
        wave.node[m] = 0
        wave.reach[m] = 1.0
        wave.main[m] = True
    return last - first


@kernel
def left_probabilities_at(query, nodes, table, wave, start, count, to_left):
    """F of `count` <= SCRATCH entries of the wave, each at its own node, into `to_left`; any number in a leaf."""
    links, threshold, cells = nodes.links, nodes.threshold, query.cells
    exact = cells.shape[2] == 1
    for m in range(count):
        at = np.uint64(start + m)
        row, node = np.uint64(wave.row[at]), np.uint64(wave.node[at])
        feature = np.uint64(max(links[node, FEATURE], 0))
        x = cells[row, feature, 0]
        if exact:
            position = TABLE_STEPS * 1.0 if x <= threshold[node] else 0.0
        else:
            position = table_position(threshold[node], x, cells[row, feature, 1])
        to_left[m] = position if x == x else np.nan
    for m in range(count):
        if to_left[m] == to_left[m]:
            to_left[m] = look_up(table, to_left[m])
        else:
            to_left[m] = nodes.shares[np.uint64(wave.node[np.uint64(start + m)]), MISSING_LEFT]


@kernel
def advance(query, nodes, keep_proba, table, wave, start, count, after, n_after, leaves, to_left):
    """Take `count` <= SCRATCH entries of the wave, from `start` on, one level down: those that go on are appended to
    `after`, those that are in a leaf written to `leaves`. Returns the lengths of both.

    Every entry is written for both children, and counts where it enters: no branch that can't be predicted.
    """
    left_probabilities_at(query, nodes, table, wave, start, count, to_left)
    row, node, reach, main = wave.row, wave.node, wave.reach, wave.main
    end, n_leaves = np.uint64(n_after), np.uint64(0)
    for m in range(count):
        at = np.uint64(start + m)
        here, is_main, probability = np.uint64(node[at]), main[at], to_left[m]
        right = nodes.links[here, RIGHT]
        if right == LEAF:
            leaves.row[n_leaves] = row[at]
            leaves.node[n_leaves] = node[at]
            leaves.reach[n_leaves] = reach[at]
            n_leaves += np.uint64(1)
            continue
        # where it matters only: the share lies far from the links
        share_left = nodes.shares[here, SHARE_LEFT] if probability == 0.5 else 0.0
        enters_left, enters_right, reach_left, reach_right, main_left = branch(
            reach[at], is_main, probability, share_left, keep_proba
        )
        after.row[end] = row[at]
        after.node[end] = node[at] + 1
        after.reach[end] = reach_left
        after.main[end] = is_main & main_left
        end += np.uint64(enters_left)
        after.row[end] = row[at]
        after.node[end] = right
        after.reach[end] = reach_right
        after.main[end] = is_main & (not main_left)
        end += np.uint64(enters_right)
    return np.int64(end), np.int64(n_leaves)


@kernel
def route(query, nodes, keep_proba, table):
    """The leaves that all objects reach, with their π, in no order. Returns Visits, and how many there are."""
    n_rows = query.cells.shape[0]
    rows, leaf_nodes = np.empty(n_rows, dtype=INDEX), np.empty(n_rows, dtype=INDEX)
    reach = np.empty(n_rows, dtype=REAL)
    n_visits = np.int64(0)
    at_once = rows_at_once(keep_proba)
    wave, after, leaves, to_left = new_wave(at_once), new_wave(at_once), new_wave(np.int64(SCRATCH)), np.empty(SCRATCH)
    for first in range(0, n_rows, at_once):
        n_wave = start_wave(wave, first, min(first + at_once, n_rows))
        while n_wave > 0:
            if after.row.shape[0] < 2 * n_wave + 1:
                after = new_wave(4 * n_wave + 1)
            n_after = np.int64(0)
            for start in range(0, n_wave, SCRATCH):
                count = min(SCRATCH, n_wave - start)
                n_after, n_leaves = advance(
                    query, nodes, keep_proba, table, wave, start, count, after, n_after, leaves, to_left
                )
                if n_visits + n_leaves > rows.shape[0]:
                    capacity = 2 * (n_visits + n_leaves)
                    rows, leaf_nodes = enlarged(rows, n_visits, capacity), enlarged(leaf_nodes, n_visits, capacity)
                    reach = enlarged(reach, n_visits, capacity)
                for v in range(n_leaves):
                    rows[n_visits + v] = leaves.row[v]
                    leaf_nodes[n_visits + v] = leaves.node[v]
                    reach[n_visits + v] = leaves.reach[v]
                n_visits += n_leaves
            wave, after, n_wave = after, wave, n_after
    return Visits(rows, leaf_nodes, reach), n_visits


@inlined
def add_answer(answer, reached, majority, out_row):
    """Add one tree's answer for one object to `out_row` (k,): its probabilities or its vote."""
    if majority:
        best = 0
        for c in range(1, out_row.shape[0]):
            if answer[c] > answer[best]:
                best = c
        out_row[best] += 1.0
    else:
        for c in range(out_row.shape[0]):
            out_row[c] += answer[c] / reached


@kernel
def add_waves(query, first, last, nodes, keep_proba, table, majority, out):
    """Add one tree's answer for the objects [first, last) to the same rows of `out` (n, k)."""
    n_classes = out.shape[1]
    at_once = rows_at_once(keep_proba)
    wave, after, leaves, to_left = new_wave(at_once), new_wave(at_once), new_wave(np.int64(SCRATCH)), np.empty(SCRATCH)
    answer, reached = np.empty((at_once, n_classes)), np.empty(at_once)
    for top in range(first, last, at_once):
        n_rows = start_wave(wave, top, min(top + at_once, last))
        for m in range(n_rows):
            reached[m] = 0.0
            for c in range(n_classes):
                answer[m, c] = 0.0
        n_wave = n_rows
        while n_wave > 0:
            if after.row.shape[0] < 2 * n_wave + 1:
                after = new_wave(4 * n_wave + 1)
            n_after = np.int64(0)
            for start in range(0, n_wave, SCRATCH):
                count = min(SCRATCH, n_wave - start)
                n_after, n_leaves = advance(
                    query, nodes, keep_proba, table, wave, start, count, after, n_after, leaves, to_left
                )
                for v in range(n_leaves):
                    place, leaf, reach = np.uint64(leaves.row[v] - top), np.uint64(leaves.node[v]), leaves.reach[v]
                    reached[place] += reach
                    for c in range(n_classes):
                        answer[place, c] += reach * nodes.value[leaf, c]
            wave, after, n_wave = after, wave, n_after
        for m in range(n_rows):
            add_answer(answer[m], reached[m], majority, out[top + m])


@kernel
def add_single_paths(query, first, last, nodes, majority, out):
    """The same for objects that follow one path each: no cell has an error or is missing.

    One after the other: where there is nothing but a comparison, the processor guesses well enough.
    """
    links, threshold, cells = nodes.links, nodes.threshold, query.cells
    for row in range(first, last):
        node, feature = np.uint64(0), links[0, FEATURE]
        while feature != LEAF:
            if cells[row, np.uint64(feature), 0] <= threshold[node]:
                node += np.uint64(1)
            else:
                node = np.uint64(links[node, RIGHT])
            feature = links[node, FEATURE]
        add_answer(nodes.value[node], 1.0, majority, out[row])
