"""Compile the kernels before they are needed, by tiny fits and predictions of all kinds that differ in machine code.

tests/test_signatures.py checks that no other fit or prediction compiles anything more.
"""

from typing import Any

import numpy as np

from ..datasets import make_two_classes
from .boosting import ProbabilisticGradientBoostingClassifier
from .boosting_regressor import ProbabilisticGradientBoostingRegressor
from .forest_regressor import ProbabilisticRandomForestRegressor
from .tree import ProbabilisticDecisionTreeClassifier
from .tree_regressor import ProbabilisticDecisionTreeRegressor

_N_OBJECTS = 50


def compile_kernels(rare: bool = False) -> None:
    """Compile what tables with and without errors need or, with `rare`, what anything needs."""
    X, y = make_two_classes(_N_OBJECTS, random_state=0)
    _use(X, y, {})  # exact objects go down a tree in a kernel of their own
    _use(X, y, {"X_err": 0.1})
    _use(np.cumsum(X, axis=1), y, {"X_err": 0.1}, prior="joint")  # features that correlate
    answer = ProbabilisticDecisionTreeRegressor().fit(X, X[:, 0]).predict_distribution(X)
    answer.quantile(0.5)
    answer.summary()  # of whole distributions
    ProbabilisticRandomForestRegressor(1, slopes=True).fit(X, X[:, 0]).predict(X)
    ProbabilisticGradientBoostingRegressor("huber", max_iter=1).fit(X, X[:, 0])
    if rare:
        _use(X, y, {"X_samples": np.repeat(X[:, :, None], 2, axis=2)})
        _use(X, y, {"X_limit": (X > 0).astype(int)})
        _use(X, y, {"X_err": 0.1}, max_bins=65_535)  # bin codes of two bytes
        ProbabilisticDecisionTreeClassifier().fit(X, y, X_err=0.1).contributions(X, X_err=0.1)


def _use(X: np.ndarray, y: np.ndarray, about: dict[str, Any], **parameters: Any) -> None:
    tree = ProbabilisticDecisionTreeClassifier(**parameters).fit(X, y, **about)
    tree.predict_proba(X, **about)
    tree.leaf_proba(X, **about)
    boosting = ProbabilisticGradientBoostingClassifier(max_iter=1, min_samples_leaf=5, **parameters)
    boosting.fit(X, y, **about).predict_proba(X, **about)
    boosting.leaf_proba(X, **about)
