import numpy as np
from scipy.stats import norm

from probforest.families import NORMAL, normal_shape
from probforest.kernels.cdf import left_probability, standard_cdf

TABLE = normal_shape().table


def test_table_is_accurate_and_monotone():
    z = np.linspace(-8, 8, 5001)
    found = np.array([standard_cdf(x, TABLE) for x in z])
    assert np.abs(found - norm.cdf(z)).max() < 1e-6
    assert (np.diff(found) >= 0).all()


def test_tails_and_centre_are_exact():
    assert standard_cdf(-6.0, TABLE) == standard_cdf(-np.inf, TABLE) == 0.0
    assert standard_cdf(6.0, TABLE) == standard_cdf(np.inf, TABLE) == 1.0
    assert standard_cdf(0.0, TABLE) == 0.5


def test_exact_value_jumps_at_itself():
    assert left_probability(1.0, 1.0, np.inf, TABLE) == 1.0
    assert left_probability(np.nextafter(1.0, 0), 1.0, np.inf, TABLE) == 0.0


def test_noisy_value():
    assert abs(left_probability(3.0, 2.0, 1 / 0.5, TABLE) - norm.cdf(2)) < 1e-6
    assert left_probability(np.inf, 2.0, 1 / 0.5, TABLE) == 1.0


def test_grid_masses_are_those_of_the_specification():
    shape = NORMAL.shape()
    assert shape.chunk.sum() == 1.0
    np.testing.assert_allclose(np.cumsum(shape.chunk)[:-1], norm.cdf([-3, -2, -1, 0, 1, 2]), atol=1e-15)
