"""What the tree and the forest have in common: reading what users give, and answering in scikit-learn's way."""

import sys
from abc import abstractmethod
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted, validate_data

from ..families import read_families
from ..features.feature_model import FeatureModel, FittedFeatures
from ..features.prior import PRIORS
from ..inputs.labels import LabelTable, read_labels
from ..inputs.parameters import (
    CRITERIA,
    MAX_MAX_BINS,
    MISSING_RULES,
    UNKNOWN_ERROR_RULES,
    check_flag,
    check_integer,
    check_n_jobs,
    check_number,
    check_word,
    expected_objects,
    number_of_features,
)
from ..inputs.tables import Layout, TableContent, read_table
from ..inputs.weights import check_total, class_weights, read_sample_weight
from ..kernels.layout import SAME_WEIGHT, Cells, Rules
from ..support.warning import warn_caller
from ..trees.fitted_tree import FittedTree
from ..trees.leaves import mean_importances
from ..trees.training_set import TrainingSet, make_training_set

NO_DEPTH_LIMIT = sys.maxsize


class ProbabilisticClassifier(ClassifierMixin, BaseEstimator):
    """Base of the probabilistic classifiers. Not for use on its own."""

    # Parameters, set by the subclasses' __init__.
    criterion: str
    max_depth: int | None
    min_samples_split: int | float
    min_samples_leaf: int | float
    min_weight_fraction_leaf: float
    max_features: Any
    min_impurity_decrease: float
    class_weight: Any
    keep_proba: float
    missing: str
    unknown_error: str
    label_information: bool
    max_bins: int
    distribution: Any
    prior: str | None
    error_columns: Any
    sentinels: Any
    n_jobs: int | None = None  # a parameter of the forest; a tree is grown in one thread

    # Attributes, set by fit.
    classes_: np.ndarray
    n_features_in_: int
    feature_model_: FeatureModel  # what was learnt about the features; for the other parts of this package

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    @abstractmethod
    def predict_proba(self, X, *, X_err=None, X_limit=None, X_samples=None):
        """Probability of every class."""

    def predict(self, X, *, X_err=None, X_limit=None, X_samples=None):
        """Predict the most probable class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Values; NaN marks a missing one.
        X_err, X_limit, X_samples : default=None
            What is known about the values, as in `fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
            The classes; of equally probable ones, the first in `classes_`.
        """
        most_probable = self.predict_proba(X, X_err=X_err, X_limit=X_limit, X_samples=X_samples).argmax(axis=1)
        return self.classes_[most_probable]

    def predict_log_proba(self, X, *, X_err=None, X_limit=None, X_samples=None):
        """Logarithm of `predict_proba`; -inf where a probability is 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, X_err=X_err, X_limit=X_limit, X_samples=X_samples))

    def score(self, X, y, *, X_err=None, X_limit=None, X_samples=None, sample_weight=None):
        """Accuracy of `predict` on labels `y`."""
        answer = self.predict(X, X_err=X_err, X_limit=X_limit, X_samples=X_samples)
        return accuracy_score(y, answer, sample_weight=sample_weight)

    def _check_parameters(self) -> None:
        check_word("criterion", self.criterion, CRITERIA)
        check_word("missing", self.missing, MISSING_RULES)
        check_word("unknown_error", self.unknown_error, UNKNOWN_ERROR_RULES)
        if self.prior is not None:
            check_word("prior", self.prior, PRIORS)
        check_flag("label_information", self.label_information)
        check_number("keep_proba", self.keep_proba, 0, 1)
        check_number("min_weight_fraction_leaf", self.min_weight_fraction_leaf, 0, 0.5)
        check_number("min_impurity_decrease", self.min_impurity_decrease, 0)
        check_integer("max_bins", self.max_bins, 2, MAX_MAX_BINS)
        if self.max_depth is not None:
            check_integer("max_depth", self.max_depth, 1)
        check_n_jobs(self.n_jobs)

    @contextmanager
    def _unchanged_on_error(self):
        """A fit that fails leaves the model as it was, so that no half-new model answers."""
        before = self.__dict__.copy()
        try:
            yield
        except BaseException:
            self.__dict__ = before
            raise

    def _rules(self, total_weight: float) -> Rules:
        """The stopping rules for a tree whose root weighs `total_weight`."""
        by_count = expected_objects("min_samples_leaf", self.min_samples_leaf, 1, total_weight)
        leaf_weight = max(by_count, self.min_weight_fraction_leaf * total_weight)
        split_weight = expected_objects("min_samples_split", self.min_samples_split, 2, total_weight)
        return Rules(
            criterion=CRITERIA[self.criterion],
            missing=MISSING_RULES[self.missing],
            max_features=number_of_features(self.max_features, self._n_features),
            max_depth=NO_DEPTH_LIMIT if self.max_depth is None else int(self.max_depth),
            min_split_weight=split_weight * (1 - SAME_WEIGHT),
            min_leaf_weight=leaf_weight * (1 - SAME_WEIGHT),
            min_impurity_decrease=float(self.min_impurity_decrease),
            keep_proba=float(self.keep_proba),
        )

    @property
    @abstractmethod
    def _grown_trees(self) -> list[FittedTree]:
        """The trees."""

    @property
    def feature_names_(self) -> np.ndarray:
        """Names of the features, as `feature_importances_` has them, (n_features,)."""
        check_is_fitted(self)
        names = self.feature_model_.layout.features
        return np.array([f"x{j}" for j in range(self._n_features)] if names is None else names, dtype=object)

    @property
    def median_errors_(self) -> np.ndarray:
        """Median known error of every feature in training, (n_features,), or (2, n_features) for lower and upper ones;
        NaN where none was known."""
        check_is_fitted(self)
        return self.feature_model_.median_errors

    @property
    def fitted_with_errors_(self) -> bool:
        """Whether `fit` was given errors."""
        check_is_fitted(self)
        return self.feature_model_.fitted_with_errors

    @property
    def error_pairs_(self) -> dict | None:
        """With `error_columns`: each feature and the columns of its errors, or None for one that has none."""
        check_is_fitted(self)
        return self.feature_model_.layout.pairs

    @property
    def feature_importances_(self) -> np.ndarray:
        """Impurity decrease of every feature, weighted by expected objects, averaged over trees, (n_features,)."""
        check_is_fitted(self)
        self._refuse_feature_selection()
        return mean_importances(self._grown_trees, self._n_features)

    @property
    def column_importances_(self) -> np.ndarray:
        """Importance of every column of X, (n_features_in_,): errors and limits have that of their value."""
        check_is_fitted(self)
        return self.feature_model_.layout.by_column(mean_importances(self._grown_trees, self._n_features))

    def _refuse_feature_selection(self) -> None:
        """scikit-learn's selectors take `feature_importances_` for those of columns, and would fail without saying why
        where some columns are errors."""
        caller = sys._getframe(2).f_globals.get("__name__", "")
        if caller.startswith("sklearn.feature_selection") and self._n_features != self.n_features_in_:
            raise ValueError(
                f"feature_importances_ has the {self._n_features} features, but X has {self.n_features_in_} columns, "
                'those of errors included. Select columns with importance_getter="column_importances_": a value is '
                'kept together with its errors. set_output(transform="pandas") keeps the names.'
            )

    @property
    def _n_features(self) -> int:
        """Number of features: all columns of X but those of errors."""
        return self.feature_model_.n_features

    def error_sizes(self, X, *, X_err=None, X_limit=None, X_samples=None):
        """Size of the errors of every object, compared with those of the training set.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Values; NaN marks a missing one.
        X_err, X_limit, X_samples : default=None
            What is known about the values, as in `fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
            The median over the features of error / median error in training; NaN for an object without known errors.
            Limits and samples do not count.
        """
        check_is_fitted(self)
        table = self._read_table((X, X_err, X_limit, X_samples), self.feature_model_.layout)
        return self.feature_model_.error_sizes(table)

    def _read_table(self, given: tuple, layout: Layout | None = None) -> TableContent:
        """Take apart (X, X_err, X_limit, X_samples) of a fit, or of a prediction, which must follow its `layout`."""

        def validate(X: Any) -> np.ndarray:
            return validate_data(self, X, dtype=np.float64, ensure_all_finite=False, reset=layout is None)

        return read_table(given, validate, self.error_columns, self.sentinels, layout)

    def _read_training_set(
        self, given: tuple, y, y_proba, classes, sample_weight
    ) -> tuple[TrainingSet, Cells, LabelTable]:
        """Check all that `fit` was given; `given` is (X, X_err, X_limit, X_samples).

        Returns the training set, and the cells and labels of all objects, also of those that weigh nothing.
        """
        table = self._read_table(given, self.feature_model_.layout if self._adds_trees else None)
        labels = read_labels(y, y_proba, classes, len(table.X))
        weight = read_sample_weight(sample_weight, len(table.X))
        if self.label_information:
            weight = weight * labels.information
        check_total(weight)
        factors = class_weights(None if self._class_weight_per_tree else self.class_weight, labels, weight)
        weighted_labels, factor = labels.reweighted(factors)
        # From here on, an object that weighs nothing changes nothing: no median, no prior, no bin, no draw.
        weight = weight * factor
        check_total(weight)
        features = self._learn_features(table, weight)
        self._check_classes(labels.classes)
        self._warn_if_too_light(weight)
        self.classes_, self.feature_model_ = labels.classes, features.model
        return make_training_set(features, weighted_labels, weight), features.cells, labels

    def _learn_features(self, table: TableContent, weight: np.ndarray) -> FittedFeatures:
        families = read_families(self.distribution, table.X.shape[1], table.layout.features)
        if self._adds_trees and families != self.feature_model_.families:
            raise ValueError("warm_start=True needs the distribution of before: the old trees know no other.")
        return FeatureModel.fit(
            table,
            weight,
            families,
            prior=self.prior,
            unknown_error=self.unknown_error,
            max_bins=int(self.max_bins),
            n_jobs=self.n_jobs,
        )

    def _check_classes(self, classes: np.ndarray) -> None:
        """Refuse classes that don't fit what was there before; nothing has been changed yet."""

    def _warn_if_too_light(self, weight: np.ndarray) -> None:
        """Weights count in min_samples_leaf; when they are small, no node can be split, and users should know why."""
        total, n_objects = weight.sum(), np.count_nonzero(weight)
        least = 2 * expected_objects("min_samples_leaf", self.min_samples_leaf, 1, total)
        if n_objects >= least > total:
            warn_caller(
                f"No tree can have a split: the {n_objects} objects weigh {total:.3g} in all, and the two sides of a "
                f"split need {least:.3g} (min_samples_leaf counts weights). Scale sample_weight and class_weight to a "
                "mean of about 1; doubtful labels weigh less, unless label_information=False."
            )

    @property
    def _class_weight_per_tree(self) -> bool:
        return False

    @property
    def _adds_trees(self) -> bool:
        """Whether a fit keeps what was there."""
        return False

    def _read_query(self, X, X_err, X_limit, X_samples, *, warn: bool = True) -> Cells:
        """Check what a prediction was given."""
        check_is_fitted(self)
        self._check_parameters()
        table = self._read_table((X, X_err, X_limit, X_samples), self.feature_model_.layout)
        if warn and self.fitted_with_errors_ and not table.has_errors:
            warn_caller(
                "The model was fitted with X_err, but now X_err is not given: the values are taken as exact. "
                "Pass X_err=..., or X_err=0 if they are exact."
            )
        return self.feature_model_.apply(table, unknown_error=self.unknown_error, n_jobs=self.n_jobs)
