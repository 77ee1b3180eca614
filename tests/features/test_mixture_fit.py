"""How a mixture is learnt."""

import numpy as np
import pytest

from probforest.features.mixture_fit import NoisyPoints, beyond, fit_mixture, improved, maximised
from probforest.kernels.layout import Mixture
from probforest.kernels.mixture import expectations, log_likelihoods, posteriors, sums_of_objects

SHARE = np.array([0.3, 0.7])
MEAN = np.array([[-1.5, 0.5, 0.0], [0.6, -0.2, 0.0]])
COVARIANCE = np.array([[[0.1, 0.05, 0], [0.05, 0.3, 0], [0, 0, 1]], [[0.3, -0.25, 0.2], [-0.25, 0.4, 0], [0.2, 0, 1]]])


def draws(random, n):
    component = random.choice(2, n, p=SHARE)
    normal = random.normal(size=(n, 3))
    return MEAN[component] + np.einsum("nij,nj->ni", np.linalg.cholesky(COVARIANCE)[component], normal)


def noisy_points(n=2500, holes=0.2, seed=0):
    random = np.random.default_rng(seed)
    variance = random.gamma(1, 0.3, (n, 3))
    place = draws(random, n) + random.normal(size=(n, 3)) * np.sqrt(variance)
    variance[random.random((n, 3)) < holes] = np.inf
    return NoisyPoints(np.where(np.isinf(variance), 0.0, place), variance, np.ones(n))


def assert_same(found, expected, atol=1e-6):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=atol)


def naive_m_step(sums, pseudo=1.0, floor=1e-3):
    """Moments of each component, with one more object that has the mean covariance within components."""
    share = sums.mass / sums.mass.sum()
    mean = [first / mass for first, mass in zip(sums.first, sums.mass, strict=True)]
    scatter = [s - m * np.outer(c, c) for s, m, c in zip(sums.second, sums.mass, mean, strict=True)]
    pooled = sum(scatter) / sums.mass.sum() if len(share) > 1 else np.eye(len(mean[0]))
    floor = floor * np.eye(len(mean[0]))
    return share, mean, [(s + pseudo * pooled) / (m + pseudo) + floor for s, m in zip(scatter, sums.mass, strict=True)]


@pytest.mark.parametrize("n_components", [1, 2])
def test_the_m_step_is_that_of_the_equations(n_components):
    points = noisy_points(300)
    mixture = Mixture(*(part[:n_components] for part in (SHARE, MEAN, COVARIANCE)))
    sums = expectations(sums_of_objects(*points, mixture), mixture)
    assert_same(maximised(mixture, sums), naive_m_step(sums), atol=1e-8)


def test_a_component_without_objects_stays_a_distribution():
    points = noisy_points(50)
    mixture = Mixture(SHARE, MEAN + np.array([[1e6], [0]]), COVARIANCE)
    found = maximised(mixture, expectations(sums_of_objects(*points, mixture), mixture))
    assert (found.share > 0).all()
    assert np.linalg.eigvalsh(found.covariance).min() > 1e-4


def test_a_known_mixture_is_recovered_from_noise_and_holes():
    mixture = fit_mixture(noisy_points(8000))
    truth = draws(np.random.default_rng(1), 4000)
    exact = np.zeros(truth.shape)
    expected = log_likelihoods(truth, exact, Mixture(SHARE, MEAN, COVARIANCE)).mean()
    assert log_likelihoods(truth, exact, mixture).mean() > expected - 0.05  # a single one: 0.5 less
    np.testing.assert_allclose(mixture.share @ mixture.mean, SHARE @ MEAN, atol=0.05)
    assert len(mixture.share) in (2, 4, 8)


def mean_log_likelihood(points, mixture):
    return float(np.average(log_likelihoods(*points[:2], mixture), weights=points.weight))


ROUGH = Mixture(np.array([0.5, 0.5]), np.array([[-0.1] * 3, [0.1] * 3]), np.stack([np.eye(3), 2 * np.eye(3)]))


