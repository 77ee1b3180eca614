"""What the tree and the forest have in common: reading what users give, and answering in scikit-learn's way."""

import sys
from abc import abstractmethod
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted, validate_data

from ..families import Family, read_families
from ..features.measurements import Measurements
from ..features.prior import PRIORS, learn_priors, with_priors
from ..inputs.cell_error import CellError
from ..inputs.labels import LabelTable, read_labels
from ..inputs.measured_values import names_of_errors, read_measurements, refuse_reordered
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
from ..inputs.tables import Given, Layout, read_table
from ..inputs.weights import check_total, class_weights, read_sample_weight
from ..kernels.layout import SAME_WEIGHT, Cells, Rules
from ..support.warning import warn_caller
from ..trees.fitted_tree import FittedTree
from ..trees.leaves import mean_importances
from ..trees.training_set import TrainingSet, make_training_set

NO_DEPTH_LIMIT = sys.maxsize


@contextmanager
def _named_by(layout: Layout):
    """Complaints about a value name its column as the table does."""
    try:
        yield
    except CellError as error:
        raise layout.named(error) from None


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
    median_errors_: np.ndarray
    fitted_with_errors_: bool
    error_pairs_: dict | None
    _layout: Layout
    _families: tuple[Family, ...]

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
            regularisation=0.0,
        )

    @property
    @abstractmethod
    def _grown_trees(self) -> list[FittedTree]:
        """The trees."""

    @property
    def feature_names_(self) -> np.ndarray:
        """Names of the features, as `feature_importances_` has them, (n_features,)."""
        check_is_fitted(self)
        names = self._layout.features
        return np.array([f"x{j}" for j in range(self._n_features)] if names is None else names, dtype=object)

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
        return self._layout.by_column(mean_importances(self._grown_trees, self._n_features))

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
        return len(self._families)

    def _take_apart(self, given: tuple, layout: Layout | None = None) -> tuple[Given, Layout]:
        """Check the table that a fit, or, with its `layout`, a prediction was given."""
        X, X_err, X_limit, _ = given
        refuse_reordered(X, X_err, None if layout is None else self._error_names)
        refuse_reordered(X, X_limit, word="X_limit")

        def validate(X: Any) -> np.ndarray:
            return validate_data(self, X, dtype=np.float64, ensure_all_finite=False, reset=layout is None)

        return read_table(given, validate, self.error_columns, self.sentinels, layout)

    def _read_training_set(
        self, given: tuple, y, y_proba, classes, sample_weight
    ) -> tuple[TrainingSet, Measurements, LabelTable]:
        """Check all that `fit` was given; `given` is (X, X_err, X_limit, X_samples).

        Returns the training set, and all objects as they were given.
        """
        table, layout = self._take_apart(given, self._layout if self._adds_trees else None)
        n_objects, n_features = table.X.shape
        families = read_families(self.distribution, n_features, layout.features)
        if self._adds_trees and families != self._families:
            raise ValueError("warm_start=True needs the distribution of before: the old trees know no other.")
        with _named_by(layout):
            measurements = read_measurements(*table, families)
        labels = read_labels(y, y_proba, classes, n_objects)
        weight = read_sample_weight(sample_weight, n_objects)
        if self.label_information:
            weight = weight * labels.information
        check_total(weight)
        factors = class_weights(None if self._class_weight_per_tree else self.class_weight, labels, weight)
        weighted_labels, factor = labels.reweighted(factors)
        # From here on, an object that weighs nothing changes nothing: no median, no prior, no bin, no draw.
        weight = weight * factor
        check_total(weight)
        medians = measurements.median_errors(weight)
        with _named_by(layout):
            measurements = measurements.with_errors_known(self.unknown_error, medians).with_logarithms()
        priors = learn_priors(self.prior, measurements, weight, self.n_jobs)
        measurements = with_priors(priors, measurements, self.n_jobs)
        training = make_training_set(measurements, weighted_labels, weight, int(self.max_bins), self.n_jobs)
        self._check_classes(labels.classes)
        self._warn_if_too_light(weight)
        self.classes_ = labels.classes
        self.median_errors_ = medians
        self.fitted_with_errors_ = table.X_err is not None or table.X_samples is not None
        self.error_pairs_ = layout.pairs
        self._error_names = names_of_errors(given[1])
        self._layout, self._families, self._priors, self._references = layout, families, priors, training.references
        return training, measurements.with_limits_spread(training.references), labels

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
        table, _ = self._take_apart((X, X_err, X_limit, X_samples), self._layout)
        if table.X_err is None and table.X_samples is None and self.fitted_with_errors_ and warn:
            warn_caller(
                "The model was fitted with X_err, but is asked without: the values are taken as exact. "
                "Pass X_err=..., or X_err=0 if they are exact."
            )
        medians = self.median_errors_ if self.fitted_with_errors_ else None
        with _named_by(self._layout):
            measurements = read_measurements(*table, self._families).with_errors_known(self.unknown_error, medians)
            measurements = measurements.with_logarithms()
        measurements = with_priors(self._priors, measurements, self.n_jobs)
        return measurements.with_limits_spread(self._references).cells()
