from itertools import product

import numpy as np
import pytest

from probforest.families import normal_shape
from probforest.kernels.histogram import add_hard, add_soft
from probforest.kernels.layout import CODE_SLOTS, GRID_POINTS, Bins
from probforest.kernels.split import new_search

CHUNK = normal_shape().chunk


@pytest.mark.parametrize("n_points", [1, CODE_SLOTS])
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
        for g, b in enumerate(codes[i, :GRID_POINTS]):
            expected[b] += mass[m] * (CHUNK[g] if n_points > 1 else 1.0) * pmf[m]
    words = codes.view(np.uint64) if codes[0].nbytes == 8 else np.empty((0, 1), dtype=np.uint64)
    bins = Bins(codes[None], words[None], np.array([6]), np.zeros((1, 6)), np.zeros((1, 6)), missing_code)
    for soft, listed in product((False, True), (True, False) if len(words) else (True,)):
        search = new_search(bins, 3, 1)
        search.missing[:] = 0.0
        if soft:
            class_mass = np.zeros((5, 4))
            class_mass[:, :3] = mass[:, None] * pmf
            add_soft((codes, words), missing_code, listed, index, class_mass, CHUNK, search)
            found = search.histogram.reshape(6, 4)[:, :3]
        else:
            add_hard((codes, words), missing_code, listed, index, mass, labels, CHUNK, search)
            found = search.histogram[:18].reshape(3, 6).T
        np.testing.assert_allclose(found, expected, atol=1e-15)
        np.testing.assert_allclose(search.missing, expected_missing, atol=1e-15)
        np.testing.assert_array_equal(search.occupied[:6], expected.any(axis=1) if listed else np.zeros(6))
