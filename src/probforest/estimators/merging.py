"""Forests that were grown apart become one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from ..support.sameness import same
from ..trees.label_truth import LabelTruth
from .bagging import BaggedTrees
from .shared_features import CHOICES

Forest = TypeVar("Forest", bound=BaggedTrees)

# Parameters that change how a tree answers, and that trees of one forest must have in common.
_OF_ANSWERS = ("keep_proba", "voting", "unknown_error", "error_columns", "sentinels", "error_features", "distribution")
_MAY_DIFFER = ("prior_trial_", "error_trial_", "target_scatter_")  # what was tried, and what is only for the record


def merge(models: Iterable[Forest]) -> Forest:
    """Make one forest of several that were grown apart: on other machines, with other seeds, or on other objects.

    They must have the same features: fit one of them, and the others with ``feature_model=`` that one. The answers of
    the merged forest are those of all trees. Out-of-bag scores are not merged. See docs/large.md.

    Parameters
    ----------
    models : iterable of ProbabilisticRandomForestClassifier, or of ProbabilisticRandomForestRegressor
        Fitted forests of one kind. They stay as they are.

    Returns
    -------
    ProbabilisticRandomForestClassifier or ProbabilisticRandomForestRegressor
        A new forest with the parameters of the first one, and with all trees.

    Examples
    --------
    >>> from probforest import ProbabilisticRandomForestClassifier, merge
    >>> X, y = [[1.0], [2.0], [4.0], [5.0]], ["star", "star", "quasar", "quasar"]
    >>> first = ProbabilisticRandomForestClassifier(10, random_state=0).fit(X, y, X_err=0.5)
    >>> second = ProbabilisticRandomForestClassifier(20, random_state=1)
    >>> second = second.fit([[1.2], [1.6], [4.4], [5.2]], y, X_err=0.5, feature_model=first)
    >>> forest = merge([first, second])
    >>> len(forest.trees_), forest.predict([[1.5]], X_err=0.5)
    (30, array(['star'], dtype='<U6'))
    """
    forests = list(models)
    _check_kinds(forests)
    for number, other in enumerate(forests[1:], start=1):
        for what in _differences(forests[0], other):
            raise ValueError(
                f"Forests can only be merged if they have the same features, but models[0] and models[{number}] differ "
                f"in {what}. Fit all of them with feature_model= one and the same model."
            )
    _refuse_twins(forests)
    return _merged(forests)


def _check_kinds(forests: Sequence[Any]) -> None:
    if not forests:
        raise ValueError("models must have at least one forest; got none.")
    for number, forest in enumerate(forests):
        if not isinstance(forest, BaggedTrees):
            raise TypeError(f"models[{number}] is a {type(forest).__name__}; only random forests can be merged.")
        check_is_fitted(forest)
        if type(forest) is not type(forests[0]):
            raise ValueError(
                f"models[0] is a {type(forests[0]).__name__}, but models[{number}] is a {type(forest).__name__}."
            )
        if getattr(forest, "calibration_", None) is not None:
            raise ValueError(
                f"models[{number}] was fitted with calibrate=True. What it has learnt about its distributions does not "
                "hold for a merged forest: fit with calibrate=False."
            )


def _differences(one: Any, other: Any) -> Iterator[str]:
    """In what two forests differ that trees of one forest have in common."""
    for name in CHOICES:
        alike = same(getattr(one, name, None), getattr(other, name, None))
        if name not in _MAY_DIFFER and not alike and not name.startswith("feature_names"):
            yield {"feature_model_": "what was learnt about the features (feature_model_)"}.get(name, name)
    mine, yours = one.get_params(deep=False), other.get_params(deep=False)
    for name in _OF_ANSWERS:
        if not same(mine.get(name), yours.get(name)):
            yield f"the parameter {name} ({mine.get(name)!r} and {yours.get(name)!r})"
    if (getattr(one, "label_truth_", None) is None) != (getattr(other, "label_truth_", None) is None):
        yield "labels: all of them are certain in one, and some of them doubtful in the other"


def _refuse_twins(forests: Sequence[Any]) -> None:
    """Trees that are there twice say nothing new, and are a mistake: two jobs with the same seed on the same table."""
    first_with: dict[tuple, int] = {}
    for number, forest in enumerate(forests):
        for tree, draw in zip(forest.trees_, forest.draws_, strict=True):
            key = (*draw, tree.n_nodes, tree.nodes.threshold.tobytes())
            if first_with.setdefault(key, number) != number:
                raise ValueError(
                    f"models[{first_with[key]}] and models[{number}] have the same trees, as they were fitted with the "
                    "same random_state on the same objects. Give each its own random_state (--seed)."
                )


def _merged(forests: Sequence[Forest]) -> Forest:
    first: Any = forests[0]
    merged: Any = clone(first)
    for name in CHOICES:
        if hasattr(first, name):
            setattr(merged, name, getattr(first, name))
    for name in ("trees_", "fallback_trees_", "draws_"):
        setattr(merged, name, [item for forest in forests for item in getattr(forest, name)])
    if hasattr(first, "label_truth_"):
        merged.label_truth_ = _mean_truth(forests)
    if hasattr(first, "calibration_"):
        merged.calibration_ = None
    return merged.set_params(n_estimators=len(merged.trees_), oob_score=False, warm_start=False)


def _mean_truth(forests: Sequence[Any]) -> LabelTruth | None:
    """How mean PMFs depend on true classes, when the answers of all trees are averaged."""
    truths = [forest.label_truth_ for forest in forests]
    if truths[0] is None:
        return None
    shares = np.array([len(forest.trees_) for forest in forests], dtype=float)
    shares /= shares.sum()

    def mean(name: str) -> Any:
        return sum(share * getattr(truth, name) for share, truth in zip(shares, truths, strict=True))

    return replace(
        truths[0],
        channel=mean("channel"),
        prior=mean("prior"),
        scale=mean("scale"),
        softness=float(np.exp(shares @ np.log([truth.softness for truth in truths]))),
        wrong=float(mean("wrong")),
    )
