"""Models that predict classes: reading what users give, and answering in scikit-learn's way."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin

from ..features.feature_model import check_table
from ..inputs.cell_error import CellError
from ..inputs.labels import LabelTable, read_labels
from ..inputs.tables import TableContent
from ..inputs.weights import check_total, class_weights, read_sample_weight
from ..kernels.layout import Cells, Rules
from ..support.docstrings import described
from ..trees.fitted_tree import FittedTree, sum_of_answers
from ..trees.label_truth import DoubtfulLabels, LabelTruth, learn_label_truth
from ..trees.prior_trial import LEAF, PriorTrial, race, sample_for_trial
from ..trees.training_set import TrainingSet, make_training_set
from .argument_types import Uncertainty
from .arguments import CLASS_TARGETS, SCORED, SHARED, UNLABELLED, VALUES
from .default_scores import accuracy
from .explaining import ExplainedClassifier

FEWEST_FOR_TRIAL = 100  # objects; fewer can't tell which prior is better


class ProbabilisticClassifier(ClassifierMixin, ExplainedClassifier):
    """Base of the models that predict classes. Not for use on its own.

    It reads the training set, grows a tree on classes, and answers as scikit-learn's classifiers do. A subclass says
    how the trees come into being (`_fit`), and which trees these are (`_grown_trees`, `_fallback_trees`).
    """

    # Parameters of the forest.
    voting: str = "soft"  # a single tree has no votes to count
    n_estimators: int = 1

    # Attributes, set by fit.
    classes_: np.ndarray
    label_truth_: LabelTruth | None

    @described(VALUES | CLASS_TARGETS | UNLABELLED | SHARED)
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        X_err: Uncertainty = None,
        X_limit: ArrayLike | None = None,
        X_samples: ArrayLike | None = None,
        y_proba: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        X_unlabelled: ArrayLike | None = None,
        X_err_unlabelled: Uncertainty = None,
        feature_model: Any = None,
    ) -> Self:
        """Fit the model to a training set.

        Parameters
        ----------
        {parameters}

        Returns
        -------
        self
            The fitted model.
        """
        self._check_parameters()
        with self._unchanged_on_error(), self._with_features_of(feature_model):
            unlabelled = X_unlabelled, X_err_unlabelled
            self._fit((X, X_err, X_limit, X_samples), y, y_proba, classes, sample_weight, unlabelled)
        return self

    @described(VALUES)
    def predict_proba(
        self,
        X: ArrayLike,
        *,
        X_err: Uncertainty = None,
        X_limit: ArrayLike | None = None,
        X_samples: ArrayLike | None = None,
    ) -> np.ndarray:
        """Predict the probability of every class.

        A tree answers with the class probabilities of its leaves, weighted by the probability to reach them. A forest
        averages the answers of its trees, or counts their votes (see its parameter `voting`). If labels were doubtful,
        these are mean PMFs of labels; what is returned are the probabilities of the true classes that explain them.

        Parameters
        ----------
        {parameters}

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        query, falls_back = self._read_query(X, X_err, X_limit, X_samples, may_fall_back=True)
        return self._probabilities(self._fallback_trees if falls_back else self._grown_trees, query)

    @described(VALUES)
    def predict(
        self,
        X: ArrayLike,
        *,
        X_err: Uncertainty = None,
        X_limit: ArrayLike | None = None,
        X_samples: ArrayLike | None = None,
    ) -> np.ndarray:
        """Predict the most probable class.

        Parameters
        ----------
        {parameters}

        Returns
        -------
        ndarray of shape (n_samples,)
            The classes; of equally probable ones, the first in `classes_`.
        """
        most_probable = self.predict_proba(X, X_err=X_err, X_limit=X_limit, X_samples=X_samples).argmax(axis=1)
        return self.classes_[most_probable]

    @described(VALUES)
    def predict_log_proba(
        self,
        X: ArrayLike,
        *,
        X_err: Uncertainty = None,
        X_limit: ArrayLike | None = None,
        X_samples: ArrayLike | None = None,
    ) -> np.ndarray:
        """Predict the logarithm of the probability of every class.

        Parameters
        ----------
        {parameters}

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The logarithm of `predict_proba`; -inf where a probability is 0.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, X_err=X_err, X_limit=X_limit, X_samples=X_samples))

    @described(VALUES | SCORED)
    def score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        X_err: Uncertainty = None,
        X_limit: ArrayLike | None = None,
        X_samples: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Compute the accuracy of `predict`.

        Parameters
        ----------
        {parameters}

        Returns
        -------
        float
            The share of objects whose label is predicted.
        """
        answer = self.predict(X, X_err=X_err, X_limit=X_limit, X_samples=X_samples)
        return accuracy(y, answer, sample_weight=sample_weight)

    def _grow_tree(self, training: TrainingSet, weight: np.ndarray, seed: int) -> FittedTree:
        class_weight = "balanced" if self._class_weight_per_tree else None
        return training.grow(weight, self._rules, seed, class_weight)

    def _sum_of_answers(self, trees: list[FittedTree], query: Cells, n_jobs: int | None = None) -> np.ndarray:
        majority = self.voting == "majority"
        return sum_of_answers(trees, query, float(self.keep_proba), majority=majority, n_jobs=n_jobs)

    def _probabilities(self, trees: list[FittedTree], query: Cells) -> np.ndarray:
        """What `predict_proba` returns, from these trees."""
        return self._truth_of(self._sum_of_answers(trees, query, self.n_jobs) / len(trees))

    def _truth_of(self, answers: np.ndarray) -> np.ndarray:
        """Probabilities of the true classes, from mean PMFs of labels (n, k). Votes are counted as they are."""
        return answers if self.label_truth_ is None or self.voting == "majority" else self.label_truth_.answers(answers)

    def _learn_from_trees(self, training: TrainingSet) -> None:
        self.label_truth_ = None
        if training.doubt is not None:
            # The fallback trees are those of a model without error features, whose answers they must give.
            trees = self._fallback_trees if self._has_error_features else self._grown_trees
            leaves = [len(tree.leaves) for tree in trees]
            self.label_truth_ = learn_label_truth(training.doubt, leaves, self._held_out(trees, training))

    def _read_training_set(
        self, given: tuple, y: Any, y_proba: Any, classes: Any, sample_weight: Any, unlabelled: tuple = (None, None)
    ) -> tuple[TrainingSet, Cells, LabelTable]:
        table = self._read_table(given, self.feature_model_.layout if self._keeps_choices else None)
        table = self._with_unlabelled(table, *unlabelled)
        labels = read_labels(y, y_proba, self._classes_to_expect(classes, y_proba), len(table.X))
        given_weight = read_sample_weight(sample_weight, len(table.X))
        weight = given_weight * labels.information if self.label_information else given_weight
        check_total(weight)
        factors = class_weights(None if self._class_weight_per_tree else self.class_weight, labels, weight)
        weighted_labels, factor = labels.reweighted(factors)
        # From here on, an object that weighs nothing changes nothing: no median, no prior, no bin, no draw.
        weight = weight * factor
        check_total(weight)
        self._check_classes(labels.classes)
        self._choose_prior(table, weighted_labels, weight)
        features = self._learn_features(table, weight, given_weight, weighted_labels.for_kernels())
        self.classes_, self.feature_model_ = labels.classes, features.model
        doubt = self._doubt(labels.rows(weight > 0), given_weight[weight > 0], factors)
        if self._adds_trees and not self._follows_labels(doubt):
            raise ValueError("warm_start=True needs labels as before: all of them certain, or some of them doubtful.")
        training = make_training_set(features, weighted_labels, weight, doubt)
        self._warn_if_too_light(training)
        self._choose_missing_rules(training)
        return training, features.cells, labels

    def _choose_prior(self, table: TableContent, labels: LabelTable, weight: np.ndarray) -> None:
        """Set the prior, and the trial that decided about it. Trees that are added have the prior of the others."""
        if self._keeps_choices:
            if self.prior not in ("auto", self.prior_):
                raise ValueError(f"{self._keeper} needs the prior of before: the old trees know no other.")
            return
        self.prior_, self.prior_trial_ = self.prior, None
        if self.prior == "auto":
            self.prior_trial_ = self._try_priors(table, labels, weight)
            self.prior_ = "empirical" if self.prior_trial_ is None else self._choice_of(self.prior_trial_)

    def _try_priors(self, table: TableContent, labels: LabelTable, weight: np.ndarray) -> PriorTrial | None:
        """Small forests with each prior; None if there are too few objects, or no value that a prior changes."""
        if np.count_nonzero(weight) < FEWEST_FOR_TRIAL or not (table.has_errors or np.isnan(table.X).any()):
            return None
        rows = self._rows_of_trial(weight)
        target = labels.rows(rows).for_kernels()
        try:
            checked = self._checked = check_table(table, self._families(table), weight)
            empirical, none = (
                self._sample_with_prior(table, weight, prior, rows, target, checked=checked)
                for prior in ("empirical", None)
            )
            joint = self._sample_with_prior(table, weight, "joint", rows, target, empirical=empirical, checked=checked)
        except CellError:
            return None  # the fit itself will raise it, with the row of the table
        posterior, measured = (each.cells.values[:, :, 0] for each in (empirical, none))
        says_something = joint.model.says_something_jointly
        if np.array_equal(posterior, measured, equal_nan=True):
            if not says_something or empirical.cells.complete:
                return None  # all values are exact, or limits and samples, which have no prior, and none is missing
            none = empirical
        tried = [empirical, none, joint] if says_something else [empirical, none]
        samples = {id(each): make_training_set(each, labels.rows(rows), weight[rows], None) for each in tried}
        self._choose_missing_rules(samples[id(empirical)])
        return self._judge_priors([samples[id(each)] for each in tried])

    @property
    def _prepares_for_noise(self) -> bool:
        return self.prior == "auto"

    def _choice_of(self, trial: PriorTrial) -> str | None:
        """The prior that a trial speaks for."""
        return trial.choice

    def _rows_of_trial(self, weight: np.ndarray) -> np.ndarray:
        """The objects that priors are tried on."""
        return sample_for_trial(weight, self.n_estimators)

    def _judge_priors(self, samples: list[TrainingSet]) -> PriorTrial:
        """Compare the same objects with the empirical prior, without a prior and, if it says something, with the joint
        prior."""
        return race(samples, self._grow_small_tree, float(self.keep_proba), self.n_jobs)

    def _grow_small_tree(self, training: TrainingSet, weight: np.ndarray, seed: int) -> FittedTree:
        """A tree of a trial, with leaves that are not too small."""
        least = LEAF * training.weight.mean()

        def rules(total_weight: float, n_features: int) -> Rules:
            found = self._rules(total_weight, n_features)
            return found._replace(min_leaf_weight=max(found.min_leaf_weight, least))

        class_weight = "balanced" if self._class_weight_per_tree else None
        return training.grow(weight, rules, seed, class_weight)

    def _doubt(self, labels: LabelTable, weight: np.ndarray, class_weight: np.ndarray) -> DoubtfulLabels | None:
        """The labels of the objects that weigh something, if they are doubtful."""
        if labels.pmf is None:
            return None
        information = labels.information if self.label_information else np.ones(len(weight))
        if self._class_weight_per_tree:
            class_weight = class_weights("balanced", labels, weight * information, of_a_draw=True)
        wanted = "balanced" if self._class_weight_per_tree else self.class_weight
        wanted = class_weights(wanted, labels, weight, of_a_draw=True)
        return DoubtfulLabels(labels.pmf, weight, information, class_weight, wanted)

    def _follows_labels(self, doubt: DoubtfulLabels | None) -> bool:
        """Whether labels are of the kind, hard or doubtful, that the trees that are kept were grown on."""
        return (doubt is None) == (self.label_truth_ is None)

    def _classes_to_expect(self, classes: Any, y_proba: Any) -> Any:
        """The classes that users name, or those of a model whose features are taken over: some may be absent here.
        The columns of a `y_proba` are in an order that only users know."""
        return self.classes_ if classes is None and self._takes_over and np.ndim(y_proba) < 2 else classes

    def _check_classes(self, classes: np.ndarray) -> None:
        """Refuse other classes than those of the trees that are kept; nothing has been changed yet."""
        if self._keeps_choices and not np.array_equal(classes, self.classes_):
            raise ValueError(f"{self._keeper} needs the classes of before, {self.classes_}; got {classes}.")

    @property
    def _class_weight_per_tree(self) -> bool:
        """Whether classes are balanced among the objects of each tree, rather than in the training set."""
        return False
