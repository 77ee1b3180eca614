"""Drawn grid points, and the bins they are counted in."""

import numpy as np

from probforest.features.binning import encode
from probforest.features.feature_bins import learn_bins
from probforest.features.measurements import read_measurements
from probforest.kernels.histogram import add_whole_node
from probforest.trees.drawn_points import MANY_BINS, DrawnPoints


def binned_table(n, d, max_bins, noise=0.5):
    random = np.random.default_rng(1)
    values = random.normal(size=(n, d))
    values[::7, 0] = np.nan
    measurements = read_measurements(values, None if noise is None else noise * random.gamma(2, 0.5, (n, d)))
    return encode(measurements, learn_bins(measurements, np.ones(n), max_bins), max_bins)


def histogram_of(bins, columns):
    stored = np.empty((*bins.low.shape[:1], bins.low.shape[1] + 1, 4))
    add_whole_node(bins, np.arange(len(columns), dtype=np.int32), columns, stored)
    return stored[:, :, :3]


def test_drawn_histograms_are_those_of_all_grid_points_on_average():
    bins = binned_table(n=60, d=3, max_bins=12)
    columns = np.column_stack([np.random.default_rng(0).normal(size=60), np.ones(60), np.ones(60), np.zeros(60)])
    expected, points = histogram_of(bins, columns), DrawnPoints(bins)
    draws = np.array(
        [histogram_of(points.drawn(seed), columns) for seed in np.random.default_rng(77).integers(1, 2**63, 400)]
    )
    np.testing.assert_allclose(draws.sum(axis=2), np.broadcast_to(expected.sum(axis=1), (400, 3, 3)), atol=1e-9)
    scatter = draws.std(axis=0) / np.sqrt(len(draws))
    off = np.abs(draws.mean(axis=0) - expected) / np.maximum(scatter, 1e-3)
    assert off.max() < 5
    assert not np.array_equal(draws[0], draws[1])


def test_exact_values_are_not_drawn():
    bins = binned_table(n=20, d=2, max_bins=12, noise=None)
    assert DrawnPoints(bins).drawn(1) is bins


def test_merged_bins_have_the_points_and_the_ends_of_those_they_are_made_of():
    """Which bins become one differs from seed to seed, and at every cut nothing but their number changes."""
    bins = binned_table(n=400, d=3, max_bins=255)
    columns = np.column_stack([np.random.default_rng(0).normal(size=400), np.ones((400, 2)), np.zeros(400)])
    points, cuts, size = DrawnPoints(bins), set(), DrawnPoints(bins).most_bins.low.shape
    for seed in range(1, 9):
        merged = points.drawn(seed)
        assert merged.low.shape == size
        assert merged.n_bins.max() <= MANY_BINS + 1
        for j, n_bins in enumerate(merged.n_bins):
            low, high = merged.low[j, :n_bins], merged.high[j, :n_bins]
            assert low[0] == bins.low[j, 0]
            assert high[-1] == bins.high[j, bins.n_bins[j] - 1]
            ends = np.searchsorted(bins.high[j, : bins.n_bins[j]], high)  # the last bin of each
            np.testing.assert_array_equal(bins.low[j][ends[:-1] + 1], low[1:])
            counted = np.bincount(merged.codes[:, j, 0], minlength=256)
            assert counted[n_bins:255].sum() == 0
            assert counted[255] == (58 if j == 0 else 0)  # missing cells
            cuts.update((j, end) for end in ends.tolist())
        assert histogram_of(merged, columns)[:, :, 2].sum() == 3 * 400
    assert len(cuts) == bins.n_bins.sum()


def test_features_without_errors_keep_their_bins():
    random = np.random.default_rng(1)
    values, errors = random.normal(size=(300, 2)), np.zeros((300, 2))
    errors[:, 0] = 0.5
    measurements = read_measurements(values, errors)
    bins = encode(measurements, learn_bins(measurements, np.ones(300), 255), 255)
    drawn = DrawnPoints(bins).drawn(7)
    assert drawn.n_bins[1] == bins.n_bins[1] > 2 * drawn.n_bins[0]
    np.testing.assert_array_equal(drawn.codes[:, 1, 0], bins.codes[:, 1, 0])
