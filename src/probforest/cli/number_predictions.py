"""`predict` and `evaluate` for a forest that predicts numbers."""

import argparse
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ..estimators.regressor import ProbabilisticRegressor
from ..evaluation.drawing import write_figures
from ..evaluation.number_figures import number_figures
from ..evaluation.number_report import html_number_report
from ..evaluation.number_scores import INTERVALS, NumberAnswers, NumberEvaluation, evaluate_numbers
from ..evaluation.number_text import number_text
from ..storage.catalogues import Catalogue, open_catalogue
from ..storage.catalogues.catalogue import is_text
from ..storage.catalogues.for_models import Fingerprint
from ..trees.predicted_distribution import PredictedDistribution
from . import reasons
from .console import Console
from .number_target import read_numbers_of, refuse_text
from .prediction_output import open_predictions
from .predictions import TablePredictions, columns_of, predict_table

DEFAULT_QUANTILES = (0.16, 0.5, 0.84)
_SEED = 0  # of draws: the same table again
_SCORES = 5  # numbers of each object beside the ends of intervals
_REDSHIFTS = {"z", "redshift", "zspec", "z_spec", "specz", "spec_z", "zsp"}


def checked_quantiles(given: list[float] | None) -> np.ndarray:
    """The option --quantiles."""
    levels = np.array(DEFAULT_QUANTILES if given is None else given, dtype=np.float64)
    if not ((levels > 0) & (levels < 1)).all() or len(np.unique(levels)) < len(levels):
        raise ValueError(f"--quantiles {' '.join(map(str, given or []))}: expected different numbers between 0 and 1.")
    return levels


class _Columns:
    """The new columns: mean and deviation, and quantiles or draws; or single numbers."""

    def __init__(self, model: ProbabilisticRegressor, options: argparse.Namespace) -> None:
        if options.draws is not None and options.quantiles is not None:
            raise ValueError("--quantiles and --draws: expected only one of them.")
        for name, value in (("--quantiles", options.quantiles), ("--draws", options.draws)):
            if value is not None and not has_distributions(model):
                raise ValueError(
                    f"{name}: {options.model} predicts single numbers. Train a forest, or boosting with --set "
                    "loss=quantile quantile=0.84."
                )
        self._n_draws = options.draws
        self._levels = checked_quantiles(options.quantiles)
        self._random = np.random.RandomState(_SEED)
        quantiles = [f"q{100 * level:.6g}".replace(".", "_") for level in self._levels.tolist()]
        others = quantiles if options.draws is None else [f"draw{k + 1}" for k in range(options.draws)]
        names = [f"predicted_{name}" for name in ("mean", "std", *others)]
        self.names = [f"{options.prefix}{name}" for name in (names if has_distributions(model) else ["predicted"])]

    def of(self, answer: PredictedDistribution | np.ndarray) -> np.ndarray:
        """The numbers of some rows, (n, k)."""
        if isinstance(answer, np.ndarray):
            return answer[:, None]
        if self._n_draws is None:
            return answer.summary(self._levels)
        return np.column_stack([answer.summary([]), answer.sample(self._n_draws, self._random)])


def has_distributions(model: ProbabilisticRegressor) -> bool:
    """Whether a model predicts distributions, as forests do, or single numbers, as boosting does."""
    return hasattr(model, "predict_distribution")


def _answer_of(model: ProbabilisticRegressor) -> Callable[[Any], Any]:
    return (lambda X: model.predict_distribution(X)) if has_distributions(model) else (lambda X: model.predict(X))


