"""The scores of `score` and `oob_score`. scikit-learn's metrics are imported when they are first needed: that takes a
twentieth of a second, and most programs begin with a fit."""

from typing import Any


def accuracy(y: Any, answer: Any, sample_weight: Any = None) -> float:
    """The share of objects whose label is predicted."""
    from sklearn.metrics import accuracy_score

    return float(accuracy_score(y, answer, sample_weight=sample_weight))


def r_squared(y: Any, answer: Any, sample_weight: Any = None) -> float:
    """The coefficient of determination."""
    from sklearn.metrics import r2_score

    return float(r2_score(y, answer, sample_weight=sample_weight))
