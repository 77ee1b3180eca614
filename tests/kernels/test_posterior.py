import numpy as np
import pytest
from scipy import stats
from scipy.interpolate import RegularGridInterpolator

from probforest.families import LAPLACE, NORMAL, squashed_table
from probforest.kernels.posterior import (
    SCALE_STEP,
    SCALES,
    interpolated_posteriors,
    most_likely_masses,
    posterior_quantiles,
)

FAMILIES = {"normal": (NORMAL, stats.norm()), "laplace": (LAPLACE, stats.laplace(scale=0.5**0.5))}


def cdf(t, x, lower, upper, standard):
    """F of a cell whose halves have their own σ."""
    return standard.cdf((t - x) / np.where(t < x, lower, upper))


def naive_quantiles(edges, mass, x, lower, upper, standard, levels):
    """Numerical integration on a fine grid: density of the prior × density of the measurement."""
    theta = np.linspace(edges[0], edges[-1], 200_001)
    density = mass / np.diff(edges)
    scale = np.where(theta < x, lower, upper)
    cell = np.clip(np.searchsorted(edges, theta) - 1, 0, len(density) - 1)
    posterior = np.cumsum(density[cell] * standard.pdf((theta - x) / scale) / scale)
    return np.interp(levels * posterior[-1], posterior, theta)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("lower", "upper"), [(0.7, 0.7), (0.5, 3.0), (3.0, 0.3), (40.0, 40.0)])
def test_quantiles_are_those_of_numerical_integration(family, lower, upper):
    random = np.random.default_rng(0)
    edges, mass = np.linspace(-8, 8, 161), random.dirichlet(np.ones(160))
    x, levels = np.array([-9.0, -4.0, 0.3, 2.0]), np.array([0.16, 0.5, 0.84])
    ours, standard = FAMILIES[family]
    density = mass / np.diff(edges)
    found = posterior_quantiles(x, np.full(4, lower), np.full(4, upper), edges, density, squashed_table(ours), levels)
    for i in range(4):
        expected = naive_quantiles(edges, mass, x[i], lower, upper, standard, levels)
        np.testing.assert_allclose(found[i], expected, atol=0.05 * min(lower, upper, 1.0))


def test_wide_cells_of_the_prior_are_pieces_of_the_measurement():
    edges, mass = np.array([-1.0, 0.2, 30.0, 31.0]), np.array([0.3, 0.6, 0.1])
    levels = np.array([0.16, 0.5, 0.84])
    x, lower, upper = np.array([0.1]), np.array([30.0]), np.array([8.0])
    found = posterior_quantiles(x, lower, upper, edges, mass / np.diff(edges), squashed_table(NORMAL), levels)
    expected = naive_quantiles(edges, mass, 0.1, 30.0, 8.0, stats.norm(), levels)
    np.testing.assert_allclose(found[0], expected, atol=0.02)


def test_fine_cells_and_cells_where_the_prior_has_nothing_have_no_posterior():
    edges, density = np.linspace(0, 10, 11), np.full(10, 0.1)
    x, sigma = np.array([5.0, 5.0, 1e3, -1e3, 0.0]), np.array([0.5, 2.0, 3.0, 3.0, 5.0])
    found = posterior_quantiles(x, sigma, sigma, edges, density, squashed_table(NORMAL), np.array([0.5]))
    np.testing.assert_array_equal(np.isnan(found[:, 0]), [True, False, True, True, False])


@pytest.mark.parametrize("n_steps", [1, 20])
def test_masses_are_those_of_the_em_algorithm(n_steps):
    random = np.random.default_rng(0)
    center, lower, upper = random.normal(0, 3, 50), random.gamma(1, 1, 50), random.gamma(1, 1, 50)
    center[3], lower[3], upper[3] = 99.0, 0.1, 0.1  # outside: takes no part
    weight = random.integers(1, 4, 50).astype(float)
    edges = np.sort(random.normal(0, 4, 13))
    found = most_likely_masses(center, lower, upper, weight, edges, squashed_table(NORMAL), n_steps)
    mass = np.full(12, 1 / 12)
    for _ in range(n_steps):
        total = np.zeros(12)
        for x, low, high, w in zip(center, lower, upper, weight, strict=True):
            likelihood = np.diff(cdf(edges, x, low, high, stats.norm())) / np.diff(edges)
            if (likelihood @ mass) > 1e-9:
                total += w * likelihood * mass / (likelihood @ mass)
        mass = total / total.sum()
    np.testing.assert_allclose(found, mass, atol=1e-4)
    assert found.sum() == pytest.approx(1)


def test_exact_cells_are_counted():
    edges, exact = np.array([0.0, 1.0, 2.0, 3.0]), np.zeros(5)
    center = np.array([0.5, 1.5, 1.6, 2.5, 9.0])
    found = most_likely_masses(center, exact, exact, np.ones(5), edges, squashed_table(NORMAL), 3)
    np.testing.assert_allclose(found, [0.25, 0.5, 0.25])


def test_interpolation_is_bilinear_in_value_and_logarithm_of_the_error():
    edges, largest = np.array([0.0, 1.0, 3.0]), 8.0
    random = np.random.default_rng(0)
    summaries = random.random((3, SCALES, 3))
    x, sigma = np.array([0.0, 0.5, 2.0, 3.0, -1.0, 0.5, 0.5]), np.array([8.0, 8.0, 1.0, 3.0, 1.0, 1e-20, 99.0])
    found = interpolated_posteriors(x, sigma, edges, largest, summaries)
    grid = RegularGridInterpolator((edges, np.arange(SCALES)), summaries)
    for i in range(4):
        expected = grid([x[i], np.log2(largest / sigma[i]) / SCALE_STEP])[0] * [1, sigma[i], sigma[i]]
        np.testing.assert_allclose(found[i], expected)
    assert np.isnan(found[4]).all()
    np.testing.assert_array_equal(found[5], [0.5, 1e-20, 1e-20])  # finer than the grid
    np.testing.assert_allclose(found[6], found[1])  # the largest error counts
