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
    expected_objects,
)
from ..kernels.layout import CRITERIA, NUMBER_CRITERIA
from ..support.docstrings import Description

Check = Callable[[str, Any], object]  # of a parameter's name and value; raises a ValueError


@dataclass(frozen=True)
class Parameter(Description):
    """A parameter of an estimator."""

    check: Check


def one_of(words: Iterable[str]) -> str:
    """The type of a parameter that is one of some words, as docstrings write it."""
    return "{" + ", ".join(f'"{word}"' for word in words) + "}"


def word(words: Iterable[str]) -> Check:
    return lambda name, value: check_word(name, value, words)


def integer(low: int, **high: int) -> Check:
    return lambda name, value: check_integer(name, value, low, **high)


def number(low: float, **high: float) -> Check:
    return lambda name, value: check_number(name, value, low, **high)


def count_or_fraction(least: int) -> Check:
    return lambda name, value: expected_objects(name, value, least, 1.0)


def none_or(check: Check) -> Check:
    return lambda name, value: None if value is None else check(name, value)


def auto_or(check: Check) -> Check:
    """The word "auto", which complaints name too, or what `check` lets pass."""

    def check_other(name: str, value: Any) -> None:
        if isinstance(value, str) and value == "auto":
            return
        try:
            check(name, value)
        except ValueError as problem:
            raise ValueError(str(problem).replace(" must be ", ' must be "auto" or ', 1)) from None

    return check_other


def _flag_or_function(name: str, value: Any) -> None:
    if not callable(value):
        check_flag(name, value)


def _flag_or_count(name: str, value: Any) -> None:
    if not isinstance(value, (bool, np.bool_)):
        check_integer(name, value, 0)


def when_used(name: str, value: Any) -> None:
    """The parameter is checked in `fit`, with the training set, or, a random state, when a generator is made of it."""


