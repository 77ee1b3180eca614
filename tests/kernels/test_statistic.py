"""The one statistic against the oracle: classes, numbers (variance) and losses (Newton steps)."""

import numpy as np
import pytest

import naive
from engine import CODES, grow_tree, kernel_rules, predict, search_root
from probforest.kernels.statistic import (
    best_stored_cut,
    has_classes,
    impurity_of,
    is_pure,
    n_values,
    score_of,
    weight_of,
)
from problems import random_problem

NUMBERS = {"variance": {}, "newton": {"regularisation": 0.7}}


def numeric_problem(seed, criterion, **options):
    """A random table with the oracle's columns of a number or a loss in place of the PMFs."""
    problem = random_problem(seed, k=3, **options)
    random = np.random.default_rng(seed)
    y = np.round(problem.pmf @ [-1.0, 0.0, 1.5] + random.normal(0, 0.5, len(problem.pmf)), 1)
    ones = np.ones_like(y)
    columns = [y**2, y, ones] if criterion == "variance" else [-y, random.gamma(2.0, 0.5, len(y)), ones]
    return problem._replace(pmf=np.column_stack(columns))


def random_sums(random, criterion):
    if criterion in ("gini", "entropy"):
        sums = random.random(random.integers(2, 6))
        sums[0] = 0.0
        return sums
    weight = random.random() + 0.1
    return (
        np.array([2.0, random.normal(), weight]) if criterion == "variance" else np.array([*random.random(2), weight])
    )


@pytest.mark.parametrize("criterion", CODES)
def test_scores_give_weight_impurity_and_cost(criterion):
    random = np.random.default_rng(0)
    rules = naive.Rules(criterion=criterion, regularisation=0.7 if criterion == "newton" else 0.0)
    kernel, code, skip = kernel_rules(rules, 1), CODES[criterion], int(criterion == "variance")
    for _ in range(5):
        left = random_sums(random, criterion)
        right = random.permutation(left) if has_classes(code) else random_sums(random, criterion)
        total = left + right
        weights = [weight_of(sums[skip:], code) for sums in (left, right, total)]
        assert weights == pytest.approx([naive.weight_of(sums, rules) for sums in (left, right, total)])
        one, other, both = (
            score_of(sums[skip:], w, kernel) for sums, w in zip((left, right, total), weights, strict=True)
        )
        constant = total[0] / weights[2] if criterion == "variance" else 0.0  # Σ w π y², which no split changes
        assert impurity_of(both, weights[2], code) + constant == pytest.approx(naive.impurity(total, rules))
        assert impurity_of(one + other, weights[2], code) + constant == pytest.approx(naive.cost(left, right, rules))
        if criterion != "newton":
            assert one + other >= both - 1e-12  # a split never makes it worse


def test_only_classes_can_be_pure():
    assert [bool(is_pure(0.0, code)) for code in CODES.values()] == [True, True, False, False]
    assert [bool(is_pure(0.1, code)) for code in CODES.values()] == [False] * 4
    assert [n_values(code, 3) for code in CODES.values()] == [3, 3, 1, 1]


@pytest.mark.parametrize("missing", ["equal", "observed", "learned"])
@pytest.mark.parametrize("criterion", NUMBERS)
@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_best_split_of_numbers_has_the_optimum_of_the_oracle(missing, criterion, noise):
    for seed in range(4):
        problem = numeric_problem(seed, criterion, n=20, missing=0.2, weighted=True, noise=noise)
        rules = naive.Rules(criterion=criterion, missing=missing, min_samples_leaf=1 + seed, **NUMBERS[criterion])
        reach = np.random.default_rng(seed).random(20)
        split, weight = search_root(problem, rules, reach)
        cost, feature, threshold, way = naive.best_split(list(enumerate(reach)), *problem, rules, 1 + seed)
        masses = problem.weight * reach
        constant = masses @ problem.pmf[:, 0] / weight if criterion == "variance" else 0.0
        assert constant - split.score / weight == pytest.approx(cost, abs=1e-10)
        assert (split.feature, split.threshold) == (feature, threshold)
        assert (None if np.isnan(split.missing_left) else split.missing_left) == way


