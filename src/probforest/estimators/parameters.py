"""The parameters of the estimators: what they are, for the docstrings, and which values they can have.

Types and defaults stand in the signatures of the estimators.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..features.prior import PRIORS
from ..inputs.parameters import (
    MAX_MAX_BINS,
    MISSING_RULES,
    PREDICTIONS,
    UNKNOWN_ERROR_RULES,
    VOTING_RULES,
    check_flag,
    check_integer,
    check_n_jobs,
    check_number,
    check_word,
    complain,
    expected_objects,
    is_real,
)
from ..kernels.layout import CRITERIA, NUMBER_CRITERIA
from ..support.docstrings import Description

Check = Callable[[str, Any], object]  # of a parameter's name and value; raises a ValueError


@dataclass(frozen=True)
class Parameter(Description):
    """A parameter of an estimator."""

    check: Check


def _one_of(words: Iterable[str]) -> str:
    """The type of a parameter that is one of some words, as docstrings write it."""
    return "{" + ", ".join(f'"{word}"' for word in words) + "}"


def _word(words: Iterable[str]) -> Check:
    return lambda name, value: check_word(name, value, words)


def _integer(low: int, **high: int) -> Check:
    return lambda name, value: check_integer(name, value, low, **high)


def _number(low: float, **high: float) -> Check:
    return lambda name, value: check_number(name, value, low, **high)


def _count_or_fraction(least: int) -> Check:
    return lambda name, value: expected_objects(name, value, least, 1.0)


def _none_or(check: Check) -> Check:
    return lambda name, value: None if value is None else check(name, value)


def _flag_or_function(name: str, value: Any) -> None:
    if not callable(value):
        check_flag(name, value)


def _flag_or_count(name: str, value: Any) -> None:
    if not isinstance(value, (bool, np.bool_)):
        check_integer(name, value, 0)


def _positive(name: str, value: Any) -> None:
    if not (is_real(value) and 0 < value < np.inf):
        complain(name, value, "a number above 0, and finite")


def _fraction(name: str, value: Any) -> None:
    if not (is_real(value) and 0 < value < 1):
        complain(name, value, "a fraction between 0 and 1")


def _auto_or(check: Check) -> Check:
    return lambda name, value: None if isinstance(value, str) and value == "auto" else check(name, value)


def _when_used(name: str, value: Any) -> None:
    """The parameter is checked in `fit`, with the training set, or, a random state, when a generator is made of it."""


_SHARED = {
    "criterion": Parameter(_one_of(CRITERIA), "The impurity that splits reduce.", _word(CRITERIA)),
    "max_depth": Parameter(
        "int or None",
        "Depth limit of a tree; None grows it until all nodes are pure or too light.",
        _none_or(_integer(1)),
    ),
    "min_samples_split": Parameter(
        "int or float",
        "Least expected number of objects (the sum of weight × probability) of a node that is split; a float is a "
        "fraction of the tree's weight.",
        _count_or_fraction(2),
    ),
    "min_samples_leaf": Parameter("int or float", "The same for either child of a split.", _count_or_fraction(1)),
    "min_weight_fraction_leaf": Parameter("float", "Least share of the tree's weight in a leaf.", _number(0, high=0.5)),
    "max_features": Parameter(
        '{"auto", "sqrt", "log2"}, int, float or None',
        'Features that each split looks at; "auto" is √(number of features) rounded up, "sqrt" rounded down, None all '
        "of them.",
        _when_used,
    ),
    "min_impurity_decrease": Parameter(
        "float", "Least decrease of the impurity, weighted by the node's share of the tree's weight.", _number(0)
    ),
    "keep_proba": Parameter(
        "float",
        "An object enters a node only while its probability to reach it is above this; it always follows its most "
        "probable path. 0 keeps everything, 1 makes every object follow one path.",
        _number(0, high=1),
    ),
    "missing": Parameter(
        '{"auto", "observed", "equal", "learned"}',
        "Where a missing value goes: to both sides in the proportion of the node's observed weight, half to each side, "
        'or where training found it best. "auto" takes "learned" for features whose missing values say something about '
        'the target (a test with the training set) or are nearly as many as the others, and "observed" for the rest.',
        _word(["auto", *MISSING_RULES]),
    ),
    "unknown_error": Parameter(
        '{"median", "exact", "raise"}',
        "What a NaN in `X_err` beside a value means: the feature's median error, no error, or a ValueError.",
        _word(UNKNOWN_ERROR_RULES),
    ),
    "label_information": Parameter(
        "bool",
        "Multiply an object's weight by the information of its label: 1 for a hard label, 0 when all classes are "
        "equally probable. False is the paper's rule. Predictions are probabilities of the true classes with both.",
        check_flag,
    ),
    "max_bins": Parameter(
        "int",
        "Candidate thresholds per feature, at most 65,535. Features with fewer distinct grid points are searched "
        "exactly.",
        _integer(2, high=MAX_MAX_BINS),
    ),
    "distribution": Parameter(
        "str, tuple, Family, SciPy distribution, list or mapping",
        'The family of the errors: "normal", "uniform", "laplace", "lognormal", ("student_t", degrees of freedom), or '
        "any frozen distribution of SciPy; one for all features, a list with one for each, or a mapping of the names "
        "(or numbers) of features that are not normal. The value is its expectation, the error its standard deviation.",
        _when_used,
    ),
    "prior": Parameter(
        '{"auto", "empirical", "normal", "joint"} or None',
        "What a measured value says about the true one depends on the distribution of the true values, which is learnt "
        'from the training set: the whole distribution of each feature ("empirical"), its mean and variance '
        '("normal"), or the distribution of all features together ("joint"): a value that is badly measured or missing '
        "is then estimated from the other features of the object. None: nothing is learnt, and the true value scatters "
        'around the measured one, as in the paper. "auto" takes "empirical", unless small forests on a sample of '
        "the training set are better without a prior, or with the joint one (out-of-bag log loss).",
        _none_or(_word(["auto", *PRIORS])),
    ),
    "error_columns": Parameter(
        'None, "auto" or mapping',
        "Which columns of `X`, a table with names, are errors of which others: a mapping such as "
        '`{"gmag": "e_gmag", "prad": ("prad_err2", "prad_err1"), "mass": Errors(lower=..., upper=..., '
        'limit="masslim")}`; "auto" finds them by the usual names. None: every column is a feature. Unless it is '
        "None, a table to predict is matched by name: the order of its columns does not matter, and columns that were "
        "not in `fit` are ignored.",
        _when_used,
    ),
    "sentinels": Parameter(
        "mapping or None",
        'Numbers that stand for a missing value, by column, such as `{"W3mag": 99, "*": -9999}`; "*" means all columns '
        "except those that mark limits.",
        _when_used,
    ),
    "error_features": Parameter(
        "bool",
        "Whether the sizes of errors are features, too (their logarithms; missing where an error is unknown, and for "
        "limits and samples). As many trees are grown that look at the values alone. They answer for a table whose "
        "errors are not like those of the training set, so pass whole tables rather than single objects. Twice as "
        "many trees are grown and saved.",
        check_flag,
    ),
}

TREE_PARAMETERS = _SHARED | {
    "class_weight": Parameter('dict, "balanced" or None', "Factor of the weight of each class.", _when_used),
    "random_state": Parameter(
        "int, RandomState instance or None",
        "Seed of the choice of features; irrelevant when all of them are looked at.",
        _when_used,
    ),
}

FOREST_PARAMETERS = _SHARED | {
    "n_estimators": Parameter("int", "Number of trees.", _integer(1)),
    "bootstrap": Parameter(
        "bool",
        "Whether each tree draws its objects at random with replacement; otherwise every tree uses all objects.",
        check_flag,
    ),
    "max_samples": Parameter(
        "int, float or None",
        "How many objects a tree draws, or which fraction of them; None draws as many as there are.",
        _when_used,
    ),
    "oob_score": Parameter(
        "bool or callable",
        "Whether to evaluate the forest on the objects that each tree did not draw; a callable (y_true, y_pred) "
        "replaces the accuracy.",
        _flag_or_function,
    ),
    "class_weight": Parameter(
        'dict, "balanced", "balanced_subsample" or None',
        'Factor of the weight of each class; "balanced_subsample" balances the objects that each tree draws.',
        _when_used,
    ),
    "n_jobs": Parameter(
        "int or None",
        "Threads used in `fit` and in predictions; -1 takes all cores. The result does not depend on it.",
        lambda name, value: check_n_jobs(value),
    ),
    "random_state": Parameter(
        "int, RandomState instance or None", "Seed of the draws of objects and features.", _when_used
    ),
    "verbose": Parameter(
        "int",
        "Show a progress bar while fitting (tqdm's, if it is installed), which columns `error_columns` paired, and "
        'what "auto" chose.',
        _flag_or_count,
    ),
    "warm_start": Parameter("bool", "Keep the trees of the last `fit` and add to them.", check_flag),
    "voting": Parameter(
        '{"soft", "majority"}',
        "Average the trees' probabilities, or count their votes as the paper does. Shares of votes are not corrected "
        "for doubtful labels.",
        _word(VOTING_RULES),
    ),
}


def _auto_or_number(name: str, value: Any) -> None:
    if not (isinstance(value, str) and value == "auto"):
        check_number(name, value, 0)


_NUMBERS = {
    "criterion": Parameter(_one_of(NUMBER_CRITERIA), "The impurity that splits reduce.", _word(NUMBER_CRITERIA)),
    "max_features": Parameter(
        '{"auto", "sqrt", "log2"}, int, float or None',
        'Features that each split looks at; "auto" is half of them rounded up, "sqrt" the root of their number rounded '
        "down, None all of them.",
        _when_used,
    ),
    "prior": Parameter(
        '{"auto", "empirical", "normal"} or None',
        "What a measured value says about the true one depends on the distribution of the true values, which is learnt "
        "from the training set: the whole distribution, or its mean and variance. None: nothing is learnt, and the "
        'true value scatters around the measured one. "auto" chooses between "empirical" and None: see `error_scale`.',
        _none_or(_word(["auto", *(word for word in PRIORS if word != "joint")])),
    ),
    "error_scale": Parameter(
        '"auto" or float',
        "How far errors spread an object: they are multiplied by it. 1 spreads it in full, 0 takes values as exact. "
        '"auto" chooses between 1, 0.25 and 0, together with the prior, by the out-of-bag CRPS of small forests on a '
        "sample of the training set: where the noise is the same in training and in prediction, exact values are often "
        "sharper. Where it chooses less than 1, the forest has a second one for tables with larger errors "
        "(`noisy_forest_`). Limits and samples are always spread.",
        _auto_or_number,
    ),
    "prediction": Parameter(
        _one_of(PREDICTIONS),
        "What `predict` returns of the distribution of each target: its expectation, its median, or where its density "
        "is largest.",
        _word(PREDICTIONS),
    ),
}
_OF_CLASSES = ("label_information", "class_weight", "voting")


def _of_numbers(parameters: dict[str, Parameter]) -> dict[str, Parameter]:
    return {name: each for name, each in parameters.items() if name not in _OF_CLASSES} | _NUMBERS


TREE_REGRESSOR_PARAMETERS = _of_numbers(TREE_PARAMETERS)
FOREST_REGRESSOR_PARAMETERS = _of_numbers(FOREST_PARAMETERS) | {
    "calibrate": Parameter(
        "bool",
        "Whether to correct the distributions so that intervals contain as many targets as they should, by the "
        "objects that each tree did not draw. It holds for tables like the training set, and in the mean over all "
        "objects. Means are not changed by it. It also makes conformal intervals possible.",
        check_flag,
    ),
    "oob_score": Parameter(
        "bool or callable",
        "Whether to evaluate the forest on the objects that each tree did not draw; a callable (y_true, y_pred) "
        "replaces R².",
        _flag_or_function,
    ),
}

_OF_TABLES = "missing", "unknown_error", "max_bins", "distribution", "prior", "error_columns", "sentinels"

BOOSTING_PARAMETERS = {name: _SHARED[name] for name in (*_OF_TABLES, "error_features")} | {
    "learning_rate": Parameter(
        "float", "Factor of the values of leaves: the share of a step that is taken.", _positive
    ),
    "max_iter": Parameter(
        "int", "Number of iterations, each with one tree for two classes and one per class for more.", _integer(1)
    ),
    "max_leaf_nodes": Parameter(
        "int", "Largest number of leaves of a tree; the leaf whose split gains most is split first.", _integer(2)
    ),
    "max_depth": Parameter("int or None", "Depth limit of a tree.", _none_or(_integer(1))),
    "min_samples_leaf": Parameter(
        "int or float",
        "Least expected number of objects (the sum of weight × probability) in a leaf; a float is a fraction of the "
        "weight of the training set.",
        _count_or_fraction(1),
    ),
    "l2_regularization": Parameter(
        '"auto" or float',
        'λ in the step −G / (H + λ) of a leaf. "auto" takes 0 if all labels are certain and 5 if some are doubtful.',
        _auto_or(_number(0)),
    ),
    "max_features": Parameter(
        '{"auto", "sqrt", "log2"}, int, float or None',
        "Features that each split looks at, a fraction of them if it is a float; None all of them.",
        _when_used,
    ),
    "keep_proba": Parameter(
        "float",
        "An object goes both ways at a split only while its probability to reach either child is above this; otherwise "
        "it follows the more probable way as a whole. 0 keeps everything, 1 makes every object follow one path.",
        _number(0, high=1),
    ),
    "early_stopping": Parameter(
        '"auto" or bool',
        "Whether to hold out a part of the training set, stop when its loss does not get smaller, and keep the "
        'iterations up to the smallest loss. "auto" does so with doubtful labels and with more than 10,000 objects. '
        "With doubtful labels, as many iterations are then grown on all objects.",
        _auto_or(check_flag),
    ),
    "validation_fraction": Parameter("float", "The part of the objects that is held out.", _fraction),
    "n_iter_no_change": Parameter(
        "int", "Early stopping after so many iterations without a smaller loss of the held-out objects.", _integer(1)
    ),
    "tol": Parameter("float", "Losses that differ by less count as equal in early stopping.", _number(0)),
    "class_weight": TREE_PARAMETERS["class_weight"],
    "n_jobs": FOREST_PARAMETERS["n_jobs"],
    "random_state": Parameter(
        "int, RandomState instance or None",
        "Seed of the held-out objects, of the choice of features, and of the grid points by which values with errors "
        "take part in the search of splits.",
        _when_used,
    ),
    "verbose": FOREST_PARAMETERS["verbose"],
}
