"""`probforest train`: a table and a column with classes, or numbers → a saved forest, or boosted trees."""

import argparse
import inspect
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import asdict
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..estimators.boosted_trees import BoostedTrees
from ..estimators.boosting import ProbabilisticGradientBoostingClassifier
from ..estimators.boosting_regressor import ProbabilisticGradientBoostingRegressor
from ..estimators.choices import describe_choices
from ..estimators.forest import ProbabilisticRandomForestClassifier
from ..estimators.forest_regressor import ProbabilisticRandomForestRegressor
from ..evaluation.number_scores import NumberEvaluation
from ..evaluation.number_text import number_text
from ..evaluation.scores import Evaluation, evaluate
from ..evaluation.text import confusion_text
from ..inputs.cell_error import CellError
from ..inputs.columns import describe_pairs
from ..storage.catalogues import Catalogue, open_catalogue
from ..storage.catalogues.catalogue import with_numbers
from ..storage.catalogues.for_models import Fingerprint, read_labels_of
from ..storage.catalogues.formats import format_by_name
from ..storage.models import save
from ..support.atomic import replacing
from ..support.wording import indented, listed, suggestion
from .arguments import refuse_to_overwrite
from .columns_to_use import ColumnsToUse, choose_columns, look_like_errors, look_like_identifiers
from .console import Console, readable_size
from .error_map import error_map
from .number_target import (
    UnknownSetting,
    about_numbers,
    asks_for_numbers,
    check_settings,
    has_numbers_to_learn,
    other_roles,
    out_of_bag,
    read_numbers_of,
    refuse_text,
    target_errors,
)
from .options.train import TASKS
from .predictions import about_labels, in_file, table_for, units_for, wrong_labels
from .shared_features import columns_of_shared, labels_of_shared, load_shared, parameters_of_shared
from .unlabelled import about_unlabelled, read_unlabelled

# Of each --model, what predicts classes, and what predicts numbers.
_ESTIMATORS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "forest": (ProbabilisticRandomForestClassifier, ProbabilisticRandomForestRegressor),
    "boosting": (ProbabilisticGradientBoostingClassifier, ProbabilisticGradientBoostingRegressor),
}
_MOST_IMPORTANT = 10
_MANY_CLASSES = 100
_SET_ELSEWHERE = {
    "error_columns": "use --errors",
    "error_features": "use --error-features",
    "random_state": "use --seed",
    "n_jobs": "use --n-jobs",
    "warm_start": "training always starts with a new forest",
}


_WORD = ("class", "number")  # what the target of a row is


class Labelled(NamedTuple):
    """The rows of a table that have a class, or a number."""

    table: Any  # pyarrow.Table
    labels: np.ndarray  # (n,)
    are_numbers: bool
    rows: np.ndarray  # (n,), where they are in the file
    n_unlabelled: int  # the other rows


def run(options: argparse.Namespace, console: Console) -> int:
    refuse_to_overwrite(options.output, [options.table], overwrite=options.overwrite)
    if format_by_name(options.output)[0] is not None:
        raise ValueError(f"{options.output}: a model must not be named like a table. The usual ending is .prf.")
    shared = load_shared(options)
    check_settings(options, [partial(new_forest, options, console, are_numbers) for are_numbers in (False, True)])
    errors = error_map(options.errors)
    from .large_training import is_large, train_large  # which needs some of what stands below

    if is_large(options):
        return train_large(options, console, shared, errors)
    # first, so that a folder that is not writable is noticed at once
    with replacing(options.output, overwrite=options.overwrite) as temporary:
        with open_catalogue(options.table) as catalogue:
            labelled = _labelled_rows(catalogue, options)
            forest = new_forest(options, console, labelled.are_numbers)
            if shared is None:
                chosen = _columns(catalogue, labelled, options, errors)
            else:
                labelled = labelled._replace(labels=labels_of_shared(shared, catalogue, labelled.labels, options))
                chosen = columns_of_shared(shared, catalogue)
            _describe(console, catalogue, labelled, chosen, options)
            forest.set_params(error_columns=chosen.error_columns, **parameters_of_shared(shared, options))
            units = catalogue.units if shared is None else units_for(shared, catalogue, console)
            fingerprint = _fit(forest, catalogue, labelled, chosen, options, units, shared)
        evaluation = (out_of_bag if labelled.are_numbers else class_evaluation)(forest, labelled.labels)
        about = _about(options, catalogue, labelled, evaluation, fingerprint)
        size = save(forest, temporary, about=about)
    report(console, forest, evaluation, options, size)
    console.result(_summary(options, forest, labelled, chosen, evaluation, size))
    return 0


