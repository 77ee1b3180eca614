import itertools

import numpy as np
import pytest

import naive
from engine import binned, grow_tree, kernel_rules, predict, target_of
from probforest.kernels.grow import NO_ROOM, TOO_MANY_NODES, Room, grow, grow_nodes, new_nodes
from probforest.kernels.propagate import new_members
from probforest.kernels.split import new_node_mass, new_search
from problems import Problem, random_problem

CASES = [
    *itertools.product(("gini", "entropy"), ("equal", "observed", "learned"), (0.0, 0.05, 1.0)),
    ("gini", ["observed", "learned", "equal"], 0.05),
]


def leaf_table(tree):
    leaves = tree.leaves
    return np.column_stack([tree.value[leaves], tree.weight[leaves], tree.impurity[leaves]])


def naive_leaf_table(root):
    return np.array([[*leaf["value"], leaf["weight"], leaf["impurity"]] for leaf in naive.leaves(root)])


def assert_same_tree(problem, rules):
    tree = grow_tree(problem, rules)
    root = naive.grow(*problem, rules)
    expected = naive_leaf_table(root)
    assert leaf_table(tree).shape == expected.shape
    np.testing.assert_allclose(leaf_table(tree), expected, atol=1e-5)
    query = random_problem(77, d=problem.values.shape[1], missing=0.2)
    np.testing.assert_allclose(
        predict(tree, query.values, query.errors, rules.keep_proba),
        naive.predict(root, query.values, query.errors, rules.keep_proba),
        atol=1e-5,
    )
    return tree


@pytest.mark.parametrize(("criterion", "missing", "keep_proba"), CASES)
@pytest.mark.parametrize("soft", [False, True])
def test_tree_has_the_leaves_and_answers_of_the_oracle(criterion, missing, keep_proba, soft):
    rules = naive.Rules(criterion=criterion, missing=missing, keep_proba=keep_proba)
    sizes = []
    for seed, k in enumerate((2, 3, 5)):
        problem = random_problem(seed, k=k, missing=0.15, soft=soft, weighted=seed % 2 == 1)
        sizes.append(assert_same_tree(problem, rules).n_nodes)
    assert max(sizes) >= 5  # the comparison is not one of bare roots


@pytest.mark.parametrize("options", [{"min_samples_leaf": 3.5}, {"min_samples_split": 9}, {"max_depth": 2}])
def test_stopping_rules_agree_with_the_oracle(options):
    problem = random_problem(5, n=30, k=3, missing=0.1)
    tree = assert_same_tree(problem, naive.Rules(**options))
    assert tree.n_nodes < grow_tree(problem, naive.Rules()).n_nodes
    assert tree.weight[tree.leaves].min() >= options.get("min_samples_leaf", 1) - 1e-6


def test_exact_data_agrees_with_the_oracle():
    problem = random_problem(3, n=40, noise=0.0, missing=0.1, k=3)
    assert assert_same_tree(problem, naive.Rules()).n_nodes > 10


def test_leaf_masses_add_up_to_the_root_when_nothing_is_pruned():
    problem = random_problem(9, k=3, missing=0.1, soft=True, weighted=True)
    tree = grow_tree(problem, naive.Rules(keep_proba=0.0))
    masses = tree.value * tree.weight[:, None]
    np.testing.assert_allclose(masses[tree.leaves].sum(axis=0), masses[0], rtol=1e-12)


def test_nodes_are_numbered_depth_first_and_linked():
    tree = grow_tree(random_problem(2, n=60), naive.Rules())
    split = np.flatnonzero(tree.feature >= 0)
    np.testing.assert_array_equal(tree.left[split], split + 1)
    children = np.concatenate([tree.left[split], tree.right[split]])
    np.testing.assert_array_equal(np.sort(children), np.arange(1, tree.n_nodes))
    leaves = tree.leaves
    assert (tree.left[leaves] == -1).all()
    assert (tree.right[leaves] == -1).all()
    assert np.isnan(tree.threshold[leaves]).all()


def test_deep_tree_outgrows_its_first_buffers():
    # Alternating labels split off one object at a time: the node and stack arrays must grow many times.
    n = 300
    problem = random_problem(0, n=n, d=1, noise=0.0)._replace(
        values=np.arange(n, dtype=float)[:, None], errors=np.zeros((n, 1)), pmf=np.eye(2)[np.arange(n) % 2]
    )
    tree = grow_tree(problem, naive.Rules())
    assert len(tree.leaves) == n
    assert tree.depth > 64
    np.testing.assert_array_equal(tree.impurity[tree.leaves], 0)


def test_many_copies_of_noisy_objects_outgrow_the_member_stack():
    problem = random_problem(4, n=40, d=2, noise=3.0, exact_cells=0.0)
    tree = grow_tree(problem, naive.Rules(keep_proba=0.0))
    found = predict(tree, problem.values, problem.errors, 0.0)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12)


@pytest.mark.parametrize("room", [1, 2, 64])
def test_a_tree_that_needs_more_room_is_grown_again_the_same(room):
    problem = random_problem(4, n=60, d=4, noise=2.0)
    expected = grow_tree(problem, naive.Rules(keep_proba=0.01), max_features=2)
    found = grow_tree(problem, naive.Rules(keep_proba=0.01), max_features=2, room=room)
    for one, other in zip(found.nodes, expected.nodes, strict=True):
        np.testing.assert_array_equal(one, other)


