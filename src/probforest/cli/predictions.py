"""Predictions of a saved model for the rows of a table, piece by piece, with the names and units that it knows."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..estimators.ensemble import TreeEnsemble
from ..features.error_shift import CHECK_UNITS, FALLBACK_ANSWERS, ErrorShift, shift_note
from ..inputs.cell_error import CellError
from ..inputs.units import implied_units
from ..storage.catalogues import Catalogue
from ..storage.catalogues.catalogue import Chunk
from ..storage.catalogues.for_models import table_for
from ..storage.models import load
from ..support.progress import with_progress
from ..support.wording import listed
from .console import Console

_MOST_SAMPLED = 65_536  # rows of a table that tell what its errors are like


def load_for_tables(path: Path, n_jobs: int) -> Any:
    """A model that can predict tables: one that knows its columns by name."""
    model = load(path)
    if model.feature_model_.layout.names is None:
        raise ValueError(
            f"{path} was fitted on arrays, so nothing says which columns of a table it needs. Fit it on a table "
            "(pandas, polars, astropy), or use it from Python."
        )
    if model.fitted_with_errors_ and model.error_pairs_ is None:
        raise ValueError(
            f"{path} was fitted with X_err, so nothing says which columns of a table are errors. Fit it with "
            "error_columns, or use it from Python."
        )
    return model.set_params(n_jobs=n_jobs) if "n_jobs" in model.get_params() else model


def about_labels(model: Any) -> list[str]:
    """A line if the model was trained on doubtful labels."""
    if getattr(model, "label_truth_", None) is None:
        return []
    doubt = f"trained on doubtful labels: the most probable class is expected to be wrong for {wrong_labels(model):.1%}"
    if model.voting == "majority":
        return [f"{doubt}. Probabilities are shares of votes, which are not corrected for this."]
    return [f"{doubt}. Probabilities are those of the true classes."]


def wrong_labels(model: Any) -> float | None:
    """Expected share of training objects whose most probable class is not the true one; None if no label was doubtful,
    or if that is not known, as for models of older versions."""
    truth = getattr(model, "label_truth_", None)
    return None if truth is None else truth.wrong


def columns_of(model: TreeEnsemble) -> list[str]:
    """All columns that a model needs."""
    names = model.feature_model_.layout.names
    assert names is not None
    return [str(name) for name in names]


def units_for(model: TreeEnsemble, catalogue: Catalogue, console: Console) -> dict[str, Any]:
    """Units of the columns that a model needs. They are compared only if both the model and the table have some."""
    _refuse_without_errors(model, catalogue)
    units = {name: catalogue.units[name] for name in columns_of(model) if name in catalogue.units}
    units_at_fit = model.feature_model_.layout.units
    if units and not units_at_fit:
        console.note(f"{catalogue.path} has units, but the model was trained without: they are not compared.")
        return {}
    # An error without a unit has that of its value, in the training and here; a limit has none.
    then, now = (implied_units(each, model.error_pairs_) for each in (units_at_fit, units))
    assumed = [f"{name} [{unit}]" for name, unit in units_at_fit.items() if name not in now]
    if assumed:
        has_none = f"has no unit for {len(assumed)} columns" if units else "has no units"
        console.note(f"{catalogue.path} {has_none}; those of the training are assumed: {', '.join(assumed)}.")
    unknown = [name for name in now if name not in then]
    if unknown:
        console.note(f"in the training these columns had no units, which are not compared: {listed(unknown)}.")
    changes = [f"{name} from {unit} to {then[name]}" for name, unit in now.items() if unit != then.get(name, unit)]
    if changes:
        console.note(f"units to convert: {', '.join(changes)}.")
    return {name: unit for name, unit in units.items() if name in then}


def _refuse_without_errors(model: TreeEnsemble, catalogue: Catalogue) -> None:
    """A table that has the features but not their errors is a usual one, and has a remedy."""
    known = set(catalogue.names)
    missing = {name: None for name in columns_of(model) if name not in known}
    if missing and not any(name in missing for name in model.error_pairs_ or missing):
        raise ValueError(
            f"{catalogue.path} has the features, but not their errors {listed(list(missing))}. Add these columns: "
            "zeros mean exact values, and empty ones unknown errors, for which the median error of the training is "
            "taken."
        )


def in_file(error: CellError, catalogue: Catalogue, row: int) -> CellError:
    """An error about a value, in the words of somebody who looks at the file: rows count from 1."""
    what = error.what.removesuffix(" of X")
    path, row = catalogue.place_of(row)
    return CellError(f"{path}: {what}", error.value, row + 1, None, error.remark)


class Prediction(NamedTuple):
    """A piece of a table, its numbers as the model takes them, and the answer for its rows: class probabilities (n, k),
    or distributions of a number."""

    chunk: Chunk
    X: Any
    answer: Any


class TablePredictions(NamedTuple):
    """The predictions for a table, and what they depend on."""

    pieces: Iterator[Prediction]
    shifts: tuple[ErrorShift, ...]  # errors that are not like those of the training set
    uses_fallback: bool  # whether trees that don't look at errors answer
    units: dict[str, Any]  # of the columns, as the model takes them

    @property
    def notes(self) -> list[str]:
        """What users should know about the errors of the table."""
        what_now = FALLBACK_ANSWERS if self.uses_fallback else CHECK_UNITS
        return [shift_note(self.shifts, what_now)] if self.shifts else []

    def as_dict(self) -> dict[str, Any]:
        """What the errors are like, for JSON."""
        return {
            "error_shifts": [shift.as_dict() for shift in self.shifts],
            "uses_fallback_trees": self.uses_fallback,
        }


def predict_table(
    model: Any,
    catalogue: Catalogue,
    others: Sequence[str],
    console: Console,
    answer_of: Callable[[Any], Any] | None = None,
    skip: int = 0,
) -> TablePredictions:
    """The predictions for a table, of which the columns `others` come along. All pieces are answered by the same
    trees. `answer_of` takes a piece; by default, it gives class probabilities. The first rows, which are known already,
    can be skipped."""
    units = units_for(model, catalogue, console)
    shifts = error_shifts_of(model, catalogue, units)
    pieces = with_progress(
        _predicted(model, catalogue, others, units, shifts, answer_of or model.predict_proba, skip),
        None if catalogue.n_rows is None else catalogue.n_rows - skip,
        "rows",
        console.shows_progress,
        size=lambda prediction: len(prediction.answer),
    )
    shifted = tuple(shift for shift in shifts if shift.is_shifted)
    return TablePredictions(pieces, shifted, bool(shifted) and model.feature_model_.has_error_features, units)


def error_shifts_of(model: TreeEnsemble, catalogue: Catalogue, units: dict[str, Any]) -> tuple[ErrorShift, ...]:
    """The errors of a table beside those of the training set.

    If they decide which trees answer, the whole table is read for it, as it may be sorted. Otherwise its beginning is
    enough for a note.
    """
    if not model.feature_model_.error_spreads:
        return ()
    names = columns_of(model)
    numbers = (chunk.numbers for chunk in catalogue.chunks(names))
    rows = evenly_sampled(numbers) if model.feature_model_.has_error_features else next(numbers, None)
    if rows is not None:
        with suppress(CellError):  # raised again when the row is predicted, and then with its place in the file
            return model.error_shifts(table_for(rows, names, units))
    return ()


def evenly_sampled(pieces: Iterator[Any]) -> Any:
    """Every row of a table, every second, every fourth, ..., so that there are not too many; None if it has none."""
    import pyarrow

    sample, step, first_row = None, 1, 0
    for piece in pieces:
        taken = piece.take(np.arange(-first_row % step, piece.num_rows, step))
        sample = taken if sample is None else pyarrow.concat_tables([sample, taken])
        first_row += piece.num_rows
        while sample.num_rows > _MOST_SAMPLED:
            sample, step = sample.take(np.arange(0, sample.num_rows, 2)), 2 * step
    return sample


def _behind(chunks: Iterator[Chunk], skip: int) -> Iterator[Chunk]:
    """What comes behind the first rows."""
    for chunk in chunks:
        known = min(skip, chunk.numbers.num_rows)
        skip -= known
        if known < chunk.numbers.num_rows:
            yield Chunk(chunk.numbers.slice(known), chunk.others.slice(known))


def _predicted(
    model: TreeEnsemble,
    catalogue: Catalogue,
    others: Sequence[str],
    units: dict[str, Any],
    shifts: Sequence[ErrorShift],
    answer_of: Callable[[Any], Any],
    skip: int,
) -> Iterator[Prediction]:
    names = columns_of(model)
    first_row = skip
    for chunk in _behind(catalogue.chunks(names, others), skip):
        X = table_for(chunk.numbers, names, units)
        try:
            with model.assuming(shifts):
                answer = answer_of(X)
        except CellError as error:
            raise in_file(error, catalogue, first_row + (error.row or 0)) from None
        yield Prediction(chunk, X, answer)
        first_row += len(answer)