@pytest.mark.parametrize("missing", ["equal", "observed", "learned"])
@pytest.mark.parametrize("keep_proba", [0.0, 0.05, 1.0])
@pytest.mark.parametrize("criterion", NUMBERS)
def test_tree_of_numbers_has_the_leaves_and_answers_of_the_oracle(criterion, missing, keep_proba):
    sizes = []
    for seed, (noise, least) in enumerate([(0.5, 2), (0.0, 1), (0.5, 3.5)]):
        rules = naive.Rules(
            criterion=criterion, missing=missing, keep_proba=keep_proba, min_samples_leaf=least, **NUMBERS[criterion]
        )
        problem = numeric_problem(seed, criterion, missing=0.15, weighted=seed > 0, noise=noise)
        tree, root = grow_tree(problem, rules), naive.grow(*problem, rules)
        sizes.append(tree.n_nodes)
        expected = np.array([[*leaf["value"], leaf["weight"]] for leaf in naive.leaves(root)])
        found = np.column_stack([tree.value, tree.weight])[tree.leaves]
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, atol=1e-5)
        assert tree.weight[tree.leaves].min() >= least - 1e-6
        query = random_problem(77, missing=0.2, noise=noise)
        errors = query.errors if noise else None
        np.testing.assert_allclose(
            predict(tree, query.values, errors, keep_proba),
            naive.predict(root, query.values, query.errors, keep_proba),
            atol=1e-5,
        )
    assert max(sizes) >= 9  # the comparison is not one of bare roots


@pytest.mark.parametrize("max_bins", [16, 65_535])
def test_constant_hessians_give_the_regression_tree(max_bins):
    """g = −y and h = 1 are the squared loss at 0: its Newton step is the mean."""
    problem = numeric_problem(4, "variance", n=80, missing=0.1, weighted=True)
    loss = problem._replace(pmf=problem.pmf[:, [1, 2, 2]] * [-1.0, 1.0, 1.0])
    means = grow_tree(problem, naive.Rules(criterion="variance"), max_bins)
    steps = grow_tree(loss, naive.Rules(criterion="newton"), max_bins)
    assert means.n_nodes > 20
    for one, other in zip(means.nodes, steps.nodes, strict=True):
        np.testing.assert_array_equal(one, other)


def test_equal_numbers_are_a_leaf():
    problem = numeric_problem(0, "variance", n=30)._replace(pmf=np.tile([0.09, 0.3, 1.0], (30, 1)))
    tree = grow_tree(problem, naive.Rules(criterion="variance"))
    assert tree.n_nodes == 1
    np.testing.assert_allclose(tree.value, [[0.3]])


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_members_that_add_nothing_still_fill_their_bins(noise):
    """Gradients of 0, and those that cancel: thresholds lie midway to the next member, not to the next gradient."""
    values = np.arange(8.0)[:, None]
    gradient = np.array([0.0, 0.0, 2.0, -2.0, 0.0, 3.0, 3.0, 0.0])
    columns = np.column_stack([gradient, np.ones(8), np.ones(8)])
    problem = random_problem(0, n=8, d=1)._replace(
        values=values, errors=np.full((8, 1), noise), pmf=columns, weight=np.ones(8)
    )
    rules = naive.Rules(criterion="newton", regularisation=1.0, min_samples_leaf=1)
    split, _ = search_root(problem, rules, np.ones(8))
    _, _, threshold, _ = naive.best_split(list(enumerate(np.ones(8))), *problem, rules, 1)
    assert split.threshold == threshold


def naive_best_cut(stored, n_bins, empty, least, rules, margin):
    """The first cut behind a bin that is not empty, and that no other one beats by more than `margin`."""
    filled = np.flatnonzero(stored[:n_bins, 2] > empty)
    total, found = stored[filled].sum(axis=0), {}
    for count in range(1, len(filled)):
        sides = [stored[filled[:count]].sum(axis=0), stored[filled[count:]].sum(axis=0)]
        if all(side[2] >= least and side[1] >= rules.min_leaf_hessian for side in sides):
            found[count] = sum(side[0] ** 2 / (side[1] + rules.regularisation) for side in sides)
    if not found:
        return -np.inf, -1, -1, total
    first = next(count for count, score in found.items() if score >= max(found.values()) - margin)
    return found[first], filled[first - 1], filled[first], total


@pytest.mark.parametrize("filled", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("least", [0.99, 2.99])  # sums are rounded
def test_best_stored_cut_is_the_first_of_the_best_ones(filled, least):
    """With empty bins, which subtraction may leave with a little, and with equally good cuts."""
    rules = kernel_rules(naive.Rules(criterion="newton", regularisation=0.7), 1)._replace(min_leaf_hessian=0.2)
    for seed in range(60):
        random = np.random.default_rng(seed)
        stored = np.zeros((13, 4))
        stored[:12, 0], stored[:12, 1:3] = random.choice([-1.0, 0.5, 1.0], 12), 1.0
        stored[:12] *= (random.random(12) < filled)[:, None]
        stored[:12, :3] += 1e-15 * random.normal(size=(12, 3))
        score, here, there, total = naive_best_cut(stored, 12, 1e-12, least, rules, 1e-11)
        found = best_stored_cut(stored, 12, total[:3], total[2], 1e-12, least, rules, 1e-11)
        assert found[1:] == (here, there)
        assert found[0] == pytest.approx(score, rel=1e-12)
