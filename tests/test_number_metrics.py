"""Scores of numbers and distributions against plain formulas."""

import numpy as np
import pytest
from scipy import stats

from probforest import ProbabilisticRandomForestRegressor
from probforest.metrics import bias, cde_loss, coverage, crps, outlier_rate, pit_values, plot_pit, sigma_nmad
from probforest.number_metrics import expected_bars


@pytest.fixture(scope="module")
def answer():
    random = np.random.default_rng(0)
    X = random.uniform(size=(200, 2))
    y = X[:, 0] + 0.1 * random.normal(size=200)
    forest = ProbabilisticRandomForestRegressor(20, random_state=0, min_samples_leaf=5).fit(X, y)
    return forest.predict_distribution(X[:50]), y[:50]


def test_crps_of_draws_is_the_formula():
    random = np.random.default_rng(0)
    truth, draws, weight = random.normal(size=20), random.normal(size=(20, 7)), random.uniform(size=20)
    each = [
        np.mean(np.abs(row - y)) - 0.5 * np.mean([abs(a - b) for a in row for b in row])
        for row, y in zip(draws, truth, strict=True)
    ]
    assert crps(truth, draws) == pytest.approx(np.mean(each))
    assert crps(truth, draws, sample_weight=weight) == pytest.approx(np.average(each, weights=weight))
    assert crps(truth, draws[:, 0]) == pytest.approx(np.mean(np.abs(draws[:, 0] - truth)))


def test_crps_of_a_normal_distribution():
    """σ (z (2 Φ(z) − 1) + 2 φ(z) − 1/√π)."""
    draws = stats.norm.ppf((np.arange(20_000) + 0.5) / 20_000)[None, :] * 2 + 1
    z = 0.7
    expected = 2 * (z * (2 * stats.norm.cdf(z) - 1) + 2 * stats.norm.pdf(z) - 1 / np.sqrt(np.pi))
    assert crps([1 + 2 * z], draws) == pytest.approx(expected, rel=1e-3)


def test_scores_of_distributions(answer):
    distribution, y = answer
    weights, targets = distribution.weights.toarray(), distribution.targets
    below = (weights * (targets < y[:, None])).sum(axis=1)
    at = (weights * (targets == y[:, None])).sum(axis=1)
    np.testing.assert_allclose(pit_values(y, distribution), below + at / 2, atol=1e-12)
    assert crps(y, distribution) == pytest.approx(distribution.crps(y).mean())
    low, high = distribution.interval(0.5).T
    assert coverage(y, distribution, 0.5) == np.mean((low <= y) & (y <= high))
    assert coverage(y, np.column_stack([low, high])) == np.mean((low <= y) & (y <= high))
    draws = distribution.sample(3000, random_state=0)
    np.testing.assert_allclose(pit_values(y, draws), pit_values(y, distribution), atol=0.05)
    assert crps(y, draws) == pytest.approx(crps(y, distribution), rel=0.02)


def test_scores_of_redshifts():
    random = np.random.default_rng(1)
    z = random.uniform(0, 2, 101)
    predicted = z + 0.05 * random.normal(size=101)
    dz = (predicted - z) / (1 + z)
    assert bias(z, predicted) == pytest.approx(dz.mean())
    assert sigma_nmad(z, predicted) == pytest.approx(1.4826 * np.median(np.abs(dz - np.median(dz))))
    assert outlier_rate(z, predicted, 0.03) == np.mean(np.abs(dz) > 0.03)
    assert outlier_rate(z, predicted) == 0


@pytest.mark.parametrize(
    ("score", "message"),
    [
        (lambda: crps([1.0, np.nan], [1.0, 2.0]), "y_true is not finite in row 1"),
        (lambda: crps([1.0], [1.0, 2.0]), r"y_pred has shape \(2,\); expected \(1,\)"),
        (lambda: crps([], []), "y_true is empty"),
        (lambda: crps(["a"], [1.0]), "y_true must hold numbers"),
        (lambda: coverage([1.0], [[1.0, 2.0, 3.0]]), r"expected \(1, 2\)"),
        (lambda: coverage([1.0], [[1.0, 2.0]], 1.5), "p must be"),
        (lambda: sigma_nmad([-1.0], [1.0]), "z_true is -1.0 in row 0"),
        (lambda: bias([1.0, 2.0], [1.0]), r"z_pred has shape \(1,\); expected \(2,\)"),
        (lambda: outlier_rate([1.0], [1.0], -1), "threshold must be"),
        (lambda: pit_values([[1.0]], [[1.0]]), r"y_true has shape \(1, 1\)"),
    ],
)
def test_wrong_arguments_are_refused(score, message):
    with pytest.raises(ValueError, match=message):
        score()


def test_loss_of_densities_on_a_grid():
    grid = np.linspace(-8, 8, 1601)
    density = np.exp(-0.5 * grid**2) / np.sqrt(2 * np.pi)
    expected = 1 / (2 * np.sqrt(np.pi)) - 2 * np.mean(np.exp(-0.5 * np.array([0.0, 1.0]) ** 2) / np.sqrt(2 * np.pi))
    assert cde_loss([0.0, 1.0], [density, density], grid) == pytest.approx(expected, abs=1e-5)
    assert cde_loss([0.0, 9.0], [density, density], grid, sample_weight=[0.0, 1.0]) == pytest.approx(
        1 / (2 * np.sqrt(np.pi)), abs=1e-5
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([0.0], [[1.0, 1.0]]), "grid is needed"),
        (([0.0], [[1.0, 1.0]], [1.0, 0.0]), "grid must be"),
        (([0.0], [[1.0, -1.0]], [0.0, 1.0]), "y_pred is negative in row 0"),
        (([0.0], [[1.0, 1.0, 1.0]], [0.0, 1.0]), "y_pred has shape"),
    ],
)
def test_bad_densities_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        cde_loss(*given)


def test_the_picture_of_uniform_numbers_is_flat():
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    random = np.random.default_rng(0)
    truth, draws = random.normal(size=2000), random.normal(size=(2000, 200))
    for scale, is_flat in ((1.0, True), (0.5, False)):
        ax = plot_pit(truth, scale * draws, n_bins=10, ax=Figure().subplots())
        heights = ax.patches[0].get_data().values
        low, high = expected_bars(2000, 10)
        assert heights.mean() == pytest.approx(1)
        assert (np.mean((low <= heights) & (heights <= high)) > 0.7) == is_flat
    assert low == pytest.approx(1 - 1.96 * np.sqrt(0.9 / 200), abs=0.01)
