"""Which arrays a saved model has, and their types and shapes: known before any of them is read."""

from collections.abc import Mapping
from typing import NamedTuple

from ..features.error_spread import LEVELS
from ..features.usual_scatter import NOISES
from ..kernels.cdf import TABLE_STEPS
from ..kernels.layout import GRID_POINTS
from ..trees.calibration import LEVELS as CALIBRATION_LEVELS
from ..trees.conformal import PROBABILITIES
from .model_file import Declaration
from .saved_trees import FALLBACK


class Form(NamedTuple):
    """Type and shape of an array. Lengths with the same name are the same; one of None is free."""

    dtype: str
    shape: tuple[int | str | None, ...]
    is_optional: bool = False


def _forms_of_trees(nodes: str, trees: str = "trees", values: int | str = "classes") -> dict[str, Form]:
    """The arrays of so many trees, with so many nodes, each with so many values."""
    return {
        "tree_sizes": Form("<i8", (trees,)),
        "nodes_links": Form("<i4", (nodes, 2)),
        "nodes_threshold": Form("<f8", (nodes,)),
        "nodes_shares": Form("<f8", (nodes, 2)),
        "nodes_facts": Form("<f8", (nodes, 3)),
        "nodes_value": Form("<f8", (nodes, values)),
    }


NOISIER = "noisier_"  # begins the names of what is for objects that are measured much worse than the training set


def _forms_of_joint_prior(prefix: str = "") -> dict[str, Form]:
    """The arrays of a joint prior."""
    lengths = {"features": "<i8", "shares": "<f8", "means": "<f8", "covariances": "<f8"}
    return {
        f"{prefix}joint_{name}": Form(dtype, (f"{prefix}joint {name}",), is_optional=True)
        for name, dtype in lengths.items()
    }


_FORMS = {
    **_forms_of_trees("nodes"),
    "label_channel": Form("<f8", ("classes", "classes"), is_optional=True),
    "label_prior": Form("<f8", ("classes",), is_optional=True),
    "label_scale": Form("<f8", ("classes",), is_optional=True),
    "prior_edges": Form("<f8", ("edges",)),
    "prior_mass": Form("<f8", ("cells",)),
    "prior_summaries": Form("<f8", ("edges", None, 3), is_optional=True),
    **_forms_of_joint_prior(),
    f"{NOISIER}prior_edges": Form("<f8", ("noisier edges",), is_optional=True),
    f"{NOISIER}prior_mass": Form("<f8", ("noisier cells",), is_optional=True),
    **_forms_of_joint_prior(NOISIER),
    "reference_sizes": Form("<i8", ("features",)),
    "reference_points": Form("<f8", ("points",)),
    "reference_below": Form("<f8", ("points",)),
    "family_grids": Form("<f8", ("families", GRID_POINTS)),
    "family_tables": Form("<f8", ("families", TABLE_STEPS + 1)),
    "error_quantiles": Form("<f8", ("error_spreads", len(LEVELS)), is_optional=True),
    "error_counts": Form("<f8", ("error_spreads", 2), is_optional=True),
}
_FALLBACK = {f"{FALLBACK}{name}": form for name, form in _forms_of_trees("fallback_nodes").items()}
_OF_A_FOREST = {
    "draws": Form("<i8", ("trees", 3)),
    "oob_decision_function": Form("<f8", ("objects", "classes"), is_optional=True),
    "oob_prediction": Form("<f8", ("objects",), is_optional=True),
    "calibration": Form("<f8", ("noises", len(CALIBRATION_LEVELS)), is_optional=True),
    "usual_edges": Form("<f8", ("features", "usual edges"), is_optional=True),
    "usual_sizes": Form("<f8", ("features", "usual bins"), is_optional=True),
    "usual_shares": Form("<f8", ("features",), is_optional=True),
    "conformal": Form("<f8", (1 + len(PROBABILITIES),), is_optional=True),
}
_OF_SCATTER = {
    "scatter_features": Form("<i8", ("measured",)),
    "scatter_slopes": Form("<f8", ("measured", "measured")),
    "scatter_edges": Form("<f8", ("measured", "scatter edges")),
    "scatter_sizes": Form("<f8", ("measured", "scatter bins")),
    "scatter_growth": Form("<f8", ("measured", len(NOISES))),
    **{f"scatter_{name}": Form("<f8", ("measured",)) for name in ("middle", "deviation", "scatter", "shares")},
}

