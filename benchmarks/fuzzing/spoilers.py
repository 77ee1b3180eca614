"""Problems with one thing wrong. A call must refuse them and name the argument."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .problems import Problem
from .values import pick

Spoiler = Callable[[Problem, np.random.Generator], None]

_WRONG_PARAMETERS: dict[str, tuple[Any, ...]] = {
    "criterion": ("log_loss", None, 1),
    "max_depth": (0, -1, 2.0, "3", np.nan),
    "min_samples_split": (0, 1, 1.5, "2", None, np.inf),
    "min_samples_leaf": (0, 0.0, 1.5, None, np.nan),
    "min_weight_fraction_leaf": (-0.1, 0.6, None, np.nan),
    "max_features": (0, 0.0, 1.5, "all", 10**6, -1),
    "min_impurity_decrease": (-1.0, None, "0", np.nan),
    "class_weight": ("heavy", 1.0, {"nothing like this": 1.0}, [1.0]),
    "keep_proba": (-0.1, 1.1, None, np.nan, "0"),
    "missing": ("nowhere", None, 0),
    "unknown_error": ("mean", None),
    "label_information": (1, "yes", None),
    "max_bins": (1, 65_536, 2.5, None),
    "distribution": ("cauchy", None, ("student_t", 2.0), ("student_t", "x"), {"no such column": "normal"}, 7),
    "prior": ("flat", 0, True),
    "error_columns": ("auto", {"gmag": "e_gmag"}, 3),
    "sentinels": (99, {"gmag": 99}, {0: "x"}),
}


def _parameter(problem: Problem, random: np.random.Generator) -> None:
    name = pick(random, *_WRONG_PARAMETERS)
    problem.parameters[name] = pick(random, *_WRONG_PARAMETERS[name])
    problem.notes.append(f"wrong parameter {name}")


def _infinite_value(problem: Problem, random: np.random.Generator) -> None:
    X = problem.table.X.copy()
    X[tuple(random.integers(X.shape))] = pick(random, np.inf, -np.inf)
    problem.table = replace(problem.table, X=X)


def _wrong_shape_of_errors(problem: Problem, random: np.random.Generator) -> None:
    n, d = problem.table.X.shape
    wrong = pick(random, (n + 1, d), (n, d + 1), (d + 1,), (n, d, 3), (1, 1, 1, 1), (0,))
    problem.table = replace(problem.table, X_err=np.ones(wrong))


def _negative_error(problem: Problem, random: np.random.Generator) -> None:
    errors = np.ones(problem.table.X.shape)
    errors[tuple(random.integers(errors.shape))] = pick(random, -1.0, -1e-300, -np.inf)
    above = (np.ones(errors.shape), errors)  # the sign of an upper error is never right
    problem.table = replace(problem.table, X_err=pick(random, errors, -1.0, above))


def _errors_that_are_no_numbers(problem: Problem, random: np.random.Generator) -> None:
    wrong = pick(random, "a", ["a"] * problem.table.X.shape[1], {"a": 1}, object(), [[1.0], [1.0, 2.0]], 1j)
    problem.table = replace(problem.table, X_err=wrong)


def _wrong_limits(problem: Problem, random: np.random.Generator) -> None:
    limits = np.zeros(problem.table.X.shape)
    limits[0, 0] = pick(random, 2.0, 0.5, np.inf)
    wrong = pick(random, limits, limits[:, :-1], np.zeros(limits.shape, dtype=bool), "upper", 1)
    problem.table = replace(problem.table, X_limit=wrong)


def _wrong_samples(problem: Problem, random: np.random.Generator) -> None:
    samples = np.ones((*problem.table.X.shape, 3))
    samples[0, 0, 0] = np.inf
    wrong = pick(random, samples, samples[:, :, 0], samples[:, :, :0], samples[1:], "x")
    problem.table = replace(problem.table, X_samples=wrong)


def _wrong_labels(problem: Problem, random: np.random.Generator) -> None:
    n = len(problem.table.X)
    wrong = pick(
        random,
        {"y": np.zeros(n + 1)},
        {"y": np.full(n, np.nan)},
        {"y": [None] * n},
        {"y": None},
        {"y": np.zeros(n), "y_proba": np.full(n, pick(random, -0.1, 1.1, np.nan))},
        {"y": np.zeros(n), "y_proba": np.zeros((n, 2))},
        {"y_proba": np.ones((n, 1)) * 0.5, "classes": [1]},
        {"y_proba": np.eye(2)[np.zeros(n, dtype=int)]},
        {"y_proba": np.eye(2)[np.zeros(n, dtype=int)], "classes": [1, 1]},
        {"y_proba": np.eye(2)[np.zeros(n, dtype=int)], "classes": ["a", "b", "c"]},
        {"y": np.zeros(n), "classes": [5, 6]},
    )
    problem.labels = dict(wrong)


def _wrong_weights(problem: Problem, random: np.random.Generator) -> None:
    n = len(problem.table.X)
    bad = np.ones(n)
    bad[-1] = pick(random, -1.0, np.nan, np.inf)
    wrong = pick(random, bad, np.zeros(n), np.ones(n + 1), np.ones((n, 2)), np.full(n, 1e200), "heavy", -1.0)
    problem.labels = {**problem.labels, "sample_weight": wrong}


def _wrong_query(problem: Problem, random: np.random.Generator) -> None:
    n, d = problem.query.X.shape
    infinite = problem.query.X.copy()
    infinite[0, 0] = np.inf
    X = pick(
        random, np.ones((n, d + 1)), np.ones(d), infinite, "x", None, np.full((n, d), "a"), np.ones((n, d), complex)
    )
    problem.query = replace(problem.query, X=X)
    problem.notes.append("the query is wrong")


_SPOILERS: dict[str, Spoiler] = {
    "parameter": _parameter,
    "infinite value": _infinite_value,
    "shape of errors": _wrong_shape_of_errors,
    "negative error": _negative_error,
    "errors that are no numbers": _errors_that_are_no_numbers,
    "limits": _wrong_limits,
    "samples": _wrong_samples,
    "labels": _wrong_labels,
    "weights": _wrong_weights,
    "query": _wrong_query,
}


def spoil(problem: Problem, random: np.random.Generator) -> None:
    """Make one thing wrong."""
    name = pick(random, *_SPOILERS)
    _SPOILERS[name](problem, random)
    problem.expected = "refusal"
    problem.notes.append(f"spoiled: {name}")
