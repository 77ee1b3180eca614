"""What a node's members add up to, per bin of one feature.

Where a histogram lies: class c of bin b is entry c × n_bins + b for hard labels, so that a member needs no
multiplication to find its bins. Otherwise column c of bin b is entry b × n_lanes + c: the columns of a member lie side
by side, FOUR of which are added at once, and there is a multiple of that many.

The kernels take the codes of `feature` in Bins, the members `index` (m,) with their NodeMass, and add them to the
Histogram.
"""

import numpy as np

from .jit import inlined, kernel
from .lanes import FOUR, add_four, load_four, times
from .layout import GRID_POINTS, SCRATCH


@inlined
def fetch(words, feature, index, first, count, buffer):
    """Copy the codes of `count` members from `first` on to `buffer`.

    They lie far apart in memory. A loop that does nothing but fetch them waits for many at a time.
    """
    for m in range(count):
        buffer[m] = words[np.uint64(index[np.uint64(first + m)]), feature]


@inlined
def code_of(word, point):
    """The bin of one grid point, from the eight codes of a cell in one word."""
    return (word >> np.uint64(8 * point)) & np.uint64(255)


@kernel
def add_listed(bins, feature, index, node, histogram):
    """Add members with hard labels, and mark the bins that they occupy."""
    codes, missing_code, chunk, mass = bins.codes, bins.missing_code, bins.chunk, node.mass
    sums, occupied, missing, n_bins = histogram
    n_points = GRID_POINTS if codes.shape[2] > 1 else 1
    j = np.uint64(feature)
    for m in range(index.shape[0]):
        i, c = np.uint64(index[m]), np.uint64(node.class_index[m])  # unsigned indices cost no test for a sign
        if codes[i, j, 0] == missing_code:
            missing[c] += mass[m]
            continue
        for g in range(n_points):
            b = np.uint64(codes[i, j, g])
            sums[c * np.uint64(n_bins) + b] += mass[m] if n_points == 1 else mass[m] * chunk[g]
            occupied[b] = 1


@kernel
def add_words(bins, feature, index, node, histogram, buffer):
    """The same without marks, for many members whose codes fit in a word; `buffer` (SCRATCH,) is scratch space."""
    words, chunk, mass, class_index = bins.words, bins.chunk, node.mass, node.class_index
    missing_code = np.uint64(bins.missing_code)  # as codes are: numbers of different kinds are compared as float64
    sums, _, missing, n_bins = histogram
    # Names for the chunks: the compiler can't know that the histogram is not written over an array of them.
    c0, c1, c2, c3, c4, c5, c6 = chunk[0], chunk[1], chunk[2], chunk[3], chunk[4], chunk[5], chunk[6]
    for first in range(0, index.shape[0], SCRATCH):
        count = min(index.shape[0] - first, SCRATCH)
        fetch(words, np.uint64(feature), index, first, count, buffer)
        for m in range(count):
            member = np.uint64(first + m)
            word, weight, c = buffer[m], mass[member], np.uint64(class_index[member])
            start, first_code = c * np.uint64(n_bins), code_of(word, 0)
            if first_code == missing_code:
                missing[c] += weight
            elif first_code == code_of(word, GRID_POINTS - 1):  # all grid points in one bin
                sums[start + first_code] += weight
            else:
                sums[start + first_code] += weight * c0
                sums[start + code_of(word, 1)] += weight * c1
                sums[start + code_of(word, 2)] += weight * c2
                sums[start + code_of(word, 3)] += weight * c3
                sums[start + code_of(word, 4)] += weight * c4
                sums[start + code_of(word, 5)] += weight * c5
                sums[start + code_of(word, 6)] += weight * c6


@kernel
def add_columns(bins, feature, index, node, histogram):
    """Add members with columns of their own (label PMFs, numbers), and mark the bins that they occupy."""
    codes, missing_code, chunk, columns = bins.codes, bins.missing_code, bins.chunk, node.columns
    sums, occupied, missing, _ = histogram
    n_points = GRID_POINTS if codes.shape[2] > 1 else 1
    j = np.uint64(feature)
    n_groups = np.uint64(columns.shape[1] // FOUR)
    for m in range(index.shape[0]):
        i = np.uint64(index[m])
        if codes[i, j, 0] == missing_code:
            for c in range(missing.shape[0]):
                missing[c] += columns[m, c]
            continue
        for g in range(n_points):
            occupied[np.uint64(codes[i, j, g])] = 1
        for group in range(n_groups):
            value = load_four(columns, np.uint64(m) * n_groups + np.uint64(group))
            for g in range(n_points):
                place = np.uint64(codes[i, j, g]) * n_groups + np.uint64(group)
                add_four(sums, place, value if n_points == 1 else times(value, chunk[g]))


@inlined
def add_single_points(codes, index, columns, stored):
    """`add_whole_node` for cells with a single grid point each: `codes` (n, d, 1). Four features at a time."""
    n_features, n_rows, one = stored.shape[0], np.uint64(stored.shape[1]), np.uint64(1)
    of_cells, behind_bins, fours = codes.reshape(-1), n_rows - one, n_features - n_features % FOUR
    for m in range(index.shape[0]):
        value, start = load_four(columns, np.uint64(m)), np.uint64(0)
        cell = np.uint64(index[m]) * np.uint64(n_features)
        for _ in range(0, fours, FOUR):
            for _ in range(FOUR):
                add_four(stored, start + min(np.uint64(of_cells[cell]), behind_bins), value)
                start += n_rows
                cell += one
        for _ in range(fours, n_features):
            add_four(stored, start + min(np.uint64(of_cells[cell]), behind_bins), value)
            start += n_rows
            cell += one


@kernel
def add_whole_node(bins, index, columns, stored):
    """Fill `stored` (d, n_bins + 1, FOUR), the histogram of a node with one group of columns, for all features at once:
    `columns` (m, FOUR) of the members `index` (m,). Missing cells, whose code is above all bins, are behind these.

    Members before features: the codes of a member lie side by side.
    """
    codes, missing_code, chunk = bins.codes, bins.missing_code, bins.chunk
    n_features, n_rows = stored.shape[0], np.uint64(stored.shape[1])
    flat = stored.reshape(-1)
    for entry in range(flat.shape[0]):
        flat[entry] = 0.0
    if codes.shape[2] == 1:
        add_single_points(codes, index, columns, stored)
        return
    for m in range(index.shape[0]):
        i, value = np.uint64(index[m]), load_four(columns, np.uint64(m))
        start = np.uint64(0)
        for feature in range(n_features):
            j = np.uint64(feature)
            if codes[i, j, 0] == missing_code:
                add_four(stored, start + n_rows - np.uint64(1), value)
            else:
                for g in range(GRID_POINTS):
                    add_four(stored, start + np.uint64(codes[i, j, g]), times(value, chunk[g]))
            start += n_rows


@kernel
def subtract_node(stored, other):
    """Take the histogram `other` of one child away from `stored` (d, n_bins + 1, FOUR) of its parent: what remains is
    that of the other child, up to rounding."""
    whole, part = stored.reshape(-1), other.reshape(-1)
    for place in range(whole.shape[0]):
        whole[place] -= part[place]
