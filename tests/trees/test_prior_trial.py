"""The trial that decides about the prior."""

import numpy as np
import pytest
from scipy.stats import entropy

from probforest.inputs.labels import LabelTable, soft_labels
from probforest.kernels.layout import INDEX
from probforest.trees.prior_trial import (
    MOST_OBJECTS,
    SHARE_OF_FIT,
    TREES,
    PriorTrial,
    judge,
    log_losses,
    sample_for_trial,
)


def test_samples_are_objects_with_weight_in_order_and_affordable():
    weight = np.where(np.arange(100_000) % 2, 1.0, 0.0)
    sample = sample_for_trial(weight, 100)
    assert len(sample) == MOST_OBJECTS
    assert (np.diff(sample) > 0).all()
    assert (weight[sample] > 0).all()
    few = sample_for_trial(np.ones(3000), 100)
    assert 3 * TREES * len(few) <= SHARE_OF_FIT * 3000 * 100
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


def answers(random, blur):
    """What 20 trees say about 200 objects of class 0; a third of the objects is left out of each."""
    probability = random.beta(8, 2 + blur, (TREES, 200))
    left_out = random.random((TREES, 200)) < 0.37
    return left_out[:, :, None] * np.stack([probability, 1 - probability], axis=2)


def test_the_difference_is_paired_and_weighted_and_its_error_is_that_of_objects_and_trees():
    random = np.random.default_rng(1)
    empirical, none, weight = answers(random, 0.5), answers(random, 0.0), random.uniform(1, 2, 200)
    labels = LabelTable(np.arange(2), np.zeros(200, dtype=INDEX))

    def mean_difference(trees, objects):
        losses = (log_losses(labels.rows(objects), each[trees][:, objects].sum(axis=0)) for each in (empirical, none))
        return np.average(np.subtract(*losses), weights=weight[objects])

    everything, trees = np.arange(200), np.arange(TREES)
    trial = judge(labels, empirical, none, weight)
    assert trial.empirical - trial.none == pytest.approx(mean_difference(trees, everything))
    assert trial.n_objects == 200
    by_objects = np.std([mean_difference(trees, random.integers(0, 200, 200)) for _ in range(1000)])
    without = [mean_difference(np.delete(trees, t), everything) for t in trees]
    by_trees = np.sqrt((TREES - 1) * np.var(without))
    assert trial.error == pytest.approx(np.hypot(by_objects, by_trees), rel=0.1)
    assert trial == pytest.approx(judge(labels, empirical, none, 2 * weight))
    assert trial.joint is None
    with_joint = judge(labels, none, none, weight, empirical)
    assert with_joint.joint - with_joint.none == pytest.approx(trial.empirical - trial.none)
    assert with_joint.joint_error == pytest.approx(trial.error)


@pytest.mark.parametrize(("empirical", "choice"), [(0.31, "empirical"), (0.35, None), (0.2, "empirical")])
def test_no_prior_is_chosen_only_if_it_is_clearly_better(empirical, choice):
    assert PriorTrial(empirical, 0.3, 0.01, 100).choice == choice


@pytest.mark.parametrize(("joint", "choice"), [(0.26, "joint"), (0.295, "empirical"), (0.4, "empirical")])
def test_the_joint_prior_is_chosen_only_if_it_is_better_than_both_others(joint, choice):
    assert PriorTrial(0.31, 0.3, 0.01, 100, joint, 0.01).choice == choice
    assert PriorTrial(0.3, 0.31, 0.01, 100, joint, 0.01).choice == choice
    assert PriorTrial(0.35, 0.3, 0.01, 100, joint, 0.01).choice == (choice if choice == "joint" else None)