_OF_SLOPES = {
    "slope_scales": Form("<f8", (4, "features")),
    "slope_counts": Form("<i8", ("trees",)),
    "slope_values": Form("<f8", ("slopes", "features")),
    "leaf_slopes": Form("<i4", ("leaves",)),
    "leaf_means": Form("<f8", ("leaves", "features")),
}


def _forms_of_leaves(prefix: str) -> dict[str, Form]:
    """The arrays of the targets in the leaves of all trees."""
    return {
        f"{prefix}target_set_sizes": Form("<i8", (f"{prefix}sets",)),
        f"{prefix}target_values": Form("<f8", (f"{prefix}values",)),
        f"{prefix}target_sets": Form("<i8", ("trees",)),
        f"{prefix}leaf_sizes": Form("<i8", (f"{prefix}leaves",)),
        f"{prefix}leaf_places": Form("<i4", (f"{prefix}entries",)),
        f"{prefix}leaf_shares": Form("<f8", (f"{prefix}entries",)),
    }


_ONLY_CLASSES = ("label_channel", "label_prior", "label_scale", "oob_decision_function")
_ONLY_NUMBERS = ("oob_prediction", "calibration", "conformal", "usual_edges", "usual_sizes", "usual_shares")
_OF_BOOSTING = {
    **_forms_of_trees("nodes", values=1),
    "baseline": Form("<f8", ("scores",)),
    "train_score": Form("<f8", ("losses",)),
    "validation_score": Form("<f8", ("held_out_losses",)),
}
_FALLBACK_OF_BOOSTING = {
    f"{FALLBACK}{name}": form for name, form in _forms_of_trees("fallback_nodes", "fallback_trees", values=1).items()
}
_OF_A_KIND = {
    "forest": _OF_A_FOREST,
    "forest regressor": _OF_A_FOREST,
    "boosting": _OF_BOOSTING,
    "boosting regressor": _OF_BOOSTING,
}
_MEDIANS = {1: Form("<f8", ("features",)), 2: Form("<f8", (2, "features"))}  # of both errors, or below and above


def check_declarations(
    declared: Mapping[str, Declaration],
    *,
    kind: str,
    n_features: int,
    n_classes: int | None,
    n_error_spreads: int = 0,
    has_fallback: bool = False,
) -> None:
    """Raise a ValueError unless a file has the arrays of a model with so many features (with values), classes and
    distributions of errors. `n_classes` is None for a regressor."""
    is_boosted = _OF_A_KIND.get(kind) is _OF_BOOSTING
    fallback = _FALLBACK_OF_BOOSTING if is_boosted else _FALLBACK
    of_trees = {**_OF_A_KIND.get(kind, {}), **(fallback if has_fallback else {})}
    of_leaves = {}
    if n_classes is None and not is_boosted:
        of_leaves = _forms_of_leaves("") | (_forms_of_leaves(FALLBACK) if has_fallback else {})
    others = _ONLY_CLASSES if n_classes is None else _ONLY_NUMBERS
    of_scatter = _OF_SCATTER if kind == "forest regressor" and _OF_SCATTER.keys() & declared.keys() else {}
    of_slopes = _OF_SLOPES if kind == "forest regressor" and _OF_SLOPES.keys() & declared.keys() else {}
    known = {"median_errors": _MEDIANS[1], **_FORMS, **of_trees, **of_leaves, **of_scatter, **of_slopes}
    known = {name: form for name, form in known.items() if name not in others}
    if "median_errors" in declared:
        known["median_errors"] = _MEDIANS.get(len(declared["median_errors"].shape), _MEDIANS[1])
    unknown = sorted(declared.keys() - known.keys())
    if unknown:
        raise ValueError(f"it has an array {unknown[0][:50]!r}, which is not a part of such a model")
    lengths = {
        "features": n_features,
        "classes": 1 if n_classes is None else n_classes,
        "error_spreads": n_error_spreads,
    }
    for name, form in known.items():
        if name in declared:
            _check_form(name, declared[name], form, lengths)
        elif not form.is_optional:
            raise ValueError(f"it has no array {name!r}")


def _check_form(name: str, declared: Declaration, form: Form, lengths: dict[str, int]) -> None:
    """Compare an array with its form; lengths that had no number before are taken from it."""
    fits = declared.dtype.str == form.dtype and len(declared.shape) == len(form.shape)
    for found, expected in zip(declared.shape, form.shape, strict=False):
        if isinstance(expected, str):
            expected = lengths.setdefault(expected, found)
        fits = fits and expected in (None, found)
    if not fits:
        raise ValueError(f"its array {name!r} has another type or shape: {declared.dtype.str} {declared.shape}")
