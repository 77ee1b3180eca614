"""The parameters of boosting: what they are, for the docstrings, and which values they can have."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer_names

from ..inputs.parameters import check_flag, check_word, complain, is_real
from ..trees.number_losses import NUMBER_LOSSES
from .parameters import (
    FOREST_PARAMETERS,
    NUMBER_PARAMETERS,
    TREE_PARAMETERS,
    Parameter,
    auto_or,
    count_or_fraction,
    integer,
    none_or,
    number,
    one_of,
    when_used,
    word,
)


def _positive(name: str, value: Any) -> None:
    if not (is_real(value) and 0 < value < np.inf):
        complain(name, value, "a number above 0, and finite")


def _fraction(name: str, value: Any) -> None:
    if not (is_real(value) and 0 < value < 1):
        complain(name, value, "a fraction between 0 and 1")


def _scoring(name: str, value: Any) -> None:
    if not (value is None or callable(value) or value == "loss"):
        check_word(name, value, ["loss", *get_scorer_names()])


_INSTEAD = {
    "small forests": "small boosted models",
    "(out-of-bag log loss)": "(in cross-validation)",
    "out-of-bag CRPS": "cross-validated loss",
}


def _of_small_models(text: str) -> str:
    """A text about small forests that choose something: boosting has small models for it."""
    for of_forest, of_boosting in _INSTEAD.items():
        text = text.replace(of_forest, of_boosting)
    return text


_OF_TABLES = "missing", "unknown_error", "max_bins", "distribution", "prior", "error_columns", "sentinels"

BOOSTING_PARAMETERS = {name: TREE_PARAMETERS[name] for name in (*_OF_TABLES, "error_features")} | {
    "learning_rate": Parameter(
        "float", "Factor of the values of leaves: the share of a step that is taken.", _positive
    ),
    "max_iter": Parameter(
        "int", "Number of iterations, each with one tree for two classes and one per class for more.", integer(1)
    ),
    "max_leaf_nodes": Parameter(
        "int", "Largest number of leaves of a tree; the leaf whose split gains most is split first.", integer(2)
    ),
    "max_depth": Parameter("int or None", "Depth limit of a tree.", none_or(integer(1))),
    "min_samples_leaf": Parameter(
        "int or float",
        "Least expected number of objects (the sum of weight × probability) in a leaf; a float is a fraction of the "
        "weight of the training set. Objects with doubtful labels weigh what their labels say, but so many objects "
        "with labels as they are on average are enough, or a fifth of all, if that is more; and so are objects that "
        "weigh half as much.",
        count_or_fraction(1),
    ),
    "l2_regularization": Parameter(
        '"auto" or float',
        'λ in the step −G / (H + λ) of a leaf. "auto" takes 0 if all labels are certain and 10 if some are doubtful.',
        auto_or(number(0)),
    ),
    "max_features": Parameter(
        '{"auto", "sqrt", "log2"}, int, float or None',
        'Features that each split looks at, a fraction of them if it is a float; None all of them. "auto" takes all of '
        "them if all labels are certain, and half of them if some are doubtful.",
        when_used,
    ),
    "keep_proba": Parameter(
        "float",
        "An object goes both ways at a split only while its probability to reach either child is above this; otherwise "
        "it follows the more probable way as a whole. 0 keeps everything, 1 makes every object follow one path.",
        number(0, high=1),
    ),
    "early_stopping": Parameter(
        '"auto" or bool',
        "Whether to hold out a part of the training set, stop when its loss does not get smaller, and keep the "
        'iterations up to the smallest loss, the last of equal ones. "auto" does so with doubtful labels and with more '
        "than 10,000 objects. Doubtful labels say little about the loss: several parts are held out in turn, if there "
        "are few of them, and as many iterations as were best in the mean are then grown on all objects.",
        auto_or(check_flag),
    ),
    "scoring": Parameter(
        "str, callable or None",
        'What early stopping watches: "loss", the name of a scorer of scikit-learn, a callable (estimator, X, y), or '
        "None for what `score` computes.",
        _scoring,
    ),
    "validation_fraction": Parameter(
        "float or None",
        "The part of the objects that is held out for early stopping; with None, it watches the training set.",
        none_or(_fraction),
    ),
    "monotonic_cst": Parameter(
        "array-like of shape (n_features,), mapping or None",
        "1 or -1 for a feature with which the score of the second class, or the number, may only rise or fall, 0 for "
        "others; in the order of `feature_names_`, or by their names. It holds for the distributions of values: a "
        "prior and `keep_proba` above 0 can cause small exceptions.",
        when_used,
    ),
    "warm_start": Parameter(
        "bool", "Keep the iterations of the last `fit` and add to them, up to `max_iter`.", check_flag
    ),
    "n_iter_no_change": Parameter(
        "int", "Early stopping after so many iterations without a smaller loss of the held-out objects.", integer(1)
    ),
    "tol": Parameter("float", "Losses that differ by less count as equal in early stopping.", number(0)),
    "prior": replace(TREE_PARAMETERS["prior"], text=_of_small_models(TREE_PARAMETERS["prior"].text)),
    "class_weight": TREE_PARAMETERS["class_weight"],
    "n_jobs": FOREST_PARAMETERS["n_jobs"],
    "random_state": Parameter(
        "int, RandomState instance or None",
        "Seed of the held-out objects, of the choice of features, and of the grid points by which values with errors "
        "take part in the search of splits.",
        when_used,
    ),
    "verbose": FOREST_PARAMETERS["verbose"],
}

BOOSTING_REGRESSOR_PARAMETERS = (
    {name: each for name, each in BOOSTING_PARAMETERS.items() if name != "class_weight"}
    | {"prior": NUMBER_PARAMETERS["prior"]}
    | {
        "error_scale": replace(
            NUMBER_PARAMETERS["error_scale"], text=_of_small_models(NUMBER_PARAMETERS["error_scale"].text)
        )
    }
    | {
        "loss": Parameter(
            one_of(("auto", *NUMBER_LOSSES)),
            "What is made small: the squared error, which leads to means; the absolute error, to medians; the Huber "
            'loss, "huber", a square up to some size of the residual and a straight line beyond it; the pinball loss '
            'of a "quantile"; half the deviance of "poisson" (targets >= 0) or "gamma" (targets > 0), which predict '
            'means and whose raw scores are logarithms. "auto" takes the squared error, unless residuals of small '
            "models have heavy tails on both sides, and the Huber loss has no larger squared error in "
            "cross-validation: then it estimates means more precisely.",
            word(("auto", *NUMBER_LOSSES)),
        ),
        "quantile": Parameter(
            "float or None",
            'Which quantile loss="quantile" predicts; with loss="huber", the share of residuals of small models in the '
            "quadratic part, None for 0.9.",
            none_or(_fraction),
        ),
        "max_iter": Parameter("int", "Number of iterations, each with one tree.", integer(1)),
        "l2_regularization": Parameter("float", "λ in the step −G / (H + λ) of a leaf.", number(0)),
        "early_stopping": Parameter(
            '"auto" or bool',
            "Whether to hold out a part of the training set, stop when its loss does not get smaller, and keep the "
            'iterations up to the smallest loss. "auto" does so with more than 10,000 objects.',
            auto_or(check_flag),
        ),
    }
)
