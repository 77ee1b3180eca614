"""What a model chose by itself, in words."""

from typing import TYPE_CHECKING, Any

from sklearn.base import is_regressor

from ..support.wording import listed
from .base import ProbabilisticEstimator

if TYPE_CHECKING:  # classifiers do without all that regressors import
    from .regressor import ProbabilisticRegressor


def describe_choices(model: ProbabilisticEstimator) -> list[str]:
    """A line each for the prior, or the use of errors, the rules for missing values that a fitted model uses, and the
    loss of numbers if it was not simply asked for."""
    first = _errors(model) if is_regressor(model) else _prior(model)
    return [first, _missing_values(model), *_loss(model)]


def _loss(model: Any) -> list[str]:
    trial, delta = getattr(model, "loss_trial_", None), getattr(model, "delta_", None)
    if trial is None and delta is None:
        return []
    said = f"loss: {model.loss_}" + ("" if delta is None else f", linear beyond {delta:.4g}")
    if trial is not None:
        shift = f"{trial.shift:.2g} ± {trial.shift_error:.2g}"
        said += (
            f", chosen by {trial.n_objects:,} residuals of small models: a Huber estimate of their mean has "
            f"{trial.relative_variance:.2f} times the variance and differs by {shift}"
        )
        if trial.huber is not None:
            said += f"; squared error {trial.huber:.4g} (huber), {trial.squared_error:.4g} (squared_error)"
            said += f", difference ± {trial.error:.2g}"
    return [said]


def _errors(model: "ProbabilisticRegressor") -> str:
    trial = model.error_trial_
    used = "errors: values are taken as exact"
    if model.error_scale_ > 0:
        factor = "" if model.error_scale_ == 1 else f" times {model.error_scale_:g}"
        used = f"errors{factor} spread objects, prior: {model.prior_ or 'none'}"
    if trial is None:
        return used
    scores = listed([f"{score:.4g} ({way})" for way, score in trial.crps.items()])
    said = f"{used}, chosen by the {model._judged_by} of {trial.n_objects:,} objects: {scores}"
    if trial.with_slopes is not None:
        said += f"; {trial.with_slopes:.4g} with slopes in leaves{'' if model.slopes_ else ', which are not used'}"
    if getattr(model, "noisy_forest_", None) is not None:
        said += "; another forest, which takes all of the errors into account, answers for tables with larger ones"
    return said


def _prior(model: ProbabilisticEstimator) -> str:
    trial, used = model.prior_trial_, f"prior: {model.prior_ or 'none'}"
    if trial is None:
        return used + _groups(model)
    said = (
        f"{used}, chosen by the {model._judged_by} of {trial.n_objects:,} objects: {trial.empirical:.4f} with the "
        f"empirical prior, {trial.none:.4f} without a prior (difference ± {trial.error:.4f})"
    )
    if trial.joint is not None:
        said += f", {trial.joint:.4f} with the joint prior (difference to the better one ± {trial.joint_error:.4f})"
    if model.feature_model_.noisier is not None:
        said += "; objects that are measured much worse have the joint prior"
    return said + _groups(model)


def _groups(model: ProbabilisticEstimator) -> str:
    """What the joint prior has learnt."""
    joint = model.feature_model_.joint_prior
    if joint is None:
        return ""
    if not joint.groups:
        return "; no feature says anything about another one"
    groups = [f"{len(group.mixture.share)} for {len(group.features)} features" for group in joint.groups]
    return f"; components of its mixture: {listed(groups)}"


def _missing_values(model: ProbabilisticEstimator) -> str:
    rules = sorted(set(model.missing_.tolist()))
    if len(rules) == 1:
        return f"missing values: {rules[0]}"
    names = {rule: listed([str(name) for name in model.feature_names_[model.missing_ == rule]]) for rule in rules}
    return "missing values: " + "; ".join(f"{rule} for {names[rule]}" for rule in rules)
