"""Conformal intervals: the order statistic of their scores, and how often they contain a target."""

import numpy as np
import pytest

from distributions import weighted_targets
from probforest import ProbabilisticDecisionTreeRegressor, ProbabilisticRandomForestRegressor
from probforest.trees.conformal import PROBABILITIES, conformal_interval, learn_margins


def draw(seed, n):
    random = np.random.default_rng(seed)
    X = random.uniform(size=(n, 2))
    return X, np.sin(6 * X[:, 0]) + (0.1 + X[:, 1]) * random.standard_t(3, size=n)


def covered(intervals, y):
    return np.mean((intervals[:, 0] <= y) & (y <= intervals[:, 1]))


def distributions(seed, n):
    """n distributions over ten targets, the last one all on one target."""
    weights = np.random.default_rng(seed).dirichlet(np.ones(10), size=n)
    weights[-1] = np.eye(10)[3]
    return weighted_targets(np.arange(10.0), weights)


def test_margins_are_order_statistics_of_scores():
    n = 40
    known, y = distributions(0, n), np.random.default_rng(1).normal(4.5, 3, n)
    margins = learn_margins([(slice(0, n), known)], y)
    least = 0.01 * np.median(known.std)
    assert margins.least_scale == pytest.approx(least)
    for place, p in [(99, 0.5), (179, 0.9), (189, 0.95)]:
        assert PROBABILITIES[place] == p
        scores = []
        for i in range(n):
            weights = known.matrix.toarray()[i]
            up_to = np.cumsum(weights)
            low, high = (np.argmax(up_to >= level - 1e-9) for level in ((1 - p) / 2, (1 + p) / 2))
            deviation = np.sqrt(weights @ np.arange(10.0) ** 2 - (weights @ np.arange(10.0)) ** 2)
            scores.append(max(low - y[i], y[i] - high) / max(deviation, least))
        rank = int(np.ceil((n + 1) * p - 1e-9))
        assert margins.of_probabilities[place] == pytest.approx(np.sort(scores)[rank - 1])
        inside = conformal_interval(known, margins, p)
        assert round(covered(inside, y) * n) >= rank  # those with a score up to the margin
    assert np.isinf(margins.of_probabilities[n / (n + 1) < PROBABILITIES]).all()
    assert np.isfinite(margins.of_probabilities[n / (n + 1) >= PROBABILITIES]).all()
    assert conformal_interval(known, margins, 0.99).tolist() == [[-np.inf, np.inf]] * n


def test_probabilities_between_two_kept_ones_are_rounded_up():
    known, y = distributions(0, 60), np.random.default_rng(1).normal(4.5, 3, 60)
    margins = learn_margins([(slice(0, 60), known)], y)
    for asked, used in [(0.6827, 0.685), (0.9, 0.9), (0.0, 0.005)]:
        np.testing.assert_array_equal(
            conformal_interval(known, margins, asked), conformal_interval(known, margins, used)
        )
    assert (np.diff(conformal_interval(known, margins, 0.005), axis=1) >= 0).all()


def test_held_out_objects_guarantee_the_coverage_of_any_model():
    """The mean over many held-out sets of the coverage is at least p; of a tree that has learnt noise by heart, too."""
    X, y = draw(0, 200)
    X_new, y_new = draw(1, 2000)
    tree = ProbabilisticDecisionTreeRegressor().fit(X, y)
    assert covered(tree.predict_distribution(X_new).interval(0.9), y_new) < 0.1
    found = {0.5: [], 0.9: []}
    for seed in range(12):
        tree.conformalize(*draw(2 + seed, 60))
        for p, shares in found.items():
            shares.append(covered(tree.predict_distribution(X_new).interval(p, conformal=True), y_new))
    for p, shares in found.items():
        error = np.std(shares) / np.sqrt(len(shares)) + np.sqrt(p * (1 - p) / len(y_new))
        assert p - 2 * error < np.mean(shares) < p + 1 / 61 + 2 * error


def test_out_of_bag_objects_are_close_to_it():
    X, y = draw(0, 800)
    X_new, y_new = draw(1, 2000)
    forest = ProbabilisticRandomForestRegressor(30, random_state=0, calibrate=True).fit(X, y)
    answer = forest.predict_distribution(X_new)
    for p in (0.5, 0.68, 0.95):
        assert p - 0.03 < covered(answer.interval(p, conformal=True), y_new) < p + 0.07


def test_what_it_needs():
    X, y = draw(0, 60)
    forest = ProbabilisticRandomForestRegressor(5, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="conformalize"):
        forest.predict_distribution(X).interval(0.9, conformal=True)
    answer = forest.conformalize(X, y).predict_distribution(X)
    with pytest.raises(ValueError, match=r"p must not be above 0\.999"):
        answer.interval(0.9999, conformal=True)
    with pytest.raises(ValueError, match="y has 59 numbers, but X has 60"):
        forest.conformalize(X, y[1:])
    assert forest.fit(X, y).conformal_ is None
