"""What a sane answer is: of a model, and of a call that refuses its input."""

import re
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import probforest

from .problems import ESTIMATORS, Problem
from .values import Table

ROUNDING = 1e-9  # of sums of probabilities: some 1e-16 for each of the trees, leaves and classes
_ARGUMENTS = {
    *("X", "y", "X_err", "X_limit", "X_samples", "y_proba", "classes", "sample_weight", "feature names"),
    *(name for estimator in ESTIMATORS.values() for name in estimator().get_params()),
}
_NAMES_AN_ARGUMENT = re.compile(r"\b(" + "|".join(sorted(_ARGUMENTS)) + r")\b")
_PACKAGE = str(Path(probforest.__file__).parent)


class Violation(Exception):
    """Something that must never happen has happened."""


def expect(condition: Any, message: str) -> None:
    if not condition:
        raise Violation(message)


def place_of(problem: BaseException) -> str:
    """Where in the package an exception came from."""
    return _place_in_package(traceback.extract_tb(problem.__traceback__))


def _place_in_package(frames: traceback.StackSummary) -> str:
    """The innermost function of the package in a stack, or the innermost of all."""
    ours = [frame for frame in frames if frame.filename.startswith(_PACKAGE)] or list(frames)
    return f"{Path(ours[-1].filename).name}, {ours[-1].name}"


def check_refusal(refusal: Exception) -> None:
    """An error about the input must name an argument; an internal one does not."""
    expect(
        _NAMES_AN_ARGUMENT.search(str(refusal)),
        f"{type(refusal).__name__} names no argument: {refusal} ({place_of(refusal)})",
    )


@contextmanager
def no_odd_warnings() -> Iterator[None]:
    """Only warnings that are meant for users may be given."""
    odd: list[str] = []

    def note(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        if not issubclass(category, UserWarning):
            odd.append(f"{category.__name__}: {message} ({_place_in_package(traceback.extract_stack())})")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = note
        yield
    if odd:
        raise Violation(odd[0])


def check_probabilities(
    proba: np.ndarray, shape: tuple[int, int], what: str = "predict_proba", tolerance: float = ROUNDING
) -> None:
    expect(proba.shape == shape, f"{what} has shape {proba.shape}, not {shape}")
    expect(np.isfinite(proba).all(), f"{what} is not finite")
    expect((proba >= 0).all() and (proba <= 1 + tolerance).all(), f"{what} is outside [0, 1]")
    off = np.abs(proba.sum(axis=1) - 1)
    expect((off <= tolerance).all(), f"{what} does not sum to 1: off by {off.max(initial=0.0):.2g}")


def check_model(model: Any, query: Table) -> np.ndarray:
    """Ask a fitted model everything; returns its probabilities."""
    X, about = query.X, query.about()
    proba = model.predict_proba(X, **about)
    check_probabilities(proba, (len(X), len(model.classes_)))
    predicted = model.predict(X, **about)
    expect(np.array_equal(predicted, model.classes_[proba.argmax(axis=1)]), "predict is not the most probable class")
    _check_logarithms(model.predict_log_proba(X, **about), proba)
    _check_leaves(model, query)
    check_importances(model.feature_importances_)
    if hasattr(model, "oob_decision_function_"):
        _check_out_of_bag(model)
    return proba


def _check_logarithms(logarithms: np.ndarray, proba: np.ndarray) -> None:
    with np.errstate(divide="ignore"):
        expect(np.array_equal(logarithms, np.log(proba)), "predict_log_proba is not the logarithm of predict_proba")


def _check_leaves(model: Any, query: Table) -> None:
    trees = getattr(model, "trees_", None) or [model.tree_]
    leaves = model.leaf_proba(query.X, **query.about())
    sums = np.asarray(leaves.sum(axis=1)).ravel() / len(trees)
    expect(leaves.shape == (len(query.X), sum(len(tree.leaves) for tree in trees)), "leaf_proba has another shape")
    expect((leaves.data > 0).all() and (sums <= 1 + ROUNDING).all(), "leaf_proba is outside (0, 1]")
    if model.keep_proba == 0:
        expect((np.abs(sums - 1) <= ROUNDING).all(), f"leaf_proba does not sum to 1 with keep_proba=0: {sums.min()}")
    if model.keep_proba == 1:
        expect(leaves.nnz == len(trees) * len(query.X), "an object follows more than one path with keep_proba=1")
    places = np.asarray(model.apply(query.X, **query.about())).reshape(len(query.X), len(trees))
    for tree, column in zip(trees, places.T, strict=True):
        expect((tree.feature[column] == -1).all(), "apply names a node that is not a leaf")


def check_importances(importances: np.ndarray) -> None:
    expect(np.isfinite(importances).all(), "feature_importances_ is not finite")
    expect((importances >= 0).all(), "feature_importances_ is negative")
    total = importances.sum()
    expect(total == 0 or abs(total - 1) <= ROUNDING, f"feature_importances_ sums to {total}")


def _check_out_of_bag(model: Any) -> None:
    judged = ~np.isnan(model.oob_decision_function_).any(axis=1)
    decisions = model.oob_decision_function_
    expect(np.isnan(decisions[~judged]).all(), "oob_decision_function_ has a row with some NaN")
    check_probabilities(decisions[judged], (int(judged.sum()), len(model.classes_)), "oob_decision_function_")
    expect(np.isnan(model.oob_score_) or 0 <= model.oob_score_ <= 1, f"oob_score_ is {model.oob_score_}")


@contextmanager
def describe_on_violation(problem: Problem) -> Iterator[None]:
    """Add what the problem was to whatever goes wrong with it."""
    try:
        yield
    except Exception as trouble:
        trouble.add_note(str(problem))
        raise
