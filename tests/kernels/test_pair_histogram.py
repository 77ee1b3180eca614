"""Histograms of targets with two columns, beside those of any number of columns and beside plain sums."""

import numpy as np
import pytest

from probforest.families import CHUNK
from probforest.kernels.histogram import add_columns
from probforest.kernels.layout import CODE_SLOTS, GRID_POINTS, SCRATCH, Bins, Histogram
from probforest.kernels.pair_histogram import add_pairs, sum_left_of_pairs
from probforest.kernels.split import new_node_mass, new_search

N_BINS, MISSING = 9, 255


def problem(n_objects, seed=0):
    """Bins of two features, members and their columns: numbers of either sign, and weights."""
    random = np.random.default_rng(seed)
    codes = np.sort(random.integers(1, N_BINS - 2, (n_objects, CODE_SLOTS)), axis=1).astype(np.uint8)
    codes[::5] = MISSING
    codes[1::5] = 4  # all in one bin
    codes[codes == 3] = 2  # an empty bin
    table = np.ascontiguousarray(np.stack([codes[::-1], codes], axis=1))
    edges = np.zeros((2, N_BINS))
    bins = Bins(table, table.view(np.uint64)[:, :, 0], np.full(2, N_BINS), edges, edges, MISSING, CHUNK)
    index = np.flatnonzero(random.uniform(size=n_objects) < 0.8).astype(np.int32)
    node = new_node_mass(len(index), 2, hard=False)
    mass = random.uniform(size=len(index))
    node.columns[:, 0], node.columns[:, 1] = mass * random.normal(size=len(index)), mass
    return bins, index, node


def added(add, bins, index, node):
    search = new_search(bins, 2, seed=1)
    search.missing[:] = 0.0
    histogram = Histogram(search.histogram, search.occupied, search.missing, N_BINS)
    add(bins, 1, index, node, histogram, *([search.words] if add is add_pairs else []))
    return search


@pytest.mark.parametrize("n_objects", [1, 30, 2 * SCRATCH + 7])
def test_pairs_are_added_as_other_columns(n_objects):
    bins, index, node = problem(n_objects)
    found, expected = (added(add, bins, index, node) for add in (add_pairs, add_columns))
    np.testing.assert_array_equal(found.histogram, expected.histogram)
    np.testing.assert_array_equal(found.missing, expected.missing)


def test_sums_to_the_left_are_those_of_all_grid_points():
    bins, index, node = problem(200)
    per_bin = np.zeros((N_BINS, 2))
    for m, i in enumerate(index):
        if bins.codes[i, 1, 0] != MISSING:
            for g in range(GRID_POINTS):
                per_bin[bins.codes[i, 1, g]] += CHUNK[g] * node.columns[m, :2]
    search = added(add_pairs, bins, index, node)
    first, n_cuts = sum_left_of_pairs(search.histogram, node.columns.shape[1], N_BINS, search.left)
    occupied = np.flatnonzero(per_bin[:, 1])
    assert (first, n_cuts) == (occupied[0], occupied[-1] + 1 - occupied[0])
    expected = np.cumsum(per_bin[first : first + n_cuts], axis=0).T
    np.testing.assert_allclose(search.left[:, :n_cuts], expected, rtol=1e-12)
    assert search.left[1, 3 - first] == search.left[1, 2 - first]  # behind the empty bin
    assert not search.histogram.any()


@pytest.mark.parametrize("column", [0, 1])
def test_a_bin_with_one_of_the_columns_is_not_empty(column):
    """A sum of numbers may be 0 where there are weights; one of two classes may be absent."""
    histogram, left = np.zeros(N_BINS * 4), np.empty((2, N_BINS))
    histogram[[2 * 4 + column, 5 * 4 + column]] = 1.0
    assert sum_left_of_pairs(histogram, 4, N_BINS, left) == (2, 4)
    np.testing.assert_array_equal(left[column, :4], [1, 1, 1, 2])
    assert sum_left_of_pairs(histogram, 4, N_BINS, left) == (0, 0)  # nothing is left behind
