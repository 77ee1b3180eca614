"""Runs the kernels on a test problem, without the estimators."""

import numpy as np

from probforest.features.binning import encode
from probforest.features.feature_bins import learn_bins
from probforest.features.measurements import read_measurements
from probforest.inputs.labels import soft_labels
from probforest.inputs.parameters import MISSING_RULES
from probforest.kernels.grow import Room, enter_root, grow
from probforest.kernels.layout import CRITERIA, INDEX, NEWTON, SAME_WEIGHT, VARIANCE, Rules, Target
from probforest.kernels.propagate import new_members
from probforest.kernels.route import add_answers
from probforest.kernels.split import new_node_mass, new_search, split_node
from probforest.kernels.statistic import add_members, weight_of
from probforest.trees.fitted_tree import FittedTree

FULL_GRID = 65_535  # every grid point its own bin
CODES = {**CRITERIA, "variance": VARIANCE, "newton": NEWTON}


def kernel_rules(rules, n_features, max_features=None):
    """The oracle's rules as the kernels take them."""
    return Rules(
        criterion=CODES[rules.criterion],
        missing=np.array([MISSING_RULES[rules.missing_of(j)] for j in range(n_features)]),
        max_features=max_features or n_features,
        max_depth=2**31 if np.isinf(rules.max_depth) else int(rules.max_depth),
        min_split_weight=float(rules.min_samples_split) * (1 - SAME_WEIGHT),
        min_leaf_weight=float(rules.min_samples_leaf) * (1 - SAME_WEIGHT),
        min_impurity_decrease=0.0,
        keep_proba=float(rules.keep_proba),
        regularisation=float(rules.regularisation),
    )


def binned(problem, max_bins=FULL_GRID, measurements=None):
    if measurements is None:
        measurements = read_measurements(problem.values, problem.errors)
    bins = learn_bins(measurements, problem.weight, max_bins)
    return measurements.into_cells(), encode(measurements, bins, max_bins)


def target_of(problem, criterion="gini"):
    """The oracle's columns as the kernels take them: of y², y and 1 they need no squares."""
    if criterion in ("gini", "entropy"):
        return soft_labels(np.arange(problem.pmf.shape[1]), problem.pmf).for_kernels()
    columns = problem.pmf[:, 1:] if criterion == "variance" else problem.pmf
    return Target(np.zeros(len(columns), dtype=INDEX), np.ascontiguousarray(columns))


def search_root(problem, rules, reach, max_bins=FULL_GRID, max_features=None, seed=1):
    """The engine's best split of a node that holds every object with probability `reach` (n,), and its weight."""
    _, bins = binned(problem, max_bins)
    target = target_of(problem, rules.criterion)
    n, n_columns = len(problem.values), target.columns.shape[1]
    members = new_members(n)
    count, _ = enter_root(members, problem.weight, target.class_index)
    members.mass[:count] = problem.weight * reach
    node = new_node_mass(n, n_columns, len(target.columns) == 0)
    add_members(members, 0, count, target, node)
    search = new_search(bins, n_columns, seed)
    rules = kernel_rules(rules, problem.values.shape[1], max_features)
    split, n_drawn = split_node(members.row[:count], node, bins, search, rules, rules.min_leaf_weight, 0)
    again, _ = split_node(members.row[:count], node, bins, search, rules, rules.min_leaf_weight, n_drawn)
    np.testing.assert_array_equal(split, again)  # the same features as drawn before, the same split
    assert not search.histogram.any()  # left clean for the next node
    assert not search.occupied.any()
    return split, weight_of(node.total, rules.criterion)


def grow_tree(problem, rules, max_bins=FULL_GRID, max_features=None, seed=1, room=4, measurements=None):
    cells, bins = binned(problem, max_bins, measurements)
    kernel = kernel_rules(rules, problem.values.shape[1], max_features)
    nodes = grow(cells, bins, target_of(problem, rules.criterion), problem.weight, kernel, seed, room=Room(room))
    return FittedTree(nodes)


def predict(tree, values, errors, keep_proba, majority=False):
    return answers(tree, read_measurements(values, errors), keep_proba, majority)


def answers(tree, measurements, keep_proba, majority=False):
    query = measurements.into_cells()
    n_objects = len(query.values)
    out = np.zeros((n_objects, tree.value.shape[1]))
    add_answers(query, 0, n_objects, [tree.nodes], keep_proba, majority, out)
    return out
