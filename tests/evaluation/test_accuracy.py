from math import isnan, sqrt

import pytest

from probforest.evaluation.accuracy import share_right


@pytest.mark.parametrize(("n_right", "n_objects"), [(0, 7), (1, 7), (3, 7), (7, 7), (1, 1), (900, 1000)])
def test_interval_is_wilsons(n_right, n_objects):
    """The bounds p solve (share - p)² = z² p (1 - p) / n."""
    z, share = 1.959963984540054, n_right / n_objects
    centre, shrink = share + z**2 / (2 * n_objects), 1 + z**2 / n_objects
    half = z * sqrt(share * (1 - share) / n_objects + (z / (2 * n_objects)) ** 2)
    expected = (share, (centre - half) / shrink, (centre + half) / shrink)
    assert share_right(n_right, n_objects) == pytest.approx(expected, abs=1e-12)


def test_no_objects_say_nothing():
    value, low, high = share_right(0, 0)
    assert isnan(value)
    assert (low, high) == (0, 1)
