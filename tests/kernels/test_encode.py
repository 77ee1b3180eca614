import numpy as np
import pytest

from probforest.families import normal_shape
from probforest.kernels.encode import encode_feature, first_bin

GRID = normal_shape().grid


def test_first_bin_counts_the_edges_below():
    edges = np.sort(np.random.default_rng(0).normal(size=37))
    for point in [*np.linspace(-3, 3, 50), *edges]:
        assert first_bin(edges, len(edges), point, 0) == np.searchsorted(edges, point, side="left")


@pytest.mark.parametrize("n_points", [1, 7])
def test_codes_and_extremes(n_points):
    center = np.array([0.0, 1.0, np.nan, -2.0])
    scale = np.array([0.5, 0.0, np.nan, 1.0]) if n_points == 7 else np.empty(0)
    edges = np.array([-1.5, -0.25, 0.6])
    codes = np.zeros((4, n_points), dtype=np.uint8)
    low, high = np.full(4, np.inf), np.full(4, -np.inf)
    encode_feature(center, scale, GRID, edges, 255, codes, low, high)
    assert (codes[2] == 255).all()
    points = {i: center[i] + (GRID * scale[i] if n_points == 7 else np.zeros(1)) for i in (0, 1, 3)}
    for i, expected in points.items():
        np.testing.assert_array_equal(codes[i], np.searchsorted(edges, expected, side="left"))
    everything = np.concatenate(list(points.values()))
    place = np.searchsorted(edges, everything, side="left")
    for b in range(4):
        inside = everything[place == b]
        assert low[b] == (inside.min() if len(inside) else np.inf)
        assert high[b] == (inside.max() if len(inside) else -np.inf)


def test_grid_points_stay_finite():
    codes, low, high = np.zeros((1, 7), dtype=np.uint8), np.full(1, np.inf), np.full(1, -np.inf)
    encode_feature(np.array([1e308]), np.array([1e308]), GRID, np.empty(0), 255, codes, low, high)
    assert np.isfinite([low[0], high[0]]).all()
