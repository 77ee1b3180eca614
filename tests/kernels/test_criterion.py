import numpy as np
import pytest

import naive
from probforest.inputs.parameters import CRITERIA
from probforest.kernels.criterion import impurity_of, side_score


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
        split = side_score(left, left.sum(), code) + side_score(right, right.sum(), code)
        assert impurity_of(split, weight, code) == pytest.approx(naive.cost(left, right, name))
        assert split >= score  # a split never makes it worse
