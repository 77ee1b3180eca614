"""Objects go down a fitted tree (eq. 14, 15), many at a time and level by level.

One object alone would wait at every node for its place in memory and for its cell. In a wave, all objects of a level
take their step in the same short loops, which wait for many of them at once and have no branch to mispredict.
"""

from collections.abc import Sequence

import numpy as np

from .cdf import position, probability, read_cell
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
    Cells,
    Nodes,
    Visits,
    WalkSpace,
    Wave,
)
from .propagate import branch, follow_larger

_MOST_ROWS = 256  # objects that start together
_MOST_ENTRIES = 16_384  # entries of a wave


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
def left_probabilities_at(query, nodes, wave, start, count, to_left):
    """F of `count` <= SCRATCH entries of the wave, each at its own node, into `to_left`; any number in a leaf."""
    links, values, kind = nodes.links, query.values, query.values.shape[2]
    for m in range(count):
        at = np.uint64(start + m)
        node = np.uint64(wave.node[at])
        threshold, feature = nodes.threshold[node], np.uint64(max(links[node, FEATURE], 0))
        center, inverse_scale = read_cell(values, np.uint64(wave.row[at]), feature, threshold)
        place = position(kind, threshold, center, inverse_scale)
        to_left[m] = place if center == center else np.nan
    for m in range(count):
        at = np.uint64(start + m)
        node = np.uint64(wave.node[at])
        if to_left[m] != to_left[m]:
            to_left[m] = nodes.shares[node, MISSING_LEFT]
        else:
            feature = np.uint64(max(links[node, FEATURE], 0))
            to_left[m] = probability(query, np.uint64(wave.row[at]), feature, to_left[m])


@kernel
def advance(nodes, keep_proba, wave, start, count, to_left, after, n_after, leaves, n_leaves):
    """Take `count` <= SCRATCH entries of the wave, from `start` on, one level down: those that go on are appended to
    `after`, those that are in a leaf to `leaves`. Returns the new lengths of both.

    Every entry is written for both children, and counts where it enters: no branch that can't be predicted.
    """
    row, node, reach, main = wave.row, wave.node, wave.reach, wave.main
    end, leaves_end = np.uint64(n_after), np.uint64(n_leaves)
    for m in range(count):
        at = np.uint64(start + m)
        here, is_main, probability = np.uint64(node[at]), main[at], to_left[m]
        right = nodes.links[here, RIGHT]
        if right == LEAF:
            leaves.row[leaves_end] = row[at]
            leaves.node[leaves_end] = node[at]
            leaves.reach[leaves_end] = reach[at]
            leaves_end += np.uint64(1)
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
    return np.int64(end), np.int64(leaves_end)


@inlined
def conserve_at(nodes, keep_proba, wave, start, count, to_left):
    """`follow_larger` for `count` entries of the wave, each at its own node, in place in `to_left`."""
    for m in range(count):
        at = np.uint64(start + m)
        share_left = nodes.shares[np.uint64(wave.node[at]), SHARE_LEFT] if to_left[m] == 0.5 else 0.0
        to_left[m] = follow_larger(wave.reach[at], to_left[m], share_left, keep_proba)


@kernel
def walk(query, first, last, nodes, keep_proba, conserves, walk_space):
    """Take the objects [first, last), not more than there is space for, to their leaves: these are then in
    `walk_space.leaves`. `conserves`: what is pruned follows the other branch. Returns their number."""
    wave, after, leaves, to_left, _ = walk_space
    n_wave, n_leaves = start_wave(wave, first, last), np.int64(0)
    while n_wave > 0:
        n_after = np.int64(0)
        for start in range(0, n_wave, SCRATCH):
            count = min(SCRATCH, n_wave - start)
            left_probabilities_at(query, nodes, wave, start, count, to_left)
            if conserves:
                conserve_at(nodes, keep_proba, wave, start, count, to_left)
            n_after, n_leaves = advance(
                nodes, keep_proba, wave, start, count, to_left, after, n_after, leaves, n_leaves
            )
        wave, after, n_wave = after, wave, n_after
    return n_leaves


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
def add_waves(query, first, last, nodes, keep_proba, conserves, majority, walk_space, out):
    """Add one tree's answer for the objects [first, last) to the same rows of `out` (n, k)."""
    n_classes, answer = out.shape[1], walk_space.answer
    n_rows = answer.shape[0]
    for top in range(first, last, n_rows):
        end = min(top + n_rows, last)
        n_leaves = walk(query, top, end, nodes, keep_proba, conserves, walk_space)
        for m in range(end - top):
            for c in range(n_classes + 1):
                answer[m, c] = 0.0
        row, node, reach = walk_space.leaves.row, walk_space.leaves.node, walk_space.leaves.reach
        for v in range(n_leaves):
            place, leaf = np.uint64(row[v] - top), np.uint64(node[v])
            for c in range(n_classes):
                answer[place, c] += reach[v] * nodes.value[leaf, c]
            answer[place, n_classes] += reach[v]
        for m in range(end - top):
            add_answer(answer[m], answer[m, n_classes], majority, out[top + m])


