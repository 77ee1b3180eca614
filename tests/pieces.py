"""Tables in pieces for tests, and whether two forests are the same."""

import numpy as np

from probforest.estimators.in_pieces import fit_in_pieces
from probforest.estimators.local_passes import LocalPasses


class Cut:
    """Arrays that come in pieces, of which some are empty."""

    def __init__(self, table, n_pieces):
        random = np.random.default_rng(n_pieces)
        inner = np.sort(random.integers(0, table.n_rows + 1, n_pieces - 1))
        self.table, self.ends = table, [0, *inner.tolist(), table.n_rows]

    def name_of(self, number):
        return f"piece {number}"

    def in_place(self, problem, number):
        return ValueError(f"piece {number}: {problem}")

    def pieces(self, *, targets_only=False):
        for first, last in zip(self.ends[:-1], self.ends[1:], strict=True):
            piece = self.table.rows(np.arange(first, last))
            yield piece._replace(X=None, X_err=None, X_limit=None, X_samples=None) if targets_only else piece


def fit_pieces(model, table, n_pieces, folder=None, **options):
    """The model, fitted to a table in so many pieces."""
    with LocalPasses(Cut(table, n_pieces), folder) as passes:
        fit_in_pieces(model, passes, **options)
    return model


def same_trees(one, other):
    """Whether two forests have the same trees, bit for bit."""
    pairs = zip(one.trees_ + one.fallback_trees_, other.trees_ + other.fallback_trees_, strict=True)
    return len(one.trees_) > 0 and all(
        np.array_equal(mine, yours, equal_nan=True)
        for tree, twin in pairs
        for mine, yours in zip(tree.nodes, twin.nodes, strict=True)
    )
