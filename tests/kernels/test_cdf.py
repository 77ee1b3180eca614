import numpy as np
from scipy.stats import norm

from probforest.families import NORMAL, normal_shape
from probforest.kernels.layout import Cells
from probforest.kernels.propagate import left_probabilities

TABLE = normal_shape().table


def left_probability(threshold, center, inverse_scale):
    cells, out = Cells(np.array([[[center, inverse_scale]]]), True), np.empty(1)
    left_probabilities(cells, 0, threshold, np.zeros(1, dtype=np.int32), TABLE, out, np.empty((2, 1)))
    return out[0]


def standard_cdf(z):
    return left_probability(z, 0.0, 1.0)


def exact_cdf(threshold, value):
    return left_probability(threshold, value, np.inf)


def test_table_is_accurate_and_monotone():
    z = np.linspace(-8, 8, 5001)
    found = np.array([standard_cdf(x) for x in z])
    assert np.abs(found - norm.cdf(z)).max() < 1e-6
    assert (np.diff(found) >= 0).all()


def test_tails_and_centre_are_exact():
    assert standard_cdf(-6.0) == standard_cdf(-np.inf) == 0.0
    assert standard_cdf(6.0) == standard_cdf(np.inf) == 1.0
    assert standard_cdf(0.0) == 0.5


def test_exact_value_jumps_at_itself():
    assert exact_cdf(1.0, 1.0) == 1.0
    assert exact_cdf(np.nextafter(1.0, 0), 1.0) == 0.0
    assert exact_cdf(np.inf, 1.0) == 1.0
    assert exact_cdf(-1e300, 1.0) == 0.0


def test_noisy_value():
    assert abs(left_probability(3.0, 2.0, 1 / 0.5) - norm.cdf(2)) < 1e-6
    assert left_probability(np.inf, 2.0, 1 / 0.5) == 1.0


def test_missing_value():
    assert np.isnan(left_probability(3.0, np.nan, np.nan))
    assert np.isnan(left_probability(3.0, np.nan, np.inf))


def test_grid_masses_are_those_of_the_specification():
    shape = NORMAL.shape()
    assert shape.chunk.sum() == 1.0
    np.testing.assert_allclose(np.cumsum(shape.chunk)[:-1], norm.cdf([-3, -2, -1, 0, 1, 2]), atol=1e-15)
