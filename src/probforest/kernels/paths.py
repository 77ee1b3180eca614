"""How the answer of a tree changes on the way from its root to the leaves that an object reaches."""

import numpy as np

from .jit import kernel
from .layout import FEATURE


@kernel
def add_changes(row, leaf, share, parent, nodes, out):
    """Add to `out` (n, d, k) what each step of the paths to `leaf` (v,) changes: the value of a child minus that of its
    parent, times the `share` (v,) of the object's probability that goes there, on account of the feature split on.

    `row` (v,) are the objects; `parent` (n_nodes,) is -1 at the root.
    """
    links, value = nodes.links, nodes.value
    for visit in range(row.shape[0]):
        of_object, part = out[row[visit]], share[visit]
        node = np.int64(leaf[visit])
        above = np.int64(parent[node])
        while above >= 0:
            of_feature = of_object[links[above, FEATURE]]
            for c in range(value.shape[1]):
                of_feature[c] += part * (value[node, c] - value[above, c])
            node, above = above, np.int64(parent[above])
