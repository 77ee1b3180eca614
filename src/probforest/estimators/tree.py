"""The single probabilistic decision tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from ..support.docstrings import described
from .argument_types import (
    Distribution,
    ErrorColumns,
    MaxFeatures,
    MissingRule,
    PriorKind,
    UnknownErrorRule,
)
from .arguments import ATTRIBUTES
from .classifier import ProbabilisticClassifier
from .parameters import TREE_PARAMETERS
from .single_tree import SingleTree


@described(TREE_PARAMETERS, ATTRIBUTES)
class ProbabilisticDecisionTreeClassifier(SingleTree, ProbabilisticClassifier):
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
