"""Laws between calls that hold bit by bit: what must not matter does not matter."""

import copy
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import clone

import probforest

from . import nearly
from .answers import ROUNDING, describe_on_violation, expect, no_odd_warnings
from .problems import ENDLESS, UNBALANCED, Problem, random_problem
from .values import Table, pick, sides


class Law(NamedTuple):
    """A check, and what the random problems for it have in common."""

    check: Callable[[Problem, np.random.Generator], None]
    options: dict[str, Any] = {}  # noqa: RUF012  (never changed)


def run(random: np.random.Generator) -> None:
    """One law, with one problem."""
    name = pick(random, *LAWS)
    law = LAWS[name]
    problem = valid_problem(random, **law.options)
    problem.notes.append(f"law: {name}")
    with describe_on_violation(problem), no_odd_warnings():
        law.check(problem, random)


def valid_problem(random: np.random.Generator, **options: Any) -> Problem:
    """A problem that nothing is wrong with, whatever its random parts are."""
    problem = random_problem(random, **options)
    problem.parameters["unknown_error"] = "exact"
    if any(note.startswith("asymmetric") for note in problem.notes):
        problem.parameters["distribution"] = "normal"
    if UNBALANCED in problem.notes or ENDLESS in problem.notes:
        problem.labels.pop("sample_weight", None)
        problem.parameters["class_weight"] = None
    problem.expected, problem.notes = "success", []
    return problem


def ask(model: Any, query: Table) -> np.ndarray:
    return model.predict_proba(query.X, **query.about())


def expect_same_bits(found: np.ndarray, expected: np.ndarray, what: str) -> None:
    expect(found.shape == expected.shape, f"{what}: another shape")
    if not np.array_equal(found, expected, equal_nan=True):
        expect(False, f"{what}: answers differ by {np.nanmax(np.abs(found - expected)):.2g}")


# Laws of a prediction


def _company(problem: Problem, random: np.random.Generator) -> None:
    """The answer for an object does not depend on the others in the query."""
    model, query = problem.fit(), problem.query
    n = len(query.X)
    together = ask(model, query)
    order = random.permutation(n)
    expect_same_bits(ask(model, query.rows(order)), together[order], "another order of the query")
    for i in order[:8]:
        expect_same_bits(ask(model, query.rows([i])), together[[i]], "an object alone")
    if n > 1:
        cut = int(random.integers(1, n))
        pieces = [ask(model, query.rows(piece)) for piece in (slice(0, cut), slice(cut, n))]
        expect_same_bits(np.concatenate(pieces), together, "a query in two pieces")


def _storage(problem: Problem, random: np.random.Generator, model: Any = None) -> None:
    """A model that was saved, pickled or copied is the same."""
    model = problem.fit() if model is None else model
    expected = ask(model, problem.query)
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder) / "first.prf", Path(folder) / "second.prf"
        probforest.save(model, first)
        loaded = probforest.load(first)
        probforest.save(loaded, second)
        expect(first.read_bytes() == second.read_bytes(), "a loaded model is saved as another file")
    expect_same_bits(ask(loaded, problem.query), expected, "save and load")
    expect_same_bits(ask(pickle.loads(pickle.dumps(model)), problem.query), expected, "pickle")
    expect_same_bits(ask(copy.deepcopy(model), problem.query), expected, "deepcopy")


# Laws of a fit


def _threads(problem: Problem, random: np.random.Generator) -> None:
    """n_jobs does not matter."""
    one, three = problem.fit(n_jobs=1), problem.fit(n_jobs=3)
    expect_same_bits(ask(three, problem.query), ask(one, problem.query), "n_jobs")
    expect_same_bits(three.feature_importances_, one.feature_importances_, "n_jobs, importances")
    if hasattr(one, "oob_decision_function_"):
        expect_same_bits(three.oob_decision_function_, one.oob_decision_function_, "n_jobs, out of bag")


