"""Numbers of weighted targets against plain formulas, one object at a time."""

import numpy as np
import pytest
from scipy import sparse

from distributions import weighted_targets
from probforest.trees.weighted_targets import weigh_targets


def random_weights(seed, n=12, m=15, share=0.4):
    random = np.random.default_rng(seed)
    y = np.sort(random.normal(size=m)) + 1e3
    weights = random.uniform(size=(n, m)) * (random.uniform(size=(n, m)) < share)
    weights[:, 3] += 0.1
    return y, weights / weights.sum(axis=1, keepdims=True)


@pytest.fixture(params=[0.05, 0.9], ids=["sparse", "dense"])
def case(request):
    y, weights = random_weights(0, share=request.param)
    return y, weights, weighted_targets(y, 3 * weights)


def test_moments(case):
    y, weights, found = case
    mean = weights @ y
    np.testing.assert_allclose(found.mean, mean, rtol=1e-14)
    np.testing.assert_allclose(found.std, np.sqrt((weights * (y - mean[:, None]) ** 2).sum(axis=1)), rtol=1e-9)
    np.testing.assert_allclose(found.matrix.toarray(), weights, atol=1e-15)


def test_quantiles_are_the_smallest_targets_with_enough_below(case):
    y, weights, found = case
    levels = np.array([0.0, 0.1, 0.5, 0.77, 1.0])
    for row, quantiles in zip(weights, found.quantiles(levels), strict=True):
        for level, quantile in zip(levels, quantiles, strict=True):
            enough = [
                value for place, value in enumerate(y) if row[place] > 0 and row[: place + 1].sum() >= level - 1e-12
            ]
            assert quantile == enough[0]


def test_cumulative_probabilities(case):
    y, weights, found = case
    places = np.tile([y[0] - 1, y[0], y[3], (y[4] + y[5]) / 2, y[-1], y[-1] + 1], (len(weights), 1))
    upto = np.array([[row[y <= place].sum() for place in places[0]] for row in weights])
    below = np.array([[row[y < place].sum() for place in places[0]] for row in weights])
    np.testing.assert_allclose(found.cdf(places), upto, atol=1e-12)
    np.testing.assert_allclose(found.cdf(places, below=True), below, atol=1e-12)


def test_crps_is_its_integral(case):
    y, weights, found = case
    truth = np.linspace(y[0] - 0.5, y[-1] + 0.5, len(weights))
    grid = np.linspace(y[0] - 1, y[-1] + 1, 200_001)
    step = grid[1] - grid[0]
    for row, true, crps in zip(weights, truth, found.crps(truth), strict=True):
        cumulative = np.concatenate([[0], np.cumsum(row)])[np.searchsorted(y, grid, side="right")]
        integral = np.sum((cumulative - (grid >= true)) ** 2) * step
        assert crps == pytest.approx(integral, abs=1e-3)
        pairs = 0.5 * sum(a * b * abs(s - t) for a, s in zip(row, y, strict=True) for b, t in zip(row, y, strict=True))
        assert crps == pytest.approx(row @ np.abs(y - true) - pairs, abs=1e-9)


def test_density_is_one_in_all_and_follows_the_weights(case):
    y, _, found = case
    grid = np.linspace(y[0] - 8, y[-1] + 8, 4001)
    density = found.pdf(np.tile(grid, (found.n_objects, 1)))
    np.testing.assert_allclose(density.sum(axis=1) * (grid[1] - grid[0]), np.where(found.std > 0, 1, 0), atol=1e-6)
    np.testing.assert_allclose(
        (density @ grid)[found.std > 0] * (grid[1] - grid[0]), found.mean[found.std > 0], rtol=1e-6
    )


def test_draws_have_the_weights():
    y, weights = random_weights(5, n=2, m=6)
    found = weighted_targets(y, weights)
    draws = found.draws(np.random.default_rng(0).uniform(size=(2, 4000)))
    shares = (draws[:, :, None] == y).mean(axis=1)
    np.testing.assert_allclose(shares, weights, atol=0.04)


def test_pieces_are_the_whole():
    random = np.random.default_rng(0)
    reach = sparse.random(40, 9, 0.5, random_state=0, format="csr") + sparse.csr_matrix(np.eye(40, 9) + 0.01)
    shares = sparse.csr_matrix(random.dirichlet(np.ones(25), size=9))
    y = np.arange(25.0)
    whole = weighted_targets(y, reach @ shares).mean
    pieces = [(rows, piece.mean) for rows, piece in weigh_targets(sparse.csr_matrix(reach), y, shares)]
    np.testing.assert_allclose(np.concatenate([mean for _, mean in pieces]), whole)
