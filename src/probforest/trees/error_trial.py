"""How far errors should spread the objects of a table with numbers as targets: small forests on a sample, judged by
the objects that their trees did not draw.

Spreading a value over its error helps where the error is larger, or other, in the tables to predict, and where the
noise hides what the values say. Where the noise of training and test is the same, and follows the value, a forest that
takes values as exact may be sharper.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import minimize_scalar

from ..support.threads import in_threads
from .bootstrap import Draw
from .fitted_tree import FittedTree
from .leaf_slopes import stacked_slopes
from .leaf_targets import stacked
from .left_out import reach_of_left_out
from .prior_trial import draws_of_trial
from .training_set import TrainingSet
from .weighted_targets import weigh_targets

TREES = 14  # of each forest
FEWEST_OBJECTS = 1000  # of a sample, if there are so many
SIGNIFICANT = 1.0  # standard errors that the safer way may be behind the best one
PART, EXACT = "part", "exact"  # objects are spread over a part of their errors; or not at all
PART_OF_ERRORS = 0.25


class ErrorTrial(NamedTuple):
    """Out-of-bag scores of the same objects, by how errors spread them."""

    crps: dict[str, float]  # mean score of each way, in the unit of the target: by the prior, "none", "part" or "exact"
    choice: str  # one of them
    n_objects: int
    with_slopes: float | None = None  # mean score of the chosen way with slopes in leaves, if they were tried


class Judgement(NamedTuple):
    """What a small forest says about the objects that its trees did not draw."""

    judged: np.ndarray  # (n,) bool, whether there is an answer
    mean: np.ndarray  # (n,) of the distribution of every object
    crps: np.ndarray  # (n,)
    with_slopes: np.ndarray | None = None  # (n,) the same with slopes in leaves, if trees have some


def judge_small_forest(
    training: TrainingSet,
    truth: np.ndarray,
    grow: Callable[[TrainingSet, np.ndarray, int], FittedTree],
    keep_proba: float,
    n_trees_of_fit: int,
    n_jobs: int | None = None,
) -> Judgement:
    """Grow a small forest, and compare what it says about objects that a tree left out with `truth` (n,).

    The score is that of a forest with as many such trees as the fit will have: fewer of them make a rougher
    distribution, which costs trees with small leaves more than others.
    """
    n_objects = training.n_objects

    def grow_one(draw: Draw) -> tuple[FittedTree, sparse.csr_matrix]:
        counts = draw.counts()
        tree = grow(training, training.weight * counts, draw.feature_seed())
        return tree, reach_of_left_out(tree, counts == 0, training.cells, keep_proba)

    trees, reaches = zip(*in_threads(grow_one, draws_of_trial(n_objects, TREES, 1.0), n_jobs), strict=True)
    targets = [tree.targets for tree in trees]
    reach_of_forest = sparse.hstack(reaches, format="csr")
    of_forest = _numbers(reach_of_forest, *stacked(targets), truth)
    within, n_trees = np.zeros(n_objects), np.zeros(n_objects)
    for reach, each in zip(reaches, targets, strict=True):
        found = _numbers(reach, each.y, each.matrix, truth)
        within += found.half_difference
        n_trees += found.judged
    several = n_trees > 1
    with np.errstate(invalid="ignore", divide="ignore"):
        # ½ E|Y − Y'| is the mean over all pairs of trees, of which 1 in n_trees is a tree with itself.
        between = (of_forest.half_difference * n_trees - within / n_trees) / (n_trees - 1)
        half_difference = between + (within / n_trees - between) / n_trees_of_fit
    crps = np.where(several, of_forest.distance - half_difference, 0.0)
    slopes = stacked_slopes([tree.slopes for tree in trees], training.scales)
    if slopes is None:
        return Judgement(several, of_forest.mean, crps)
    rows = np.flatnonzero(np.diff(reach_of_forest.indptr))
    moved = truth.copy()  # rather than all targets of its distribution
    moved[rows] -= slopes.shift(training.cells._replace(values=training.cells.values[rows]), reach_of_forest[rows])
    distance = _numbers(reach_of_forest, *stacked(targets), moved).distance
    return Judgement(several, of_forest.mean, crps, np.where(several, distance - half_difference, 0.0))


class _Numbers(NamedTuple):
    """Numbers of the distributions of objects, (n,) each, 0 where an object is in no leaf."""

    judged: np.ndarray  # whether it is in one
    mean: np.ndarray
    distance: np.ndarray  # E|Y − y|
    half_difference: np.ndarray  # ½ E|Y − Y'|


def _numbers(reach: sparse.csr_matrix, y: np.ndarray, shares: sparse.csr_matrix, truth: np.ndarray) -> _Numbers:
    judged = np.diff(reach.indptr) > 0
    rows, found = np.flatnonzero(judged), np.zeros((3, len(truth)))
    for piece, distributions in weigh_targets(reach[rows], y, shares):
        at = rows[piece]
        distance = distributions.distance(truth[at])
        found[:, at] = distributions.mean, distance, distributions.half_difference
    return _Numbers(judged, *found)


def choose_way(judgements: dict[str, Judgement], weight: np.ndarray) -> ErrorTrial:
    """The first way, the safest one, that is not clearly worse than the best one."""
    judged = np.logical_and.reduce([each.judged for each in judgements.values()])
    share = np.where(judged, weight, 0.0) / weight[judged].sum()
    losses = {way: float(share @ each.crps) for way, each in judgements.items()}
    best = min(losses, key=lambda way: losses[way])

    def is_worse(way: str) -> bool:
        difference = judgements[way].crps - judgements[best].crps
        error = np.sqrt(np.square(share) @ np.square(difference - share @ difference))
        return bool(losses[way] - losses[best] > SIGNIFICANT * error)

    choice = next(way for way in losses if not is_worse(way))
    found = ErrorTrial(losses, choice, int(judged.sum()))
    with_slopes = judgements[choice].with_slopes
    return found if with_slopes is None else found._replace(with_slopes=float(share @ with_slopes))


def slopes_pay(judgement: Judgement, weight: np.ndarray) -> bool:
    """Whether slopes make the scores clearly better."""
    if judgement.with_slopes is None:
        return False
    share = np.where(judgement.judged, weight, 0.0) / weight[judgement.judged].sum()
    gain = judgement.crps - judgement.with_slopes
    error = np.sqrt(np.square(share) @ np.square(gain - share @ gain))
    return bool(share @ gain > SIGNIFICANT * error)


def scatter_of(residual: np.ndarray, error: np.ndarray, weight: np.ndarray) -> float:
    """The s with which residuals (n,) are most likely, if each has the variance s² + error²."""
    largest = float(np.abs(residual).max())
    if largest == 0:
        return 0.0
    squares, variances = np.square(residual / largest), np.square(error / largest)

    def minus_log_likelihood(log_scatter: float) -> float:
        variance = np.exp(2 * log_scatter) + variances
        return float(weight @ (np.log(variance) + squares / variance))

    return largest * float(np.exp(minimize_scalar(minus_log_likelihood, bounds=(-14.0, 1.0), method="bounded").x))
