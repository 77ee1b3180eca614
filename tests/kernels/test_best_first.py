"""Trees whose best leaf is split first, against the oracle, and what makes them fast against what it replaces."""

import itertools

import numpy as np
import pytest

import naive
import naive_boosting
from engine import binned, kernel_rules, target_of
from probforest.features.measurements import read_measurements
from probforest.kernels.best_first import Growth, add_to_scores, grow_leaf_by_leaf, grown_nodes, new_grow_space
from probforest.kernels.cuts import sum_left_of_stored
from probforest.kernels.histogram import add_whole_node, subtract_node
from probforest.kernels.propagate import cell_columns, follow_larger
from probforest.trees.fitted_tree import FittedTree, sum_of_answers
from problems import random_problem


def loss_problem(seed, **options):
    """A random table with gradients and hessians in place of the PMFs."""
    problem = random_problem(seed, k=3, **options)
    random = np.random.default_rng(seed)
    gradient = problem.pmf @ [1.0, 0.0, -1.5] + random.normal(0, 0.5, len(problem.pmf))
    return problem._replace(
        pmf=np.column_stack([gradient, random.gamma(2.0, 0.5, len(gradient)), np.ones_like(gradient)])
    )


def rules_for(**options):
    return naive.Rules(criterion="newton", regularisation=0.7, **options)


def grow(problem, rules, max_leaf_nodes, room=6, max_bins=65_535, max_features=None, monotonic=()):
    """The engine's tree, and the raw scores of its training set."""
    cells, bins = binned(problem, max_bins)
    kernel, raw = kernel_rules(rules, problem.values.shape[1], max_features), np.zeros(len(problem.values))
    kernel = kernel._replace(monotonic=np.array(monotonic, dtype=np.int64))
    space = new_grow_space(len(problem.values), bins, max_leaf_nodes, 1, room)
    target, growth = target_of(problem, "newton"), Growth(max_leaf_nodes, 0.3)
    n_nodes, space = grow_leaf_by_leaf(cell_columns(cells), bins, target, problem.weight, kernel, growth, space)
    add_to_scores(n_nodes, space, raw)
    return FittedTree(grown_nodes(n_nodes, space), conserves=True), raw


CASES = list(itertools.product(("equal", "observed", "learned"), (0.0, 0.1, 0.4, 1.0), (2, 5, 20)))


@pytest.mark.parametrize(("missing", "keep_proba", "max_leaf_nodes"), CASES)
def test_tree_has_the_leaves_and_answers_of_the_oracle(missing, keep_proba, max_leaf_nodes):
    for seed, (noise, least) in enumerate([(0.5, 2), (0.0, 1), (0.5, 3.5)]):
        rules = rules_for(missing=missing, keep_proba=keep_proba, min_samples_leaf=least)
        holes = 0.15 if seed < 2 else 0.0  # features without holes are searched in another way
        problem = loss_problem(seed, n=30, missing=holes, weighted=seed > 0, noise=noise)
        root = naive_boosting.grow(*problem, rules, max_leaf_nodes, 0.3)
        tree, raw = grow(problem, rules, max_leaf_nodes)
        found = np.column_stack([tree.value, tree.weight])[tree.leaves]
        expected = np.array([[*leaf["value"], leaf["weight"]] for leaf in naive.leaves(root)])
        tolerance = 1e-5 if noise else 1e-12  # of F, which comes from a table
        assert found.shape == expected.shape
        assert len(found) == max_leaf_nodes or max_leaf_nodes > 2
        np.testing.assert_allclose(found, expected, atol=tolerance)
        of_oracle = naive_boosting.answers(root, problem.values, problem.errors, keep_proba)
        np.testing.assert_allclose(raw, of_oracle, atol=tolerance)
        query = read_measurements(problem.values, problem.errors if noise else None).into_cells()
        routed = sum_of_answers([tree], query, keep_proba)[:, 0]
        np.testing.assert_allclose(raw, routed, atol=1e-14)  # training moves objects as a prediction does


@pytest.mark.parametrize("missing", ["observed", "learned"])
@pytest.mark.parametrize("monotonic", [(1, 0, 0), (-1, 1, 0), (0, -1, -1)])
def test_bound_tree_has_the_leaves_and_answers_of_the_oracle(missing, monotonic):
    differs = 0
    for seed, noise in enumerate([0.0, 0.5, 0.5]):
        rules = rules_for(missing=missing, keep_proba=0.1, min_samples_leaf=2)
        problem = loss_problem(seed, n=40, missing=0.1, weighted=seed > 0, noise=noise)
        root = naive_boosting.grow(*problem, rules, 8, 0.3, monotonic)
        tree, raw = grow(problem, rules, 8, monotonic=monotonic)
        found = np.column_stack([tree.value, tree.weight])[tree.leaves]
        expected = np.array([[*leaf["value"], leaf["weight"]] for leaf in naive.leaves(root)])
        tolerance = 1e-5 if noise else 1e-12
        np.testing.assert_allclose(found, expected, atol=tolerance)
        np.testing.assert_allclose(
            raw, naive_boosting.answers(root, problem.values, problem.errors, 0.1), atol=tolerance
        )
        differs += not np.array_equal(tree.value, grow(problem, rules, 8)[0].value)
    assert differs  # it binds something


