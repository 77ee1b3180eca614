"""The errors of the training set of a model as JSON and arrays, and back, checked."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..features.error_spread import LEVELS, SIDES, ErrorSpread
from .model_file import Arrays


def error_spreads_to_json(spreads: Sequence[ErrorSpread]) -> list[list]:
    """Which errors there are."""
    return [[spread.feature, spread.side] for spread in spreads]


def error_spreads_to_arrays(spreads: Sequence[ErrorSpread]) -> Arrays:
    """How they are distributed."""
    return {
        "error_quantiles": np.array([spread.quantiles for spread in spreads]).reshape(-1, len(LEVELS)),
        "error_counts": np.array([[spread.unknown, spread.n_objects] for spread in spreads]).reshape(-1, 2),
    }


def error_spreads_from(data: Any, arrays: Arrays, n_features: int) -> tuple[ErrorSpread, ...]:
    """The errors of the training set; a file that was written before they were saved has none."""
    quantiles = arrays.get("error_quantiles", np.empty((0, len(LEVELS))))
    counts = arrays.get("error_counts", np.empty((0, 2)))
    shapes = (len(data), len(LEVELS)), (len(data), 2)
    if (quantiles.shape, counts.shape) != shapes or quantiles.dtype != np.float64 or counts.dtype != np.float64:
        raise ValueError("the errors of its training set have another shape")
    keys = [(feature, side) for feature, side in data]
    if any(type(feature) is not int or not 0 <= feature < n_features or side not in SIDES for feature, side in keys):
        raise ValueError("it has the errors of a feature that does not exist")
    if len(set(keys)) < len(keys):
        raise ValueError("it has the errors of a feature twice")
    if not np.isfinite(quantiles).all() or not (quantiles[:, 1:] >= quantiles[:, :-1]).all():
        raise ValueError("the errors of its training set are not a distribution")
    unknown, n_objects = counts.T
    if not ((unknown >= 0) & (unknown <= 1) & (n_objects > 0) & (n_objects < np.inf)).all():
        raise ValueError("the errors of its training set are counted wrongly")
    numbers = zip(keys, quantiles, unknown.tolist(), n_objects.tolist(), strict=True)
    return tuple(ErrorSpread(*key, *rest) for key, *rest in numbers)