def _fit(
    forest: Any,
    catalogue: Catalogue,
    labelled: Labelled,
    chosen: ColumnsToUse,
    options: argparse.Namespace,
    units: dict[str, Any],
    shared: Any,
) -> str:
    """Fit; returns the fingerprint of the features."""
    numbers = with_numbers(labelled.table, chosen.names, catalogue.path)
    X = table_for(numbers, chosen.names, {name: units.get(name) for name in chosen.names})
    confidence = numbers.column(options.label_proba).to_numpy() if options.label_proba else None
    if confidence is not None and np.isnan(confidence).any():
        raise ValueError(
            f"{catalogue.path}: the column {options.label_proba!r} is empty in {np.isnan(confidence).sum():,} of "
            f"{len(confidence):,} rows. Write 1 if the class is certain, 1 / (number of classes) if it is unknown, "
            "or remove the class, which leaves the row out."
        )
    try:
        with redirect_stdout(None):  # the forest would print again which errors it has found
            others = None if options.unlabelled is None else read_unlabelled(options.unlabelled, chosen.names)
            if labelled.are_numbers:
                errors = target_errors(numbers, options)
                forest.fit(X, labelled.labels, y_err=errors, X_unlabelled=others, feature_model=shared)
            else:
                forest.fit(X, labelled.labels, y_proba=confidence, X_unlabelled=others, feature_model=shared)
    except CellError as error:
        if "X_unlabelled" in error.what:
            raise about_unlabelled(error, options.unlabelled) from None
        if error.what == "y_proba":
            error = error.renamed(f"column {options.label_proba!r}")
        raise in_file(error, catalogue, int(labelled.rows[error.row or 0])) from None
    forest.set_params(verbose=0)  # progress bars belong to this terminal
    return Fingerprint(chosen.names).after(numbers).hex()


def new_forest(options: argparse.Namespace, console: Console, are_numbers: bool) -> Any:
    """The forest, with the parameters of --set. Out-of-bag scores cost little and are computed by default."""
    settings = dict(options.set)
    kind = _ESTIMATORS[options.model][are_numbers]
    known = inspect.signature(kind).parameters
    for key in settings:
        if key not in known:
            name = "a forest" if options.model == "forest" else options.model
            raise UnknownSetting(f"--set {key}: {name} has no such parameter. {suggestion(key, list(known))}")
    for key, remedy in _SET_ELSEWHERE.items():
        if key in settings:
            raise ValueError(f"--set {key}: {remedy}.")
    defaults: dict[str, Any] = {
        "random_state": options.seed,
        "n_jobs": options.n_jobs,
        "verbose": console.shows_progress,
        "error_features": options.error_features,
    }
    if "oob_score" in known:
        defaults["oob_score"] = settings.get("bootstrap", True) is not False
    forest = kind(**(defaults | settings))
    forest.check_parameters()  # now rather than after the table was read
    return forest


def _labelled_rows(catalogue: Catalogue, options: argparse.Namespace) -> Labelled:
    catalogue.refuse_unknown([options.target, *other_roles(options)])
    table = catalogue.whole()
    if table.num_rows == 0:
        raise ValueError(f"{catalogue.path} has no rows.")
    table = with_numbers(table, other_roles(options), catalogue.path)
    column, the_column = table.column(options.target), f"{catalogue.path}: the column {options.target!r}"
    are_numbers = asks_for_numbers(options)
    if are_numbers is None:
        are_numbers = has_numbers_to_learn(column)
    if are_numbers:
        refuse_text(column, the_column)
        labels, known = read_numbers_of(column)
    else:
        labels, known = read_labels_of(column)
        if options.feature_model is None:  # which knows the classes
            check_classes(labels, f"{the_column} has")
    return Labelled(table.filter(known), labels, are_numbers, np.flatnonzero(known), int(np.sum(~known)))


