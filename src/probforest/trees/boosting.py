"""Trees that are grown one after the other, each on what is left of the loss."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..kernels.best_first import GrowSpace, Growth, grow_leaf_by_leaf, new_grow_space
from ..kernels.dice import draw_points, numbers_below
from ..kernels.layout import INDEX, Bins, Cells, Rules, Target
from ..support.threads import in_threads
from .bootstrap import MAX_SEED
from .fitted_tree import FittedTree, sum_of_answers
from .losses import LogLoss
from .training_set import TrainingSet


class Stopping(NamedTuple):
    """When to stop: held-out objects have not gained more than `tolerance` in so many iterations."""

    held_out: np.ndarray  # (n,) bool, objects that no tree is grown on
    n_iter_no_change: int
    tolerance: float

    def is_due(self, losses: Sequence[float]) -> bool:
        """Whether the last losses of the held-out objects are no better than the one before them."""
        if len(losses) <= self.n_iter_no_change:
            return False
        return min(losses[-self.n_iter_no_change :]) >= losses[-self.n_iter_no_change - 1] - self.tolerance


@dataclass(frozen=True, eq=False)
class Boosted:
    """What boosting has made, iteration by iteration."""

    trees: list[list[FittedTree]] = field(default_factory=list)  # one per raw score
    training_loss: list[float] = field(default_factory=list)  # before the first iteration, and after each
    validation_loss: list[float] = field(default_factory=list)  # the same; empty without held-out objects
    nothing_left: bool = False  # whether there was no split left that gains anything

    def up_to_best(self) -> "Boosted":
        """The iterations up to the one after which the held-out objects had their smallest loss, but at least one."""
        if not self.validation_loss:
            return self
        n_best = max(1, int(np.argmin(self.validation_loss)))
        losses = self.training_loss[: n_best + 1], self.validation_loss[: n_best + 1]
        return Boosted(self.trees[:n_best], *losses, self.nothing_left)


class Booster:
    """Grows the trees of one model: raw scores, and the space that every tree needs."""

    def __init__(
        self,
        training: TrainingSet,
        loss: LogLoss,
        rules: Rules,
        growth: Growth,
        *,
        stopping: Stopping | None = None,
        seed: int = 1,
        n_jobs: int | None = None,
    ):
        self._training, self._loss, self._rules, self._growth = training, loss, rules, growth
        self._stopping, self._n_jobs = stopping, n_jobs
        held_out = np.zeros(training.n_objects, dtype=bool) if stopping is None else stopping.held_out
        self._weight = np.where(held_out, 0.0, training.weight)
        self._held_out_weight = np.where(held_out, training.weight, 0.0)
        self._held_out_cells = training.cells._replace(values=training.cells.values[held_out])
        self._raw = np.repeat(loss.baseline[:, None], training.n_objects, axis=1)
        n_grown = int(np.count_nonzero(self._weight))
        random = np.random.default_rng(seed)
        self._spaces = [
            new_grow_space(n_grown, training.bins, growth.max_leaf_nodes, of_features)
            for of_features in random.integers(1, MAX_SEED, loss.n_scores).tolist()
        ]
        self._points = DrawnPoints(training.bins, int(random.integers(1, 2**63)))

    def run(
        self, n_iterations: int, progress: Callable[[Iterator[float]], Iterator[float]] = lambda losses: losses
    ) -> Boosted:
        """Grow trees for so many iterations, or until it is time to stop. `progress` is given the training losses."""
        made = Boosted([], [self._mean_loss(self._weight)], [])
        if self._stopping is not None:
            made.validation_loss.append(self._mean_loss(self._held_out_weight))
        stopped_early = False
        for loss in progress(self._iterations(made, n_iterations)):
            stopped_early = not np.isfinite(loss)
        return Boosted(made.trees, made.training_loss, made.validation_loss, stopped_early).up_to_best()

    def _iterations(self, made: Boosted, n_iterations: int) -> Iterator[float]:
        """Grow the trees of one iteration after the other; yields their training losses, and NaN if nothing is left to
        learn."""
        for _ in range(n_iterations):
            trees = self._grow_trees()
            if made.trees and all(tree.n_nodes == 1 for tree in trees):
                yield np.nan
                return
            made.trees.append(trees)
            made.training_loss.append(self._mean_loss(self._weight))
            if self._stopping is not None:
                self._follow_held_out(trees)
                made.validation_loss.append(self._mean_loss(self._held_out_weight))
            yield made.training_loss[-1]
            if self._stopping is not None and self._stopping.is_due(made.validation_loss):
                return

    def _mean_loss(self, weight: np.ndarray) -> float:
        return self._loss.mean(self._raw, weight)

    def _grow_trees(self) -> list[FittedTree]:
        """A tree per raw score, all from the scores of before; the scores of the objects they are grown on follow."""
        columns, bins = self._loss.derivatives(self._raw), self._points.drawn()

        def grow_one(c: int) -> tuple[FittedTree, GrowSpace]:
            target = Target(np.zeros(len(self._weight), dtype=INDEX), columns[c])
            nodes, space = grow_leaf_by_leaf(
                self._training.cells,
                bins,
                target,
                self._weight,
                self._rules,
                self._growth,
                self._spaces[c],
                self._raw[c],
            )
            return FittedTree(nodes, conserves=True), space

        grown = list(in_threads(grow_one, range(self._loss.n_scores), self._n_jobs))
        self._spaces = [space for _, space in grown]
        return [tree for tree, _ in grown]

    def _follow_held_out(self, trees: list[FittedTree]) -> None:
        """The scores of the held-out objects follow by prediction."""
        assert self._stopping is not None
        for raw, tree in zip(self._raw, trees, strict=True):
            answers = sum_of_answers([tree], self._held_out_cells, self._rules.keep_proba, n_jobs=self._n_jobs)
            raw[self._stopping.held_out] += answers[:, 0]


class DrawnPoints:
    """The bins of a training set with one grid point of each cell, drawn with its probability, anew every time.

    In a search, a value with an error takes one place instead of seven; objects still move with their exact F. The
    places differ from one iteration to the next, and the trees correct each other.
    """

    def __init__(self, bins: Bins, seed: int):
        self._bins, self._state = bins, np.array([seed], dtype=np.uint64)
        n_objects, n_features, n_slots = bins.codes.shape
        self._is_exact = n_slots == 1
        self._codes = np.empty((0 if self._is_exact else n_objects, n_features, 1), dtype=bins.codes.dtype)

    def drawn(self) -> Bins:
        """The bins for the next iteration, valid until the one after it."""
        if self._is_exact:
            return self._bins
        draw_points(self._bins.codes, numbers_below(self._bins.chunk), self._state, self._codes)
        no_words = np.empty((0, self._codes.shape[1]), dtype=np.uint64)
        return self._bins._replace(codes=self._codes, words=no_words)


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
