"""The single probabilistic decision tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from ..support.docstrings import described
from ..trees.bootstrap import seeds_of_trees
from ..trees.fitted_tree import FittedTree
from .argument_types import (
    Distribution,
    ErrorColumns,
    MaxFeatures,
    MissingRule,
    PriorKind,
    Uncertainty,
    UnknownErrorRule,
)
from .arguments import ATTRIBUTES, VALUES
from .classifier import ProbabilisticClassifier
from .parameters import TREE_PARAMETERS


@described(TREE_PARAMETERS, ATTRIBUTES)
class ProbabilisticDecisionTreeClassifier(ProbabilisticClassifier):
    """A decision tree whose features are probability distributions and whose labels are probability mass functions.

    Every object goes down both branches of a split, each with the probability that its true value lies there.
    With exact values and hard labels it is an ordinary CART tree, up to the binning of thresholds (`max_bins`).

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    tree_ : FittedTree
        The tree as flat arrays.
    fallback_tree_ : FittedTree or None
        With `error_features`, the tree that looks at the values alone.
    {attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from probforest import ProbabilisticDecisionTreeClassifier
    >>> X, y = np.array([[1.0], [2.0], [4.0], [5.0]]), ["star", "star", "quasar", "quasar"]
    >>> tree = ProbabilisticDecisionTreeClassifier().fit(X, y, X_err=0.5)
    >>> tree.classes_
    array(['quasar', 'star'], dtype='<U6')
    >>> tree.predict([[1.5], [4.5]], X_err=0.5)
    array(['star', 'quasar'], dtype='<U6')
    >>> tree.predict_proba([[3.0]], X_err=10.0).round(1)  # it might be anything
    array([[0.5, 0.5]])
    """

    _parameters = TREE_PARAMETERS
    tree_: FittedTree
    fallback_tree_: FittedTree | None

    def __init__(
        self,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: MaxFeatures = None,
        min_impurity_decrease: float = 0.0,
        class_weight: dict[Any, Any] | Literal["balanced"] | None = None,
        random_state: int | np.random.RandomState | None = None,
        keep_proba: float = 0.05,
        missing: MissingRule = "auto",
        unknown_error: UnknownErrorRule = "median",
        label_information: bool = True,
        max_bins: int = 255,
        distribution: Distribution = "normal",
        prior: PriorKind | None = "empirical",
        error_columns: ErrorColumns | None = None,
        sentinels: Mapping[Any, Any] | None = None,
        error_features: bool = False,
    ) -> None:
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.min_impurity_decrease = min_impurity_decrease
        self.class_weight = class_weight
        self.random_state = random_state
        self.keep_proba = keep_proba
        self.missing = missing
        self.unknown_error = unknown_error
        self.label_information = label_information
        self.max_bins = max_bins
        self.distribution = distribution
        self.prior = prior
        self.error_columns = error_columns
        self.sentinels = sentinels
        self.error_features = error_features

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
