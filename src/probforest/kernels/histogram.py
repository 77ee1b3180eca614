"""The class masses of a node's members, added up per bin of one feature."""

import numpy as np

from .jit import inlined, kernel
from .layout import CODE_SLOTS, GRID_POINTS


@inlined
def gather_codes(codes, index, buffer):
    """Copy the codes of the objects `index` (m,) to the first rows of `buffer`.

    They lie far apart in memory. A loop that does nothing but fetch them waits for many at a time.
    """
    for m in range(index.shape[0]):
        i = np.uint64(index[m])
        for slot in range(CODE_SLOTS):
            buffer[m, slot] = codes[i, slot]


@kernel
def add_hard(codes, missing_code, index, mass, class_index, chunk, search):
    """Add members with hard labels. `codes` (n, 1 or CODE_SLOTS) of the feature, `index` (m,) of the members,
    `mass`, `class_index` (m or more,). Adds to `search.histogram` and `search.missing`, marks `search.occupied`."""
    histogram, occupied, missing, buffer = search.histogram, search.occupied, search.missing, search.codes
    n_classes = np.uint64(missing.shape[0])
    exact = codes.shape[1] == 1
    if not exact:
        gather_codes(codes, index, buffer)
    for m in range(index.shape[0]):
        c = np.uint64(class_index[m])  # unsigned indices cost no test for a sign
        weight = mass[m]
        first = np.uint64(codes[np.uint64(index[m]), 0] if exact else buffer[m, 0])
        if first == missing_code:
            missing[c] += weight
        elif exact or first == buffer[m, GRID_POINTS - 1]:  # all grid points in one bin
            histogram[first * n_classes + c] += weight
            occupied[first] = 1
        else:
            for g in range(GRID_POINTS):
                b = np.uint64(buffer[m, g])
                histogram[b * n_classes + c] += weight * chunk[g]
                occupied[b] = 1


@kernel
def add_soft(codes, missing_code, index, class_mass, chunk, search):
    """The same for label PMFs: `class_mass` (m or more, k) instead of one mass and its class."""
    histogram, occupied, missing = search.histogram, search.occupied, search.missing
    n_classes = missing.shape[0]
    exact = codes.shape[1] == 1
    for m in range(index.shape[0]):
        i = np.uint64(index[m])
        first = codes[i, 0]
        if first == missing_code:
            for c in range(n_classes):
                missing[c] += class_mass[m, c]
        elif exact or first == codes[i, GRID_POINTS - 1]:
            for c in range(n_classes):
                histogram[np.uint64(first * n_classes + c)] += class_mass[m, c]
            occupied[first] = 1
        else:
            for g in range(GRID_POINTS):
                b = codes[i, g]
                for c in range(n_classes):
                    histogram[np.uint64(b * n_classes + c)] += class_mass[m, c] * chunk[g]
                occupied[b] = 1
