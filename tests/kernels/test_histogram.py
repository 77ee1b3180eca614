import numpy as np
import pytest

from probforest.families import CHUNK
from probforest.kernels.histogram import add_listed, add_soft, add_words
from probforest.kernels.layout import CODE_SLOTS, GRID_POINTS, SCRATCH


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
    table = np.stack([codes[::-1], codes], axis=1)  # of two features
    scratch = np.empty(SCRATCH, dtype=np.uint64)
    for kind in ("soft", "listed", "words")[: 3 if codes[0].nbytes == 8 else 2]:
        histogram, occupied, missing = np.zeros(24), np.zeros(6, dtype=np.uint8), np.zeros(3)
        if kind == "soft":
            class_mass = np.zeros((5, 4))
            class_mass[:, :3] = mass[:, None] * pmf
            add_soft(table, 1, missing_code, index, class_mass, CHUNK, histogram, occupied, missing)
            found = histogram.reshape(6, 4)[:, :3]
        elif kind == "listed":
            add_listed(table, 1, missing_code, index, mass, labels, CHUNK, 6, histogram, occupied, missing)
            found = histogram[:18].reshape(3, 6).T
        else:
            words = table.view(np.uint64)[:, :, 0]
            add_words(words, 1, missing_code, index, mass, labels, CHUNK, 6, scratch, histogram, missing)
            found = histogram[:18].reshape(3, 6).T
        np.testing.assert_allclose(found, expected, atol=1e-15)
        np.testing.assert_allclose(missing, expected_missing, atol=1e-15)
        np.testing.assert_array_equal(occupied, expected.any(axis=1) if kind != "words" else np.zeros(6))
