"""probforest: decision-tree ensembles for data with error bars and doubtful labels."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .support.version import VERSION

if TYPE_CHECKING:
    from .estimators.boosting import ProbabilisticGradientBoostingClassifier
    from .estimators.boosting_regressor import ProbabilisticGradientBoostingRegressor
    from .estimators.forest import ProbabilisticRandomForestClassifier
    from .estimators.forest_regressor import ProbabilisticRandomForestRegressor
    from .estimators.merging import merge
    from .estimators.tree import ProbabilisticDecisionTreeClassifier
    from .estimators.tree_regressor import ProbabilisticDecisionTreeRegressor
    from .inputs.columns import Errors
    from .storage.model_file import ModelFileError
    from .storage.models import describe, load, save

__version__ = VERSION

__all__ = [
    "Errors",
    "ModelFileError",
    "ProbabilisticDecisionTreeClassifier",
    "ProbabilisticDecisionTreeRegressor",
    "ProbabilisticGradientBoostingClassifier",
    "ProbabilisticGradientBoostingRegressor",
    "ProbabilisticRandomForestClassifier",
    "ProbabilisticRandomForestRegressor",
    "describe",
    "load",
    "merge",
    "save",
]

_HOME = {
    "Errors": "inputs.columns",
    "ModelFileError": "storage.model_file",
    "ProbabilisticDecisionTreeClassifier": "estimators.tree",
    "ProbabilisticDecisionTreeRegressor": "estimators.tree_regressor",
    "ProbabilisticGradientBoostingClassifier": "estimators.boosting",
    "ProbabilisticGradientBoostingRegressor": "estimators.boosting_regressor",
    "ProbabilisticRandomForestClassifier": "estimators.forest",
    "ProbabilisticRandomForestRegressor": "estimators.forest_regressor",
    "describe": "storage.models",
    "load": "storage.models",
    "merge": "estimators.merging",
    "save": "storage.models",
}
_PUBLIC_MODULES = ("dask", "datasets", "explain", "families", "importance", "large", "metrics")


def __getattr__(name: str) -> Any:
    """Import what is used when it is used: the command line starts without Numba and scikit-learn."""
    if name in _PUBLIC_MODULES:
        return import_module(f".{name}", __name__)
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted([*__all__, *_PUBLIC_MODULES, "__version__", "__doc__", "__name__", "__file__", "__all__"])
