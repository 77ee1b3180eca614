"""`probforest evaluate`: how good a saved forest is on a table with known classes."""

import argparse
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from ..estimators.classifier import ProbabilisticClassifier
from ..estimators.regressor import ProbabilisticRegressor
from ..evaluation.drawing import write_figures
from ..evaluation.figures import figures_of
from ..evaluation.report import html_report
from ..evaluation.scores import Evaluation
from ..evaluation.scores import evaluate as compare
from ..evaluation.text import evaluation_text
from ..storage.catalogues import Catalogue, open_catalogue
from ..storage.catalogues.for_models import Fingerprint, read_labels_of
from ..storage.models import describe
from ..support.atomic import replacing
from ..support.extras import need
from ..support.wording import suggestion
from .arguments import refuse_full_folder, refuse_to_overwrite
from .console import Console
from .number_predictions import evaluate_forest
from .predictions import (
    TablePredictions,
    about_labels,
    columns_of,
    load_for_tables,
    predict_table,
    wrong_labels,
)
from .target import positions


def run(options: argparse.Namespace, console: Console) -> int:
    if options.report is not None:
        if options.report.suffix.lower() not in (".html", ".htm"):
            raise ValueError(f"--report {options.report}: the file name must end in .html.")
        refuse_to_overwrite(options.report, [options.model, options.table], overwrite=options.overwrite)
    refuse_full_folder(options.plots, overwrite=options.overwrite)
    if options.report is not None or options.plots is not None:
        need("matplotlib", "Drawing figures", "plots")  # now rather than after the work
    page = nullcontext() if options.report is None else replacing(options.report, overwrite=options.overwrite)
    with page as report:  # an error now rather than after the work
        if options.plots is not None:
            options.plots.mkdir(parents=True, exist_ok=True)
        return _run(options, console, report)


def _run(options: argparse.Namespace, console: Console, report: Path | None) -> int:
    model = load_for_tables(options.model, options.n_jobs)
    header = describe(options.model)
    about = header["about"]
    if isinstance(model, ProbabilisticRegressor):
        target = options.target or about.get("target")
        if target is None:
            raise ValueError("The model does not know which column has the numbers. Add --target COLUMN.")
        return evaluate_forest(model, options, console, about, target)
    with open_catalogue(options.table) as catalogue:
        target = _target(options.target or about.get("target"), catalogue)
        predictions = predict_table(model, catalogue, [target], console)
        evaluation, n_unlabelled, fingerprint = _evaluated(model, catalogue, target, predictions)
    is_training_table = about.get("fingerprint") == fingerprint
    notes = [*_too_good(options, about, is_training_table), *_absent_classes(evaluation), *predictions.notes]
    for note in notes:
        console.note(note)
    console.say(f"{options.model} on {options.table}, classes in {target}\n")
    if n_unlabelled:
        console.say(f"left out: {n_unlabelled:,} rows without a class")
    for line in about_labels(model):
        console.say(f"{line}\n")
    shifts = {shift.name: shift.in_words() for shift in predictions.shifts}
    console.say(evaluation_text(evaluation, shifts))
    details = _details(options, evaluation, target, header, n_unlabelled)
    wrong = wrong_labels(model)
    if wrong is not None:
        details["Most probable classes in training that are expected to be wrong"] = f"{wrong:.1%}"
    _draw(model, evaluation, options, report, details, notes, shifts)
    written = [str(path) for path in (options.plots, options.report) if path is not None]
    if written:
        console.say(f"\nwritten: {', '.join(written)}")
    names = {"model": str(options.model), "table": str(options.table), "target": target}
    remarks = {"is_training_table": is_training_table, "notes": notes, "rows_without_class": n_unlabelled}
    remarks["wrong_labels_in_training"] = wrong
    console.result({**names, **remarks, **predictions.as_dict(), **evaluation.as_dict()})
    return 0


def _too_good(options: argparse.Namespace, about: dict[str, Any], is_training_table: bool) -> Iterator[str]:
    if not is_training_table:
        return
    note = (
        f"the forest was trained on the objects in {options.table.name}: it has seen them, so the results are too good."
    )
    if "out_of_bag" in about:
        note += f" The out-of-bag accuracy of the training, {about['out_of_bag']['accuracy'][0]:.3f}, is not biased."
    yield note


