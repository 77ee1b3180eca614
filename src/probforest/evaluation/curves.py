"""How well probabilities rank objects: ROC and precision–recall of every class."""

from collections.abc import Sequence
from math import nan
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

MOST_POINTS = 200  # of a curve that is drawn


class ClassCurve(NamedTuple):
    """How well the probability of one class separates its objects from all others.

    A class that has no objects, or all of them, has NaN as its scores, and no points.
    """

    name: str
    share: float  # of the objects; the average precision of probabilities that know nothing
    roc_auc: float
    average_precision: float
    roc: np.ndarray  # (m, 2) false positive rate and true positive rate
    precision_recall: np.ndarray  # (m, 2) recall and precision

    def as_dict(self) -> dict[str, Any]:
        """The scores, for JSON; None stands for NaN."""
        scores = {"share": self.share, "roc_auc": self.roc_auc, "average_precision": self.average_precision}
        return {"name": self.name} | {key: None if np.isnan(value) else value for key, value in scores.items()}


def curves_of(codes: np.ndarray, proba: np.ndarray, names: Sequence[str]) -> tuple[ClassCurve, ...]:
    """Curves of all classes, from the places of the true classes (n,) and the probabilities (n, k)."""
    return tuple(_curve(name, codes == place, proba[:, place]) for place, name in enumerate(names))


def _curve(name: str, is_one: np.ndarray, score: np.ndarray) -> ClassCurve:
    share = float(is_one.mean())
    if share in (0, 1):
        nothing = np.empty((0, 2))
        return ClassCurve(name, share, nan, nan, nothing, nothing)
    false_positive, true_positive, _ = roc_curve(is_one, score)
    precision, recall, _ = precision_recall_curve(is_one, score)
    return ClassCurve(
        name,
        share,
        float(roc_auc_score(is_one, score)),
        float(average_precision_score(is_one, score)),
        _thinned(np.column_stack([false_positive, true_positive])),
        _thinned(np.column_stack([recall, precision])),
    )


def _thinned(points: np.ndarray) -> np.ndarray:
    """At most so many points that a line through them looks the same."""
    chosen = np.unique(np.linspace(0, len(points) - 1, MOST_POINTS).round().astype(int))
    return points[chosen]
