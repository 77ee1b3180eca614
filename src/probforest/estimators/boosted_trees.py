"""Trees that are grown one after the other, each on what the others have left of a loss, whatever they predict."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from ..inputs.columns import describe_pairs
from ..inputs.labels import LabelTable
from ..inputs.parameters import MISSING_RULES, expected_objects
from ..kernels.best_first import Growth
from ..kernels.layout import GINI, NEWTON, SAME_WEIGHT, Cells, Rules
from ..support.progress import with_progress
from ..trees.boosting import Boosted, Booster, Stopping, raw_scores, staged_raw_scores
from ..trees.bootstrap import seeds_of_trees
from ..trees.fitted_tree import FittedTree
from ..trees.leaves import total_importances
from ..trees.losses import LogLoss
from ..trees.training_set import TrainingSet
from .base import NO_DEPTH_LIMIT
from .choices import describe_choices
from .ensemble import TreeEnsemble

MANY_OBJECTS = 10_000  # "auto" stops early with more
# Newton steps of nodes with less are steps of any size: probabilities are rounded to 0 or 1. HistGradientBoosting's.
_LEAST_HESSIAN = 1e-3
_FOR_DOUBTFUL_TARGETS = 5.0  # λ: without it, late iterations explain every label as it is


class BoostedTrees(TreeEnsemble):
    """How boosted trees are grown, and what they add up to. Not for use on its own.

    A model is this and a class that knows its target, such as `ProbabilisticClassifier`, which says how to read the
    training set. The model itself says what the loss is (`_new_loss`).
    """

    # Attributes, set by fit.
    trees_: list[FittedTree]
    fallback_trees_: list[FittedTree]
    baseline_: np.ndarray
    train_score_: np.ndarray
    validation_score_: np.ndarray

    @abstractmethod
    def _new_loss(self, training: TrainingSet, weight: np.ndarray) -> LogLoss:
        """The loss of the objects of a training set, those with `weight` (n,) > 0 being learnt from."""

    @abstractmethod
    def _is_doubtful(self, target: Any) -> bool:
        """Whether some targets, as `_read_training_set` returned them, are doubtful. They are easily overfitted."""

    @property
    def _grown_trees(self) -> list[FittedTree]:
        return self.trees_

    @property
    def _fallback_trees(self) -> list[FittedTree]:
        return self.fallback_trees_

    @property
    def n_iter_(self) -> int:
        """Number of iterations."""
        return len(self.trees_) // self.n_trees_per_iteration_

    @property
    def n_trees_per_iteration_(self) -> int:
        """Trees of each iteration: one for two classes, one per class for more."""
        return len(self.baseline_)

    def _fit(self, given: tuple, *target: object) -> None:
        training, _, truth = self._read_training_set(given, *target)
        doubtful = self._is_doubtful(truth)
        if self.verbose:
            self._say_what_was_found()
        (seed,) = seeds_of_trees(self.random_state, 1)
        stopping = self._stopping(training, seed, doubtful)
        boosted = self._boost(training, stopping, seed, doubtful)
        self.trees_ = _flat(boosted)
        self.train_score_ = -np.array(boosted.training_loss)
        self.validation_score_ = -np.array(boosted.validation_loss)
        self.fallback_trees_ = []
        if self._has_error_features:
            values_only = training.with_first_features(self.feature_model_.n_values)
            self.fallback_trees_ = _flat(self._boost(values_only, stopping, seed, doubtful))

    def _boost(self, training: TrainingSet, stopping: Stopping | None, seed: int, doubtful: bool) -> Boosted:
        """Grow all trees. Doubtful labels are scarce information: if some of them were held out to find out when to
        stop, as many iterations are grown on all of them."""
        regularisation = self.l2_regularization
        if isinstance(regularisation, str):
            regularisation = _FOR_DOUBTFUL_TARGETS if doubtful else 0.0
        boosted = self._boost_once(training, stopping, seed, int(self.max_iter), float(regularisation))
        if stopping is not None and doubtful:
            found = boosted.validation_loss
            boosted = self._boost_once(training, None, seed, len(boosted.trees), float(regularisation))
            boosted = Boosted(boosted.trees, boosted.training_loss, found[: len(boosted.trees) + 1])
        if self.verbose:
            self._say_how_it_ended(boosted)
        return boosted

    def _boost_once(
        self, training: TrainingSet, stopping: Stopping | None, seed: int, n_iterations: int, regularisation: float
    ) -> Boosted:
        weight = training.weight if stopping is None else np.where(stopping.held_out, 0.0, training.weight)
        loss = self._new_loss(training, weight)
        self.baseline_ = loss.baseline
        rules = self._rules(weight.sum(), training.n_features)._replace(
            criterion=NEWTON, regularisation=regularisation, min_leaf_hessian=_LEAST_HESSIAN
        )
        most_leaves = int(weight.sum() / rules.min_leaf_weight) + 1  # together, leaves weigh as much as the root
        growth = Growth(min(int(self.max_leaf_nodes), most_leaves), float(self.learning_rate))
        booster = Booster(training, loss, rules, growth, stopping=stopping, seed=seed, n_jobs=self.n_jobs)

        def shown(losses: Iterator[float]) -> Iterator[float]:
            note = "loss {:.4f}".format
            return with_progress(losses, n_iterations, "iterations", self.verbose, note=note)

        return booster.run(n_iterations, shown)

    def _rules(self, total_weight: float, n_features: int) -> Rules:
        """The rules of the small forests that try priors: there is no parameter for some of them."""
        leaf_weight = expected_objects("min_samples_leaf", self.min_samples_leaf, 1, total_weight) * (1 - SAME_WEIGHT)
        return Rules(
            criterion=GINI,
            missing=np.array([MISSING_RULES[rule] for rule in self.missing_]),
            max_features=self._max_features(n_features),
            max_depth=NO_DEPTH_LIMIT if self.max_depth is None else int(self.max_depth),
            min_split_weight=2 * leaf_weight,
            min_leaf_weight=leaf_weight,
            min_impurity_decrease=0.0,
            keep_proba=float(self.keep_proba),
            regularisation=0.0,
        )

    def _stopping(self, training: TrainingSet, seed: int, doubtful: bool) -> Stopping | None:
        """Which objects are held out, if any; classes keep their shares, unless one has a single object."""
        wanted = self.early_stopping
        if isinstance(wanted, str):
            wanted = doubtful or training.n_objects > MANY_OBJECTS
        if not wanted or training.n_objects < 2:
            return None
        n_held_out = int(np.clip(self.validation_fraction * training.n_objects, 1, training.n_objects - 1))
        assert isinstance(training.labels, LabelTable)
        classes = training.labels.class_index
        counts = np.bincount(classes)
        counts = counts[counts > 0]
        can_stratify = counts.min() > 1 and len(counts) <= min(n_held_out, training.n_objects - n_held_out)
        _, rows = train_test_split(
            np.arange(training.n_objects),
            test_size=n_held_out,
            random_state=seed,
            stratify=classes if can_stratify else None,
        )
        held_out = np.zeros(training.n_objects, dtype=bool)
        held_out[rows] = True
        return Stopping(held_out, int(self.n_iter_no_change), float(self.tol))

    def _say_what_was_found(self) -> None:
        if self.error_pairs_ is not None:
            print(describe_pairs(self.error_pairs_))
        print("\n".join(describe_choices(self)))

    def _say_how_it_ended(self, boosted: Boosted) -> None:
        text = f"{len(boosted.trees)} iterations, training loss {boosted.training_loss[-1]:.4f}"
        if boosted.validation_loss:
            text += f", loss of held-out objects {boosted.validation_loss[-1]:.4f}"
        print(text + ("; no split is left that gains anything" if boosted.nothing_left else ""))

    def _raw_scores(self, trees: list[FittedTree], query: Cells) -> np.ndarray:
        return raw_scores(self.baseline_, trees, query, float(self.keep_proba), self.n_jobs)

    def _staged_raw_scores(self, given: tuple) -> Iterator[np.ndarray]:
        query, falls_back = self._read_query(*given, may_fall_back=True)
        trees = self._fallback_trees if falls_back else self._grown_trees
        yield from staged_raw_scores(self.baseline_, trees, query, float(self.keep_proba), self.n_jobs)

    def _importances(self) -> np.ndarray:
        return total_importances(self.trees_, self._n_features)


def _flat(boosted: Boosted) -> list[FittedTree]:
    """The trees of all iterations in one list."""
    return [tree for trees in boosted.trees for tree in trees]
