"""Memory that is fetched early: nothing changes, wherever it lies."""

import numpy as np

from probforest.kernels.jit import kernel
from probforest.kernels.prefetch import prefetch


@kernel
def sum_with_fetching(numbers, places, out):
    for at in range(numbers.shape[0]):
        prefetch(numbers, places[at])
        out[0] += numbers[at]


def test_any_place_may_be_fetched():
    numbers, out = np.random.default_rng(0).normal(size=50), np.zeros(1)
    before = numbers.copy()
    sum_with_fetching(numbers, np.random.default_rng(1).integers(-(2**40), 2**40, size=50), out)
    np.testing.assert_allclose(out, before.sum())
    np.testing.assert_array_equal(numbers, before)
