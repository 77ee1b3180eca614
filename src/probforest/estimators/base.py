"""What all estimators have in common: parameters that are checked, and the rules for growing a tree."""

import sys
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..families import Family
from ..features.measurements import Measurements
from ..inputs.parameters import CRITERIA, MISSING_RULES, expected_objects, number_of_features
from ..inputs.tables import Layout
from ..kernels.layout import SAME_WEIGHT, Cells, Rules
from ..support.warning import warn_caller
from ..trees.training_set import TrainingSet
from .parameters import Parameter

NO_DEPTH_LIMIT = sys.maxsize


class ProbabilisticEstimator(BaseEstimator):
    """Base of all estimators. Not for use on its own.

    A subclass says which parameters it has (`_parameters`, its signature), and reads what its methods are given
    (`_read_training_set`, `_read_query`).
    """

    _parameters: ClassVar[Mapping[str, Parameter]]
    n_jobs: int | None = None  # a parameter of the forest; a tree is grown in one thread

    # Attributes, set by fit.
    n_features_in_: int
    median_errors_: np.ndarray
    fitted_with_errors_: bool
    error_pairs_: dict | None
    _layout: Layout
    _families: tuple[Family, ...]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    @abstractmethod
    def _read_training_set(self, given: tuple, *target: Any) -> tuple[TrainingSet, Measurements, Any]:
        """Check all that `fit` was given; `given` is (X, X_err, X_limit, X_samples).

        Returns the training set, and all objects and targets as they were given.
        """

    @abstractmethod
    def _read_query(self, X: Any, X_err: Any, X_limit: Any, X_samples: Any, *, warn: bool = True) -> Cells:
        """Check the arguments of a prediction."""

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
        names = self._layout.features
        return np.array([f"x{j}" for j in range(self._n_features)] if names is None else names, dtype=object)

    @property
    def _n_features(self) -> int:
        """Number of features: all columns of X but those of errors."""
        return len(self._families)

    @property
    def _adds_trees(self) -> bool:
        """Whether a fit keeps the trees of the last one."""
        return False

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
