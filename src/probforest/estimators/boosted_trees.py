"""Trees that are grown one after the other, each on what the others have left of a loss, whatever they predict."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np

from ..inputs.columns import describe_pairs
from ..inputs.monotonic import read_directions
from ..inputs.parameters import MISSING_RULES, expected_objects, is_integer, number_of_features
from ..kernels.best_first import Growth
from ..kernels.layout import NEWTON, SAME_WEIGHT, Cells, Rules
from ..support.progress import with_progress
from ..support.warning import warn_caller
from ..trees.boosting import Boosted, Booster, MeanCourse, ScoreOfRows, Stopping, raw_scores, staged_raw_scores
from ..trees.boosting_trial import JudgedObjects, judge_small_models
from ..trees.bootstrap import seeds_of_trees
from ..trees.fitted_tree import FittedTree
from ..trees.leaves import total_importances
from ..trees.losses import Loss
from ..trees.score_scale import best_scale
from ..trees.training_set import TrainingSet
from .base import NO_DEPTH_LIMIT
from .choices import describe_choices
from .ensemble import TreeEnsemble
from .held_out import held_out_parts, held_out_rows

MANY_OBJECTS = 10_000  # "auto" stops early with more
_MOST_PARTS = 5  # held out in turn: more of them find no better iteration to stop at
_MOST_HELD_OUT = 200_000  # objects of all models that hold out some of them in turn
# Newton steps of nodes with less are steps of any size: probabilities are rounded to 0 or 1. HistGradientBoosting's.
_LEAST_SHARE = 1e-10  # of all weight, in a leaf: what rounding leaves of huge weights is not taken for members
_LEAST_HESSIAN = 1e-3
_SHARE_OF_LEAF = 0.2  # of all objects, if labels are doubtful: no leaf of a large table needs more
# If targets are doubtful: steps are short (λ), or late iterations would explain every label as it is. Then smaller
# leaves do no harm, and trees that look at some of the features each correct the mistakes of others.
_FOR_DOUBTFUL_TARGETS = 10.0
_SHARE_OF_FEATURES = 0.5
_SHARE_OF_LEAST = 0.5  # of min_samples_leaf, where labels say half of what certain ones do, or less


class BoostedTrees(TreeEnsemble):
    """How boosted trees are grown, and what they add up to. Not for use on its own.

    A model is this and a class that knows its target, such as `ProbabilisticClassifier`, which says how to read the
    training set. The model itself says what the loss is (`_new_loss`).
    """

    _judged_by = "cross-validated loss"

    # Attributes, set by fit.
    trees_: list[FittedTree]
    fallback_trees_: list[FittedTree]
    baseline_: np.ndarray
    train_score_: np.ndarray
    validation_score_: np.ndarray
    seed_: int

    @abstractmethod
    def _new_loss(self, training: TrainingSet, weight: np.ndarray) -> Loss:
        """The loss of the objects of a training set, those with `weight` (n,) > 0 being learnt from."""

    @abstractmethod
    def _is_doubtful(self, target: Any) -> bool:
        """Whether some targets of a training set are doubtful. They are easily overfitted."""

    @abstractmethod
    def _classes_to_hold_out(self, training: TrainingSet) -> np.ndarray | None:
        """The class of every object (n,), of which as large a share is held out; None: there are no classes."""

    @abstractmethod
    def _scorer(self, training: TrainingSet, weight: np.ndarray | None) -> ScoreOfRows:
        """The score that `scoring` asks for; `weight` is None if all objects count alike."""

    @property
    def _grown_trees(self) -> list[FittedTree]:
        return self.trees_

    @property
    def _fallback_trees(self) -> list[FittedTree]:
        return self.fallback_trees_

    @property
    def _adds_trees(self) -> bool:
        return self.warm_start and hasattr(self, "trees_")

    @property
    def n_iter_(self) -> int:
        """Number of iterations."""
        return len(self.trees_) // self.n_trees_per_iteration_

    @property
    def n_trees_per_iteration_(self) -> int:
        """Trees of each iteration: one for two classes or a number, one per class for more."""
        return len(self.baseline_)

    def _fit(self, given: tuple, *target: object) -> None:
        earlier, earlier_fallback = self._earlier_iterations()
        training, _, _ = self._read_training_set(given, *target)
        doubtful = self._is_doubtful(training.labels)  # those that weigh something
        if self.verbose:
            self._say_what_was_found()
        if earlier is None:
            (self.seed_,) = seeds_of_trees(self.random_state, 1)
        stopping = self._stopping(training, doubtful)
        if earlier is not None:
            earlier = _continued(earlier, stopping, doubtful)
        boosted = self._boost(training, stopping, doubtful, earlier)
        if not any(tree.n_nodes > 1 for tree in _flat(boosted)) and earlier is None:
            self._warn_that_nothing_is_learnt(training)
        if boosted.validation_loss and np.isnan(boosted.validation_loss).all():
            warn_caller(
                f"scoring={self.scoring!r} is NaN for the held-out objects after every iteration: it says nothing."
            )
        self.trees_ = _flat(earlier) + _flat(boosted)
        self.train_score_ = -np.array(boosted.training_loss)
        self.validation_score_ = -np.array(boosted.validation_loss)
        self.fallback_trees_ = []
        if self._has_error_features:
            values_only = training.with_first_features(self.feature_model_.n_values)
            boosted = self._boost(values_only, stopping, doubtful, earlier_fallback)
            self.fallback_trees_ = _flat(earlier_fallback) + _flat(boosted)

    def _earlier_iterations(self) -> tuple[Boosted | None, Boosted | None]:
        """The iterations that warm_start keeps, and their fallback."""
        if not self._adds_trees:
            return None, None
        if self.max_iter < self.n_iter_:
            raise ValueError(
                f"warm_start=True can't remove iterations: max_iter={self.max_iter}, but there are {self.n_iter_} "
                "already."
            )
        if self.max_iter == self.n_iter_:
            warn_caller("warm_start=True and max_iter is as before: no iteration is added.")
        losses = (-self.train_score_).tolist(), (-self.validation_score_).tolist()
        k = self.n_trees_per_iteration_
        main, fallback = (
            [trees[first : first + k] for first in range(0, len(trees), k)]
            for trees in (self.trees_, self.fallback_trees_)
        )
        return Boosted(main, *losses), Boosted(fallback)

    def _boost(
        self, training: TrainingSet, stopping: Stopping | None, doubtful: bool, earlier: Boosted | None
    ) -> Boosted:
        """Grow all trees. Doubtful labels are scarce information: if some of them are held out to find out when to
        stop, others are as well in turn, and as many iterations are then grown on all of them. The held-out objects
        also say how large the steps should have been."""
        if stopping is not None and stopping.held_out.any() and doubtful:
            found = self._course_without(self._parts_to_hold_out(training, stopping), training, stopping)
            boosted = self._boost_once(training, None, doubtful, found.n_best, None).scaled(best_scale(found.best))
            boosted = replace(boosted, validation_loss=found.losses[: len(boosted.trees) + 1])
        else:
            boosted = self._boost_once(training, stopping, doubtful, int(self.max_iter), earlier)
        if self.verbose:
            self._say_how_it_ended(boosted)
        return boosted

    def _parts_to_hold_out(self, training: TrainingSet, stopping: Stopping) -> list[np.ndarray]:
        """Sets of objects to hold out in turn, so many that their labels say as much together as the part of a larger
        table does."""
        enough = float(self.validation_fraction) * MANY_OBJECTS
        assert training.doubt is not None
        known = float(training.doubt.information[stopping.held_out].sum())
        affordable = max(1, min(_MOST_PARTS, _MOST_HELD_OUT // training.n_objects))
        n_parts = min(ceil(enough / known), affordable) if known > 0 else 1
        classes = self._classes_to_hold_out(training)
        return held_out_parts(training.n_objects, float(self.validation_fraction), self.seed_, classes, n_parts)

    def _course_without(self, parts: list[np.ndarray], training: TrainingSet, stopping: Stopping) -> MeanCourse:
        """Grow a model for each part that is held out."""
        n_iterations, boosters = int(self.max_iter), []
        for held_out in parts:
            never = stopping._replace(held_out=held_out, n_iter_no_change=n_iterations + 1)
            boosters.append(self._new_booster(training, never, doubtful=True, earlier=None))
        course = MeanCourse(boosters)
        losses = course.run(n_iterations, stopping)
        for _ in self._with_progress(losses, 1 + n_iterations, "iterations, parts held out"):
            pass
        return course

    def _boost_once(
        self,
        training: TrainingSet,
        stopping: Stopping | None,
        doubtful: bool,
        n_iterations: int,
        earlier: Boosted | None,
    ) -> Boosted:
        booster = self._new_booster(training, stopping, doubtful, earlier)
        return booster.run(
            n_iterations, lambda losses: self._with_progress(losses, n_iterations, "iterations"), earlier
        )

    def _with_progress(self, losses: Iterator[float], n_losses: int, label: str) -> Iterator[float]:
        return with_progress(losses, n_losses, label, self.verbose, note="loss {:.4f}".format)

    def _new_booster(
        self, training: TrainingSet, stopping: Stopping | None, doubtful: bool, earlier: Boosted | None
    ) -> Booster:
        """What grows trees, and sets the baseline if there are no earlier ones."""
        weight = training.weight if stopping is None else np.where(stopping.held_out, 0.0, training.weight)
        loss = self._new_loss(training, weight)
        if earlier is None:
            self.baseline_ = loss.center + loss.unit * loss.baseline
        else:
            loss = replace(loss, baseline=(self.baseline_ - loss.center) / loss.unit)  # type: ignore[type-var]
        rules = self._newton_rules(training, weight, loss, doubtful)
        rules = rules._replace(monotonic=self._directions(training.n_features, loss.n_scores))
        growth = self._growth(weight.sum(), rules)
        return Booster(training, loss, rules, growth, stopping=stopping, seed=self.seed_, n_jobs=self.n_jobs)

    def _rules(self, total_weight: float, n_features: int) -> Rules:
        leaf_weight = expected_objects("min_samples_leaf", self.min_samples_leaf, 1, total_weight) * (1 - SAME_WEIGHT)
        return Rules(
            criterion=NEWTON,
            missing=np.array([MISSING_RULES[rule] for rule in self.missing_]),
            max_features=self._max_features(n_features),
            max_depth=NO_DEPTH_LIMIT if self.max_depth is None else int(self.max_depth),
            min_split_weight=2 * leaf_weight,
            min_leaf_weight=leaf_weight,
            min_impurity_decrease=0.0,
            keep_proba=float(self.keep_proba),
            regularisation=0.0,
            min_leaf_hessian=_LEAST_HESSIAN,
        )

    def _newton_rules(self, training: TrainingSet, weight: np.ndarray, loss: Loss, doubtful: bool) -> Rules:
        """The rules for the trees of a loss."""
        regularisation = self.l2_regularization
        if isinstance(regularisation, str):
            regularisation = _FOR_DOUBTFUL_TARGETS if doubtful else 0.0
        total = weight.sum()
        least = max(self._least_in_leaf(training, weight) * (1 - SAME_WEIGHT), _LEAST_SHARE * total)
        rules = self._rules(total, training.n_features)
        if isinstance(self.max_features, str) and self.max_features == "auto":
            share = _SHARE_OF_FEATURES if doubtful else 1.0
            rules = rules._replace(max_features=number_of_features(share, training.n_features))
        return rules._replace(
            min_split_weight=2 * least,
            min_leaf_weight=least,
            regularisation=float(regularisation) / loss.hessian_unit,
            min_leaf_hessian=_LEAST_HESSIAN / loss.hessian_unit,
        )

    def _least_in_leaf(self, training: TrainingSet, weight: np.ndarray) -> float:
        """Doubtful labels weigh what they say, and all of those of a small table may say less than min_samples_leaf
        asks for. So many objects with labels as they are on average are enough, or a fifth of all, if that is more; and
        half of what it asks for, or more if labels are nearly certain."""
        least = super()._least_in_leaf(training, weight)
        if training.doubt is None or not is_integer(self.min_samples_leaf):
            return least
        n_objects = (weight / training.doubt.information).sum()
        known = float(weight.sum() / n_objects)  # of a label on average, 1 if all are certain
        return min(max(known, _SHARE_OF_LEAST) * least, known * max(least, _SHARE_OF_LEAF * float(n_objects)))

    def _growth(self, total_weight: float, rules: Rules) -> Growth:
        most_leaves = int(total_weight / rules.min_leaf_weight) + 1  # together, leaves weigh as much as the root
        return Growth(min(int(self.max_leaf_nodes), most_leaves), float(self.learning_rate))

    def check_parameters(self) -> None:
        """Raise a ValueError if a parameter is invalid, as `fit` would do."""
        super().check_parameters()
        if hasattr(self, "feature_model_"):
            self._directions(self._n_features, len(self.baseline_))

    def _directions(self, n_features: int, n_scores: int) -> np.ndarray:
        """1, -1 or 0 for each feature that trees look at, as kernels take it: (0,) if all are 0."""
        if self.monotonic_cst is None:
            return np.empty(0, dtype=np.int64)
        if n_scores > 1:
            raise ValueError("monotonic_cst is for two classes or numbers: more classes have no order.")
        features = self.feature_model_
        names = features.names_of_values if features.layout.features is not None else None
        directions = np.zeros(n_features, dtype=np.int64)  # those of error features are 0
        directions[: features.n_values] = read_directions(self.monotonic_cst, features.n_values, names)
        return directions if directions.any() else np.empty(0, dtype=np.int64)

    def _stopping(self, training: TrainingSet, doubtful: bool) -> Stopping | None:
        """Which objects are held out, if any, and what stops."""
        wanted = self.early_stopping
        if isinstance(wanted, str):
            wanted = doubtful or training.n_objects > MANY_OBJECTS
        if not wanted or training.n_objects < 2:
            return None
        held_out = np.zeros(training.n_objects, dtype=bool)
        if self.validation_fraction is not None:
            classes = self._classes_to_hold_out(training)
            held_out = held_out_rows(training.n_objects, float(self.validation_fraction), self.seed_, classes)
        score = None
        if not (isinstance(self.scoring, str) and self.scoring == "loss"):
            weight = training.weight
            score = self._scorer(training, None if (weight == weight[0]).all() else weight)
        return Stopping(held_out, int(self.n_iter_no_change), float(self.tol), score)

    def _judge_small_models(
        self, sample: TrainingSet, new_loss: Callable[[TrainingSet, np.ndarray], Loss] | None = None, **seed: int
    ) -> JudgedObjects:
        """What small models say about objects of a sample that they were grown without; `new_loss` is another loss
        than that of the model, `seed` that of the folds."""

        def rules_for(weight: np.ndarray, loss: Loss) -> Rules:
            return self._newton_rules(sample, weight, loss, self._is_doubtful(sample.labels))

        loss = self._new_loss if new_loss is None else new_loss
        return judge_small_models(sample, loss, rules_for, int(self.max_leaf_nodes), self.n_jobs, **seed)

    def _warn_that_nothing_is_learnt(self, training: TrainingSet) -> None:
        """Unless the reason is plain: too few objects for any split."""
        total, least = training.weight.sum(), self._least_in_leaf(training, training.weight)
        if total >= 2 * least:
            warn_caller(
                f"No split of the training set gains anything: all predictions are the same. Its {training.n_objects} "
                f"objects weigh {total:.3g} in all, and min_samples_leaf asks for {least:.3g} on both sides of a split."
            )

    def _say_what_was_found(self) -> None:
        if self.error_pairs_ is not None:
            print(describe_pairs(self.error_pairs_))
        print("\n".join(describe_choices(self)))

    def _say_how_it_ended(self, boosted: Boosted) -> None:
        is_loss = self.scoring == "loss" or not boosted.validation_loss
        word, sign = ("loss", 1) if is_loss else ("score", -1)
        text = f"{len(boosted.training_loss) - 1} iterations, training {word} {sign * boosted.training_loss[-1]:.4f}"
        if boosted.validation_loss:
            text += f", {word} of held-out objects {sign * boosted.validation_loss[-1]:.4f}"
        print(text + ("; no split is left that gains anything" if boosted.nothing_left else ""))

    def _raw_scores(self, trees: list[FittedTree], query: Cells) -> np.ndarray:
        return raw_scores(self.baseline_, trees, query, float(self.keep_proba), self.n_jobs)

    def _staged_raw_scores(self, given: tuple) -> Iterator[np.ndarray]:
        query, falls_back = self._read_query(*given, may_fall_back=True)
        trees = self._fallback_trees if falls_back else self._grown_trees
        yield from staged_raw_scores(self.baseline_, trees, query, float(self.keep_proba), self.n_jobs)

    def _importances(self) -> np.ndarray:
        return total_importances(self.trees_, self._n_features)


def _continued(earlier: Boosted, stopping: Stopping | None, doubtful: bool) -> Boosted:
    """Earlier iterations that others are added to; a ValueError if they have seen what is held out now, or the other
    way round."""
    if doubtful and stopping is not None:
        raise ValueError(
            "warm_start=True can't go on with doubtful labels and early stopping, as the earlier trees have seen all "
            "objects. Take early_stopping=False, or fit anew."
        )
    if doubtful:  # if objects were held out to find out when to stop, they were learnt from later on
        return replace(earlier, validation_loss=[])
    holds_out = stopping is not None and bool(stopping.held_out.any())
    if holds_out != bool(earlier.validation_loss):
        raise ValueError(
            "warm_start=True needs the early_stopping and validation_fraction of before: the earlier trees have seen "
            "other objects than those that would be learnt from now."
        )
    return earlier


def _flat(boosted: Boosted | None) -> list[FittedTree]:
    """The trees of all iterations in one list."""
    return [] if boosted is None else [tree for trees in boosted.trees for tree in trees]
