"""Boosting as a loop: drawn grid points, when to stop, what is kept."""

import numpy as np
import pytest

from probforest.features.binning import encode
from probforest.features.feature_bins import learn_bins
from probforest.features.measurements import read_measurements
from probforest.kernels.histogram import add_whole_node
from probforest.trees.boosting import Boosted, DrawnPoints, Stopping


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


def test_stopping_waits_for_an_improvement():
    stopping = Stopping(np.zeros(1, dtype=bool), n_iter_no_change=3, tolerance=0.01)
    assert not stopping.is_due([1.0, 1.0, 1.0])  # too few to say
    assert stopping.is_due([1.0, 1.0, 1.0, 0.995])  # within the tolerance
    assert not stopping.is_due([1.0, 0.9, 1.0, 1.0])
    assert stopping.is_due([1.0, 0.9, 1.0, 1.0, 1.0])


@pytest.mark.parametrize(("losses", "n_kept"), [([3, 2, 1, 2, 3], 2), ([1, 2, 3], 1), ([3, 2, 1], 2), ([], 4)])
def test_iterations_are_kept_up_to_the_smallest_held_out_loss(losses, n_kept):
    trees = [[]] * (len(losses) - 1 if losses else 4)
    kept = Boosted(trees, list(range(len(trees) + 1)), losses).up_to_best()
    assert len(kept.trees) == n_kept
    assert len(kept.training_loss) == n_kept + 1
    assert len(kept.validation_loss) == (n_kept + 1 if losses else 0)