@kernel
def add_single_paths(query, first, last, nodes, majority, out):
    """The same for objects that follow one path each: no cell has an error or is missing.

    One after the other: where there is nothing but a comparison, the processor guesses well enough.
    """
    links, threshold, cells = nodes.links, nodes.threshold, query.values
    for row in range(first, last):
        node, feature = np.uint64(0), links[0, FEATURE]
        while feature != LEAF:
            if cells[row, np.uint64(feature), 0] <= threshold[node]:
                node += np.uint64(1)
            else:
                node = np.uint64(links[node, RIGHT])
            feature = links[node, FEATURE]
        add_answer(nodes.value[node], 1.0, majority, out[row])


# Not kernels: arrays that are made in Python need not be compiled.
def new_wave(capacity: int) -> Wave:
    return Wave(
        row=np.empty(capacity, dtype=INDEX),
        node=np.empty(capacity, dtype=INDEX),
        reach=np.empty(capacity, dtype=REAL),
        main=np.empty(capacity, dtype=np.bool_),
    )


def new_walk_space(most_nodes: int, n_classes: int, keep_proba: float) -> WalkSpace:
    """Space for objects that walk together down trees of up to `most_nodes` nodes.

    The probabilities of an object in the nodes of a level add up to 1 at most, and each is above `keep_proba`, except
    on the most probable path.
    """
    n_leaves = most_nodes // 2 + 1
    most_entries = n_leaves if keep_proba * n_leaves < 1 else int(1 / keep_proba) + 1
    n_rows = int(np.clip(_MOST_ENTRIES // most_entries, 1, _MOST_ROWS))
    capacity = n_rows * most_entries + 1
    waves = new_wave(capacity), new_wave(capacity), new_wave(capacity)
    return WalkSpace(*waves, np.empty(SCRATCH), np.empty((n_rows, n_classes + 1)))


def route(query: Cells, nodes: Nodes, keep_proba: float, conserves: bool = False) -> Visits:
    """The leaves that all objects reach, with their π. `conserves`: what is pruned follows the other branch."""
    n_objects = len(query.values)
    space = new_walk_space(len(nodes.value), nodes.value.shape[1], keep_proba)
    n_rows, leaves = len(space.answer), space.leaves
    found = []
    for first in range(0, n_objects, n_rows):
        count = walk(query, first, min(first + n_rows, n_objects), nodes, keep_proba, conserves, space)
        found.append([array[:count].copy() for array in (leaves.row, leaves.node, leaves.reach)])
    return Visits(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def add_answers(
    query: Cells,
    first: int,
    last: int,
    trees: Sequence[Nodes],
    keep_proba: float,
    majority: bool,
    out: np.ndarray,
    conserves: bool = False,
) -> None:
    """Add the trees' answers for the objects [first, last) to the same rows of `out`: their probabilities or votes.
    `conserves`: what is pruned follows the other branch."""
    if query.complete and query.values.shape[2] == 1:
        for nodes in trees:
            add_single_paths(query, first, last, nodes, majority, out)
    else:
        space = new_walk_space(max(len(nodes.value) for nodes in trees), out.shape[1], keep_proba)
        for nodes in trees:
            add_waves(query, first, last, nodes, keep_proba, conserves, majority, space, out)