_SHARED = {
    "criterion": Parameter(one_of(CRITERIA), "The impurity that splits reduce.", word(CRITERIA)),
    "max_depth": Parameter(
        "int or None",
        "Depth limit of a tree; None grows it until all nodes are pure or too light.",
        none_or(integer(1)),
    ),
    "min_samples_split": Parameter(
        "int or float",
        "Least expected number of objects (the sum of weight × probability) of a node that is split; a float is a "
        "fraction of the tree's weight.",
        count_or_fraction(2),
    ),
    "min_samples_leaf": Parameter("int or float", "The same for either child of a split.", count_or_fraction(1)),
    "min_weight_fraction_leaf": Parameter("float", "Least share of the tree's weight in a leaf.", number(0, high=0.5)),
    "max_features": Parameter(
        '{"auto", "sqrt", "log2"}, int, float or None',
        'Features that each split looks at; "auto" is √(number of features) rounded up, "sqrt" rounded down, None all '
        "of them.",
        when_used,
    ),
    "min_impurity_decrease": Parameter(
        "float", "Least decrease of the impurity, weighted by the node's share of the tree's weight.", number(0)
    ),
    "keep_proba": Parameter(
        "float",
        "An object enters a node only while its probability to reach it is above this; it always follows its most "
        "probable path. 0 keeps everything, 1 makes every object follow one path.",
        number(0, high=1),
    ),
    "missing": Parameter(
        '{"auto", "observed", "equal", "learned"}',
        "Where a missing value goes: to both sides in the proportion of the node's observed weight, half to each side, "
        'or where training found it best. "auto" takes "learned" for features whose missing values say something about '
        'the target (a test with the training set) or are nearly as many as the others, and "observed" for the rest.',
        word(["auto", *MISSING_RULES]),
    ),
    "unknown_error": Parameter(
        '{"median", "exact", "raise"}',
        "What a NaN in `X_err` beside a value means: the feature's median error, no error, or a ValueError.",
        word(UNKNOWN_ERROR_RULES),
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
        integer(2, high=MAX_MAX_BINS),
    ),
    "distribution": Parameter(
        "str, tuple, Family, SciPy distribution, list or mapping",
        'The family of the errors: "normal", "uniform", "laplace", "lognormal", ("student_t", degrees of freedom), or '
        "any frozen distribution of SciPy; one for all features, a list with one for each, or a mapping of the names "
        "(or numbers) of features that are not normal. The value is its expectation, the error its standard deviation.",
        when_used,
    ),
    "prior": Parameter(
        '{"auto", "empirical", "normal", "joint"} or None',
        "What a measured value says about the true one depends on the distribution of the true values, which is learnt "
        'from the training set: the whole distribution of each feature ("empirical"), its mean and variance '
        '("normal"), or the distribution of all features together ("joint"): a value that is badly measured or missing '
        "is then estimated from the other features of the object. None: nothing is learnt, and the true value scatters "
        'around the measured one, as in the paper. "auto" takes "empirical", unless small forests on a sample of '
        "the training set are better without a prior, or with the joint one (out-of-bag log loss). Objects with much "
        "larger errors than those of the training set then have the joint prior in any case.",
        none_or(word(["auto", *PRIORS])),
    ),
    "error_columns": Parameter(
        'None, "auto" or mapping',
        "Which columns of `X`, a table with names, are errors of which others: a mapping such as "
        '`{"gmag": "e_gmag", "prad": ("prad_err2", "prad_err1"), "mass": Errors(lower=..., upper=..., '
        'limit="masslim")}`; "auto" finds them by the usual names. None: every column is a feature. Unless it is '
        "None, a table to predict is matched by name: the order of its columns does not matter, and columns that were "
        "not in `fit` are ignored.",
        when_used,
    ),
    "sentinels": Parameter(
        "mapping or None",
        'Numbers that stand for a missing value, by column, such as `{"W3mag": 99, "*": -9999}`; "*" means all columns '
        "except those that mark limits.",
        when_used,
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
    "class_weight": Parameter('dict, "balanced" or None', "Factor of the weight of each class.", when_used),
    "random_state": Parameter(
        "int, RandomState instance or None",
        "Seed of the choice of features; irrelevant when all of them are looked at.",
        when_used,
    ),
}

FOREST_PARAMETERS = _SHARED | {
    "n_estimators": Parameter("int", "Number of trees.", integer(1)),
    "bootstrap": Parameter(
        "bool",
        "Whether each tree draws its objects at random with replacement; otherwise every tree uses all objects.",
        check_flag,
    ),
    "max_samples": Parameter(
        "int, float or None",
        "How many objects a tree draws, or which fraction of them; None draws as many as there are.",
        when_used,
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
        when_used,
    ),
    "n_jobs": Parameter(
        "int or None",
        "Threads used in `fit` and in predictions; -1 takes all cores. The result does not depend on it.",
        lambda name, value: check_n_jobs(value),
    ),
    "random_state": Parameter(
        "int, RandomState instance or None", "Seed of the draws of objects and features.", when_used
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
        word(VOTING_RULES),
    ),
}


NUMBER_PARAMETERS = {
    "criterion": Parameter(one_of(NUMBER_CRITERIA), "The impurity that splits reduce.", word(NUMBER_CRITERIA)),
    "max_features": Parameter(
        '{"auto", "sqrt", "log2"}, int, float or None',
        'Features that each split looks at; "auto" is half of them rounded up, "sqrt" the root of their number rounded '
        "down, None all of them.",
        when_used,
    ),
    "prior": Parameter(
        '{"auto", "empirical", "normal", "joint"} or None',
        "What a measured value says about the true one depends on the distribution of the true values, which is learnt "
        'from the training set: the whole distribution of each feature ("empirical"), its mean and variance '
        '("normal"), or the distribution of all features together ("joint"), which also estimates missing values. '
        'None: nothing is learnt, and the true value scatters around the measured one. "auto" chooses between '
        '"empirical", None and "joint": see `error_scale`.',
        none_or(word(["auto", *PRIORS])),
    ),
    "error_scale": Parameter(
        '"auto" or float',
        "How far errors spread an object: they are multiplied by it. 1 spreads it in full, 0 takes values as exact. "
        '"auto" chooses between 1, 0.25 and 0, together with the prior, by the out-of-bag CRPS of small forests on a '
        "sample of the training set: where the noise is the same in training and in prediction, exact values are often "
        "sharper. Where it chooses less than 1, the forest has a second one for tables with larger errors "
        "(`noisy_forest_`). Limits and samples are always spread.",
        auto_or(number(0)),
    ),
    "prediction": Parameter(
        one_of(PREDICTIONS),
        "What `predict` returns of the distribution of each target: its expectation, its median, or where its density "
        "is largest.",
        word(PREDICTIONS),
    ),
}
_OF_CLASSES = ("label_information", "class_weight", "voting")


def _of_numbers(parameters: dict[str, Parameter]) -> dict[str, Parameter]:
    return {name: each for name, each in parameters.items() if name not in _OF_CLASSES} | NUMBER_PARAMETERS


TREE_REGRESSOR_PARAMETERS = _of_numbers(TREE_PARAMETERS)
FOREST_REGRESSOR_PARAMETERS = _of_numbers(FOREST_PARAMETERS) | {
    "calibrate": Parameter(
        "bool",
        "Whether to correct the distributions so that intervals contain as many targets as they should, by the "
        "objects that each tree did not draw. It holds for tables like the training set, and in the mean over all "
        "objects. `predict` gives the means before calibration. It also makes conformal intervals possible.",
        check_flag,
    ),
    "slopes": Parameter(
        '"auto" or bool',
        "Whether leaves also know how the target changes with the features: their targets are moved by a linear model "
        "of the smallest node above the leaf that has at least 60 objects, shrunk as far as noise explains it. "
        '"auto" tries it where `error_scale="auto"` chose less than the full errors, and takes it if the out-of-bag '
        "CRPS of small forests is clearly better. With exact values there are no slopes unless it is True. At most 64 "
        "features.",
        auto_or(check_flag),
    ),
    "oob_score": Parameter(
        "bool or callable",
        "Whether to evaluate the forest on the objects that each tree did not draw; a callable (y_true, y_pred) "
        "replaces R².",
        _flag_or_function,
    ),
}
