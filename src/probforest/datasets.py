"""Noisy data with known truth."""

from typing import NamedTuple

import numpy as np
from sklearn.datasets import make_classification
from sklearn.utils import check_random_state

from .parameters import check_number, check_word

NOISE_CASES = ("objects", "cells")


class NoisyTable(NamedTuple):
    """Measured values and their errors."""

    X: np.ndarray
    X_err: np.ndarray


class NoisyLabels(NamedTuple):
    """Given labels, some of them wrong, and the probability that each is right."""

    y: np.ndarray
    confidence: np.ndarray


def make_two_classes(n_samples=10_000, random_state=None) -> tuple[np.ndarray, np.ndarray]:
    """The data of the paper's experiments: two classes, 15 features, 10 of them informative.

    >>> X, y = make_two_classes(100, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((100, 15), [0, 1])
    """
    return make_classification(n_samples, n_features=15, n_informative=10, random_state=random_state)


def add_noise(X, level, *, case="objects", random_state=None) -> NoisyTable:
    """Measure the true values `X` (n, d) with normal errors.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        True values.
    level : float
        The noise coefficient N_s: the largest error in units of the feature's standard deviation.
    case : {"objects", "cells"}, default="objects"
        "objects": a coefficient per object times one per feature, both uniform in (0, 1), the paper's experiment (ii).
        "cells": a coefficient per cell, the paper's noise complexity case (iv).
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    NoisyTable
        Measured values `X` and their standard deviations `X_err`.

    >>> table = add_noise([[0.0, 1.0], [2.0, 3.0]], level=0.5, random_state=0)
    >>> table.X.shape, bool((table.X_err <= 0.5).all())
    ((2, 2), True)
    """
    check_number("level", level, 0)
    check_word("case", case, NOISE_CASES)
    X = np.asarray(X, dtype=np.float64)
    random = check_random_state(random_state)
    if case == "objects":
        coefficient = random.uniform(size=(len(X), 1)) * random.uniform(size=(1, X.shape[1]))
    else:
        coefficient = random.uniform(size=X.shape)
    X_err = level * coefficient * X.std(axis=0)
    return NoisyTable(X + X_err * random.normal(size=X.shape), X_err)


def flip_labels(y, probability, random_state=None) -> NoisyLabels:
    """Replace each label by another class with a known probability.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        True labels.
    probability : float or array-like of shape (n_samples,)
        Probability that a label is replaced.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    NoisyLabels
        The labels `y` as a user would get them, and the `confidence` to pass as `y_proba`.

    >>> flip_labels(["a", "b"], 1.0).y.tolist()
    ['b', 'a']
    """
    classes, index = np.unique(np.asarray(y), return_inverse=True)
    probability = np.broadcast_to(np.asarray(probability, dtype=np.float64), index.shape)
    if not ((probability >= 0) & (probability <= 1)).all():
        raise ValueError("probability must lie between 0 and 1.")
    if len(classes) < 2:
        raise ValueError("y must have at least two classes, or there is nothing to flip a label to.")
    random = check_random_state(random_state)
    flipped = random.uniform(size=len(index)) < probability
    other = (index + random.randint(1, len(classes), size=len(index))) % len(classes)
    return NoisyLabels(classes[np.where(flipped, other, index)], 1 - probability)
