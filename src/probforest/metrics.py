"""Scores of probabilistic models: metrics for labels that are PMFs, and scorers that hand the errors to the model.

A scorer of scikit-learn passes nothing but X to a model. The ones made here pass its errors as well, by putting the
model in a thin wrapper and leaving the rest to scikit-learn's own scorer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, update_wrapper
from typing import Any, Self, TypeAlias

import numpy as np
import sklearn.metrics
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import UNCHANGED, MetadataRequest

from .estimators.argument_types import Uncertainty
from .inputs.parameters import complain
from .inputs.scored_pmfs import read_pmfs
from .inputs.weights import read_sample_weight
from .number_metrics import bias, cde_loss, coverage, crps, outlier_rate, pit_values, plot_pit, sigma_nmad

__all__ = [
    "ScorerWithErrors",
    "bias",
    "cde_loss",
    "coverage",
    "crps",
    "get_scorer",
    "make_scorer",
    "outlier_rate",
    "pit_values",
    "plot_pit",
    "pmf_brier_score",
    "pmf_log_loss",
    "sigma_nmad",
]
RESPONSE_METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function")
# True: passed whenever it is there; None: it must be requested, scikit-learn refuses it otherwise.
DEFAULT_REQUESTS = {"X_err": True, "X_limit": True, "X_samples": True, "sample_weight": None}
Request: TypeAlias = bool | str | None


def pmf_log_loss(
    y_true: ArrayLike, y_pred: ArrayLike, *, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
) -> float:
    """Log loss that is to be expected when the true label follows a PMF: −Σ_c p_c log q_c, averaged over the objects.

    It is a proper scoring rule: in the mean, no q does better than q = p. For hard labels it is
    :func:`sklearn.metrics.log_loss`, and predictions are clipped like there, to [eps, 1 − eps] of their float type.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_classes)
        Labels, or one PMF per object: the probabilities p that each class is the true one.
    y_pred : array-like of shape (n_samples, n_classes) or (n_samples,)
        Predicted probabilities q. With shape (n_samples,) that of the second of two classes, as scikit-learn's
        scorers hand it over.
    classes : array-like of shape (n_classes,), default=None
        The class of every column of `y_pred`. Necessary if `y_true` holds labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the objects.

    Returns
    -------
    float
        The weighted mean; lower is better.

    Examples
    --------
    >>> from probforest.metrics import pmf_log_loss
    >>> round(pmf_log_loss([[0.5, 0.5], [0.0, 1.0]], [[0.5, 0.5], [0.2, 0.8]]), 4)
    0.4581
    >>> round(pmf_log_loss(["star", "galaxy"], [[0.5, 0.5], [0.8, 0.2]], classes=["galaxy", "star"]), 4)
    0.4581
    """
    truth, predicted = read_pmfs(y_true, y_pred, classes)
    eps = np.finfo(predicted.dtype).eps
    losses = -(truth * np.log(np.clip(predicted, eps, 1 - eps))).sum(axis=1)
    return _mean(losses, sample_weight)


def pmf_brier_score(
    y_true: ArrayLike, y_pred: ArrayLike, *, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
) -> float:
    """Brier score that is to be expected when the true label follows a PMF, averaged over the objects.

    It is Σ_c p_c Σ_k (δ_kc − q_k)² = Σ_k (p_k − q_k)² + Σ_k p_k (1 − p_k): the squared distance of the two PMFs, and
    what no prediction can take away. So it is a proper scoring rule, but not 0 for q = p unless the label is certain.
    For hard labels it is the multi-class Brier score Σ_k (δ_kc − q_k)², from 0 to 2. That is twice what
    :func:`sklearn.metrics.brier_score_loss` gives for two classes, where scikit-learn counts one class only.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_classes)
        Labels, or one PMF per object: the probabilities p that each class is the true one.
    y_pred : array-like of shape (n_samples, n_classes) or (n_samples,)
        Predicted probabilities q. With shape (n_samples,) that of the second of two classes, as scikit-learn's
        scorers hand it over.
    classes : array-like of shape (n_classes,), default=None
        The class of every column of `y_pred`. Necessary if `y_true` holds labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the objects.

    Returns
    -------
    float
        The weighted mean; lower is better.

    Examples
    --------
    >>> from probforest.metrics import pmf_brier_score
    >>> round(pmf_brier_score([[0.5, 0.5], [0.0, 1.0]], [[0.5, 0.5], [0.2, 0.8]]), 4)
    0.29
    """
    truth, predicted = read_pmfs(y_true, y_pred, classes)
    losses = (np.square(truth - predicted) + truth * (1 - truth)).sum(axis=1)
    return _mean(losses, sample_weight)


def make_scorer(
    score_func: Callable[..., Any],
    *,
    response_method: str | Sequence[str] = "predict",
    greater_is_better: bool = True,
    **kwargs: Any,
) -> ScorerWithErrors:
    """Make a scorer that hands X_err, X_limit and X_samples to the model.

    It does what the one of :func:`sklearn.metrics.make_scorer` does, and is called as
    ``scorer(estimator, X, y, X_err=..., X_limit=..., X_samples=..., sample_weight=...)``. What is not None goes to the
    response method of the estimator, and `sample_weight` to the metric.

    With scikit-learn's metadata routing switched on, the scorer works in `cross_validate`, `GridSearchCV` and the
    like: it requests X_err, X_limit and X_samples by itself, and `sample_weight` after
    ``scorer.set_score_request(sample_weight=True)``.

    Parameters
    ----------
    score_func : callable
        The metric, ``score_func(y, y_pred, **kwargs)``.
    response_method : {"predict", "predict_proba", "decision_function"} or list of these, default="predict"
        What gives `y_pred`; of a list, the first that the estimator has. Of the probabilities of two classes the
        metric gets those of the positive class only, shape (n_samples,).
    greater_is_better : bool, default=True
        False for a loss; the score is then its negative.
    **kwargs
        Further arguments of the metric.

    Returns
    -------
    ScorerWithErrors
        The scorer.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.metrics import log_loss
    >>> from probforest import ProbabilisticRandomForestClassifier
    >>> from probforest.metrics import make_scorer
    >>> X, y = np.array([[0.0], [1.0], [4.0], [5.0]]), np.array([0, 0, 1, 1])
    >>> forest = ProbabilisticRandomForestClassifier(n_estimators=5, random_state=0).fit(X, y, X_err=0.1)
    >>> scorer = make_scorer(log_loss, response_method="predict_proba", greater_is_better=False)
    >>> bool(scorer(forest, X, y, X_err=0.1) > scorer(forest, X, y, X_err=5.0))
    True
    """
    scorer = sklearn.metrics.make_scorer(
        score_func, response_method=response_method, greater_is_better=greater_is_better, **kwargs
    )
    return ScorerWithErrors(scorer)


def get_scorer(name: str) -> ScorerWithErrors:
    """The scorer of this name, as :func:`make_scorer` would make it.

    Parameters
    ----------
    name : str
        One of :func:`sklearn.metrics.get_scorer_names`, such as "accuracy", "balanced_accuracy", "f1", "neg_log_loss"
        or "roc_auc".

    Returns
    -------
    ScorerWithErrors
        A new scorer.

    Examples
    --------
    >>> from probforest.metrics import get_scorer
    >>> get_scorer("accuracy")
    ScorerWithErrors(make_scorer(accuracy_score, response_method='predict'))
    """
    _check_name(name)
    return ScorerWithErrors(sklearn.metrics.get_scorer(name))


def _check_name(name: Any) -> None:
    if not isinstance(name, str):
        complain("name", name, "the name of one of scikit-learn's scorers (see sklearn.metrics.get_scorer_names())")


class ScorerWithErrors:
    """A scorer of scikit-learn that passes errors to the model. Made by :func:`make_scorer` and :func:`get_scorer`.

    Parameters
    ----------
    scorer : callable
        The scorer of scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from probforest import ProbabilisticDecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = ProbabilisticDecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y, X_err=0.1)
    >>> from probforest.metrics import get_scorer
    >>> scorer = get_scorer("accuracy")
    >>> scorer(tree, X, y, X_err=0.1) > 0.9
    True
    """

    def __init__(self, scorer: Callable[..., Any]) -> None:
        self._scorer = scorer
        self._requests: dict[str, Request] = dict(DEFAULT_REQUESTS)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._scorer!r})"

    def __call__(
        self,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        X_err: Uncertainty = None,
        X_limit: ArrayLike | None = None,
        X_samples: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Score the predictions of a fitted estimator; greater is better.

        Parameters
        ----------
        estimator : object
            The fitted model.
        X : array-like of shape (n_samples, n_features)
            Values.
        y : array-like of shape (n_samples,)
            What the metric compares the predictions with, the true labels for most.
        X_err, X_limit, X_samples : default=None
            Handed to the model's response method, as it takes them; those that are None are not.
        sample_weight : array-like of shape (n_samples,), default=None
            Handed to the metric.

        Returns
        -------
        float
            The score.
        """
        model = _ModelWithErrors(estimator, given(X_err=X_err, X_limit=X_limit, X_samples=X_samples))
        return self._scorer(model, X, y, **given(sample_weight=sample_weight))

    def set_score_request(
        self,
        *,
        X_err: Request = UNCHANGED,
        X_limit: Request = UNCHANGED,
        X_samples: Request = UNCHANGED,
        sample_weight: Request = UNCHANGED,
    ) -> Self:
        """Say which metadata scikit-learn's tools shall hand to the scorer; what is not named stays as it is.

        Parameters
        ----------
        X_err, X_limit, X_samples, sample_weight : bool, None or str
            True: hand it over if it is there. False: don't. None: refuse it. A name: hand over what has that name.

        Returns
        -------
        ScorerWithErrors
            The scorer itself.
        """
        if not get_config()["enable_metadata_routing"]:
            raise RuntimeError(
                "set_score_request is of use only when metadata routing is switched on: "
                "sklearn.set_config(enable_metadata_routing=True)."
            )
        asked = {"X_err": X_err, "X_limit": X_limit, "X_samples": X_samples, "sample_weight": sample_weight}
        requests = {**self._requests, **{name: alias for name, alias in asked.items() if alias != UNCHANGED}}
        _metadata_request(repr(self), requests)  # raises an error about a bad alias before anything has changed
        self._requests = requests
        return self

    def get_metadata_routing(self) -> MetadataRequest:
        """What the scorer requests, for scikit-learn's tools.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRequest
            The requests.
        """
        return _metadata_request(repr(self), self._requests)


