"""The trial that decides about the prior."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import entropy

from probforest.inputs.labels import LabelTable, soft_labels
from probforest.kernels.layout import INDEX
from probforest.trees import prior_trial
from probforest.trees.prior_trial import (
    MOST_OBJECTS,
    ROUNDS,
    SHARE_OF_FIT,
    TREES,
    PriorTrial,
    judge,
    log_losses,
    race,
    sample_for_trial,
)


def test_samples_are_objects_with_weight_in_order_and_affordable():
    weight = np.where(np.arange(100_000) % 2, 1.0, 0.0)
    sample = sample_for_trial(weight, 100)
    assert len(sample) == MOST_OBJECTS
    assert (np.diff(sample) > 0).all()
    assert (weight[sample] > 0).all()
    few = sample_for_trial(np.ones(3000), 100)
    different = len(few) * (1 - np.exp(-0.5))  # objects in a tree that draws half as many
    assert 3 * TREES * different <= SHARE_OF_FIT * 100 * 3000 * (1 - np.exp(-1.0))
    assert len(sample_for_trial(np.ones(200), 100)) == 200  # the smallest tables as a whole


@pytest.mark.parametrize("soft", [False, True])
def test_losses_are_cross_entropies_of_smoothed_votes(soft):
    random = np.random.default_rng(0)
    pmf = random.dirichlet(np.ones(3), 20) if soft else np.eye(3)[random.integers(0, 3, 20)]
    votes = [random.dirichlet(np.ones(3), n) for n in random.integers(0, 6, 20)]
    labels = soft_labels(np.arange(3), pmf) if soft else LabelTable(np.arange(3), pmf.argmax(axis=1).astype(INDEX))
    found = log_losses(labels, np.array([vote.sum(axis=0) for vote in votes]))
    for loss, truth, vote in zip(found, pmf, votes, strict=True):
        answer = (vote.sum(axis=0) + 0.5) / (len(vote) + 1.5)
        assert loss == pytest.approx(entropy(truth, answer) + entropy(truth))


def answers(random, blur, n_trees=TREES):
    """What some trees say about 200 objects of class 0; a third of the objects is left out of each."""
    probability = random.beta(8, 2 + blur, (n_trees, 200))
    left_out = random.random((n_trees, 200)) < 0.37
    return left_out[:, :, None] * np.stack([probability, 1 - probability], axis=2)


LABELS = LabelTable(np.arange(2), np.zeros(200, dtype=INDEX))


def test_the_difference_is_paired_and_weighted_and_its_error_is_that_of_objects_and_trees():
    random = np.random.default_rng(1)
    empirical, none, weight = answers(random, 0.5), answers(random, 0.0), random.uniform(1, 2, 200)

    def difference(trees, objects=slice(None)):
        losses = (log_losses(LABELS, each[trees].sum(axis=0)) for each in (empirical, none))
        return np.subtract(*losses)[objects]

    trees = np.arange(TREES)
    trial = judge(LABELS, empirical, none, weight)
    assert trial.empirical - trial.none == pytest.approx(np.average(difference(trees), weights=weight))
    assert trial.n_objects == 200
    draws = [random.integers(0, 200, 200) for _ in range(2000)]
    by_objects = np.var([np.average(difference(trees, draw), weights=weight[draw]) for draw in draws])
    without = np.array([difference(np.delete(trees, t)) for t in trees])
    by_trees = (TREES - 1) * np.var(np.average(without, axis=1, weights=weight))
    of_single_objects = (TREES - 1) * without.var(axis=0)
    by_both = np.sum((weight / weight.sum()) ** 2 * of_single_objects)
    expected = max(by_objects + by_trees - by_both, by_objects, by_trees)
    assert trial.error == pytest.approx(np.sqrt(expected), rel=0.1)
    assert trial == pytest.approx(judge(LABELS, empirical, none, 2 * weight))
    assert trial.joint is None
    with_joint = judge(LABELS, none, none, weight, empirical)
    assert with_joint.joint - with_joint.none == pytest.approx(trial.empirical - trial.none)
    assert with_joint.joint_error == pytest.approx(trial.error)


def test_the_error_is_the_scatter_between_trials():
    random, weight = np.random.default_rng(2), np.ones(200)
    trials = [judge(LABELS, answers(random, 0.0), answers(random, 0.0), weight) for _ in range(150)]
    scatter = np.std([trial.empirical - trial.none for trial in trials])
    assert scatter < np.mean([trial.error for trial in trials]) < 1.5 * scatter  # twice the variance would be 1.9


def test_a_prior_that_was_given_up_is_compared_after_as_many_trees():
    random, weight = np.random.default_rng(3), np.ones(200)
    empirical, none, joint = answers(random, 0.0), answers(random, 0.0), answers(random, 5.0)
    full, short = judge(LABELS, empirical, none, weight), [each[: ROUNDS[0]] for each in (empirical, none)]
    trial = judge(LABELS, empirical, none, weight, joint[: ROUNDS[0]])
    assert trial[:4] == full[:4]
    first = judge(LABELS, *short, weight, joint[: ROUNDS[0]])
    best = empirical if trial.empirical < trial.none else none
    assert trial.joint == first.joint
    assert trial.joint_error == judge(LABELS, best[: ROUNDS[0]], joint[: ROUNDS[0]], weight).error


@pytest.mark.parametrize(("blur", "n_grown"), [(0.0, 2 * TREES), (100.0, TREES + ROUNDS[0])])
def test_a_prior_that_is_far_behind_has_one_round_only(blur, n_grown, monkeypatch):
    random, grown = np.random.default_rng(4), []
    sets = {name: SimpleNamespace(labels=LABELS, weight=np.ones(200)) for name in ("empirical", "none")}
    bad = SimpleNamespace(labels=LABELS, weight=np.ones(200))

    def fake_answers(training, grow, keep_proba, n_jobs, draws):
        grown.extend([training] * len(draws))
        return answers(random, blur if training is bad else 0.0, len(draws))

    monkeypatch.setattr(prior_trial, "answers_of_trial", fake_answers)
    race([sets["empirical"], sets["empirical"], bad], None, 0.05)  # without errors, the first two are the same
    assert len(grown) == n_grown if blur == 0 else len(grown) == 2 * ROUNDS[0]
    grown.clear()
    race([sets["empirical"], sets["none"], bad], None, 0.05)
    assert len(grown) == n_grown + TREES


@pytest.mark.parametrize(("empirical", "choice"), [(0.304, "empirical"), (0.35, None), (0.2, "empirical")])
def test_no_prior_is_chosen_only_if_it_is_clearly_better(empirical, choice):
    assert PriorTrial(empirical, 0.3, 0.01, 100).choice == choice
    assert PriorTrial(0.301, 0.3, 1e-5, 100).choice == "empirical"  # certain, but hardly a difference


@pytest.mark.parametrize(("joint", "is_best"), [(0.26, True), (0.299, True), (0.3, False), (0.4, False)])
def test_the_joint_prior_is_chosen_if_it_has_the_smallest_loss(joint, is_best):
    assert PriorTrial(0.304, 0.3, 0.01, 100, joint, 0.01).choice == ("joint" if is_best else "empirical")
    assert PriorTrial(0.3, 0.31, 0.01, 100, joint, 0.01).choice == ("joint" if is_best else "empirical")
    assert PriorTrial(0.35, 0.3, 0.01, 100, joint, 0.01).choice == ("joint" if is_best else None)


@pytest.mark.parametrize(("joint", "choice"), [(0.26, "joint"), (0.291, "empirical")])
def test_exact_values_with_holes_stay_exact_unless_the_joint_prior_is_clearly_better(joint, choice):
    assert PriorTrial(0.3, 0.3, 0.0, 100, joint, 0.01).choice == choice
