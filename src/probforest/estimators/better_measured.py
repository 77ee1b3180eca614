"""What a model would answer if values were known better than they are."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..features.cell_quantiles import better_known, cell_quantiles
from ..features.limits import TrainingSpread
from ..features.remeasured import Remeasured
from ..kernels.layout import Cells

# Pruning of careful answers, at most; 0 would cost several times as much and change next to nothing.
KEEP_PROBA = 0.002
_LEVELS = (np.arange(12) + 0.5) / 12  # of the places where a value may truly be
_MOST_ROWS = 20_000  # tables of what might be measured, times features, are made for so many rows at a time


class Possible(NamedTuple):
    """What might be answered for some objects if one feature were known better."""

    feature: int
    rows: np.ndarray  # (r,) the objects whose value is not exact
    answers: np.ndarray  # (r, q, k) at equally probable places of the value


def check_factor(factor: float) -> float:
    """The factor of the errors of better measurements."""
    if not (isinstance(factor, int | float) and 0 <= factor <= 1):
        raise ValueError(f"factor is {factor!r}; expected a number from 0 (exact) to 1 (as it is).")
    return float(factor)


def possible_answers(
    cells: Cells, spreads: Sequence[TrainingSpread], factor: float, answers_of: Callable[[Cells], np.ndarray]
) -> Iterator[Possible]:
    """What `answers_of` would say about objects if the errors of one of their first features, one after the other, were
    `factor` × as large; `spreads` are those of these features. Exact values are left out: nothing is open there."""
    n_values = len(spreads)
    for first, last in _blocks(len(cells.values), n_values):
        some = cells._replace(values=cells.values[first:last])
        quantiles = cell_quantiles(some, spreads, _LEVELS)
        medians = cell_quantiles(some, spreads, np.array([0.5]))[:, :, 0]
        for j in range(n_values):
            # Nothing can be gained from exact values, nor known of missing ones of which the training set has nothing.
            rows = np.flatnonzero(quantiles[:, j, 0] < quantiles[:, j, -1])
            if len(rows) == 0:
                continue
            asked = np.repeat(rows, len(_LEVELS))
            middle = medians[rows, j, None]
            places = middle + np.sqrt(1 - factor**2) * (quantiles[rows, j] - middle)
            copies = some._replace(values=some.values[asked])
            answers = answers_of(better_known(copies, places.ravel(), medians[asked, j], j, factor))
            yield Possible(j, first + rows, answers.reshape(len(rows), len(_LEVELS), -1))


def possible_answers_jointly(
    remeasured: Remeasured, n_objects: int, n_values: int, factor: float, answers_of: Callable[[Cells], np.ndarray]
) -> Iterator[Possible]:
    """The same if features say something about each other: a better value changes what is known about all others."""
    for first, last in _blocks(n_objects, n_values):
        rows, features, cells = remeasured.cells(slice(first, last), _LEVELS, factor)
        if len(rows):
            answers = answers_of(cells).reshape(len(rows), len(_LEVELS), -1)
            for j in np.unique(features).tolist():
                yield Possible(j, rows[features == j], answers[features == j])


def _blocks(n_objects: int, n_values: int) -> Iterator[tuple[int, int]]:
    n_rows = max(1, _MOST_ROWS // (n_values * len(_LEVELS)))
    return pairwise([*range(0, n_objects, n_rows), n_objects])
