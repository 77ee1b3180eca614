"""Weights of targets: the leaves of an object put together, and quantiles."""

import numpy as np
import pytest
from scipy import sparse

from probforest.kernels.target_weights import BIT_OF, find_quantiles, merged


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
