"""The objects that each tree of a forest draws, and what the trees say about those that they did not draw."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from ..kernels.layout import Cells
from ..support.threads import in_threads
from .fitted_tree import FittedTree

MAX_SEED = 2**32 - 1


class Draw(NamedTuple):
    """The bootstrap of one tree, as it can be drawn again for the out-of-bag answers."""

    seed: int
    n_objects: int
    n_draws: int | None  # None: no bootstrap, every object once

    def counts(self) -> np.ndarray:
        """How often each object was drawn (n_objects,)."""
        if self.n_draws is None:
            return np.ones(self.n_objects)
        drawn = np.random.default_rng(self.seed).integers(0, self.n_objects, self.n_draws)
        return np.bincount(drawn, minlength=self.n_objects).astype(np.float64)

    def drawn_between(self, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
        """Which of the objects from `first` to before `last` were drawn, counted from `first`, and how often each."""
        if self.n_draws is None:
            return np.arange(last - first), np.ones(last - first)
        drawn = np.random.default_rng(self.seed).integers(0, self.n_objects, self.n_draws)
        rows, counts = np.unique(drawn[(drawn >= first) & (drawn < last)] - first, return_counts=True)
        return rows, counts.astype(np.float64)

    def feature_seed(self) -> int:
        """Seed of the tree's choice of features, apart from that of its objects."""
        return int(np.random.default_rng([self.seed, 1]).integers(1, MAX_SEED))


class SampleDraw(NamedTuple):
    """What a tree drew of a sample of its training set."""

    draw: Draw
    numbers: np.ndarray  # (m,) of the sample's objects in the training set; -1: not there

    def counts(self) -> np.ndarray:
        """How often each object of the sample was drawn (m,)."""
        rows, counts = self.draw.drawn_between(0, self.draw.n_objects)
        place = np.minimum(np.searchsorted(rows, self.numbers), len(rows) - 1)
        return np.where(rows[place] == self.numbers, counts[place], 0.0)


def seeds_of_trees(random_state: Any, n_trees: int) -> list[int]:
    """A seed per tree. With an integer `random_state`, the first ones do not depend on how many there are."""
    return check_random_state(random_state).randint(1, MAX_SEED, n_trees, dtype=np.int64).tolist()


def out_of_bag_sums(
    trees: Sequence[tuple[FittedTree, Draw | SampleDraw]],
    kept: np.ndarray,
    query: Cells,
    answers_of: Callable[[FittedTree, Cells], np.ndarray],
    n_columns: int,
    n_jobs: int | None = None,
    asked: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """For every object, the sum of the answers of all trees that did not draw it (n, n_columns), and their number (n,).

    `query` has all n objects. Those that weigh something, where `kept` (n,) is true, could be drawn; the others are out
    of every bag. `answers_of` takes a tree and a query of m objects, and returns an array (m, n_columns). Where `asked`
    (n,) is false, there are no answers.
    """

    def answers(judge: tuple[FittedTree, Draw | SampleDraw]) -> tuple[np.ndarray, np.ndarray]:
        tree, draw = judge
        out_of_bag = np.ones(len(kept), dtype=bool)
        out_of_bag[kept] = draw.counts() == 0
        if asked is not None:
            out_of_bag &= asked
        return out_of_bag, answers_of(tree, query._replace(values=query.values[out_of_bag]))

    total, n_answers = np.zeros((len(kept), n_columns)), np.zeros(len(kept), dtype=np.int64)
    for out_of_bag, answer in in_threads(answers, trees, n_jobs):  # in the order of the trees
        total[out_of_bag] += answer
        n_answers += out_of_bag
    return total, n_answers
