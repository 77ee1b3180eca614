"""What boosting has beside its trees, as arrays and back, with a check of what predictions rely on."""

import sys
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from ..inputs.parameters import check_integer, check_number, check_word
from ..trees.bootstrap import MAX_SEED
from ..trees.loss_trial import LossTrial
from ..trees.number_losses import NUMBER_LOSSES
from .model_file import Arrays
from .saved_trees import FALLBACK, LARGEST_SCORE, trees_from_arrays


def boosting_to_arrays(model: Any) -> Arrays:
    """The raw scores before the first iteration, and the scores after each."""
    return {
        "baseline": model.baseline_,
        "train_score": model.train_score_,
        "validation_score": model.validation_score_,
    }


def boosting_to_json(model: Any) -> dict[str, Any]:
    """The seed; and the loss of a regressor, and how it was chosen."""
    document: dict[str, Any] = {"seed": int(model.seed_)}
    if not hasattr(model, "loss_"):
        return document
    trial = None if model.loss_trial_ is None else model.loss_trial_._asdict()
    return document | {"loss": model.loss_, "delta": model.delta_, "loss_trial": trial}


def _restore_loss(model: Any, document: dict[str, Any]) -> None:
    """Give a regressor its loss; files of the first versions only have the parameter."""
    model.loss_, model.delta_ = document.get("loss", model.loss), document.get("delta")
    check_word("the loss", model.loss_, NUMBER_LOSSES)
    if (model.loss_ == "huber") != (model.delta_ is not None):
        raise ValueError("the Huber loss has a delta, and no other loss has one")
    if model.delta_ is not None:
        check_number("delta", model.delta_, sys.float_info.min)
    trial = document.get("loss_trial")
    model.loss_trial_ = None if trial is None else _checked_trial(LossTrial(**trial))


def _checked_trial(trial: LossTrial) -> LossTrial:
    """Both scores of the Huber loss may be None."""
    for name, value in trial._asdict().items():
        if value is not None or name not in ("huber", "error"):
            check_number(f"{name} of the trial of losses", value, -np.inf)
    return trial


def n_scores_of_classes(n_classes: int) -> int:
    """How many raw scores there are for so many classes."""
    if n_classes < 2:
        raise ValueError("boosting needs two classes or more")
    return 1 if n_classes == 2 else n_classes


def restore_boosting(model: Any, document: dict[str, Any], arrays: Arrays, n_scores: int) -> None:
    """Give a model its trees, loss and scores; a ValueError if they are not those of a model with so many raw
    scores."""
    seed = document.get("seed", 1)
    check_integer("the seed", seed, 1, high=MAX_SEED)
    if is_regressor(model):
        _restore_loss(model, document)
    features, model.seed_ = model.feature_model_, seed
    model.baseline_ = _checked_baseline(arrays["baseline"], n_scores)
    model.trees_ = trees_from_arrays(arrays, features.n_features, None, boosted=True)
    model.fallback_trees_ = []
    if features.has_error_features:
        model.fallback_trees_ = trees_from_arrays(arrays, features.n_values, None, FALLBACK, boosted=True)
    for trees in (model.trees_, model.fallback_trees_):
        if len(trees) % len(model.baseline_):
            raise ValueError("an iteration does not have a tree for each score")
    for name, lengths in {"train_score": (model.n_iter_ + 1,), "validation_score": (0, model.n_iter_ + 1)}.items():
        score = arrays[name]
        if score.dtype != np.float64 or score.ndim != 1 or len(score) not in lengths or np.isnan(score).any():
            raise ValueError(f"its {name} does not have a number for each iteration")
        setattr(model, f"{name}_", score)


def _checked_baseline(baseline: np.ndarray, n_scores: int) -> np.ndarray:
    if baseline.dtype != np.float64 or baseline.shape != (n_scores,):
        raise ValueError(f"its baseline is {baseline.dtype} of shape {baseline.shape}")
    if not (np.abs(baseline) <= LARGEST_SCORE).all():
        raise ValueError("its baseline is not a number, or too large")
    return baseline
