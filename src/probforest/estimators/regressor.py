"""Models that predict numbers: reading what users give, and answering with a number or with a distribution."""

from __future__ import annotations

from math import ceil
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin

from ..explain.contributions import Contributions
from ..inputs.targets import NumberTable, in_unit_of_targets, read_numbers, read_target_errors
from ..inputs.weights import check_total, read_sample_weight
from ..kernels.layout import NUMBER_CRITERIA, Cells
from ..support.docstrings import described
from ..trees.calibration import calibration_at
from ..trees.conformal import Margins, learn_margins
from ..trees.contributions import close_the_sum, mean_contributions
from ..trees.fitted_tree import FittedTree, sum_of_answers
from ..trees.leaf_slopes import find_leaf_slopes
from ..trees.leaf_targets import find_leaf_targets, find_members, in_units
from ..trees.leaves import slopes_by_feature
from ..trees.predicted_distribution import PredictedDistribution
from ..trees.training_set import TrainingSet, make_training_set
from .argument_types import TargetErrors, Uncertainty
from .arguments import HELD_OUT, NUMBER_SCORED, NUMBER_TARGETS, QUANTILES, RETURN_STD, SHARED, UNLABELLED, VALUES
from .default_scores import r_squared
from .error_use import ErrorUse

FEATURES_OF_A_NODE = 1 / 2  # share of the features that max_features="auto" looks at


