"""What became of a table, for people: the median and the widths of every cell, in the units of the table."""

from typing import NamedTuple

import numpy as np

from ..families import ONE_SIGMA
from .measurements import Measurements


class CellSummaries(NamedTuple):
    """Distributions of true values, given all that was measured; NaN where nothing is known."""

    center: np.ndarray  # (n, d) the median
    lower: np.ndarray  # (n, d) from 16 % of the probability to the median; 0: exact
    upper: np.ndarray  # (n, d) from the median to 84 %


def summaries_of(measurements: Measurements) -> CellSummaries:
    """Of a table whose limits are spread; logarithms are turned back into values."""
    quantiles = np.stack([_quantiles(measurements, j) for j in range(len(measurements.center))], axis=2)
    below, center, above = quantiles
    return CellSummaries(center, center - below, above - center)


def _quantiles(measurements: Measurements, j: int) -> np.ndarray:
    """Those (3, n) of feature j at −1σ, 0 and 1σ."""
    center, family = measurements.center[j], measurements.families[j]
    if measurements.is_exact:
        quantiles = np.stack([center] * 3)
    else:
        lower, upper = measurements.lower[j], measurements.upper[j]
        grid = [np.full(len(center), at) for at in family.grid()[ONE_SIGMA]]
        if measurements.has_free_forms:  # these are given by their medians
            own = measurements.form_index[j] >= 0
            grid = [np.where(own, at, places) for at, places in zip((-1.0, 0.0, 1.0), grid, strict=True)]
        quantiles = np.stack([center + at * np.where(at < 0, lower, upper) for at in grid])
    return np.exp(quantiles) if family.log else quantiles
