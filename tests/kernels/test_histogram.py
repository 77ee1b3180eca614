import numpy as np
import pytest

from probforest.families import normal_shape
from probforest.kernels.histogram import add_hard, add_soft

CHUNK = normal_shape().chunk


@pytest.mark.parametrize("n_points", [1, 7])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_histograms_hold_the_mass_of_every_grid_point(n_points, dtype):
    random = np.random.default_rng(0)
    missing_code = np.iinfo(dtype).max
    codes = np.sort(random.integers(0, 6, (12, n_points)), axis=1).astype(dtype)
    codes[3] = missing_code
    codes[5] = 2  # all in one bin
    index = np.array([0, 3, 5, 7, 11], dtype=np.int32)
    mass, labels = random.random(5), np.array([0, 1, 2, 1, 0], dtype=np.int32)
    pmf = np.eye(3)[labels]
    expected, expected_missing = np.zeros((6, 3)), np.zeros(3)
    for m, i in enumerate(index):
        if codes[i, 0] == missing_code:
            expected_missing += mass[m] * pmf[m]
            continue
        for g, b in enumerate(codes[i]):
            expected[b] += mass[m] * (CHUNK[g] if n_points > 1 else 1.0) * pmf[m]
    hard, hard_missing = np.zeros((6, 3)), np.zeros(3)
    add_hard(codes, missing_code, index, mass, labels, CHUNK, hard, hard_missing)
    soft, soft_missing = np.zeros((6, 3)), np.zeros(3)
    add_soft(codes, missing_code, index, mass[:, None] * pmf, CHUNK, soft, soft_missing)
    for found, found_missing in ((hard, hard_missing), (soft, soft_missing)):
        np.testing.assert_allclose(found, expected, atol=1e-15)
        np.testing.assert_allclose(found_missing, expected_missing, atol=1e-15)
