import numpy as np
import pytest

import naive
from probforest.features.measurements import read_measurements
from probforest.kernels.propagate import left_probabilities, new_members, replace_parent, send


def members_of(reach, main):
    members = new_members(3 * len(reach))
    members.row[: len(reach)] = np.arange(len(reach))
    members.reach[: len(reach)] = reach
    members.mass[: len(reach)] = 2.0 * np.asarray(reach)
    members.main[: len(reach)] = main
    return members


@pytest.mark.parametrize("keep_proba", [0.0, 0.05, 0.3, 1.0])
@pytest.mark.parametrize("share_left", [0.3, 0.7])
def test_children_are_those_of_the_oracle(keep_proba, share_left):
    random = np.random.default_rng(0)
    n = 40
    reach, main = random.random(n), random.random(n) < 0.5
    to_left = random.choice([0.0, 0.02, 0.5, 0.8, 1.0], n)
    members = members_of(reach, main)
    right_end, left_end, right_weight, left_weight = send(members, 0, n, n, 2 * n, to_left, share_left, keep_proba)
    on_main = {int(i) for i in np.flatnonzero(main)}
    left, right, main_left, main_right = naive.send(
        list(enumerate(reach)), to_left, on_main, share_left >= 0.5, keep_proba
    )
    for start, stop, expected, expected_main, weight in (
        (n, right_end, right, main_right, right_weight),
        (2 * n, left_end, left, main_left, left_weight),
    ):
        np.testing.assert_allclose(members.mass[start:stop], 2 * members.reach[start:stop], atol=1e-200)
        assert weight == pytest.approx(members.mass[start:stop].sum())
        assert members.row[start:stop].tolist() == [i for i, _ in expected]
        np.testing.assert_allclose(members.reach[start:stop], [r for _, r in expected], atol=1e-200)
        assert set(members.row[start:stop][members.main[start:stop]].tolist()) == expected_main


def test_probability_of_an_object_never_becomes_zero_on_its_most_probable_path():
    members = members_of([1.0], [True])
    for _ in range(3000):
        right_end, left_end, _, _ = send(members, 0, 1, 1, 2, np.array([0.5]), 1.0, 1.0)
        assert replace_parent(members, 0, 1, right_end, left_end) == (0, 1)
    assert members.reach[0] > 0


def test_left_probabilities_of_noisy_exact_and_missing_cells():
    values, errors = np.array([[1.0], [1.0], [np.nan], [4.0]]), np.array([[2.0], [0.0], [1.0], [0.0]])
    out, scratch, rows = np.empty(4), np.empty((2, 4)), np.arange(4, dtype=np.int32)
    steps = np.empty(4, dtype=np.int32)
    left_probabilities(read_measurements(values, errors).cells(), 0, 2.0, rows, out, scratch, steps)
    np.testing.assert_allclose(out, [naive.cdf(2.0, 1.0, 2.0), 1.0, np.nan, 0.0], atol=1e-6)
    left_probabilities(read_measurements(values, None).cells(), 0, 2.0, rows, out, scratch, steps)
    np.testing.assert_array_equal(out, [1.0, 1.0, np.nan, 0.0])
