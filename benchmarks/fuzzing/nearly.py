"""Laws between calls that hold up to rounding.

Sums that are added up in another order, and priors that are rounded to nine digits, make two fits differ in their last
digits; then a tree may also choose another one of two equally good splits. `expect_same_tree` allows for just that.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from .answers import ROUNDING, expect
from .problems import Problem
from .values import Table

CLOSE = 1e-6  # the nine digits of a prior, after a few hundred additions and differences


def expect_same_tree(found: Any, expected: Any, scale: np.ndarray, factor: np.ndarray | float, what: str) -> None:
    """Two fitted trees are the same, but for splits that are equally good; below one of these, all may differ.

    `scale` (d,) is the spread of the features of the expected tree, and `factor` the ratio of their units.
    """
    factor = np.broadcast_to(factor, scale.shape)
    pending = [(0, 0)]
    while pending:
        a, b = pending.pop()
        if _same_split(found, a, expected, b, scale, factor):
            _expect_close(found.value[a], expected.value[b], what)
            if found.feature[a] >= 0:
                pending += [(found.left[a], expected.left[b]), (found.right[a], expected.right[b])]
            continue
        gap = abs(found.decrease[a] - expected.decrease[b])
        expect(gap <= CLOSE, f"{what}: another split, which is worse or better by {gap:.2g}")


def _same_split(found: Any, a: int, expected: Any, b: int, scale: np.ndarray, factor: np.ndarray) -> bool:
    j = found.feature[a]
    if j != expected.feature[b]:
        return False
    if j < 0:
        return True
    s, t = found.threshold[a] / factor[j], expected.threshold[b]
    return bool(s == t or abs(s - t) <= CLOSE * (abs(t) + scale[j]))


def _expect_close(found: np.ndarray, expected: np.ndarray, what: str) -> None:
    off = np.abs(found - expected).max(initial=0.0)
    expect(off <= CLOSE, f"{what}: off by {off:.2g}")


def _fit(problem: Problem, table: Table, labels: dict[str, Any], **changed: Any) -> Any:
    return problem.model(**changed).fit(table.X, **table.about(), **labels)


def _spreads(table: Table) -> np.ndarray:
    """Of the known values of each feature (d,)."""
    known = ~np.isnan(table.X)
    highest = np.max(table.X, axis=0, where=known, initial=-np.inf)
    lowest = np.min(table.X, axis=0, where=known, initial=np.inf)
    return np.where(known.any(axis=0), highest - lowest, 0.0)


def _units(problem: Problem, random: np.random.Generator) -> None:
    """Features in other units give the same tree. Powers of two change no digit of a value."""
    factor = 2.0 ** random.integers(-60, 61, problem.table.X.shape[1])
    found = _fit(problem, problem.table.scaled(factor), problem.labels).tree_
    expect_same_tree(found, problem.fit().tree_, _spreads(problem.table), factor, "other units")


def _repeated(problem: Problem, random: np.random.Generator) -> None:
    """An object of weight 2 is the same as two objects."""
    problem.parameters["class_weight"] = None  # factors of a million would make more of the last digits
    n = len(problem.table.X)
    weight = random.integers(1, 4, n)
    index = np.repeat(np.arange(n), weight)
    labels = {name: value for name, value in problem.labels.items() if name != "sample_weight"}
    repeated = _rows_of_labels(labels, index)
    expected = _fit(problem, problem.table, {**labels, "sample_weight": weight}).tree_
    found = _fit(problem, problem.table.rows(index), repeated).tree_
    expect_same_tree(found, expected, _spreads(problem.table), 1.0, "an object of weight 2")


def _order(problem: Problem, random: np.random.Generator) -> None:
    """The order of the training set does not matter to a tree."""
    index = random.permutation(len(problem.table.X))
    found = _fit(problem, problem.table.rows(index), _rows_of_labels(problem.labels, index)).tree_
    expect_same_tree(found, problem.fit().tree_, _spreads(problem.table), 1.0, "another order of the training set")


def _symmetric_pairs(problem: Problem, random: np.random.Generator) -> None:
    """Errors that are the same on both sides are symmetric; only the table of F has other steps.

    Not with keep_proba=1, where the last digit of F = 0.5 decides the one path that there is.
    """
    table = problem.table
    pair = Table(table.X, (table.X_err, table.X_err), table.X_limit, table.X_samples)
    found = _fit(problem, pair, problem.labels).tree_
    expect_same_tree(found, problem.fit().tree_, _spreads(table), 1.0, "the same error on both sides")


def _rows_of_labels(labels: dict[str, Any], index: np.ndarray) -> dict[str, Any]:
    return {name: value if name == "classes" else np.asarray(value)[index] for name, value in labels.items()}


def _vanishing_errors(problem: Problem, random: np.random.Generator) -> None:
    """Errors that vanish give the answers of exact values. The query lies where no threshold can be.

    Not where the joint prior fills holes: an exact value on an edge of the prior of a feature, whose edges are such
    values, belongs to the cell below, and with an error to both; what is learnt from a few hundred values shows that.
    """
    table = Table(problem.table.X)
    if np.isnan(table.X).any():
        problem.parameters["prior"] = "empirical"
    problem.labels.pop("sample_weight", None)
    problem.parameters["max_bins"] = 255  # few bins are cut elsewhere if a value has several grid points
    spread = np.maximum(_spreads(table), np.finfo(float).tiny)
    query = table.X + 1e-3 * spread * random.normal(size=table.X.shape)
    query = np.where(table.X > 0, np.abs(query), query)  # of a log-normal feature
    exact = _fit(problem, table, problem.labels)
    errors = 1e-12 * np.where(table.X != 0, np.minimum(np.abs(table.X), spread), spread)  # also in logarithms
    vague = _fit(problem, Table(table.X, errors), problem.labels)
    vague.label_truth_ = exact.label_truth_  # learnt from objects of the training set, which may lie on a threshold
    found, expected = vague.predict_proba(query, X_err=errors), exact.predict_proba(query)
    _expect_close(found, expected, "errors that vanish")


def _nothing_known(problem: Problem, random: np.random.Generator) -> None:
    """An object without any value gets the class frequencies of the training set."""
    tree = problem.fit()
    d = problem.table.X.shape[1]
    found = tree.predict_proba(np.full((1, d), np.nan), X_err=0.0)[0]
    expected = _class_frequencies(problem.labels, tree.classes_)
    off = np.abs(found - expected).max()
    expect(off <= ROUNDING, f"nothing known: off by {off:.2g}")


def _class_frequencies(labels: dict[str, Any], classes: np.ndarray) -> np.ndarray:
    if np.ndim(labels.get("y_proba")) == 2:
        pmf = labels["y_proba"][:, np.argsort(labels["classes"])]
    else:
        right = (np.asarray(labels["y"])[:, None] == classes).astype(float)
        confidence = np.asarray(labels.get("y_proba", 1.0)) * np.ones(len(right))
        rest = (1 - confidence) / max(len(classes) - 1, 1)
        pmf = right * confidence[:, None] + (1 - right) * rest[:, None]
    weight = np.asarray(labels.get("sample_weight", np.ones(len(pmf))), dtype=float)
    weight = weight / weight.max()
    return weight @ pmf / weight.sum()


_TREE = {"estimator": "tree", "max_features": None, "tame": True}
_EXACT = {"tame": True, "forms": ("none",), "max_features": None}
_KNOWS_ALL = {"estimator": "tree", "missing": "observed", "keep_proba": 0.0, "class_weight": None}
LAWS: dict[str, tuple[Callable[[Problem, np.random.Generator], None], dict[str, Any]]] = {
    "units": (_units, _TREE),
    "repeated": (_repeated, _TREE),
    "order": (_order, _TREE),
    "symmetric pairs": (_symmetric_pairs, {**_TREE, "keep_proba": 0.05, "forms": ("scalar", "feature", "cell")}),
    "vanishing errors": (_vanishing_errors, _EXACT),
    "nothing known": (_nothing_known, {**_KNOWS_ALL, "label_information": False}),
}
