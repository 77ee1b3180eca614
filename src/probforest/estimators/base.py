"""What all estimators have in common: parameters and tables that are checked, and the rules for growing a tree."""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from ..families import Family, read_families
from ..features.cell_summaries import CellSummaries
from ..features.feature_bins import FeatureBins
from ..features.feature_model import CheckedTable, FeatureModel, FittedFeatures
from ..inputs.parameters import MISSING_RULES, expected_objects, is_integer, number_of_features
from ..inputs.tables import Layout, TableContent, read_table
from ..kernels.layout import CRITERIA, SAME_WEIGHT, Cells, Rules, Target
from ..support.docstrings import described
from ..support.warning import warn_caller
from ..trees.holes import informative_holes
from ..trees.prior_trial import PriorTrial
from ..trees.training_set import TrainingSet
from .argument_types import Uncertainty
from .arguments import VALUES
from .error_guard import ErrorGuard
from .parameters import Parameter
from .shared_features import SharedFeatures

NO_DEPTH_LIMIT = sys.maxsize


class ProbabilisticEstimator(ErrorGuard, SharedFeatures, BaseEstimator):
    """Base of all estimators. Not for use on its own.

    A subclass says which parameters it has (`_parameters`, its signature), and reads its training set
    (`_read_training_set`).
    """

    _parameters: ClassVar[Mapping[str, Parameter]]
    _criteria: ClassVar[Mapping[str, int]] = CRITERIA
    n_jobs: int | None = None  # a parameter of the forest; a tree is grown in one thread
    _judged_by: ClassVar[str] = "out-of-bag log loss"  # what priors, or ways to use errors, are chosen by
    error_scale_: float = 1.0  # factor of the errors that objects are spread over; regressors choose it

    _checked: CheckedTable  # the table of a fit under way, once small models have been tried on it

    # Attributes, set by fit.
    n_features_in_: int
    feature_model_: FeatureModel  # what was learnt about the features; for the other parts of this package
    missing_: np.ndarray  # (n_features,) the rule for missing values of each feature
    prior_: str | None
    prior_trial_: PriorTrial | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    @abstractmethod
    def _read_training_set(self, given: tuple, *target: Any) -> tuple[TrainingSet, Cells, Any]:
        """Check the arguments of `fit`; `given` is (X, X_err, X_limit, X_samples).

        Returns the training set, and the cells and targets of all objects, also of those that weigh nothing.
        """

    def _read_table(self, given: tuple, layout: Layout | None = None) -> TableContent:
        """Take apart (X, X_err, X_limit, X_samples) of a fit, or of a prediction, which must follow its `layout`."""

        def validate(X: Any) -> np.ndarray:
            return validate_data(self, X, dtype=np.float64, ensure_all_finite=False, reset=layout is None)

        return read_table(given, validate, self.error_columns, self.sentinels, layout)

    def _with_unlabelled(self, table: TableContent, X: Any, X_err: Any) -> TableContent:
        """A training set with more objects, of which only the features are known; None: there are none."""
        if X is None:
            if X_err is not None:
                raise ValueError("X_err_unlabelled is given without X_unlabelled: of which values?")
            return table
        if self.prior is None:
            raise ValueError(
                "X_unlabelled is given, but prior=None: only priors can learn from objects without labels."
            )
        try:
            unlabelled = self._read_table((X, X_err, None, None), table.layout)
        except (TypeError, ValueError) as problem:
            raise type(problem)(f"X_unlabelled can't be used: {problem}") from problem
        if table.has_errors and not unlabelled.has_errors:
            raise ValueError(
                "X has errors, but X_err_unlabelled is not given. Give the errors of X_unlabelled, or "
                "X_err_unlabelled=0 if its values are exact."
            )
        return table._replace(unlabelled=unlabelled)

    def _learn_features(
        self, table: TableContent, weight: np.ndarray, sample_weight: np.ndarray, target: Target | None = None
    ) -> FittedFeatures:
        families = self._families(table)
        if self._keeps_choices and families != self.feature_model_.families:
            raise ValueError(f"{self._keeper} needs the distribution of before: the old trees know no other.")
        if self._keeps_choices and self.error_features != self.feature_model_.has_error_features:
            raise ValueError(
                f"{self._keeper} needs the error_features of before: the old trees know no other features."
            )
        if self._takes_over:
            self.__dict__.pop("_checked", None)
            return self._prepare_features(table, weight)
        features = FeatureModel.fit(
            table,
            weight,
            families,
            checked=self.__dict__.pop("_checked", None),
            prior=self.prior_,
            unknown_error=self.unknown_error,
            max_bins=int(self.max_bins),
            n_jobs=self.n_jobs,
            error_features=bool(self.error_features),
            error_spreads=self.feature_model_.error_spreads if self._adds_trees else None,
            sample_weight=sample_weight,
            error_scale=self.error_scale_,
            telling_holes=None if target is None else partial(self._telling_holes, target, weight),
            for_noisier=self._prepares_for_noise,
        )
        if self.error_features and not features.model.error_features:
            raise ValueError(
                "error_features=True, but no known error of a value, neither of a limit nor of samples, differs from "
                "another one: there is nothing to learn from their sizes. Give errors (X_err, error_columns), or take "
                "error_features=False."
            )
        number_of_features(self.max_features, features.model.n_features)  # raises an error if there are less
        return features

    def _prepare_features(
        self, table: TableContent, weight: np.ndarray, bins: Sequence[FeatureBins] | None = None
    ) -> FittedFeatures:
        """A training set, or a piece of one, whose features are known; `bins` are those that other models share."""
        if bins is None:
            self._check_bins()
            bins = self.feature_model_.shared_bins
        return self.feature_model_.prepare(
            table,
            weight,
            bins,
            unknown_error=self.unknown_error,
            max_bins=int(self.max_bins),
            n_jobs=self.n_jobs,
        )

    @property
    def _prepares_for_noise(self) -> bool:
        """Whether objects that are measured much worse than the training set have the joint prior."""
        return False

    def _families(self, table: TableContent) -> tuple[Family, ...]:
        return read_families(self.distribution, table.X.shape[1], table.layout.features)

    def _sample_with_prior(
        self,
        table: TableContent,
        weight: np.ndarray,
        prior: str | None,
        rows: np.ndarray,
        target: Target | None = None,
        error_scale: float = 1.0,
        empirical: FittedFeatures | None = None,
        checked: CheckedTable | None = None,
    ) -> FittedFeatures:
        """Learn from some rows only, and from their values alone: error features don't change which prior is best. The
        joint prior needs those of the features: what has been learnt from the same rows as `empirical` saves time."""
        return FeatureModel.fit(
            table,
            weight,
            self._families(table),
            checked=checked,
            prior=prior,
            unknown_error=self.unknown_error,
            max_bins=int(self.max_bins),
            n_jobs=self.n_jobs,
            error_spreads=(),
            rows=rows,
            error_scale=error_scale,
            quick=True,
            priors=None if empirical is None else empirical.model.priors,
            telling_holes=None if target is None else partial(self._telling_holes, target, weight[rows]),
        )

    def _telling_holes(self, target: Target, weight: np.ndarray, missing: np.ndarray) -> np.ndarray:
        """Features (d,) whose holes the joint prior must not fill, from which values are `missing` (n, d): they say
        something about the target, or a rule for holes was asked for. Trees that are added see what the others see."""
        if self._adds_trees and self.feature_model_.joint_prior is not None:
            return ~self.feature_model_.joint_prior.completed
        if self.missing == "auto":
            return self._informative_holes(missing, target, weight)
        return np.full(missing.shape[1], self.missing != "observed")

    def _informative_holes(self, missing: np.ndarray, target: Target, weight: np.ndarray) -> np.ndarray:
        """For each column of `missing` (n, d), whether its holes say something about the target, (d,) bool."""
        return informative_holes(missing, target, weight)

    def _read_query(
        self, X: Any, X_err: Any, X_limit: Any, X_samples: Any, *, warn: bool = True, may_fall_back: bool = False
    ) -> tuple[Cells, bool]:
        """Check the arguments of a prediction. Returns its cells, and whether they are for the fallback trees."""
        check_is_fitted(self)
        self._check_parameters()
        table = self._read_table((X, X_err, X_limit, X_samples), self.feature_model_.layout)
        if warn and self.fitted_with_errors_ and not table.has_errors:
            falls_back = may_fall_back and self._has_error_features and self._assumed_shifts is None
            instead = " The trees that don't look at errors answer." if falls_back else ""
            warn_caller(
                "The model was fitted with X_err, but now X_err is not given: the values are taken as exact. "
                f"Pass X_err=..., or X_err=0 if they are exact.{instead}"
            )
        measurements = self.feature_model_.read(table)
        is_shifted = self._judge_errors(measurements, warn=warn and table.has_errors, may_fall_back=may_fall_back)
        falls_back = is_shifted and may_fall_back and self._has_error_features
        cells = self.feature_model_.apply(
            measurements, unknown_error=self.unknown_error, n_jobs=self.n_jobs, values_only=falls_back
        )
        return cells, falls_back

    @described(VALUES)
    def error_sizes(
        self,
        X: ArrayLike,
        *,
        X_err: Uncertainty = None,
        X_limit: ArrayLike | None = None,
        X_samples: ArrayLike | None = None,
    ) -> np.ndarray:
        """Compute the size of the errors of every object, compared with those of the training set.

        Parameters
        ----------
        {parameters}

        Returns
        -------
        ndarray of shape (n_samples,)
            The median over the features of error / median error in training; NaN for an object without known errors.
            Limits and samples do not count.
        """
        check_is_fitted(self)
        table = self._read_table((X, X_err, X_limit, X_samples), self.feature_model_.layout)
        return self.feature_model_.error_sizes(table)

    @described(VALUES)
    def posterior(
        self,
        X: ArrayLike,
        *,
        X_err: Uncertainty = None,
        X_limit: ArrayLike | None = None,
        X_samples: ArrayLike | None = None,
    ) -> CellSummaries:
        """Compute what the model makes of measured values: the distributions of the true ones.

        With prior="joint" this is a table without noise, as far as possible, and without holes. See docs/priors.md.

        Parameters
        ----------
        {parameters}

        Returns
        -------
        CellSummaries
            A tuple of three arrays of shape (n_samples, n_features): `center`, the median; `lower` and `upper`, the
            distances from the median to 16 % and to 84 % of the probability. NaN where a value stays missing.
        """
        check_is_fitted(self)
        table = self._read_table((X, X_err, X_limit, X_samples), self.feature_model_.layout)
        measurements = self.feature_model_.read(table)
        return self.feature_model_.posterior(measurements, unknown_error=self.unknown_error, n_jobs=self.n_jobs)

    def check_parameters(self) -> None:
        """Raise a ValueError if a parameter is invalid, as `fit` would do."""
        self._check_parameters()
        if hasattr(self, "feature_model_"):  # max_features depends on the number of features
            number_of_features(self.max_features, self._n_features)
            self._rules(1.0, self._n_features)

    def _check_parameters(self) -> None:
        for name, parameter in self._parameters.items():
            parameter.check(name, getattr(self, name))

    @contextmanager
    def _unchanged_on_error(self) -> Iterator[None]:
        """A fit that fails leaves the model as it was, so that no half-new model answers."""
        before = self.__dict__.copy()
        try:
            yield
        except BaseException:
            self.__dict__ = before
            raise

    @property
    def feature_names_(self) -> np.ndarray:
        """Names of the features, as `feature_importances_` has them, (n_features,)."""
        check_is_fitted(self)
        return np.array(self.feature_model_.names, dtype=object)

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
    def _n_features(self) -> int:
        """Number of features: all columns of X but those of errors, and with error_features the sizes of errors."""
        return self.feature_model_.n_features

    def _choose_missing_rules(self, training: TrainingSet) -> None:
        """Set the rule for missing values of each feature. Trees that are added follow the rules of the others."""
        if self._keeps_choices:
            if self.missing != "auto" and (self.missing_ != self.missing).any():
                raise ValueError(f"{self._keeper} needs the missing of before, which the old trees follow.")
            return
        if self.missing == "auto":
            self.missing_ = np.where(training.has_holes_worth_learning(), "learned", "observed")
        else:
            self.missing_ = np.full(training.n_features, self.missing)

    def _rules(self, total_weight: float, n_features: int) -> Rules:
        """The stopping rules for a tree that looks at `n_features` and whose root weighs `total_weight`."""
        by_count = expected_objects("min_samples_leaf", self.min_samples_leaf, 1, total_weight)
        leaf_weight = max(by_count, self.min_weight_fraction_leaf * total_weight)
        split_weight = expected_objects("min_samples_split", self.min_samples_split, 2, total_weight)
        return Rules(
            criterion=self._criteria[self.criterion],
            missing=np.array([MISSING_RULES[rule] for rule in self.missing_]),
            max_features=self._max_features(n_features),
            max_depth=NO_DEPTH_LIMIT if self.max_depth is None else int(self.max_depth),
            min_split_weight=split_weight * (1 - SAME_WEIGHT),
            min_leaf_weight=leaf_weight * (1 - SAME_WEIGHT),
            min_impurity_decrease=float(self.min_impurity_decrease),
            keep_proba=float(self.keep_proba),
            regularisation=0.0,
        )

    def _max_features(self, n_features: int) -> int:
        """How many features a node looks at. A number of them is a number of all, of which fallback trees, and those of
        a trial, have less."""
        if is_integer(self.max_features) and self.max_features >= 1:
            return min(int(self.max_features), n_features)
        return number_of_features(self.max_features, n_features)

    def _least_in_leaf(self, training: TrainingSet, weight: np.ndarray) -> float:
        """What objects with these weights (n,) must weigh in a leaf."""
        return expected_objects("min_samples_leaf", self.min_samples_leaf, 1, weight.sum())

    def _warn_if_too_light(self, training: TrainingSet) -> None:
        """Weights count in min_samples_leaf; when they are small, no node can be split, and users should know why."""
        total, n_objects = training.weight.sum(), np.count_nonzero(training.weight)
        least = 2 * self._least_in_leaf(training, training.weight)
        asked = 2 * expected_objects("min_samples_leaf", self.min_samples_leaf, 1, total)
        if n_objects >= asked and least > total:
            doubtful = "; doubtful labels weigh less, unless label_information=False"
            warn_caller(
                f"No tree can have a split: the {n_objects} objects weigh {total:.3g} in all, and the two sides of a "
                f"split need {least:.3g} (min_samples_leaf counts weights). Scale sample_weight and class_weight to a "
                f"mean of about 1{doubtful if 'label_information' in self.get_params(deep=False) else ''}."
            )
