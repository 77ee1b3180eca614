"""What models with any target say about their own answers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from ..explain.contributions import Contributions
from ..features.mixed_measurements import mixed, one_after_the_other
from ..features.remeasured import Remeasured
from ..inputs.parameters import check_integer
from ..kernels.layout import Cells
from ..support.docstrings import described
from ..trees.fitted_tree import FittedTree
from ..trees.shapley import Answers, shapley_values
from .argument_types import Uncertainty
from .arguments import BACKGROUND, VALUES
from .better_measured import Possible, possible_answers, possible_answers_jointly
from .ensemble import TreeEnsemble


class ExplainedModel(TreeEnsemble):
    """The part of a model that computes Shapley values, and what it would answer if values were known better. Not for
    use on its own."""

    @abstractmethod
    def _explained_answers(self, trees: list[FittedTree], query: Cells) -> np.ndarray:
        """What the model predicts for every object, (n, k)."""

    @property
    @abstractmethod
    def _explained_columns(self) -> tuple[np.ndarray, str]:
        """Names of the columns of these answers (k,), and what they are."""

    @described(VALUES | BACKGROUND)
    def shapley_values(
        self,
        X: ArrayLike,
        *,
        X_err: Uncertainty = None,
        X_limit: ArrayLike | None = None,
        X_samples: ArrayLike | None = None,
        background: ArrayLike,
        background_err: Uncertainty = None,
        background_limit: ArrayLike | None = None,
        background_samples: ArrayLike | None = None,
        n_background: int = 50,
        n_orders: int = 1,
        random_state: int | np.random.RandomState | None = 0,
    ) -> Contributions:
        """Compute Shapley values (SHAP): what each feature adds to the answer, averaged over the orders of features.

        A value and its errors are one player: features that have not joined yet have values and errors of background
        objects (interventional Shapley values). They are estimated from random orders and their reverses.

        Parameters
        ----------
        {parameters}

        Returns
        -------
        Contributions
            Its `base`, the mean answer for the background, plus the sum of its `values` over the features are the
            `answers`, exactly. `errors` has the standard errors of the values that are due to sampling, `to_shap()`
            makes a `shap.Explanation`.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from probforest import ProbabilisticRandomForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> forest = ProbabilisticRandomForestClassifier(20, random_state=0).fit(X, y, X_err=0.2)
        >>> why = forest.shapley_values(X[:2], X_err=0.2, background=X, background_err=0.2)
        >>> why.values.shape
        (2, 4, 3)
        >>> bool(abs(why.base + why.values.sum(axis=1) - why.answers).max() < 1e-12)
        True
        """
        check_integer("n_background", n_background, 1)
        check_integer("n_orders", n_orders, 1)
        random = check_random_state(random_state)
        query, falls_back = self._read_query(X, X_err, X_limit, X_samples, may_fall_back=True)
        trees = self._fallback_trees if falls_back else self._grown_trees
        objects = self._measurements((X, X_err, X_limit, X_samples))
        try:
            others = self._measurements((background, background_err, background_limit, background_samples))
        except ValueError as problem:
            raise ValueError(f"background: {problem}") from problem
        others = others.rows(_some_rows(others.n_objects, n_background, random))
        together = one_after_the_other(objects, others)

        def answers_of(rows: np.ndarray) -> np.ndarray:
            return self._explained_answers(trees, self._cells(mixed(together, rows), falls_back))

        answers = self._explained_answers(trees, query)
        known = Answers(answers, self._explained_answers(trees, self._cells(others, falls_back)))
        found = shapley_values(known, self.feature_model_.n_values, n_orders, answers_of, random)
        base, (classes, quantity) = known.background.mean(axis=0), self._explained_columns
        names, data = self.feature_model_.names_of_values, objects.center.T
        return Contributions(base, found.values, answers, names, classes, quantity, found.errors, data)

    def _possible_answers(
        self, given: tuple, query: Cells, falls_back: bool, factor: float, answers_of: Callable[[Cells], np.ndarray]
    ) -> Iterator[Possible]:
        """What might be answered if the errors of one value were `factor` × as large, feature by feature; `given` is
        (X, X_err, X_limit, X_samples), and `query` their cells."""
        features = self.feature_model_
        if factor == 1:
            return iter(())
        if not features.says_something_jointly:
            return possible_answers(query, features.spreads, factor, answers_of)
        table = self._measurements(given)
        remeasured = Remeasured(
            features, table, unknown_error=self.unknown_error, n_jobs=self.n_jobs, values_only=falls_back
        )
        return possible_answers_jointly(remeasured, table.n_objects, features.n_values, factor, answers_of)

    def _measurements(self, given: tuple) -> Any:
        """The checked numbers of a table."""
        return self.feature_model_.read(self._read_table(given, self.feature_model_.layout))

    def _cells(self, measurements: Any, falls_back: bool) -> Cells:
        return self.feature_model_.apply(
            measurements, unknown_error=self.unknown_error, n_jobs=self.n_jobs, values_only=falls_back
        )


def _some_rows(n_rows: int, most: int, random: np.random.RandomState) -> np.ndarray:
    """Rows of a table, without repetition."""
    return np.arange(n_rows) if n_rows <= most else np.sort(random.choice(n_rows, most, replace=False))
