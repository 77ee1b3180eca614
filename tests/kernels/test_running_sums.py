"""Running sums beside their definition."""

import numpy as np
import pytest

from probforest.kernels.running_sums import running_sums


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 7, 8, 9, 64, 67])
def test_every_number_becomes_the_sum_up_to_it(count):
    numbers = np.random.default_rng(count).normal(size=count)
    found = numbers.copy()
    total = running_sums(found)
    np.testing.assert_allclose(found, [sum(numbers[: k + 1]) for k in range(count)], atol=1e-13)
    assert total == (found[-1] if count else 0.0)
