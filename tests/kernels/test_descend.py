"""Objects go down boosted trees: in company and alone, in much room and in little."""

import numpy as np
import pytest

import naive_boosting
from probforest.features.measurements import read_measurements
from probforest.kernels import descend
from probforest.trees.fitted_tree import sum_of_answers
from test_best_first import grow, loss_problem, rules_for


def noisy_tree(keep_proba, missing=0.1):
    problem = loss_problem(4, n=200, noise=0.6, missing=missing)
    return problem, grow(problem, rules_for(keep_proba=keep_proba), 20)[0]


def query(n, missing=0.1):
    problem = loss_problem(8, n=n, noise=0.8, missing=missing)
    return read_measurements(problem.values, problem.errors).into_cells()


@pytest.mark.parametrize("keep_proba", [0.0, 0.15, 1.0])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_answers_are_those_of_the_oracle(keep_proba, missing):
    problem = loss_problem(4, n=40, noise=0.6, missing=missing)
    rules = rules_for(keep_proba=keep_proba)
    root, (tree, _) = naive_boosting.grow(*problem, rules, 8, 0.3), grow(problem, rules, 8)
    other = loss_problem(9, n=30, noise=1.0, missing=missing)
    answers = sum_of_answers([tree], read_measurements(other.values, other.errors).into_cells(), keep_proba)[:, 0]
    expected = naive_boosting.answers(root, other.values, other.errors, keep_proba)
    np.testing.assert_allclose(answers, expected, atol=1e-5)


def test_an_object_alone_has_the_answer_that_it_has_in_company():
    _, tree = noisy_tree(0.05)
    cells = query(2 * descend._MOST_ROWS + 70)
    answers = sum_of_answers([tree, tree], cells, 0.05)
    for row in (0, 1023, 1024, 2100):
        alone = cells._replace(values=cells.values[row : row + 1])
        np.testing.assert_array_equal(sum_of_answers([tree, tree], alone, 0.05)[0], answers[row])


def test_visits_are_what_answers_are_made_of():
    _, tree = noisy_tree(0.1)
    cells = query(1500)
    row, leaf, reach = tree.visits(cells, 0.1)
    assert row.dtype == leaf.dtype == np.int32
    assert set(leaf) <= set(tree.leaves)
    answers = np.bincount(row, reach * tree.value[leaf, 0])
    np.testing.assert_allclose(answers, sum_of_answers([tree], cells, 0.1)[:, 0], atol=1e-14)


def test_little_room_gives_the_same_visits(monkeypatch):
    _, tree = noisy_tree(0.0)
    cells = query(300)
    plenty = tree.visits(cells, 0.0)
    monkeypatch.setattr(descend, "_ROOM", 1)
    for one, other in zip(plenty, tree.visits(cells, 0.0), strict=True):
        np.testing.assert_array_equal(one, other)


def test_little_room_gives_the_same_answers(monkeypatch):
    """There are trees before and behind the first one that needs more room."""
    trees = [noisy_tree(keep_proba)[1] for keep_proba in (1.0, 0.0, 0.05, 0.0)]
    cells = query(300)
    plenty = sum_of_answers(trees, cells, 0.0)
    monkeypatch.setattr(descend, "_ROOM", 1)
    np.testing.assert_array_equal(sum_of_answers(trees, cells, 0.0), plenty)


def test_all_trees_at_once_give_the_bits_of_one_after_the_other():
    trees = [noisy_tree(keep_proba)[1] for keep_proba in (0.0, 0.1, 1.0)]
    cells = query(70)
    one_by_one = np.zeros((70, 1))
    for tree in trees:
        one_by_one += sum_of_answers([tree], cells, 0.05)
    np.testing.assert_array_equal(sum_of_answers(trees, cells, 0.05), one_by_one)
