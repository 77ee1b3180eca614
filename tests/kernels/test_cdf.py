import numpy as np
import pytest
from scipy import stats

from probforest.families import CHUNK, LAPLACE, LOGNORMAL, NORMAL, UNIFORM, family_from_scipy, student_t
from probforest.features.measurements import read_measurements
from probforest.kernels.grow import new_nodes
from probforest.kernels.layout import LEAF
from probforest.kernels.propagate import left_probabilities
from probforest.kernels.route import route

# Each family and SciPy's own, which shares no code with it.
FAMILIES = {
    "normal": (NORMAL, stats.norm()),
    "uniform": (UNIFORM, stats.uniform(-np.sqrt(3), np.sqrt(12))),
    "laplace": (LAPLACE, stats.laplace(scale=np.sqrt(0.5))),
    "student_t(3)": (student_t(3.0), stats.t(3, scale=np.sqrt(1 / 3))),
    "student_t(2.1)": (student_t(2.1), stats.t(2.1, scale=np.sqrt(0.1 / 2.1))),
    "student_t(30)": (student_t(30.0), stats.t(30, scale=np.sqrt(28 / 30))),
    "gumbel": (
        family_from_scipy(stats.gumbel_r(loc=5, scale=2)),
        stats.gumbel_r(-np.euler_gamma / (np.pi / 6**0.5), 6**0.5 / np.pi),
    ),
}


def left_probability(threshold, value, error, families=(NORMAL,), **about):
    measurements = read_measurements(np.array([[float(value)]]), error, families=families, **about)
    cells, out = measurements.with_logarithms().into_cells(), np.empty(1)
    row, steps = np.zeros(1, dtype=np.int32), np.empty(1, dtype=np.int32)
    left_probabilities(cells, 0, float(threshold), row, out, np.empty((2, 1)), steps)
    return out[0]


def test_table_is_accurate_and_monotone():
    z = np.linspace(-8, 8, 5001)
    found = np.array([left_probability(x, 0, 1.0) for x in z])
    assert np.abs(found - stats.norm.cdf(z)).max() < 1e-6
    assert (np.diff(found) >= 0).all()


def test_tails_and_centre_are_exact():
    assert left_probability(-6.0, 0, 1.0) == left_probability(-np.inf, 0, 1.0) == 0.0
    assert left_probability(6.0, 0, 1.0) == left_probability(np.inf, 0, 1.0) == 1.0
    assert left_probability(0.0, 0, 1.0) == 0.5


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_is_that_of_scipy(name):
    family, expected = FAMILIES[name]
    assert expected.mean() == pytest.approx(0, abs=1e-9)
    assert expected.std() == pytest.approx(1)
    z = np.concatenate([np.linspace(-8, 8, 2001), [-1e9, -1e4, -300, -30, 30, 300, 1e4, 1e9], [-(3**0.5), 3**0.5]])
    below, above = 0.5, 2.0  # σ on either side: a general cell whatever the family
    found = np.array([left_probability(10 + x, 10, (below, above), (family,)) for x in z])
    np.testing.assert_allclose(found, expected.cdf(np.where(z < 0, z / below, z / above)), atol=1e-6)
    assert (np.diff(found[:2001]) >= 0).all()
    assert left_probability(-1e300, 10, (below, above), (family,)) == 0.0
    assert left_probability(1e300, 10, (below, above), (family,)) == 1.0


def test_a_kink_costs_less_than_a_thousandth():
    family, expected = family_from_scipy(stats.expon()), stats.expon(loc=-1)
    z = np.linspace(-3, 6, 5001)
    found = np.array([left_probability(x, 0, (1.0, 1.0), (family,)) for x in z])
    np.testing.assert_allclose(found, expected.cdf(z), atol=5e-4)


@pytest.mark.parametrize("name", FAMILIES)
def test_grid_points_are_where_the_masses_say(name):
    family, expected = FAMILIES[name]
    np.testing.assert_allclose(expected.cdf(family.grid()), stats.norm.cdf(np.arange(-3, 4)), atol=1e-9)
    assert CHUNK.sum() == 1.0
    np.testing.assert_allclose(np.cumsum(CHUNK)[:-1], stats.norm.cdf([-3, -2, -1, 0, 1, 2]), atol=1e-15)


@pytest.mark.parametrize(("value", "error"), [(3.0, 0.3), (3.0, 4.0), (1e-8, 1e-8)])
def test_a_lognormal_value_has_its_mean_and_standard_deviation(value, error):
    sigma = np.sqrt(np.log1p((error / value) ** 2))
    expected = stats.lognorm(sigma, scale=value * np.exp(-(sigma**2) / 2))
    assert expected.mean() == pytest.approx(value)
    assert expected.std() == pytest.approx(error)
    for threshold in value * np.array([0.01, 0.5, 1.0, 3.0]):
        found = left_probability(np.log(threshold), value, error, (LOGNORMAL,))
        assert found == pytest.approx(expected.cdf(threshold), abs=1e-6)


@pytest.mark.parametrize("error", [0.0, (0.0, 0.0)])
def test_exact_value_jumps_at_itself(error):
    assert left_probability(1.0, 1.0, error) == 1.0
    assert left_probability(np.nextafter(1.0, 0), 1.0, error) == 0.0
    assert left_probability(np.inf, 1.0, error) == 1.0
    assert left_probability(-1e300, 1.0, error) == 0.0


