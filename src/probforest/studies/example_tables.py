"""Tables to try the command line with: noisy magnitudes of made-up stars and quasars."""

from typing import Any

import numpy as np

from ..datasets import add_noise, make_two_classes
from ..support.extras import need

N_KNOWN, N_TEST = 2000, 1000
N_FEATURES = 10


def example_tables(n_survey: int, seed: int = 0) -> dict[str, Any]:
    """Tables of pyarrow by name: `known` and `test` with a column of classes, `survey` without."""
    pyarrow = need("pyarrow", "A table", "tables")
    n_objects = N_KNOWN + N_TEST + n_survey
    truth, y = make_two_classes(n_objects, random_state=seed)
    noisy = add_noise(truth[:, :N_FEATURES], 1, case="objects", random_state=seed)
    columns = {"objid": np.arange(n_objects) + 10**15}
    for j in range(N_FEATURES):
        columns[f"mag{j}"], columns[f"e_mag{j}"] = noisy.X[:, j].round(4), noisy.X_err[:, j].round(4)
    columns["kind"] = np.where(y == 1, "quasar", "star")
    everything = pyarrow.table(columns)
    return {
        "known": everything.slice(0, N_KNOWN),
        "test": everything.slice(N_KNOWN, N_TEST),
        "survey": everything.slice(N_KNOWN + N_TEST).drop_columns(["kind"]),
    }
