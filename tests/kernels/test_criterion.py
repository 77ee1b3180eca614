import math

import numpy as np
import pytest

import naive
from probforest.kernels.criterion import impurity_of, side_score, split_score
from probforest.parameters import CRITERIA


@pytest.mark.parametrize("name", CRITERIA)
def test_scores_give_impurity_and_cost(name):
    random = np.random.default_rng(0)
    for k in (2, 3, 5):
        left, right = random.random(k), random.random(k)
        left[0] = 0.0
        total = left + right
        weight = total.sum()
        code = CRITERIA[name]
        score = side_score(total, weight, code)
        assert impurity_of(score, weight, code) == pytest.approx(naive.impurity(total, name))
        split = split_score(left, np.zeros(k), total, 0.5, code, 0.0)
        assert impurity_of(split, weight, code) == pytest.approx(naive.cost(left, right, name))
        assert split >= score  # a split never makes it worse


@pytest.mark.parametrize("name", CRITERIA)
def test_too_light_a_side_is_no_split(name):
    left, total = np.array([1.0, 0.5]), np.array([4.0, 2.0])
    missing = np.array([0.0, 1.0])
    assert split_score(left, missing, total, 0.0, CRITERIA[name], 1.6) == -math.inf
    assert split_score(left, missing, total, 1.0, CRITERIA[name], 1.6) > -math.inf
