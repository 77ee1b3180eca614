"""A share of right answers and its confidence interval."""

from math import nan
from typing import NamedTuple

from scipy.stats import binomtest

CONFIDENCE = 0.95


class Accuracy(NamedTuple):
    """A share of right answers, and its 95 % confidence interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f} … {self.high:.3f})"


def share_right(n_right: int, n_objects: int) -> Accuracy:
    """The share with Wilson's score interval; NaN, and an interval from 0 to 1, if there are no objects.

    >>> print(share_right(90, 100))
    0.900 (0.826 … 0.945)
    """
    if n_objects == 0:
        return Accuracy(nan, 0.0, 1.0)
    interval = binomtest(n_right, n_objects).proportion_ci(CONFIDENCE, method="wilson")
    return Accuracy(n_right / n_objects, float(interval.low), float(interval.high))
