"""The column with the numbers that a forest learns: whether it has numbers, and what `train` says about them."""

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..estimators.boosted_trees import BoostedTrees
from ..estimators.regressor import ProbabilisticRegressor
from ..evaluation.number_scores import NumberAnswers, NumberEvaluation, evaluate_numbers
from ..storage.catalogues.catalogue import is_number
from ..storage.catalogues.for_models import read_numbers_of

MANY_NUMBERS = 20  # different numbers with a fraction; fewer may be classes
MANY_INTEGERS = 100


def has_numbers_to_learn(column: Any) -> bool:
    """Whether a column of a `pyarrow.Table` looks like numbers rather than classes: many different ones."""
    import pyarrow

    if not is_number(column.type) or pyarrow.types.is_boolean(column.type):
        return False
    values = read_numbers_of(column)[0]
    n_different = len(np.unique(values))
    if (values == np.round(values)).all():  # classes, or identifiers if all are different
        return MANY_INTEGERS < n_different < len(values)
    return n_different > MANY_NUMBERS


def refuse_text(column: Any, the_column: str) -> None:
    """Raise an error for a column that has no numbers."""
    if not is_number(column.type):
        raise ValueError(f"{the_column} has no numbers, but {column.type}. Classes need --task classification.")
    if not len(read_numbers_of(column)[0]):
        raise ValueError(f"{the_column} has no numbers.")


def about_numbers(values: np.ndarray, name: str) -> str:
    """A line about the targets."""
    low, middle, high = np.quantile(values, [0.0, 0.5, 1.0])
    return f"numbers in {name}: {len(values):,} rows, from {low:.6g} to {high:.6g}, median {middle:.6g}"


def out_of_bag(forest: ProbabilisticRegressor, y: np.ndarray) -> NumberEvaluation | None:
    """How good the out-of-bag predictions are."""
    if isinstance(forest, BoostedTrees) or not forest.oob_score:
        return None
    judged = np.isfinite(forest.oob_prediction_)
    if not judged.any():
        return None
    return evaluate_numbers(NumberAnswers(y[judged], forest.oob_prediction_[judged]))


def other_roles(options: argparse.Namespace) -> list[str]:
    """Columns that say something about the target."""
    return [name for name in (options.label_proba, options.target_err) if name]


def target_errors(numbers: Any, options: argparse.Namespace) -> np.ndarray | None:
    """The errors of the targets, if a column has them."""
    return numbers.column(options.target_err).to_numpy() if options.target_err else None


class UnknownSetting(ValueError):
    """A model has no parameter of this name."""


def asks_for_numbers(options: argparse.Namespace) -> bool | None:
    """Whether the options ask for numbers, rather than for classes; None if they leave it open."""
    if options.task == "regression" or options.target_err:
        return True
    return False if options.task == "classification" or options.label_proba else None


def check_settings(options: argparse.Namespace, makers: Sequence[Callable[[], Any]]) -> None:
    """Raise an error about options now rather than after the table was read. `makers` make a forest for classes, and
    one for numbers."""
    if options.label_proba and (options.target_err or options.task == "regression"):
        raise ValueError("--label-proba is for classes, --target-err and --task regression for numbers.")
    if options.target_err and options.task == "classification":
        raise ValueError("--target-err is for numbers, --task classification for classes.")
    asked = asks_for_numbers(options)
    if asked is not None:
        makers[asked]()
        return
    try:
        makers[False]()
    except ValueError as problem:
        try:
            makers[True]()
        except ValueError as other:
            knows_more = isinstance(problem, UnknownSetting) and not isinstance(other, UnknownSetting)
            raise (other if knows_more else problem) from None