def predict_numbers(
    model: ProbabilisticRegressor,
    options: argparse.Namespace,
    console: Console,
    kept_columns: Callable[[Catalogue], list[str]],
) -> int:
    """Write mean, deviation, and quantiles or draws of every row."""
    import pyarrow

    columns, start, n_rows = _Columns(model, options), time.perf_counter(), 0
    with open_catalogue(options.table) as catalogue:
        reason_names = reasons.names_of_columns(options.prefix) if options.explain else []
        kept, new_names = kept_columns(catalogue), [*columns.names, *reason_names]
        taken = [name for name in new_names if name in kept]
        if taken:
            raise ValueError(
                f"The table already has a column {taken[0]!r}. Rename the new columns with --prefix, or leave this one "
                "out with --keep."
            )
        with open_predictions(options, catalogue, kept, new_names) as written:
            n_rows += written.n_finished
            predictions = predict_table(model, catalogue, kept, console, _answer_of(model), skip=written.n_finished)
            for note in predictions.notes:
                console.note(note)
            for prediction in predictions.pieces:
                rows = prediction.chunk.others
                for name, column in zip(columns.names, columns.of(prediction.answer).T, strict=True):
                    rows = rows.append_column(name, pyarrow.array(np.ascontiguousarray(column)))
                if options.explain:
                    why = reasons.reasons_of(model, prediction.X, predictions.shifts)
                    rows = reasons.with_reasons(rows, why, options.prefix)
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
    model: ProbabilisticRegressor,
    options: argparse.Namespace,
    console: Console,
    header: dict[str, Any],
    target: str,
    report: Path | None,
) -> int:
    """Compare with the numbers of a table."""
    with open_catalogue(options.table) as catalogue:
        catalogue.refuse_unknown([target])
        predictions = predict_table(model, catalogue, [target], console, _answer_of(model))
        answers, n_left_out, fingerprint = _answers(model, catalogue, target, predictions)
    evaluation = evaluate_numbers(answers, is_redshift=target.lower() in _REDSHIFTS)
    is_training_table = header["about"].get("fingerprint") == fingerprint
    too_good = f"the forest was trained on the objects in {options.table.name}, so the results are too good."
    notes = [*([too_good] if is_training_table else []), *predictions.notes]
    for note in notes:
        console.note(note)
    console.say(f"{options.model} on {options.table}, numbers in {target}\n")
    if n_left_out:
        console.say(f"left out: {n_left_out:,} rows without a number")
    console.say("\n".join(number_text(evaluation)))
    if report is not None or options.plots is not None:
        names = [str(name) for name in model.feature_names_]
        plots = number_figures(answers, evaluation, target, model.feature_importances_, names)
        if options.plots is not None:
            write_figures(plots, options.plots)
        if report is not None:
            page = html_number_report(
                evaluation,
                plots,
                title=f"{options.model.name} on {options.table.name}",
                details=_details(options, evaluation, target, header, n_left_out),
                banner=too_good[:1].upper() + too_good[1:] if is_training_table else "",
                warnings=predictions.notes,
                error_shifts={shift.name: shift.in_words() for shift in predictions.shifts},
            )
            report.write_text(page, encoding="utf-8", errors="backslashreplace")  # names of files may be no text
        written = [str(path) for path in (options.plots, options.report) if path is not None]
        console.say(f"\nwritten: {', '.join(written)}")
    names_of_files = {"model": str(options.model), "table": str(options.table), "target": target}
    remarks = {"is_training_table": is_training_table, "notes": notes, "rows_without_number": n_left_out}
    console.result({**names_of_files, **remarks, **predictions.as_dict(), **evaluation.as_dict()})
    return 0


def _details(
    options: argparse.Namespace, evaluation: NumberEvaluation, target: str, header: dict[str, Any], n_left_out: int
) -> dict[str, str]:
    return {
        "Model": options.model.name,
        "Table": options.table.name,
        "Numbers in": target,
        "Trained on": str(header["about"].get("table", "unknown")),
        "Objects": f"{evaluation.n_objects:,}",
        "Rows without a number, left out": f"{n_left_out:,}",
        "Size of the errors": "median over the features of error / median error in training",
        "probforest": header["written_by"],
    }


def _answers(
    model: ProbabilisticRegressor, catalogue: Catalogue, target: str, predictions: TablePredictions
) -> tuple[NumberAnswers, int, str]:
    """What the model says about the rows with a number, how many have none, and the fingerprint of the others."""
    truth, numbers, sizes, n_left_out = [], [], [], 0
    fingerprint = Fingerprint(columns_of(model))
    for prediction in predictions.pieces:
        column = _target_of(prediction.chunk.others, target, catalogue)
        refuse_text(column, f"{catalogue.path}: the column {target!r}")
        y, known = read_numbers_of(column)
        fingerprint.after(prediction.chunk.numbers.filter(known))
        if len(y):
            truth.append(y)
            answer = prediction.answer[known]
            numbers.append(_numbers_of(answer, model.prediction, y) if has_distributions(model) else answer[:, None])
            sizes.append(model.error_sizes(prediction.X)[known])
        n_left_out += int(np.sum(~known))
    if not truth:
        raise ValueError(f"{catalogue.path} has no rows" + (" with a number." if n_left_out else "."))
    size = np.concatenate(sizes) if model.fitted_with_errors_ else None
    answers = _collected(np.concatenate(truth), np.concatenate(numbers), size)
    return answers, n_left_out, fingerprint.hex()


def _collected(truth: np.ndarray, found: np.ndarray, size: np.ndarray | None) -> NumberAnswers:
    """Answers from the columns of `_numbers_of`, or from predictions alone."""
    if found.shape[1] == 1:
        return NumberAnswers(truth, found[:, 0], error_size=size)
    predicted, std, crps, cde_loss, pit = found.T[:_SCORES]
    intervals = {p: found[:, _SCORES + 2 * place : _SCORES + 2 * place + 2] for place, p in enumerate(INTERVALS)}
    return NumberAnswers(truth, predicted, std, crps, cde_loss, pit, intervals, size)


def _target_of(others: Any, target: str, catalogue: Catalogue) -> Any:
    """The column with the numbers; those with more digits than a float has are copied as text."""
    column = others.column(target)
    if is_text(column.type):
        with suppress(ValueError):
            return catalogue.as_numbers(others.select([target])).column(target)
    return column


def _numbers_of(answer: PredictedDistribution, kind: str, y: np.ndarray) -> np.ndarray:
    """Prediction, deviation, CRPS, CDE loss, PIT and the ends of intervals of every object, in one go."""
    levels = np.array([level for p in INTERVALS for level in ((1 - p) / 2, (1 + p) / 2)])
    summary = answer.summary(levels)
    point = summary[:, 0] if kind == "mean" else answer.point(kind)
    scores = [point, summary[:, 1], answer.crps(y), answer.cde_loss(y), answer.pit(y)]
    return np.column_stack([*scores, summary[:, 2:]])
