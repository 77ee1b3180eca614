import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq

from probforest.families import LAPLACE, NORMAL, UNIFORM, full_table, reach_of, squashed_table, student_t
from probforest.kernels.posterior import most_likely_masses, posterior_quantiles

FAMILIES = {
    "normal": (NORMAL, stats.norm()),
    "laplace": (LAPLACE, stats.laplace(scale=0.5**0.5)),
    "uniform": (UNIFORM, stats.uniform(-(3**0.5), 12**0.5)),
    "student_t": (student_t(4.0), stats.t(4, scale=0.5**0.5)),
}
LEVELS = stats.norm.cdf([-1.0, 0.0, 1.0])


def cdf(t, x, lower, upper, standard):
    """F of a cell whose halves have their own σ."""
    return standard.cdf((t - x) / np.where(t < x, lower, upper))


def naive_quantiles(edges, mass, x, lower, upper, standard, levels):
    """Bayes' theorem: the mass below t is Σ density of the prior × probability of the measurement in each cell."""
    density = mass / np.diff(edges)

    def below(t):
        low, high = np.minimum(edges[:-1], t), np.minimum(edges[1:], t)
        left, right = cdf(low, x, lower, upper, standard), cdf(high, x, lower, upper, standard)
        beyond = cdf(2 * x - low, x, upper, lower, standard) - cdf(2 * x - high, x, upper, lower, standard)
        # the families are symmetric: above the value, the tail is known to more digits on the other side
        return float(np.sum(density * np.where(low > x, beyond, right - left)))

    total = below(edges[-1])
    if total == 0:
        return np.full(len(levels), np.nan)

    def off(t, level):
        return below(t) / total - level

    return np.array([brentq(off, edges[0], edges[-1], (level,), xtol=1e-13) for level in levels])


def quantiles_of(edges, mass, x, lower, upper, family):
    density, table = mass / np.diff(edges), full_table(family)
    return posterior_quantiles(x, lower, upper, reach_of(family), edges, density, table, LEVELS)


def assert_close(found, expected):
    """Within half a per cent of the width that holds 68 %."""
    np.testing.assert_allclose(found, expected, atol=5e-3 * (expected[2] - expected[0]))


def priors():
    """Cells between quantiles of normal, skewed, heavy-tailed and bimodal values: the last ones are very wide."""
    random = np.random.default_rng(1)
    for values in (
        random.normal(5, 2, 2500),
        random.lognormal(0, 1, 2500),
        random.standard_cauchy(2500),
        np.append(random.normal(-3, 1, 1250), random.normal(30, 0.1, 1250)),
    ):
        yield np.quantile(values, np.linspace(0, 1, 65)), np.round(random.dirichlet(np.full(64, 0.5)), 9)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("asymmetry", [1.0, 0.2, 7.0])
def test_posteriors_are_exact_everywhere(family, asymmetry):
    """In the bulk, in the wide cells at the ends, and outside, for errors of every size."""
    ours, standard = FAMILIES[family]
    random = np.random.default_rng(2)
    for edges, mass in priors():
        span = edges[-1] - edges[0]
        x = np.concatenate([random.choice(edges, 12), random.uniform(edges[0] - span / 4, edges[-1] + span / 4, 12)])
        lower = np.median(np.diff(edges)) * 2.0 ** random.uniform(0, 10, len(x))
        upper = asymmetry * lower
        found = quantiles_of(edges, mass, x, lower, upper, ours)
        known = ~np.isnan(found[:, 0])
        assert known.sum() > 8
        for i in np.flatnonzero(known):
            assert_close(found[i], naive_quantiles(edges, mass, x[i], lower[i], upper[i], standard, LEVELS))


