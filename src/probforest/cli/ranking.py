"""Which objects of a table are worth another measurement, and of which feature."""

from typing import Any, NamedTuple

import numpy as np

from ..inputs.cell_error import CellError
from ..storage.catalogues import Catalogue
from .predictions import columns_of, error_shifts_of, in_file, table_for
from .reasons import entropy_of, rows_of

_BLOCK = 256  # rows that are asked at a time, the most doubtful first


class Worthwhile(NamedTuple):
    """A measurement of one row that is worth making."""

    row: int  # counts from 1
    feature: str
    gain: float  # bits of information, or variance
    effect: str


def best_measurements(model: Any, catalogue: Catalogue, units: dict[str, Any], most: int) -> list[Worthwhile]:
    """The best measurement of every row, of those with the largest gains.

    No measurement can gain more than the entropy of an answer: rows that are surer than the best ones could gain are
    not asked.
    """
    names, best, first_row = columns_of(model), list[Worthwhile](), 1
    shifts = error_shifts_of(model, catalogue, units)
    for chunk in catalogue.chunks(names):
        X = table_for(chunk.numbers, names, units)
        with model.assuming(shifts):
            try:
                doubt = _doubt(model, X)
            except CellError as error:
                raise in_file(error, catalogue, first_row - 1 + (error.row or 0)) from None
            best = _better(model, X, doubt, best, first_row, most)
        first_row += chunk.numbers.num_rows
    return best


def _better(
    model: Any, X: Any, doubt: np.ndarray, best: list[Worthwhile], first_row: int, most: int
) -> list[Worthwhile]:
    """The best measurements so far, and of the rows of another piece of the table, which begins at `first_row`."""
    order = np.argsort(-doubt, kind="stable")
    for start in range(0, len(order), _BLOCK):
        rows = order[start : start + _BLOCK]
        if len(best) == most and doubt[rows[0]] <= best[-1].gain:
            break
        value = model.value_of_measurement(rows_of(X, rows))
        best = sorted(best + _worthwhile(value, first_row + rows), key=lambda each: (-each.gain, each.row))[:most]
    return best


def _worthwhile(value: Any, rows: np.ndarray) -> list[Worthwhile]:
    found = [(place, value.limiting(place)) for place in range(len(rows))]
    return [
        Worthwhile(int(rows[place]), value.names[j], float(value.gain[place, j]), value.effect(place, j))
        for place, j in found
        if j is not None
    ]


def _doubt(model: Any, X: Any) -> np.ndarray:
    """What a measurement could gain at most, with some room for answers that follow improbable branches. Of numbers it
    is not known so quickly: all rows are asked."""
    if not hasattr(model, "predict_proba"):
        return np.where(np.isfinite(model.predict(X)), np.inf, 0.0)
    return 1.1 * entropy_of(model.predict_proba(X)) + 0.05
