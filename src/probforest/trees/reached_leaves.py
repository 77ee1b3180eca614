"""The leaves of all trees of a regressor, with their targets and slopes, and which of them objects reach."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ..kernels.layout import Cells
from .fitted_tree import FittedTree
from .leaf_slopes import Scales, stacked_slopes
from .leaf_targets import stacked
from .leaves import leaf_probabilities

_ROUTES = 400_000  # ways of objects through trees that are in memory, if each object reached one leaf
_FEWEST, _MOST = 256, 16_384  # objects that go down the trees together


class Reached(NamedTuple):
    """Where some of the objects of a table are."""

    rows: slice
    probability: sparse.csr_matrix  # (n, all leaves), a sum of 1 for each tree; leaves of a tree in no order
    shift: np.ndarray | None  # (n,) how far slopes move the targets; None: there are no slopes


class ReachedLeaves:
    """What distributions of objects are made of; the same for all tables."""

    def __init__(
        self, trees: Sequence[FittedTree], keep_proba: float, n_jobs: int | None = None, scales: Scales | None = None
    ) -> None:
        self._trees, self._keep_proba, self._n_jobs = list(trees), keep_proba, n_jobs
        self.targets, self.shares = stacked([tree.targets for tree in trees if tree.targets is not None])
        self.slopes = None if scales is None else stacked_slopes([tree.slopes for tree in trees], scales)

    def by(self, query: Cells) -> Iterator[Reached]:
        """The leaves that the objects of a table reach, some objects after the other."""
        block = int(np.clip(_ROUTES // len(self._trees), _FEWEST, _MOST))
        for top in range(0, len(query.values), block):
            part = query._replace(values=query.values[top : top + block])
            how = self._keep_proba, self._n_jobs
            reach = leaf_probabilities(self._trees, part, *how, scaled=True, in_order=False)
            shift = None if self.slopes is None else self.slopes.shift(part, reach)
            yield Reached(slice(top, top + reach.shape[0]), reach, shift)
