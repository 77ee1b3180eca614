"""Measurements with more noise, as worse instruments would have made them."""

import numpy as np

from .derived_features import find_derived
from .measurements import Measurements


def with_noise_added(table: Measurements, factor: float, random: np.random.Generator) -> Measurements:
    """Values that have moved by a normal number times `factor` × their errors, which become √(1 + factor²) times as
    large. A sum or difference of two other features moves by that of their noise."""
    if table.is_exact:
        return table
    number = factor * random.standard_normal(table.center.shape)
    steps = np.where(table.has_known_errors(), number * np.where(number < 0, table.lower, table.upper), 0.0)
    for each in find_derived(table):
        steps[each.feature] = each.sign_of_one * steps[each.one] + each.sign_of_other * steps[each.other]
    return table.with_steps(steps, float(np.sqrt(1 + factor**2)))
