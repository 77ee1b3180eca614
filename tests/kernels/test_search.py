import numpy as np
import pytest

from probforest.kernels.search import MOST_SLOTS, count_below, count_below_guided, fill_guide


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


def guides(ordered, x):
    """Whether a guide is of use. It finds the same numbers as a plain search anyway."""
    guide, below = np.full(MOST_SLOTS + 2, -77), np.full(len(x) + 1, 77)
    about = fill_guide(ordered, len(x), guide[:-1])
    assert guide[-1] == -77
    count_below_guided(ordered, guide, about, x, len(x), below)
    assert below[-1] == 77
    np.testing.assert_array_equal(below[:-1], np.searchsorted(ordered, np.where(np.isnan(x), -np.inf, x)))
    return about[0] > 0


@pytest.mark.parametrize("n", [2, 3, 64, 65, 254, 500])
@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_a_guide_finds_the_same_numbers(n, scale):
    random = np.random.default_rng(n)
    ordered = random.uniform(size=n) * scale
    ordered = np.sort(np.append(ordered, ordered[: n // 3]))
    near = np.concatenate([np.nextafter(ordered, -np.inf), ordered, np.nextafter(ordered, np.inf)])
    x = np.concatenate([random.normal(size=2 * n) * scale, near, [np.inf, -np.inf, np.nan, -0.0, 1.7e308, -1.7e308]])
    assert guides(ordered, x)


@pytest.mark.parametrize(
    "ordered",
    [
        np.zeros(5),  # no width
        np.array([-1.7e308, 0.0, 1.7e308]),  # a width that is no number
        np.array([0.0, 5e-324]),  # slots that are no number
        np.append(np.linspace(0, 1, 50), 1e9),  # an outlier: all others in one slot
        np.array([1.0]),
        np.empty(0),
    ],
)
def test_a_guide_that_is_of_no_use_is_not_taken(ordered):
    assert not guides(ordered, np.linspace(-1, 2, 100))


def test_few_numbers_need_no_guide():
    assert not guides(np.linspace(0, 1, 65), np.linspace(0, 1, 65))
