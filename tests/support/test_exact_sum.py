import math

import numpy as np
import pytest

from probforest.support.exact_sum import as_float, exact_sum


@pytest.mark.parametrize("seed", range(5))
def test_sums_are_rounded_once(seed):
    random = np.random.default_rng(seed)
    values = random.normal(size=1000) * 10.0 ** random.integers(-300, 300, 1000)
    assert as_float(exact_sum(values)) == math.fsum(values)


def test_pieces_add_up_whatever_their_order():
    random = np.random.default_rng(0)
    values = np.append(random.lognormal(0, 20, 3001), [0.0, -0.0, 5e-324, 1e308])
    whole = exact_sum(values)
    parts = [exact_sum(part) for part in np.array_split(random.permutation(values), 7)]
    assert sum(parts) == whole
    assert exact_sum(values[:0]) == 0
