"""Noisy data with known truth: the data of the paper's experiments, and noise for your own data.

All functions take true values and a seed and return new arrays; their arguments are not modified.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.datasets import make_classification
from sklearn.utils import check_random_state

from .inputs.parameters import check_flag, check_integer, check_number, check_word

NOISE_CASES = ("constant", "objects", "groups", "cells")
SPREADS = ("values", "magnitudes")
LABEL_NOISE = ("uniform", "upper", "constant", "clean", "authors")


class NoisyTable(NamedTuple):
    """Measured values and their errors.

    Examples
    --------
    >>> X, X_err = add_noise([[0.0, 1.0], [2.0, 3.0]], level=0.5, random_state=0)
    >>> X.shape == X_err.shape
    True
    """

    X: np.ndarray
    X_err: np.ndarray


class NoisyLabels(NamedTuple):
    """Labels, some of them wrong, and the probability that each is right.

    Examples
    --------
    >>> y, confidence = flip_labels([0, 1, 1, 0], 0.2, random_state=0)
    >>> confidence.tolist()
    [0.8, 0.8, 0.8, 0.8]
    """

    y: np.ndarray
    confidence: np.ndarray


def make_two_classes(
    n_samples: int = 10_000, random_state: int | np.random.RandomState | None = None, *, simple: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """The data of the paper's experiments: two classes, 15 features, 10 of them informative.

    Parameters
    ----------
    n_samples : int, default=10_000
        Number of objects.
    random_state : int, RandomState instance or None, default=None
        Seed.
    simple : bool, default=False
        One cluster per class and no wrong label, as in the notebooks that the paper's authors published; otherwise
        scikit-learn's defaults, two clusters and 1 % of the labels drawn at random.

    >>> X, y = make_two_classes(100, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((100, 15), [0, 1])
    """
    check_flag("simple", simple)
    options = {"n_clusters_per_class": 1, "flip_y": 0} if simple else {}
    return make_classification(n_samples, n_features=15, n_informative=10, random_state=random_state, **options)


def add_noise(
    X: ArrayLike,
    level: float,
    *,
    case: str = "objects",
    groups: int | ArrayLike | None = None,
    noisy_share: float | None = None,
    per_object: bool = True,
    spread: str = "values",
    random_state: int | np.random.RandomState | None = None,
) -> NoisyTable:
    """Add normally distributed noise to the true values `X`.

    The error of a value is level × (coefficient of the value) × (spread of the feature).

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        True values.
    level : float
        The noise coefficient N_s: the largest error in units of the feature's spread.
    case : {"constant", "objects", "groups", "cells"}, default="objects"
        The coefficients of the values, in the order of the paper's noise complexity. "constant": 1 everywhere.
        "objects": one per object times one per feature, both uniform in (0, 1). "groups": the same, but each group of
        objects has its own coefficients of the features. "cells": one per value, uniform in (0, 1).
    groups : int or array-like of shape (n_samples,), default=None
        For case "groups": the number of groups (None: two), to which objects are assigned at random; or the group of
        each object (training and test set, say).
    noisy_share : float or None, default=None
        For cases "objects" and "groups": instead of a uniform coefficient, a feature has a coefficient of 1 with this
        probability, otherwise 0.
    per_object : bool, default=True
        For cases "objects" and "groups": whether there is a coefficient per object.
    spread : {"values", "magnitudes"}, default="values"
        The spread of a feature: the standard deviation of its values, or of their absolute values.
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
    check_word("spread", spread, SPREADS)
    check_flag("per_object", per_object)
    if noisy_share is not None:
        check_number("noisy_share", noisy_share, 0, 1)
    if groups is not None and case != "groups":
        raise ValueError(f'groups has a meaning for case="groups" only; got case="{case}". Leave it out.')
    if case in ("constant", "cells") and (noisy_share is not None or not per_object):
        raise ValueError(f'noisy_share and per_object have no meaning for case="{case}". Leave them out.')
    X = np.asarray(X, dtype=np.float64)
    random = check_random_state(random_state)
    if case == "constant":
        coefficient = np.ones(X.shape)
    elif case == "cells":
        coefficient = random.uniform(size=X.shape)
    else:
        of_objects = random.uniform(size=(len(X), 1)) if per_object else np.ones((len(X), 1))
        group = np.zeros(len(X), dtype=int) if case == "objects" else _groups(groups, len(X), random)
        of_features = random.uniform(size=(group.max() + 1, X.shape[1]))
        if noisy_share is not None:
            of_features = (of_features < noisy_share).astype(np.float64)
        coefficient = of_objects * of_features[group]
    X_err = level * coefficient * (X if spread == "values" else np.abs(X)).std(axis=0)
    return NoisyTable(X + X_err * random.normal(size=X.shape), X_err)


def _groups(groups: Any, n_objects: int, random: np.random.RandomState) -> np.ndarray:
    """The number of each object's group, from 0."""
    groups = 2 if groups is None else groups
    if np.ndim(groups) == 0:
        check_integer("groups", groups, 1)
        return random.randint(groups, size=n_objects)
    _, group = np.unique(np.asarray(groups), return_inverse=True)
    if group.shape != (n_objects,):
        raise ValueError(f"groups must be a number, or one group for each of the {n_objects} objects.")
    return group


def switch_probabilities(
    n_samples: int,
    wrong: float,
    kind: str = "uniform",
    random_state: int | np.random.RandomState | None = None,
) -> np.ndarray:
    """The probability that each label is switched, for about a share `wrong` of wrong labels.

    Parameters
    ----------
    n_samples : int
        Number of objects.
    wrong : float
        Share of wrong labels, 0 to 0.5. It is the mean of the probabilities, except for "authors", and for "clean",
        where it is the share among the labels that are not known to be clean.
    kind : {"uniform", "upper", "constant", "clean", "authors"}, default="uniform"
        "uniform": between 0 and 2 `wrong`. "upper": between 2 `wrong` - 0.5 and 0.5 (0 and 2 `wrong` below a quarter).
        "constant": `wrong` for all. "clean": 0 for a tenth of the objects, `wrong` for the others. "authors": as in
        the notebooks of the paper's authors, normal around `wrong` with a standard deviation of 0.25, clipped to 0 to
        0.5, and 0 for a tenth of the objects.
    random_state : int, RandomState instance or None, default=None
        Seed.

    >>> switch_probabilities(3, 0.4, "constant").tolist()
    [0.4, 0.4, 0.4]
    """
    check_integer("n_samples", n_samples, 1)
    check_number("wrong", wrong, 0, 0.5)
    check_word("kind", kind, LABEL_NOISE)
    random = check_random_state(random_state)
    if kind == "uniform":
        return random.uniform(0, 2 * wrong, n_samples)
    if kind == "upper":
        return random.uniform(max(0.0, 2 * wrong - 0.5), min(0.5, 2 * wrong), n_samples)
    if kind == "constant":
        return np.full(n_samples, float(wrong))
    clean = random.uniform(size=n_samples) < 0.1
    doubtful = np.full(n_samples, float(wrong))
    if kind == "authors":
        doubtful = np.clip(random.normal(wrong, 0.25, n_samples), 0, 0.5)
    return np.where(clean, 0.0, doubtful)


def flip_labels(
    y: ArrayLike, probability: ArrayLike, random_state: int | np.random.RandomState | None = None
) -> NoisyLabels:
    """Replace each label by another class with a given probability.

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
        The labels `y`, some of them wrong, and the `confidence` to pass as `y_proba`.

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


def remove_cells(X: ArrayLike, share: float, random_state: int | np.random.RandomState | None = None) -> np.ndarray:
    """A copy of `X` in which a random `share` of the values is NaN.

    >>> int(np.isnan(remove_cells(np.ones((100, 10)), 0.2, random_state=0)).sum())
    200
    """
    check_number("share", share, 0, 1)
    X = np.array(X, dtype=np.float64)
    gone = check_random_state(random_state).choice(X.size, round(share * X.size), replace=False)
    X.flat[gone] = np.nan
    return X
