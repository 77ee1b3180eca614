"""The class masses of a node's members, added up per bin of one feature."""

import numpy as np

from .jit import kernel
from .layout import GRID_POINTS


@kernel
def add_hard(codes, missing_code, index, mass, class_index, chunk, search):
    """Add members with hard labels. `codes` (n, 1 or GRID_POINTS) of the feature, `index` (m,) of the members,
    `mass`, `class_index` (m or more,). Adds to `search.histogram` and `search.missing`, marks `search.occupied`."""
    histogram, occupied, missing = search.histogram, search.occupied, search.missing
    n_classes = np.uint64(missing.shape[0])
    exact = codes.shape[1] == 1
    for m in range(index.shape[0]):
        i, c = np.uint64(index[m]), np.uint64(class_index[m])  # unsigned indices cost no test for a sign
        weight = mass[m]
        first = np.uint64(codes[i, 0])
        if first == missing_code:
            missing[c] += weight
        elif exact or first == codes[i, GRID_POINTS - 1]:  # all grid points in one bin
            histogram[first * n_classes + c] += weight
            occupied[first] = 1
        else:
            for g in range(GRID_POINTS):
                b = np.uint64(codes[i, g])
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
