"""Why a model answers as it does, and which measurement would make it surer.

The functions take any fitted model of probforest; they are methods of the models, too.
"""

from typing import Any

from .contributions import Contributions
from .importances import Importances
from .measurement_value import MeasurementValue, NumberMeasurementValue
from .shap_explainer import ShapExplainer
from .tree_text import Path, decision_paths, export_text

__all__ = [
    "Contributions",
    "Importances",
    "MeasurementValue",
    "NumberMeasurementValue",
    "Path",
    "ShapExplainer",
    "contributions",
    "decision_paths",
    "export_text",
    "value_of_measurement",
]


def contributions(model: Any, X: Any, **measured: Any) -> Contributions:
    """What each feature adds to the probability of each class: `model.contributions(X, X_err=...)`."""
    return model.contributions(X, **measured)


def value_of_measurement(model: Any, X: Any, *, factor: float = 0.0, **measured: Any) -> MeasurementValue:
    """How much surer each answer would be if a value were known better: `model.value_of_measurement(X, X_err=...)`."""
    return model.value_of_measurement(X, factor=factor, **measured)