def test_a_value_that_is_exact_on_one_side():
    assert left_probability(np.nextafter(1.0, 0), 1.0, (0.0, 2.0)) == 0.0
    assert left_probability(3.0, 1.0, (0.0, 2.0)) == pytest.approx(stats.norm.cdf(1), abs=1e-6)


def test_half_of_the_probability_of_a_value_that_is_exact_on_one_side_lies_at_the_value():
    assert left_probability(1.0, 1.0, (0.0, 2.0)) == 0.5
    assert left_probability(1.0, 1.0, (2.0, 0.0)) == 1.0
    assert left_probability(np.nextafter(1.0, 0), 1.0, (2.0, 0.0)) == pytest.approx(0.5)


def test_missing_value():
    assert np.isnan(left_probability(3.0, np.nan, 1.0))
    assert np.isnan(left_probability(3.0, np.nan, (1.0, 2.0)))
    assert np.isnan(left_probability(3.0, 2.0, (1.0, np.inf)))


def test_samples_of_a_normal_give_the_normal():
    draws = stats.norm(3, 2).ppf((np.arange(2000) + 0.5) / 2000)
    for threshold in np.linspace(-2, 8, 41):
        found = left_probability(threshold, 3, None, X_samples=draws[None, None])
        assert found == pytest.approx(stats.norm(3, 2).cdf(threshold), abs=3e-3)


def test_samples_with_two_modes():
    draws = np.concatenate([np.full(300, -5.0), np.full(700, 5.0)])[None, None]
    found = [left_probability(t, 0, None, X_samples=draws) for t in (-30, 0.0, 5.0)]
    np.testing.assert_allclose(found, [0.0, 0.3, 1.0], atol=0.01)


def test_one_draw_is_an_exact_value_and_none_is_the_value_itself():
    draws = np.array([[[np.nan, 2.0, np.nan]]])
    assert left_probability(2.0, 7, 1.0, X_samples=draws) == 1.0
    assert left_probability(1.99, 7, 1.0, X_samples=draws) == 0.0
    nothing = np.full((1, 1, 3), np.nan)
    assert left_probability(7.0, 7, 1.0, X_samples=nothing) == pytest.approx(0.5)


def mixed_cells(n=300):
    """Cells of two families, exact and missing ones among them, of which a random half has draws instead; the same
    without draws; and the tables of their F, NaN for cells without."""
    random = np.random.default_rng(0)
    values, errors = random.normal(size=(n, 2)).round(1), random.choice([0.0, 0.1, 1.0, 10.0], size=(n, 2))
    values[random.random((n, 2)) < 0.1] = np.nan
    draws = random.normal(size=(n, 2, 9)).round(1)
    draws[random.random((n, 2)) < 0.5] = np.nan
    about = {"X_err": (errors, 2 * errors), "families": (LAPLACE, student_t(3.0))}
    mixed = read_measurements(values, X_samples=draws, **about)
    tables = np.where(mixed.form_index[:, :, None] >= 0, mixed.forms.table[mixed.form_index], np.nan)
    return mixed.into_cells(), read_measurements(values, **about).into_cells(), tables


def probabilities_at(threshold, cells, feature):
    out, rows = np.empty(len(cells.values)), np.arange(len(cells.values), dtype=np.int32)
    left_probabilities(cells, feature, threshold, rows, out, np.empty((2, 256)), np.empty(256, dtype=np.int32))
    return out


@pytest.mark.parametrize("threshold", [-np.inf, -30.0, -1.0, 0.0, 0.3, 0.5, 2.0, 1e300])
@pytest.mark.parametrize("feature", [0, 1])
def test_cells_with_and_without_tables_of_their_own_do_not_disturb_each_other(feature, threshold):
    mixed, of_families, tables = mixed_cells()
    found, expected = (probabilities_at(threshold, cells, feature) for cells in (mixed, of_families))
    own = ~np.isnan(tables[feature, :, 0])
    np.testing.assert_array_equal(found[~own], expected[~own])
    center, below, above = mixed.values[own, feature, :3].T
    z = np.clip((threshold - center) * np.where(threshold < center, below, above), -1e12, 1e12)
    place = 16 * (1 + z / (3**0.5 + np.abs(z)))  # of 32 steps
    expected = [np.interp(at, np.arange(33), table) for at, table in zip(place, tables[feature, own], strict=True)]
    np.testing.assert_allclose(found[own], expected, atol=1e-12)


@pytest.mark.parametrize("threshold", [-30.0, 0.0, 0.3, 0.5, 2.0])
@pytest.mark.parametrize("feature", [0, 1])
def test_walks_use_the_same_probabilities_as_splits(feature, threshold):
    nodes = new_nodes(3, 2)
    nodes.links[:], nodes.threshold[:] = [[feature, 2], [LEAF, LEAF], [LEAF, LEAF]], threshold
    nodes.shares[:], nodes.value[:] = 0.25, 0.0
    for cells in mixed_cells()[:2]:
        visits = route(cells, nodes, 0.0)
        found = np.bincount(visits.row, np.where(visits.leaf == 1, visits.reach, 0.0))
        expected = probabilities_at(threshold, cells, feature)
        np.testing.assert_array_equal(found, np.where(np.isnan(expected), 0.25, expected))
