"""The leaves that objects reach, object by object, from those that they reach in one tree after the other."""

import numpy as np

from .jit import kernel


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
