"""The probabilistic random forest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np

from ..inputs.labels import LabelTable
from ..support.docstrings import described
from .argument_types import (
    Distribution,
    ErrorColumns,
    MaxFeatures,
    MissingRule,
    PriorKind,
    UnknownErrorRule,
    VotingRule,
)
from .arguments import ATTRIBUTES
from .bagging import BaggedTrees
from .classifier import ProbabilisticClassifier
from .default_scores import accuracy
from .parameters import FOREST_PARAMETERS


@described(FOREST_PARAMETERS, ATTRIBUTES)
class ProbabilisticRandomForestClassifier(BaggedTrees, ProbabilisticClassifier):
    """A random forest whose features are probability distributions and whose labels are probability mass functions.

    The method of Reis, Baron & Shahaf (2019). With exact values and hard labels it is an ordinary
    random forest, up to the binning of thresholds (`max_bins`).

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    trees_ : list of FittedTree
        The trees as flat arrays.
    fallback_trees_ : list of FittedTree
        With `error_features`, as many trees that look at the values alone; otherwise empty.
    draws_ : list of Draw
        The bootstrap of each tree: `draws_[i].counts()` says how often tree i drew each object with a weight above 0.
    {attributes}
    oob_score_ : float
        Out-of-bag score, with `oob_score`.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Out-of-bag probabilities, with `oob_score`; NaN for an object that every tree drew.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from probforest import ProbabilisticRandomForestClassifier
    >>> table, y = load_breast_cancer(return_X_y=True)
    >>> X, X_err = table[:, :10], table[:, 10:20]  # ten means and their standard errors
    >>> X, X_test, X_err, X_err_test, y, y_test = train_test_split(X, X_err, y, random_state=0)
    >>> forest = ProbabilisticRandomForestClassifier(random_state=0).fit(X, y, X_err=X_err)
    >>> round(float(forest.score(X_test, y_test, X_err=X_err_test)), 2) > 0.9
    True
    """

    _parameters = FOREST_PARAMETERS
    oob_score_: float
    oob_decision_function_: np.ndarray

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: MaxFeatures = "auto",
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        max_samples: int | float | None = None,
        oob_score: bool | Callable[..., float] = False,
        class_weight: dict[Any, Any] | Literal["balanced", "balanced_subsample"] | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        keep_proba: float = 0.05,
        voting: VotingRule = "soft",
        missing: MissingRule = "auto",
        unknown_error: UnknownErrorRule = "median",
        label_information: bool = True,
        max_bins: int = 255,
        distribution: Distribution = "normal",
        prior: PriorKind | None = "auto",
        error_columns: ErrorColumns | None = None,
        sentinels: Mapping[Any, Any] | None = None,
        error_features: bool = False,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.keep_proba = keep_proba
        self.voting = voting
        self.missing = missing
        self.unknown_error = unknown_error
        self.label_information = label_information
        self.max_bins = max_bins
        self.distribution = distribution
        self.prior = prior
        self.error_columns = error_columns
        self.sentinels = sentinels
        self.error_features = error_features

    @property
    def _class_weight_per_tree(self) -> bool:
        return isinstance(self.class_weight, str) and self.class_weight == "balanced_subsample"

    def _keep_out_of_bag(
        self, total: np.ndarray, n_answers: np.ndarray, counted: np.ndarray, truth: LabelTable
    ) -> None:
        with np.errstate(invalid="ignore"):  # 0 / 0 where every tree drew the object
            self.oob_decision_function_ = self._truth_of(total / total.sum(axis=1)[:, None])
        metric = self.oob_score if callable(self.oob_score) else accuracy
        labels = self.classes_[truth.class_index[counted]]
        decisive = total if self.label_truth_ is None else self.oob_decision_function_
        answers = self.classes_[decisive[counted].argmax(axis=1)]
        self.oob_score_ = metric(labels, answers) if counted.any() else np.nan
