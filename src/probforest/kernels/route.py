"""Objects go down a fitted tree (eq. 14, 15), many at a time and level by level.

One object alone would wait at every node for its place in memory and for its cell. In a wave, all objects of a level
take their step in the same short loops, which wait for many of them at once and have no branch to mispredict.
"""

from collections.abc import Sequence

import numpy as np

from .cdf import TABLE_STEPS, look_up_all, look_up_own, positions, read_cell
from .eights import (
    EIGHT,
    above,
    below,
    equal,
    following,
    larger,
    load_numbers,
    load_words,
    magnitude,
    n_chosen,
    negative,
    product,
    rest,
    select,
    smaller,
    write,
    write_in_turn,
)
from .jit import inlined, kernel
from .layout import (
    FAMILY_CELLS,
    FEATURE,
    INDEX,
    LEAF,
    MISSING_LEFT,
    NORMAL_CELLS,
    OWN_TABLE,
    REAL,
    RIGHT,
    SCRATCH,
    SHARE_LEFT,
    TABULATED_CELLS,
    Cells,
    Nodes,
    Visits,
    WalkSpace,
    Wave,
)
from .prefetch import prefetch
from .propagate import LEAST_REACH

_MOST_ROWS = 256  # objects that start together
_MOST_ENTRIES = 16_384  # entries of a wave
_MOST_LEAVES = 2**19  # that one call of `collect_leaves` has space for
_OBJECT, _NODE = np.int64(32), np.int64(2**32 - 1)  # in `Wave.at`: bits below the object; those of the node
_VISITS = 16  # nodes that an object visits, more or less
_NUMBERS_PER_LINE = 8  # of the cache; the indices in a line are twice as many
_SINGLE_PATHS = 64  # objects that start together if they have one path each


@inlined
def is_worth_fetching(nodes, n_objects):
    """Whether so many objects visit most of a tree. It may be too large for the cache; then they hardly do."""
    return n_objects * _VISITS >= nodes.threshold.shape[0]


@kernel
def fetch_tree(nodes):
    """Ask for all that a walk reads of a tree, line by line. A walk would wait for each line at its first visit: it
    begins in a tree that has left the cache, as all trees take their turn."""
    links, value = nodes.links.reshape(-1), nodes.value.reshape(-1)
    for place in range(0, nodes.threshold.shape[0], _NUMBERS_PER_LINE):
        prefetch(nodes.threshold, place)
    for place in range(0, links.shape[0], 2 * _NUMBERS_PER_LINE):
        prefetch(links, place)
    for place in range(0, value.shape[0], _NUMBERS_PER_LINE):
        prefetch(value, place)


@inlined
def start_wave(wave, first, last):
    """The objects [first, last) at the root; returns their number."""
    for m in range(last - first):
        wave.at[m] = np.int64(first + m) << _OBJECT
        wave.reach[m] = -1.0
    return last - first


@inlined
def read_entries(query, kind, nodes, at, count, right, begin, offset, place):
    """Fetch what `count` entries need, each at its own node: the right child, as in `Wave.at`, into `right`, -1 for an
    entry in a leaf; the cell as `positions` takes it, into `offset` and `place`, and where its own table begins, if
    cells have them. Where a `kind` of cells is written in the call, the compiler makes a loop of its own for it."""
    cells, links, n_features = query.values.reshape(-1), nodes.links.reshape(-1), np.uint64(query.values.shape[1])
    for m in range(count):
        node, row = np.uint64(at[m] & _NODE), np.uint64(at[m] >> _OBJECT)
        threshold, two = nodes.threshold[node], np.uint64(2) * node
        right[m] = (at[m] & ~_NODE) | np.int64(links[two + np.uint64(RIGHT)])
        feature = np.uint64(max(links[two + np.uint64(FEATURE)], 0))
        cell = (row * n_features + feature) * np.uint64(kind)
        center, place[m] = read_cell(cells, cell, kind, threshold)
        offset[m] = threshold - center
        if kind == TABULATED_CELLS:
            begin[m] = cells[cell + np.uint64(OWN_TABLE)]


@kernel
def left_probabilities_at(query, nodes, wave, start, count, scratch, steps, right):
    """F of `count` <= SCRATCH entries of the wave, each at its own node, into `scratch[0]`, any number in a leaf; their
    right children into `right`, as `read_entries` says it.

    In steps, as `left_probabilities` does it. `scratch` is (3, SCRATCH), `steps` and `right` are (SCRATCH,).
    """
    kind, at = query.values.shape[2], wave.at[start:]
    to_left, offset, place = scratch[0], scratch[1], scratch[2]
    if kind == FAMILY_CELLS:  # those with posteriors, which most tables have
        read_entries(query, FAMILY_CELLS, nodes, at, count, right, to_left, offset, place)
    else:
        read_entries(query, kind, nodes, at, count, right, to_left, offset, place)
    positions(kind, offset, place, count)
    if kind in (NORMAL_CELLS, FAMILY_CELLS):
        for m in range(count):
            steps[m] = 0
        if query.table.shape[0] > TABLE_STEPS + 1:  # families with tables of their own
            for m in range(count):
                steps[m] = query.start[np.uint64(max(nodes.links[np.uint64(at[m] & _NODE), FEATURE], 0))]
        look_up_all(query.table, steps, place, count, to_left)
    elif kind == TABULATED_CELLS:
        look_up_own(query.table, to_left, place, count)
    else:
        for m in range(count):
            to_left[m] = place[m]
    if not query.complete:
        for m in range(count):
            if offset[m] != offset[m]:
                to_left[m] = nodes.shares[np.uint64(at[m] & _NODE), MISSING_LEFT]


