"""Forests of tables that Dask knows, on a machine or on a cluster. See docs/large.md.

It needs the extra `dask`: pip install "probforest[dask]".
"""

from .forests import DaskProbabilisticRandomForestClassifier, DaskProbabilisticRandomForestRegressor
from .predictions import partition_proba, predict, predict_proba

__all__ = [
    "DaskProbabilisticRandomForestClassifier",
    "DaskProbabilisticRandomForestRegressor",
    "partition_proba",
    "predict",
    "predict_proba",
]
