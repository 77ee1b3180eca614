"""The FeatureModel of a model as JSON and arrays, and back, with a check that its parts belong together.

The arrays of all features lie one feature after the other. In a file, what limits are spread over is a "reference".
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..families import Family
from ..features.feature_model import FeatureModel
from ..features.limits import TrainingSpread
from ..features.noisier_objects import NoisierObjects
from ..features.prior import EmpiricalPrior, NormalPrior, Prior
from ..inputs.parameters import check_number
from .model_file import Arrays
from .saved_arrays import NOISIER
from .saved_columns import checked_errors, layout_from_json, layout_to_json
from .saved_errors import error_spreads_from, error_spreads_to_arrays, error_spreads_to_json
from .saved_families import FamilyShelf
from .saved_joint_prior import joint_prior_from, joint_prior_to_arrays, joint_prior_to_json
from .saved_parameters import one_of
from .saved_values import from_json, to_json

PROBABILITY_ROUNDING = 1e-6  # of a sum of probabilities, which may have been rounded to nine digits

Json = dict[str, Any]


def features_to_json(features: FeatureModel, shelf: FamilyShelf) -> Json:
    """What is no array; distributions are put on the shelf."""
    return {
        "fitted_with_errors": features.fitted_with_errors,
        "error_names": to_json(features.layout.error_names, "the names of the columns of X_err"),
        "layout": layout_to_json(features.layout),
        "feature_families": [shelf.place(family) for family in features.families],
        "priors": [_prior_to_json(prior) for prior in features.priors],
        "error_spreads": error_spreads_to_json(features.error_spreads),
        "error_features": features.has_error_features,
        "error_scale": float(features.error_scale),
        "joint_prior": joint_prior_to_json(features.joint_prior),
        "noisier": _noisier_to_json(features.noisier),
    }


def features_to_arrays(features: FeatureModel) -> Arrays:
    """The arrays."""
    return {
        "median_errors": features.median_errors,
        **_priors_to_arrays(features.priors),
        **_spreads_to_arrays(features.spreads),
        **error_spreads_to_arrays(features.error_spreads),
        **joint_prior_to_arrays(features.joint_prior),
        **_noisier_to_arrays(features.noisier),
    }


def features_from(document: Json, arrays: Arrays, families: Sequence[Family], n_columns: Any) -> FeatureModel:
    """The FeatureModel of a table with `n_columns`; a ValueError if its parts do not belong together."""
    n_features = len(document["feature_families"])
    error_names = from_json(document["error_names"])
    priors = _priors_from(document["priors"], arrays, n_features)
    return FeatureModel(
        layout=layout_from_json(document["layout"], error_names, n_columns, n_features),
        families=tuple(one_of(families, place) for place in document["feature_families"]),
        fitted_with_errors=_flag(document["fitted_with_errors"]),
        median_errors=checked_errors(arrays["median_errors"], n_features),
        priors=priors,
        spreads=_spreads_from(arrays, n_features),
        error_spreads=error_spreads_from(document.get("error_spreads", []), arrays, n_features),
        has_error_features=_flag(document.get("error_features", False)),
        error_scale=_error_scale(document.get("error_scale", 1.0)),
        joint_prior=joint_prior_from(document.get("joint_prior"), arrays, _are_empirical(priors)),
        noisier=_noisier_from(document.get("noisier"), arrays, n_features),
    )


def _noisier_to_json(noisier: NoisierObjects | None) -> Json | None:
    if noisier is None:
        return None
    return {
        "priors": [_prior_to_json(prior) for prior in noisier.priors],
        "joint_prior": joint_prior_to_json(noisier.joint),
    }


def _noisier_to_arrays(noisier: NoisierObjects | None) -> Arrays:
    if noisier is None:
        return {}
    found = {**_priors_to_arrays(noisier.priors), **joint_prior_to_arrays(noisier.joint)}
    return {f"{NOISIER}{name}": array for name, array in found.items()}


def _noisier_from(data: Json | None, arrays: Arrays, n_features: int) -> NoisierObjects | None:
    if data is None:
        return None
    own = {name.removeprefix(NOISIER): array for name, array in arrays.items() if name.startswith(NOISIER)}
    priors = _priors_from(data["priors"], own, n_features)
    joint = joint_prior_from(data["joint_prior"], own, _are_empirical(priors))
    if joint is None or not joint.groups:
        raise ValueError("it has no joint prior for objects that are measured worse")
    return NoisierObjects(priors, joint)


def _are_empirical(priors: Sequence[Prior | None]) -> np.ndarray:
    return np.array([isinstance(prior, EmpiricalPrior) for prior in priors], dtype=bool)


def _error_scale(value: Any) -> float:
    check_number("the factor of errors", value, 0)
    return float(value)


def _flag(value: Any) -> bool:
    if type(value) is not bool:
        raise ValueError(f"{value!r} is not true or false")
    return value


def _prior_to_json(prior: Prior | None) -> Json | None:
    if prior is None:
        return None
    if isinstance(prior, NormalPrior):
        return {"mean": float(prior.mean), "deviation": float(prior.deviation)}
    if isinstance(prior, EmpiricalPrior):
        return {"n_cells": len(prior.mass)}
    raise TypeError(f"a prior is a {type(prior).__name__}")


def _priors_to_arrays(priors: Sequence[Prior | None]) -> Arrays:
    empirical = [prior for prior in priors if isinstance(prior, EmpiricalPrior)]
    return {
        "prior_edges": np.concatenate([np.empty(0), *(prior.edges for prior in empirical)]),
        "prior_mass": np.concatenate([np.empty(0), *(prior.mass for prior in empirical)]),
    }


def _priors_from(data: list[Json | None], arrays: Arrays, n_features: int) -> tuple[Prior | None, ...]:
    n_cells = [each["n_cells"] if each is not None and "n_cells" in each else 0 for each in data]
    n_edges = [count + 1 if count else 0 for count in n_cells]
    edges, mass = _apart(arrays["prior_edges"], n_edges), _apart(arrays["prior_mass"], n_cells)
    if len(data) != n_features:
        raise ValueError("it has not a prior for each feature")
    return tuple(_prior_from(each, *pieces) for each, *pieces in zip(data, edges, mass, strict=True))


def _prior_from(data: Json | None, edges: np.ndarray, mass: np.ndarray) -> Prior | None:
    if data is None:
        return None
    if "n_cells" not in data:
        prior = NormalPrior(float(data["mean"]), float(data["deviation"]))
        if not (np.isfinite(prior.mean) and 0 < prior.deviation < np.inf):
            raise ValueError("a prior is not a distribution")
        return prior
    rises = len(edges) >= 2 and np.isfinite(edges).all() and (edges[1:] > edges[:-1]).all()
    if not rises or not ((mass >= 0) & (mass <= 1)).all():
        raise ValueError("a prior is not a distribution")
    if not abs(mass.sum() - 1) <= PROBABILITY_ROUNDING:
        raise ValueError("the masses of a prior do not sum to 1")
    return EmpiricalPrior(edges, mass)


def _spreads_to_arrays(spreads: Sequence[TrainingSpread]) -> Arrays:
    return {
        "reference_sizes": np.array([len(spread.points) for spread in spreads], dtype=np.int64),
        "reference_points": np.concatenate([spread.points for spread in spreads]),
        "reference_below": np.concatenate([spread.below for spread in spreads]),
    }


def _spreads_from(arrays: Arrays, n_features: int) -> tuple[TrainingSpread, ...]:
    sizes = arrays["reference_sizes"].tolist()
    points, below = _apart(arrays["reference_points"], sizes), _apart(arrays["reference_below"], sizes)
    if len(points) != n_features or 0 in sizes:
        raise ValueError("it has not a reference for each feature")
    for pieces in (points, below):
        if not all((each[1:] >= each[:-1]).all() and np.isfinite(each).all() for each in pieces):
            raise ValueError("a reference is not a distribution")
    if any(each[0] < 0 or each[-1] > 1 for each in below):
        raise ValueError("a reference is not a distribution")
    return tuple(TrainingSpread(*pair) for pair in zip(points, below, strict=True))


def _apart(array: np.ndarray, sizes: Sequence[Any]) -> list[np.ndarray]:
    """The pieces of an array of float64; pieces of these `sizes` must make up all of it."""
    if not all(type(size) is int and 0 <= size <= len(array) for size in sizes) or sum(sizes) != len(array):
        raise ValueError("the pieces of an array are not as long as it is")
    if array.dtype != np.float64 or array.ndim != 1:
        raise ValueError("an array has another type or shape")
    ends = np.cumsum([0, *sizes]).tolist()
    return [array[first:last] for first, last in pairwise(ends)]
