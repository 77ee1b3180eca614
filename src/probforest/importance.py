"""Permutation importance of features that have errors: a value moves together with its error, limit and samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Bunch, check_random_state

from .estimators.argument_types import Uncertainty
from .inputs.measured_values import is_pair
from .inputs.parameters import check_integer, complain
from .metrics import get_scorer, given


def permutation_importance(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    X_err: Uncertainty = None,
    X_limit: ArrayLike | None = None,
    X_samples: ArrayLike | None = None,
    scoring: str | Callable[..., Any] | None = None,
    n_repeats: int = 5,
    sample_weight: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> Bunch:
    """How much worse a fitted model scores when the values of one feature are dealt to other objects.

    Like :func:`sklearn.inspection.permutation_importance`, but a value keeps its error, its limit and its samples
    when it goes to another object, so that the model sees only measurements that exist. All features see the
    same permutations.

    Parameters
    ----------
    estimator : object
        The fitted model. If it has `error_pairs_`, a dict {value column: its pair}, where the `columns` of a pair
        name the error and limit columns, then `X` is a table that carries its errors itself, and a value column moves
        together with those of its pair; a pair of None has none.
    X : array-like or DataFrame (pandas or polars) of shape (n_samples, n_features)
        Values.
    y : array-like of shape (n_samples,)
        True labels.
    X_err : None, float, array-like of shape (n_features,) or (n_samples, n_features), or a pair of these, default=None
        Errors of the values. A pair is a tuple (lower, upper). Errors that all objects share have nothing to move.
    X_limit : array-like of shape (n_samples, n_features), default=None
        Limits, as the model takes them.
    X_samples : array-like of shape (n_samples, n_features, n_draws), default=None
        Samples of every value, as the model takes them.
    scoring : None, str or callable, default=None
        None: the model's own `score`. A name: see :func:`probforest.metrics.get_scorer`. A scorer that takes errors,
        such as those of :func:`probforest.metrics.make_scorer`. Arguments that are None are not handed over.
    n_repeats : int, default=5
        How often a feature is permuted.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the objects, for the score. They stay with the labels.
    random_state : int, RandomState or None, default=None
        Where the permutations come from; an int gives the same ones each time.

    Returns
    -------
    sklearn.utils.Bunch
        With `importances`, shape (n_features, n_repeats): the score as it is, minus the score with the feature
        permuted; their mean over the repeats `importances_mean` and their standard deviation `importances_std`,
        shape (n_features,). If the features have names, also `feature_names`, shape (n_features,). With
        `error_pairs_` the features are its value columns, in its order.

    Examples
    --------
    >>> import numpy as np
    >>> from probforest import ProbabilisticRandomForestClassifier
    >>> from probforest.importance import permutation_importance
    >>> rng = np.random.default_rng(0)
    >>> X, X_err = rng.normal(size=(100, 2)), rng.uniform(0.1, 0.3, (100, 2))
    >>> y = X[:, 0] > 0
    >>> forest = ProbabilisticRandomForestClassifier(n_estimators=10, random_state=0).fit(X, y, X_err=X_err)
    >>> result = permutation_importance(forest, X, y, X_err=X_err, random_state=0)
    >>> int(result.importances_mean.argmax())
    0
    """
    check_integer("n_repeats", n_repeats, 1)
    score = _score_function(scoring)
    features, names = _features(X, estimator)
    errors = given(X_err=X_err, X_limit=X_limit, X_samples=X_samples)
    weights = given(sample_weight=sample_weight)
    random = check_random_state(random_state)
    orders = [random.permutation(np.shape(X)[0]) for _ in range(n_repeats)]

    def score_when_moved(feature: int, columns: list[int], order: np.ndarray) -> float:
        moved = {name: _moved_errors(table, feature, order) for name, table in errors.items()}
        return score(estimator, _moved(X, columns, order), y, **moved, **weights)

    baseline = score(
        estimator, X, y, **errors, **weights
    )  # first: here the model raises its errors about the arguments
    scores = [
        [score_when_moved(feature, columns, order) for order in orders] for feature, columns in enumerate(features)
    ]
    return _summary(baseline - np.array(scores), names)


def _summary(importances: np.ndarray, names: list | None) -> Bunch:
    summary = Bunch(
        importances_mean=importances.mean(axis=1), importances_std=importances.std(axis=1), importances=importances
    )
    if names is not None:
        summary.feature_names = np.array(names, dtype=object)
    return summary


def _score_function(scoring: Any) -> Callable[..., Any]:
    """What is called as (estimator, X, y, **errors and weights)."""
    if scoring is None:
        return lambda estimator, X, y, **arguments: estimator.score(X, y, **arguments)
    if isinstance(scoring, str):
        return get_scorer(scoring)
    if not callable(scoring):
        complain("scoring", scoring, "None, the name of one of scikit-learn's scorers, or a scorer")
    return scoring


def _features(X: Any, estimator: Any) -> tuple[list[list[int]], list | None]:
    """The columns of X that each feature moves, and the names of the features if they have any."""
    shape = np.shape(X)
    if len(shape) != 2:
        raise ValueError(f"X has shape {shape}; expected a table, (n_samples, n_features).")
    names = getattr(X, "columns", None)
    pairs = getattr(estimator, "error_pairs_", None)
    if pairs:
        return _columns_of_pairs(names, pairs), list(pairs)
    return [[column] for column in range(shape[1])], None if names is None else list(names)


def _columns_of_pairs(names: Any, pairs: dict) -> list[list[int]]:
    """The places of every value column and of the columns that belong to it."""
    if names is None:
        raise ValueError(
            f"X has no column names, but the model was fitted with a table that carries its errors. Give a table with "
            f"the value columns {list(pairs)} and their errors."
        )
    place = {name: column for column, name in enumerate(names)}
    wanted = [[value, *(pair.columns if pair is not None else ())] for value, pair in pairs.items()]
    missing = [name for group in wanted for name in group if name not in place]
    if missing:
        raise ValueError(f"X lacks the columns {missing}, which the model was fitted with; it has {list(names)}.")
    return [[place[name] for name in group] for group in wanted]


def _moved_errors(table: Any, feature: int, order: np.ndarray) -> Any:
    """X_err, X_limit or X_samples with the rows of one feature in another order."""
    if is_pair(table):
        return tuple(_moved_errors(part, feature, order) for part in table)
    if len(np.shape(table)) < 2:  # the same for all objects
        return table
    return _moved(table, [feature], order)


def _moved(table: Any, columns: list[int], order: np.ndarray) -> Any:
    """A copy of a table (n, d) or (n, d, m) with the rows of some columns in another order."""
    if hasattr(table, "with_columns"):  # polars
        return table.with_columns([table.to_series(column)[order] for column in columns])
    if hasattr(table, "iloc"):  # pandas
        moved = table.copy(deep=False)
        for column in columns:
            moved.isetitem(column, table.iloc[:, column].array[order])
        return moved
    moved = np.array(table, subok=True)  # a masked array keeps its mask
    moved[:, columns] = moved[order[:, None], columns]
    return moved
