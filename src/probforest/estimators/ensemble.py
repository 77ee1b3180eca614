"""What the fitted trees of a model, whatever they predict, say about features and objects."""

from __future__ import annotations

import sys
from abc import abstractmethod

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ..explain.importances import Importances
from ..kernels.layout import Cells
from ..support.docstrings import described
from ..trees.fitted_tree import FittedTree
from ..trees.label_truth import HeldOut
from ..trees.leaves import leaf_probabilities, mean_importances, most_probable_leaves
from ..trees.training_set import TrainingSet
from .argument_types import Uncertainty
from .arguments import VALUES
from .base import ProbabilisticEstimator


class TreeEnsemble(ProbabilisticEstimator):
    """A model that is one tree or many. Not for use on its own.

    A subclass says which trees these are (`_grown_trees`), which of them look at the values alone (`_fallback_trees`),
    and how they come into being (`_fit`). A subclass that knows
    the target says how one tree is grown on it (`_grow_tree`) and what the trees answer (`_sum_of_answers`).
    """

    @property
    @abstractmethod
    def _grown_trees(self) -> list[FittedTree]:
        """The trees."""

    @property
    @abstractmethod
    def _fallback_trees(self) -> list[FittedTree]:
        """With error features, the trees for tables with other errors than those of the training set."""

    @abstractmethod
    def _fit(self, given: tuple, *target: object) -> None:
        """Read the training set with `_read_training_set(given, *target)`, and grow the trees."""

    @abstractmethod
    def _grow_tree(self, training: TrainingSet, weight: np.ndarray, seed: int) -> FittedTree:
        """Grow a tree on the objects of a training set with these weights (n,)."""

    @abstractmethod
    def _sum_of_answers(self, trees: list[FittedTree], query: Cells, n_jobs: int | None = None) -> np.ndarray:
        """Sum of the trees' answers for every object, (n, k)."""

    def _learn_from_trees(self, training: TrainingSet) -> None:
        """What remains to be learnt when the trees are grown: nothing, unless the target needs something."""

    def _held_out(self, trees: list[FittedTree], training: TrainingSet) -> HeldOut | None:
        """What the trees say about objects that they have not seen, if they have not seen all of them."""
        return None

    @property
    def feature_importances_(self) -> np.ndarray:
        """Impurity decrease of every feature, weighted by expected objects, averaged over trees, (n_features,)."""
        check_is_fitted(self)
        self._refuse_feature_selection()
        return self._importances()

    @property
    def importances_(self) -> Importances:
        """The same with names, the largest first."""
        check_is_fitted(self)
        return Importances.of(self.feature_model_.names, self._importances(), "impurity decrease")

    @property
    def column_importances_(self) -> np.ndarray:
        """Importance of every column of X: errors and limits have that of their value."""
        check_is_fitted(self)
        return self.feature_model_.by_column(self._importances())

    def _importances(self) -> np.ndarray:
        return mean_importances(self._grown_trees, self._n_features)

    def _refuse_feature_selection(self) -> None:
        """scikit-learn's selectors take `feature_importances_` for those of columns, and would fail without saying why
        where some columns are errors."""
        caller = sys._getframe(2).f_globals.get("__name__", "")
        if caller.startswith("sklearn.feature_selection") and self._n_features != self.n_features_in_:
            raise ValueError(
                f"feature_importances_ has the {self._n_features} features, but X has {self.n_features_in_} columns: "
                "the columns of errors are no features, but their sizes are with error_features. Select columns with "
                'importance_getter="column_importances_": a value is kept together with its errors. '
                'set_output(transform="pandas") keeps the names.'
            )

    @described(VALUES)
    def apply(
        self,
        X: ArrayLike,
        *,
        X_err: Uncertainty = None,
        X_limit: ArrayLike | None = None,
        X_samples: ArrayLike | None = None,
    ) -> np.ndarray:
        """Find the most probable leaf of every object in every tree.

        Parameters
        ----------
        {parameters}

        Returns
        -------
        ndarray of shape (n_samples, n_trees)
            The node numbers of the leaves. With `error_features`, these are leaves of `trees_`, whatever the errors.
        """
        query, _ = self._read_query(X, X_err, X_limit, X_samples)
        return most_probable_leaves(self._grown_trees, query, float(self.keep_proba), self.n_jobs)

    @described(VALUES)
    def leaf_proba(
        self,
        X: ArrayLike,
        *,
        X_err: Uncertainty = None,
        X_limit: ArrayLike | None = None,
        X_samples: ArrayLike | None = None,
    ) -> sparse.csr_matrix:
        """Compute the probability of every object to reach each leaf.

        Parameters
        ----------
        {parameters}

        Returns
        -------
        scipy CSR matrix of shape (n_samples, n_leaves)
            The columns are the leaves of the first tree in the order of their node numbers, then those of the second,
            and so on. In each tree a row sums to 1 when `keep_proba` is 0, and to what was not pruned otherwise. With
            `error_features`, these are leaves of `trees_`, whatever the errors.
        """
        query, _ = self._read_query(X, X_err, X_limit, X_samples)
        return leaf_probabilities(self._grown_trees, query, float(self.keep_proba), self.n_jobs)
