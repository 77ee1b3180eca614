"""What was learnt about doubtful labels, as numbers and arrays and back, with a check of what predictions rely on."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..trees.label_truth import LARGEST_SOFTNESS, LEAST_SOFTNESS, LabelTruth

_ROUNDING = 1e-6  # of a sum of probabilities
_NAMES = {"channel": "label_channel", "prior": "label_prior", "scale": "label_scale"}  # of the arrays in a file
_NUMBERS = {"softness": (LEAST_SOFTNESS, LARGEST_SOFTNESS), "wrong": (0.0, 1.0)}


def label_truth_to_json(truth: LabelTruth | None) -> dict[str, float] | None:
    """The numbers; None if all labels were hard."""
    return None if truth is None else {name: float(getattr(truth, name)) for name in _NUMBERS}


def label_truth_to_arrays(truth: LabelTruth | None) -> dict[str, np.ndarray]:
    """The arrays; none if all labels were hard."""
    return {} if truth is None else {name: getattr(truth, field) for field, name in _NAMES.items()}


def label_truth_from(data: Any, arrays: Mapping[str, np.ndarray], n_classes: int) -> LabelTruth | None:
    """The LabelTruth, or None; a ValueError if answers could be something else than probabilities."""
    found = [name for name in _NAMES.values() if name in arrays]
    if data is None and not found:
        return None
    if type(data) is not dict or data.keys() != _NUMBERS.keys() or len(found) != len(_NAMES):
        raise ValueError("a part of what it knows about doubtful labels is missing")
    for name, (least, largest) in _NUMBERS.items():
        if type(data[name]) is not float or not least <= data[name] <= largest:
            raise ValueError(f"the {name} of its labels is invalid")
    parts: dict[str, Any] = {field: arrays[name] for field, name in _NAMES.items()}
    truth = LabelTruth(**parts, **data)
    _check_arrays(truth, n_classes)
    return truth


def _check_arrays(truth: LabelTruth, n_classes: int) -> None:
    shapes = {"channel": (n_classes, n_classes), "prior": (n_classes,), "scale": (n_classes,)}
    for field, shape in shapes.items():
        array = getattr(truth, field)
        if array.dtype != np.float64 or array.shape != shape:
            raise ValueError(f"the {field} of its labels is {array.dtype} of shape {array.shape}")
        if not ((array >= 0) & (array <= 1 + _ROUNDING)).all():
            raise ValueError(f"the {field} of its labels is not between 0 and 1")
    if not (np.abs(truth.channel.sum(axis=1) - 1) <= _ROUNDING).all() or abs(truth.prior.sum() - 1) > _ROUNDING:
        raise ValueError("probabilities of its labels do not sum to 1")
    scale = truth.scale[truth.prior > 0]
    if not (scale > 0).all() or abs(scale.max() - 1) > _ROUNDING:
        raise ValueError("the scale of its labels is not between 0 and 1, with a largest number of 1")
