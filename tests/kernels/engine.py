"""Runs the kernels on a test problem, without the estimators."""

import numpy as np

from probforest.features.binning import encode
from probforest.features.feature_bins import learn_bins
from probforest.features.measurements import read_measurements
from probforest.inputs.labels import soft_labels
from probforest.inputs.parameters import CRITERIA, MISSING_RULES
from probforest.kernels.grow import grow
from probforest.kernels.layout import SAME_WEIGHT, Rules
from probforest.kernels.route import add_answers
from probforest.trees.fitted_tree import FittedTree

FULL_GRID = 65_535  # every grid point its own bin


def kernel_rules(rules, n_features, max_features=None):
    """The oracle's rules as the kernels take them."""
    return Rules(
        criterion=CRITERIA[rules.criterion],
        missing=MISSING_RULES[rules.missing],
        max_features=max_features or n_features,
        max_depth=2**31 if np.isinf(rules.max_depth) else int(rules.max_depth),
        min_split_weight=float(rules.min_samples_split) * (1 - SAME_WEIGHT),
        min_leaf_weight=float(rules.min_samples_leaf) * (1 - SAME_WEIGHT),
        min_impurity_decrease=0.0,
        keep_proba=float(rules.keep_proba),
    )


def binned(problem, max_bins=FULL_GRID, measurements=None):
    if measurements is None:
        measurements = read_measurements(problem.values, problem.errors)
    bins = learn_bins(measurements, problem.weight, max_bins)
    return measurements.cells(), encode(measurements, bins, max_bins)


def labels_of(problem):
    return soft_labels(np.arange(problem.pmf.shape[1]), problem.pmf).for_kernels()


def grow_tree(problem, rules, max_bins=FULL_GRID, max_features=None, seed=1, room=4, measurements=None):
    cells, bins = binned(problem, max_bins, measurements)
    kernel = kernel_rules(rules, problem.values.shape[1], max_features)
    nodes = grow(cells, bins, labels_of(problem), problem.weight, kernel, seed, room=room)
    return FittedTree(nodes)


def predict(tree, values, errors, keep_proba, majority=False):
    return answers(tree, read_measurements(values, errors), keep_proba, majority)


def answers(tree, measurements, keep_proba, majority=False):
    query = measurements.cells()
    n_objects = len(query.values)
    out = np.zeros((n_objects, tree.value.shape[1]))
    add_answers(query, 0, n_objects, [tree.nodes], keep_proba, majority, out)
    return out
