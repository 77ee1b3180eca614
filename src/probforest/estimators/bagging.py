"""Trees that each draw their own objects from the training set, whatever they predict."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from ..inputs.columns import describe_pairs
from ..inputs.parameters import complain, number_of_draws
from ..kernels.layout import Cells
from ..support.docstrings import described
from ..support.progress import with_progress
from ..support.threads import in_threads
from ..support.warning import warn_caller
from ..trees.bootstrap import Draw, SampleDraw, out_of_bag_sums, seeds_of_trees
from ..trees.fitted_tree import FittedTree, sum_of_answers
from ..trees.label_truth import HeldOut, judged_objects
from ..trees.leaves import leaf_probabilities, proximities
from ..trees.training_set import TrainingSet
from .argument_types import Uncertainty
from .arguments import OTHER_VALUES, VALUES
from .choices import describe_choices
from .ensemble import TreeEnsemble


class BaggedTrees(TreeEnsemble):
    """How a forest is grown: bootstrap, warm start, out-of-bag answers. Not for use on its own.

    A forest is this and a class that knows its target, such as `ProbabilisticClassifier`, which says how to read the
    training set, how to grow one tree on it (`_grow_tree`), and what a tree answers (`_sum_of_answers`). The forest
    itself says what it keeps of the out-of-bag answers (`_keep_out_of_bag`).
    """

    trees_: list[FittedTree]
    fallback_trees_: list[FittedTree]
    draws_: list[Draw]

    @abstractmethod
    def _keep_out_of_bag(self, total: np.ndarray, n_answers: np.ndarray, counted: np.ndarray, truth: Any) -> None:
        """Set the attributes with out-of-bag answers and their score.

        `total` (n, k) is the sum of the `n_answers` (n,) out-of-bag answers, `counted` (n,) is true where there are
        some for an object that weighs something, and `truth` has the targets of all objects, as `_read_training_set`
        returned them.
        """

    @property
    def _grown_trees(self) -> list[FittedTree]:
        return self.trees_

    @property
    def _fallback_trees(self) -> list[FittedTree]:
        return self.fallback_trees_

    @property
    def _adds_trees(self) -> bool:
        return self.warm_start and hasattr(self, "trees_")

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.oob_score and not self.bootstrap:
            raise ValueError("oob_score needs bootstrap=True: without it every tree uses every object.")
        if self.max_samples is not None and not self.bootstrap:
            complain("max_samples", self.max_samples, "None when bootstrap=False, as nothing is drawn")

    def _fit(self, given: tuple, *target: object) -> None:
        earlier_trees, earlier_fallback, earlier_draws = self._earlier_trees(given[0])
        training, cells, truth = self._read_training_set(given, *target)
        if self.verbose:
            self._say_what_was_found()
        everything = cells if self.oob_score else None
        del cells  # as large as what was given: trees grow without those that weigh nothing
        draws = self._new_draws(len(earlier_trees), training.n_objects)
        self.trees_ = earlier_trees + self._grow(training, draws)
        values_only = training.with_first_features(self.feature_model_.n_values) if self._has_error_features else None
        self.fallback_trees_ = [] if values_only is None else earlier_fallback + self._grow(values_only, draws)
        self.draws_ = earlier_draws + draws
        self._learn_from_trees(training)
        if everything is not None:
            self._judge_out_of_bag(training, everything, truth)

    def _finish_in_pieces(self, given: tuple) -> None:
        """Learn what else there is to learn after a fit in pieces, from a sample of the table."""

    def _say_what_was_found(self) -> None:
        if self.error_pairs_ is not None:
            print(describe_pairs(self.error_pairs_))
        print("\n".join(describe_choices(self)))

    def _earlier_trees(self, X: Any) -> tuple[list[FittedTree], list[FittedTree], list[Draw]]:
        """The trees that warm_start keeps, with their fallback, and what they drew."""
        if not self._adds_trees:
            return [], [], []
        if self.n_estimators < len(self.trees_):
            raise ValueError(
                f"warm_start=True can't remove trees: n_estimators={self.n_estimators}, but there are "
                f"{len(self.trees_)} already."
            )
        if np.ndim(X) == 2 and np.shape(X)[1] != self.n_features_in_:
            raise ValueError(f"warm_start=True needs {self.n_features_in_} features as before; got {np.shape(X)[1]}.")
        if self.n_estimators == len(self.trees_):
            warn_caller("warm_start=True and n_estimators is as before: no tree is added.")
        return self.trees_, self.fallback_trees_, self.draws_

    def _new_draws(self, n_earlier: int, n_objects: int) -> list[Draw]:
        """One draw per new tree. With an integer `random_state`, trees that are added later get the seeds that they
        would have had from the start."""
        seeds = seeds_of_trees(self.random_state, self.n_estimators)
        n_draws = number_of_draws(self.max_samples, n_objects) if self.bootstrap else None
        return [Draw(seed, n_objects, n_draws) for seed in seeds[n_earlier:]]

    def _grow(self, training: TrainingSet, draws: list[Draw]) -> list[FittedTree]:
        def grow_one(draw: Draw) -> FittedTree:
            return self._grow_drawn(*training.drawn(draw), draw)

        self._rules(training.weight.sum(), training.n_features)  # raises its errors here rather than in a thread
        trees = in_threads(grow_one, draws, self.n_jobs)
        return list(with_progress(trees, len(draws), "trees", self.verbose))

    def _grow_drawn(self, training: TrainingSet, weight: np.ndarray, draw: Draw) -> FittedTree:
        """Grow a tree on objects that a draw gave these weights (n,)."""
        return self._grow_tree(training, weight, draw.feature_seed())

    def _judge_out_of_bag(self, training: TrainingSet, query: Cells, truth: Any) -> None:
        """Every object is judged by the trees that did not draw it; one that weighs nothing, by all of them."""
        judges = self._judges(self.trees_, training)
        if len(judges) < len(self.trees_):
            warn_caller("Trees that were grown on another number of objects take no part in the out-of-bag score.")
        total, n_answers = self._out_of_bag_answers(judges, training, query)
        judged = n_answers > 0
        if not judged.all():
            warn_caller(
                f"{np.sum(~judged)} objects were drawn by every tree and have no out-of-bag answer (NaN). "
                "More trees help."
            )
        self._keep_out_of_bag(total, n_answers, judged & training.kept, truth)

    def _out_of_bag_answers(
        self, judges: list[tuple[FittedTree, Draw | SampleDraw]], training: TrainingSet, query: Cells
    ) -> tuple[np.ndarray, np.ndarray]:
        """Sums (n, k) of the out-of-bag answers for all objects, and their numbers (n,)."""

        def answers_of(tree: FittedTree, left_out: Cells) -> np.ndarray:
            return self._sum_of_answers([tree], left_out)

        n_columns = self.trees_[0].value.shape[1]
        return out_of_bag_sums(judges, training.kept, query, answers_of, n_columns, self.n_jobs)

    def _judges(self, trees: list[FittedTree], training: TrainingSet) -> list[tuple[FittedTree, Draw | SampleDraw]]:
        """The trees that were grown on as many objects, and what they drew. A sample has trees of its own only."""
        pairs = zip(trees, self.draws_, strict=True)
        is_sample = training.numbers is not None
        return [
            (tree, training.draw_of(draw)) for tree, draw in pairs if is_sample or draw.n_objects == training.n_objects
        ]

    def _held_out(self, trees: list[FittedTree], training: TrainingSet) -> HeldOut | None:
        """Means of the trees' leaves, whatever `voting` is, for some objects that a tree did not draw."""

        def answers_of(tree: FittedTree, left_out: Cells) -> np.ndarray:
            return sum_of_answers([tree], left_out, float(self.keep_proba))

        everything, asked = np.ones(training.n_objects, dtype=bool), judged_objects(training.n_objects)
        n_columns, judges = trees[0].value.shape[1], self._judges(trees, training)
        query = training.cells
        total, n_answers = out_of_bag_sums(judges, everything, query, answers_of, n_columns, self.n_jobs, asked)
        rows = np.flatnonzero(n_answers)
        if not len(rows):
            return None
        return HeldOut(rows, total[rows] / n_answers[rows, None], n_answers[rows].mean() / len(self.trees_))

    @described(VALUES | OTHER_VALUES)
    def proximity(
        self,
        X: ArrayLike,
        *,
        X_err: Uncertainty = None,
        X_limit: ArrayLike | None = None,
        X_samples: ArrayLike | None = None,
        other: ArrayLike | None = None,
        other_err: Uncertainty = None,
        other_limit: ArrayLike | None = None,
        other_samples: ArrayLike | None = None,
    ) -> sparse.csr_matrix:
        """Compute the probability that two objects end in the same leaf, averaged over the trees.

        Parameters
        ----------
        {parameters}

        Returns
        -------
        scipy CSR matrix of shape (n_samples, n_other)
            An object and an independent copy of it meet with a probability below 1 if it has errors, and so the
            diagonal is not 1 then. With `error_features`, the leaves are those of `trees_`, whatever the errors.
        """
        about_other = other_err, other_limit, other_samples
        if other is None and any(given is not None for given in about_other):
            raise ValueError("other_err is given without other, or other_limit, or other_samples: of which values?")
        scaled = self._scaled_leaf_proba(X, X_err, X_limit, X_samples)
        # one warning is enough
        other_scaled = scaled if other is None else self._scaled_leaf_proba(other, *about_other, warn=X_err is not None)
        return proximities(scaled, other_scaled, len(self.trees_))

    def _scaled_leaf_proba(
        self, X: Any, X_err: Any, X_limit: Any, X_samples: Any, *, warn: bool = True
    ) -> sparse.csr_matrix:
        query, _ = self._read_query(X, X_err, X_limit, X_samples, warn=warn)
        return leaf_probabilities(self.trees_, query, float(self.keep_proba), self.n_jobs, scaled=True)
