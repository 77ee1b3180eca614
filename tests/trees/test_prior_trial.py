"""The trial that decides about the prior."""

import numpy as np
import pytest
from scipy.stats import entropy

from probforest.inputs.labels import LabelTable, soft_labels
from probforest.kernels.layout import INDEX
from probforest.trees.prior_trial import MOST_OBJECTS, PriorTrial, judge, log_losses, sample_for_trial


def test_samples_are_objects_with_weight_in_order_and_affordable():
    weight = np.where(np.arange(100_000) % 2, 1.0, 0.0)
    sample = sample_for_trial(weight, 100)
    assert len(sample) == MOST_OBJECTS
    assert (np.diff(sample) > 0).all()
    assert (weight[sample] > 0).all()
    few = sample_for_trial(np.ones(3000), 100)
    assert 2 * 20 * len(few) <= 0.25 * 3000 * 100
    assert len(sample_for_trial(np.ones(200), 100)) == 200  # the smallest tables as a whole


@pytest.mark.parametrize("soft", [False, True])
def test_losses_are_cross_entropies_of_smoothed_votes(soft):
    random = np.random.default_rng(0)
    pmf = random.dirichlet(np.ones(3), 20) if soft else np.eye(3)[random.integers(0, 3, 20)]
    votes = [random.dirichlet(np.ones(3), n) for n in random.integers(0, 6, 20)]
    total, n_answers = np.array([vote.sum(axis=0) for vote in votes]), np.array([len(vote) for vote in votes])
    labels = soft_labels(np.arange(3), pmf) if soft else LabelTable(np.arange(3), pmf.argmax(axis=1).astype(INDEX))
    found = log_losses(labels, total, n_answers)
    for i, vote in enumerate(votes):
        if len(vote) == 0:
            assert np.isnan(found[i])
            continue
        answer = (vote.sum(axis=0) + 0.5) / (len(vote) + 1.5)
        assert found[i] == pytest.approx(entropy(pmf[i], answer) + entropy(pmf[i]))


def test_the_difference_is_paired_and_weighted():
    random = np.random.default_rng(1)
    none = random.gamma(1.0, 1.0, 400)
    empirical = none + random.normal(0.1, 0.3, 400)
    empirical[7] = none[7] = np.nan
    trial = judge(empirical, none, np.ones(400))
    difference = np.delete(empirical - none, 7)
    assert trial.empirical - trial.none == pytest.approx(difference.mean())
    assert trial.error == pytest.approx(difference.std() / np.sqrt(399))
    assert trial.n_objects == 399
    twice = judge(empirical, none, np.full(400, 2.0))
    np.testing.assert_allclose(trial, twice)


@pytest.mark.parametrize(("empirical", "choice"), [(0.31, "empirical"), (0.35, None), (0.2, "empirical")])
def test_no_prior_is_chosen_only_if_it_is_clearly_better(empirical, choice):
    assert PriorTrial(empirical, 0.3, 0.01, 100).choice == choice
