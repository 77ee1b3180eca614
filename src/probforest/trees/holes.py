"""For which features it pays to learn where missing values go.

A value can be missing for a reason that depends on the class: a star without a spectrum was not worth one. Then it
pays. Where values are missing at random, learning a side for them fits noise and costs accuracy, as long as an object
can be followed down both branches instead. With about half of the values missing it can't: it has so many branches
that nearly all of them are pruned.
"""

import numpy as np

from ..kernels.layout import Target

SIGNIFICANT = 3.5  # standard errors; by chance, one in two thousand features exceeds this
FEWEST = 5  # missing or observed values: fewer say nothing
MANY = 0.45  # share of missing values, from which learning is as good even if they are missing at random


def worth_learning(missing: np.ndarray, target: Target, weight: np.ndarray) -> np.ndarray:
    """For each column of `missing` (n, d), whether its holes say something about the target, or are many, (d,) bool."""
    return informative_holes(missing, target, weight) | (weight @ missing >= MANY * weight.sum())


def informative_holes(missing: np.ndarray, target: Target, weight: np.ndarray) -> np.ndarray:
    """For each column of `missing` (n, d), whether the mean target of the objects with a missing value differs from
    that of the others by more than chance explains, (d,) bool."""
    mean, variance = _moments(target, weight)
    return np.array([_is_informative(holes, target, weight, mean, variance) for holes in missing.T], dtype=bool)


def _is_informative(
    holes: np.ndarray, target: Target, weight: np.ndarray, mean: np.ndarray, variance: np.ndarray
) -> bool:
    n_missing, n_observed = _effective_number(weight[holes]), _effective_number(weight[~holes])
    if min(n_missing, n_observed) < FEWEST:
        return False
    share_observed = weight[~holes].sum() / weight.sum()
    # The mean of all lies between both, so the difference to it is a share of that between both.
    difference = (_sums(target, weight, holes) / weight[holes].sum() - mean) / share_observed
    squared_error = variance * (1 / n_missing + 1 / n_observed)
    return bool((difference**2 > SIGNIFICANT**2 * squared_error).any())


def _effective_number(weight: np.ndarray) -> float:
    """Number of equal weights whose mean is known as well."""
    if len(weight) == 0:
        return 0.0
    relative = weight / weight.max()  # squares of the smallest weights would be 0
    return relative.sum() ** 2 / np.square(relative).sum()


def _sums(target: Target, weight: np.ndarray, rows: np.ndarray | slice) -> np.ndarray:
    """Weighted sums of the columns of the target, (n_columns,)."""
    if len(target.columns):
        return weight[rows] @ target.columns[rows]
    return np.bincount(target.class_index[rows], weight[rows], minlength=target.columns.shape[1])


def _moments(target: Target, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of each column of the target, (n_columns,)."""
    mean = _sums(target, weight, slice(None)) / weight.sum()
    if len(target.columns):
        return mean, np.maximum(weight @ np.square(target.columns) / weight.sum() - mean**2, 0.0)
    return mean, mean * (1 - mean)
