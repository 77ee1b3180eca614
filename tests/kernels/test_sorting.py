"""The order of numbers, beside NumPy's."""

import numpy as np
import pytest

from probforest.kernels.sorting import order_of

VALUES = {
    "nothing": np.empty(0),
    "one": np.ones(1),
    "normal": np.random.default_rng(0).normal(size=3000),
    "equal": np.full(50, -2.5),
    "whole numbers": np.random.default_rng(1).integers(-3, 4, 500).astype(float),
    "zeros of both signs": np.array([0.0, -0.0, 1.0, -0.0, 0.0, -1.0]),
    "extremes": np.array([np.inf, 1e308, -1e308, 5e-324, -5e-324, -np.inf, 0.0, 1e-300]),
    "large offset": 1e9 + 1e-6 * np.random.default_rng(2).normal(size=300),
}


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_order_is_that_of_a_stable_sort(values):
    before = values.copy()
    np.testing.assert_array_equal(order_of(values), np.argsort(values, kind="stable"))
    np.testing.assert_array_equal(values, before)


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_equal_numbers_keep_an_earlier_order(values):
    ties = np.random.default_rng(3).integers(0, 5, len(values)).astype(float)
    np.testing.assert_array_equal(order_of(values, order_of(ties)), np.lexsort((ties, values)))
