"""probforest: decision-tree ensembles for data with error bars and doubtful labels."""

from importlib.metadata import version

from .columns import Errors
from .forest import ProbabilisticRandomForestClassifier
from .model_file import ModelFileError
from .persistence import describe, load, save
from .tree import ProbabilisticDecisionTreeClassifier

__version__ = version("probforest")

__all__ = [
    "Errors",
    "ModelFileError",
    "ProbabilisticDecisionTreeClassifier",
    "ProbabilisticRandomForestClassifier",
    "describe",
    "load",
    "save",
]
