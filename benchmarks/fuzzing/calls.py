"""Random calls: each succeeds with a sane answer, or is refused with a message that names an argument."""

import copy
import pickle
from typing import Any

import numpy as np
import pandas as pd

from .answers import Violation, check_model, check_refusal, describe_on_violation, expect, no_odd_warnings
from .problems import Problem, random_problem
from .spoilers import spoil
from .values import Table, pick, sides

_SPOILED = 0.25  # share of the cases
_SENTINEL = -9999.0


def run(random: np.random.Generator) -> None:
    """One problem: fit a model, ask it everything."""
    problem = random_problem(random)
    if random.random() < _SPOILED:
        spoil(problem, random)
    else:
        _dress(problem, random)
    with describe_on_violation(problem):
        attack(problem)


def attack(problem: Problem) -> None:
    before = pickle.dumps([problem.table, problem.labels, problem.query])
    try:
        with no_odd_warnings():
            _fit_and_ask(problem)
    finally:  # this may be the cause of whatever else was found
        expect(pickle.dumps([problem.table, problem.labels, problem.query]) == before, "an argument was modified")


def _fit_and_ask(problem: Problem) -> None:
    try:
        model = problem.fit()
        check_model(model, problem.query)
    except (ValueError, TypeError) as refusal:
        check_refusal(refusal)
        if problem.expected == "success":
            raise Violation(f"a valid problem was refused: {refusal}") from refusal
    else:
        expect(problem.expected != "refusal", "nonsense was accepted")


# The same numbers in another form


def _dress(problem: Problem, random: np.random.Generator) -> None:
    """Give the tables another type: lists, other orders in memory, read-only arrays, pandas with error columns."""
    form = pick(random, "arrays", "read-only", "Fortran", "lists", "float32", "frame", "frame with errors")
    if form in ("frame", "frame with errors") and problem.table.X_samples is None:
        _as_frames(problem, random, with_errors=form == "frame with errors")
    elif form not in ("arrays", "frame", "frame with errors"):
        problem.table, problem.query = _converted(problem.table, form), _converted(problem.query, form)
    problem.notes.append(form)
    if form == "float32":  # large values become infinite, small ones zero
        problem.may_be_refused("single precision")


def _converted(table: Table, form: str) -> Table:
    def convert(array: Any) -> Any:
        if isinstance(array, tuple):
            return tuple(convert(side) for side in array)
        if array is None or np.ndim(array) == 0:
            return array
        if form == "lists":
            return array.tolist()
        if form == "float32":
            with np.errstate(all="ignore"):
                return array.astype(np.float32)
        changed = np.array(array, order="F" if form == "Fortran" else "C")
        changed.flags.writeable = form != "read-only"
        return changed

    return Table(convert(table.X), convert(table.X_err), convert(table.X_limit), convert(table.X_samples))


def _as_frames(problem: Problem, random: np.random.Generator, *, with_errors: bool) -> None:
    names = [f"mag_{j}" for j in range(problem.table.X.shape[1])]
    fits = _can_be_columns(problem.table) and _can_be_columns(problem.query)
    if not with_errors or not fits or (problem.table.X_err is None) != (problem.query.X_err is None):
        problem.table, problem.query = (
            Table(pd.DataFrame(table.X, columns=names), *_others(table)) for table in (problem.table, problem.query)
        )
        return
    if isinstance(problem.parameters["distribution"], dict):
        by_name = {names[j]: family for j, family in problem.parameters["distribution"].items()}
        problem.parameters["distribution"] = by_name
    problem.parameters["error_columns"] = pick(random, "auto", {name: f"e_{name}" for name in names})
    problem.table, problem.query = (Table(_frame_with_errors(table, names)) for table in (problem.table, problem.query))
    if random.random() < 0.3:
        problem.parameters["sentinels"] = {"*": _SENTINEL}
        problem.table, problem.query = (Table(table.X.fillna(_SENTINEL)) for table in (problem.table, problem.query))
        problem.may_be_refused("errors that are sentinels")


def _can_be_columns(table: Table) -> bool:
    """Whether the errors are one number for each value, and nothing is a limit or has draws."""
    return (
        table.X_limit is None and table.X_samples is None and table.X_err is not None and len(sides(table.X_err)) == 1
    )


def _others(table: Table) -> tuple[Any, Any, Any]:
    return table.X_err, table.X_limit, table.X_samples


def _frame_with_errors(table: Table, names: list[str]) -> pd.DataFrame:
    (errors,) = sides(table.X_err)
    errors = np.broadcast_to(errors, table.X.shape)
    columns = {name: table.X[:, j] for j, name in enumerate(names)}
    return pd.DataFrame(columns | {f"e_{name}": copy.copy(errors[:, j]) for j, name in enumerate(names)})
