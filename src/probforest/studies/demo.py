"""`probforest demo`: forest and boosting compared with scikit-learn's forest, on noisy data with known truth."""

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score, log_loss

from ..datasets import add_noise, flip_labels, make_two_classes
from ..estimators.boosting import ProbabilisticGradientBoostingClassifier
from ..estimators.forest import ProbabilisticRandomForestClassifier


class Scene(NamedTuple):
    """A training set, and a test set with the true labels. What scikit-learn's forest can't take is in `extra`."""

    name: str
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    extra_fit: dict[str, Any]
    extra_predict: dict[str, Any]


class Outcome(NamedTuple):
    accuracy: float
    log_loss: float
    fit_seconds: float
    predict_seconds: float


def scenes(n_train: int, seed: int) -> Iterator[Scene]:
    """The same truth behind four kinds of measurements."""
    X, y = make_two_classes(2 * n_train, random_state=seed)
    train, test = slice(0, n_train), slice(n_train, None)
    yield Scene("exact values", X[train], y[train], X[test], y[test], {}, {})
    for name, case, level in (("errors per object × feature", "objects", 3), ("an error for every cell", "cells", 2)):
        noisy = add_noise(X, level, case=case, random_state=seed)
        errors = {"X_err": noisy.X_err[train]}, {"X_err": noisy.X_err[test]}
        yield Scene(name, noisy.X[train], y[train], noisy.X[test], y[test], *errors)
    random = np.random.RandomState(seed)
    wrong = np.where(random.uniform(size=n_train) < 0.1, 0.0, 0.45)
    labels = flip_labels(y[train], wrong, random_state=random)
    name = f"{np.mean(labels.y != y[train]):.0%} of the labels wrong"
    yield Scene(name, X[train], labels.y, X[test], y[test], {"y_proba": labels.confidence}, {})


def run(model, scene: Scene, extra_fit: dict[str, Any], extra_predict: dict[str, Any]) -> Outcome:
    """Fit on the training set, answer for the test set."""
    start = time.perf_counter()
    model.fit(scene.X, scene.y, **extra_fit)
    fitted = time.perf_counter()
    proba = model.predict_proba(scene.X_test, **extra_predict)
    stop = time.perf_counter()
    accuracy = accuracy_score(scene.y_test, model.classes_[proba.argmax(axis=1)])
    return Outcome(accuracy, log_loss(scene.y_test, proba), fitted - start, stop - fitted)


SKLEARN, FOREST, BOOSTING = "scikit-learn", "probforest", "probforest, boosting"


def compare(n_train: int, n_trees: int, n_jobs: int | None, seed: int) -> Iterator[tuple[str, dict[str, Outcome]]]:
    """(scene, outcomes of scikit-learn's forest, our forest and our boosting), one after the other."""
    for scene in scenes(n_train, seed):
        theirs = RandomForestClassifier(n_trees, n_jobs=n_jobs, random_state=seed)
        forest = ProbabilisticRandomForestClassifier(n_trees, n_jobs=n_jobs, random_state=seed)
        boosting = ProbabilisticGradientBoostingClassifier(n_jobs=n_jobs, random_state=seed)
        yield (
            scene.name,
            {
                SKLEARN: run(theirs, scene, {}, {}),
                FOREST: run(forest, scene, scene.extra_fit, scene.extra_predict),
                BOOSTING: run(boosting, scene, scene.extra_fit, scene.extra_predict),
            },
        )


HEADER = (
    "                            accuracy                  log loss                  fit [s]              predict [s]\n"
    "                           " + f"{' sklearn  forest  boost.  ' * 2}{'sklearn forest boost.  ' * 2}".rstrip()
)


def line(name: str, outcomes: dict[str, Outcome]) -> str:
    columns = zip(*outcomes.values(), strict=True)  # accuracies, losses, seconds of fits and of predictions
    widths = ("8.3f", "8.3f", "7.2f", "7.2f")
    numbers = ["".join(f"{each:{width}}" for each in column) for column, width in zip(columns, widths, strict=True)]
    return f"{name:27s}{'  '.join(numbers)}"
