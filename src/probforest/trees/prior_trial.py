"""Which prior suits a table: small forests with and without it on a sample, judged by the objects they did not draw."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..inputs.labels import LabelTable
from ..support.threads import in_threads
from .bootstrap import Draw, out_of_bag_sums, seeds_of_trees
from .fitted_tree import FittedTree, sum_of_answers
from .training_set import TrainingSet

TREES = 20  # of each forest
SHARE_OF_FIT = 0.25  # of the time for the trees of a fit: reading and judging cost some more
FEWEST_OBJECTS, MOST_OBJECTS = 500, 4000  # of a sample
# Standard errors of the mean over objects. Forests of so few trees differ by chance about as much again, so that a
# difference of this size is one of about two standard errors.
SIGNIFICANT = 3.0
_SEED = 1  # of the sample and of the draws: the choice depends on the table alone
_PRIOR_VOTES = 0.5  # per class: a few trees that agree do not make an answer certain


class PriorTrial(NamedTuple):
    """Out-of-bag log losses of the same objects with the empirical prior and without a prior."""

    empirical: float
    none: float
    error: float  # standard error of the difference
    n_objects: int

    @property
    def choice(self) -> str | None:
        """The empirical prior, unless it is worse by more than chance explains. Where both are alike in the training
        set, it is the safer one: it takes larger errors of other tables into account."""
        return None if self.empirical - self.none > SIGNIFICANT * self.error else "empirical"


def sample_for_trial(weight: np.ndarray, n_trees: int) -> np.ndarray:
    """The objects of a trial, at random from those that weigh something, in order; `n_trees` are those of the fit."""
    candidates = np.flatnonzero(weight)
    affordable = SHARE_OF_FIT * n_trees * len(candidates) / (2 * TREES)
    n_objects = min(len(candidates), int(np.clip(affordable, FEWEST_OBJECTS, MOST_OBJECTS)))
    return np.sort(np.random.default_rng(_SEED).choice(candidates, n_objects, replace=False))


def losses_of_trial(
    training: TrainingSet,
    grow: Callable[[TrainingSet, np.ndarray, int], FittedTree],
    keep_proba: float,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Grow a small forest; the out-of-bag log loss of every object (n,), NaN for those that all trees drew."""
    draws = [Draw(seed, training.n_objects, training.n_objects) for seed in seeds_of_trees(_SEED, TREES)]

    def grow_one(draw: Draw) -> FittedTree:
        return grow(training, training.weight * draw.counts(), draw.feature_seed())

    trees = list(in_threads(grow_one, draws, n_jobs))
    total, n_answers = out_of_bag_sums(
        list(zip(trees, draws, strict=True)),
        np.ones(training.n_objects, dtype=bool),
        training.cells,
        lambda tree, left_out: sum_of_answers([tree], left_out, keep_proba),
        trees[0].value.shape[1],
        n_jobs,
    )
    return log_losses(training.labels, total, n_answers)


def log_losses(labels: LabelTable, total: np.ndarray, n_answers: np.ndarray) -> np.ndarray:
    """−Σ_c p_c ln q_c of every object (n,), q from the sum of answers `total` (n, k); NaN where there is none."""
    n_classes = total.shape[1]
    proba = (total + _PRIOR_VOTES) / (n_answers + n_classes * _PRIOR_VOTES)[:, None]
    if labels.pmf is None:
        losses = -np.log(proba[np.arange(len(proba)), labels.class_index])
    else:
        losses = -(labels.pmf * np.log(proba)).sum(axis=1)
    return np.where(n_answers > 0, losses, np.nan)


def judge(empirical: np.ndarray, none: np.ndarray, weight: np.ndarray) -> PriorTrial:
    """Compare the losses (n,) of the same objects with two priors."""
    judged = ~np.isnan(empirical)
    share = weight[judged] / weight[judged].sum()
    difference = (empirical - none)[judged]
    mean = share @ difference
    error = np.sqrt(np.square(share) @ np.square(difference - mean))
    return PriorTrial(float(share @ empirical[judged]), float(share @ none[judged]), float(error), int(judged.sum()))
