"""`probforest train` on tables that are larger than the memory, or in many files: the passes, and a report of them."""

import argparse
from itertools import islice
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from ..inputs.columns import describe_pairs
from ..large import LargeFit, fit_catalogue
from ..storage.catalogues import Catalogue, RemotePath, open_catalogue
from ..storage.catalogues.for_models import read_labels_of
from ..storage.models import save
from ..support.atomic import replacing
from ..support.wording import indented
from .columns_to_use import ColumnsToUse, choose_columns, look_like_identifiers
from .console import Console, readable_size
from .number_target import asks_for_numbers, has_numbers_to_learn, other_roles, out_of_bag, refuse_text
from .predictions import units_for
from .shared_features import columns_of_shared, parameters_of_shared
from .train import check_classes, class_evaluation, new_forest, report

_FILES_LOOKED_AT = 8  # whose first rows say which columns are features


def is_large(options: argparse.Namespace) -> bool:
    """Whether a table is read in pieces: a limit of the memory is given, or it is a folder."""
    if options.model == "boosting":
        if options.memory is not None:
            raise ValueError(
                "--memory: boosting needs the whole table in memory. Leave out --memory or --model boosting."
            )
        return False
    is_folder = not isinstance(options.table, RemotePath) and options.table.is_dir()
    return options.memory is not None or is_folder or isinstance(options.table, RemotePath)


def train_large(options: argparse.Namespace, console: Console, shared: Any, errors: Any) -> int:
    """Train a forest in passes over a table."""
    with (
        replacing(options.output, overwrite=options.overwrite) as temporary,
        open_catalogue(options.table) as catalogue,
    ):
        catalogue.refuse_unknown([options.target, *other_roles(options)])
        first_rows = _first_rows(catalogue)
        forest = new_forest(options, console, _are_numbers(first_rows, catalogue, options, shared))
        if shared is None:
            chosen = _columns(catalogue, first_rows, options, errors)
        else:
            chosen = columns_of_shared(shared, catalogue)
            catalogue.refuse_unknown(chosen.names)
        _describe(console, catalogue, first_rows, chosen)
        forest.set_params(error_columns=chosen.error_columns, **parameters_of_shared(shared, options))
        units = catalogue.units if shared is None else units_for(shared, catalogue, console)
        done = fit_catalogue(
            forest,
            catalogue,
            chosen.names,
            options.target,
            _roles(options),
            memory=options.memory,
            scratch=options.scratch,
            feature_model=shared,
            units={name: units[name] for name in chosen.names if name in units},
        )
        forest.set_params(verbose=0)
        _refuse_one_class(forest, catalogue, options)
        evaluate = class_evaluation if is_classifier(forest) else out_of_bag
        evaluation = evaluate(forest, np.asarray(done.passes.sample_targets))
        size = save(forest, temporary, about=_notes(options, catalogue, done))
    for line in _about_passes(done):
        console.say(line)
    report(console, forest, evaluation, options, size)
    console.result(_summary(options, forest, chosen, done, evaluation, size))
    return 0


def _first_rows(catalogue: Catalogue) -> Any:
    """The first rows of the table, or of some of its files."""
    import pyarrow

    pieces = catalogue.first_pieces(_FILES_LOOKED_AT)
    found = [piece for piece in islice(pieces, _FILES_LOOKED_AT) if piece.num_rows]
    if not found:
        raise ValueError(f"{catalogue.path} has no rows.")
    return pyarrow.concat_tables(found, promote_options="permissive")


def _are_numbers(first_rows: Any, catalogue: Catalogue, options: argparse.Namespace, shared: Any) -> bool:
    column = first_rows.column(options.target)
    are_numbers = asks_for_numbers(options) if shared is None else not is_classifier(shared)
    if are_numbers is None:
        are_numbers = has_numbers_to_learn(column)
    the_column = f"{catalogue.path}: the column {options.target!r}"
    if are_numbers:
        refuse_text(column, the_column)
    elif shared is None:  # further rows may have more classes than these
        check_classes(read_labels_of(column)[0], f"{the_column} has", fewest=0)
    return are_numbers


