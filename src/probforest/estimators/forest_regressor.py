"""The probabilistic random forest for numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from ..features.added_noise import with_noise_added
from ..features.measurements import Measurements
from ..features.usual_errors import UsualErrors, learn_usual_errors
from ..features.usual_scatter import UsualScatter, learn_usual_scatter
from ..inputs.targets import NumberTable
from ..kernels.layout import Cells
from ..support.docstrings import described
from ..trees.bootstrap import Draw, SampleDraw
from ..trees.calibration import LITTLE_NOISE, NOISES, calibration_at, learn_calibration, recalibrated
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
    SlopeRule,
    Uncertainty,
    UnknownErrorRule,
)
from .arguments import NUMBER_ATTRIBUTES, VALUES
from .bagging import BaggedTrees
from .default_scores import r_squared
from .parameters import FOREST_REGRESSOR_PARAMETERS
from .regressor import ProbabilisticRegressor

NOISIER = 1.03  # factor of errors from which a forest that spreads objects over all of their errors answers


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
    slopes_ : bool
        Whether leaves have slopes: `slopes`, or what "auto" chose.
    slope_scales_ : Scales or None
        With slopes, where the values of each feature lie in the training set.
    noisy_forest_ : ProbabilisticRandomForestRegressor or None
        If "auto" chose an `error_scale_` below 1: a forest with error_scale=1 and half of the trees, which answers for
        tables whose errors are larger than those of training objects with the same values (`noise_factor`).
    usual_errors_ : UsualErrors or None
        How large errors are at each value, if a `noisy_forest_` or `calibrate` needs it.
    usual_scatter_ : UsualScatter or None
        How far values lie from what the other features of their object say, if this tells how noisy a table is.
    calibration_ : ndarray or None
        With `calibrate`, the distribution of F(y) of out-of-bag targets y, at 129 levels from 0 to 1: for tables like
        the training set, with noise of half of the errors added, and, unless there is a `noisy_forest_`, with noise of
        1 and 2 times the errors.
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
    noisy_forest_: ProbabilisticRandomForestRegressor | None = None
    usual_errors_: UsualErrors | None = None
    usual_scatter_: UsualScatter | None = None

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
        slopes: SlopeRule = "auto",
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
        self.slopes = slopes

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.calibrate and not self.bootstrap:
            raise ValueError("calibrate needs bootstrap=True: without it every tree uses every object.")
        if self._wants_slopes and self.error_features:
            raise ValueError("slopes=True needs error_features=False: slopes are those of values.")

    def _fit(self, given: tuple, *target: Any) -> None:
        earlier = self.noisy_forest_ if self._adds_trees else None
        super()._fit(given, *target)
        training: TrainingSet = self.__dict__.pop("_training")
        takes_errors_less_seriously = self.error_scale == "auto" and self.error_scale_ < 1 and not self.error_features
        needs_another = self.fitted_with_errors_ and takes_errors_less_seriously
        self.noisy_forest_ = self._fit_for_noise(earlier, given, *target) if needs_another else None
        self._learn_about_noise(training, given)

    def _finish_in_pieces(self, given: tuple) -> None:
        self.noisy_forest_ = None  # it would have to be grown on all pieces as well
        self._learn_about_noise(self.__dict__.pop("_training"), given)

    def _learn_about_noise(self, training: TrainingSet, given: tuple) -> None:
        """Learn what errors are usual, and how distributions should be corrected, if either is needed."""
        self.usual_errors_, self.usual_scatter_, self.calibration_, self.conformal_ = None, None, None, None
        if self.noisy_forest_ is None and not self.calibrate:
            return
        measurements = self.feature_model_.read(self._read_table(given, self.feature_model_.layout))
        weight = np.zeros(len(training.kept))
        weight[training.kept] = training.weight
        shares = self.feature_importances_[: self.feature_model_.n_values]
        if not measurements.is_exact:
            self.usual_errors_ = learn_usual_errors(measurements, weight, shares)
            self.usual_scatter_ = learn_usual_scatter(measurements, weight, shares)
        if self.calibrate:
            self._calibrate(training, measurements)

    def _learn_from_trees(self, training: TrainingSet) -> None:
        self._training = training  # until the end of the fit

    def _fit_for_noise(
        self,
        forest: ProbabilisticRandomForestRegressor | None,
        given: tuple,
        y: Any,
        y_err: Any,
        sample_weight: Any,
        unlabelled: tuple,
    ) -> ProbabilisticRandomForestRegressor:
        """A forest that spreads objects over all of their errors, for tables with larger errors than the training set,
        which this one does not take seriously enough. `forest`: the earlier one, to which trees are added."""
        forest = clone(self) if forest is None else forest
        prior = "empirical" if self.prior == "auto" else self.prior
        n_trees = -(-self.n_estimators // 2)  # distributions that are wide need fewer of them
        others = {"n_estimators": n_trees, "error_scale": 1.0, "prior": prior, "oob_score": False, "verbose": 0}
        others["slopes"] = False
        forest.set_params(**self.get_params(deep=False) | others)
        X, X_err, X_limit, X_samples = given
        values = {"X_err": X_err, "X_limit": X_limit, "X_samples": X_samples}
        with catch_warnings():
            simplefilter("ignore")  # the same have been given before
            others = {"X_unlabelled": unlabelled[0], "X_err_unlabelled": unlabelled[1]}
            return forest.fit(X, y, **values, y_err=y_err, sample_weight=sample_weight, **others)

    def _calibrate(self, training: TrainingSet, measurements: Measurements) -> None:
        """Learn from objects that trees did not draw how distributions should be corrected, and how wide conformal
        intervals must be; the former also with noise added, with little if another forest answers for more."""
        numbers, rows = training.labels, sample_of(training.n_objects)
        assert isinstance(numbers, NumberTable)
        y, weight, judges = numbers.y[rows], training.weight[rows], self._judges(self.trees_, training)
        as_it_is = training.cells._replace(values=training.cells.values[rows])
        how = float(self.keep_proba), self.n_jobs, self.slope_scales_

        def left_out(query: Cells) -> Iterator[tuple[np.ndarray, WeightedTargets]]:
            return distributions_of_left_out(judges, query, rows, *how)

        found = [learn_calibration(left_out(as_it_is), y, weight)]
        if not measurements.is_exact:
            sample, random = measurements.rows(np.flatnonzero(training.kept)[rows]), np.random.default_rng(0)
            for noise in NOISES[1:] if self.noisy_forest_ is None else LITTLE_NOISE:
                noisy = with_noise_added(sample, noise, random)
                query = self.feature_model_.apply(noisy, unknown_error=self.unknown_error, n_jobs=self.n_jobs)
                found.append(learn_calibration(left_out(query), y, weight))
        known = [each for each in found if each is not None]
        self.calibration_ = np.array(known) if len(known) == len(found) else None
        usual = calibration_at(self.calibration_, 1.0)
        self.conformal_ = learn_margins(((at, recalibrated(piece, usual)) for at, piece in left_out(as_it_is)), y)

    def _answering(self, X: Any, X_err: Any, X_limit: Any, X_samples: Any) -> tuple[ProbabilisticRegressor, float]:
        check_is_fitted(self)
        if self.usual_errors_ is None:
            return self, 1.0
        factor = self.noise_factor(X, X_err=X_err, X_limit=X_limit, X_samples=X_samples)
        if self.noisy_forest_ is not None and factor > NOISIER:
            return self.noisy_forest_._answering(X, X_err, X_limit, X_samples)
        return self, factor

    @described(VALUES)
    def noise_factor(
        self,
        X: ArrayLike,
        *,
        X_err: Uncertainty = None,
        X_limit: ArrayLike | None = None,
        X_samples: ArrayLike | None = None,
    ) -> float:
        """Compute by which factor a table is noisier than the training set.

        This is the factor by which its errors are larger than those of training objects with the same values. If its
        values scatter more than those of training objects with such errors, as errors that are larger than the noise do
        not tell how much noise was added, it is √(1 + k²), where noise of k times the errors makes those of the
        training set scatter alike.

        If the model took errors less seriously than they are (`error_scale_` below 1, chosen by "auto"), and this
        factor is above 1.03, `noisy_forest_` answers. It also decides how `calibrate` corrects distributions.

        Parameters
        ----------
        {parameters}

        Returns
        -------
        float
            The typical factor, at least 1; exactly 1 if chance explains it, or if the model does not need it: it was
            fitted without errors, or neither with `calibrate` nor with a `noisy_forest_`.
        """
        check_is_fitted(self)
        if self.usual_errors_ is None:
            return 1.0
        table = self._read_table((X, X_err, X_limit, X_samples), self.feature_model_.layout)
        measurements = self.feature_model_.read(table)
        by_values = 1.0 if self.usual_scatter_ is None else self.usual_scatter_.factor(measurements)
        return max(self.usual_errors_.factor(measurements), by_values)

    def _out_of_bag_answers(
        self, judges: list[tuple[FittedTree, Draw | SampleDraw]], training: TrainingSet, query: Cells
    ) -> tuple[np.ndarray, np.ndarray]:
        if self.prediction == "mean":
            return super()._out_of_bag_answers(judges, training, query)
        answer, is_judged = np.zeros((len(training.kept), 1)), np.zeros(len(training.kept), dtype=np.int64)
        rows = np.full(len(training.kept), -1)
        rows[training.kept] = np.arange(training.n_objects)
        how = float(self.keep_proba), self.n_jobs, self.slope_scales_
        for judged, piece in distributions_of_left_out(judges, query, rows, *how):
            answer[judged, 0], is_judged[judged] = piece.point(self.prediction), 1
        return answer, is_judged

    def _keep_out_of_bag(
        self, total: np.ndarray, n_answers: np.ndarray, counted: np.ndarray, truth: NumberTable
    ) -> None:
        with np.errstate(invalid="ignore"):  # 0 / 0 where every tree drew the object
            self.oob_prediction_ = total[:, 0] / n_answers
        metric = self.oob_score if callable(self.oob_score) else r_squared
        self.oob_score_ = metric(truth.y[counted], self.oob_prediction_[counted]) if counted.any() else np.nan
