"""Fitted models as files and back, without pickle.

`model_file` is the container and knows no models; here stands what of a model goes into it, key by key. What is read is
checked before a model is made of it: kernels trust in their arrays. The same check runs before anything is written, so
that no file is ever written that can't be read again.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..estimators.boosting import ProbabilisticGradientBoostingClassifier
from ..estimators.boosting_regressor import ProbabilisticGradientBoostingRegressor
from ..estimators.ensemble import TreeEnsemble
from ..estimators.forest import ProbabilisticRandomForestClassifier
from ..estimators.forest_regressor import ProbabilisticRandomForestRegressor
from ..estimators.tree import ProbabilisticDecisionTreeClassifier
from ..estimators.tree_regressor import ProbabilisticDecisionTreeRegressor
from ..features.feature_model import FeatureModel
from ..support.atomic import replacing
from ..trees.fitted_tree import FittedTree
from .model_file import Arrays, Header, ModelFileError, read_file, read_header, write_file
from .saved_arrays import check_declarations
from .saved_boosting import boosting_to_arrays, boosting_to_json, n_scores_of_classes, restore_boosting
from .saved_columns import checked_classes, checked_names
from .saved_families import FamilyShelf, read_shelf
from .saved_features import PROBABILITY_ROUNDING, features_from, features_to_arrays, features_to_json
from .saved_labels import label_truth_from, label_truth_to_arrays, label_truth_to_json
from .saved_numbers import numbers_to_arrays, numbers_to_json, restore_numbers, with_slopes, with_targets
from .saved_parameters import (
    check_parameters,
    checked_missing_rules,
    checked_prior,
    checked_trial,
    parameters_to_json,
    route,
    routing_of,
    set_parameters,
)
from .saved_trees import FALLBACK, draws_from_array, draws_to_array, trees_from_arrays, trees_to_arrays
from .saved_values import check_sizes, from_json, to_json

KINDS: dict[str, type[TreeEnsemble]] = {
    "forest": ProbabilisticRandomForestClassifier,
    "tree": ProbabilisticDecisionTreeClassifier,
    "forest regressor": ProbabilisticRandomForestRegressor,
    "tree regressor": ProbabilisticDecisionTreeRegressor,
    "boosting": ProbabilisticGradientBoostingClassifier,
    "boosting regressor": ProbabilisticGradientBoostingRegressor,
}
_FORESTS = ("forest", "forest regressor")
_BOOSTED = ("boosting", "boosting regressor")
_REGRESSORS = ("forest regressor", "tree regressor", "boosting regressor")
_NOISY = "noisy_"  # before the names of the arrays of a forest for noisy tables

# What goes wrong in making a model of a document that is not one.
_SYMPTOMS = (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError)

Json = dict[str, Any]


def save(model: Any, path: str | os.PathLike, *, about: Mapping[str, Any] | None = None) -> int:
    """Write a fitted model into a file, from which `load` makes the same model on any machine.

    An old file of that name stays as it is until the new one is complete. Nothing of the model changes.

    Parameters
    ----------
    model : ProbabilisticRandomForestClassifier or another model of probforest
        The model, fitted.
    path : str or path
        Name of the file; `.prf` is the usual ending.
    about : mapping, default=None
        Notes that go with the model, such as which table it was fitted on: text, numbers, and lists and mappings of
        these. `describe` gives them back.

    Returns
    -------
    int
        Size of the file in bytes.

    Examples
    --------
    >>> import tempfile
    >>> from probforest import ProbabilisticRandomForestClassifier
    >>> X, y = [[1.0], [2.0], [4.0], [5.0]], ["star", "star", "quasar", "quasar"]
    >>> forest = ProbabilisticRandomForestClassifier(10, random_state=0).fit(X, y, X_err=0.5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     size = save(forest, f"{folder}/stars.prf", about={"table": "four objects"})
    ...     loaded, notes = load(f"{folder}/stars.prf"), describe(f"{folder}/stars.prf")["about"]
    >>> loaded.predict([[1.5], [4.5]], X_err=0.5)
    array(['star', 'quasar'], dtype='<U6')
    >>> notes
    {'table': 'four objects'}
    """
    kind = _kind_of(model)
    check_is_fitted(model)
    try:
        document, arrays = _packed(kind, model)
        document["about"] = _notes(about)
        _unpacked(document, arrays)
    except RecursionError as problem:
        raise ValueError("The model has a parameter, or about has a note, that contains itself.") from problem
    with replacing(path) as part:
        write_file(part, document, arrays)
        return part.stat().st_size


def load(path: str | os.PathLike) -> Any:
    """Read a model that `save` wrote.

    Its predictions, parameters and fitted attributes are those of the model that was saved, bit by bit, and with
    `warm_start` it goes on as that would have. Only a distribution that is a function, SciPy's or one's own, becomes a
    table of it. No code from the file is run, whoever wrote it.

    Parameters
    ----------
    path : str or path
        Name of the file.

    Returns
    -------
    ProbabilisticRandomForestClassifier or another model of probforest
        The fitted model.

    Raises
    ------
    ModelFileError
        A ValueError: the file is something else, is damaged, or was written by a newer version of probforest.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> import probforest
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = probforest.ProbabilisticRandomForestClassifier(3, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = probforest.save(forest, f"{folder}/irises.prf", about={"note": "three trees"})
    ...     again = probforest.load(f"{folder}/irises.prf")
    >>> bool((again.predict_proba(X) == forest.predict_proba(X)).all())
    True
    """
    document, arrays = read_file(path, _check_header)
    with _blaming(path):
        return _unpacked(document, arrays)


def describe(path: str | os.PathLike) -> Json:
    """What a saved model is, without loading it.

    Parameters
    ----------
    path : str or path
        Name of the file.

    Returns
    -------
    dict
        `kind` ("forest", "tree", "forest regressor", "tree regressor", "boosting" or "boosting regressor"), `n_trees`,
        `n_nodes`, `classes` (list, None for a regressor), `n_features` (without error features), `has_fallback_trees`,
        `columns` (names of all columns of the table, or None), `about` (the notes of `save`), `written_by` (version of
        probforest), `format_version`.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> import probforest
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = probforest.ProbabilisticRandomForestClassifier(3, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = probforest.save(forest, f"{folder}/irises.prf", about={"note": "three trees"})
    ...     probforest.describe(f"{folder}/irises.prf")["about"]
    {'note': 'three trees'}
    """
    header = read_header(path, _check_header)
    document, shapes = header.document, {name: declared.shape for name, declared in header.arrays.items()}
    with _blaming(path):
        return {
            "kind": document["kind"],
            "n_trees": shapes["tree_sizes"][0],
            "n_nodes": shapes["nodes_links"][0],
            "classes": None if document["kind"] in _REGRESSORS else from_json(document["classes"]).tolist(),
            "n_features": len(document["feature_families"]),
            "has_fallback_trees": f"{FALLBACK}tree_sizes" in shapes,
            "columns": from_json(document["layout"]["names"]),
            "about": from_json(document["about"]),
            "written_by": header.written_by,
            "format_version": header.format_version,
        }


@contextmanager
def _blaming(path: str | os.PathLike) -> Iterator[None]:
    """Errors while a model is made of what a file has are the file's."""
    try:
        yield
    except _SYMPTOMS as problem:
        raise ModelFileError(f"{os.fspath(path)} {_no_model(problem)}.") from problem


def _no_model(problem: Exception) -> str:
    reason = " ".join(f"{type(problem).__name__} {problem}".split())[:200].removeprefix("ValueError ")
    return f"has no model that probforest can use: {reason}"


def _check_header(header: Header) -> None:
    """Before any array is read: there are those that the document needs, and no others, and none is too large."""
    try:
        noisy, declared = _divided(header.arrays)
        _check_arrays(header.document, declared)
        other = header.document.get("noisy_forest")
        if other is not None:
            if (header.document["kind"], other["kind"]) != ("forest regressor", "forest regressor"):
                raise ValueError("only a forest that predicts numbers has another one for noisy tables")
            _check_arrays(other, noisy)
        elif noisy:
            raise ValueError("it has arrays of a forest for noisy tables, but no such forest")
    except _SYMPTOMS as problem:
        raise ModelFileError(_no_model(problem)) from problem


def _check_arrays(document: Json, declared: Mapping[str, Any]) -> None:
    check_sizes(document)
    check_declarations(
        declared,
        kind=document["kind"],
        n_features=len(document["feature_families"]),
        n_classes=None if document["kind"] in _REGRESSORS else len(from_json(document["classes"])),
        n_error_spreads=len(document.get("error_spreads", [])),
        has_fallback=document.get("error_features", False) is True,
    )


def _kind_of(model: Any) -> str:
    for kind, estimator in KINDS.items():
        if type(model) is estimator:
            return kind
    names = " or ".join(f"a fitted {estimator.__name__}" for estimator in KINDS.values())
    raise TypeError(
        f"save takes {names}; got {type(model).__name__}. Of something that contains one, save that (pipeline[-1], "
        "search.best_estimator_); for a subclass, save its parameters yourself, or take joblib.dump."
    )


def _notes(about: Mapping[str, Any] | None) -> Json:
    if about is None:
        return {}
    if not isinstance(about, Mapping) or not all(isinstance(key, str) for key in about):
        raise ValueError(f"about must be a mapping whose keys are text; got {about!r}."[:200])
    return to_json(about, "about")


# The model as a whole


def _packed(kind: str, model: Any) -> tuple[Json, Arrays]:
    shelf = FamilyShelf()
    document = {
        "kind": kind,
        "parameters": parameters_to_json(model, shelf),
        "routing": routing_of(model),
        "n_features_in": int(model.n_features_in_),
        "feature_names_in": to_json(getattr(model, "feature_names_in_", None), "feature_names_in_"),
        **features_to_json(model.feature_model_, shelf),
        "missing": model.missing_.tolist(),
        "prior": model.prior_,
        "prior_trial": None if model.prior_trial_ is None else list(model.prior_trial_),
        "families": shelf.entries,
    }
    trees = model.trees_ if hasattr(model, "trees_") else [model.tree_]
    fallback = model.fallback_trees_ if hasattr(model, "trees_") else [model.fallback_tree_]
    arrays = {
        **trees_to_arrays(trees),
        **(trees_to_arrays(fallback, FALLBACK) if model.feature_model_.has_error_features else {}),
        **features_to_arrays(model.feature_model_),
        **shelf.arrays(),
    }
    if kind in _BOOSTED:
        arrays |= boosting_to_arrays(model)
        document |= boosting_to_json(model)
    if kind in _FORESTS:
        arrays["draws"] = draws_to_array(model.draws_)
        document["oob_score"] = to_json(getattr(model, "oob_score_", None), "oob_score_")
    if kind in _REGRESSORS:
        document |= numbers_to_json(model)
        if kind not in _BOOSTED:
            arrays |= numbers_to_arrays(model, trees, fallback if model.feature_model_.has_error_features else [])
        if getattr(model, "noisy_forest_", None) is not None:
            document["noisy_forest"], others = _packed(kind, model.noisy_forest_)
            arrays |= {f"{_NOISY}{name}": array for name, array in others.items()}
        return document, arrays
    document["classes"] = to_json(model.classes_, "classes_")
    document["label_truth"] = label_truth_to_json(model.label_truth_)
    arrays |= label_truth_to_arrays(model.label_truth_)
    if hasattr(model, "oob_decision_function_"):
        arrays["oob_decision_function"] = model.oob_decision_function_
    return document, arrays


def _unpacked(document: Json, arrays: Arrays) -> Any:
    """The model; a ValueError, or another one of `_SYMPTOMS`, if it is none."""
    noisy, arrays = _divided(arrays)
    model = _model_of(document, arrays)
    if document.get("noisy_forest") is not None:
        model.noisy_forest_ = _model_of(document["noisy_forest"], noisy)
        if model.noisy_forest_.n_features_in_ != model.n_features_in_:
            raise ValueError("its forest for noisy tables has other features")
    return model


def _divided(arrays: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays of the forest for noisy tables, by their own names, and those of the model itself."""
    noisy = {name.removeprefix(_NOISY): array for name, array in arrays.items() if name.startswith(_NOISY)}
    return noisy, {name: array for name, array in arrays.items() if not name.startswith(_NOISY)}


def _model_of(document: Json, arrays: Arrays) -> Any:
    kind = document["kind"]
    check_sizes(document)
    families = read_shelf(document["families"], arrays["family_grids"], arrays["family_tables"])
    model: Any = KINDS[kind]()
    set_parameters(model, document["parameters"], families)
    model.n_features_in_ = document["n_features_in"]
    model.feature_model_ = features_from(document, arrays, families, model.n_features_in_)
    if kind not in _REGRESSORS:
        model.classes_ = checked_classes(from_json(document["classes"]))
    n_features = model.feature_model_.n_features
    rules = document.get("missing", [model.missing] * n_features)  # files of the first version have one rule for all
    model.missing_ = checked_missing_rules(rules, n_features)
    model.prior_ = checked_prior(document.get("prior", model.prior))
    model.prior_trial_ = checked_trial(document.get("prior_trial"))
    if document["feature_names_in"] is not None:
        model.feature_names_in_ = checked_names(from_json(document["feature_names_in"]), model.n_features_in_)
    if kind in _BOOSTED:
        _restore_boosting(model, document, arrays)
    else:
        _restore_trees(model, document, arrays)
    check_parameters(model)
    route(model, document["routing"])
    return model


def _restore_boosting(model: Any, document: Json, arrays: Arrays) -> None:
    """Give boosting its trees and scores, and what depends on its target."""
    if document["kind"] in _REGRESSORS:
        restore_numbers(model, document, arrays)
        n_scores = 1
    else:
        model.label_truth_ = label_truth_from(document.get("label_truth"), arrays, len(model.classes_))
        n_scores = n_scores_of_classes(len(model.classes_))
    restore_boosting(model, document, arrays, n_scores)


def _restore_trees(model: Any, document: Json, arrays: Arrays) -> None:
    """Give a forest or a tree its trees, and what else it has of its own."""
    is_regressor = document["kind"] in _REGRESSORS
    n_classes = None if is_regressor else len(model.classes_)
    trees = trees_from_arrays(arrays, model.feature_model_.n_features, n_classes)
    fallback = _fallback_trees(model.feature_model_, arrays, n_classes, len(trees))
    if is_regressor:
        restore_numbers(model, document, arrays)
        trees = with_slopes(with_targets(trees, arrays), arrays)
        fallback = with_targets(fallback, arrays, FALLBACK) if fallback else []
    else:
        model.label_truth_ = label_truth_from(document.get("label_truth"), arrays, len(model.classes_))
    if document["kind"] in _FORESTS:
        model.trees_, model.fallback_trees_ = trees, fallback
        model.draws_ = draws_from_array(arrays["draws"], len(trees))
        if not is_regressor:
            _restore_out_of_bag(model, document["oob_score"], arrays.get("oob_decision_function"), len(model.classes_))
    else:
        (model.tree_,) = trees
        model.fallback_tree_ = fallback[0] if fallback else None


def _fallback_trees(features: FeatureModel, arrays: Arrays, n_classes: int | None, n_trees: int) -> list[FittedTree]:
    """The trees that look at the values alone: as many as there are others, if these look at errors."""
    if not features.has_error_features:
        return []
    fallback = trees_from_arrays(arrays, features.n_values, n_classes, FALLBACK)
    if len(fallback) != n_trees:
        raise ValueError("it does not have a fallback for each tree")
    return fallback


def _restore_out_of_bag(model: Any, score: Any, decision: np.ndarray | None, n_classes: int) -> None:
    if decision is None:
        return
    if decision.dtype != np.float64 or decision.ndim != 2 or decision.shape[1] != n_classes:
        raise ValueError("the out-of-bag probabilities have another shape")
    if (decision < 0).any() or (decision > 1 + PROBABILITY_ROUNDING).any():  # NaN: all trees have seen the object
        raise ValueError("an out-of-bag probability is not between 0 and 1")
    model.oob_score_, model.oob_decision_function_ = from_json(score), decision
