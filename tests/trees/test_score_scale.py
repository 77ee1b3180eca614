"""The factor of raw scores that held-out objects find best."""

import numpy as np
import pytest
from scipy.special import expit

from probforest import ProbabilisticGradientBoostingClassifier
from probforest.datasets import flip_labels, make_two_classes
from probforest.inputs.labels import LabelTable
from probforest.trees import score_scale
from probforest.trees.losses import log_loss
from probforest.trees.score_scale import HeldOutScores, best_scale


def labels_of(scores, certainty, random):
    """Labels that are drawn with the probabilities that scores say, and right with a probability of `certainty`."""
    y = (random.random(len(scores)) < expit(scores)).astype(np.int32)
    seen = np.where(random.random(len(y)) < certainty, y, 1 - y)
    pmf = np.where(np.arange(2) == seen[:, None], certainty, 1 - certainty)
    return LabelTable(np.arange(2), seen.astype(np.int32), pmf)


def held_out(labels, raw, weight=None):
    weight = np.ones(len(raw)) if weight is None else weight
    return HeldOutScores(log_loss(labels, np.ones(len(raw))), raw[None], weight)


@pytest.mark.parametrize("factor", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("certainty", [0.75, 0.95])
def test_the_factor_is_found(factor, certainty):
    random = np.random.default_rng(0)
    scores = 2 * random.normal(size=20_000)
    model = held_out(labels_of(scores, certainty, random), scores / factor)
    assert best_scale([model]) == pytest.approx(factor, rel=0.1)


def test_it_is_the_minimum_of_the_penalised_loss():
    random = np.random.default_rng(1)
    scores = random.normal(size=300)
    models = [held_out(labels_of(scores, 0.8, random), scores / 2) for _ in range(3)]
    found = best_scale(models)

    def surprise(scale):
        total = 0.0
        for loss, raw, weight in models:
            moved = loss.baseline[0] + scale * (raw[0] - loss.baseline[0])
            # −log Σ_c q_c p_c / π_c, written down once more.
            q = np.stack([expit(-moved), expit(moved)])
            total -= np.log((q * np.exp(loss.evidence)).sum(axis=0))[weight > 0].sum()
        return total + np.log(scale) ** 2 / (2 * 0.4**2)

    around = np.geomspace(0.3, 4, 400)
    assert found == pytest.approx(around[np.argmin([surprise(scale) for scale in around])], rel=0.01)


def test_only_held_out_objects_count():
    random = np.random.default_rng(2)
    scores = 2 * random.normal(size=8000)
    labels, weight = labels_of(scores, 0.9, random), np.arange(8000) % 2 * 1.0
    raw = np.where(weight > 0, scores / 2, -scores)
    assert best_scale([held_out(labels, raw, weight)]) == pytest.approx(2.0, rel=0.2)
    assert best_scale([held_out(labels, raw, 1e6 * weight)]) == pytest.approx(
        best_scale([held_out(labels, raw, weight)])
    )


def test_labels_that_say_next_to_nothing_leave_scores_as_they_are():
    random = np.random.default_rng(3)
    scores = random.normal(size=50)
    assert best_scale([held_out(labels_of(scores, 0.501, random), scores)]) == pytest.approx(1.0, abs=0.02)
    nothing = held_out(labels_of(scores, 0.9, random), np.zeros(50))
    assert best_scale([nothing._replace(raw=nothing.raw + nothing.loss.baseline)]) == pytest.approx(1.0, abs=0.01)


def test_scores_that_separate_all_labels_are_not_multiplied_without_bounds():
    scores = np.repeat([-1.0, 1.0], 2000)
    labels = LabelTable(
        np.arange(2), (scores > 0).astype(np.int32), np.where(scores[:, None] * [-1, 1] > 0, 0.999, 0.001)
    )
    assert best_scale([held_out(labels, scores)]) == pytest.approx(score_scale._LARGEST, rel=0.01)


@pytest.mark.parametrize("wrong", [0.2, 0.3])
def test_probabilities_of_true_classes_gain_by_it(wrong, monkeypatch):
    X, y = make_two_classes(4000, random_state=8)
    labels = flip_labels(y[:2000], np.full(2000, wrong), random_state=9)
    losses = []
    for scale in (best_scale, lambda models: 1.0):
        monkeypatch.setattr("probforest.estimators.boosted_trees.best_scale", scale)
        model = ProbabilisticGradientBoostingClassifier(random_state=0)
        proba = model.fit(X[:2000], labels.y, y_proba=labels.confidence).predict_proba(X[2000:])
        losses.append(-np.log(proba[np.arange(2000), y[2000:]]).mean())
    assert losses[0] < losses[1] - 0.01
