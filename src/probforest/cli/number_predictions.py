"""`predict` and `evaluate` for a forest that predicts numbers."""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..estimators.regressor import ProbabilisticRegressor
from ..evaluation.number_scores import INTERVALS, NumberEvaluation, evaluate_numbers, number_text
from ..storage.catalogues import Catalogue, open_catalogue
from ..storage.catalogues.for_models import Fingerprint
from .console import Console
from .number_target import read_numbers_of, refuse_text
from .prediction_output import open_predictions
from .predictions import TablePredictions, columns_of, predict_table

DEFAULT_QUANTILES = (0.16, 0.5, 0.84)
_REDSHIFTS = {"z", "redshift", "zspec", "z_spec", "specz", "spec_z", "zsp"}


def checked_quantiles(given: list[float] | None) -> np.ndarray:
    """The option --quantiles."""
    levels = np.array(DEFAULT_QUANTILES if given is None else given, dtype=np.float64)
    if not ((levels > 0) & (levels < 1)).all() or len(np.unique(levels)) < len(levels):
        raise ValueError(f"--quantiles {' '.join(map(str, given or []))}: expected different numbers between 0 and 1.")
    return levels


def names_of_columns(levels: np.ndarray, prefix: str) -> list[str]:
    """Names of the new columns: predicted_mean, predicted_std, predicted_q16, ..."""
    quantiles = [f"q{100 * level:.6g}".replace(".", "_") for level in levels.tolist()]
    return [f"{prefix}predicted_{name}" for name in ("mean", "std", *quantiles)]


def predict_numbers(
    model: ProbabilisticRegressor,
    options: argparse.Namespace,
    console: Console,
    kept_columns: Callable[[Catalogue], list[str]],
) -> int:
    """Write mean, deviation and quantiles of every row."""
    import pyarrow

    levels, start, n_rows = checked_quantiles(options.quantiles), time.perf_counter(), 0
    with open_catalogue(options.table) as catalogue:
        kept, new_names = kept_columns(catalogue), names_of_columns(levels, options.prefix)
        taken = [name for name in new_names if name in kept]
        if taken:
            raise ValueError(
                f"The table already has a column {taken[0]!r}. Rename the new columns with --prefix, or leave this one "
                "out with --keep."
            )
        with open_predictions(options, catalogue, kept, new_names) as written:
            n_rows += written.n_finished
            answer_of = model.predict_distribution
            predictions = predict_table(model, catalogue, kept, console, answer_of, skip=written.n_finished)
            for note in predictions.notes:
                console.note(note)
            for prediction in predictions.pieces:
                rows = prediction.chunk.others
                for name, column in zip(new_names, prediction.answer.summary(levels).T, strict=True):
                    rows = rows.append_column(name, pyarrow.array(np.ascontiguousarray(column)))
                written.output.write(rows)
                n_rows += len(prediction.answer)
            if n_rows == 0:
                raise ValueError(f"{options.table} has no rows.")
    seconds = time.perf_counter() - start
    console.say(f"{options.output}: {n_rows:,} rows in {seconds:.1f} s")
    console.say(f"kept columns: {', '.join(kept) or 'none'}")
    console.say(f"new columns: {', '.join(new_names)}")
    if not kept and options.keep is None:
        console.note("no column of the output identifies the rows. --keep copies some.")
    result = {"output": str(options.output), "rows": n_rows, "seconds": seconds, "kept": kept}
    console.result({**result, "columns": [*kept, *new_names], **predictions.as_dict()})
    return 0


def evaluate_forest(
    model: ProbabilisticRegressor, options: argparse.Namespace, console: Console, about: dict[str, Any], target: str
) -> int:
    """Compare with the numbers of a table."""
    if options.report is not None or options.plots is not None:
        raise ValueError("--report and --plots draw figures of classes; the scores of a regressor are printed only.")
    with open_catalogue(options.table) as catalogue:
        catalogue.refuse_unknown([target])
        predictions = predict_table(model, catalogue, [target], console, lambda X: model.predict_distribution(X))
        evaluation, n_left_out, fingerprint = _evaluated(model, catalogue, target, predictions)
    is_training_table = about.get("fingerprint") == fingerprint
    notes = list(predictions.notes)
    if is_training_table:
        notes.insert(0, f"the forest was trained on the objects in {options.table.name}, so the results are too good.")
    for note in notes:
        console.note(note)
    console.say(f"{options.model} on {options.table}, numbers in {target}\n")
    if n_left_out:
        console.say(f"left out: {n_left_out:,} rows without a number")
    console.say("\n".join(number_text(evaluation)))
    names = {"model": str(options.model), "table": str(options.table), "target": target}
    remarks = {"is_training_table": is_training_table, "notes": notes, "rows_without_number": n_left_out}
    console.result({**names, **remarks, **predictions.as_dict(), **evaluation.as_dict()})
    return 0


def _evaluated(
    model: ProbabilisticRegressor, catalogue: Catalogue, target: str, predictions: TablePredictions
) -> tuple[NumberEvaluation, int, str]:
    """The evaluation, the number of rows without a number, and the fingerprint of the others."""
    levels = np.array([level for p in INTERVALS for level in ((1 - p) / 2, (1 + p) / 2)])
    truth, numbers, sizes, n_left_out = [], [], [], 0
    fingerprint = Fingerprint(columns_of(model))
    for prediction in predictions.pieces:
        column = prediction.chunk.others.column(target)
        refuse_text(column, f"{catalogue.path}: the column {target!r}")
        y, known = read_numbers_of(column)
        fingerprint.after(prediction.chunk.numbers.filter(known))
        everywhere = np.zeros(len(known))
        everywhere[known] = y
        answer = prediction.answer
        scores = np.column_stack([answer.summary(levels), answer.crps(everywhere), answer.pit(everywhere)])
        truth.append(y)
        numbers.append(scores[known])
        sizes.append(model.error_sizes(prediction.X)[known])
        n_left_out += int(np.sum(~known))
    if not truth:
        raise ValueError(f"{catalogue.path} has no rows.")
    y, found, size = np.concatenate(truth), np.concatenate(numbers), np.concatenate(sizes)
    evaluation = evaluate_numbers(
        y,
        found[:, 0],
        crps=found[:, -2],
        pit=found[:, -1],
        intervals={p: found[:, 2 + 2 * place : 4 + 2 * place] for place, p in enumerate(INTERVALS)},
        error_size=size if model.fitted_with_errors_ else None,
        is_redshift=target.lower() in _REDSHIFTS,
    )
    return evaluation, n_left_out, fingerprint.hex()
