"""Why a model answers as it does, and which measurement would make it surer.

The functions take any fitted model of probforest; they are methods of the models, too.
"""

from typing import Any

from .contributions import Contributions
from .displays import ContributionDisplay, ImportanceDisplay, MeasurementValueDisplay
from .importances import Importances
from .measurement_value import BetterMeasurements, MeasurementValue, NumberMeasurementValue
from .shap_explainer import ShapExplainer
from .tree_plot import plot_tree
from .tree_text import Path, decision_paths, export_text

__all__ = [
    "ContributionDisplay",
    "Contributions",
    "ImportanceDisplay",
    "Importances",
    "MeasurementValue",
    "MeasurementValueDisplay",
    "NumberMeasurementValue",
    "Path",
    "ShapExplainer",
    "contributions",
    "decision_paths",
    "export_text",
    "plot_tree",
    "value_of_measurement",
]


def contributions(model: Any, X: Any, **measured: Any) -> Contributions:
    """What each feature adds to the probability of each class, to a score or to an expected target.

    Parameters
    ----------
    model : fitted model
        Any model of probforest; the same as `model.contributions(X, ...)`.
    X : array-like or table of shape (n_samples, n_features)
        Values.
    **measured
        `X_err`, `X_limit`, `X_samples`, as `predict` takes them.

    Returns
    -------
    Contributions
        Its `base` plus the sum of its `values` over the features are the `answers`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from probforest import ProbabilisticDecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = ProbabilisticDecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y, X_err=0.1)
    >>> from probforest.explain import contributions
    >>> contributions(tree, X[:2], X_err=0.1).values.shape
    (2, 4, 3)
    """
    return model.contributions(X, **measured)


def value_of_measurement(model: Any, X: Any, *, factor: float = 0.0, **measured: Any) -> BetterMeasurements:
    """How much surer each answer would be if a value were known better.

    Parameters
    ----------
    model : fitted model
        Any model of probforest; the same as `model.value_of_measurement(X, ...)`.
    X : array-like or table of shape (n_samples, n_features)
        Values.
    factor : float in [0, 1], default=0
        How large the errors of the better measurement are, compared with those of today; 0 is an exact value.
    **measured
        `X_err`, `X_limit`, `X_samples`, as `predict` takes them.

    Returns
    -------
    MeasurementValue or NumberMeasurementValue
        `gain` has what is expected for every object and feature.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from probforest import ProbabilisticDecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = ProbabilisticDecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y, X_err=0.1)
    >>> from probforest.explain import value_of_measurement
    >>> value_of_measurement(tree, X[70:72], X_err=0.3).gain.shape
    (2, 4)
    """
    return model.value_of_measurement(X, factor=factor, **measured)