def watched(bundle, capacity):
    """Views of a bundle's arrays with a `capacity`, and a function that tells whether anything behind them changed."""
    for array in bundle:
        array[:] = 1
    views = type(bundle)(*(array[:capacity] for array in bundle))
    return views, lambda: all((array[capacity:] == 1).all() for array in bundle)


def test_a_tree_never_writes_behind_its_room():
    """Whatever the room: either it is too little, or the tree is the same."""
    problem = random_problem(4, n=30, d=2, noise=2.0, exact_cells=0.0)
    rules, n = naive.Rules(keep_proba=0.0), 30
    expected = grow_tree(problem, rules).nodes
    cells, bins = binned(problem)
    outcomes = set()
    for n_members in (*range(2 * n, 20 * n, 7), 2000):
        for n_pending, n_nodes in ((2, 400), (4, 400), (40, 400), (40, len(expected.threshold)), (40, 5)):
            members, members_are_fine = watched(new_members(5000), n_members)
            nodes, nodes_are_fine = watched(new_nodes(500, 2), n_nodes)
            pending = np.full((50, 4), -7, dtype=np.int64)
            scratch = new_node_mass(n, 2, True), new_search(bins, 2, 1)
            target, kernel = target_of(problem), kernel_rules(rules, 2)
            found = grow_nodes(
                cells, bins, target, problem.weight, kernel, *scratch, members, pending[:n_pending], nodes
            )
            assert members_are_fine()
            assert nodes_are_fine()
            assert (pending[n_pending:] == -7).all()
            outcomes.add((found, n_members > 3 * n, n_pending > 2))
            if found > 0:
                np.testing.assert_array_equal(nodes.links[:found], expected.links)
                np.testing.assert_array_equal(nodes.value[:found], expected.value)
    assert (NO_ROOM, True, True) in outcomes  # the root had room, and a node further down had not
    assert {found for found, *_ in outcomes} == {len(expected.threshold), NO_ROOM, TOO_MANY_NODES}


def test_a_tree_with_too_many_nodes_is_none():
    problem = random_problem(4, n=30, d=2)
    cells, bins = binned(problem)
    n_nodes = len(grow_tree(problem, naive.Rules()).threshold)
    arguments = cells, bins, target_of(problem), problem.weight, kernel_rules(naive.Rules(), 2), 1
    assert grow(*arguments, most_nodes=n_nodes - 1) is None
    assert len(grow(*arguments, most_nodes=n_nodes).threshold) == n_nodes
    assert len(grow(*arguments, most_nodes=n_nodes, room=Room(1)).threshold) == n_nodes


def test_what_was_too_little_room_for_one_tree_is_not_tried_with_the_next_one():
    problem, room = random_problem(4, n=60, d=4, noise=2.0), Room(1)
    cells, bins = binned(problem)
    arguments = cells, bins, target_of(problem), problem.weight, kernel_rules(naive.Rules(keep_proba=0.01), 4), 1
    grow(*arguments, room=room)
    needed = room.per_object
    assert needed > 1
    grow(*arguments, room=room)
    assert room.per_object == needed


def test_ties_go_with_the_weight_of_the_missing_too():
    """Three objects to the left, two to the right, and three missing ones that learned to go right: that is heavier."""
    values = np.array([-1.0, -1, -1, 1, 1, np.nan, np.nan, np.nan])[:, None]
    problem = Problem(values, np.zeros((8, 1)), np.eye(2)[[0, 0, 0, 1, 1, 1, 1, 1]], np.ones(8))
    tree = grow_tree(problem, naive.Rules(missing="learned"))
    assert (tree.missing_left[0], tree.share_left[0]) == (0.0, 3 / 8)
    halfway, error = np.array([[tree.threshold[0]]]), np.ones((1, 1))
    expected = naive.predict(naive.grow(*problem, naive.Rules(missing="learned")), halfway, error, 1.0)
    np.testing.assert_array_equal(predict(tree, halfway, error, 1.0), expected)
    np.testing.assert_array_equal(expected, [[0.0, 1.0]])


def test_drawing_features_depends_on_the_seed_only():
    problem = random_problem(6, n=50, d=6)
    first, again, other = (grow_tree(problem, naive.Rules(), max_features=2, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.feature, again.feature)
    assert first.feature.tolist() != other.feature.tolist()


def test_objects_without_weight_change_nothing():
    problem = random_problem(8, n=30, weighted=True)
    weight = np.where(np.arange(30) % 3 == 0, 0.0, problem.weight)
    kept = weight > 0
    reduced = type(problem)(problem.values[kept], problem.errors[kept], problem.pmf[kept], weight[kept])
    with_zeros = grow_tree(problem._replace(weight=weight), naive.Rules())
    without = grow_tree(reduced, naive.Rules())
    np.testing.assert_array_equal(with_zeros.feature, without.feature)
    np.testing.assert_allclose(with_zeros.value, without.value, rtol=1e-12)
