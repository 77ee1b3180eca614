"""What every training object weighs: sample weight × class weight × label information."""

from typing import Any

import numpy as np

from .labels import LabelTable
from .measured_values import unmasked
from .parameters import complain

LEAST_TOTAL, LARGEST_TOTAL = 1e-60, 1e60  # of the weights: their cubes, and ratios of these, are still numbers
_LEAST_SHARE = 1e-30  # of the weight of all objects, in a class that is balanced against the others


def read_sample_weight(sample_weight: Any, n_objects: int) -> np.ndarray:
    """Sample weights (n,), finite and not negative; ones for None."""
    if sample_weight is None:
        return np.ones(n_objects)
    try:
        weight = np.array(unmasked(sample_weight), dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise ValueError(f"sample_weight must hold numbers: {problem}") from problem
    if weight.ndim == 0:
        weight = np.full(n_objects, float(weight))
    if weight.shape != (n_objects,):
        raise ValueError(f"sample_weight has shape {weight.shape}; expected one weight per object, ({n_objects},).")
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(f"sample_weight is {weight[row]} at row {row}; expected a finite weight >= 0.")
    return weight


def class_weights(class_weight: Any, labels: LabelTable, weight: np.ndarray, *, of_a_draw: bool = False) -> np.ndarray:
    """The factor of every class (k,). "balanced" gives all classes the same expected weight.

    In the objects that a tree has drawn (`of_a_draw`) a class may be absent, or as good as.
    """
    classes = labels.classes
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str) and class_weight == "balanced":
        return balancing_weights(classes, labels.class_masses(weight), of_a_draw=of_a_draw)
    if not isinstance(class_weight, dict):
        complain(
            "class_weight",
            class_weight,
            'None, "balanced", a dict {class: weight}, or a forest\'s "balanced_subsample"',
        )
    known = {c: class_weight[c] for c in classes.tolist() if c in class_weight}
    if len(known) < len(class_weight) and len(known) < len(classes):
        strange = [c for c in class_weight if c not in known]
        raise ValueError(f"class_weight names {strange}, but the classes are {classes.tolist()}.")
    factors = np.array([known.get(c, 1.0) for c in classes.tolist()])
    if factors.dtype.kind not in "fiu" or not (np.isfinite(factors) & (factors >= 0)).all():
        complain("class_weight", class_weight, "a dict of finite weights >= 0")
    return factors.astype(np.float64)


def balancing_weights(classes: np.ndarray, masses: np.ndarray, *, of_a_draw: bool = False) -> np.ndarray:
    """The factors (k,) that give all classes, which weigh `masses` (k,), the same weight."""
    total = masses.sum()
    light = (masses > 0) & (masses < _LEAST_SHARE * total)
    present = (masses > 0) & ~light
    if light.any() and not of_a_draw:
        name, mass = classes.tolist()[int(np.argmax(light))], masses[light][0]
        raise ValueError(
            f'class_weight="balanced" can\'t balance the class {name!r}: its objects weigh {mass:.3g} in all, '
            f"those of all classes {total:.3g}. Look at sample_weight, or leave these objects out."
        )
    return np.where(present, total / (present.sum() * np.where(present, masses, 1.0)), 0.0)


def check_total(weight: np.ndarray) -> None:
    """There must be some weight to learn from, not too little and not too much to compute with."""
    if not (weight > 0).any():
        raise ValueError(
            "Every object has weight zero, so there is nothing to learn from. Look at sample_weight and class_weight; "
            "with label_information=True an object whose classes are all equally probable weighs nothing either."
        )
    with np.errstate(over="ignore"):
        total = weight.sum()
    if not LEAST_TOTAL <= total <= LARGEST_TOTAL:
        raise ValueError(
            f"The weights of the objects, sample_weight times class_weight, sum to {total:.3g}; expected a sum between "
            f"{LEAST_TOTAL:g} and {LARGEST_TOTAL:g}. Scale sample_weight to a mean of about 1."
        )
