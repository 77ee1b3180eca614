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
    """Which objects are held out, (n,) bool; classes keep their shares, unless one has a single object."""
    n_held_out = int(np.clip(fraction * n_objects, 1, n_objects - 1))
    stratify = classes
    if classes is not None:
        counts = np.bincount(classes)
        counts = counts[counts > 0]
        if counts.min() < 2 or len(counts) > min(n_held_out, n_objects - n_held_out):
            stratify = None
    _, rows = train_test_split(np.arange(n_objects), test_size=n_held_out, random_state=seed, stratify=stratify)
    held_out = np.zeros(n_objects, dtype=bool)
    held_out[rows] = True
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