class ProbabilisticRegressor(RegressorMixin, ErrorUse):
    """Base of the models that predict numbers. Not for use on its own.

    It reads the training set, grows a tree on numbers, and answers. A subclass says how the trees come into being
    (`_fit`), and which trees these are (`_grown_trees`, `_fallback_trees`).
    """

    _criteria: ClassVar = NUMBER_CRITERIA
    _judged_by = "out-of-bag CRPS"
    prediction: str

    # Attributes, set by fit.
    calibration_: np.ndarray | None = None  # of a forest with `calibrate`
    conformal_: Margins | None = None  # of a forest with `calibrate`, or after `conformalize`

    @described(VALUES | NUMBER_TARGETS | UNLABELLED | SHARED)
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        X_err: Uncertainty = None,
        X_limit: ArrayLike | None = None,
        X_samples: ArrayLike | None = None,
        y_err: TargetErrors = None,
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
            self._fit((X, X_err, X_limit, X_samples), y, y_err, sample_weight, unlabelled)
        return self

    @described(VALUES | RETURN_STD)
    def predict(
        self,
        X: ArrayLike,
        *,
        X_err: Uncertainty = None,
        X_limit: ArrayLike | None = None,
        X_samples: ArrayLike | None = None,
        return_std: bool = False,
    ) -> Any:
        """Predict the target: its expectation, or what the parameter `prediction` says.

        For the expectation, a tree answers with the means of its leaves, weighted by the probability to reach them; a
        forest averages the answers of its trees.

        Parameters
        ----------
        {parameters}

        Returns
        -------
        ndarray of shape (n_samples,), or two of them
            The numbers; with `return_std`, also the standard deviations of `predict_distribution`.
        """
        model, factor = self._answering(X, X_err, X_limit, X_samples)
        query, trees = model._query_and_trees(X, X_err, X_limit, X_samples)
        if self.prediction == "mean":  # means of leaves are quicker than distributions
            answer = model._sum_of_answers(trees, query, self.n_jobs)[:, 0] / len(trees)
        else:
            answer = model._distribution(trees, query, factor).point(self.prediction)
        return (answer, model._distribution(trees, query, factor).std) if return_std else answer

    @described(VALUES)
    def predict_distribution(
        self,
        X: ArrayLike,
        *,
        X_err: Uncertainty = None,
        X_limit: ArrayLike | None = None,
        X_samples: ArrayLike | None = None,
    ) -> PredictedDistribution:
        """Predict the distribution of the target of every object.

        Parameters
        ----------
        {parameters}

        Returns
        -------
        PredictedDistribution
            With `mean`, `std`, `median`, `mode`, `quantile(q)`, `interval(p)`, `cdf(y)`, `pdf(y)`, `sample(n)`,
            `weights` and more, which are computed when they are asked for.
        """
        model, factor = self._answering(X, X_err, X_limit, X_samples)
        query, trees = model._query_and_trees(X, X_err, X_limit, X_samples)
        return model._distribution(trees, query, factor)

    @described(VALUES)
    def contributions(
        self,
        X: ArrayLike,
        *,
        X_err: Uncertainty = None,
        X_limit: ArrayLike | None = None,
        X_samples: ArrayLike | None = None,
    ) -> Contributions:
        """Compute what each feature adds to the expected target.

        Parameters
        ----------
        {parameters}

        Returns
        -------
        Contributions
            Its `base`, the mean target, plus the sum of its `values` over the features are the `answers`, those of
            `predict`. `text(row)` and `plot(row)` show one object.
        """
        model, _ = self._answering(X, X_err, X_limit, X_samples)
        query, trees = model._query_and_trees(X, X_err, X_limit, X_samples)
        base, values = mean_contributions(trees, query, float(self.keep_proba), self.n_jobs)
        if model.slope_scales_ is not None:
            values[:, :, 0] += model._by_slopes(trees, query, self.n_jobs)
        answers = model._sum_of_answers(trees, query, self.n_jobs) / len(trees)
        close_the_sum(values, answers - base)
        names = self.feature_model_.names[: query.values.shape[1]]
        return Contributions(base, values, answers, names, np.array(["the target"]), "mean")

    @described(VALUES | QUANTILES)
    def predict_quantiles(
        self,
        X: ArrayLike,
        quantiles: ArrayLike = (0.16, 0.5, 0.84),
        *,
        X_err: Uncertainty = None,
        X_limit: ArrayLike | None = None,
        X_samples: ArrayLike | None = None,
    ) -> np.ndarray:
        """Predict quantiles of the target of every object.

        Parameters
        ----------
        {parameters}

        Returns
        -------
        ndarray of shape (n_samples, n_quantiles), or (n_samples,) for a single quantile
            The quantiles of `predict_distribution`.
        """
        answer = self.predict_distribution(X, X_err=X_err, X_limit=X_limit, X_samples=X_samples)
        return answer.quantile(quantiles)

    @described(VALUES | HELD_OUT)
    def conformalize(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        X_err: Uncertainty = None,
        X_limit: ArrayLike | None = None,
        X_samples: ArrayLike | None = None,
    ) -> Self:
        """Learn from objects that were kept apart how wide intervals must be to contain their targets.

        After this, `predict_distribution(...).interval(p, conformal=True)` contains the target of a new object with a
        probability of at least p, whatever the data and the model are like, if the new object and these ones are
        exchangeable: drawn alike, measured alike. See docs/regression.md.

        Parameters
        ----------
        {parameters}

        Returns
        -------
        self
            The same model; its trees and all other answers stay as they are.
        """
        model, factor = self._answering(X, X_err, X_limit, X_samples)
        query, trees = model._query_and_trees(X, X_err, X_limit, X_samples)
        numbers = read_numbers(y, len(query.values))
        model.conformal_ = learn_margins(model._distribution(trees, query, factor).pieces(), numbers.y)
        return self

    def _answering(self, X: Any, X_err: Any, X_limit: Any, X_samples: Any) -> tuple[ProbabilisticRegressor, float]:
        """The model that answers for a table, and the factor by which the errors of the table are larger than those of
        training objects with the same values, as far as the model looks at it."""
        return self, 1.0

    @described(VALUES | NUMBER_SCORED)
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
        """Compute R², the coefficient of determination, of `predict`.

        Parameters
        ----------
        {parameters}

        Returns
        -------
        float
            1 for perfect predictions, 0 for those of the mean.
        """
        answer = self.predict(X, X_err=X_err, X_limit=X_limit, X_samples=X_samples)
        return r_squared(y, answer, sample_weight=sample_weight)

    def _query_and_trees(self, X: Any, X_err: Any, X_limit: Any, X_samples: Any) -> tuple[Cells, list[FittedTree]]:
        query, falls_back = self._read_query(X, X_err, X_limit, X_samples, may_fall_back=True)
        return query, self._fallback_trees if falls_back else self._grown_trees

    def _distribution(self, trees: list[FittedTree], query: Cells, factor: float) -> PredictedDistribution:
        known = calibration_at(self.calibration_, factor), self.conformal_
        return PredictedDistribution(trees, query, float(self.keep_proba), self.n_jobs, *known, self.slope_scales_)

    def _grow_tree(self, training: TrainingSet, weight: np.ndarray, seed: int) -> FittedTree:
        numbers = training.labels
        assert isinstance(numbers, NumberTable)
        nodes = training.grow(weight, self._rules, seed).nodes
        members = find_members(nodes, training.cells, weight, float(self.keep_proba))
        targets, slopes = find_leaf_targets(members, *numbers.distinct), None
        if self.slopes_:
            scales = training.scales if self.slope_scales_ is None else self.slope_scales_  # the former in a trial
            places = scales.places(training.cells)
            slopes = find_leaf_slopes(nodes, members, places, numbers.standardized, numbers.scale)
        return FittedTree(in_units(nodes, targets, numbers.center, numbers.scale), targets, slopes=slopes)

    def _sum_of_answers(self, trees: list[FittedTree], query: Cells, n_jobs: int | None = None) -> np.ndarray:
        total = sum_of_answers(trees, query, float(self.keep_proba), n_jobs=n_jobs)
        if self.slope_scales_ is not None:
            total[:, 0] += len(trees) * self._by_slopes(trees, query, n_jobs).sum(axis=1)
        return total

    def _by_slopes(self, trees: list[FittedTree], query: Cells, n_jobs: int | None = None) -> np.ndarray:
        """What slopes add to the answers, by feature, (n, d)."""
        assert self.slope_scales_ is not None
        return slopes_by_feature(trees, self.slope_scales_, query, float(self.keep_proba), n_jobs)

    def _max_features(self, n_features: int) -> int:
        if isinstance(self.max_features, str) and self.max_features == "auto":
            return ceil(n_features * FEATURES_OF_A_NODE)
        return super()._max_features(n_features)

    def _read_training_set(
        self, given: tuple, y: Any, y_err: Any, sample_weight: Any, unlabelled: tuple = (None, None)
    ) -> tuple[TrainingSet, Cells, NumberTable]:
        table = self._read_table(given, self.feature_model_.layout if self._keeps_choices else None)
        table = self._with_unlabelled(table, *unlabelled)
        numbers = read_numbers(y, len(table.X))
        errors = read_target_errors(in_unit_of_targets(y_err, y), len(table.X), numbers.y)
        given_weight = read_sample_weight(sample_weight, len(table.X))
        weight = given_weight if errors is None else np.where(np.isfinite(errors), given_weight, 0.0)
        check_total(weight)
        weight = weight * self._choose(table, numbers, weight, errors)
        features = self._learn_features(table, weight, given_weight, numbers.scaled_by(weight).for_kernels())
        self.feature_model_ = features.model
        training = make_training_set(features, numbers.scaled_by(weight), weight)
        self._warn_if_too_light(training)
        if not self._keeps_choices:
            self.slope_scales_ = training.scales if self.slopes_ else None
        self._choose_missing_rules(training)
        return training, features.cells, numbers
