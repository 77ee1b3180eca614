"""The losses of boosting against the oracle and against differences."""

import numpy as np
import pytest

import naive_boosting
from probforest.inputs.labels import LabelTable, soft_labels
from probforest.trees.losses import log_loss, probabilities


def labels_of(random, n, k, soft):
    hard = LabelTable(np.arange(k), random.integers(0, k, n).astype(np.int32))
    pmf = random.dirichlet(np.ones(k), n)
    pmf[:3] = np.eye(k)[random.integers(0, k, 3)]  # some are certain
    return soft_labels(np.arange(k), pmf) if soft else hard


def pmfs(labels):
    return np.eye(len(labels.classes))[labels.class_index] if labels.pmf is None else labels.pmf


def as_scores(raw):
    """Raw scores (k, n) as the loss takes them."""
    return raw[1:] - raw[0] if len(raw) == 2 else raw


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_loss_and_derivatives(k, soft):
    random = np.random.default_rng(k)
    n = 30
    labels, weight, raw = labels_of(random, n, k, soft), random.random(n), random.normal(0, 2, (k, n))
    loss, evidence = log_loss(labels, weight), naive_boosting.seen(pmfs(labels), weight)
    mean_pmf = weight @ pmfs(labels) / weight.sum()
    scores, constant = as_scores(raw), 0.0 if soft else weight @ np.log(pmfs(labels) @ mean_pmf) / weight.sum()
    expected = weight @ [naive_boosting.loss(*each) for each in zip(raw.T, evidence, strict=True)] / weight.sum()
    assert loss.mean(scores, weight) + constant == pytest.approx(expected)
    np.testing.assert_allclose(as_scores(np.log(mean_pmf)[:, None])[:, 0], loss.baseline)
    columns, q = loss.derivatives(scores), probabilities(scores)
    np.testing.assert_allclose(q, [naive_boosting.softmax(each) for each in raw.T])
    for c in range(loss.n_scores):
        of_class = q[:, c + (k == 2)]
        moved = [scores.copy(), scores.copy()]
        moved[0][c] += 1e-5
        moved[1][c] -= 1e-5
        slopes = [(loss.mean(moved[0], only) - loss.mean(moved[1], only)) / 2e-5 for only in np.eye(n)]
        np.testing.assert_allclose(columns[c, :, 0], slopes, atol=1e-8)
        curvature = naive_boosting.expected_curvature(q, evidence)[:, c + (k == 2)]
        np.testing.assert_allclose(columns[c, :, 1], curvature, rtol=1e-9, atol=1e-15)
        if not soft:
            np.testing.assert_allclose(curvature, of_class * (1 - of_class))
        assert (columns[c, :, 2] == 1).all()


def test_objects_without_weight_do_not_count():
    labels = LabelTable(np.arange(2), np.array([0, 1, 1], dtype=np.int32))
    loss = log_loss(labels, np.ones(3))
    raw, weight = np.array([[0.0, 0.0, 50.0]]), np.array([1.0, 1.0, 0.0])
    assert loss.mean(raw, weight) == pytest.approx(np.log(2))
    assert loss.mean_of(np.array([1.0, 2.0, np.inf]), weight) == 1.5
    assert loss.mean_of(np.array([1.0, np.inf, np.inf]), weight) == np.inf


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("soft", [False, True])
def test_the_mean_of_known_losses_is_that_of_scores(k, soft):
    random = np.random.default_rng(4)
    labels, raw = labels_of(random, 30, k, soft), random.normal(size=(k if k > 2 else 1, 30))
    weight = random.random(30) * (random.random(30) < 0.7)
    loss = log_loss(labels, weight, labels.information if soft else 1.0)
    assert loss.mean_of(loss.of_objects(raw), weight) == pytest.approx(loss.mean(raw, weight), rel=1e-14)


def test_classes_without_weight_and_certain_scores_stay_finite():
    labels = LabelTable(np.arange(3), np.array([0, 1, 1], dtype=np.int32))
    loss = log_loss(labels, np.ones(3))
    assert np.isfinite(loss.baseline).all()
    columns = log_loss(labels, np.ones(3)).derivatives(np.array([[800.0] * 3, [0.0] * 3, [-800.0] * 3]))
    assert np.isfinite(columns).all()
    assert (columns[:, :, 1] > 0).all()


def test_a_label_that_says_nothing_has_no_gradient():
    """Its PMF is that of all labels."""
    pmf = np.array([[0.9, 0.1], [0.3, 0.7], [0.6, 0.4]])
    loss = log_loss(soft_labels(np.arange(2), pmf), np.array([1.0, 1.0, 0.0]))
    assert loss.derivatives(np.array([[0.3, 0.3, 0.3]]))[0, 2, 0] == pytest.approx(0.0, abs=1e-15)


def test_information_counts_in_the_weight_of_a_node_only():
    random = np.random.default_rng(3)
    labels, weight, raw = labels_of(random, 20, 3, True), random.random(20), random.normal(size=(3, 20))
    plain, counted = log_loss(labels, weight), log_loss(labels, weight * labels.information, labels.information)
    assert counted.mean(raw, weight * labels.information) == pytest.approx(plain.mean(raw, weight))
    in_node = counted.derivatives(raw) * (weight * labels.information)[:, None]
    np.testing.assert_allclose(in_node[:, :, :2], (plain.derivatives(raw) * weight[:, None])[:, :, :2])
    np.testing.assert_allclose(in_node[0, :, 2], weight * labels.information)


def test_the_expected_curvature_is_the_mean_of_that_of_labels():
    """Of labels of two classes that are right with 80 %, if predictions are right."""
    score, right = 1.3, 0.8
    pmf = np.array([[right, 1 - right], [1 - right, right]])
    loss = log_loss(soft_labels(np.arange(2), pmf), np.ones(2))
    raw = np.full((1, 2), score)
    q = probabilities(raw)[0, 1]
    chance = np.array([q * (1 - right) + (1 - q) * right, q * right + (1 - q) * (1 - right)])
    r = q - loss.derivatives(raw)[0, :, 0]
    second = q * (1 - q) - r * (1 - r)
    np.testing.assert_allclose(loss.derivatives(raw)[0, :, 1], chance @ second)


def test_labels_that_say_nothing_have_no_curvature():
    pmf = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1 / 3, 1 / 3, 1 / 3]])
    columns = log_loss(soft_labels(np.arange(3), pmf), np.ones(4)).derivatives(
        np.array([[0.0], [3.0], [800.0]]) * np.ones(4)
    )
    assert np.isfinite(columns).all()
    assert (columns[:, 3, 1] < 1e-12).all()


@pytest.mark.parametrize("k", [2, 3])
def test_curvatures_of_certain_labels_are_never_larger_than_those_of_hard_ones(k):
    labels = LabelTable(np.arange(k), np.zeros(2, dtype=np.int32), np.array([np.eye(k)[0], np.full(k, 1 / k)]))
    loss = log_loss(labels, np.ones(2))
    for sure in np.linspace(30, 40, 2001):  # of the wrong class: rounding makes a label say more than everything
        raw = np.zeros((loss.n_scores, 2))
        raw[-1] = sure
        q = probabilities(raw)[0, -loss.n_scores :]
        assert (loss.derivatives(raw)[:, 0, 1] <= np.maximum(q * (1 - q), 1e-3) * (1 + 1e-9)).all()
