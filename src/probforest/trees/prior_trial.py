"""Which prior suits a table: small forests with each on a sample, judged by the objects that they did not draw."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ..inputs.labels import LabelTable
from ..support.threads import in_threads
from .bootstrap import Draw, seeds_of_trees
from .fitted_tree import FittedTree, sum_of_answers
from .training_set import TrainingSet

ROUNDS = (3, 6)  # trees of each forest; those of the second round only for priors that still may be the best one
TREES = sum(ROUNDS)
LEAF = 1.5  # mean weights of a leaf, at least: smaller trees are faster, and their losses scatter less
DRAWN = 0.5  # draws of a tree, per object: more objects are left out, and judged, than in a fit, and trees are faster
SHARE_OF_FIT = 0.15  # of the time for the trees of a fit, if all trees are grown
FEWEST_OBJECTS, MOST_OBJECTS = 250, 3000  # of a sample; with the fewest, a trial takes a few hundredths of a second
SIGNIFICANT = 1.0  # standard errors, to go without a prior
RELEVANT = 0.005  # of the loss, for the same: less is not worth giving up what is safer for other tables
BETTER = 1.0  # standard errors, to take the joint prior for exact values with holes, which otherwise stay exact
HOPELESS = 3.0  # standard errors behind the best one after the first round
_SIZE = (1 - np.exp(-DRAWN)) / (1 - np.exp(-1.0))  # objects of a tree, compared with one of a fit
_SEED = 1  # of the sample and of the draws: the choice depends on the table alone
_PRIOR_VOTES = 0.5  # per class: a few trees that agree do not make an answer certain

GrowTree = Callable[[TrainingSet, np.ndarray, int], FittedTree]  # from weights (n,) and a seed


class PriorTrial(NamedTuple):
    """Out-of-bag log losses of the same objects with the empirical prior, without a prior, and with the joint prior;
    after fewer trees, and so a little larger, of one that was far behind."""

    empirical: float
    none: float
    error: float  # standard error of the difference between the two, for other objects and other trees
    n_objects: int
    joint: float | None = None  # None: no feature says anything about another one
    joint_error: float | None = None  # standard error of its difference to the better one of the others

    @property
    def choice(self) -> str | None:
        """The prior that is best, or the empirical one, if it is not worse than none by more than chance explains: it
        is the safer one, as it takes larger errors of other tables into account. Under noise, the joint prior gains far
        more than it can lose, so that the smallest loss is enough."""
        return self.choice_if(SIGNIFICANT)

    def choice_if(self, significant: float) -> str | None:
        """The same, if none has to be better than the empirical prior by so many standard errors."""
        if self.joint is not None and self.joint_error is not None:
            needed = BETTER * self.joint_error if self._is_exact else 0.0
            if min(self.empirical, self.none) - self.joint > needed:
                return "joint"
        enough = max(significant * self.error, RELEVANT * self.none)
        return None if self.empirical - self.none > enough else "empirical"

    @property
    def _is_exact(self) -> bool:
        """Without errors, the empirical prior changes nothing."""
        return self.error == 0 and self.empirical == self.none


def sample_for_trial(
    weight: np.ndarray, n_trees: int, fewest: int = FEWEST_OBJECTS, n_small_trees: float = 3 * TREES * _SIZE
) -> np.ndarray:
    """The objects of a trial, at random from those that weigh something, in order; `n_trees` are those of the fit. They
    are at least `fewest`, if there are so many."""
    candidates = np.flatnonzero(weight)
    affordable = SHARE_OF_FIT * n_trees * len(candidates) / n_small_trees
    n_objects = min(len(candidates), int(np.clip(affordable, fewest, MOST_OBJECTS)))
    return np.sort(np.random.default_rng(_SEED).choice(candidates, n_objects, replace=False))


def race(samples: Sequence[TrainingSet], grow: GrowTree, keep_proba: float, n_jobs: int | None = None) -> PriorTrial:
    """Small forests on the same objects with the empirical prior, without a prior and, perhaps, with the joint prior.
    A prior that is far behind after the first round takes no part in the second one."""
    labels, weight = samples[0].labels, samples[0].weight
    assert isinstance(labels, LabelTable)
    draws = draws_of_trial(len(weight))
    parts = draws[: ROUNDS[0]], draws[ROUNDS[0] :]

    def answers_for(each: TrainingSet, part: list[Draw]) -> np.ndarray:
        return answers_of_trial(each, grow, keep_proba, n_jobs, part)

    different = {id(each): each for each in samples}  # without errors, the first two are the same
    answers = {key: answers_for(each, parts[0]) for key, each in different.items()}
    hopeful = _hopeful(labels, answers, weight / weight.sum())
    if len(hopeful) > 1:
        for key in hopeful:
            answers[key] = np.concatenate([answers[key], answers_for(different[key], parts[1])])
    empirical, none, *joint = (answers[id(each)] for each in samples)
    return judge(labels, empirical, none, weight, *joint)


def _hopeful(labels: LabelTable, answers: dict[int, np.ndarray], share: np.ndarray) -> list[int]:
    """Which of some forests are not far behind the best one."""
    losses = {key: _losses(labels, each, share) for key, each in answers.items()}
    best = min(losses.values(), key=lambda each: each.mean)
    return [key for key, each in losses.items() if each.mean - best.mean <= HOPELESS * _error(each, best, share)]


def answers_of_trial(
    training: TrainingSet,
    grow: GrowTree,
    keep_proba: float,
    n_jobs: int | None = None,
    draws: "Sequence[Draw] | None" = None,
) -> np.ndarray:
    """Grow a small forest: what each tree says about the objects that it did not draw, (trees, n, k), 0 for others."""
    n_objects, cells = training.n_objects, training.cells
    draws = draws_of_trial(n_objects) if draws is None else draws
    answers = np.zeros((len(draws), n_objects, training.target.columns.shape[1]))

    def grow_one(draw: Draw) -> tuple[np.ndarray, np.ndarray]:
        counts = draw.counts()
        tree = grow(training, training.weight * counts, draw.feature_seed())
        left_out = counts == 0
        return left_out, sum_of_answers([tree], cells._replace(values=cells.values[left_out]), keep_proba)

    for answer, (left_out, found) in zip(answers, in_threads(grow_one, draws, n_jobs), strict=True):
        answer[left_out] = found
    return answers


def draws_of_trial(n_objects: int, n_trees: int = TREES, drawn: float = DRAWN) -> list[Draw]:
    """The bootstraps of the trees of a small forest: the same objects, whatever is tried."""
    n_draws = max(1, round(drawn * n_objects))
    return [Draw(seed, n_objects, n_draws) for seed in seeds_of_trees(_SEED, n_trees)]


def log_losses(labels: LabelTable, answers: np.ndarray) -> np.ndarray:
    """−Σ_c p_c ln q_c of every object (n,), q from the sum of answers (n, k), each of which sums to 1; ln k where there
    is none."""
    votes = answers + _PRIOR_VOTES
    log_proba = np.log(votes / votes.sum(axis=1, keepdims=True))
    if labels.pmf is None:
        return -log_proba[np.arange(len(votes)), labels.class_index]
    return -(labels.pmf * log_proba).sum(axis=1)


def judge(
    labels: LabelTable, empirical: np.ndarray, none: np.ndarray, weight: np.ndarray, joint: np.ndarray | None = None
) -> PriorTrial:
    """Compare the answers (trees, n, k) of forests whose trees drew the same objects, the first ones if some have more
    trees than others."""
    share = weight / weight.sum()
    of_empirical, of_none = _losses(labels, empirical, share), _losses(labels, none, share)
    trial = PriorTrial(of_empirical.mean, of_none.mean, _error(of_empirical, of_none, share), len(weight))
    if joint is None:
        return trial
    of_joint, best = _losses(labels, joint, share), min(of_empirical, of_none, key=lambda each: each.mean)
    return trial._replace(joint=of_joint.mean, joint_error=_error(of_joint, best, share))


def compare_losses(
    empirical: np.ndarray, none: np.ndarray, weight: np.ndarray, joint: np.ndarray | None = None
) -> PriorTrial:
    """The same from the losses (n,) of objects that were held out."""
    share = weight / weight.sum()
    means = [float((share * each).sum()) for each in (empirical, none)]
    trial = PriorTrial(means[0], means[1], _error_of_mean(empirical - none, share), len(weight))
    if joint is None:
        return trial
    best = empirical if means[0] <= means[1] else none
    return trial._replace(joint=float((share * joint).sum()), joint_error=_error_of_mean(joint - best, share))


def _error_of_mean(differences: np.ndarray, share: np.ndarray) -> float:
    """Standard error of the mean of paired differences."""
    return float(np.sqrt((np.square(share) * np.square(differences - (share * differences).sum())).sum()))


class _Losses(NamedTuple):
    """Log losses of a forest."""

    mean: float  # over the objects
    of_objects: np.ndarray  # (n,)
    without: np.ndarray  # (trees, n) those with one tree left out
    of_first_round: "_Losses | None"  # if there was another round


def _losses(labels: LabelTable, answers: np.ndarray, share: np.ndarray) -> _Losses:
    total = answers.sum(axis=0)
    without = np.array([log_losses(labels, total - answer) for answer in answers])
    of_objects = log_losses(labels, total)
    first = _losses(labels, answers[: ROUNDS[0]], share) if len(answers) > ROUNDS[0] else None
    return _Losses(float(share @ of_objects), of_objects, without, first)


def _error(one: _Losses, other: _Losses, share: np.ndarray) -> float:
    """Standard error of the difference of two mean losses, for other objects and other trees."""
    if len(one.without) != len(other.without):  # one of them was given up after the first round
        one, other = one.of_first_round or one, other.of_first_round or other
    by_objects = _error_of_mean(one.of_objects - other.of_objects, share) ** 2
    # Other trees would have given another difference; the jackknife tells how different. What is due to neither alone,
    # the luck of single objects with single trees, is in both terms.
    off = one.without - other.without
    off -= off.mean(axis=0)
    factor = (len(off) - 1) / len(off)
    by_trees = factor * np.square(off @ share).sum()
    by_both = factor * np.square(off).sum(axis=0) @ np.square(share)
    return float(np.sqrt(max(by_objects + by_trees - by_both, by_objects, by_trees)))
