"""The probabilistic random forest for numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.metrics import r2_score

from ..inputs.targets import NumberTable
from ..support.docstrings import described
from ..trees.calibration import learn_calibration
from ..trees.training_set import TrainingSet
from .argument_types import (
    Distribution,
    ErrorColumns,
    ErrorScale,
    MaxFeatures,
    MissingRule,
    PriorKind,
    UnknownErrorRule,
)
from .arguments import NUMBER_ATTRIBUTES
from .bagging import BaggedTrees
from .parameters import FOREST_REGRESSOR_PARAMETERS
from .regressor import ProbabilisticRegressor


@described(FOREST_REGRESSOR_PARAMETERS, NUMBER_ATTRIBUTES)
class ProbabilisticRandomForestRegressor(BaggedTrees, ProbabilisticRegressor):
    """A random forest for numbers whose features are probability distributions, and which answers with distributions.

    With exact values it is an ordinary random forest, up to the binning of thresholds (`max_bins`), and its
    distributions are those of quantile regression forests (Meinshausen 2006).

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    trees_ : list of FittedTree
        The trees as flat arrays, with the training targets in their leaves.
    fallback_trees_ : list of FittedTree
        With `error_features`, as many trees that look at the values alone.
    draws_ : list of Draw
        What each tree drew.
    {attributes}
    calibration_ : ndarray or None
        With `calibrate`, the distribution of F(y) of out-of-bag targets y, at 129 levels from 0 to 1.
    oob_score_ : float
        Out-of-bag R², or what the callable `oob_score` returned, with `oob_score`.
    oob_prediction_ : ndarray of shape (n_samples,)
        Out-of-bag predictions, with `oob_score`; NaN for an object that every tree drew.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from probforest import ProbabilisticRandomForestRegressor
    >>> X, y = make_friedman1(400, random_state=0)
    >>> forest = ProbabilisticRandomForestRegressor(random_state=0).fit(X[:300], y[:300])
    >>> round(float(forest.score(X[300:], y[300:])), 2) > 0.8
    True
    >>> forest.predict_quantiles(X[300:], [0.16, 0.84]).shape
    (100, 2)
    """

    _parameters = FOREST_REGRESSOR_PARAMETERS
    oob_score_: float
    oob_prediction_: np.ndarray

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: MaxFeatures = "auto",
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        max_samples: int | float | None = None,
        oob_score: bool | Callable[..., float] = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        keep_proba: float = 0.05,
        missing: MissingRule = "auto",
        unknown_error: UnknownErrorRule = "median",
        max_bins: int = 255,
        distribution: Distribution = "normal",
        prior: PriorKind | None = "auto",
        error_scale: ErrorScale = "auto",
        error_columns: ErrorColumns | None = None,
        sentinels: Mapping[Any, Any] | None = None,
        error_features: bool = False,
        calibrate: bool = False,
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
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.keep_proba = keep_proba
        self.missing = missing
        self.unknown_error = unknown_error
        self.max_bins = max_bins
        self.distribution = distribution
        self.prior = prior
        self.error_scale = error_scale
        self.error_columns = error_columns
        self.sentinels = sentinels
        self.error_features = error_features
        self.calibrate = calibrate

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.calibrate and not self.bootstrap:
            raise ValueError("calibrate needs bootstrap=True: without it every tree uses every object.")

    def _learn_from_trees(self, training: TrainingSet) -> None:
        self.calibration_ = None
        if self.calibrate:
            numbers = training.labels
            assert isinstance(numbers, NumberTable)
            judges = self._judges(self.trees_, training)
            self.calibration_ = learn_calibration(
                judges, training.cells, numbers.y, training.weight, float(self.keep_proba), self.n_jobs
            )

    def _keep_out_of_bag(
        self, total: np.ndarray, n_answers: np.ndarray, counted: np.ndarray, truth: NumberTable
    ) -> None:
        with np.errstate(invalid="ignore"):  # 0 / 0 where every tree drew the object
            self.oob_prediction_ = total[:, 0] / n_answers
        metric = self.oob_score if callable(self.oob_score) else r2_score
        self.oob_score_ = metric(truth.y[counted], self.oob_prediction_[counted]) if counted.any() else np.nan
