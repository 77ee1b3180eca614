"""The class masses of a node's members, added up per bin of one feature.

Where a histogram lies: class c of bin b is entry c × n_bins + b for hard labels, so that a member needs no
multiplication to find its bins, and b × n_columns + c for soft ones, so that a member's classes lie side by side.
"""

import numpy as np

from .jit import inlined, kernel
from .layout import GRID_POINTS, SCRATCH

LANES = 4  # classes that are added at once: soft labels have a multiple of this many columns


@inlined
def fetch(words, feature, index, first, count, buffer):
    """Copy the codes of `count` members from `first` on to `buffer`.

    They lie far apart in memory. A loop that does nothing but fetch them waits for many at a time.
    """
    for m in range(count):
        buffer[m] = words[np.uint64(index[first + m]), feature]


@inlined
def code_of(word, point):
    """The bin of one grid point, from the eight codes of a cell in one word."""
    return (word >> np.uint64(8 * point)) & np.uint64(255)


@kernel
def add_listed(codes, feature, missing_code, index, mass, class_index, chunk, n_bins, histogram, occupied, missing):
    """Add members with hard labels, and mark the bins that they occupy. `codes` (n, d, 1 or CODE_SLOTS),
    `index` (m,) the members, `mass`, `class_index` (m or more,)."""
    n_points = GRID_POINTS if codes.shape[2] > 1 else 1
    j = np.uint64(feature)
    for m in range(index.shape[0]):
        i, c = np.uint64(index[m]), np.uint64(class_index[m])  # unsigned indices cost no test for a sign
        if codes[i, j, 0] == missing_code:
            missing[c] += mass[m]
            continue
        for g in range(n_points):
            b = np.uint64(codes[i, j, g])
            histogram[c * np.uint64(n_bins) + b] += mass[m] if n_points == 1 else mass[m] * chunk[g]
            occupied[b] = 1


@kernel
def add_words(words, feature, missing_code, index, mass, class_index, chunk, n_bins, buffer, histogram, missing):
    """The same without marks, for many members whose codes fit in a word: `words` (n, d)."""
    # Names for the chunks: the compiler can't know that the histogram is not written over an array of them.
    c0, c1, c2, c3, c4, c5, c6 = chunk[0], chunk[1], chunk[2], chunk[3], chunk[4], chunk[5], chunk[6]
    for first in range(0, index.shape[0], SCRATCH):
        count = min(index.shape[0] - first, SCRATCH)
        fetch(words, np.uint64(feature), index, first, count, buffer)
        for m in range(count):
            word, weight, c = buffer[m], mass[first + m], np.uint64(class_index[first + m])
            start, first_code = c * np.uint64(n_bins), code_of(word, 0)
            if first_code == missing_code:
                missing[c] += weight
            elif first_code == code_of(word, GRID_POINTS - 1):  # all grid points in one bin
                histogram[start + first_code] += weight
            else:
                histogram[start + first_code] += weight * c0
                histogram[start + code_of(word, 1)] += weight * c1
                histogram[start + code_of(word, 2)] += weight * c2
                histogram[start + code_of(word, 3)] += weight * c3
                histogram[start + code_of(word, 4)] += weight * c4
                histogram[start + code_of(word, 5)] += weight * c5
                histogram[start + code_of(word, 6)] += weight * c6


@kernel
def add_soft(codes, feature, missing_code, index, class_mass, chunk, histogram, occupied, missing):
    """Add members with label PMFs, and mark the bins: `class_mass` (m or more, a multiple of LANES)."""
    n_points = GRID_POINTS if codes.shape[2] > 1 else 1
    j = np.uint64(feature)
    n_columns = class_mass.shape[1]
    for m in range(index.shape[0]):
        i = np.uint64(index[m])
        if codes[i, j, 0] == missing_code:
            for c in range(missing.shape[0]):
                missing[c] += class_mass[m, c]
            continue
        for g in range(n_points):
            occupied[np.uint64(codes[i, j, g])] = 1
        for first in range(0, n_columns, LANES):
            column = np.uint64(first)
            mass0, mass1 = class_mass[m, column], class_mass[m, column + np.uint64(1)]
            mass2, mass3 = class_mass[m, column + np.uint64(2)], class_mass[m, column + np.uint64(3)]
            for g in range(n_points):
                place = np.uint64(codes[i, j, g]) * np.uint64(n_columns) + column
                factor = 1.0 if n_points == 1 else chunk[g]
                histogram[place] += mass0 * factor
                histogram[place + np.uint64(1)] += mass1 * factor
                histogram[place + np.uint64(2)] += mass2 * factor
                histogram[place + np.uint64(3)] += mass3 * factor