def _refuse_one_class(forest: Any, catalogue: Catalogue, options: argparse.Namespace) -> None:
    if is_classifier(forest) and len(forest.classes_) < 2:
        found = f"only {forest.classes_.tolist()[0]!r}"
        raise ValueError(f"{catalogue.path}: the column {options.target!r} has {found}; expected two classes or more.")


def _columns(catalogue: Catalogue, first_rows: Any, options: argparse.Namespace, errors: Any) -> ColumnsToUse:
    reserved = [options.target, *other_roles(options)]
    rows = list(range(first_rows.num_rows))
    return choose_columns(catalogue, first_rows, rows, reserved, options.features, options.drop, errors)


def _roles(options: argparse.Namespace) -> dict[str, str]:
    roles = {"y_proba": options.label_proba, "y_err": options.target_err}
    return {role: column for role, column in roles.items() if column is not None}


def _describe(console: Console, catalogue: Catalogue, first_rows: Any, chosen: ColumnsToUse) -> None:
    rows = "" if catalogue.n_rows is None else f", {catalogue.n_rows:,} rows"
    console.say(f"{catalogue.path}: {catalogue.format}{rows}, {len(catalogue.names) + len(catalogue.skipped)} columns")
    how = "with their errors" if chosen.error_columns else "no column is an error of another"
    console.say(f"\nfeatures ({len(chosen.pairs)}), {how}:\n{indented(describe_pairs(chosen.pairs))}")
    for reason in dict.fromkeys(chosen.ignored.values()):
        console.say(f"ignored ({reason}): {', '.join(name for name, why in chosen.ignored.items() if why == reason)}")
    for name in look_like_identifiers(first_rows, list(chosen.pairs)):
        console.note(f"{name} is a different whole number in every row. If it is an identifier, add --drop {name}.")
    console.say()


def _notes(options: argparse.Namespace, catalogue: Catalogue, done: LargeFit) -> dict[str, Any]:
    """Notes that go with the model."""
    about = {"table": catalogue.path.name, "format": catalogue.format, "rows": done.passes.n_rows}
    return {**about, "target": options.target, "fingerprint": done.fingerprint}


def _about_passes(done: LargeFit) -> list[str]:
    """What was done, and what was chosen."""
    passes = done.passes
    lines = [
        f"{passes.n_rows:,} rows with a target"
        + (f", {done.n_without_target:,} without one left out" if done.n_without_target else "")
    ]
    if len(passes.sample_rows) < passes.n_rows:
        lines.append(
            f"all but the trees was learnt from a sample of {len(passes.sample_rows):,} rows; out-of-bag scores are "
            "those of the sample"
        )
    drawn = passes.n_objects if passes.n_draws is None else passes.n_draws
    limited = drawn == done.plan.most_draws and drawn < passes.n_objects
    reason = f", as many as fit into {readable_size(done.memory)} (max_samples)" if limited else ""
    lines.append(f"each tree was grown on {drawn:,} draws from {passes.n_objects:,} objects{reason}")
    lines.append(f"temporary files: {readable_size(done.n_bytes)}\n")
    return lines


def _summary(
    options: argparse.Namespace, forest: Any, chosen: ColumnsToUse, done: LargeFit, evaluation: Any, size: int
) -> dict[str, Any]:
    """The summary for scripts."""
    return {
        "model": str(options.output),
        "bytes": size,
        "table": str(options.table),
        "rows": done.passes.n_rows,
        "rows_without_target": done.n_without_target,
        "target": options.target,
        "classes": forest.classes_.tolist() if is_classifier(forest) else None,
        "features": list(chosen.pairs),
        "ignored": chosen.ignored,
        "sample": len(done.passes.sample_rows),
        "draws": done.passes.n_draws,
        "memory": done.memory,
        "temporary_bytes": done.n_bytes,
        "importances": dict(zip(forest.feature_names_.tolist(), forest.feature_importances_.tolist(), strict=True)),
        "out_of_bag": None if evaluation is None else evaluation.as_dict(),
    }
