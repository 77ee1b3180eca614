"""A small table with error columns, for the tests of tables."""

import numpy as np
import pandas as pd

from probforest import Errors, ProbabilisticRandomForestClassifier

N = 120
RANDOM = np.random.default_rng(0)
TRUTH = RANDOM.normal(size=(N, 3))
Y = np.where(TRUTH[:, 0] + 0.3 * TRUTH[:, 1] > 0, "planet", "star")
LOWER, UPPER = RANDOM.gamma(2, 0.2, (2, N, 3))
VALUES = TRUTH + 0.3 * RANDOM.normal(size=TRUTH.shape)
LIMIT = (RANDOM.random((N, 3)) < 0.1).astype(float)
PAIR_MAP = {
    "a": ("a_err2", "a_err1"),
    "b": "e_b",
    "c": Errors(lower="cerr2", upper="cerr1", limit="clim"),
}


def make_table():
    """Three features: one with two errors, one with one, one with two errors and limits."""
    return pd.DataFrame(
        {
            "a": VALUES[:, 0],
            "a_err1": UPPER[:, 0],
            "a_err2": -LOWER[:, 0],
            "b": VALUES[:, 1],
            "e_b": LOWER[:, 1],
            "c": VALUES[:, 2],
            "cerr1": UPPER[:, 2],
            "cerr2": -LOWER[:, 2],
            "clim": LIMIT[:, 2],
        }
    )


def forest(**options):
    return ProbabilisticRandomForestClassifier(8, random_state=0, **options)