@pytest.mark.parametrize("family", FAMILIES)
def test_the_inverse_table_finds_what_the_search_finds(family):
    """An inverse that is wrong everywhere leaves all to the search."""
    random, ours = np.random.default_rng(3), FAMILIES[family][0]
    table, reach, useless = full_table(ours), reach_of(ours), np.zeros(len(full_table(ours)))
    for edges, mass in priors():
        span, density = edges[-1] - edges[0], mass / np.diff(edges)
        x = random.uniform(edges[0] - span / 4, edges[-1] + span / 4, 500)
        lower = np.median(np.diff(edges)) * 2.0 ** random.uniform(0, 10, len(x))
        upper = lower * 2.0 ** random.uniform(-3, 3, len(x))
        found = posterior_quantiles(x, lower, upper, reach, edges, density, table, LEVELS)
        searched = posterior_quantiles(x, lower, upper, reach, edges, density, table, LEVELS, useless)
        np.testing.assert_array_equal(np.isnan(found), np.isnan(searched))
        known = ~np.isnan(found[:, 0])
        width = (searched[known, 2] - searched[known, 0])[:, None]
        off = np.abs((found[known] - searched[known]) / width)
        assert np.quantile(off, 0.95) < 1e-4
        assert off.max() < 0.05  # where the posterior has next to nothing, many places have the same level


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("lower", "upper"), [(0.7, 0.7), (0.5, 3.0), (3.0, 0.3), (40.0, 40.0)])
def test_quantiles_are_those_of_numerical_integration(family, lower, upper):
    random = np.random.default_rng(0)
    edges, mass = np.linspace(-8, 8, 161), random.dirichlet(np.ones(160))
    x = np.array([-8.5, -4.0, 0.3, 2.0])
    ours, standard = FAMILIES[family]
    found = quantiles_of(edges, mass, x, np.full(4, lower), np.full(4, upper), ours)
    for i in range(4):
        assert_close(found[i], naive_quantiles(edges, mass, x[i], lower, upper, standard, LEVELS))


def test_wide_cells_of_the_prior_are_pieces_of_the_measurement():
    edges, mass = np.array([-1.0, 0.2, 30.0, 31.0]), np.array([0.3, 0.6, 0.1])
    found = quantiles_of(edges, mass, np.array([0.1]), np.array([30.0]), np.array([8.0]), NORMAL)
    assert_close(found[0], naive_quantiles(edges, mass, 0.1, 30.0, 8.0, stats.norm(), LEVELS))


def test_fine_cells_and_cells_where_the_prior_has_nothing_have_no_posterior():
    edges, density = np.linspace(0, 10, 11), np.full(10, 0.1)
    x = np.array([5.5, 5.5, 1e3, -1e3, 0.0, 21.0, 16.0, 10.0, 10.0])
    sigma = np.array([0.3, 0.5, 3.0, 3.0, 5.0, 2.1, 2.1, 0.1, 1.0])
    found = posterior_quantiles(x, sigma, sigma, 8.0, edges, density, full_table(NORMAL), np.array([0.5]))
    np.testing.assert_array_equal(np.isnan(found[:, 0]), [True, False, True, True, False, True, False, True, False])


def test_a_half_without_an_error_is_a_peak():
    edges, mass = np.linspace(0, 10, 11), np.full(10, 0.1)
    found = quantiles_of(edges, mass, np.array([4.5, 4.5]), np.array([0.0, 3.0]), np.array([3.0, 0.0]), NORMAL)
    np.testing.assert_allclose(found[0, :2], 4.5)  # half of the probability lies at the value itself
    np.testing.assert_allclose(found[1, 1:], 4.5)
    assert found[0, 2] > 5
    assert found[1, 0] < 4


@pytest.mark.parametrize("n_steps", [1, 20])
@pytest.mark.parametrize(("n_objects", "n_cells"), [(50, 12), (48, 13), (5, 3)])
def test_masses_are_those_of_the_em_algorithm(n_objects, n_cells, n_steps):
    random = np.random.default_rng(0)
    center = random.normal(0, 3, n_objects)
    lower, upper = random.gamma(1, 1, n_objects), random.gamma(1, 1, n_objects)
    center[3], lower[3], upper[3] = 99.0, 0.1, 0.1  # outside: takes no part
    weight = random.integers(1, 4, n_objects).astype(float)
    edges = np.sort(random.normal(0, 4, n_cells + 1))
    found = most_likely_masses(center, lower, upper, weight, 8.0, edges, squashed_table(NORMAL), n_steps)
    mass = np.full(n_cells, 1 / n_cells)
    for _ in range(n_steps):
        total = np.zeros(n_cells)
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
    found = most_likely_masses(center, exact, exact, np.ones(5), 8.0, edges, squashed_table(NORMAL), 3)
    np.testing.assert_allclose(found, [0.25, 0.5, 0.25])


def test_a_value_at_an_edge_is_treated_alike_on_both_sides():
    edges, mass = np.array([1.0, 2.0, 4.0, 5.0]), np.array([0.4, 0.2, 0.4])
    for sigma in (0.2, 0.5, 0.6, 0.8, 2.0):
        x, error = np.array([1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0]), np.full(9, sigma)
        found = quantiles_of(edges, mass, x, error, error, NORMAL)
        np.testing.assert_allclose(found[::-1, ::-1], 6.0 - found, atol=1e-4)
