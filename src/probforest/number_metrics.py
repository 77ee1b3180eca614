"""Scores of predicted numbers and distributions. `metrics` offers them to users."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from .inputs.parameters import check_number
from .inputs.scored_numbers import read_scored
from .inputs.weights import read_sample_weight

NMAD = 1.4826  # standard deviation of a normal distribution in units of its median absolute deviation


class Distributions(Protocol):
    """What `predict_distribution` returns, as far as scores need it."""

    def crps(self, y: Any) -> np.ndarray: ...
    def pit(self, y: Any) -> np.ndarray: ...
    def interval(self, p: float) -> np.ndarray: ...


def crps(y_true: ArrayLike, y_pred: Distributions | ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Continuous ranked probability score, averaged over the objects: ∫ (F(t) − 1{t ≥ y})² dt.

    It is a proper score of distributions in the unit of the target, and the absolute error of a single number.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True targets.
    y_pred : PredictedDistribution, or array-like of shape (n_samples, n_draws) or (n_samples,)
        What `predict_distribution` returned, draws from any distributions, or numbers.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the objects.

    Returns
    -------
    float
        The weighted mean; lower is better.

    Examples
    --------
    >>> from probforest.metrics import crps
    >>> crps([1.0, 2.0], [[0.0, 2.0], [2.0, 2.0]])
    0.25
    """
    truth = read_scored("y_true", y_true)
    if hasattr(y_pred, "crps"):
        return _mean(y_pred.crps(truth), sample_weight)
    draws = np.sort(_draws(y_pred, len(truth)), axis=1)
    n_draws = draws.shape[1]
    # ½ E|Y − Y'| of draws in increasing order
    rank = (2 * np.arange(1, n_draws + 1) - n_draws - 1) / n_draws**2
    return _mean(np.abs(draws - truth[:, None]).mean(axis=1) - draws @ rank, sample_weight)


def pit_values(y_true: ArrayLike, y_pred: Distributions | ArrayLike) -> np.ndarray:
    """Probability integral transforms F(y): uniform between 0 and 1 if the distributions are right.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True targets.
    y_pred : PredictedDistribution, or array-like of shape (n_samples, n_draws)
        What `predict_distribution` returned, or draws from any distributions.

    Returns
    -------
    ndarray of shape (n_samples,)
        Probabilities; too many near 0 and 1: distributions are too narrow; too many near 0.5: they are too wide.

    Examples
    --------
    >>> from probforest.metrics import pit_values
    >>> pit_values([1.5], [[0.0, 1.0, 2.0, 3.0]])
    array([0.5])
    """
    truth = read_scored("y_true", y_true)
    if hasattr(y_pred, "pit"):
        return y_pred.pit(truth)
    draws = _draws(y_pred, len(truth))
    return ((draws < truth[:, None]).mean(axis=1) + (draws <= truth[:, None]).mean(axis=1)) / 2


def coverage(
    y_true: ArrayLike,
    y_pred: Distributions | ArrayLike,
    p: float = 0.9,
    *,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of the objects whose target lies in its interval.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True targets.
    y_pred : PredictedDistribution, or array-like of shape (n_samples, 2)
        What `predict_distribution` returned, or lower and upper ends of intervals.
    p : float, default=0.9
        Probability of the intervals of a PredictedDistribution.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the objects.

    Returns
    -------
    float
        The share; as large as p if the distributions are right.

    Examples
    --------
    >>> from probforest.metrics import coverage
    >>> coverage([1.0, 2.0], [[0.0, 2.0], [3.0, 4.0]])
    0.5
    """
    truth = read_scored("y_true", y_true)
    check_number("p", p, 0, high=1)
    ends = y_pred.interval(p) if hasattr(y_pred, "interval") else read_scored("y_pred", y_pred, len(truth), 2)
    return _mean(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).astype(np.float64), sample_weight)


def sigma_nmad(z_true: ArrayLike, z_pred: ArrayLike) -> float:
    """Robust scatter of redshifts: 1.4826 × the median of \\|Δ − median Δ\\| with Δ = (z_pred − z_true) / (1 + z_true).

    Parameters
    ----------
    z_true : array-like of shape (n_samples,)
        True redshifts, above −1.
    z_pred : array-like of shape (n_samples,)
        Predicted redshifts.

    Returns
    -------
    float
        The scatter: the standard deviation, if Δ is normal.

    Examples
    --------
    >>> from probforest.metrics import sigma_nmad
    >>> round(sigma_nmad([0.0, 0.0, 0.0], [0.1, 0.2, 0.4]), 5)
    0.14826
    """
    deviations = _relative(z_true, z_pred)
    return float(NMAD * np.median(np.abs(deviations - np.median(deviations))))


def bias(z_true: ArrayLike, z_pred: ArrayLike) -> float:
    """Mean of (z_pred − z_true) / (1 + z_true).

    Parameters
    ----------
    z_true : array-like of shape (n_samples,)
        True redshifts, above −1.
    z_pred : array-like of shape (n_samples,)
        Predicted redshifts.

    Returns
    -------
    float
        The bias; above 0 if predictions are too large.

    Examples
    --------
    >>> from probforest.metrics import bias
    >>> bias([1.0, 1.0], [1.5, 1.0])
    0.125
    """
    return float(_relative(z_true, z_pred).mean())


def outlier_rate(z_true: ArrayLike, z_pred: ArrayLike, threshold: float = 0.15) -> float:
    """Share of objects with \\|z_pred − z_true\\| / (1 + z_true) above a threshold.

    Parameters
    ----------
    z_true : array-like of shape (n_samples,)
        True redshifts, above −1.
    z_pred : array-like of shape (n_samples,)
        Predicted redshifts.
    threshold : float, default=0.15
        What makes an outlier.

    Returns
    -------
    float
        The share.

    Examples
    --------
    >>> from probforest.metrics import outlier_rate
    >>> outlier_rate([1.0, 1.0], [1.5, 1.0])
    0.5
    """
    check_number("threshold", threshold, 0)
    return float((np.abs(_relative(z_true, z_pred)) > threshold).mean())


def _relative(z_true: ArrayLike, z_pred: ArrayLike) -> np.ndarray:
    truth = read_scored("z_true", z_true)
    if not (truth > -1).all():
        row = int(np.argmin(truth > -1))
        raise ValueError(f"z_true is {truth[row]} in row {row}; expected redshifts above -1.")
    return (read_scored("z_pred", z_pred, len(truth)) - truth) / (1 + truth)


def _draws(y_pred: Any, n_objects: int) -> np.ndarray:
    """(n, k)"""
    return (
        read_scored("y_pred", y_pred, n_objects)[:, None]
        if np.ndim(y_pred) == 1
        else read_scored("y_pred", y_pred, n_objects, 0)
    )


def _mean(scores: np.ndarray, sample_weight: ArrayLike | None) -> float:
    weight = read_sample_weight(sample_weight, len(scores))
    if not weight.sum() > 0:
        raise ValueError(f"sample_weight of the {len(scores)} objects sums to zero, so there is nothing to average.")
    return float(np.average(scores, weights=weight))
