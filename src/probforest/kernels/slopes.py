"""Linear models in the nodes of a tree: the sums that they are made of, and what they add to the answers of leaves."""

import numpy as np

from .jit import kernel


@kernel
def add_moments(row, model, mass, columns, moments):
    """Add the products of the `columns` (n, k) of objects to those of their models, `moments` (n_models, k, k), upper
    triangles. Visit v is that of object `row[v]` in `model[v]`, where it counts with `mass[v]`."""
    n_columns = columns.shape[1]
    for v in range(row.shape[0]):
        i, m = np.uint64(row[v]), np.uint64(model[v])
        for a in range(n_columns):
            part = mass[v] * columns[i, a]
            for b in range(a, n_columns):
                moments[m, a, b] += part * columns[i, b]


@kernel
def add_to_models_above(above, moments):
    """Add the moments of every model to those of the one `above` it, which comes before it; -1: there is none."""
    for m in range(above.shape[0] - 1, -1, -1):
        if above[m] >= 0:
            for a in range(moments.shape[1]):
                for b in range(a, moments.shape[2]):
                    moments[above[m], a, b] += moments[m, a, b]


@kernel
def add_to_leaves(row, leaf, mass, places, sums, total):
    """Add the `places` (n, d) of the objects `row` (v,), times their `mass` (v,), to the `sums` (n_leaves, d) of the
    leaves that they are in, and their mass to `total` (n_leaves,)."""
    for v in range(row.shape[0]):
        i, at = np.uint64(row[v]), np.uint64(leaf[v])
        total[at] += mass[v]
        for j in range(places.shape[1]):
            sums[at, j] += mass[v] * places[i, j]


@kernel
def slopes_of_leaves(leaf_first, leaf, reach, places, model, slope, mean, out):
    """What each feature adds to the mean of each of n objects, into `out` (n, d): the slope of the leaf's model times
    the way from the mean place of the leaf to that of the object, averaged over the leaves that the object reaches.

    Object i, at `places[i]` (d,), reaches the leaves `leaf` with the probabilities `reach` at [leaf_first[i],
    leaf_first[i + 1]), at least one. Leaf l has the slopes `slope[model[l]]` (d,), and its mean place is `mean[l]`.
    """
    n_features = places.shape[1]
    for i in range(places.shape[0]):
        total = 0.0
        for j in range(n_features):
            out[i, j] = 0.0
        for v in range(leaf_first[i], leaf_first[i + 1]):
            at = np.uint64(leaf[v])
            m = np.uint64(model[at])
            total += reach[v]
            for j in range(n_features):
                out[i, j] += reach[v] * slope[m, j] * (places[i, j] - mean[at, j])
        for j in range(n_features):
            out[i, j] /= total
