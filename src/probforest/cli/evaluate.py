"""`probforest evaluate`: how good a saved forest is on a table with known classes."""

import argparse
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..estimators.classifier import ProbabilisticClassifier
from ..estimators.regressor import ProbabilisticRegressor
from ..evaluation.accuracy import Accuracy
from ..evaluation.drawing import write_figures
from ..evaluation.figures import figures_of
from ..evaluation.findings import OutOfBag
from ..evaluation.mistakes import Mistake
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
from .study import Study, study
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
        return evaluate_forest(model, options, console, header, target, report)
    with open_catalogue(options.table) as catalogue:
        target = _target(options.target or about.get("target"), catalogue)
        predictions = predict_table(model, catalogue, [target], console)
        evaluation, rows, n_unlabelled, fingerprint = _evaluated(model, catalogue, target, predictions)
        draws = options.report is not None or options.plots is not None
        studied = study(model, catalogue, evaluation, rows, predictions) if draws else None
    is_training_table = about.get("fingerprint") == fingerprint
    out_of_bag = _out_of_bag(about, is_training_table)
    too_good = _too_good(options, out_of_bag) if is_training_table else ""
    notes = [*_absent_classes(evaluation), *predictions.notes]
    for note in [too_good, *notes] if too_good else notes:
        console.note(note)
    console.say(f"{options.model} on {options.table}, classes in {target}\n")
    if n_unlabelled:
        console.say(f"left out: {n_unlabelled:,} rows without a class")
    for line in about_labels(model):
        console.say(f"{line}\n")
    shifts = {shift.name: shift.in_words() for shift in predictions.shifts}
    console.say(evaluation_text(evaluation, shifts, out_of_bag))
    details = _details(options, evaluation, target, header, n_unlabelled)
    wrong = wrong_labels(model)
    if wrong is not None:
        details["Most probable classes in training that are expected to be wrong"] = f"{wrong:.1%}"
    said = Remarks(details, too_good[:1].upper() + too_good[1:], notes, shifts, out_of_bag)
    _draw(model, evaluation, options, report, said, studied)
    written = [str(path) for path in (options.plots, options.report) if path is not None]
    if written:
        console.say(f"\nwritten: {', '.join(written)}")
    names = {"model": str(options.model), "table": str(options.table), "target": target}
    notes = [too_good, *notes] if too_good else notes
    remarks = {"is_training_table": is_training_table, "notes": notes, "rows_without_class": n_unlabelled}
    remarks["wrong_labels_in_training"] = wrong
    scores = evaluation.as_dict() | {"mistakes": [_as_row(mistake, rows) for mistake in evaluation.mistakes]}
    console.result({**names, **remarks, **predictions.as_dict(), **scores})
    return 0


def _as_row(mistake: Mistake, rows: np.ndarray) -> dict[str, Any]:
    """A mistake for JSON, with its row in the table."""
    found = mistake._asdict()
    return {"row": int(rows[found.pop("place")]) + 1, **found}


def _out_of_bag(about: dict[str, Any], is_training_table: bool) -> OutOfBag | None:
    found = about.get("out_of_bag")
    return None if not found else OutOfBag(Accuracy(*found["accuracy"]), float(found["log_loss"]), is_training_table)


def _too_good(options: argparse.Namespace, out_of_bag: OutOfBag | None) -> str:
    note = (
        f"the forest was trained on the objects in {options.table.name}: it has seen them, so the results are too good."
    )
    if out_of_bag is not None:
        note += f" The out-of-bag accuracy of the training, {out_of_bag.accuracy.value:.3f}, is not biased."
    return note


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
) -> tuple[Evaluation, np.ndarray, int, str]:
    """The evaluation, the rows of its objects, how many rows have no class, and the fingerprint of the others."""
    truth, probas, sizes, rows, n_unlabelled, first_row = [], [], [], [], 0, 0
    fingerprint = Fingerprint(columns_of(model))
    for prediction in predictions.pieces:
        labels, known = read_labels_of(prediction.chunk.others.column(target))
        place = positions(labels, model.classes_)
        _refuse_unseen(labels, place, first_row + np.flatnonzero(known), model, catalogue, target)
        fingerprint.after(prediction.chunk.numbers.filter(known))
        truth.append(place)
        rows.append(first_row + np.flatnonzero(known))
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
    return evaluation, np.concatenate(rows), n_unlabelled, fingerprint.hex()


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


class Remarks(NamedTuple):
    """What the report says besides numbers."""

    details: dict[str, str]
    banner: str
    warnings: list[str]
    error_shifts: dict[str, str]
    out_of_bag: OutOfBag | None


def _draw(
    model: ProbabilisticClassifier,
    evaluation: Evaluation,
    options: argparse.Namespace,
    report: Path | None,
    remarks: Remarks,
    studied: Study | None,
) -> None:
    if studied is None:
        return
    names = [str(name) for name in model.feature_names_]
    plots = figures_of(evaluation, model.feature_importances_, names, studied.error_costs)
    if options.plots is not None:
        write_figures(plots, options.plots)
    if report is not None:
        title = f"{options.model.name} on {options.table.name}"
        text = html_report(evaluation, plots, title=title, **remarks._asdict(), **studied._asdict())
        report.write_text(text, encoding="utf-8", errors="backslashreplace")  # names of files may be no text
