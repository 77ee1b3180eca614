"""Trees that are grown one after the other, each on what is left of the loss."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from ..kernels.best_first import (
    GrowSpace,
    Growth,
    add_to_scores,
    grow_leaf_by_leaf,
    grown_nodes,
    new_grow_space,
)
from ..kernels.layout import DECREASE, IMPURITY, INDEX, Cells, Rules, Target
from ..kernels.propagate import cell_columns
from ..support.threads import in_threads
from .bootstrap import MAX_SEED
from .drawn_points import DrawnPoints
from .fitted_tree import FittedTree, sum_of_answers
from .followed_objects import FollowedObjects
from .losses import Loss
from .revised_leaves import revise
from .score_scale import HeldOutScores
from .training_set import TrainingSet

# Where splits are searched at drawn places, or among drawn features, other draws may find one.
_MOST_FRUITLESS = 5

# A score, the larger the better, of raw scores (n_scores, m) of some of the objects, `rows` (m,).
ScoreOfRows = Callable[[np.ndarray, np.ndarray], float]


class Stopping(NamedTuple):
    """When to stop: held-out objects, or those that were learnt from if none is held out, have not gained more than
    `tolerance` in so many iterations."""

    held_out: np.ndarray  # (n,) bool, objects that no tree is grown on
    n_iter_no_change: int
    tolerance: float
    score: ScoreOfRows | None = None  # what they gain; None: the loss gets smaller

    def is_due(self, losses: Sequence[float]) -> bool:
        """Whether the last losses of the held-out objects are no better than the one before them."""
        if len(losses) <= self.n_iter_no_change:
            return False
        known = _known(losses[-self.n_iter_no_change - 1 :])
        return bool(known[1:].min() >= known[0] - self.tolerance)


def _known(losses: Sequence[float]) -> np.ndarray:
    """Losses, of which those that are NaN, as scores of few objects may be, are the largest."""
    return np.where(np.isnan(losses), np.inf, losses)


def best_iteration(losses: Sequence[float]) -> int:
    """After how many iterations the loss of held-out objects was smallest, but at least one. Scores that count objects
    are often equal: then the last of the best ones, as more iterations make answers surer."""
    return max(1, int(np.flatnonzero(_known(losses) == _known(losses).min())[-1]))


@dataclass(frozen=True, eq=False)
class Boosted:
    """What boosting has made, iteration by iteration. A loss is minus the score where there is one."""

    trees: list[list[FittedTree]] = field(default_factory=list)  # one per raw score
    training_loss: list[float] = field(default_factory=list)  # before the first iteration, and after each
    validation_loss: list[float] = field(default_factory=list)  # the same; empty without held-out objects
    nothing_left: bool = False  # whether there was no split left that gains anything

    def up_to_best(self) -> "Boosted":
        """The iterations up to the `best_iteration` of the held-out objects."""
        if not self.validation_loss:
            return self
        n_best = best_iteration(self.validation_loss)
        losses = self.training_loss[: n_best + 1], self.validation_loss[: n_best + 1]
        return Boosted(self.trees[:n_best], *losses, self.nothing_left)

    def in_units(self, loss: Loss) -> "Boosted":
        """The same with raw scores and gains that are not scaled."""
        if loss.unit == loss.gain_unit == 1:
            return self
        return replace(self, trees=[[_in_units(tree, loss) for tree in trees] for trees in self.trees])

    def scaled(self, factor: float) -> "Boosted":
        """The same with scores that are `factor` times as far from the baseline. Losses stay those of before."""
        return replace(self, trees=[[_scaled(tree, factor) for tree in trees] for trees in self.trees])


def _scaled(tree: FittedTree, factor: float) -> FittedTree:
    return replace(tree, nodes=tree.nodes._replace(value=factor * tree.nodes.value))


def _in_units(tree: FittedTree, loss: Loss) -> FittedTree:
    summary = tree.nodes.summary.copy()
    summary[:, [IMPURITY, DECREASE]] *= loss.gain_unit
    return replace(tree, nodes=tree.nodes._replace(value=loss.unit * tree.nodes.value, summary=summary))


class Booster:
    """Grows the trees of one model: raw scores, and the space that every tree needs."""

    def __init__(
        self,
        training: TrainingSet,
        loss: Loss,
        rules: Rules,
        growth: Growth,
        *,
        stopping: Stopping | None = None,
        seed: int = 1,
        n_jobs: int | None = None,
    ):
        self._training, self._loss, self._rules, self._growth = training, loss, rules, growth
        self._stopping, self._seed, self._n_jobs = stopping, seed, n_jobs
        held_out = np.zeros(training.n_objects, dtype=bool) if stopping is None else stopping.held_out
        self._has_held_out = bool(held_out.any())
        self._weight = np.where(held_out, 0.0, training.weight)
        self._no_classes = np.zeros(training.n_objects, dtype=INDEX)
        self._held_out_weight = np.where(held_out, training.weight, 0.0)
        self._held_out_rows = np.flatnonzero(held_out)  # as numbers, which are found faster than a mask
        held_out_cells = training.cells._replace(values=training.cells.values[self._held_out_rows])
        self._held_out = FollowedObjects(held_out_cells, rules.keep_proba, n_jobs)
        self.raw = np.repeat(loss.baseline[:, None], training.n_objects, axis=1)  # scores of all objects, scaled
        n_grown = int(np.count_nonzero(self._weight))
        self._points, self._columns = DrawnPoints(training.bins), cell_columns(training.cells)
        self._spaces = [
            new_grow_space(n_grown, self._points.most_bins, growth.max_leaf_nodes, seed=1) for _ in range(loss.n_scores)
        ]

    def run(
        self,
        n_iterations: int,
        progress: Callable[[Iterator[float]], Iterator[float]] = lambda losses: losses,
        earlier: Boosted | None = None,
    ) -> Boosted:
        """Grow trees up to so many iterations, or until it is time to stop. `progress` is given the training losses.

        `earlier` has iterations whose trees, with raw scores that are not scaled, are kept: what is returned goes on
        with its losses, but only has the trees that are new.
        """
        made = Boosted()
        if earlier is None:
            self._note_losses(made)
        else:
            self._follow(earlier.trees)
            made.training_loss.extend(earlier.training_loss)
            made.validation_loss.extend(earlier.validation_loss)
        nothing_left = False
        n_earlier = 0 if earlier is None else len(earlier.trees)
        for loss in progress(self._iterations(made, n_earlier, n_iterations)):
            nothing_left = not np.isfinite(loss)
        made = replace(made, nothing_left=nothing_left)
        return (made if earlier is not None else made.up_to_best()).in_units(self._loss)

    def course(self, n_iterations: int) -> Iterator[float]:
        """The losses of the held-out objects before the first iteration and after each, until nothing is left to
        learn."""
        made = Boosted()
        self._note_losses(made)
        yield made.validation_loss[-1]
        for _ in self._iterations(made, 0, n_iterations):
            yield made.validation_loss[-1]

    def held_out_scores(self) -> HeldOutScores:
        """What is said about the held-out objects at this stage."""
        return HeldOutScores(self._loss, self.raw.copy(), self._held_out_weight)

    def _iterations(self, made: Boosted, n_earlier: int, n_iterations: int) -> Iterator[float]:
        """Grow the trees of one iteration after the other; yields their training losses, and NaN if nothing is left to
        learn. Trees without any split are no iteration: others are drawn."""
        n_fruitless = 0
        while n_earlier + len(made.trees) < n_iterations:
            before, n_before = self.raw.copy(), n_earlier + len(made.trees)
            trees = self._grow_trees([n_before, n_fruitless], before)
            if n_before and all(tree.n_nodes == 1 for tree in trees):
                self.raw, n_fruitless = before, n_fruitless + 1
                if n_fruitless == self._most_fruitless:
                    yield np.nan
                    return
                continue
            n_fruitless = 0
            made.trees.append(trees)
            if self._has_held_out:
                self._follow_held_out(trees)
            self._note_losses(made)
            yield made.training_loss[-1]
            if self._stopping is not None and self._stopping.is_due(self._losses_to_watch(made)):
                return

    @property
    def _most_fruitless(self) -> int:
        """After so many iterations without any split, there is none."""
        draws = not self._points.is_exact or self._rules.max_features < self._training.n_features
        return _MOST_FRUITLESS if draws else 1

    def _losses_to_watch(self, made: Boosted) -> list[float]:
        return made.validation_loss if self._has_held_out else made.training_loss

    def _note_losses(self, made: Boosted) -> None:
        losses = self._loss.of_objects(self.raw) if self._score is None else None
        made.training_loss.append(self._mean_loss(losses, self._weight))
        if self._has_held_out:
            made.validation_loss.append(self._mean_loss(losses, self._held_out_weight))

    @property
    def _score(self) -> ScoreOfRows | None:
        return None if self._stopping is None else self._stopping.score

    def _mean_loss(self, losses: np.ndarray | None, weight: np.ndarray) -> float:
        """Of the `losses` (n,) of all objects; if they are not known, minus the score."""
        if losses is not None:
            return self._loss.mean_of(losses, weight)
        assert self._score is not None
        rows = np.flatnonzero(weight)
        return -self._score(self._loss.center + self._loss.unit * self.raw[:, rows], rows)

    def _grow_trees(self, attempt: list[int], before: np.ndarray) -> list[FittedTree]:
        """A tree per raw score, all from the scores `before`; the scores of the objects they are grown on follow."""
        random = np.random.default_rng([self._seed, *attempt])  # so that iterations may be added later
        loss = self._loss.at(before)
        columns, bins = loss.derivatives(before), self._points.drawn(int(random.integers(1, 2**63)))
        for space, seed in zip(self._spaces, random.integers(1, MAX_SEED, len(self._spaces)), strict=True):
            space.search.state[0], space.search.order[:] = seed, np.arange(self._training.n_features)

        def grow_one(c: int) -> tuple[FittedTree, GrowSpace]:
            target = Target(self._no_classes, columns[c])
            n_nodes, space = grow_leaf_by_leaf(
                self._columns, bins, target, self._weight, self._rules, self._growth, self._spaces[c]
            )
            if loss.revises_leaves:
                self._revise_leaves(n_nodes, space, loss, before)
            if np.isfinite(loss.largest_step):
                most = self._growth.learning_rate * loss.largest_step
                np.clip(space.ordered.value[:n_nodes], -most, most, out=space.ordered.value[:n_nodes])
            add_to_scores(n_nodes, space, self.raw[c])
            return FittedTree(grown_nodes(n_nodes, space), conserves=True), space

        grown = list(in_threads(grow_one, range(loss.n_scores), self._n_jobs))
        self._spaces = [space for _, space in grown]
        return [tree for tree, _ in grown]

    def _revise_leaves(self, n_nodes: int, space: GrowSpace, loss: Loss, raw: np.ndarray) -> None:
        """Give leaves the values that are best for their members, where Newton steps only tell the direction."""
        loss.write_steps(n_nodes, space, raw)
        space.ordered.value[:n_nodes] *= self._growth.learning_rate
        revise(n_nodes, space.ordered, self._rules.monotonic)

    def _follow_held_out(self, trees: list[FittedTree]) -> None:
        """The scores of the held-out objects follow by prediction."""
        for raw, tree in zip(self.raw, trees, strict=True):
            raw[self._held_out_rows] += self._held_out.answers(tree)[:, 0]

    def _follow(self, trees: list[list[FittedTree]]) -> None:
        """All scores follow trees of an earlier fit, whose baseline is that of the loss."""
        for c, raw in enumerate(self.raw):
            of_score = [each[c] for each in trees]
            answers = sum_of_answers(of_score, self._training.cells, self._rules.keep_proba, n_jobs=self._n_jobs)
            raw += answers[:, 0] / self._loss.unit


class MeanCourse:
    """Models that hold out different objects, all grown together."""

    def __init__(self, boosters: Sequence[Booster]):
        self._boosters = boosters
        self.losses: list[float] = []  # of held-out objects, before the first iteration and after each: means
        self.best: list[HeldOutScores] = []  # what the models said when the loss was smallest

    def run(self, n_iterations: int, stopping: Stopping) -> Iterator[float]:
        """Grow up to so many iterations, or until it is time to stop, which the models themselves must not do before.
        Yields the losses."""
        last = np.zeros(len(self._boosters))
        for together in zip_longest(*(booster.course(n_iterations) for booster in self._boosters)):
            last = np.array([old if new is None else new for old, new in zip(last, together, strict=True)])
            loss = float(last.mean())
            self.losses.append(loss)
            if self.n_best == max(1, len(self.losses) - 1):
                self.best = [booster.held_out_scores() for booster in self._boosters]
            yield loss
            if stopping.is_due(self.losses):
                return

    @property
    def n_best(self) -> int:
        """The number of iterations after which the loss was smallest, but at least one."""
        return best_iteration(self.losses)


def raw_scores(
    baseline: np.ndarray, trees: Sequence[FittedTree], query: Cells, keep_proba: float, n_jobs: int | None = None
) -> np.ndarray:
    """Raw scores (n_scores, n) of the objects of a table; `trees` are those of all iterations, per score in turn."""
    n_scores = len(baseline)
    scores = np.empty((n_scores, len(query.values)))
    for c in range(n_scores):
        scores[c] = baseline[c] + sum_of_answers(trees[c::n_scores], query, keep_proba, n_jobs=n_jobs)[:, 0]
    return scores


def staged_raw_scores(
    baseline: np.ndarray, trees: Sequence[FittedTree], query: Cells, keep_proba: float, n_jobs: int | None = None
) -> Iterator[np.ndarray]:
    """The same after each iteration."""
    n_scores = len(baseline)
    totals = np.zeros((n_scores, len(query.values)))
    for first in range(0, len(trees), n_scores):
        for c, tree in enumerate(trees[first : first + n_scores]):
            totals[c] += sum_of_answers([tree], query, keep_proba, n_jobs=n_jobs)[:, 0]
        yield baseline[:, None] + totals
