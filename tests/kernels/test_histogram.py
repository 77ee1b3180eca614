import numpy as np
import pytest

from probforest.families import CHUNK
from probforest.kernels.histogram import add_columns, add_listed, add_whole_node, add_words
from probforest.kernels.layout import CODE_SLOTS, GRID_POINTS, Bins, Histogram
from probforest.kernels.split import new_node_mass, new_search


@pytest.mark.parametrize("n_points", [1, CODE_SLOTS])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_histograms_hold_the_mass_of_every_grid_point(n_points, dtype):
    random = np.random.default_rng(0)
    missing_code = np.iinfo(dtype).max
    codes = np.sort(random.integers(0, 6, (12, n_points)), axis=1).astype(dtype)
    codes[3] = missing_code
    codes[5] = 2  # all in one bin
    index = np.array([0, 3, 5, 7, 11], dtype=np.int32)
    mass, labels = random.random(5), np.array([0, 1, 2, 1, 0], dtype=np.int32)
    pmf = np.eye(3)[labels]
    expected, expected_missing = np.zeros((6, 3)), np.zeros(3)
    for m, i in enumerate(index):
        if codes[i, 0] == missing_code:
            expected_missing += mass[m] * pmf[m]
            continue
        for g, b in enumerate(codes[i, :GRID_POINTS]):
            expected[b] += mass[m] * (CHUNK[g] if n_points > 1 else 1.0) * pmf[m]
    table = np.stack([codes[::-1], codes], axis=1)  # of two features
    eight_bytes = codes[0].nbytes == 8
    words = table.view(np.uint64)[:, :, 0] if eight_bytes else np.empty((0, 2), dtype=np.uint64)
    edges = np.zeros((2, 6))
    bins = Bins(table, words, np.full(2, 6), edges, edges, missing_code, CHUNK)
    node = new_node_mass(5, 3, hard=False)
    node.mass[:], node.class_index[:], node.columns[:, :3] = mass, labels, mass[:, None] * pmf
    for add in (add_columns, add_listed, add_words)[: 3 if eight_bytes else 2]:
        search = new_search(bins, 3, seed=1)
        search.missing[:] = 0.0
        histogram, missing, occupied = search.histogram, search.missing, search.occupied[:6]
        scratch = [search.words] if add is add_words else []
        add(bins, 1, index, node, Histogram(histogram, occupied, missing, 6), *scratch)
        found = histogram.reshape(6, 4)[:, :3] if add is add_columns else histogram[:18].reshape(3, 6).T
        np.testing.assert_allclose(found, expected, atol=1e-15)
        np.testing.assert_allclose(missing, expected_missing, atol=1e-15)
        np.testing.assert_array_equal(occupied, np.zeros(6) if add is add_words else expected.any(axis=1))


@pytest.mark.parametrize("n_points", [1, CODE_SLOTS])
def test_whole_nodes_hold_what_each_feature_adds_up(n_points):
    """All features at once beside one after the other, with missing cells and cells in a single bin."""
    random = np.random.default_rng(1)
    codes = np.sort(random.integers(0, 6, (30, 3, n_points)), axis=2).astype(np.uint8)
    codes[random.random((30, 3)) < 0.2] = 255
    codes[4] = 5
    edges, no_words = np.zeros((3, 6)), np.empty((0, 3), dtype=np.uint64)
    bins = Bins(codes, no_words, np.full(3, 6), edges, edges, 255, CHUNK)
    index = np.array([4, 0, 29, 7, 7, 12, 20], dtype=np.int32)
    node = new_node_mass(len(index), 3, hard=False)
    node.columns[:, :3] = random.normal(size=(len(index), 3))
    stored = np.full((3, 7, 4), 9.0)
    add_whole_node(bins, index, node.columns, stored)
    for feature in range(3):
        search = new_search(bins, 3, seed=1)
        search.missing[:] = 0.0
        add_columns(bins, feature, index, node, Histogram(search.histogram, search.occupied, search.missing, 6))
        np.testing.assert_array_equal(stored[feature, :6], search.histogram.reshape(6, 4))
        np.testing.assert_allclose(stored[feature, 6, :3], search.missing, atol=1e-15)
