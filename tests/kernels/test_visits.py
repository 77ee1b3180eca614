"""The leaves of exact objects: one path each, which is that of `route`."""

import numpy as np
import pytest

import naive
from engine import grow_tree
from probforest.features.measurements import read_measurements
from probforest.kernels.route import route
from probforest.kernels.visits import visits
from problems import random_problem

PROBLEM = random_problem(12, n=40, k=3, missing=0.1, noise=1.0)


@pytest.fixture(scope="module")
def tree():
    return grow_tree(PROBLEM, naive.Rules())


def random_values(n_objects):
    return np.random.default_rng(0).normal(size=(n_objects, PROBLEM.values.shape[1]))


@pytest.mark.parametrize("n_objects", [1, 63, 64, 65, 200])
def test_exact_objects_reach_the_leaf_of_the_general_walk(tree, n_objects):
    query = read_measurements(random_values(n_objects), None).cells()
    found, expected = visits(query, tree.nodes, 0.05), route(query, tree.nodes, 0.05)
    order = np.argsort(expected.row, kind="stable")
    np.testing.assert_array_equal(found.row, np.arange(n_objects))
    np.testing.assert_array_equal(found.leaf, expected.leaf[order])
    np.testing.assert_array_equal(found.reach, expected.reach[order])


def test_objects_with_errors_or_holes_walk_as_before(tree):
    values = random_values(30)
    holes = np.where(np.random.default_rng(1).uniform(size=values.shape) < 0.2, np.nan, values)
    for query in (
        read_measurements(values, np.full(values.shape, 0.5)).cells(),
        read_measurements(holes, None).cells(),
    ):
        for one, other in zip(visits(query, tree.nodes, 0.05), route(query, tree.nodes, 0.05), strict=True):
            np.testing.assert_array_equal(one, other)
