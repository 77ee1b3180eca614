"""Holes that say something about the target, and holes that are there by chance."""

import numpy as np
import pytest
from scipy.stats import binomtest, chi2_contingency

from probforest.inputs.labels import LabelTable, soft_labels
from probforest.kernels.layout import INDEX, Target
from probforest.trees.holes import CHANCE, informative_holes, worth_learning


def hard(labels, k=2):
    return LabelTable(np.arange(k), np.asarray(labels, dtype=INDEX)).for_kernels()


def test_holes_that_are_the_label_are_informative_and_random_ones_are_not():
    random = np.random.default_rng(0)
    labels = random.integers(0, 2, 400)
    missing = np.column_stack([labels == 1, random.random(400) < 0.3, np.zeros(400, dtype=bool)])
    assert informative_holes(missing, hard(labels), np.ones(400)).tolist() == [True, False, False]


def test_a_few_holes_are_compared_as_by_the_binomial_test():
    """Of a large table, so that the objects with holes are as good as drawn from all."""
    random = np.random.default_rng(1)
    labels = np.repeat([0, 1, 2], [60_000, 30_000, 10_000])
    for _ in range(100):
        holes = np.zeros(100_000, dtype=bool)
        holes[random.choice(100_000, 40, p=(p := random.dirichlet([9, 6, 3])[labels]) / p.sum(), replace=False)] = True
        p_values = [binomtest(np.sum(labels[holes] == c), 40, np.mean(labels == c), side).pvalue
                    for c in range(3) for side in ("greater", "less")]  # fmt: skip
        expected = 6 * min(p_values)
        if not 0.8 < expected / CHANCE < 1.25:
            assert informative_holes(holes[:, None], hard(labels, 3), np.ones(100_000))[0] == (expected < CHANCE)


def test_many_holes_are_compared_as_by_the_chi_squared_test():
    random = np.random.default_rng(3)
    for _ in range(300):
        labels = random.integers(0, 2, 2000)
        holes = random.random(2000) < 0.4 + random.normal(0, 0.05) * labels
        table = np.array([[np.sum(holes & (labels == c)), np.sum(~holes & (labels == c))] for c in (0, 1)])
        expected = chi2_contingency(table, correction=False).pvalue
        found = informative_holes(holes[:, None], hard(labels), np.ones(2000))[0]
        assert not found or expected < CHANCE
        assert found or expected > CHANCE / 10


def test_holes_of_a_rare_class_are_found():
    random = np.random.default_rng(7)
    labels = (np.arange(400) < 12).astype(int)
    holes = np.where(labels == 1, random.random(400) < 0.9, random.random(400) < 0.02)
    assert informative_holes(holes[:, None], hard(labels), np.ones(400))[0]


def test_rare_holes_are_also_tested_together():
    random = np.random.default_rng(5)
    labels = random.integers(0, 2, 1000)
    rare = random.random((1000, 8)) < np.where(labels == 1, 0.018, 0.005)[:, None]
    assert not informative_holes(rare, hard(labels), np.ones(1000)).any()
    assert worth_learning(rare, hard(labels), np.ones(1000)).all()
    assert not worth_learning(rare[:, :1], hard(labels), np.ones(1000)).any()
    missing = np.column_stack([rare, random.random(1000) < 0.2, labels == 1, np.zeros(1000, dtype=bool)])
    assert worth_learning(missing, hard(labels), np.ones(1000)).tolist() == [True] * 8 + [False, True, False]
    numbers = Target(np.zeros(1000, dtype=INDEX), np.column_stack([1.0 * labels, np.ones(1000)]))
    assert worth_learning(rare, numbers, np.ones(1000), numbers=True).all()


def test_rare_holes_by_chance_are_not_worth_learning():
    random = np.random.default_rng(6)
    alarms = sum(
        worth_learning(random.random((500, 10)) < 0.03, hard(random.integers(0, 2, 500)), np.ones(500)).any()
        for _ in range(300)
    )
    assert alarms <= 4  # of 11 tests each, at most CHANCE of which fail


def test_many_holes_are_worth_learning_even_if_they_are_random():
    random = np.random.default_rng(5)
    labels, missing = random.integers(0, 2, 400), random.random((400, 2)) < [0.3, 0.6]
    assert worth_learning(missing, hard(labels), np.ones(400)).tolist() == [False, True]
    heavy = np.where(missing[:, 1], 1.0, 9.0)  # shares are those of weights
    assert worth_learning(missing, hard(labels), heavy).tolist() == [False, False]


@pytest.mark.parametrize(
    ("n", "shares", "missing"),
    [
        (500, [0.8, 0.15, 0.05], 0.2),
        (1000, np.full(50, 1 / 50), 0.02),
        (300, np.full(50, 1 / 50), 0.05),
        (1000, [0.49, 0.49, *np.full(18, 0.02 / 18)], 0.05),
        (1000, [0.995, 0.005], 0.05),
    ],
)
def test_false_alarms_are_rare(n, shares, missing):
    random = np.random.default_rng(2)
    alarms = 0
    for _ in range(5):
        labels = random.choice(len(shares), n, p=shares)
        alarms += informative_holes(random.random((n, 100)) < missing, hard(labels, len(shares)), np.ones(n)).sum()
    assert alarms <= 3  # of 500; less than one is expected


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


def test_holes_of_objects_that_weigh_nothing_say_nothing():
    labels, weight = np.arange(40) % 2, np.ones(40)
    weight[:10] = 0.0
    missing = np.column_stack([np.arange(40) < 10, np.arange(40) >= 10])
    assert not informative_holes(missing, hard(labels), weight).any()
