"""Shapley values of the features of objects, by sampling.

A coalition has the features of the object that is explained; all others are those of a background object. Features join
in a random order, and each is given the change of the answer when it joins. For every order the reverse one is taken,
too: this cancels most of the scatter.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

_MOST_ROWS = 20_000  # mixed objects that are answered at a time


class ShapleyValues(NamedTuple):
    """Shapley values of n objects, and what they scatter by because orders and backgrounds were drawn."""

    values: np.ndarray  # (n, d, k)
    errors: np.ndarray  # (n, d, k) standard errors


class Answers(NamedTuple):
    """What the model says about the objects (n, k), and about the background objects (b, k)."""

    objects: np.ndarray
    background: np.ndarray


def shapley_values(
    known: Answers,
    n_features: int,
    n_orders: int,
    answers_of: Callable[[np.ndarray], np.ndarray],
    random: np.random.RandomState,
) -> ShapleyValues:
    """Each object is compared with each background object in `n_orders` random orders of the features and their
    reverses. `answers_of` answers mixed objects: it is given the row (m, d) that each of their values comes from, that
    of an object, or n + that of a background object.

    All objects see the same orders, so that the values of an object don't depend on its company.
    """
    n_objects, n_background = len(known.objects), len(known.background)
    n_walks = n_background * n_orders
    orders = np.array([random.permutation(n_features) for _ in range(n_walks)])
    orders = np.stack([orders, orders[:, ::-1]], axis=1)  # (walks, 2, d)
    partner = np.repeat(np.arange(n_background), n_orders)
    n_rows = max(1, _MOST_ROWS // max(1, 2 * n_walks * (n_features - 1)))
    found = [
        _of_block(np.arange(first, last), known, orders, partner, answers_of)
        for first, last in pairwise([*range(0, n_objects, n_rows), n_objects])
    ]
    return ShapleyValues(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def _of_block(
    objects: np.ndarray,
    known: Answers,
    orders: np.ndarray,
    partner: np.ndarray,
    answers_of: Callable[[np.ndarray], np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """Values and errors of some objects."""
    n_walks, _, n_features = orders.shape
    position = np.argsort(orders, axis=2)  # when each feature joins
    joined = position[:, :, None, :] <= np.arange(n_features - 1)[:, None]  # (walks, 2, d - 1, d) after each step
    of_background = len(known.objects) + partner[:, None, None, None]
    rows = np.where(joined, objects[:, None, None, None, None], of_background)  # (objects, walks, 2, d - 1, d)
    n_columns = known.objects.shape[1]
    between = answers_of(rows.reshape(-1, n_features)) if n_features > 1 else np.empty((0, n_columns))
    path = np.empty((len(objects), n_walks, 2, n_features + 1, n_columns))
    path[:, :, :, 0] = known.background[partner][:, None]
    path[:, :, :, 1:-1] = between.reshape(len(objects), n_walks, 2, n_features - 1, n_columns)
    path[:, :, :, -1] = known.objects[objects][:, None, None]
    steps = np.take_along_axis(np.diff(path, axis=3), position[None, ..., None], axis=3)  # by feature
    of_walks = steps.mean(axis=2)  # of an order and its reverse
    errors = of_walks.std(axis=1, ddof=1) / np.sqrt(n_walks) if n_walks > 1 else np.full(of_walks[:, 0].shape, np.nan)
    return of_walks.mean(axis=1), errors
