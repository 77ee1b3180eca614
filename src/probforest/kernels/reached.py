"""The leaves that objects reach in a tree, all in one call, and object by object, from one tree after the other."""

import numpy as np

from .jit import kernel
from .layout import INDEX, REAL, Cells, Nodes, Visits
from .route import _NODE, _OBJECT, has_single_paths, new_walk_space, route, walk

_MOST_ENTRIES = 2**19  # that one call has space for


@kernel
def count_rows(row, count):
    """Add the number of entries of each object to `count` (n,)."""
    for v in range(row.shape[0]):
        count[np.uint64(row[v])] += 1


@kernel
def add_reach(row, reach, total):
    """Add the probabilities of the entries of each object to `total` (n,)."""
    for v in range(row.shape[0]):
        total[np.uint64(row[v])] += reach[v]


@kernel
def put_in_rows(row, leaf, reach, number, total, end, columns, values):
    """Append the entries of a tree to those of their objects, which end at `end` (n,): columns `number[leaf]` with
    `reach` / `total[row]`."""
    for v in range(row.shape[0]):
        of_row = np.uint64(row[v])
        at = np.uint64(end[of_row])
        columns[at] = number[np.uint64(leaf[v])]
        values[at] = reach[v] / total[of_row]
        end[of_row] += 1


@kernel
def collect_leaves(query, first, last, nodes, keep_proba, walk_space, row, leaf, reach):
    """Take the objects [first, last) to their leaves, as many at a time as may walk together, and write these to `row`,
    `leaf` and `reach`. Returns their number."""
    n_rows, end = walk_space.answer.shape[0], np.uint64(0)
    for top in range(first, last, n_rows):
        n_leaves = walk(query, top, min(top + n_rows, last), nodes, keep_proba, walk_space)
        for v in range(n_leaves):
            at = walk_space.leaves.at[v]
            row[end] = at >> _OBJECT
            leaf[end] = at & _NODE
            reach[end] = walk_space.leaves.reach[v]
            end += np.uint64(1)
    return np.int64(end)


# Not a kernel: arrays are made in Python.
def visits_of(query: Cells, nodes: Nodes, keep_proba: float) -> Visits:
    """The leaves that all objects reach, with their π: those of `route`, in the same order."""
    n_objects = len(query.values)
    if has_single_paths(query):
        return route(query, nodes, keep_proba)
    space = new_walk_space(len(nodes.value), nodes.value.shape[1], keep_proba)
    most_of_object = -(-len(space.leaves.at) // len(space.answer))
    block = min(max(_MOST_ENTRIES // most_of_object, len(space.answer)), n_objects)
    n_entries = block * most_of_object
    row, leaf = np.empty(n_entries, dtype=INDEX), np.empty(n_entries, dtype=INDEX)
    reach, found = np.empty(n_entries, dtype=REAL), []
    for first in range(0, n_objects, block):
        last = min(first + block, n_objects)
        count = collect_leaves(query, first, last, nodes, keep_proba, space, row, leaf, reach)
        found.append([each[:count].copy() for each in (row, leaf, reach)])
    return Visits(*(found[0] if len(found) == 1 else map(np.concatenate, zip(*found, strict=True))))