@pytest.mark.parametrize("direction", [1, -1])
def test_answers_of_a_bound_tree_go_one_way(direction):
    problem = loss_problem(5, n=120, noise=0.7)
    tree, _ = grow(problem, rules_for(keep_proba=0.0), 20, monotonic=(0, direction, 0))
    for i in range(20):
        values = np.tile(problem.values[i], (50, 1))
        values[:, 1] = np.linspace(-5, 5, 50)
        cells = read_measurements(values, np.tile(problem.errors[i], (50, 1))).into_cells()
        answers = sum_of_answers([tree], cells, 0.0)[:, 0]
        assert (direction * np.diff(answers) >= -1e-12).all()


def test_depth_and_number_of_leaves_are_limited():
    problem = loss_problem(1, n=60)
    assert grow(problem, rules_for(max_depth=2), 31)[0].depth == 2
    assert grow(problem, rules_for(max_depth=0), 31)[0].n_nodes == 1
    assert len(grow(problem, rules_for(), 7)[0].leaves) == 7


def test_leaves_conserve_everybody():
    problem = loss_problem(2, n=80, noise=1.5, missing=0.2)
    for keep_proba in (0.0, 0.1, 0.5):
        tree, _ = grow(problem, rules_for(keep_proba=keep_proba), 16)
        visits = tree.visits(read_measurements(problem.values, problem.errors).into_cells(), keep_proba)
        np.testing.assert_allclose(np.bincount(visits.row, visits.reach), 1, atol=1e-12)
        assert visits.reach.min() > keep_proba
        assert tree.weight[tree.leaves].sum() == pytest.approx(80, abs=1e-9)


def test_little_room_gives_the_same_tree():
    problem = loss_problem(3, n=50, noise=1.0)
    (plenty, raw), (little, again) = (grow(problem, rules_for(keep_proba=0.0), 20, room) for room in (50, 1))
    for one, other in zip(plenty.nodes, little.nodes, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(raw, again)


def test_splits_that_fail_on_exact_masses_are_replaced_by_the_next_best():
    """The grid puts its last chunks where there is less: the root must not stay a leaf for it."""
    sizes = []
    for seed in range(20):
        problem = loss_problem(seed, n=12, d=1, noise=2.0)
        rules = rules_for(min_samples_leaf=4, keep_proba=0.1)
        tree, _ = grow(problem, rules, 4)
        root = naive_boosting.grow(*problem, rules, 4, 0.3)
        assert len(tree.leaves) == len(naive.leaves(root))
        assert tree.weight[tree.leaves].min() >= 4 - 1e-6
        sizes.append(tree.n_nodes)
    assert max(sizes) > 1


def test_follow_larger():
    assert follow_larger(0.5, 0.9, 0.3, 0.1) == 1.0  # 0.05 is pruned, and goes left with the others
    assert follow_larger(0.5, 0.1, 0.7, 0.1) == 0.0
    assert follow_larger(0.5, 0.7, 0.3, 0.1) == 0.7
    assert follow_larger(0.2, 0.5, 0.5, 0.1) == 1.0  # equal sides: where the weight is
    assert follow_larger(0.2, 0.5, 0.4, 0.1) == 0.0
    assert follow_larger(0.2, 0.6, 0.4, 0.0) == 0.6


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_histograms_of_children_add_up(noise):
    problem = loss_problem(4, n=40, missing=0.2, noise=noise, exact_cells=0.0 if noise else 1.0)
    _, bins = binned(problem, 16)
    random = np.random.default_rng(0)
    reach, rows = random.random(40), np.arange(40, dtype=np.int32)
    columns = np.column_stack([problem.pmf, np.zeros(40)])
    shape = (*bins.low.shape[:1], bins.low.shape[1] + 1, 4)
    whole, left, right = np.ones(shape), np.ones(shape), np.ones(shape)
    add_whole_node(bins, rows, columns, whole)
    add_whole_node(bins, rows, columns * reach[:, None], left)
    add_whole_node(bins, rows, columns * (1 - reach)[:, None], right)
    np.testing.assert_allclose(whole[:, :, :3].sum(axis=1), np.tile(problem.pmf.sum(axis=0), (3, 1)))
    missing = np.isnan(problem.values)
    np.testing.assert_allclose(whole[:, -1, 2], missing.sum(axis=0))
    subtract_node(whole, left)
    np.testing.assert_allclose(whole, right, atol=1e-12)
    missing_sums, sums = np.empty(3), np.empty((3, 20))
    for j, n_bins in enumerate(bins.n_bins):
        first, n_cuts = sum_left_of_stored(whole[j], n_bins, 1e-12, missing_sums, sums)
        np.testing.assert_allclose(missing_sums, right[j, -1, :3], atol=1e-12)
        np.testing.assert_allclose(sums[:, :n_cuts].T, np.cumsum(right[j, first : first + n_cuts, :3], axis=0))
    subtract_node(whole, right)
    for j, n_bins in enumerate(bins.n_bins):  # rounding is not taken for members
        assert sum_left_of_stored(whole[j], n_bins, 1e-12, missing_sums, sums) == (0, 0)
        assert not missing_sums.any()
