"""For which features it pays to learn where missing values go.

A value can be missing for a reason that depends on the class: a star without a spectrum was not worth one. Then it
pays. Where values are missing at random, learning a side for them fits noise and costs accuracy, as long as an object
can be followed down both branches instead. With about half of the values missing it can't: it has so many branches
that nearly all of them are pruned.
"""

import numpy as np
from scipy.special import betainc, ndtr

from ..kernels.layout import Target

CHANCE = 5e-4  # how often a feature whose holes say nothing passes the test, at most
FEWEST = 5  # missing or observed values: fewer say nothing
LEAST_SHARE = 1e-6  # of the weight of all objects
RARE = 0.05  # share of missing values, below which columns are also tested together
MANY = 0.45  # share of missing values, from which learning is as good even if they are missing at random


def worth_learning(missing: np.ndarray, target: Target, weight: np.ndarray, *, numbers: bool = False) -> np.ndarray:
    """For each column of `missing` (n, d), whether its holes say something about the target, or are many, (d,) bool.

    Few holes say little, column by column. Those of several columns are also tested together: whether objects with any
    of them are others than the rest."""
    informative, share = holes_that_shift if numbers else informative_holes, weight @ missing / weight.sum()
    found = informative(missing, target, weight)
    rare = ~found & (share > 0) & (share < RARE)
    if rare.sum() > 1:
        together = np.any(missing[:, rare], axis=1)[:, None]
        found |= rare & informative(together, target, weight)
    return found | (share >= MANY)


def holes_that_shift(missing: np.ndarray, target: Target, weight: np.ndarray) -> np.ndarray:
    """For each column of `missing` (n, d), whether the mean target of the objects with a missing value differs from
    that of the others by more than chance explains, (d,) bool. The target has the columns (y, 1)."""
    y = target.columns[:, 0]
    return np.array([_shifts_the_mean(holes, y, weight) for holes in missing.T], dtype=bool)


def _shifts_the_mean(holes: np.ndarray, y: np.ndarray, weight: np.ndarray) -> bool:
    """Welch's test, with the normal distribution: the fewest objects that count are close enough to it."""
    sides = holes, ~holes
    if min(_effective_number(weight[side]) for side in sides) < FEWEST:
        return False
    shares = [weight[side] / weight[side].sum() for side in sides]
    means = [share @ y[side] for share, side in zip(shares, sides, strict=True)]
    variances = [
        np.square(share) @ np.square(y[side] - mean) for share, side, mean in zip(shares, sides, means, strict=True)
    ]
    deviation = np.sqrt(sum(variances))
    return bool(deviation > 0 and 2 * ndtr(-abs(means[0] - means[1]) / deviation) < CHANCE)


def informative_holes(missing: np.ndarray, target: Target, weight: np.ndarray) -> np.ndarray:
    """For each column of `missing` (n, d), whether a class is more or less frequent among the objects with a missing
    value than among all, by more than chance explains, (d,) bool."""
    frequencies = _sums(target, weight, slice(None)) / weight.sum()
    return np.array([_is_informative(holes, target, weight, frequencies) for holes in missing.T], dtype=bool)


def _is_informative(holes: np.ndarray, target: Target, weight: np.ndarray, frequencies: np.ndarray) -> bool:
    """An exact binomial test of each class, as some classes may be rare; the most striking of 2 k tails decides."""
    n_missing, n_observed = _effective_number(weight[holes]), _effective_number(weight[~holes])
    share_observed = weight[~holes].sum() / weight.sum()
    if min(n_missing, n_observed) < FEWEST or share_observed < LEAST_SHARE:
        return False
    # The objects with holes are some of all, and so their frequencies scatter less around those of all.
    n_trials = n_missing / share_observed
    counts = n_trials * _sums(target, weight, holes) / weight[holes].sum()
    return bool(2 * len(counts) * _tails(counts, n_trials, frequencies).min() < CHANCE)


def _tails(counts: np.ndarray, n_trials: float, frequencies: np.ndarray) -> np.ndarray:
    """Probabilities of at least, or of at most so many `counts` (k,), whichever is smaller. With the incomplete beta
    function there is a binomial distribution of numbers that are no integers as well."""
    failures = np.maximum(n_trials - counts, 0.0)
    at_least = np.where(counts > 0, betainc(np.maximum(counts, 1e-9), failures + 1, frequencies), 1.0)
    at_most = np.where(failures > 0, betainc(np.maximum(failures, 1e-9), counts + 1, 1 - frequencies), 1.0)
    return np.minimum(at_least, at_most)


def _effective_number(weight: np.ndarray) -> float:
    """Number of equal weights whose mean is known as well."""
    if not weight.any():
        return 0.0
    relative = weight / weight.max()  # squares of the smallest weights would be 0
    return relative.sum() ** 2 / np.square(relative).sum()


def _sums(target: Target, weight: np.ndarray, rows: np.ndarray | slice) -> np.ndarray:
    """Weighted sums of the columns of the target, (n_columns,)."""
    if len(target.columns):
        return weight[rows] @ target.columns[rows]
    return np.bincount(target.class_index[rows], weight[rows], minlength=target.columns.shape[1])
