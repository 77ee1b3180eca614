"""What boosting has beside its trees, as arrays and back, with a check of what predictions rely on."""

from typing import Any

import numpy as np

from ..inputs.parameters import check_integer
from ..trees.bootstrap import MAX_SEED
from .model_file import Arrays
from .saved_trees import FALLBACK, LARGEST_SCORE, trees_from_arrays


def boosting_to_arrays(model: Any) -> Arrays:
    """The raw scores before the first iteration, and the scores after each."""
    return {
        "baseline": model.baseline_,
        "train_score": model.train_score_,
        "validation_score": model.validation_score_,
    }


def n_scores_of_classes(n_classes: int) -> int:
    """How many raw scores there are for so many classes."""
    if n_classes < 2:
        raise ValueError("boosting needs two classes or more")
    return 1 if n_classes == 2 else n_classes


def restore_boosting(model: Any, seed: Any, arrays: Arrays, n_scores: int) -> None:
    """Give a model its trees and scores; a ValueError if they are not those of a model with so many raw scores."""
    check_integer("the seed", seed, 1, high=MAX_SEED)
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
