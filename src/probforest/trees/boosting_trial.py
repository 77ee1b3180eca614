"""How good small boosted models are that were grown without the objects they are judged by."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..kernels.best_first import Growth
from ..kernels.layout import Rules
from .boosting import Booster, Stopping
from .losses import Loss
from .training_set import TrainingSet

FEWEST_OBJECTS, SHARE_OF_OBJECTS, MOST_OBJECTS = 1000, 0.3, 2000  # of a sample
FOLDS = 2
ITERATIONS, LEARNING_RATE, LEAVES = 12, 0.35, 8  # what matters is there after a few large steps, at a tenth of the time
# Standard errors, to go without a prior: boosting trusts the noise of the training set more than a forest does, and so
# loses more where it is larger.
SIGNIFICANT = 2.5
_SEED = 1  # of the folds: the result depends on the sample alone


def rows_of_trial(weight: np.ndarray) -> np.ndarray:
    """The objects of a trial, at random from those that weigh something, in order."""
    candidates = np.flatnonzero(weight)
    affordable = int(np.clip(SHARE_OF_OBJECTS * len(candidates), FEWEST_OBJECTS, MOST_OBJECTS))
    n_objects = min(len(candidates), affordable)
    return np.sort(np.random.default_rng(_SEED).choice(candidates, n_objects, replace=False))


class JudgedObjects(NamedTuple):
    """What small models say about n objects that they were grown without."""

    raw: np.ndarray  # (n_scores, n) raw scores, not scaled
    loss: np.ndarray  # (n,)


def judge_small_models(
    training: TrainingSet,
    new_loss: Callable[[TrainingSet, np.ndarray], Loss],
    rules_for: Callable[[np.ndarray, Loss], Rules],
    most_leaves: int,
    n_jobs: int | None = None,
    seed: int = _SEED,
) -> JudgedObjects:
    """Grow a small model on all folds but one, and judge that one, for each of them. `new_loss` takes the training set
    and the weights (n,) of the objects to learn from, `rules_for` these weights and the loss; `seed` is that of the
    folds."""
    fold = np.random.default_rng(seed).permutation(training.n_objects) % FOLDS
    growth, judged = Growth(min(LEAVES, most_leaves), LEARNING_RATE), None
    for number in range(FOLDS):
        held_out = fold == number
        weight = np.where(held_out, 0.0, training.weight)
        loss = new_loss(training, weight)
        stopping = Stopping(held_out, ITERATIONS, 0.0)
        booster = Booster(training, loss, rules_for(weight, loss), growth, stopping=stopping, n_jobs=n_jobs)
        booster.run(ITERATIONS)
        if judged is None:
            judged = JudgedObjects(np.empty_like(booster.raw), np.empty(training.n_objects))
        judged.raw[:, held_out] = loss.center + loss.unit * booster.raw[:, held_out]
        judged.loss[held_out] = loss.of_objects(booster.raw)[held_out]
    assert judged is not None
    return judged
