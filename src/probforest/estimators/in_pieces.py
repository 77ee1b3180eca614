"""Forests of tables that are larger than the memory, or than one machine.

Four passes: what labels there are; a sample, from which everything is learnt that a fit learns before trees are grown;
the pieces of the table as cells and codes of bins; and trees, each of which draws from all pieces. An object is known
by its number in the table, so the forest is the same however the table is cut, and whoever works on it. Where the table
is as small as the sample, it is the forest of `fit`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..features.feature_bins import FeatureBins
from ..inputs.cell_error import CellError
from ..inputs.parameters import number_of_draws
from ..trees.bootstrap import Draw, seeds_of_trees
from ..trees.training_set import TrainingSet
from .bagging import BaggedTrees
from .class_pieces import ClassPieces
from .classifier import ProbabilisticClassifier
from .number_pieces import NumberPieces
from .table_pieces import Passes, Prepared, TablePiece, join_pieces

SAMPLE = 100_000  # rows that everything but the trees is learnt from
_SAMPLE_SEED = 0  # the same rows in every fit


class FitInPieces(NamedTuple):
    """What became of a fit."""

    n_rows: int
    sample_rows: np.ndarray  # (n_sample,) numbers of the rows in the sample
    n_objects: int  # rows that weigh something
    n_draws: int | None  # of each tree; None: every object once
    sample_targets: Any  # (n_sample,) y of the rows in the sample


def fit_in_pieces(
    model: Any,
    passes: Passes,
    *,
    n_sample: int = SAMPLE,
    most_draws: int | None = None,
    classes: Any = None,
    feature_model: Any = None,
) -> FitInPieces:
    """Fit a forest to a table in pieces. It has no trees of before.

    `most_draws` is how many objects a tree can hold: with max_samples=None, it draws no more than that. `classes` and
    `feature_model` as in `fit`.
    """
    _check(model)
    with model._unchanged_on_error(), model._with_features_of(feature_model):
        if classes is None and feature_model is not None:
            classes = getattr(feature_model, "classes_", None)
        return _fit(model, passes, n_sample, most_draws, classes)


def _check(model: Any) -> None:
    if not isinstance(model, BaggedTrees):
        raise TypeError(f"Only random forests can be fitted to a table in pieces; got {type(model).__name__}.")
    model._check_parameters()
    if model.warm_start:
        raise ValueError("warm_start=True: a fit to a table in pieces starts with a new forest. `merge` adds trees.")


def _fit(model: Any, passes: Passes, n_sample: int, most_draws: int | None, classes: Any) -> FitInPieces:
    reader: Any
    reader = ClassPieces(model, classes) if isinstance(model, ProbabilisticClassifier) else NumberPieces(model)
    survey = reader.survey(passes)
    rows = sampled_rows(survey.n_rows, n_sample)
    sample = join_pieces([piece for piece in passes.take(rows) if piece is not None])
    try:
        training, cells, truth = model._read_training_set(sample.given, *reader.targets(sample, survey))
    except CellError as problem:
        raise _in_piece(problem, rows, passes) from None
    is_whole = sum(survey.n_rows) == sample.n_rows
    if not is_whole:
        model._check_bins()
    bins = training.feature_bins if is_whole else model.feature_model_.shared_bins
    rules = reader.rules(sample, survey, passes)
    source, places = passes.prepare(_Prepare(reader, survey, rules, bins), rows)
    training = replace(training, numbers=places[training.kept])
    draws = _draws(model, source.n_objects, most_draws)
    model._rules(training.weight.sum(), training.n_features)  # raises its errors here rather than in a tree
    model.draws_, model.fallback_trees_ = draws, []
    model.trees_ = source.grow(model._grow_drawn, draws)
    if model._has_error_features:
        model.fallback_trees_ = source.grow(model._grow_drawn, draws, model.feature_model_.n_values)
    model._learn_from_trees(training)
    model._finish_in_pieces(sample.given)
    if model.oob_score:
        model._judge_out_of_bag(training, cells, truth)
    numbers = _numbers(rows, survey.n_rows)
    return FitInPieces(sum(survey.n_rows), numbers, source.n_objects, draws[0].n_draws, sample.y)


def sampled_rows(n_rows: list[int], n_sample: int) -> list[np.ndarray]:
    """The rows of each piece that are in the sample, which does not depend on how a table of so many rows is cut."""
    total = sum(n_rows)
    if total == 0:
        raise ValueError("The table has no rows.")
    if total <= n_sample:
        return [np.arange(size) for size in n_rows]
    chosen = np.random.default_rng(_SAMPLE_SEED).choice(total, n_sample, replace=False, shuffle=False)
    chosen.sort()
    ends = np.cumsum(n_rows)
    parts = np.split(chosen, np.searchsorted(chosen, ends[:-1]))
    return [part - (end - size) for part, end, size in zip(parts, ends, n_rows, strict=True)]


def _in_piece(problem: CellError, rows: list[np.ndarray], passes: Passes) -> Exception:
    """An error about a row of the sample as one about a row of a piece."""
    if problem.row is None:
        return problem
    ends = np.cumsum([len(part) for part in rows])
    number = int(np.searchsorted(ends, problem.row, side="right"))
    row = int(rows[number][problem.row - (ends[number] - len(rows[number]))])
    return passes.in_place(CellError(problem.what, problem.value, row, problem.column, problem.remark), number)


def _numbers(rows: list[np.ndarray], n_rows: list[int]) -> np.ndarray:
    """Rows of pieces as rows of the table."""
    starts = np.cumsum([0, *n_rows[:-1]])
    return np.concatenate([part + start for part, start in zip(rows, starts, strict=True)])


def _draws(model: Any, n_objects: int, most: int | None) -> list[Draw]:
    """What each tree draws."""
    n_draws = number_of_draws(model.max_samples, n_objects) if model.bootstrap else None
    if most is not None and (n_objects if n_draws is None else n_draws) > most:
        if n_draws is None or model.max_samples is not None:
            given = "bootstrap=False" if n_draws is None else f"max_samples={model.max_samples}"
            raise ValueError(
                f"With {given} a tree needs {n_draws or n_objects:,} objects, but only {most:,} fit into the memory. "
                "Give a smaller max_samples, more memory, or a smaller n_jobs."
            )
        n_draws = most
    return [Draw(seed, n_objects, n_draws) for seed in seeds_of_trees(model.random_state, model.n_estimators)]


@dataclass(frozen=True)
class _Prepare:
    """A function of a piece and its rows in the sample, which other processes can be given."""

    reader: Any
    survey: Any
    rules: Any
    bins: tuple[FeatureBins, ...]

    def __call__(self, piece: TablePiece, rows: np.ndarray) -> Prepared:
        if piece.n_rows == 0:
            return Prepared(None, np.empty(0, dtype=np.int64))
        training: TrainingSet | None
        training, kept = self.reader.read(piece, self.survey, self.rules, self.bins)
        return Prepared(training, np.where(kept, np.cumsum(kept) - 1, -1)[rows])