class _ModelWithErrors:
    """A fitted model for scikit-learn's scorers: where they call `predict(X)`, its errors are passed too."""

    def __init__(self, estimator: Any, errors: dict[str, Any]) -> None:
        self._estimator = estimator
        self._errors = errors

    def __sklearn_tags__(self) -> Any:
        return get_tags(self._estimator)

    def __sklearn_is_fitted__(self) -> bool:
        return True  # the model itself raises an error if it is not

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._estimator, name)
        if name not in RESPONSE_METHODS:
            return attribute
        return update_wrapper(partial(attribute, **self._errors), attribute)  # scorers look at a method's __name__


def given(**arguments: Any) -> dict[str, Any]:
    """The arguments that are not None."""
    return {name: value for name, value in arguments.items() if value is not None}


def _metadata_request(owner: str, requests: dict[str, Request]) -> MetadataRequest:
    request = MetadataRequest(owner=owner)
    for name, alias in requests.items():
        request.score.add_request(param=name, alias=alias)
    return request


def _mean(losses: np.ndarray, sample_weight: Any) -> float:
    weight = read_sample_weight(sample_weight, len(losses))
    if not weight.sum() > 0:
        raise ValueError(f"sample_weight of the {len(losses)} objects sums to zero, so there is nothing to average.")
    return float(np.average(losses, weights=weight))
