"""`probforest inspect`: describe a saved forest and the columns it needs."""

import argparse
import inspect as signatures
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import Any

from ..estimators.boosting_regressor import ProbabilisticGradientBoostingRegressor
from ..estimators.choices import describe_choices
from ..estimators.ensemble import TreeEnsemble
from ..estimators.regressor import ProbabilisticRegressor
from ..inputs.columns import describe_pairs
from ..storage.models import describe, load
from ..support.wording import indented
from ..trees.fitted_tree import FittedTree
from .console import Console, readable_size
from .predictions import about_labels, wrong_labels


def run(options: argparse.Namespace, console: Console) -> int:
    model = load(options.model)
    description = _description(model, options.model)
    console.say(_text(description, model))
    console.result(description)
    return 0


def _description(model: Any, path: Path) -> dict[str, Any]:
    header = describe(path)
    is_forest = hasattr(model, "trees_")
    trees = model.trees_ if is_forest else [model.tree_]
    fallback = model.fallback_trees_ if is_forest else [model.fallback_tree_] if model.fallback_tree_ else []
    names = [str(name) for name in model.feature_names_]
    return {
        "model": str(path),
        "bytes": path.stat().st_size,
        "kind": type(model).__name__,
        "written_by": header["written_by"],
        "format_version": header["format_version"],
        "classes": model.classes_.tolist() if hasattr(model, "classes_") else None,
        "wrong_labels": wrong_labels(model),
        **_size(trees),
        "fallback_trees": _size(fallback) if fallback else None,
        "features": names,
        "n_features": len(names),
        "errors": {name: asdict(pair) for name, pair in (model.error_pairs_ or {}).items() if pair is not None},
        "units": {str(name): str(unit) for name, unit in model.feature_model_.layout.units.items()},
        "parameters": _plain(_changed_parameters(model)),
        "prior": model.prior_,
        "prior_trial": None if model.prior_trial_ is None else model.prior_trial_._asdict(),
        **_use_of_errors(model),
        **_loss(model),
        "joint_prior": _joint_prior(model),
        "missing": dict(zip(names, model.missing_.tolist(), strict=True)),
        "importances": dict(zip(names, model.feature_importances_.tolist(), strict=True)),
        "about": header["about"],
    }


def _use_of_errors(model: TreeEnsemble) -> dict[str, Any]:
    if not isinstance(model, ProbabilisticRegressor):
        return {}
    trial = model.error_trial_
    return {
        "error_scale": model.error_scale_,
        "error_trial": None if trial is None else trial._asdict(),
        "target_scatter": model.target_scatter_,
    }


def _loss(model: TreeEnsemble) -> dict[str, Any]:
    if not isinstance(model, ProbabilisticGradientBoostingRegressor):
        return {}
    trial = model.loss_trial_
    return {"loss": model.loss_, "delta": model.delta_, "loss_trial": None if trial is None else trial._asdict()}


def _joint_prior(model: TreeEnsemble) -> list[dict[str, Any]] | None:
    """The groups of features that say something about each other; None: nothing of this kind was learnt."""
    joint, names = model.feature_model_.joint_prior, model.feature_model_.names_of_values
    if joint is None:
        return None
    return [
        {"features": [str(names[j]) for j in group.features.tolist()], "n_components": len(group.mixture.share)}
        for group in joint.groups
    ]


def _size(trees: list[FittedTree]) -> dict[str, int]:
    n_nodes, depth = sum(tree.n_nodes for tree in trees), max(tree.depth for tree in trees)
    return {"n_trees": len(trees), "n_nodes": n_nodes, "depth": depth}


def _size_text(size: dict[str, int]) -> str:
    return f"{size['n_trees']:,} trees, {size['n_nodes']:,} nodes, depth {size['depth']}"


def _changed_parameters(model: TreeEnsemble) -> dict[str, Any]:
    """Parameters that are not the defaults; the errors are shown separately."""
    defaults = {name: each.default for name, each in signatures.signature(type(model)).parameters.items()}
    return {
        name: value
        for name, value in model.get_params().items()
        if name != "error_columns" and repr(value) != repr(defaults[name])
    }


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    is_plain = isinstance(value, int | str | bool | None) or (isinstance(value, float) and isfinite(value))
    return value if is_plain else str(value)


def _text(description: dict[str, Any], model: TreeEnsemble) -> str:
    classes = description["classes"]
    lines = [
        f"{description['model']}: {description['kind']}, {readable_size(description['bytes'])}, "
        f"written by probforest {description['written_by']} (format {description['format_version']})",
        "predicts numbers" if classes is None else f"classes: {', '.join(map(str, classes))}",
        _size_text(description),
    ]
    if description["fallback_trees"] is not None:
        lines.append(f"without error features: {_size_text(description['fallback_trees'])}")
    lines += about_labels(model)
    notes = dict(description["about"])
    out_of_bag, _ = notes.pop("out_of_bag", None), notes.pop("fingerprint", None)
    lines += [f"{key}: {value}" for key, value in notes.items()]
    if out_of_bag and "rmse" in out_of_bag:
        lines.append(f"out-of-bag root mean square error {out_of_bag['rmse']:.5g}, R² {out_of_bag['r2']:.4f}")
    elif out_of_bag:
        accuracy, low, high = out_of_bag["accuracy"]
        lines.append(
            f"out-of-bag accuracy {accuracy:.4f} ({low:.4f} to {high:.4f}), log loss {out_of_bag['log_loss']:.4f}"
        )
    if description["parameters"]:
        lines.append("parameters: " + ", ".join(f"{key}={value!r}" for key, value in description["parameters"].items()))
    lines += describe_choices(model)
    if description["units"]:
        lines.append("units: " + ", ".join(f"{name} [{unit}]" for name, unit in description["units"].items()))
    lines.append("")
    if model.error_pairs_ is not None:
        lines += ["features, with their errors:", indented(describe_pairs(model.error_pairs_)), ""]
    importances = sorted(description["importances"].items(), key=lambda item: -item[1])
    lines.append("importances" if len(importances) <= 20 else "importances, the largest 20")
    width = max(len(name) for name, _ in importances)
    lines += [f"  {name:{width}s}  {importance:.3f}" for name, importance in importances[:20]]
    return "\n".join(lines)
