"""A model that is one tree, whatever it predicts."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from ..support.docstrings import described
from ..trees.bootstrap import seeds_of_trees
from ..trees.fitted_tree import FittedTree
from .argument_types import Uncertainty
from .arguments import VALUES
from .ensemble import TreeEnsemble


class SingleTree(TreeEnsemble):
    """How a single tree is grown: on all objects. Not for use on its own; see `BaggedTrees` for what it needs."""

    tree_: FittedTree
    fallback_tree_: FittedTree | None

    def _fit(self, given: tuple, *target: object) -> None:
        training, _, _ = self._read_training_set(given, *target)
        (seed,) = seeds_of_trees(self.random_state, 1)
        self.tree_ = self._grow_tree(training, training.weight, seed)
        self.fallback_tree_ = None
        if self._has_error_features:
            values_only = training.with_first_features(self.feature_model_.n_values)
            self.fallback_tree_ = self._grow_tree(values_only, training.weight, seed)
        self._learn_from_trees(training)

    @property
    def _grown_trees(self) -> list[FittedTree]:
        return [self.tree_]

    @property
    def _fallback_trees(self) -> list[FittedTree]:
        return [] if self.fallback_tree_ is None else [self.fallback_tree_]

    @described(VALUES)
    def apply(
        self,
        X: ArrayLike,
        *,
        X_err: Uncertainty = None,
        X_limit: ArrayLike | None = None,
        X_samples: ArrayLike | None = None,
    ) -> np.ndarray:
        """Find the most probable leaf of every object.

        Parameters
        ----------
        {parameters}

        Returns
        -------
        ndarray of shape (n_samples,)
            The node numbers of the leaves.
        """
        return super().apply(X, X_err=X_err, X_limit=X_limit, X_samples=X_samples)[:, 0]

    def get_depth(self) -> int:
        """Depth of the deepest leaf."""
        check_is_fitted(self)
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        check_is_fitted(self)
        return len(self.tree_.leaves)
