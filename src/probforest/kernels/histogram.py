"""The class masses of a node's members, added up per bin of one feature."""

from .jit import kernel
from .layout import GRID_POINTS


@kernel
def add_hard(codes, missing_code, index, mass, class_index, chunk, histogram, missing):
    """Add members with hard labels. `codes` (n, 1 or GRID_POINTS) of the feature, `index`, `mass`, `class_index` (m,)
    of the members. Adds to `histogram` (n_bins, k) and `missing` (k,)."""
    exact = codes.shape[1] == 1
    for m in range(index.shape[0]):
        cell = codes[index[m]]
        first = cell[0]
        c = class_index[m]
        if first == missing_code:
            missing[c] += mass[m]
        elif exact or first == cell[GRID_POINTS - 1]:  # all grid points in one bin
            histogram[first, c] += mass[m]
        else:
            for g in range(GRID_POINTS):
                histogram[cell[g], c] += mass[m] * chunk[g]


@kernel
def add_soft(codes, missing_code, index, class_mass, chunk, histogram, missing):
    """The same for label PMFs: `class_mass` (m, k) instead of one mass and its class."""
    exact = codes.shape[1] == 1
    n_classes = histogram.shape[1]
    for m in range(index.shape[0]):
        cell = codes[index[m]]
        first = cell[0]
        if first == missing_code:
            for c in range(n_classes):
                missing[c] += class_mass[m, c]
        elif exact or first == cell[GRID_POINTS - 1]:
            for c in range(n_classes):
                histogram[first, c] += class_mass[m, c]
        else:
            for g in range(GRID_POINTS):
                for c in range(n_classes):
                    histogram[cell[g], c] += class_mass[m, c] * chunk[g]
