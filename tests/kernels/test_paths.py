import numpy as np

from probforest.kernels.layout import INDEX, LEAF, Nodes
from probforest.kernels.paths import add_changes

#        0: feature 1
#   1: feature 0   4: leaf
#  2: leaf  3: leaf
LINKS = np.array([[1, 4], [0, 3], [LEAF, LEAF], [LEAF, LEAF], [LEAF, LEAF]], dtype=INDEX)
PARENT = np.array([-1, 0, 1, 1, 0], dtype=INDEX)


def naive_changes(row, leaf, share, value, shape):
    out = np.zeros(shape)
    for i, node, part in zip(row, leaf, share, strict=True):
        while PARENT[node] >= 0:
            above = PARENT[node]
            out[i, LINKS[above, 0]] += part * (value[node] - value[above])
            node = above
    return out


def test_every_step_to_a_leaf_counts_for_its_feature():
    random = np.random.default_rng(0)
    value = random.dirichlet(np.ones(3), 5)
    nodes = Nodes(LINKS, np.zeros(5), np.zeros((5, 2)), np.zeros((5, 3)), value)
    row, leaf = np.array([0, 0, 1, 2, 2, 2], dtype=INDEX), np.array([2, 4, 3, 2, 3, 4], dtype=INDEX)
    share = np.array([0.3, 0.7, 1.0, 0.2, 0.5, 0.3])
    out = np.zeros((3, 2, 3))
    add_changes(row, leaf, share, PARENT, nodes, out)
    np.testing.assert_allclose(out, naive_changes(row, leaf, share, value, out.shape), atol=1e-15)
    ends = np.zeros((3, 3))
    np.add.at(ends, row, share[:, None] * value[leaf])
    np.testing.assert_allclose(value[0] + out.sum(axis=1), ends, atol=1e-15)


def test_an_object_in_the_root_changes_nothing():
    nodes = Nodes(LINKS[2:3], np.zeros(1), np.zeros((1, 2)), np.zeros((1, 3)), np.ones((1, 2)))
    out = np.zeros((1, 2, 2))
    add_changes(np.zeros(1, INDEX), np.zeros(1, INDEX), np.ones(1), np.full(1, -1, dtype=INDEX), nodes, out)
    assert not out.any()
