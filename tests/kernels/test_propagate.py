import numpy as np
import pytest

import naive
from probforest.features.measurements import read_measurements
from probforest.kernels.eights import EIGHT
from probforest.kernels.propagate import (
    cell_columns,
    cells_of_feature,
    conserve,
    left_probabilities,
    new_members,
    part,
    replace_parent,
    send,
    sum_products,
)


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
    left_probabilities(read_measurements(values, errors).into_cells(), 0, 2.0, rows, out, scratch, steps)
    np.testing.assert_allclose(out, [naive.cdf(2.0, 1.0, 2.0), 1.0, np.nan, 0.0], atol=1e-6)
    left_probabilities(read_measurements(values, None).into_cells(), 0, 2.0, rows, out, scratch, steps)
    np.testing.assert_array_equal(out, [1.0, 1.0, np.nan, 0.0])


@pytest.mark.parametrize("keep_proba", [0.0, 0.1, 0.4, 1.0])
def test_children_that_lose_nothing_are_those_of_the_oracle(keep_proba):
    random = np.random.default_rng(1)
    n, share_left = 41, 0.7
    reach = random.uniform(0.1, 1.0, n)
    to_left = random.choice([0.0, 0.05, 0.3, 0.5, 0.8, 1.0], n)
    whole = np.where(to_left >= 0.5, 1.0, 0.0)  # at 0.5, where the larger share of the training set goes
    expected = np.where(reach * np.minimum(to_left, 1 - to_left) <= keep_proba, whole, to_left)
    members = members_of(reach, np.ones(n, dtype=bool))
    n_right, n_left = conserve(members, 0, n, to_left, share_left, keep_proba)
    np.testing.assert_array_equal(to_left, expected)
    assert (n_right, n_left) == ((expected < 1).sum(), (expected > 0).sum())
    right_end, left_end = part(members, 0, n, 0, n, to_left)  # the right child in place
    assert (right_end, left_end) == (n_right, n + n_left)
    for start, share in ((0, 1 - expected), (n, expected)):
        enters = share > 0
        there = slice(start, start + enters.sum())
        np.testing.assert_array_equal(members.row[there], np.flatnonzero(enters))
        np.testing.assert_allclose(members.reach[there], (reach * share)[enters], rtol=1e-15)
        np.testing.assert_allclose(members.mass[there], (2 * reach * share)[enters], rtol=1e-15)


@pytest.mark.parametrize("n", [1, 7, 8, 9, 16, 23])
@pytest.mark.parametrize("left_in_place", [True, False])
@pytest.mark.parametrize("to_left", [0.0, 0.4, 1.0, None])
def test_a_child_in_the_place_of_its_parent_stays_within_it(n, left_in_place, to_left):
    """Other nodes lie in front of it and behind; the other child, in free space, needs room for eight more."""
    random = np.random.default_rng(n)
    start, stop, top = 3, 3 + n, 3 + n + 5
    members = new_members(top + n + EIGHT)
    members.row[:], members.reach[:], members.mass[:] = -1, 0.25, 7.0
    members.row[start:stop] = np.arange(n)
    reach, mass = random.uniform(0.1, 1.0, (2, n))
    members.reach[start:stop], members.mass[start:stop] = reach, mass
    share = random.choice([0.0, 0.3, 1.0], n) if to_left is None else np.full(n, to_left)
    right_start, left_start = (top, start) if left_in_place else (start, top)
    ends = part(members, start, stop, right_start, left_start, share)
    for begin, end, here in ((right_start, ends[0], 1 - share), (left_start, ends[1], share)):
        enters = here > 0
        assert end - begin == enters.sum()
        np.testing.assert_array_equal(members.row[begin:end], np.flatnonzero(enters))
        np.testing.assert_array_equal(members.reach[begin:end], (reach * here)[enters])
        np.testing.assert_array_equal(members.mass[begin:end], (mass * here)[enters])
    for others in (slice(0, start), slice(stop, top)):
        assert (members.row[others] == -1).all()
        assert (members.reach[others] == 0.25).all()
        assert (members.mass[others] == 7.0).all()


@pytest.mark.parametrize("n", [0, 1, 3, 4, 9])
def test_sum_of_products(n):
    one, other = np.random.default_rng(n).normal(size=(2, n))
    assert sum_products(one, other) == pytest.approx(one @ other, abs=1e-14)


def test_cells_of_a_feature_have_its_probabilities():
    random = np.random.default_rng(2)
    cells = read_measurements(random.normal(size=(50, 3)), random.gamma(2, 0.3, (50, 3))).into_cells()
    rows, scratch, steps = np.arange(50, dtype=np.int32), np.empty((2, 256)), np.empty(256, dtype=np.int32)
    one_feature = getattr(cells_of_feature, "py_func", cells_of_feature)  # kernels can't return a bundle to Python
    for feature in range(3):
        expected, found = np.empty(50), np.empty(50)
        left_probabilities(cells, feature, 0.2, rows, expected, scratch, steps)
        of_feature = one_feature(cell_columns(cells), feature)
        left_probabilities(of_feature, 0, 0.2, rows, found, scratch, steps)
        np.testing.assert_array_equal(found, expected)
