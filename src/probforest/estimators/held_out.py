"""Objects that boosting is not grown on, and what tells from them when to stop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import check_scoring
from sklearn.model_selection import train_test_split

from ..trees.boosting import ScoreOfRows

_ROUNDING = 1e-9  # of a fraction
MOST_SCORED = 10_000  # objects of the training set, as in HistGradientBoosting


def held_out_rows(n_objects: int, fraction: float, seed: int, classes: np.ndarray | None) -> np.ndarray:
    """Which objects are held out, (n,) bool. Classes keep their shares, if there are enough objects for that; the only
    object of a class is not held out, unless there are hardly any others."""
    n_held_out = int(np.clip(fraction * n_objects, 1, n_objects - 1))
    rows, stratify = np.arange(n_objects), None
    if classes is not None:
        counts = np.bincount(classes)
        common, n_classes = np.flatnonzero(counts[classes] > 1), np.count_nonzero(counts > 1)
        rows = common if len(common) > n_held_out else rows
        if len(rows) == len(common) and n_classes <= min(n_held_out, len(rows) - n_held_out):
            stratify = classes[rows]
    _, chosen = train_test_split(rows, test_size=n_held_out, random_state=seed, stratify=stratify)
    held_out = np.zeros(n_objects, dtype=bool)
    held_out[chosen] = True
    return held_out


def held_out_parts(
    n_objects: int, fraction: float, seed: int, classes: np.ndarray | None, n_parts: int
) -> list[np.ndarray]:
    """Several such sets of equal size that have no object in common; the first is that of `held_out_rows`. There are no
    more than fit in."""
    parts: list[np.ndarray] = []
    rest = np.arange(n_objects)
    size = int(held_out_rows(n_objects, fraction, seed, classes).sum())
    while len(parts) < n_parts and (not parts or len(rest) > size):
        chosen = held_out_rows(
            len(rest), size / len(rest) + _ROUNDING, seed, None if classes is None else classes[rest]
        )
        held_out = np.zeros(n_objects, dtype=bool)
        held_out[rest[chosen]] = True
        parts.append(held_out)
        rest = rest[~chosen]
    return parts


class _Stage(BaseEstimator):
    """What a model answers at some stage, as scikit-learn's scorers ask for it: for all objects, whatever X is."""

    def __init__(self, answers: np.ndarray | None = None, decisions: np.ndarray | None = None) -> None:
        self.answers, self.decisions = answers, decisions

    def fit(self, X: Any, y: Any) -> _Stage:
        """There is nothing to fit, but scorers ask for it."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True


class _ClassStage(ClassifierMixin, _Stage):
    classes_: np.ndarray

    def predict_proba(self, X: Any) -> np.ndarray | None:
        return self.answers

    def decision_function(self, X: Any) -> np.ndarray | None:
        return self.decisions

    def predict(self, X: Any) -> np.ndarray:
        assert self.answers is not None
        return self.classes_[self.answers.argmax(axis=1)]


class _NumberStage(RegressorMixin, _Stage):
    def predict(self, X: Any) -> np.ndarray | None:
        return self.answers


def class_scorer(
    scoring: Any,
    labels: np.ndarray,
    classes: np.ndarray,
    answers: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    weight: np.ndarray | None,
) -> ScoreOfRows:
    """A scorer of raw scores, of which `answers` makes probabilities and decisions; `labels` and `weight` are those of
    all objects."""

    def stage(raw: np.ndarray) -> _Stage:
        made = _ClassStage(*answers(raw))
        made.classes_ = classes
        return made

    return _scorer(scoring, _ClassStage(), stage, labels, weight)


def number_scorer(
    scoring: Any, y: np.ndarray, answers: Callable[[np.ndarray], np.ndarray], weight: np.ndarray | None
) -> ScoreOfRows:
    """The same for numbers."""
    return _scorer(scoring, _NumberStage(), lambda raw: _NumberStage(answers(raw)), y, weight)


def _scorer(
    scoring: Any, example: _Stage, stage: Callable[[np.ndarray], _Stage], truth: np.ndarray, weight: np.ndarray | None
) -> ScoreOfRows:
    scorer = check_scoring(example, scoring)

    def score(raw: np.ndarray, rows: np.ndarray) -> float:
        if len(rows) > MOST_SCORED:
            some = np.sort(np.random.default_rng(0).choice(len(rows), MOST_SCORED, replace=False))
            raw, rows = raw[:, some], rows[some]
        options = {} if weight is None else {"sample_weight": weight[rows]}
        return float(scorer(stage(raw), np.empty((len(rows), 0)), truth[rows], **options))

    return score
