"""The leaves that objects reach in a tree: one each if no cell has an error or is missing, or else those of `route`."""

import numpy as np

from .jit import kernel
from .layout import FEATURE, INDEX, LEAF, REAL, RIGHT, Cells, Nodes, Visits
from .route import route

_TOGETHER = 64  # objects that walk together


@kernel
def find_leaves(query, nodes, row, node, leaf):
    """The leaves of objects that follow one path each, into `leaf` (n,).

    As many at a time as fit in `row` and `node`, level by level; those that are in a leaf drop out. The child is
    selected by arithmetic, as the processor can't guess it.
    """
    links, threshold, cells, n_together = nodes.links, nodes.threshold, query.values, row.shape[0]
    for top in range(0, leaf.shape[0], n_together):
        n_wave = min(n_together, leaf.shape[0] - top)
        for m in range(n_wave):
            row[m] = top + m
            node[m] = 0
        while n_wave > 0:
            end = np.uint64(0)
            for m in range(n_wave):
                here, of_row = node[m], np.uint64(row[m])
                feature, right = links[np.uint64(here), FEATURE], links[np.uint64(here), RIGHT]
                if feature == LEAF:
                    leaf[of_row] = here
                    continue
                goes_left = np.int32(cells[of_row, np.uint64(feature), 0] <= threshold[np.uint64(here)])
                row[end] = of_row
                node[end] = right - (right - here - 1) * goes_left
                end += np.uint64(1)
            n_wave = np.int64(end)


# Not a kernel: arrays that are made in Python need not be compiled.
def visits(query: Cells, nodes: Nodes, keep_proba: float, conserves: bool = False) -> Visits:
    """The leaves that all objects reach, with their π. `conserves`: what is pruned follows the other branch."""
    if not query.complete or query.values.shape[2] > 1:
        return route(query, nodes, keep_proba, conserves)
    n_objects = len(query.values)
    leaf = np.empty(n_objects, dtype=INDEX)
    find_leaves(query, nodes, np.empty(_TOGETHER, dtype=INDEX), np.empty(_TOGETHER, dtype=INDEX), leaf)
    return Visits(np.arange(n_objects, dtype=INDEX), leaf, np.ones(n_objects, dtype=REAL))
