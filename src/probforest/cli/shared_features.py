"""The option --feature-model: training with the columns, the classes and the features of another model."""

import argparse
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from ..storage.catalogues import Catalogue
from ..support.wording import listed
from .columns_to_use import ColumnsToUse
from .predictions import columns_of, load_for_tables
from .target import positions

# Parameters that must be those of the other model, or trees would take a table for something else.
_SHARED = ("distribution", "sentinels", "error_features", "unknown_error", "keep_proba", "voting", "max_bins")


def load_shared(options: argparse.Namespace) -> Any:
    """The model of --feature-model, if there is one; it also says what the target is."""
    if options.feature_model is None:
        return None
    for option, is_given in (
        ("--features", options.features is not None),
        ("--drop", bool(options.drop)),
        ("--errors", options.errors != "auto"),
        ("--error-features", options.error_features),
    ):
        if is_given:
            raise ValueError(f"{option} and --feature-model: the columns are those of {options.feature_model}.")
    model = load_for_tables(options.feature_model, options.n_jobs)
    task = "classification" if is_classifier(model) else "regression"
    if options.task not in ("auto", task):
        raise ValueError(f"--task {options.task}: {options.feature_model} is for {task}.")
    options.task = task
    return model


def parameters_of_shared(model: Any, options: argparse.Namespace) -> dict[str, Any]:
    """Parameters that come with the features. One that --set gives, too, must be the same."""
    if model is None:
        return {}
    shared = {name: value for name, value in model.get_params(deep=False).items() if name in _SHARED}
    for name, value in dict(options.set).items():
        if name in shared and value != shared[name]:
            raise ValueError(f"--set {name}: {options.feature_model} has {shared[name]!r}, which can't be changed.")
    return shared


def columns_of_shared(model: Any, catalogue: Catalogue) -> ColumnsToUse:
    """The columns of the other model; all others are left out."""
    names = columns_of(model)
    pairs = dict.fromkeys(names) if model.error_pairs_ is None else dict(model.error_pairs_)
    ignored = {name: "not in --feature-model" for name in catalogue.names if name not in names}
    return ColumnsToUse(names, pairs, ignored)


def labels_of_shared(model: Any, catalogue: Catalogue, labels: np.ndarray, options: argparse.Namespace) -> np.ndarray:
    """The labels as the other model writes them. The table must have its columns, and no class that it does not
    know."""
    catalogue.refuse_unknown(columns_of(model))
    if not is_classifier(model):
        return labels
    if not len(labels):
        raise ValueError(f"{catalogue.path}: the column {options.target!r} has no class in any row.")
    place = positions(labels, model.classes_)
    if (place < 0).any():
        known = listed([str(name) for name in model.classes_.tolist()])
        raise ValueError(
            f"{catalogue.path}: the column {options.target!r} has the class {labels[place < 0].tolist()[0]!r}, which "
            f"{options.feature_model} does not know; it knows {known}."
        )
    return model.classes_[place]