@kernel
def tied_to_left(nodes, at, start, tied):
    """Those of the eight entries from `start` on that are `tied`, and whose most probable path goes left."""
    chosen = 0
    for lane in range(EIGHT):
        if tied >> lane & 1 and nodes.shares[np.uint64(at[start + lane] & _NODE), SHARE_LEFT] >= 0.5:
            chosen |= 1 << lane
    return np.uint8(chosen)


@kernel
def advance(nodes, keep_proba, wave, start, count, to_left, right, after, n_after, leaves, n_leaves):
    """Take `count` <= SCRATCH entries of the wave, from `start` on, one level down: those that go on are appended to
    `after`, those that are in a leaf to `leaves`. Returns the new lengths of both. `right` has their right children.

    The rule is that of `branch`, in other words: the more probable child comes first, and the most probable path goes
    there. Eight entries at a time, as the places of all depend on how many of those before them go on.
    """
    at, reach = wave.at[start:], wave.reach[start:]
    end, leaves_end = np.uint64(n_after), np.uint64(n_leaves)
    for m in range(0, count, EIGHT):
        entry, other, signed, share = (
            load_words(at, m),
            load_words(right, m),
            load_numbers(reach, m),
            load_numbers(to_left, m),
        )
        valid = np.uint8((1 << min(count - m, EIGHT)) - 1)
        in_leaf = np.uint8(negative(other) & valid)
        is_inner = np.uint8(valid & ~in_leaf)
        goes_left, tied = above(share, 0.5), np.uint8(equal(share, 0.5) & is_inner)
        if tied != 0:  # where it matters only: the share of the node lies far from the links
            goes_left = np.uint8(goes_left | tied_to_left(nodes, at, m, tied))
        whole = magnitude(signed)
        more, less = product(signed, larger(share, rest(share))), product(whole, smaller(share, rest(share)))
        enters = np.uint8(is_inner & (below(signed, 0.0) | above(more, keep_proba)))
        enters_other = np.uint8(is_inner & above(less, keep_proba))
        more = select(above(magnitude(more), LEAST_REACH), more, signed)
        near, far = select(goes_left, following(entry), other), select(goes_left, other, following(entry))
        write_in_turn(near, far, enters, enters_other, after.at, end)
        write_in_turn(more, less, enters, enters_other, after.reach, end)
        end += n_chosen(enters) + n_chosen(enters_other)
        write(entry, in_leaf, leaves.at, leaves_end)
        write(whole, in_leaf, leaves.reach, leaves_end)
        leaves_end += n_chosen(in_leaf)
    return np.int64(end), np.int64(leaves_end)


@kernel
def walk(query, first, last, nodes, keep_proba, walk_space):
    """Take the objects [first, last), not more than there is space for, to their leaves: these are then in
    `walk_space.leaves`. Returns their number."""
    wave, after, leaves, scratch, steps, right, _ = walk_space
    n_wave, n_leaves = start_wave(wave, first, last), np.int64(0)
    while n_wave > 0:
        n_after = np.int64(0)
        for start in range(0, n_wave, SCRATCH):
            count = min(SCRATCH, n_wave - start)
            left_probabilities_at(query, nodes, wave, start, count, scratch, steps, right)
            n_after, n_leaves = advance(
                nodes, keep_proba, wave, start, count, scratch[0], right, after, n_after, leaves, n_leaves
            )
        wave, after, n_wave = after, wave, n_after
    return n_leaves


@kernel
def collect_leaves(query, first, last, nodes, keep_proba, walk_space, row, leaf, reach):
    """Take the objects [first, last) to their leaves, as many at a time as may walk together, and write these to `row`,
    `leaf` and `reach`. Returns their number."""
    n_rows, end = walk_space.answer.shape[0], np.uint64(0)
    if is_worth_fetching(nodes, last - first):
        fetch_tree(nodes)
    for top in range(first, last, n_rows):
        n_leaves = walk(query, top, min(top + n_rows, last), nodes, keep_proba, walk_space)
        for v in range(n_leaves):
            at = walk_space.leaves.at[v]
            row[end] = at >> _OBJECT
            leaf[end] = at & _NODE
            reach[end] = walk_space.leaves.reach[v]
            end += np.uint64(1)
    return np.int64(end)


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
    if is_worth_fetching(nodes, last - first):
        fetch_tree(nodes)
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
    capacity = n_rows * most_entries + 2 * EIGHT  # some are read and written that do not count
    waves = new_wave(capacity), new_wave(capacity), new_wave(capacity)
    scratch, steps = np.empty((3, SCRATCH)), np.empty(SCRATCH, dtype=INDEX)
    right = np.empty(SCRATCH, dtype=np.int64)
    return WalkSpace(*waves, scratch, steps, right, np.empty((n_rows, n_classes + 1)))


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
    most_of_object = -(-len(space.leaves.at) // len(space.answer))
    block = min(max(_MOST_LEAVES // most_of_object, len(space.answer)), n_objects)
    row, leaf = np.empty((2, block * most_of_object), dtype=INDEX)
    reach, found = np.empty(block * most_of_object, dtype=REAL), []
    for first in range(0, n_objects, block):
        last = min(first + block, n_objects)
        count = collect_leaves(query, first, last, nodes, keep_proba, space, row, leaf, reach)
        found.append([each[:count].copy() for each in (row, leaf, reach)])
    return Visits(*(found[0] if len(found) == 1 else map(np.concatenate, zip(*found, strict=True))))


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
