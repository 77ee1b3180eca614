import math

import numpy as np
import pytest

import naive
from engine import search_root
from probforest.kernels.layout import LEAF
from probforest.kernels.split import FEW_MEMBERS, midpoint
from problems import random_problem


def cost_of(split, weight, criterion):
    return 1 - split.score / weight if criterion == "gini" else -split.score / weight


@pytest.mark.parametrize("missing", ["equal", "observed", "learned", ["learned", "observed", "equal"]])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_best_split_has_the_optimum_of_the_oracle(missing, criterion, soft, k):
    for seed in range(4):
        problem = random_problem(seed, n=20, k=k, missing=0.2, soft=soft, weighted=True)
        rules = naive.Rules(criterion=criterion, missing=missing, min_samples_leaf=1 + seed)
        reach = np.random.default_rng(seed).random(20)
        split, weight = search_root(problem, rules, reach)
        expected = naive.best_split(list(enumerate(reach)), *problem, rules, rules.min_samples_leaf)
        assert cost_of(split, weight, criterion) == pytest.approx(expected[0], abs=1e-10)
        assert split.feature == expected[1]
        assert split.threshold == expected[2]
        assert (None if math.isnan(split.missing_left) else split.missing_left) == expected[3]


@pytest.mark.parametrize("missing", ["equal", "observed", "learned"])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("k", [2, 3])
def test_cuts_behind_all_bins_and_behind_listed_bins_give_the_same_split(missing, criterion, k):
    # 36 × 7 grid points have a bin each, and so many members that the bins are not listed.
    for seed in range(4):
        problem = random_problem(seed, n=FEW_MEMBERS + 4, k=k, missing=0.1)
        rules = naive.Rules(criterion=criterion, missing=missing, min_samples_leaf=1 + seed)
        reach = np.random.default_rng(seed).random(FEW_MEMBERS + 4)
        split, weight = search_root(problem, rules, reach, max_bins=255)
        listed, _ = search_root(problem, rules, reach)
        expected = naive.best_split(list(enumerate(reach)), *problem, rules, rules.min_samples_leaf)
        assert cost_of(split, weight, criterion) == pytest.approx(expected[0], abs=1e-10)
        assert (split.feature, split.missing_left) == pytest.approx((listed.feature, listed.missing_left), nan_ok=True)
        assert split.score == pytest.approx(listed.score, abs=1e-10)
        assert split.threshold == listed.threshold == expected[2]


def test_coarse_bins_give_a_candidate_of_the_oracle_but_not_its_best():
    problem = random_problem(1, n=30, d=1)
    rules = naive.Rules()
    reach = np.ones(30)
    fine, weight = search_root(problem, rules, reach)
    coarse, _ = search_root(problem, rules, reach, max_bins=4)
    assert cost_of(coarse, weight, "gini") >= cost_of(fine, weight, "gini") - 1e-12
    masses = [c[2:] for c in naive.candidates(0, list(enumerate(reach)), *problem, rules)]
    costs = [naive.cost(*sides, rules) for sides in masses]
    assert np.abs(np.array(costs) - cost_of(coarse, weight, "gini")).min() < 1e-10


def test_no_valid_split():
    constant = random_problem(1, n=10, d=2)._replace(values=np.ones((10, 2)), errors=np.zeros((10, 2)))
    split, _ = search_root(constant, naive.Rules(), np.ones(10))
    assert split.feature == LEAF
    heavy, _ = search_root(random_problem(1, n=10), naive.Rules(min_samples_leaf=6), np.ones(10))
    assert heavy.feature == LEAF


def test_more_features_are_drawn_until_one_can_be_split():
    problem = random_problem(2, n=20, d=6)
    values = np.ones((20, 6))
    values[:, 4] = problem.values[:, 4]
    problem = problem._replace(values=values, errors=np.zeros((20, 6)))
    for seed in range(1, 20):
        split, _ = search_root(problem, naive.Rules(), np.ones(20), max_features=1, seed=seed)
        assert split.feature == 4


def test_missingness_itself_can_be_learned():
    values = np.array([[0.0], [0.0], [0.0], [np.nan], [np.nan]])
    problem = random_problem(0, n=5, d=1)._replace(
        values=values, errors=np.zeros((5, 1)), pmf=np.eye(2)[[0, 0, 0, 1, 1]], weight=np.ones(5)
    )
    split, weight = search_root(problem, naive.Rules(missing="learned"), np.ones(5))
    assert (split.threshold, split.missing_left) == (math.inf, 0.0)
    assert cost_of(split, weight, "gini") == pytest.approx(0)
    assert search_root(problem, naive.Rules(missing="observed"), np.ones(5))[0].feature == LEAF


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (1.0, 2.0),
        (1.7e308, 1.75e308),
        (-1.7e308, 1.7e308),
        (1.0, np.nextafter(1.0, 2)),
        (5e-324, 1e-323),
        (-5e-324, 0.0),
    ],
)
def test_midpoint_separates_its_neighbours(low, high):
    assert low <= midpoint(low, high) < high