def check_classes(labels: np.ndarray, the_column_has: str, fewest: int = 2) -> None:
    """Raise an error for a column that has no classes, or fewer than a forest needs."""
    n_classes = len(np.unique(labels))
    if n_classes < fewest:
        found = f"only {labels.tolist()[0]!r}" if n_classes else "nothing"
        raise ValueError(f"{the_column_has} {found}; expected two classes or more.")
    if n_classes > _MANY_CLASSES and n_classes > len(labels) / 10:
        raise ValueError(
            f"{the_column_has} {n_classes} different values in {len(labels)} rows; expected classes of many rows each. "
            "If these are numbers to predict, add --task regression."
        )


def _columns(catalogue: Catalogue, labelled: Labelled, options: argparse.Namespace, errors: Any) -> ColumnsToUse:
    reserved = [options.target, *other_roles(options)]
    try:
        return choose_columns(
            catalogue, labelled.table, labelled.rows.tolist(), reserved, options.features, options.drop, errors
        )
    except ValueError as problem:
        if f"the error of {options.target!r}" not in str(problem):
            raise
        raise ValueError(f"{problem} If it is the error of the target, name it with --target-err.") from None


def class_evaluation(forest: Any, labels: np.ndarray) -> Evaluation | None:
    if isinstance(forest, BoostedTrees) or not forest.oob_score:
        return None
    return evaluate(labels, forest.oob_decision_function_, forest.classes_)


def _about(
    options: argparse.Namespace,
    catalogue: Catalogue,
    labelled: Labelled,
    evaluation: Evaluation | NumberEvaluation | None,
    fingerprint: str,
) -> dict[str, Any]:
    """Notes that go with the model."""
    about: dict[str, Any] = {
        "table": catalogue.path.name,
        "format": catalogue.format,
        "rows": len(labelled.labels),
        "target": options.target,
        "fingerprint": fingerprint,
    }
    if isinstance(evaluation, NumberEvaluation):
        about["out_of_bag"] = {"rmse": evaluation.rmse, "r2": evaluation.r2}
    elif evaluation is not None:
        about["out_of_bag"] = {"accuracy": list(evaluation.accuracy), "log_loss": evaluation.log_loss}
    return about


def _describe(
    console: Console, catalogue: Catalogue, labelled: Labelled, chosen: ColumnsToUse, options: argparse.Namespace
) -> None:
    """Print what is used of the table, and what is not."""
    n_rows, n_columns = len(labelled.labels) + labelled.n_unlabelled, len(catalogue.names) + len(catalogue.skipped)
    console.say(f"{catalogue.path}: {catalogue.format}, {n_rows:,} rows, {n_columns} columns")
    if labelled.are_numbers:
        how = "" if options.task == "regression" else " (regression; --task classification makes classes of them)"
        console.say(about_numbers(labelled.labels, options.target) + how)
    else:
        _describe_classes(console, labelled, options)
    if labelled.n_unlabelled:
        console.say(f"left out: {labelled.n_unlabelled:,} rows without a {_WORD[labelled.are_numbers]}")
    how = "with their errors" if chosen.error_columns else "no column is an error of another"
    console.say(f"\nfeatures ({len(chosen.pairs)}), {how}:\n{indented(describe_pairs(chosen.pairs))}")
    units = [f"{name} [{catalogue.units[name]}]" for name in chosen.names if name in catalogue.units]
    if units:
        console.say(f"units: {', '.join(units)}")
    for reason in dict.fromkeys(chosen.ignored.values()):
        console.say(f"ignored ({reason}): {', '.join(name for name, why in chosen.ignored.items() if why == reason)}")
    for name in look_like_identifiers(labelled.table, list(chosen.pairs)):
        console.note(f"{name} is a different whole number in every row. If it is an identifier, add --drop {name}.")
    like_errors = look_like_errors(chosen)
    if like_errors:
        console.note(f"taken as features, though they look like errors: {listed(like_errors)}. --drop leaves them out.")
    console.say()


