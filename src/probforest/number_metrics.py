"""Scores of predicted numbers and distributions. `metrics` offers them to users."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom

from .inputs.parameters import check_integer, check_number
from .inputs.scored_numbers import read_scored
from .inputs.weights import read_sample_weight
from .support.extras import need

NMAD = 1.4826  # standard deviation of a normal distribution in units of its median absolute deviation


class Distributions(Protocol):
    """What `predict_distribution` returns, as far as scores need it."""

    def crps(self, y: Any) -> np.ndarray: ...
    def pit(self, y: Any) -> np.ndarray: ...
    def cde_loss(self, y: Any) -> np.ndarray: ...
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


def plot_pit(
    y_true: ArrayLike, y_pred: Distributions | ArrayLike, *, n_bins: int = 20, label: str | None = None, ax: Any = None
) -> Any:
    """Draw a histogram of `pit_values`, with the range in which 95 % of the bars lie if the distributions are right.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True targets.
    y_pred : PredictedDistribution, or array-like of shape (n_samples, n_draws)
        What `predict_distribution` returned, or draws from any distributions.
    n_bins : int, default=20
        Number of bars.
    label : str, default=None
        Name of the model, for a legend.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib Axes
        The axes. A valley: distributions are too narrow; a hill: too wide; a slope: they lie too low or too high.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from probforest import ProbabilisticDecisionTreeRegressor
    >>> X, _ = load_iris(return_X_y=True)
    >>> tree = ProbabilisticDecisionTreeRegressor(max_depth=3, error_scale=1.0).fit(X[:, :3], X[:, 3], X_err=0.1)
    >>> from probforest.metrics import plot_pit
    >>> answer = tree.predict_distribution(X[:, :3], X_err=0.1)
    >>> axes = plot_pit(X[:, 3], answer)
    >>> axes.get_xlabel() != ""
    True
    """
    check_integer("n_bins", n_bins, 1)
    pit = pit_values(y_true, y_pred)
    if ax is None:
        plt = need("matplotlib.pyplot", "A figure", "plots")
        _, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
    counts, edges = np.histogram(pit, n_bins, (0.0, 1.0))
    ax.stairs(
        counts * n_bins / len(pit), edges, fill=label is None, color="#0072B2" if label is None else None, label=label
    )
    low, high = expected_bars(len(pit), n_bins)
    ax.axhspan(low, high, color="#6B6B6B", alpha=0.25, linewidth=0)
    ax.axhline(1.0, color="#6B6B6B", linestyle="--", linewidth=1)
    ax.set(xlim=(0, 1), xlabel="F(true target)", ylabel="density")
    if label is not None:
        ax.legend(frameon=False)
    return ax


def expected_bars(n_objects: int, n_bins: int) -> tuple[float, float]:
    """Between which heights 95 % of the bars of a histogram of uniform numbers lie; their mean is 1."""
    low, high = binom.ppf([0.025, 0.975], n_objects, 1 / n_bins) * n_bins / n_objects
    return float(low), float(high)


def cde_loss(
    y_true: ArrayLike,
    y_pred: Distributions | ArrayLike,
    grid: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Loss of conditional densities f (Izbicki & Lee 2017), averaged over the objects: ∫ f(t)² dt − 2 f(y).

    Up to a constant it is the integrated squared distance to the true density; it needs densities, not only draws.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True targets.
    y_pred : PredictedDistribution, or array-like of shape (n_samples, n_places)
        What `predict_distribution` returned, or densities of any model at the places of a grid.
    grid : array-like of shape (n_places,), default=None
        The places of the densities, increasing. Between them, densities are interpolated; beyond them they are 0.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the objects.

    Returns
    -------
    float
        The weighted mean; lower is better.

    Examples
    --------
    >>> from probforest.metrics import cde_loss
    >>> round(cde_loss([0.5, 0.5], [[1.0, 1.0, 1.0], [0.0, 2.0, 0.0]], [0.0, 0.5, 1.0]), 4)
    -1.8333
    """
    truth = read_scored("y_true", y_true)
    if hasattr(y_pred, "cde_loss"):
        if grid is not None:
            raise ValueError("grid is for densities in an array; the densities of a PredictedDistribution need none.")
        return _mean(y_pred.cde_loss(truth), sample_weight)
    if grid is None:
        raise ValueError("y_pred is an array, so that grid is needed: the places of its densities.")
    places = read_scored("grid", grid)
    if len(places) < 2 or not (np.diff(places) > 0).all():
        raise ValueError("grid must be at least two increasing numbers.")
    densities = read_scored("y_pred", y_pred, len(truth), len(places))
    if (densities < 0).any():
        row = int(np.argwhere(densities < 0)[0][0])
        raise ValueError(f"y_pred is negative in row {row}; expected densities.")
    left, right = densities[:, :-1], densities[:, 1:]
    squares = ((left * left + left * right + right * right) / 3) @ np.diff(places)  # exact between two places
    at_truth = [np.interp(y, places, density, 0.0, 0.0) for y, density in zip(truth, densities, strict=True)]
    return _mean(squares - 2 * np.array(at_truth), sample_weight)


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