def _absent_classes(evaluation: Evaluation) -> Iterator[str]:
    absent = [name for name, row in zip(evaluation.names, evaluation.confusion, strict=True) if row.sum() == 0]
    if absent:
        yield f"no row has the class {', '.join(absent)}: the predictions of this class can't be right."


def _target(target: str | None, catalogue: Catalogue) -> str:
    if target is None:
        raise ValueError("The model does not know which column has the classes. Add --target CLASS.")
    if target not in catalogue.names:
        raise ValueError(
            f"{catalogue.path} has no column {target!r} with the true classes; name another one with --target. "
            f"{suggestion(target, catalogue.names)}"
        )
    return target


def _evaluated(
    model: ProbabilisticClassifier, catalogue: Catalogue, target: str, predictions: TablePredictions
) -> tuple[Evaluation, int, str]:
    """The evaluation, the number of rows without a class, and the fingerprint of the others."""
    truth, probas, sizes, n_unlabelled, first_row = [], [], [], 0, 0
    fingerprint = Fingerprint(columns_of(model))
    for prediction in predictions.pieces:
        labels, known = read_labels_of(prediction.chunk.others.column(target))
        place = positions(labels, model.classes_)
        _refuse_unseen(labels, place, first_row + np.flatnonzero(known), model, catalogue, target)
        fingerprint.after(prediction.chunk.numbers.filter(known))
        truth.append(place)
        probas.append(prediction.answer[known])
        if model.fitted_with_errors_:
            sizes.append(model.error_sizes(prediction.X)[known])
        n_unlabelled += int(np.sum(~known))
        first_row += len(known)
    if not truth or sum(map(len, truth)) == 0:
        raise ValueError(f"{catalogue.path} has no rows" + (" with a class." if n_unlabelled else "."))
    size = np.concatenate(sizes) if sizes else None
    labels = model.classes_[np.concatenate(truth)]
    evaluation = compare(labels, np.concatenate(probas), model.classes_, error_size=size)
    return evaluation, n_unlabelled, fingerprint.hex()


def _refuse_unseen(
    labels: np.ndarray,
    place: np.ndarray,
    rows: np.ndarray,
    model: ProbabilisticClassifier,
    catalogue: Catalogue,
    target: str,
) -> None:
    if (place >= 0).all():
        return
    first = int(np.argmax(place < 0))
    known = ", ".join(map(str, model.classes_.tolist()))
    raise ValueError(
        f"{catalogue.path}: the column {target!r} has the class {labels.tolist()[first]!r} in row {rows[first] + 1}, "
        f"which the model does not know; it knows {known}. Leave such rows out."
    )


def _details(
    options: argparse.Namespace, evaluation: Evaluation, target: str, header: dict[str, Any], n_unlabelled: int
) -> dict[str, str]:
    return {
        "Model": options.model.name,
        "Table": options.table.name,
        "Classes in": target,
        "Trained on": str(header["about"].get("table", "unknown")),
        "Objects": f"{evaluation.n_objects:,}",
        "Rows without a class, left out": f"{n_unlabelled:,}",
        "Size of the errors": "median over the features of error / median error in training",
        "probforest": header["written_by"],
    }


def _draw(
    model: ProbabilisticClassifier,
    evaluation: Evaluation,
    options: argparse.Namespace,
    report: Path | None,
    details: dict[str, str],
    notes: list[str],
    shifts: dict[str, str],
) -> None:
    if report is None and options.plots is None:
        return
    names = [str(name) for name in model.feature_names_]
    plots = figures_of(evaluation, model.feature_importances_, names)
    if options.plots is not None:
        write_figures(plots, options.plots)
    if report is not None:
        title = f"{options.model.name} on {options.table.name}"
        page = html_report(evaluation, plots, title=title, details=details, warnings=notes, error_shifts=shifts)
        report.write_text(page, encoding="utf-8", errors="backslashreplace")  # names of files may be no text
