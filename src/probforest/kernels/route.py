"""Objects go down a fitted tree (eq. 14, 15), many at a time and level by level.

One object alone would wait at every node for its place in memory and for its cell. In a wave, all objects of a level
take their step in the same short loops, which wait for many of them at once and have no branch to mispredict.
"""

from collections.abc import Sequence

import numpy as np

from .cdf import TABLE_STEPS, look_up_all, positions, probability, read_cell
from .jit import inlined, kernel
from .layout import (
    FAMILY_CELLS,
    FEATURE,
    INDEX,
    LEAF,
    MISSING_LEFT,
    NORMAL_CELLS,
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
from .propagate import LEAST_REACH

_MOST_ROWS = 256  # objects that start together
_MOST_ENTRIES = 16_384  # entries of a wave
_OBJECT, _NODE = np.int64(32), np.int64(2**32 - 1)  # in `Wave.at`: bits below the object; those of the node
_SINGLE_PATHS = 64  # objects that start together if they have one path each


@inlined
def start_wave(wave, first, last):
    """The objects [first, last) at the root; returns their number."""
    for m in range(last - first):
        wave.at[m] = np.int64(first + m) << _OBJECT
        wave.reach[m] = -1.0
    return last - first


@kernel
def left_probabilities_at(query, nodes, wave, start, count, scratch, steps):
    """F of `count` <= SCRATCH entries of the wave, each at its own node, into `scratch[0]`; any number in a leaf.

    In steps, as `left_probabilities` does it. `scratch` is (3, SCRATCH), `steps` is (SCRATCH,).
    """
    values, kind, at = query.values, query.values.shape[2], wave.at[start:]
    to_left, offset, place = scratch[0], scratch[1], scratch[2]
    for m in range(count):
        node, row = np.uint64(at[m] & _NODE), np.uint64(at[m] >> _OBJECT)
        threshold, feature = nodes.threshold[node], np.uint64(max(nodes.links[node, FEATURE], 0))
        center, place[m] = read_cell(values, row, feature, threshold)
        offset[m] = threshold - center
    positions(kind, offset, place, count)
    if kind in (NORMAL_CELLS, FAMILY_CELLS):
        for m in range(count):
            steps[m] = 0
        if query.table.shape[0] > TABLE_STEPS + 1:  # families with tables of their own
            for m in range(count):
                steps[m] = query.start[np.uint64(max(nodes.links[np.uint64(at[m] & _NODE), FEATURE], 0))]
        look_up_all(query.table, steps, place, count, to_left)
    else:
        for m in range(count):
            feature = np.uint64(max(nodes.links[np.uint64(at[m] & _NODE), FEATURE], 0))
            to_left[m] = probability(query, np.uint64(at[m] >> _OBJECT), feature, place[m])
    if not query.complete:
        for m in range(count):
            if offset[m] != offset[m]:
                to_left[m] = nodes.shares[np.uint64(at[m] & _NODE), MISSING_LEFT]


@kernel
def advance(nodes, keep_proba, wave, start, count, to_left, after, n_after, leaves, n_leaves):
    """Take `count` <= SCRATCH entries of the wave, from `start` on, one level down: those that go on are appended to
    `after`, those that are in a leaf to `leaves`. Returns the new lengths of both.

    The rule is that of `branch`, in other words: the more probable child comes first, and the most probable path goes
    there. Every entry is written to all three places, and counts where it belongs, and nodes are selected by
    arithmetic: there is no branch that can't be predicted.
    """
    at, reach = wave.at[start:], wave.reach[start:]
    end, leaves_end = np.uint64(n_after), np.uint64(n_leaves)
    for m in range(count):
        signed, probability, node = reach[m], to_left[m], np.uint64(at[m] & _NODE)
        right = nodes.links[node, RIGHT]
        goes_left = np.int64(probability > 0.5)
        if probability == 0.5:  # where it matters only: the share lies far from the links
            goes_left = np.int64(nodes.shares[node, SHARE_LEFT] >= 0.5)
        # The left child is the next node, the right one `step` nodes behind that.
        is_inner, left, step = right != LEAF, at[m] + 1, np.int64(right) - np.int64(node) - 1
        larger = signed * max(probability, 1.0 - probability)
        smaller = abs(signed) * min(probability, 1.0 - probability)
        leaves.at[leaves_end] = at[m]
        leaves.reach[leaves_end] = abs(signed)
        leaves_end += np.uint64(not is_inner)
        after.at[end] = left + step - step * goes_left
        after.reach[end] = larger if abs(larger) > LEAST_REACH else signed
        end += np.uint64(is_inner & ((signed < 0.0) | (larger > keep_proba)))
        after.at[end] = left + step * goes_left
        after.reach[end] = smaller
        end += np.uint64(is_inner & (smaller > keep_proba))
    return np.int64(end), np.int64(leaves_end)


@kernel
def walk(query, first, last, nodes, keep_proba, walk_space):
    """Take the objects [first, last), not more than there is space for, to their leaves: these are then in
    `walk_space.leaves`. Returns their number."""
    wave, after, leaves, scratch, steps, _ = walk_space
    n_wave, n_leaves = start_wave(wave, first, last), np.int64(0)
    while n_wave > 0:
        n_after = np.int64(0)
        for start in range(0, n_wave, SCRATCH):
            count = min(SCRATCH, n_wave - start)
            left_probabilities_at(query, nodes, wave, start, count, scratch, steps)
            n_after, n_leaves = advance(
                nodes, keep_proba, wave, start, count, scratch[0], after, n_after, leaves, n_leaves
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
def add_waves(query, first, last, nodes, keep_proba, majority, walk_space, out):
    """Add one tree's answer for the objects [first, last) to the same rows of `out` (n, k)."""
    n_classes, answer = out.shape[1], walk_space.answer
    n_rows = answer.shape[0]
    for top in range(first, last, n_rows):
        end = min(top + n_rows, last)
        n_leaves = walk(query, top, end, nodes, keep_proba, walk_space)
        for m in range(end - top):
            for c in range(n_classes + 1):
                answer[m, c] = 0.0
        at, reach = walk_space.leaves.at, walk_space.leaves.reach
        for v in range(n_leaves):
            place, leaf = np.uint64((at[v] >> _OBJECT) - top), np.uint64(at[v] & _NODE)
            for c in range(n_classes):
                answer[place, c] += reach[v] * nodes.value[leaf, c]
            answer[place, n_classes] += reach[v]
        for m in range(end - top):
            add_answer(answer[m], answer[m, n_classes], majority, out[top + m])


@kernel
def find_leaves(query, first, last, nodes, wave, leaf):
    """The leaves of the objects [first, last) that follow one path each, as no cell has an error or is missing, into
    `leaf` (last − first,).

    As many at a time as fit in the wave, level by level; those that are in a leaf drop out. The child is selected by
    arithmetic, as the processor can't guess it.
    """
    links, threshold, cells, at = nodes.links, nodes.threshold, query.values, wave.at
    for top in range(first, last, at.shape[0]):
        n_wave = start_wave(wave, top, min(top + at.shape[0], last))
        while n_wave > 0:
            end = np.uint64(0)
            for m in range(n_wave):
                row, node = at[m] >> _OBJECT, at[m] & _NODE
                feature, right = links[np.uint64(node), FEATURE], np.int64(links[np.uint64(node), RIGHT])
                if feature == LEAF:
                    leaf[np.uint64(row - first)] = node
                    continue
                goes_left = np.int64(cells[np.uint64(row), np.uint64(feature), 0] <= threshold[np.uint64(node)])
                step = right - node
                at[end] = at[m] + step - (step - 1) * goes_left
                end += np.uint64(1)
            n_wave = np.int64(end)


@kernel
def add_single_paths(query, first, last, nodes, majority, wave, leaf, out):
    """The answers of one tree for objects that follow one path each; `leaf` is as long as the wave."""
    for top in range(first, last, leaf.shape[0]):
        end = min(top + leaf.shape[0], last)
        find_leaves(query, top, end, nodes, wave, leaf)
        for m in range(end - top):
            add_answer(nodes.value[np.uint64(leaf[m])], 1.0, majority, out[top + m])


# Not kernels: arrays that are made in Python need not be compiled.
def new_wave(capacity: int) -> Wave:
    return Wave(at=np.empty(capacity, dtype=np.int64), reach=np.empty(capacity, dtype=REAL))


def new_walk_space(most_nodes: int, n_classes: int, keep_proba: float) -> WalkSpace:
    """Space for objects that walk together down trees of up to `most_nodes` nodes.

    The probabilities of an object in the nodes of a level add up to 1 at most, and each is above `keep_proba`, except
    on the most probable path.
    """
    n_leaves = most_nodes // 2 + 1
    most_entries = n_leaves if keep_proba * n_leaves < 1 else int(1 / keep_proba) + 1
    n_rows = int(np.clip(_MOST_ENTRIES // most_entries, 1, _MOST_ROWS))
    capacity = n_rows * most_entries + 1  # one is written that does not count
    waves = new_wave(capacity), new_wave(capacity), new_wave(capacity)
    scratch, steps = np.empty((3, SCRATCH)), np.empty(SCRATCH, dtype=INDEX)
    return WalkSpace(*waves, scratch, steps, np.empty((n_rows, n_classes + 1)))


def has_single_paths(query: Cells) -> bool:
    """Whether each object follows one path: no cell has an error or is missing."""
    return bool(query.complete) and query.values.shape[2] == 1


def route(query: Cells, nodes: Nodes, keep_proba: float) -> Visits:
    """The leaves that all objects reach, with their π."""
    n_objects = len(query.values)
    if has_single_paths(query):
        leaf = np.empty(n_objects, dtype=INDEX)
        find_leaves(query, 0, n_objects, nodes, new_wave(_SINGLE_PATHS), leaf)
        return Visits(np.arange(n_objects, dtype=INDEX), leaf, np.ones(n_objects, dtype=REAL))
    space = new_walk_space(len(nodes.value), nodes.value.shape[1], keep_proba)
    n_rows, leaves = len(space.answer), space.leaves
    found = []
    for first in range(0, n_objects, n_rows):
        count = walk(query, first, min(first + n_rows, n_objects), nodes, keep_proba, space)
        at = leaves.at[:count]
        found.append([(at >> _OBJECT).astype(INDEX), (at & _NODE).astype(INDEX), leaves.reach[:count].copy()])
    return Visits(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def add_exact_answers(
    query: Cells, first: int, last: int, trees: Sequence[Nodes], majority: bool, out: np.ndarray
) -> None:
    """`add_answers` for objects that follow one path each."""
    wave, leaf = new_wave(_SINGLE_PATHS), np.empty(_SINGLE_PATHS, dtype=INDEX)
    for nodes in trees:
        add_single_paths(query, first, last, nodes, majority, wave, leaf, out)


def add_answers(
    query: Cells,
    first: int,
    last: int,
    trees: Sequence[Nodes],
    keep_proba: float,
    majority: bool,
    out: np.ndarray,
) -> None:
    """Add the trees' answers for the objects [first, last) to the same rows of `out`: their probabilities or votes."""
    if has_single_paths(query):
        add_exact_answers(query, first, last, trees, majority, out)
    else:
        space = new_walk_space(max(len(nodes.value) for nodes in trees), out.shape[1], keep_proba)
        for nodes in trees:
            add_waves(query, first, last, nodes, keep_proba, majority, space, out)
