"""What only regressors have, as JSON and arrays and back: targets in leaves, and how errors are used."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from ..features.prior import PRIORS
from ..features.usual_errors import UsualErrors
from ..features.usual_scatter import UsualScatter
from ..inputs.parameters import check_integer, check_number, check_word
from ..kernels.layout import INDEX
from ..trees.calibration import LEVELS as CALIBRATION_LEVELS
from ..trees.calibration import NOISES
from ..trees.conformal import Margins
from ..trees.error_trial import EXACT, PART, ErrorTrial
from ..trees.fitted_tree import FittedTree
from ..trees.leaf_slopes import LeafSlopes, Scales
from ..trees.leaf_targets import LeafTargets
from .saved_trees import FALLBACK
from .saved_values import from_json, to_json

_ROUNDING = 1e-6  # of a sum of shares
_WAYS = (*PRIORS, "none", PART, EXACT)

Json = dict[str, Any]
Arrays = dict[str, np.ndarray]


def numbers_to_json(model: Any) -> Json:
    """What is no array."""
    trial, usual = model.error_trial_, getattr(model, "usual_errors_", None)
    return {
        "error_trial": None if trial is None else [dict(trial.crps), *trial[1:]],
        "target_scatter": None if model.target_scatter_ is None else float(model.target_scatter_),
        "oob_score": to_json(getattr(model, "oob_score_", None), "oob_score_"),
        "usual_errors": None if usual is None else [usual.middle, usual.scatter],
    }


def numbers_to_arrays(model: Any, trees: Sequence[FittedTree], fallback: Sequence[FittedTree]) -> Arrays:
    """The targets in the leaves of all trees, and out-of-bag predictions."""
    arrays = _leaves_to_arrays(trees, "") | _slopes_to_arrays(model.slope_scales_, trees)
    if fallback:
        arrays |= _leaves_to_arrays(fallback, FALLBACK)
    if hasattr(model, "oob_prediction_"):
        arrays["oob_prediction"] = model.oob_prediction_
    if model.calibration_ is not None:
        arrays["calibration"] = model.calibration_
    if getattr(model, "usual_errors_", None) is not None:
        arrays |= _usual_errors_to_arrays(model.usual_errors_)
    if getattr(model, "usual_scatter_", None) is not None:
        arrays |= {f"scatter_{each.name}": getattr(model.usual_scatter_, each.name) for each in fields(UsualScatter)}
    if model.conformal_ is not None:
        arrays["conformal"] = np.append(model.conformal_.least_scale, model.conformal_.of_probabilities)
    return arrays


def _usual_errors_to_arrays(usual: UsualErrors) -> Arrays:
    return {"usual_edges": usual.edges, "usual_sizes": usual.sizes, "usual_shares": usual.shares}


def _leaves_to_arrays(trees: Sequence[FittedTree], prefix: str) -> Arrays:
    targets = [tree.targets for tree in trees if tree.targets is not None]
    sets: list[np.ndarray] = []
    numbers = []
    for each in targets:  # trees of one fit have the same targets
        number = next((place for place, known in enumerate(sets) if known is each.y), len(sets))
        if number == len(sets):
            sets.append(each.y)
        numbers.append(number)
    return {
        f"{prefix}target_set_sizes": np.array([len(each) for each in sets], dtype=np.int64),
        f"{prefix}target_values": np.concatenate(sets),
        f"{prefix}target_sets": np.array(numbers, dtype=np.int64),
        f"{prefix}leaf_sizes": np.concatenate([np.diff(each.first) for each in targets]),
        f"{prefix}leaf_places": np.concatenate([each.place for each in targets]),
        f"{prefix}leaf_shares": np.concatenate([each.share for each in targets]),
    }


def _slopes_to_arrays(scales: Scales | None, trees: Sequence[FittedTree]) -> Arrays:
    known = [tree.slopes for tree in trees if tree.slopes is not None]
    if scales is None:
        return {}
    return {
        "slope_scales": np.array(scales),
        "slope_counts": np.array([len(each.slope) for each in known], dtype=np.int64),
        "slope_values": np.concatenate([each.slope for each in known]),
        "leaf_slopes": np.concatenate([each.model for each in known]),
        "leaf_means": np.concatenate([each.mean for each in known]),
    }


def with_slopes(trees: Sequence[FittedTree], arrays: Mapping[str, np.ndarray]) -> list[FittedTree]:
    """The trees with the slopes of their leaves, if there are some; a ValueError if these are invalid."""
    if "slope_scales" not in arrays:
        return list(trees)
    counts, slopes, means = (arrays[name] for name in ("slope_counts", "slope_values", "leaf_means"))
    n_leaves = [len(tree.leaves) for tree in trees]
    if sum(n_leaves) != len(means) or not ((counts >= 1) & (counts <= len(slopes))).all():
        raise ValueError("the trees do not have as many leaves as there are slopes for")
    if counts.sum() != len(slopes) or not (np.isfinite(slopes).all() and np.isfinite(means).all()):
        raise ValueError("a slope is no number")
    found, leaf, first = [], 0, 0
    for tree, n_here, count in zip(trees, n_leaves, counts.tolist(), strict=True):
        of_tree = slice(leaf, leaf + n_here)
        model = arrays["leaf_slopes"][of_tree]
        if not ((model >= 0) & (model < count)).all():
            raise ValueError("a leaf has a slope that does not exist")
        found.append(replace(tree, slopes=LeafSlopes(model, slopes[first : first + count], means[of_tree])))
        leaf, first = of_tree.stop, first + count
    return found


def with_targets(trees: Sequence[FittedTree], arrays: Mapping[str, np.ndarray], prefix: str = "") -> list[FittedTree]:
    """The trees with the targets in their leaves; a ValueError if these are no distributions."""
    sets = _target_sets(arrays[f"{prefix}target_set_sizes"], arrays[f"{prefix}target_values"])
    set_of = arrays[f"{prefix}target_sets"]
    if len(set_of) != len(trees) or not ((set_of >= 0) & (set_of < len(sets))).all():
        raise ValueError("a tree has targets that do not exist")
    names = ("leaf_sizes", "leaf_places", "leaf_shares")
    sizes, places, shares = (arrays[f"{prefix}{name}"] for name in names)
    _check_leaves(sizes, places, shares)
    n_leaves = [len(tree.leaves) for tree in trees]
    if sum(n_leaves) != len(sizes):
        raise ValueError("the trees do not have as many leaves as there are targets for")
    found, leaf, entry = [], 0, 0
    for tree, count, number in zip(trees, n_leaves, set_of.tolist(), strict=True):
        first = np.concatenate([[0], np.cumsum(sizes[leaf : leaf + count])])
        entries = slice(entry, entry + int(first[-1]))
        y = sets[number]
        if places[entries].max() >= len(y):
            raise ValueError("a leaf has a target that does not exist")
        found.append(replace(tree, targets=LeafTargets(y, first, places[entries], shares[entries])))
        leaf, entry = leaf + count, entries.stop
    return found


def _target_sets(sizes: np.ndarray, values: np.ndarray) -> list[np.ndarray]:
    if sizes.dtype != np.int64 or values.dtype != np.float64 or not len(sizes) or not (sizes >= 1).all():
        raise ValueError("its targets are invalid")
    if not (sizes <= len(values)).all() or sizes.sum() != len(values) or not np.isfinite(values).all():
        raise ValueError("its targets are invalid")
    sets = np.split(values, np.cumsum(sizes)[:-1])
    if not all((each[1:] > each[:-1]).all() for each in sets):
        raise ValueError("its targets are not in increasing order")
    return sets


def _check_leaves(sizes: np.ndarray, places: np.ndarray, shares: np.ndarray) -> None:
    """Shares of a leaf are a distribution over increasing places."""
    if sizes.dtype != np.int64 or places.dtype != INDEX or shares.dtype != np.float64:
        raise ValueError("the targets of leaves have another type")
    if not len(sizes) or not ((sizes >= 1) & (sizes <= len(places))).all() or sizes.sum() != len(places):
        raise ValueError("the sizes of leaves are invalid")
    first = np.cumsum(sizes) - sizes
    begins = np.zeros(len(places), dtype=bool)
    begins[first] = True
    if places.min() < 0 or not ((places[1:] > places[:-1]) | begins[1:]).all():
        raise ValueError("the targets of a leaf are not in increasing order")
    if not ((shares >= 0) & (shares <= 1 + _ROUNDING)).all():
        raise ValueError("a share of a leaf is not between 0 and 1")
    if not (np.abs(np.add.reduceat(shares, first) - 1) <= _ROUNDING).all():
        raise ValueError("the shares of a leaf do not sum to 1")


def restore_numbers(model: Any, document: Json, arrays: Mapping[str, np.ndarray]) -> None:
    """Give a regressor what it had chosen, and its out-of-bag predictions."""
    model.error_scale_ = model.feature_model_.error_scale
    model.error_trial_ = _trial(document["error_trial"])
    model.target_scatter_ = document["target_scatter"]
    if model.target_scatter_ is not None:
        check_number("the scatter of targets", model.target_scatter_, 0)
    if "slope_scales" in arrays:
        model.slopes_, model.slope_scales_ = True, _checked_scales(arrays["slope_scales"])
    if "calibration" in arrays:
        model.calibration_ = _checked_calibration(arrays["calibration"])
    if document.get("usual_errors") is not None:
        model.usual_errors_ = _checked_usual_errors(document["usual_errors"], arrays)
    if "scatter_features" in arrays:
        model.usual_scatter_ = _checked_usual_scatter(arrays, model.feature_model_.n_values)
    if "conformal" in arrays:
        model.conformal_ = _checked_margins(arrays["conformal"])
    prediction = arrays.get("oob_prediction")
    if prediction is not None:
        if np.isinf(prediction).any():
            raise ValueError("an out-of-bag prediction is infinite")
        model.oob_score_, model.oob_prediction_ = from_json(document["oob_score"]), prediction


def _checked_scales(saved: np.ndarray) -> Scales:
    scales = Scales(*saved)
    if not np.isfinite([scales.center, scales.low, scales.high]).all() or not (scales.width > 0).all():
        raise ValueError("the scales of slopes are invalid")
    return scales


def _checked_calibration(shares: np.ndarray) -> np.ndarray:
    fits = shares.ndim == 2 and shares.shape[1] == len(CALIBRATION_LEVELS) and 1 <= len(shares) <= len(NOISES)
    if not fits or not (shares[:, 1:] >= shares[:, :-1]).all() or (shares[:, [0, -1]] != [0, 1]).any():
        raise ValueError("the calibration does not rise from 0 to 1")
    return shares


def _checked_usual_errors(numbers: Any, arrays: Mapping[str, np.ndarray]) -> UsualErrors:
    middle, scatter = numbers
    check_number("the excess of errors", middle, -np.inf)
    check_number("the scatter of errors", scatter, 0)
    edges, sizes, shares = (arrays[f"usual_{name}"] for name in ("edges", "sizes", "shares"))
    if sizes.shape[1] != edges.shape[1] + 1 or not np.isfinite(edges).all() or not (np.diff(edges, axis=1) >= 0).all():
        raise ValueError("the usual errors have invalid bins")
    if not ((shares >= 0) & (shares <= 1 + _ROUNDING)).all() or abs(shares.sum() - 1) > _ROUNDING:
        raise ValueError("the shares of features in errors do not sum to 1")
    if np.isinf(sizes).any() or np.isnan(sizes[shares > 0]).any():
        raise ValueError("a usual error is no number")
    return UsualErrors(edges, sizes, shares, float(middle), float(scatter))


def _checked_usual_scatter(arrays: Mapping[str, np.ndarray], n_values: int) -> UsualScatter:
    usual = UsualScatter(**{each.name: arrays[f"scatter_{each.name}"] for each in fields(UsualScatter)})
    if usual.features.dtype != np.int64 or not ((usual.features >= 0) & (usual.features < n_values)).all():
        raise ValueError("the usual scatter is that of features that do not exist")
    if not all(np.isfinite(getattr(usual, each.name)).all() for each in fields(UsualScatter)):
        raise ValueError("the usual scatter is no number")
    if not (usual.deviation > 0).all() or not (usual.scatter >= 0).all():
        raise ValueError("the usual scatter has invalid deviations")
    rises = all((np.diff(each, axis=1) >= 0).all() for each in (usual.edges, usual.growth))
    if not rises or usual.sizes.shape[1] != usual.edges.shape[1] + 1:
        raise ValueError("the usual scatter has invalid bins")
    if not (usual.shares >= 0).all() or abs(usual.shares.sum() - 1) > _ROUNDING:
        raise ValueError("the shares of features in the usual scatter do not sum to 1")
    return usual


def _checked_margins(saved: np.ndarray) -> Margins:
    least_scale, margins = float(saved[0]), saved[1:]
    if not 0 < least_scale < np.inf or np.isnan(margins).any() or (margins == -np.inf).any():
        raise ValueError("the margins of conformal intervals are no numbers")
    return Margins(margins, least_scale)


def _trial(trial: Any) -> ErrorTrial | None:
    if trial is None:
        return None
    scores, choice, n_objects, *rest = trial  # older files have no more
    with_slopes = rest[0] if rest else None
    if with_slopes is not None:
        check_number("a score of the trial of slopes", with_slopes, -np.inf)
    for way, score in scores.items():
        check_word("a way to use errors", way, _WAYS)
        check_number("a score of the trial of errors", score, -np.inf)
    check_word("the choice of the trial of errors", choice, list(scores))
    check_integer("n_objects of the trial of errors", n_objects, 1)
    return ErrorTrial({way: float(score) for way, score in scores.items()}, choice, n_objects, with_slopes)
