"""Holes that say something about the target, and holes that are there by chance."""

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from probforest.inputs.labels import LabelTable, soft_labels
from probforest.kernels.layout import INDEX, Target
from probforest.trees.holes import SIGNIFICANT, informative_holes, worth_learning


def hard(labels, k=2):
    return LabelTable(np.arange(k), np.asarray(labels, dtype=INDEX)).for_kernels()


def test_holes_that_are_the_label_are_informative_and_random_ones_are_not():
    random = np.random.default_rng(0)
    labels = random.integers(0, 2, 400)
    missing = np.column_stack([labels == 1, random.random(400) < 0.3, np.zeros(400, dtype=bool)])
    assert informative_holes(missing, hard(labels), np.ones(400)).tolist() == [True, False, False]


def test_two_classes_are_compared_as_by_the_chi_squared_test():
    random = np.random.default_rng(1)
    for _ in range(200):
        labels = random.integers(0, 2, 300)
        holes = random.random(300) < 0.2 + random.normal(0, 0.15) * labels
        table = np.array([[np.sum(holes & (labels == c)), np.sum(~holes & (labels == c))] for c in (0, 1)])
        if table.min() < 5:
            continue
        expected = chi2_contingency(table, correction=False).statistic > SIGNIFICANT**2
        assert informative_holes(holes[:, None], hard(labels), np.ones(300))[0] == expected


def test_many_holes_are_worth_learning_even_if_they_are_random():
    random = np.random.default_rng(5)
    labels, missing = random.integers(0, 2, 400), random.random((400, 2)) < [0.3, 0.6]
    assert worth_learning(missing, hard(labels), np.ones(400)).tolist() == [False, True]
    heavy = np.where(missing[:, 1], 1.0, 9.0)  # shares are those of weights
    assert worth_learning(missing, hard(labels), heavy).tolist() == [False, False]


def test_false_alarms_are_rare():
    random = np.random.default_rng(2)
    alarms = 0
    for _ in range(20):
        labels = random.choice(3, 500, p=[0.8, 0.15, 0.05])
        alarms += informative_holes(random.random((500, 50)) < 0.2, hard(labels, 3), np.ones(500)).sum()
    assert alarms <= 5  # of 1,000


@pytest.mark.parametrize("weight", [2.0, 1e-30])
def test_only_the_ratios_of_weights_count(weight):
    random = np.random.default_rng(3)
    labels, holes = random.integers(0, 2, 100), random.random((100, 20)) < 0.4
    expected = informative_holes(holes, hard(labels), np.ones(100))
    assert (informative_holes(holes, hard(labels), np.full(100, weight)) == expected).all()


def test_hard_labels_as_pmfs_give_the_same_and_uniform_pmfs_say_nothing():
    random = np.random.default_rng(4)
    labels = random.integers(0, 3, 200)
    holes = random.random((200, 30)) < 0.2 + 0.2 * (labels[:, None] == 1)
    soft = Target(np.zeros(200, dtype=INDEX), np.eye(3)[labels])
    expected = informative_holes(holes, hard(labels, 3), np.ones(200))
    assert 0 < expected.sum() < 30
    assert (informative_holes(holes, soft, np.ones(200)) == expected).all()
    even = soft_labels(np.arange(3), np.full((200, 3), 1 / 3)).for_kernels()
    assert not informative_holes(holes, even, np.ones(200)).any()


def test_a_few_holes_are_no_evidence():
    labels = np.repeat([0, 1], [96, 4])
    assert not informative_holes((labels == 1)[:, None], hard(labels), np.ones(100)).any()
    heavy = np.where(labels == 1, 1.0, 1e-9)  # one class has all the weight
    assert not informative_holes((labels == 1)[:, None], hard(labels), heavy).any()
