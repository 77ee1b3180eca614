"""Gradient boosting of numbers with probabilistic trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ..explain.contributions import Contributions
from ..features.feature_model import FittedFeatures
from ..inputs.tables import TableContent
from ..inputs.targets import NumberTable
from ..kernels.layout import Cells
from ..support.docstrings import Description, described
from ..trees.boosting import ScoreOfRows
from ..trees.boosting_trial import rows_of_trial
from ..trees.contributions import close_the_sum, mean_contributions
from ..trees.error_trial import Judgement
from ..trees.fitted_tree import FittedTree
from ..trees.loss_trial import LEVEL, LossTrial, delta_of, try_huber
from ..trees.number_losses import LOG_LOSSES, NumberLoss, check_targets, number_loss, predicted_numbers
from ..trees.training_rows import take_rows
from ..trees.training_set import TrainingSet, make_training_set
from .argument_types import (
    Distribution,
    ErrorColumns,
    ErrorScale,
    MaxFeatures,
    MissingRule,
    NumberLossName,
    PriorKind,
    Uncertainty,
    UnknownErrorRule,
)
from .arguments import NUMBER_ATTRIBUTES, VALUES
from .boosted_trees import BoostedTrees
from .boosting_parameters import BOOSTING_REGRESSOR_PARAMETERS
from .error_use import FEWEST_FOR_TRIAL
from .held_out import number_scorer
from .regressor import ProbabilisticRegressor

_ATTRIBUTES = NUMBER_ATTRIBUTES | {
    "error_trial_": Description(
        "ErrorTrial or None",
        'If "auto" chose between ways to use errors: the cross-validated losses of small models (`crps`) by the prior '
        'they used, "none" for no prior, "part" for a quarter of the errors and "exact" for none; the `choice`, and '
        "`n_objects`.",
    ),
    "loss_": Description("str", 'The loss that was used: `loss`, or what "auto" chose.'),
    "delta_": Description(
        "float or None", "With the Huber loss: residuals up to this size count as squares; None otherwise."
    ),
    "loss_trial_": Description(
        "LossTrial or None",
        'If loss="auto" chose: the variance of a Huber estimate of the mean residual of small models, relative to that '
        "of the mean (`relative_variance`); the difference of both (`shift`) and its standard error (`shift_error`); "
        "cross-validated mean squared errors of small models with either loss (`squared_error`, `huber`, None if it "
        "was not worth trying) and the standard `error` of their difference; the `choice`, and `n_objects`.",
    ),
}
# What small models learn before the loss, or its δ, is known.
_AT_FIRST = {"auto": "squared_error", "huber": "absolute_error"}


class _NotOffered:
    """A method that other regressors have, and this one has not."""

    def __init__(self, why: str) -> None:
        self._why = why

    def __get__(self, model: Any, kind: Any = None) -> Any:
        raise AttributeError(self._why)


@described(BOOSTING_REGRESSOR_PARAMETERS, _ATTRIBUTES)
class ProbabilisticGradientBoostingRegressor(BoostedTrees, ProbabilisticRegressor):
    """Gradient boosting of numbers with trees whose features are probability distributions.

    In every iteration, a tree is grown on the gradients and hessians of the loss. Objects go both ways at a split, as
    in the forest; what they learn is the mean of the leaves they reach. With exact values it is ordinary gradient
    boosting, as in scikit-learn's `HistGradientBoostingRegressor`.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    trees_ : list of FittedTree
        The trees as flat arrays, iteration by iteration.
    fallback_trees_ : list of FittedTree
        With `error_features`, trees that look at the values alone; otherwise empty.
    baseline_ : ndarray of shape (1,)
        Raw score before the first iteration: the best constant, or its logarithm.
    n_iter_ : int
        Number of iterations.
    n_trees_per_iteration_ : int
        1.
    train_score_ : ndarray of shape (n_iter + 1,)
        Negative loss of the training set before the first iteration and after each; with early stopping, what `scoring`
        asks for.
    validation_score_ : ndarray of shape (n_iter + 1,)
        The same for the objects that were held out; empty if there are none.
    seed_ : int
        Seed of the objects that are held out and of all draws, which `warm_start` goes on with.
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from probforest import ProbabilisticGradientBoostingRegressor
    >>> X, y = make_friedman1(800, random_state=0)
    >>> model = ProbabilisticGradientBoostingRegressor(random_state=0).fit(X[:600], y[:600], X_err=0.02)
    >>> round(float(model.score(X[600:], y[600:], X_err=0.02)), 2) > 0.85
    True

    Where targets have outliers on both sides, the default takes the Huber loss:

    >>> import numpy as np
    >>> outliers = np.random.default_rng(0).standard_t(1.5, 800)
    >>> robust = ProbabilisticGradientBoostingRegressor(random_state=0).fit(X[:600], (y + outliers)[:600])
    >>> robust.loss_
    'huber'
    >>> robust.score(X[600:], y[600:]) > 0.8
    True

    With `loss="quantile"`, two models make an interval:

    >>> low, high = (
    ...     ProbabilisticGradientBoostingRegressor(loss="quantile", quantile=q, random_state=0).fit(X[:600], y[:600])
    ...     for q in (0.16, 0.84)
    ... )
    >>> inside = (low.predict(X[600:]) <= y[600:]) & (y[600:] <= high.predict(X[600:]))
    >>> bool(0.4 < inside.mean() < 0.8)
    True
    """

    # Attributes, set by fit.
    loss_: str
    delta_: float | None
    loss_trial_: LossTrial | None

    _parameters = BOOSTING_REGRESSOR_PARAMETERS
    _no_distribution = (
        "Boosting predicts a number, not a distribution. Take ProbabilisticRandomForestRegressor, or one model with "
        'loss="quantile" for each quantile.'
    )
    predict_distribution = _NotOffered(_no_distribution)
    predict_quantiles = _NotOffered(_no_distribution)
    conformalize = _NotOffered(_no_distribution)

    def __init__(
        self,
        loss: NumberLossName = "auto",
        *,
        quantile: float | None = None,
        learning_rate: float = 0.1,
        max_iter: int = 100,
        max_leaf_nodes: int = 31,
        max_depth: int | None = None,
        min_samples_leaf: int | float = 20,
        l2_regularization: float = 0.0,
        max_features: MaxFeatures = 1.0,
        max_bins: int = 255,
        monotonic_cst: ArrayLike | Mapping[str, int] | None = None,
        warm_start: bool = False,
        early_stopping: bool | Literal["auto"] = "auto",
        scoring: str | Callable[..., float] | None = "loss",
        validation_fraction: float | None = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        keep_proba: float = 0.1,
        missing: MissingRule = "auto",
        unknown_error: UnknownErrorRule = "median",
        distribution: Distribution = "normal",
        prior: PriorKind | None = "auto",
        error_scale: ErrorScale = "auto",
        error_columns: ErrorColumns | None = None,
        sentinels: Mapping[Any, Any] | None = None,
        error_features: bool = False,
    ) -> None:
        self.loss, self.quantile = loss, quantile
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.max_bins = max_bins
        self.monotonic_cst = monotonic_cst
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change, self.tol = n_iter_no_change, tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.keep_proba = keep_proba
        self.missing = missing
        self.unknown_error = unknown_error
        self.distribution = distribution
        self.prior = prior
        self.error_scale = error_scale
        self.error_columns = error_columns
        self.sentinels = sentinels
        self.error_features = error_features

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.loss != "huber" and (self.loss == "quantile") != (self.quantile is not None):
            raise ValueError(
                f'quantile is {self.quantile!r} and loss is {self.loss!r}: loss="quantile" needs a quantile between 0 '
                'and 1, loss="huber" may have one, and no other loss takes one.'
            )

    def _choose(
        self, table: TableContent, numbers: NumberTable, weight: np.ndarray, errors: np.ndarray | None
    ) -> np.ndarray:
        check_targets(self.loss, numbers.y, weight)
        if errors is not None and self.loss in LOG_LOSSES:
            raise ValueError(
                f"y_err is not used with loss={self.loss!r}, which knows how targets scatter. Leave it out."
            )
        if not self._adds_trees:
            self.loss_, self.delta_, self.loss_trial_ = _AT_FIRST.get(self.loss, self.loss), None, None
        elif self.loss not in ("auto", self.loss_):
            raise ValueError(f"warm_start=True needs the loss of before, {self.loss_!r}; got {self.loss!r}.")
        elif self.loss_ == "quantile" and self.quantile != (before := getattr(self, "_quantile_at_fit", self.quantile)):
            raise ValueError(f"warm_start=True needs the quantile of before, {before}; got {self.quantile}.")
        self._quantile_at_fit = self.quantile
        return super()._choose(table, numbers, weight, errors)

    def _read_training_set(self, *given: Any) -> tuple[TrainingSet, Cells, NumberTable]:
        training, cells, numbers = super()._read_training_set(*given)
        if not self._adds_trees:
            self._choose_loss(training)
        return training, cells, numbers

    def _choose_loss(self, training: TrainingSet) -> None:
        """Set the loss, and its δ, if they have to be found out."""
        is_small = training.n_objects < FEWEST_FOR_TRIAL
        if self.loss not in _AT_FIRST or (self.loss == "auto" and is_small):
            return
        sample = take_rows(training, rows_of_trial(training.weight))
        assert isinstance(sample.labels, NumberTable)
        y = sample.labels.y

        def predictions(kind: str, delta: float, seed: int = 1) -> np.ndarray:
            def new_loss(training: TrainingSet, weight: np.ndarray) -> NumberLoss:
                return self._loss_of_kind(kind, delta, training, weight)

            if is_small:  # all that is known is how they scatter around the best constant
                loss = new_loss(sample, sample.weight)
                return np.repeat(loss.center + loss.unit * loss.baseline, len(y))
            return self._judge_small_models(sample, new_loss, seed=seed).raw[0]

        if self.loss == "auto":
            self.loss_trial_, delta = try_huber(y, sample.weight, predictions)
            self.loss_ = self.loss_trial_.choice
        else:
            self.loss_, level = "huber", LEVEL if self.quantile is None else float(self.quantile)
            delta = delta_of(y - predictions("absolute_error", np.inf), sample.weight, level)
        self.delta_ = delta if self.loss_ == "huber" else None

    def _new_loss(self, training: TrainingSet, weight: np.ndarray) -> NumberLoss:
        return self._loss_of_kind(self.loss_, np.inf if self.delta_ is None else self.delta_, training, weight)

    def _loss_of_kind(self, kind: str, delta: float, training: TrainingSet, weight: np.ndarray) -> NumberLoss:
        assert isinstance(training.labels, NumberTable)
        level = LEVEL if self.quantile is None else float(self.quantile)
        return number_loss(kind, training.labels, weight, level, delta)

    def _is_doubtful(self, target: NumberTable) -> bool:
        return False

    def _classes_to_hold_out(self, training: TrainingSet) -> None:
        return None

    def _scorer(self, training: TrainingSet, weight: np.ndarray | None) -> ScoreOfRows:
        assert isinstance(training.labels, NumberTable)
        return number_scorer(self.scoring, training.labels.y, lambda raw: predicted_numbers(self.loss_, raw), weight)

    def _rows_of_trial(self, weight: np.ndarray) -> np.ndarray:
        return rows_of_trial(weight)

    def _judge(self, features: FittedFeatures, numbers: NumberTable, weight: np.ndarray) -> Judgement:
        sample = make_training_set(features, numbers.scaled_by(weight), weight)
        self._choose_missing_rules(sample)
        judged = self._judge_small_models(sample)
        return Judgement(np.ones(len(weight), dtype=bool), predicted_numbers(self.loss_, judged.raw), judged.loss)

    @described(VALUES)
    def predict(  # type: ignore[override]
        self,
        X: ArrayLike,
        *,
        X_err: Uncertainty = None,
        X_limit: ArrayLike | None = None,
        X_samples: ArrayLike | None = None,
    ) -> np.ndarray:
        """Predict the target: its mean, median or quantile, as the loss has it.

        Parameters
        ----------
        {parameters}

        Returns
        -------
        ndarray of shape (n_samples,)
            The numbers.
        """
        query, trees = self._query_and_trees(X, X_err, X_limit, X_samples)
        return predicted_numbers(self.loss_, self._raw_scores(trees, query))

    def _explained_answers(self, trees: list[FittedTree], query: Cells) -> np.ndarray:
        return predicted_numbers(self.loss_, self._raw_scores(trees, query))[:, None]

    @described(VALUES)
    def staged_predict(
        self,
        X: ArrayLike,
        *,
        X_err: Uncertainty = None,
        X_limit: ArrayLike | None = None,
        X_samples: ArrayLike | None = None,
    ) -> Iterator[np.ndarray]:
        """Predict the target after each iteration.

        Parameters
        ----------
        {parameters}

        Yields
        ------
        ndarray of shape (n_samples,)
            As `predict` would have returned it.
        """
        for raw in self._staged_raw_scores((X, X_err, X_limit, X_samples)):
            yield predicted_numbers(self.loss_, raw)

    @described(VALUES)
    def contributions(
        self,
        X: ArrayLike,
        *,
        X_err: Uncertainty = None,
        X_limit: ArrayLike | None = None,
        X_samples: ArrayLike | None = None,
    ) -> Contributions:
        """Compute what each feature adds to the prediction, or to its logarithm with loss="poisson" or "gamma".

        Parameters
        ----------
        {parameters}

        Returns
        -------
        Contributions
            Its `base`, the prediction before anything is known, plus the sum of its `values` over the features are the
            `answers`. `text(row)` and `plot(row)` show one object.
        """
        query, trees = self._query_and_trees(X, X_err, X_limit, X_samples)
        root, added = mean_contributions(trees, query, float(self.keep_proba), self.n_jobs)
        base, values = self.baseline_ + len(trees) * root, len(trees) * added
        answers = np.ascontiguousarray(self._raw_scores(trees, query).T)
        close_the_sum(values, answers - base)
        names = self.feature_model_.names[: query.values.shape[1]]
        target, quantity = ("logarithm of the target", "score") if self.loss_ in LOG_LOSSES else ("the target", "mean")
        return Contributions(base, values, answers, names, np.array([target]), quantity)
