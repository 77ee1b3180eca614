"""What a regressor says about its own answers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from ..explain.measurement_value import NumberMeasurementValue
from ..kernels.layout import Cells
from ..support.docstrings import described
from ..support.warning import warn_caller
from ..trees.fitted_tree import FittedTree
from ..trees.leaf_moments import Moments
from .argument_types import Uncertainty
from .arguments import BETTER, VALUES
from .better_measured import KEEP_PROBA, check_factor
from .explained_model import ExplainedModel


class ExplainedRegressor(ExplainedModel):
    """The part of a regressor that says which measurements are worth making. Not for use on its own."""

    def _explained_answers(self, trees: list[FittedTree], query: Cells) -> np.ndarray:
        return self._sum_of_answers(trees, query, self.n_jobs) / len(trees)

    @property
    def _explained_columns(self) -> tuple[np.ndarray, str]:
        return np.array(["the target"]), "mean"

    @described(VALUES | BETTER)
    def value_of_measurement(
        self,
        X: ArrayLike,
        *,
        X_err: Uncertainty = None,
        X_limit: ArrayLike | None = None,
        X_samples: ArrayLike | None = None,
        factor: float = 0.0,
    ) -> NumberMeasurementValue:
        """Compute how much smaller the variance of each answer is expected to be if one value were known better.

        A value may truly be anywhere in its distribution; a missing value, anywhere in that of the training set. For
        each of these places the model answers again, as if the value were known to be there, and the mean of the
        variances is compared with that of today.

        Parameters
        ----------
        {parameters}

        Returns
        -------
        NumberMeasurementValue
            `gain` has the expected loss of variance for every object and feature, `ranking()` the most valuable
            measurements, `text(row)` and `plot(row)` show one object. A model with an `error_scale_` below 1 spreads
            values over a part of their errors only, or takes them as exact, and expects accordingly less. A model
            that predicts numbers without distributions only knows how far its answers scatter over the places of a
            value: its variances are no more than that.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from probforest import ProbabilisticRandomForestRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = ProbabilisticRandomForestRegressor(20, random_state=0, error_scale=1.0).fit(X, y, X_err=0.02)
        >>> model.value_of_measurement(X[:2], X_err=0.02).gain.shape
        (2, 10)
        """
        factor = check_factor(factor)
        query, falls_back = self._read_query(X, X_err, X_limit, X_samples, may_fall_back=True)
        if self.error_scale_ == 0 and self.fitted_with_errors_:
            warn_caller(
                "This model takes values as exact (error_scale_ is 0), so that it expects nothing from better ones. "
                "Fit it with error_scale=1."
            )
        trees = self._fallback_trees if falls_back else self._grown_trees
        moments_of = self._moments_of(trees)
        variance = moments_of(query)[:, 1]
        gain = np.zeros((len(variance), self.feature_model_.n_values))
        given = X, X_err, X_limit, X_samples
        for j, rows, answers in self._possible_answers(given, query, falls_back, factor, moments_of):
            if np.isnan(variance).any():
                gain[rows, j] = answers[:, :, 0].var(axis=1)
            else:
                gain[rows, j] = variance[rows] - answers[:, :, 1].mean(axis=1)
        variance = np.where(np.isnan(variance), gain.sum(axis=1), variance)
        return NumberMeasurementValue(gain, self.feature_model_.names_of_values, factor, np.sqrt(variance))

    def _moments_of(self, trees: list[FittedTree]) -> Callable[[Cells], np.ndarray]:
        """What gives mean and variance (n, 2) of careful answers; trees without targets in their leaves have no
        variance, NaN."""
        if all(tree.targets is not None for tree in trees):
            return Moments(trees, min(float(self.keep_proba), KEEP_PROBA), self.n_jobs).of

        def means_only(query: Cells) -> np.ndarray:
            mean = self._explained_answers(trees, query)
            return np.column_stack([mean, np.full(len(mean), np.nan)])

        return means_only
