"""`probforest predict`: a saved forest and a table → a table with classes and probabilities, piece by piece."""

import argparse
import time
from typing import Any

import numpy as np

from ..estimators.classifier import ProbabilisticClassifier
from ..estimators.ensemble import TreeEnsemble
from ..estimators.regressor import ProbabilisticRegressor
from ..storage.catalogues import Catalogue, open_catalogue
from ..support.wording import listed
from .columns_to_use import matching
from .console import Console
from .number_predictions import predict_numbers
from .prediction_output import PredictionOutput, check_output, open_predictions
from .predictions import about_labels, columns_of, load_for_tables, predict_table
from .reasons import names_of_columns, reasons_of, with_reasons
from .target import positions


def run(options: argparse.Namespace, console: Console) -> int:
    check_output(options)
    start = time.perf_counter()
    model = load_for_tables(options.model, options.n_jobs)
    if isinstance(model, ProbabilisticRegressor):
        return predict_numbers(model, options, console, lambda catalogue: _kept_columns(catalogue, model, options))
    for option in ("quantiles", "draws"):
        if getattr(options, option) is not None:
            raise ValueError(f"--{option}: {options.model} predicts classes, not numbers.")
    with open_catalogue(options.table) as catalogue:
        kept = _kept_columns(catalogue, model, options)
        new_names = _new_columns(model, kept, options)
        counts = np.zeros(len(model.classes_), dtype=np.int64)
        with open_predictions(options, catalogue, kept, new_names) as written:
            counts += _finished_counts(written, new_names[0], model.classes_)
            predictions = predict_table(model, catalogue, kept, console, skip=written.n_finished)
            for note in predictions.notes:
                console.note(note)
            for prediction in predictions.pieces:
                best = prediction.answer.argmax(axis=1)
                counts += np.bincount(best, minlength=len(counts))
                others, proba = prediction.chunk.others, prediction.answer
                rows = _with_answers(others, model.classes_, best, proba, new_names)
                if options.explain:
                    why = reasons_of(model, prediction.X, predictions.shifts, proba)
                    rows = with_reasons(rows, why, options.prefix)
                written.output.write(rows)
            n_rows = int(counts.sum())
            if n_rows == 0:
                raise ValueError(f"{options.table} has no rows.")
    seconds = time.perf_counter() - start
    by_class = {str(name): count for name, count in zip(model.classes_.tolist(), counts.tolist(), strict=True)}
    console.say(f"{options.output}: {n_rows:,} rows in {seconds:.1f} s")
    console.say(f"kept columns: {', '.join(kept) or 'none'}")
    for line in about_labels(model):
        console.say(line)
    if catalogue.skipped and options.keep is None:
        console.note(f"columns that can't be copied: {listed(list(catalogue.skipped))}.")
    if not kept and options.keep is None:
        console.note(
            "no column of the output identifies the rows, because the forest uses all columns. --keep copies some."
        )
    _say_counts(console, by_class)
    console.result(
        {
            "output": str(options.output),
            "rows": n_rows,
            "seconds": seconds,
            "kept": kept,
            "columns": [*kept, *new_names],
            "predicted": by_class,
            **predictions.as_dict(),
        }
    )
    return 0


def _kept_columns(catalogue: Catalogue, model: TreeEnsemble, options: argparse.Namespace) -> list[str]:
    if options.keep is not None:
        return matching(options.keep, catalogue.names, "--keep")
    used = set(columns_of(model))
    return [name for name in catalogue.names if name not in used]


def _new_columns(model: ProbabilisticClassifier, kept: list[str], options: argparse.Namespace) -> list[str]:
    """Names of the columns that the output has beside those that are kept."""
    prefix = options.prefix
    names = [f"{prefix}predicted_class", *(f"{prefix}proba_{name}" for name in model.classes_.tolist())]
    names += names_of_columns(prefix) if options.explain else []
    taken = [name for name in names if name in kept]
    if taken:
        raise ValueError(
            f"The table already has a column {taken[0]!r}. Rename the new columns with --prefix, or leave this one "
            "out with --keep."
        )
    return names


def _finished_counts(written: PredictionOutput, name: str, classes: np.ndarray) -> np.ndarray:
    """How often each class was predicted by a command that was interrupted."""
    counts = np.zeros(len(classes), dtype=np.int64)
    for column in written.finished(name):
        counts += np.bincount(positions(np.asarray(column.to_pylist()), classes), minlength=len(classes))
    return counts


def _with_answers(kept: Any, classes: np.ndarray, best: np.ndarray, proba: np.ndarray, names: list[str]) -> Any:
    import pyarrow

    predicted = pyarrow.array(classes.tolist()).take(pyarrow.array(best))
    probabilities = [pyarrow.array(np.ascontiguousarray(column)) for column in proba.T]
    for name, column in zip(names, [predicted, *probabilities], strict=False):  # reasons come later
        kept = kept.append_column(name, column)
    return kept


def _say_counts(console: Console, by_class: dict[str, int]) -> None:
    width = max(map(len, by_class))
    for name, count in by_class.items():
        console.say(f"  {name:{width}s} {count:>12,} {count / sum(by_class.values()):8.1%}")
