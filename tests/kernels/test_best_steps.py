"""Best steps of leaves, beside the oracle's and beside sorted members, which they replace."""

import numpy as np
import pytest

import naive
import naive_boosting
from engine import binned, kernel_rules, target_of
from probforest.kernels.best_first import Growth, grow_leaf_by_leaf, grown_nodes, new_grow_space
from probforest.kernels.best_steps import HUBER_CENTER, QUANTILE, best_steps, huber_center, weighted_quantile
from probforest.kernels.layout import FEATURE, LEAF
from probforest.kernels.propagate import cell_columns
from problems import random_problem

RANDOM = np.random.default_rng(0)
VALUES = {
    "one": np.array([0.7]),
    "two": np.array([0.0, 10.0]),
    "equal": np.full(30, -2.5),
    "ties": RANDOM.integers(0, 5, 200).astype(float),
    "normal": RANDOM.normal(size=1001),
    "heavy tails": RANDOM.standard_t(1, 3000),
    "skewed": RANDOM.lognormal(0, 3, 500),
    "two groups": np.where(RANDOM.random(100) < 0.5, 0.0, 10.0) + 1e-3 * RANDOM.normal(size=100),
    "large offset": 1e6 + RANDOM.normal(size=300),
    "tiny": 5e-324 * RANDOM.integers(0, 3, 50),
    "one outlier": np.append(RANDOM.normal(size=99), 1e12),
}
WEIGHTS = {
    "equal": np.ones,
    "soft": lambda n: np.random.default_rng(1).random(n),
    "some zero": lambda n: np.arange(1, n + 1) % 3.0,
    "very unequal": lambda n: np.random.default_rng(2).random(n) ** 20,
}
values_and_weights = pytest.mark.parametrize(
    ("values", "weight"),
    [(values, weigh(len(values))) for values in VALUES.values() for weigh in WEIGHTS.values()],
    ids=[f"{values}, {weight} weights" for values in VALUES for weight in WEIGHTS],
)


def quantile_by_order(values, weight, level):
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weight[order])
    wanted, margin = level * below[-1], 1e-9 * below[-1]
    first, last = np.searchsorted(below, [wanted - margin, wanted + margin])
    return 0.5 * values[order[first]] + 0.5 * values[order[min(last, len(order) - 1)]]


def huber_center_by_order(values, weight, delta):
    """What pulls falls in straight lines between the places value ± δ."""
    ends, change = np.concatenate([values - delta, values + delta]), np.concatenate([-weight, weight])
    order = np.argsort(ends, kind="stable")
    place, slope = ends[order], np.cumsum(change[order])
    largest = delta * weight.sum()
    pull = largest + np.concatenate([[0.0], np.cumsum(slope[:-1] * np.diff(place))])
    return np.interp([-1e-9 * largest, 1e-9 * largest], np.maximum.accumulate(-pull), place).mean()


@values_and_weights
@pytest.mark.parametrize("level", [0.01, 0.25, 0.5, 0.9])
def test_quantiles_are_those_of_sorted_values(values, weight, level):
    assert weighted_quantile(values, weight, level) == quantile_by_order(values, weight, level)


@values_and_weights
@pytest.mark.parametrize("delta", [0.01, 1.0, 1000.0])
def test_centers_are_those_between_sorted_ends(values, weight, delta):
    expected = huber_center_by_order(values, weight, delta)
    scale = max(delta, np.abs(values).max())  # ends are rounded as much as the largest of them
    assert huber_center(values, weight, delta) == pytest.approx(expected, rel=1e-12, abs=1e-13 * scale * len(values))


def test_quantiles_and_centers_are_those_of_the_oracle():
    for seed in range(30):
        random = np.random.default_rng(seed)
        values, weight = random.standard_t(2, 21), random.random(21)
        for level in (0.1, 0.5, 0.8):
            assert weighted_quantile(values, weight, level) == naive_boosting.quantile_of(values, weight, level)
        for delta in (0.1, 1.0, 10.0):
            expected = naive_boosting.huber_center_of(values, weight, delta)
            assert huber_center(values, weight, delta) == pytest.approx(expected, rel=1e-12)


def test_the_center_of_an_interval_is_its_middle_also_if_delta_is_tiny():
    values = 1e6 + np.array([1.0, 2.0, 3.0, 5.0, 8.0, 9.0])
    assert huber_center(values, np.ones(6), 1e-6) == pytest.approx(1e6 + 4.0, rel=1e-12)
    assert weighted_quantile(values, np.ones(6), 0.5) == 1e6 + 4.0


def test_arguments_stay_as_they_are():
    values, weight = RANDOM.normal(size=200)[::2], np.ones(100)
    before = values.copy()
    weighted_quantile(values, weight, 0.5)
    huber_center(values, weight, 0.5)
    np.testing.assert_array_equal(values, before)
    np.testing.assert_array_equal(weight, np.ones(100))


@pytest.mark.parametrize("keep_proba", [0.0, 0.1])
@pytest.mark.parametrize(("kind", "about"), [(QUANTILE, 0.5), (QUANTILE, 0.8), (HUBER_CENTER, 0.4)])
def test_leaves_get_the_best_steps_of_their_members(kind, about, keep_proba):
    for seed, (noise, most_leaves) in enumerate([(0.5, 8), (0.0, 30), (0.5, 1)]):
        problem = random_problem(seed, n=60, k=3, weighted=True, noise=noise)
        problem.weight[::7] = 0.0
        residuals = np.random.default_rng(seed).normal(problem.values[:, 0])
        columns = np.column_stack([-residuals, np.ones((60, 2))])
        rules = naive.Rules(criterion="newton", min_samples_leaf=1, keep_proba=keep_proba)
        cells, bins = binned(problem)
        space = new_grow_space(60, bins, most_leaves, 1)
        growth = Growth(most_leaves, 1.0)
        target = target_of(problem._replace(pmf=columns), "newton")
        n_nodes, space = grow_leaf_by_leaf(
            cell_columns(cells), bins, target, problem.weight, kernel_rules(rules, 3), growth, space
        )
        inner = grown_nodes(n_nodes, space)
        best_steps(n_nodes, space, residuals, kind, about)
        nodes = grown_nodes(n_nodes, space)
        is_leaf = nodes.links[:, FEATURE] == LEAF
        np.testing.assert_array_equal(nodes.value[~is_leaf], inner.value[~is_leaf])
        by_order = huber_center_by_order if kind == HUBER_CENTER else quantile_by_order
        for leaf in np.flatnonzero(is_leaf):
            of_leaf = slice(*space.pool.segments[leaf])
            expected = by_order(residuals[space.members.row[of_leaf]], space.members.mass[of_leaf], about)
            assert nodes.value[leaf, 0] == pytest.approx(expected, rel=1e-12, abs=1e-14)
        assert is_leaf.sum() > min(4, most_leaves - 1)
