"""Weights of targets: the leaves of an object put together, and quantiles."""

import numpy as np
import pytest
from scipy import sparse

from probforest.kernels.target_weights import BIT_OF, find_quantiles, merged, quantile_places


def random_leaves(seed, n_objects=20, n_leaves=12, n_targets=200, density=0.1):
    """Reach (n, leaves) and shares (leaves, m), each row with an entry."""
    random = np.random.default_rng(seed)
    reach = sparse.random(n_objects, n_leaves, 0.3, random_state=seed, format="lil")
    shares = sparse.random(n_leaves, n_targets, density, random_state=seed + 1, format="lil")
    for matrix in (reach, shares):
        matrix[np.arange(matrix.shape[0]), random.integers(matrix.shape[1], size=matrix.shape[0])] = 0.5
    return sparse.csr_matrix(reach), sparse.csr_matrix(shares)


def arrays(matrix):
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data


@pytest.mark.parametrize("n_targets", [1, 63, 64, 65, 200])
def test_leaves_are_put_together_as_by_a_product_of_matrices(n_targets):
    for seed in range(5):
        reach, shares = random_leaves(seed, n_targets=n_targets)
        expected = (reach @ shares).toarray()
        expected /= expected.sum(axis=1, keepdims=True)
        begin, places, weights = merged(*arrays(reach), *arrays(shares), n_targets, expected.size)
        for row in range(len(expected)):
            entries = slice(begin[row], begin[row + 1])
            np.testing.assert_array_equal(places[entries], np.flatnonzero(expected[row]))
            np.testing.assert_allclose(weights[entries], expected[row][places[entries]], rtol=1e-14)


def test_every_bit_has_its_number():
    assert [int(BIT_OF[np.uint64(1 << bit) % np.uint64(67)]) for bit in range(64)] == list(range(64))


def test_quantiles_are_the_first_entries_with_enough_weight():
    random = np.random.default_rng(0)
    sizes = random.integers(1, 9, size=30)
    first = np.concatenate([[0], np.cumsum(sizes)])
    weight = np.concatenate([random.dirichlet(np.ones(size)) for size in sizes])
    levels = np.array([-0.1, 0.0, 0.16, 0.5, 0.5, 0.84, 1.0, 2.0])
    found = np.empty((30, len(levels)), dtype=np.int64)
    find_quantiles(first, weight, levels, found)
    for i, size in enumerate(sizes):
        up_to = np.cumsum(weight[first[i] : first[i + 1]])
        expected = [first[i] + min(np.searchsorted(up_to, level), size - 1) for level in levels]
        np.testing.assert_array_equal(found[i], expected)


def naive_quantiles(reach, shares, levels):
    """The smallest targets up to which the weights of each object sum to the levels, or else its last target."""
    weights = (reach @ shares).toarray()
    found = []
    for row in weights / weights.sum(axis=1, keepdims=True):
        has_some, up_to = np.flatnonzero(row), np.cumsum(row[row > 0])
        found.append([has_some[min(np.searchsorted(up_to, level - 1e-12), len(has_some) - 1)] for level in levels])
    return np.array(found)


LEVELS = np.array([-0.1, 0.0, 0.16, 0.5, 0.5, 0.84, 0.999, 1.0, 2.0])


@pytest.mark.parametrize("n_targets", [1, 63, 64, 65, 200, 5000, 100_000])
@pytest.mark.parametrize("density", [0.0, 0.02, 0.5], ids=["one target", "sparse", "dense"])
def test_quantiles_of_leaves_need_no_order_of_all_targets(n_targets, density):
    density = min(density, 500 / n_targets)
    for seed in range(3):
        reach, shares = random_leaves(seed, n_targets=n_targets, density=density)
        found = quantile_places(*arrays(reach), *arrays(shares), n_targets, LEVELS - 1e-12)
        np.testing.assert_array_equal(found, naive_quantiles(reach, shares, LEVELS))


def test_quantiles_of_leaves_are_those_of_merged_leaves():
    for seed in range(5):
        reach, shares = random_leaves(seed, n_leaves=40, n_targets=3000, density=0.05)
        begin, places, weights = merged(*arrays(reach), *arrays(shares), 3000, reach.shape[0] * 3000)
        at = np.empty((reach.shape[0], len(LEVELS)), dtype=np.int64)
        find_quantiles(begin, weights, LEVELS - 1e-12, at)
        found = quantile_places(*arrays(reach), *arrays(shares), 3000, LEVELS - 1e-12)
        np.testing.assert_array_equal(found, places[at])


def test_quantiles_of_equal_weights_fall_on_their_targets():
    """Sums of weights are rounded: ten times 0.1 must be 1, and five times 0.1 a half."""
    shares = sparse.csr_matrix(np.eye(10))
    reach = sparse.csr_matrix(np.full((1, 10), 0.1))
    levels = np.arange(1, 11) / 10
    found = quantile_places(*arrays(reach), *arrays(shares), 10, levels - 1e-12)
    np.testing.assert_array_equal(found, [np.arange(10)])


def test_objects_have_their_quantiles_alone_and_in_company():
    reach, shares = random_leaves(0, n_objects=50, n_leaves=60, n_targets=20_000, density=0.01)
    together = quantile_places(*arrays(reach), *arrays(shares), 20_000, LEVELS)
    for row in range(50):
        alone = quantile_places(*arrays(reach[row]), *arrays(shares), 20_000, LEVELS)
        np.testing.assert_array_equal(alone[0], together[row])


def test_an_object_may_reach_all_targets_of_all_leaves():
    """The list of its targets is as long as it can be."""
    reach, shares = (
        sparse.csr_matrix(np.full((3, 6), 0.5)),
        sparse.csr_matrix(np.random.default_rng(0).random((6, 700))),
    )
    found = quantile_places(*arrays(reach), *arrays(shares), 700, LEVELS - 1e-12)
    np.testing.assert_array_equal(found, naive_quantiles(reach, shares, LEVELS))


def test_no_objects_have_no_quantiles():
    reach, shares = random_leaves(0)
    assert quantile_places(*arrays(reach[:0]), *arrays(shares), 200, LEVELS).shape == (0, len(LEVELS))