def test_long_steps_reach_in_two_thirds_what_the_plain_algorithm_reaches():
    points, plain = noisy_points(800), ROUGH
    for _ in range(30):
        plain = maximised(plain, expectations(sums_of_objects(*points, plain), plain))
    found = improved(ROUGH, points, 20, None)
    assert mean_log_likelihood(points, found) > mean_log_likelihood(points, plain) - 1e-3


def test_more_steps_never_lead_to_a_less_likely_mixture():
    """Also where long steps go too far: with few objects, some do."""
    for seed in range(5):
        points = noisy_points(40, seed=seed)
        reached = [mean_log_likelihood(points, improved(ROUGH, points, n, None)) for n in range(1, 25)]
        assert (np.diff(reached) > -5e-3).all()  # pseudo-objects and least variances count, too


def test_a_step_beyond_all_mixtures_ends_where_the_algorithm_would():
    narrow = Mixture(ROUGH.share, ROUGH.mean, 0.4 * ROUGH.covariance)
    assert beyond(ROUGH, narrow, 1.8) is narrow  # a negative variance
    further = beyond(ROUGH, Mixture(np.array([0.6, 0.4]), ROUGH.mean + 1, ROUGH.covariance), 1.5)
    np.testing.assert_allclose(further.mean, ROUGH.mean + 1.5)
    assert further.share.sum() == pytest.approx(1)
    assert further.share[0] > 0.6


def test_threads_do_not_change_it():
    points = noisy_points(1500)
    mixture = fit_mixture(points)
    for found, expected in zip(fit_mixture(points, n_jobs=2), mixture, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_the_order_of_objects_and_features_does_not_matter():
    points = noisy_points(1500)
    mixture = fit_mixture(points)
    random = np.random.default_rng(0)
    assert_same(fit_mixture(points.rows(random.permutation(1500))), mixture)
    order = np.array([2, 0, 1])
    swapped = fit_mixture(NoisyPoints(points.place[:, order], points.variance[:, order], points.weight))
    expected = mixture.share, mixture.mean[:, order], mixture.covariance[:, order][:, :, order]
    by_mean = np.argsort(swapped.mean[:, 0]), np.argsort(expected[1][:, 0])  # an axis has no direction
    assert_same((part[by_mean[0]] for part in swapped), (part[by_mean[1]] for part in expected))


def test_weight_2_is_two_objects():
    points = noisy_points(1000)
    weight = np.random.default_rng(0).integers(1, 3, 1000)
    twice = points.rows(np.repeat(np.arange(1000), weight))
    probe = noisy_points(200, seed=5)
    weighted = fit_mixture(points._replace(weight=weight.astype(float)))
    for one, other in zip(posteriors(*probe[:2], weighted), posteriors(*probe[:2], fit_mixture(twice)), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


@pytest.mark.parametrize("d", [2, 10])
def test_independent_features_have_no_mixture(d):
    random = np.random.default_rng(0)
    for seed in range(5):
        random = np.random.default_rng(seed)
        place, variance = random.normal(size=(800, d)), random.gamma(1, 0.3, (800, d))
        place += random.normal(size=place.shape) * np.sqrt(variance)
        mixture = fit_mixture(NoisyPoints(place, variance, np.ones(800)))
        if mixture is not None:  # by chance: the correlations are small
            assert np.abs(mixture.covariance - np.eye(d)).max() < 0.3


@pytest.mark.parametrize("n", [0, 1, 5, 25, 60])
def test_small_tables_with_many_features(n):
    random = np.random.default_rng(n)
    mixture = fit_mixture(NoisyPoints(random.normal(size=(n, 15)), np.zeros((n, 15)), np.ones(n)))
    assert mixture is None


def test_columns_that_are_copies_of_each_other():
    random = np.random.default_rng(0)
    one = random.normal(size=(500, 1))
    mixture = fit_mixture(NoisyPoints(np.repeat(one, 4, axis=1), np.zeros((500, 4)), np.ones(500)))
    assert np.linalg.eigvalsh(mixture.covariance).min() > 1e-4
    place = np.array([[0.7, 0.0, 0.7, 0.7]])
    mean, variance = posteriors(place, np.array([[0.0, np.inf, 0.0, 0.0]]), mixture)
    assert mean[0, 1] == pytest.approx(0.7, abs=0.01)
    assert variance[0, 1] < 0.005
