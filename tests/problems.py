"""Random small tables for the tests."""

from typing import NamedTuple

import numpy as np


class Problem(NamedTuple):
    values: np.ndarray  # NaN: missing
    errors: np.ndarray
    pmf: np.ndarray
    weight: np.ndarray


def random_problem(seed, n=24, d=3, k=2, *, noise=0.5, missing=0.0, soft=False, weighted=False, exact_cells=0.2):
    """Classes that differ in their means; some cells exact, some missing, some errors large."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, k, n)
    labels[:k] = np.arange(k)
    errors = noise * random.gamma(1.0, 1.0, (n, d)) * (random.random((n, d)) >= exact_cells)
    values = (
        labels[:, None] * random.normal(1, 1, d) + random.normal(0, 1, (n, d)) + random.normal(0, 1, (n, d)) * errors
    )
    values[random.random((n, d)) < missing] = np.nan
    pmf = np.eye(k)[labels]
    if soft:
        pmf = 0.5 * pmf + 0.5 * random.dirichlet(np.ones(k), n)
    weight = random.integers(1, 4, n).astype(float) if weighted else np.ones(n)
    return Problem(values, errors, pmf, weight)
