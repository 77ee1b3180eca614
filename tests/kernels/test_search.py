import numpy as np
import pytest

from probforest.kernels.search import count_below


@pytest.mark.parametrize("also_equal", [False, True])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 31, 32, 37, 500])
def test_numbers_below_are_those_of_a_plain_search(n, also_equal):
    ordered = np.sort(np.random.default_rng(0).normal(size=n).round(1))
    x = np.array([*np.linspace(-3, 3, 50), *ordered, -np.inf, np.inf])
    below = np.empty(len(x) + 1, dtype=np.int64)
    below[-1] = 77
    count_below(ordered, n, x, len(x), also_equal, below)
    np.testing.assert_array_equal(below[:-1], np.searchsorted(ordered, x, side="right" if also_equal else "left"))
    assert below[-1] == 77


def test_numbers_behind_the_first_do_not_count_and_nothing_lies_below_nan():
    ordered, below = np.array([1.0, 2.0, 3.0, np.nan]), np.empty(2, dtype=np.int64)
    count_below(ordered, 2, np.array([5.0, np.nan]), 2, True, below)
    np.testing.assert_array_equal(below, [2, 0])