def _describe_classes(console: Console, labelled: Labelled, options: argparse.Namespace) -> None:
    classes, counts = np.unique(labelled.labels, return_counts=True)
    shown = [f"{name} ({count:,})" for name, count in zip(classes.tolist(), counts.tolist(), strict=True)]
    console.say(f"classes in {options.target}: {listed(shown, most=30)}")
    for name in classes[counts == 1].tolist():
        console.note(f"the class {name!r} has a single row. Is this a mistake?")


def report(
    console: Console,
    forest: Any,
    evaluation: Evaluation | NumberEvaluation | None,
    options: argparse.Namespace,
    size: int,
) -> None:
    for line in describe_choices(forest):
        console.say(line)
    if isinstance(forest, BoostedTrees):
        console.say(_course(forest))
    elif evaluation is None:
        console.say("No out-of-bag accuracy: bootstrap or oob_score is false.")
    elif isinstance(evaluation, NumberEvaluation):
        console.say("out-of-bag predictions")
        console.say(indented("\n".join(number_text(evaluation))))
    else:
        accuracy = evaluation.accuracy
        console.say(
            f"out-of-bag accuracy {accuracy.value:.4f} (95 % interval {accuracy.low:.4f} to {accuracy.high:.4f}), "
            f"log loss {evaluation.log_loss:.4f}"
        )
        console.say("confusion matrix (rows: class in the table, columns: answer)")
        console.say(indented(confusion_text(evaluation.confusion, evaluation.names)))
    for line in about_labels(forest):
        console.say(f"{line} The out-of-bag scores compare them with the labels in the table, wrong ones included.")
    console.say("\nmost important features")
    names = [str(name) for name in forest.feature_names_]
    order = np.argsort(-forest.feature_importances_, kind="stable")[:_MOST_IMPORTANT]
    width = max(len(names[j]) for j in order)
    for j in order:
        console.say(f"  {names[j]:{width}s}  {forest.feature_importances_[j]:.3f}")
    fallback = f" and {len(forest.fallback_trees_)} without error features" if forest.fallback_trees_ else ""
    console.say(f"\nsaved {options.output}: {len(forest.trees_)} trees{fallback}, {readable_size(size)}")


def _course(model: BoostedTrees) -> str:
    """How boosting went, in a line. There is no accuracy: no object was left out by some of the trees."""
    watched, sign = ("loss", -1) if model.scoring == "loss" or not len(model.validation_score_) else ("score", 1)
    text = f"{model.n_iter_} iterations, {watched} of the training set {sign * model.train_score_[-1]:.4f}"
    if len(model.validation_score_):
        text += f", of the objects held out to know when to stop {sign * model.validation_score_[-1]:.4f}"
    return f"{text}. For its accuracy, see probforest evaluate with a table that it has not seen."


def _summary(
    options: argparse.Namespace,
    forest: Any,
    labelled: Labelled,
    chosen: ColumnsToUse,
    evaluation: Evaluation | NumberEvaluation | None,
    size: int,
) -> dict[str, Any]:
    """The summary for scripts."""
    return {
        "model": str(options.output),
        "bytes": size,
        "table": str(options.table),
        "rows": len(labelled.labels),
        f"rows_without_{_WORD[labelled.are_numbers]}": labelled.n_unlabelled,
        "target": options.target,
        "task": TASKS[1 + labelled.are_numbers],
        "classes": None if labelled.are_numbers else forest.classes_.tolist(),
        "wrong_labels": wrong_labels(forest),
        "features": {name: None if pair is None else asdict(pair) for name, pair in chosen.pairs.items()},
        "ignored": chosen.ignored,
        "importances": dict(zip(forest.feature_names_.tolist(), forest.feature_importances_.tolist(), strict=True)),
        "out_of_bag": None if evaluation is None else evaluation.as_dict(),
    }
