"""Objects that are asked for one tree after the other have the answers that they have elsewhere."""

import numpy as np
import pytest

from probforest.features.measurements import read_measurements
from probforest.trees import followed_objects
from probforest.trees.fitted_tree import sum_of_answers
from probforest.trees.followed_objects import FollowedObjects
from test_best_first import grow, loss_problem, rules_for


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(("noise", "missing"), [(0.8, 0.1), (0.8, 0.0), (0.0, 0.1), (0.0, 0.0)])
@pytest.mark.parametrize("n_objects", [0, 1, 2500])
def test_answers_are_those_of_a_prediction(n_objects, noise, missing, n_jobs, monkeypatch):
    monkeypatch.setattr(followed_objects, "FEWEST_ANSWERS", 1100)  # several shares, of more than one block
    problems = [loss_problem(seed, n=200, noise=0.6, missing=0.1) for seed in (4, 5)]
    trees = [grow(problem, rules_for(keep_proba=0.1), 20)[0] for problem in problems]
    problem = loss_problem(8, n=2500, noise=noise, missing=missing)
    cells = read_measurements(problem.values, problem.errors).into_cells()
    cells = cells._replace(values=cells.values[:n_objects])
    followed = FollowedObjects(cells, 0.1, n_jobs)
    for tree in trees:
        np.testing.assert_array_equal(followed.answers(tree), sum_of_answers([tree], cells, 0.1))
