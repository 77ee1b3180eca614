"""Linear interpolation beside its definition."""

import numpy as np
import pytest

from probforest.kernels.interpolation import interpolated


def naive(x, places, values):
    """On the line through the points on either side."""
    if np.isnan(x):
        return np.nan
    if x <= places[0] or len(places) == 1:
        return values[0]
    if x >= places[-1]:
        return values[-1]
    right = next(i for i in range(len(places)) if places[i] >= x)
    low, high = places[right - 1], places[right]
    share = (x / 2 - low / 2) / (high / 2 - low / 2)
    return (1 - share) * values[right - 1] + share * values[right]


@pytest.mark.parametrize("n_places", [1, 2, 3, 4, 5, 64, 65, 128, 129, 300, 5000])
def test_it_is_on_the_line_between_neighbours(n_places):
    random = np.random.default_rng(n_places)
    places, values = np.sort(random.normal(size=n_places)), random.normal(size=n_places)
    x = np.concatenate([2 * random.normal(size=200), places, [np.nan, np.inf, -np.inf]])
    np.testing.assert_allclose(interpolated(x, places, values), [naive(each, places, values) for each in x], atol=1e-12)


def test_it_meets_the_points_whatever_their_size():
    places = np.array([-1.7e308, -1e-300, 0.0, 1e-300, 3.0, 1.7e308])
    values = np.array([-1e308, 0.0, 1.0, 2.0, 2.5, 1e308])
    np.testing.assert_array_equal(interpolated(places, places, values), values)
    assert np.isfinite(interpolated(1e308 * np.linspace(-1, 1, 11), places, values)).all()


def test_places_that_come_twice_make_a_step():
    places, values = np.array([0.0, 0.0, 1.0, 1.0, 2.0]), np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    found = interpolated(np.array([-1.0, 0.0, 0.5, 1.0, 1.5, 2.0]), places, values)
    np.testing.assert_array_equal(found, [0.0, 0.0, 1.5, 2.0, 3.5, 4.0])


def test_it_keeps_the_shape_of_what_it_is_asked_for():
    x = np.arange(6.0).reshape(2, 3)[:, ::-1]
    np.testing.assert_array_equal(interpolated(x, np.array([0.0, 10.0]), np.array([0.0, 1.0])), x / 10)
