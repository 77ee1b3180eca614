"""The probabilistic random forest for numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from sklearn.metrics import r2_score

from ..inputs.targets import NumberTable
from ..kernels.layout import Cells
from ..support.docstrings import described
from ..trees.bootstrap import Draw
from ..trees.calibration import learn_calibration, recalibrated
from ..trees.conformal import learn_margins
from ..trees.fitted_tree import FittedTree
from ..trees.left_out import distributions_of_left_out, sample_of
from ..trees.training_set import TrainingSet
from ..trees.weighted_targets import WeightedTargets
from .argument_types import (
    Distribution,
    ErrorColumns,
    ErrorScale,
    MaxFeatures,
    MissingRule,
    PredictionKind,
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
    conformal_ : Margins or None
        With `calibrate`, or after `conformalize`: what conformal intervals are widened by.
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
        prediction: PredictionKind = "mean",
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
        self.prediction = prediction
        self.calibrate = calibrate

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.calibrate and not self.bootstrap:
            raise ValueError("calibrate needs bootstrap=True: without it every tree uses every object.")

    def _learn_from_trees(self, training: TrainingSet) -> None:
        self.calibration_, self.conformal_ = None, None
        if not self.calibrate:
            return
        numbers = training.labels
        assert isinstance(numbers, NumberTable)
        rows, judges = sample_of(training.n_objects), self._judges(self.trees_, training)

        def left_out() -> Iterator[tuple[np.ndarray, WeightedTargets]]:  # twice: all of it at once may be large
            return distributions_of_left_out(judges, training.cells, rows, float(self.keep_proba), self.n_jobs)

        self.calibration_ = learn_calibration(left_out(), numbers.y, training.weight)
        calibrated = ((each, recalibrated(piece, self.calibration_)) for each, piece in left_out())
        self.conformal_ = learn_margins(calibrated, numbers.y)

    def _out_of_bag_answers(
        self, judges: list[tuple[FittedTree, Draw]], training: TrainingSet, query: Cells
    ) -> tuple[np.ndarray, np.ndarray]:
        if self.prediction == "mean":
            return super()._out_of_bag_answers(judges, training, query)
        answer, is_judged = np.zeros((len(training.kept), 1)), np.zeros(len(training.kept), dtype=np.int64)
        rows, keep_proba = np.arange(len(training.kept)), float(self.keep_proba)
        for judged, piece in distributions_of_left_out(judges, query, rows, keep_proba, self.n_jobs, training.kept):
            answer[judged, 0], is_judged[judged] = piece.point(self.prediction), 1
        return answer, is_judged

    def _keep_out_of_bag(
        self, total: np.ndarray, n_answers: np.ndarray, counted: np.ndarray, truth: NumberTable
    ) -> None:
        with np.errstate(invalid="ignore"):  # 0 / 0 where every tree drew the object
            self.oob_prediction_ = total[:, 0] / n_answers
        metric = self.oob_score if callable(self.oob_score) else r2_score
        self.oob_score_ = metric(truth.y[counted], self.oob_prediction_[counted]) if counted.any() else np.nan
