"""The single probabilistic decision tree for numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..support.docstrings import described
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
from .parameters import TREE_REGRESSOR_PARAMETERS
from .regressor import ProbabilisticRegressor
from .single_tree import SingleTree


@described(TREE_REGRESSOR_PARAMETERS, NUMBER_ATTRIBUTES)
class ProbabilisticDecisionTreeRegressor(SingleTree, ProbabilisticRegressor):
    """A regression tree whose features are probability distributions.

    Every object goes down both branches of a split, each with the probability that its true value lies there.
    With exact values it is an ordinary CART tree, up to the binning of thresholds (`max_bins`).

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    tree_ : FittedTree
        The tree as flat arrays, with the training targets in its leaves.
    fallback_tree_ : FittedTree or None
        With `error_features`, the tree that looks at the values alone.
    {attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from probforest import ProbabilisticDecisionTreeRegressor
    >>> X, y = np.array([[1.0], [2.0], [4.0], [5.0]]), [10.0, 10.0, 20.0, 20.0]
    >>> tree = ProbabilisticDecisionTreeRegressor().fit(X, y, X_err=0.5)
    >>> tree.predict([[1.5], [4.5]], X_err=0.1).round()
    array([10., 20.])
    >>> tree.predict([[3.0]], X_err=10.0).round()  # it might be anything
    array([15.])
    """

    _parameters = TREE_REGRESSOR_PARAMETERS

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: MaxFeatures = None,
        min_impurity_decrease: float = 0.0,
        random_state: int | np.random.RandomState | None = None,
        keep_proba: float = 0.05,
        missing: MissingRule = "auto",
        unknown_error: UnknownErrorRule = "median",
        max_bins: int = 255,
        distribution: Distribution = "normal",
        prior: PriorKind | None = "empirical",
        error_scale: ErrorScale = 1.0,
        error_columns: ErrorColumns | None = None,
        sentinels: Mapping[Any, Any] | None = None,
        error_features: bool = False,
        prediction: PredictionKind = "mean",
    ) -> None:
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.min_impurity_decrease = min_impurity_decrease
        self.random_state = random_state
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
