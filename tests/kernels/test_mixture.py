"""The mixture of normal distributions beside its equations, in dense matrices."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from probforest.kernels.layout import Mixture
from probforest.kernels.mixture import (
    expectation_space,
    expectations,
    log_likelihoods,
    posteriors,
    sums_of_objects,
)


def naive_posterior(place, variance, mean, covariance):
    """Log-density of one measured object under N(μ, C), and mean and covariance of its true values: the equations."""
    seen = np.isfinite(variance)
    if not seen.any():
        return 0.0, mean, covariance
    projection = np.eye(len(place))[seen]
    noisy = projection @ covariance @ projection.T + np.diag(variance[seen])
    gain = covariance @ projection.T @ np.linalg.inv(noisy)
    density = multivariate_normal(projection @ mean, noisy).logpdf(place[seen])
    return density, mean + gain @ (place - mean)[seen], covariance - gain @ projection @ covariance


def naive_components(place, variance, mixture):
    """Log-likelihood, probabilities of the components, and their means and covariances of one object."""
    found = [naive_posterior(place, variance, *component) for component in zip(*mixture[1:], strict=True)]
    density, means, covariances = (np.array(part) for part in zip(*found, strict=True))
    joint = mixture.share * np.exp(density)
    return np.log(joint.sum()), joint / joint.sum(), means, covariances


def random_mixture(random, n_components, d):
    roots = random.normal(size=(n_components, d, d + 1))
    covariance = roots @ roots.transpose(0, 2, 1) / d + 0.01 * np.eye(d)
    return Mixture(random.dirichlet(np.ones(n_components)), random.normal(size=(n_components, d)), covariance)


def random_objects(random, n, d):
    """Noise, holes, exact values; objects without any value, and without noise."""
    place, variance = random.normal(size=(n, d)), random.gamma(1, 1, (n, d))
    variance[random.random((n, d)) < 0.3] = np.inf
    variance[random.random((n, d)) < 0.2] = 0.0
    variance[0], variance[1] = np.inf, 0.0
    return place, variance


@pytest.mark.parametrize(("n_components", "d"), [(1, 1), (1, 4), (3, 5), (5, 17)])
def test_posteriors_are_those_of_the_equations(n_components, d):
    random = np.random.default_rng(d)
    mixture, (place, variance) = random_mixture(random, n_components, d), random_objects(random, 40, d)
    mean, spread = posteriors(place, variance, mixture)
    log_likelihood = log_likelihoods(place, variance, mixture)
    for i in range(40):
        expected, probability, means, covariances = naive_components(place[i], variance[i], mixture)
        assert log_likelihood[i] == pytest.approx(expected, abs=1e-8)
        center = probability @ means
        np.testing.assert_allclose(mean[i], center, atol=1e-8)
        within = np.array([np.diag(covariance) for covariance in covariances])
        np.testing.assert_allclose(spread[i], probability @ (within + (means - center) ** 2), atol=1e-8)


@pytest.mark.parametrize(("n_components", "d"), [(1, 4), (3, 5), (4, 17)])
def test_sums_of_the_e_step_are_those_of_the_equations(n_components, d):
    random = np.random.default_rng(d)
    mixture, (place, variance) = random_mixture(random, n_components, d), random_objects(random, 60, d)
    weight = random.integers(0, 4, 60).astype(float)
    sums = expectations(sums_of_objects(place, variance, weight, mixture), mixture)
    mass, first, second = np.zeros(n_components), np.zeros((n_components, d)), np.zeros((n_components, d, d))
    total = 0.0
    for i in range(60):
        log_likelihood, probability, means, covariances = naive_components(place[i], variance[i], mixture)
        total += weight[i] * log_likelihood
        for k in range(n_components):
            share = weight[i] * probability[k]
            mass[k] += share
            first[k] += share * means[k]
            second[k] += share * (np.outer(means[k], means[k]) + covariances[k])
    for found, expected in zip(sums, (mass, first, second, total), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


def test_space_that_was_used_before_gives_the_same_bits():
    random = np.random.default_rng(3)
    one, other = random_mixture(random, 3, 6), random_mixture(random, 3, 6)
    space = expectation_space(one)
    sums_of_objects(*random_objects(random, 50, 6), np.ones(50), other, space)
    objects = *random_objects(random, 30, 6), random.gamma(1, size=30)
    for found, expected in zip(sums_of_objects(*objects, one, space), sums_of_objects(*objects, one), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_an_object_has_the_same_bits_alone_and_with_others():
    random = np.random.default_rng(0)
    mixture, (place, variance) = random_mixture(random, 3, 7), random_objects(random, 30, 7)

    def answers(rows):
        objects = place[rows], variance[rows]
        return *posteriors(*objects, mixture), log_likelihoods(*objects, mixture)

    together = answers(slice(None))
    for i in range(30):
        for found, expected in zip(answers([i]), together, strict=True):
            np.testing.assert_array_equal(found[0], expected[i])


def test_an_object_far_from_all_components_still_has_one():
    mixture = Mixture(np.array([0.5, 0.5]), np.array([[0.0], [1.0]]), np.full((2, 1, 1), 1e-3))
    far = np.array([[1e4]]), np.array([[1.0]])
    assert np.isfinite([*posteriors(*far, mixture), log_likelihoods(*far, mixture)[None]]).all()


def test_components_that_take_no_part_change_nothing():
    """In one lane or in another: a component is left out where an object is surely of another one."""
    random = np.random.default_rng(1)
    near, (place, variance) = random_mixture(random, 2, 5), random_objects(random, 40, 5)
    far = Mixture(
        np.append(0.9 * near.share, 0.1),
        np.vstack([near.mean, np.full(5, 300.0)]),
        np.append(near.covariance, np.eye(5)[None], axis=0),
    )
    place[5] = 300.0  # one object is of it
    variance[5] = 1.0
    others = np.delete(np.arange(40), [0, 5])  # the first was not measured, and may be anything
    with_it, without = posteriors(place, variance, far), posteriors(place, variance, near)
    for found, expected in zip(with_it, without, strict=True):
        np.testing.assert_allclose(found[others], expected[others], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(with_it[0][5], 300.0, atol=1e-6)
