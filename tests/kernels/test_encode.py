import numpy as np
import pytest

from probforest.families import NORMAL
from probforest.kernels.encode import encode_column
from probforest.kernels.layout import GRID_POINTS, Column

GRID = NORMAL.grid()


def column(center, lower, upper=None, number=(), points=None):
    upper = lower if upper is None else upper
    points = np.empty((0, GRID_POINTS)) if points is None else points
    return Column(center, lower, upper, np.array(number, dtype=np.int64), points)


@pytest.mark.parametrize("n_slots", [1, 8])
@pytest.mark.parametrize("n", [4, 1000])
def test_codes(n_slots, n):
    random = np.random.default_rng(0)
    center, scale = random.normal(size=n), random.random(n)
    center[2], scale[1] = np.nan, 0.0
    scale = scale if n_slots == 8 else np.empty(0)
    edges = np.array([-1.5, -0.25, 0.6])
    codes = np.zeros((n, n_slots), dtype=np.uint8)
    encode_column(column(center, scale), GRID, edges, 255, codes)
    points = center[:, None] + GRID * scale[:, None] if n_slots == 8 else center[:, None]
    expected = np.searchsorted(edges, points, side="left")
    expected[2] = 255
    np.testing.assert_array_equal(codes[:, : points.shape[1]], expected)


def test_grid_points_that_overflow_stay_in_the_last_bin():
    codes = np.zeros((1, 8), dtype=np.uint8)
    encode_column(column(np.array([1e308]), np.array([1e308])), GRID, np.array([-1e308, 1.5e308]), 255, codes)
    np.testing.assert_array_equal(codes[0, :7], [0, 0, 1, 1, 2, 2, 2])


def test_codes_of_asymmetric_and_free_form_cells():
    own = np.arange(2.0 * GRID_POINTS).reshape(2, GRID_POINTS)
    center, lower, upper = (
        np.array([1.0, np.nan, np.nan]),
        np.array([0.1, np.nan, np.nan]),
        np.array([5.0, np.nan, np.nan]),
    )
    center[1] = 3.0  # has points of its own
    edges = np.linspace(-1, 30, 63)
    codes = np.zeros((3, 8), dtype=np.uint8)
    encode_column(column(center, lower, upper, [-1, 1, -1], own), GRID, edges, 255, codes)
    points = 1.0 + GRID * np.where(GRID < 0, 0.1, 5.0)
    np.testing.assert_array_equal(codes[0, :7], np.searchsorted(edges, points))
    np.testing.assert_array_equal(codes[1, :7], np.searchsorted(edges, own[1]))
    np.testing.assert_array_equal(codes[2, :7], 255)
