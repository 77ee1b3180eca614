"""Causes, for the report of `probforest evaluate`: the worst mistakes, and which errors limit the accuracy."""

from typing import Any, NamedTuple

import numpy as np

from ..evaluation.findings import ErrorCosts
from ..evaluation.scores import Evaluation
from ..evaluation.tables import Table
from ..storage.catalogues import Catalogue
from .predictions import TablePredictions, columns_of, table_for
from .reasons import Reasons, reasons_of, rows_of
from .table_rows import pick_rows

_SAMPLE = 200  # rows that tell what errors cost


class Study(NamedTuple):
    """Causes of mistakes."""

    mistakes: Table | None
    error_costs: ErrorCosts | None  # None if no value could be known better


def study(
    model: Any, catalogue: Catalogue, evaluation: Evaluation, rows: np.ndarray, predictions: TablePredictions
) -> Study:
    """Read some rows of a table again; `rows` (n,) are those of the objects that were evaluated, and count from 0."""
    wrong = [int(rows[mistake.place]) + 1 for mistake in evaluation.mistakes]
    sample = rows[np.unique(np.linspace(0, len(rows) - 1, _SAMPLE).round().astype(int))] + 1  # evenly spread
    names, places = columns_of(model), list(dict.fromkeys([*wrong, *sample.tolist()]))
    X = table_for(pick_rows(catalogue, names, places), names, predictions.units)
    where = {place: number for number, place in enumerate(places)}
    sampled = rows_of(X, np.array([where[place] for place in sample.tolist()]))
    mistakes = None
    if wrong:
        mistakes = _table(evaluation, wrong, _reasons(model, rows_of(X, np.arange(len(wrong))), predictions))
    return Study(mistakes, _error_costs(model, sampled, predictions))


def _reasons(model: Any, X: Any, predictions: TablePredictions) -> Reasons | None:
    if model.voting == "majority":
        return None  # votes can't be explained
    return reasons_of(model, X, predictions.shifts)


def _table(evaluation: Evaluation, places: list[int], reasons: Reasons | None) -> Table:
    heads = ["row", "true class", "answer", "its probability", "probability of the truth"]
    rows = [
        [f"{place:,}", each.truth, each.answer, f"{each.proba_of_answer:.3f}", f"{each.proba_of_truth:.3f}"]
        for place, each in zip(places, evaluation.mistakes, strict=True)
    ]
    if reasons is None:
        return Table(heads, rows)
    rows = [[*row, because] for row, because in zip(rows, reasons.because, strict=True)]
    rows = [[*row, limit or "no single error"] for row, limit in zip(rows, reasons.limited_by, strict=True)]
    return Table([*heads, "main reasons for the answer", "limited by"], rows)


def _error_costs(model: Any, X: Any, predictions: TablePredictions) -> ErrorCosts | None:
    with model.assuming(predictions.shifts):
        value = model.value_of_measurement(X)
    if not value.gain.any():
        return None
    costs = value.error_importances()
    return ErrorCosts(costs.index, costs.values, costs.errors, len(value.gain))
