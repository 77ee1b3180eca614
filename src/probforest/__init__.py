"""probforest: decision-tree ensembles for data with error bars and doubtful labels."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .columns import Errors
    from .forest import ProbabilisticRandomForestClassifier
    from .model_file import ModelFileError
    from .persistence import describe, load, save
    from .tree import ProbabilisticDecisionTreeClassifier

    __version__: str

__all__ = [
    "Errors",
    "ModelFileError",
    "ProbabilisticDecisionTreeClassifier",
    "ProbabilisticRandomForestClassifier",
    "describe",
    "load",
    "save",
]

_HOME = {
    "Errors": "columns",
    "ModelFileError": "model_file",
    "ProbabilisticDecisionTreeClassifier": "tree",
    "ProbabilisticRandomForestClassifier": "forest",
    "describe": "persistence",
    "load": "persistence",
    "save": "persistence",
}


def __getattr__(name: str) -> Any:
    """Import what is used when it is used: the command line starts without Numba and scikit-learn."""
    if name == "__version__":
        from importlib.metadata import version

        return version("probforest")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__, "__version__"]