def _again(problem: Problem, random: np.random.Generator) -> None:
    """The same seed gives the same bits, also in a clone and in a model that was fitted with something else before."""
    model = problem.fit()
    expected = ask(model, problem.query)
    twin = clone(model).set_params(class_weight=None)
    half = slice(0, len(problem.table.X) // 2 + 1)
    twin.fit(problem.table.rows(half).X, np.arange(half.stop) % 2)
    twin.set_params(class_weight=model.class_weight).fit(problem.table.X, **problem.table.about(), **problem.labels)
    expect_same_bits(ask(twin, problem.query), expected, "the same fit again")


def _zero_errors(problem: Problem, random: np.random.Generator) -> None:
    """Errors of 0 are none."""
    expected = ask(problem.fit(), problem.query)
    for zero in (0, -0.0, np.zeros(problem.table.X.shape[1]), (0.0, np.zeros(problem.table.X.shape[1]))):
        table, query = (Table(each.X, zero, each.X_limit, each.X_samples) for each in (problem.table, problem.query))
        found = ask(problem.model().fit(table.X, **table.about(), **problem.labels), query)
        if query.X_limit is None:
            expect_same_bits(found, expected, "errors of 0")
        else:  # a limit is spread over sums of seven parts of each value instead of one
            expect((np.abs(found - expected) <= ROUNDING).all(), "errors of 0 beside limits: another answer")


def _forms_of_errors(problem: Problem, random: np.random.Generator) -> None:
    """The form in which the same errors are given does not matter."""
    expected = ask(problem.fit(), problem.query)
    table, query = (_in_another_form(each) for each in (problem.table, problem.query))
    model = problem.model().fit(table.X, **table.about(), **problem.labels)
    expect_same_bits(ask(model, query), expected, "errors in another form")


def _in_another_form(table: Table) -> Table:
    """An error for each value in the place of one for all; an array (n, d, 2) in that of a pair, and the reverse."""
    full = [np.broadcast_to(side, table.X.shape).copy() for side in sides(table.X_err)]
    if len(full) == 1:
        return Table(table.X, full[0], table.X_limit, table.X_samples)
    errors = np.stack(full, axis=2) if isinstance(table.X_err, tuple) else tuple(full)
    return Table(table.X, errors, table.X_limit, table.X_samples)


def _error_columns(problem: Problem, random: np.random.Generator) -> None:
    """A table that carries its errors says the same as arrays."""
    known = np.nan_to_num(problem.table.X_err, nan=0.1, posinf=np.inf)  # a column without any error is left out
    problem.table, problem.query = Table(problem.table.X, known), Table(problem.query.X, problem.query.X_err)
    expected = ask(problem.fit(), problem.query)
    names = [f"mag_{j}" for j in range(problem.table.X.shape[1])]
    frames = [_frame(each, names) for each in (problem.table, problem.query)]
    model = problem.model(error_columns="auto").fit(frames[0], **problem.labels)
    expect_same_bits(model.predict_proba(frames[1]), expected, "error columns")


def _frame(table: Table, names: list[str]) -> pd.DataFrame:
    errors = np.broadcast_to(sides(table.X_err)[0], table.X.shape)
    return pd.DataFrame(table.X, columns=names).join(pd.DataFrame(errors, columns=[f"e_{name}" for name in names]))


def _hard_labels(problem: Problem, random: np.random.Generator) -> None:
    """Labels that are certain are hard labels."""
    y = np.arange(len(problem.table.X)) % int(random.integers(1, 4))
    weight = {name: value for name, value in problem.labels.items() if name == "sample_weight"}
    classes = np.unique(y)
    kinds: list[dict[str, Any]] = [
        {"y": y},
        {"y": y, "y_proba": np.ones(len(y))},
        {"y_proba": np.eye(len(classes))[y], "classes": classes},
    ]
    problem.parameters["class_weight"] = pick(random, None, "balanced")
    problem.labels = {**kinds[0], **weight}
    expected = ask(problem.fit(), problem.query)
    for labels in kinds[1:]:
        problem.labels = {**labels, **weight}
        expect_same_bits(ask(problem.fit(), problem.query), expected, "hard labels as probabilities")


def _weightless(problem: Problem, random: np.random.Generator) -> None:
    """An object that weighs nothing changes nothing, wherever it stands and whatever its values are."""
    problem.parameters["class_weight"] = None  # "balanced" adds up weights, now in another order
    n = len(problem.table.X)
    without = problem.fit()
    places = np.sort(random.integers(0, n + 1, 3))
    index = np.insert(np.arange(n), places, random.integers(0, n, 3))
    is_new = np.insert(np.zeros(n, dtype=bool), places, True)
    table = problem.table.rows(index)
    table.X[is_new] = random.choice([0.5, 1e300, 1e-300, np.nan], table.X[is_new].shape)
    labels = {name: value if name == "classes" else np.asarray(value)[index] for name, value in problem.labels.items()}
    labels["sample_weight"] = np.where(is_new, 0.0, labels.get("sample_weight", 1.0))
    model = problem.model().fit(table.X, **table.about(), **labels)
    expect_same_bits(ask(model, problem.query), ask(without, problem.query), "objects without weight")


def _warm_start(problem: Problem, random: np.random.Generator) -> None:
    """Trees that are added later are those that would have been there from the start."""
    n_trees = problem.parameters["n_estimators"]
    model = problem.fit(warm_start=True).set_params(n_estimators=n_trees + 2)
    model.fit(problem.table.X, **problem.table.about(), **problem.labels)
    expected = problem.fit(n_estimators=n_trees + 2)
    expect_same_bits(ask(model, problem.query), ask(expected, problem.query), "warm_start")


def _error_features(problem: Problem, random: np.random.Generator) -> None:
    """Without the trees that look at errors, a model with error features is one without them."""
    try:
        model = problem.fit(error_features=True)
    except ValueError as refusal:
        expect("error_features=True, but no known error" in str(refusal), f"error features: {refusal}")
        return
    shifts = model.error_shifts(problem.query.X, **problem.query.about())
    with model.assuming([shift._replace(is_shifted=True) for shift in shifts]):
        expect_same_bits(ask(model, problem.query), ask(problem.fit(), problem.query), "error features, fallback")
    _storage(problem, random, model)


def _out_of_bag(problem: Problem, random: np.random.Generator) -> None:
    """Every object is judged by the trees that did not draw it, and by no other."""
    problem.labels = {"y": np.arange(len(problem.table.X)) % 3}  # all objects weigh the same
    model = problem.fit(class_weight=None, warm_start=False)
    total, n_judges = np.zeros(model.oob_decision_function_.shape), np.zeros(len(problem.table.X))
    for tree, draw in zip(model.trees_, model.draws_, strict=True):
        single = copy.copy(model)
        single.trees_ = [tree]
        is_judge = draw.counts() == 0
        total += np.where(is_judge[:, None], ask(single, problem.table), 0.0)
        n_judges += is_judge
    judged = n_judges > 0
    expect(np.isnan(model.oob_decision_function_[~judged]).all(), "an object that every tree drew has been judged")
    off = np.abs(model.oob_decision_function_[judged] - total[judged] / n_judges[judged, None])
    expect((off <= ROUNDING).all(), f"out-of-bag answers are off by {off.max(initial=0.0):.2g}")


FOREST = {"estimator": "forest"}
LAWS: dict[str, Law] = {
    "company": Law(_company),
    "storage": Law(_storage),
    "threads": Law(_threads, {**FOREST, "max_samples": None, "bootstrap": True, "oob_score": True}),
    "again": Law(_again),
    "zero errors": Law(_zero_errors, {"forms": ("none",)}),
    "forms of errors": Law(_forms_of_errors, {"forms": ("scalar", "feature", "cell", "pair", "cube")}),
    "error columns": Law(_error_columns, {"forms": ("scalar", "feature", "cell")}),
    "error features": Law(_error_features),
    "hard labels": Law(_hard_labels),
    "weightless": Law(_weightless),
    "warm start": Law(_warm_start, {**FOREST, "oob_score": False}),
    "out of bag": Law(_out_of_bag, {**FOREST, "max_samples": None, "bootstrap": True, "oob_score": True}),
    **{name: Law(*law) for name, law in nearly.LAWS.items()},
}
