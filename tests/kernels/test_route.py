import numpy as np
import pytest

import naive
from engine import grow_tree, predict
from probforest.features.measurements import read_measurements
from probforest.kernels.grow import new_nodes
from probforest.kernels.layout import LEAF, Wave
from probforest.kernels.route import add_answers, new_wave, route
from problems import random_problem


@pytest.fixture(scope="module")
def problem():
    return random_problem(12, n=40, k=3, missing=0.1, noise=1.0)


@pytest.mark.parametrize("keep_proba", [0.0, 0.05, 1.0])
def test_leaf_probabilities_are_those_of_the_oracle(problem, keep_proba):
    rules = naive.Rules(keep_proba=keep_proba)
    tree = grow_tree(problem, rules)
    visits = tree.visits(read_measurements(problem.values, problem.errors).into_cells(), keep_proba)
    root = naive.grow(*problem, rules)
    number = {id(leaf): node for leaf, node in zip(naive.leaves(root), tree.leaves, strict=True)}
    for i in range(len(problem.values)):
        found = {int(visits.leaf[v]): visits.reach[v] for v in np.flatnonzero(visits.row == i)}
        expected = naive.leaf_probabilities(root, problem.values[i], problem.errors[i], keep_proba)
        expected = {number[id(leaf)]: reach for leaf, reach in expected}
        assert set(found) == set(expected)
        np.testing.assert_allclose([found[leaf] for leaf in expected], list(expected.values()), atol=1e-5)


def test_laws_of_keep_proba(problem):
    query = read_measurements(problem.values, problem.errors).into_cells()
    everything = grow_tree(problem, naive.Rules(keep_proba=0.0)).visits(query, 0.0)
    np.testing.assert_allclose(np.bincount(everything.row, everything.reach), 1, atol=1e-12)
    one_path = grow_tree(problem, naive.Rules(keep_proba=1.0)).visits(query, 1.0)
    np.testing.assert_array_equal(np.bincount(one_path.row), 1)


def test_blocks_do_not_matter(problem):
    tree = grow_tree(problem, naive.Rules())
    query = read_measurements(problem.values, problem.errors).into_cells()
    whole, parts = np.zeros((40, 3)), np.zeros((40, 3))
    add_answers(query, 0, 40, [tree.nodes], 0.05, False, whole)
    for first, last in ((0, 1), (1, 17), (17, 40)):
        add_answers(query, first, last, [tree.nodes], 0.05, False, parts)
    np.testing.assert_array_equal(whole, parts)


def test_exact_objects_take_single_paths_to_the_same_answers(problem):
    tree = grow_tree(problem, naive.Rules())
    values = np.nan_to_num(problem.values)
    alone, in_waves = predict(tree, values, None, 0.05), predict(tree, values, np.zeros_like(values), 0.05)
    np.testing.assert_allclose(alone, in_waves, atol=1e-15)
    np.testing.assert_array_equal(predict(tree, values, None, 0.05, majority=True), np.eye(3)[alone.argmax(axis=1)])


def test_exact_objects_have_the_same_bits_alone_and_with_more_than_walk_together(problem):
    tree = grow_tree(problem, naive.Rules())
    values = np.nan_to_num(np.tile(problem.values, (4, 1))) + np.arange(160)[:, None] * 1e-3
    together = predict(tree, values, None, 0.05)
    alone = np.concatenate([predict(tree, row[None], None, 0.05) for row in values])
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_allclose(together, predict(tree, values, np.zeros_like(values), 0.05), atol=1e-15)


def test_majority_gives_one_vote_to_the_most_probable_class(problem):
    tree = grow_tree(problem, naive.Rules())
    votes = predict(tree, problem.values, problem.errors, 0.05, majority=True)
    answers = predict(tree, problem.values, problem.errors, 0.05)
    np.testing.assert_array_equal(votes, np.eye(3)[answers.argmax(axis=1)])


def complete_tree(depth):
    """Half of everything goes to each side, at every split."""
    n_nodes = 2 ** (depth + 1) - 1
    nodes = new_nodes(n_nodes, 2)
    for array in nodes:
        array[:] = 0
    nodes.links[:] = LEAF
    nodes.shares[:] = 0.5

    def split(node, levels):
        if levels > 0:
            nodes.links[node] = 0, node + 2**levels
            split(node + 1, levels - 1)
            split(node + 2**levels, levels - 1)

    split(0, depth)
    return nodes


@pytest.mark.parametrize("most_entries", [1, 40, 16_384])
@pytest.mark.parametrize(("keep_proba", "n_leaves"), [(0.0, 64), (1 / 65, 64), (1 / 64, 1), (1 / 16.01, 1), (1.0, 1)])
def test_a_wave_never_grows_behind_its_room(monkeypatch, keep_proba, n_leaves, most_entries):
    """An object in as many nodes of a level as there can be: missing everywhere, equally probable everywhere."""
    waves = []

    def watched_wave(capacity):
        whole = Wave(*(np.ones(capacity + 100, dtype=array.dtype) for array in new_wave(1)))
        waves.append((whole, capacity))
        return Wave(*(array[:capacity] for array in whole))

    monkeypatch.setattr("probforest.kernels.route.new_wave", watched_wave)
    monkeypatch.setattr("probforest.kernels.route._MOST_ENTRIES", most_entries)
    query = read_measurements(np.full((5, 1), np.nan), 0.0).into_cells()
    visits = route(query, complete_tree(6), keep_proba)
    assert np.bincount(visits.row).tolist() == [n_leaves] * 5
    assert all((array[capacity:] == 1).all() for whole, capacity in waves for array in whole)


@pytest.mark.parametrize("keep_proba", [0.0, 0.05, 1.0])
def test_leaves_do_not_depend_on_how_many_are_collected_in_one_call(problem, monkeypatch, keep_proba):
    tree = grow_tree(problem, naive.Rules())
    random = np.random.default_rng(0)
    values, errors = random.normal(size=(900, problem.values.shape[1])), random.uniform(0, 1, 900)[:, None]
    query = read_measurements(values, np.broadcast_to(errors, values.shape)).into_cells()
    whole = route(query, tree.nodes, keep_proba)
    monkeypatch.setattr("probforest.kernels.route._MOST_LEAVES", 1)
    monkeypatch.setattr("probforest.kernels.route._MOST_ROWS", 7)
    order = np.lexsort([whole.leaf, whole.row])
    in_blocks = route(query, tree.nodes, keep_proba)
    order_of_blocks = np.lexsort([in_blocks.leaf, in_blocks.row])
    for one, other in zip(whole, in_blocks, strict=True):
        np.testing.assert_array_equal(one[order], other[order_of_blocks])
        assert one.dtype == other.dtype


@pytest.mark.parametrize("n_objects", [1, 63, 64, 65, 200])
def test_exact_objects_reach_the_leaf_of_the_general_walk(problem, n_objects):
    tree = grow_tree(problem, naive.Rules())
    values = np.random.default_rng(0).normal(size=(n_objects, problem.values.shape[1]))
    query = read_measurements(values, None).into_cells()
    found, expected = (route(each, tree.nodes, 0.05) for each in (query, query._replace(complete=False)))
    order = np.argsort(expected.row, kind="stable")
    np.testing.assert_array_equal(found.row, np.arange(n_objects))
    np.testing.assert_array_equal(found.leaf, expected.leaf[order])
    np.testing.assert_array_equal(found.reach, expected.reach[order])
