"""Distributions that are right in the mean: learnt from the objects that trees did not draw.

If the distributions F of a forest are right, F(y) of true targets is uniform. G, how F(y) is really distributed, tells
what to correct: G(F) is uniform for objects like those of the training set.
"""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from ..kernels.layout import Cells
from ..support.threads import in_threads
from .bootstrap import Draw, SampleDraw
from .error_trial import reach_of_left_out
from .fitted_tree import FittedTree
from .leaf_targets import stacked
from .weighted_targets import weigh_targets

LEVELS = np.linspace(0.0, 1.0, 129)  # at which G is kept
MOST_OBJECTS = 5000  # that it is learnt from: it is known to 0.7 % then
_FEWEST_OBJECTS = 20
_SEED = 1  # of the sample: the same in every fit


def learn_calibration(
    judges: Sequence[tuple[FittedTree, Draw | SampleDraw]],
    query: Cells,
    y: np.ndarray,
    weight: np.ndarray,
    keep_proba: float,
    n_jobs: int | None = None,
) -> np.ndarray | None:
    """G at LEVELS, from trees and what each of them drew of the objects `query` with targets `y` (n,) and `weight`
    (n,); None if there are too few objects to learn it from."""
    rows = _sample(len(y))
    asked = query._replace(values=query.values[rows])

    def reach_of(judge: tuple[FittedTree, Draw | SampleDraw]) -> sparse.csr_matrix:
        tree, draw = judge
        return reach_of_left_out(tree, draw.counts()[rows] == 0, asked, keep_proba)

    reach = sparse.hstack(list(in_threads(reach_of, judges, n_jobs)), format="csr")
    judged = np.flatnonzero(np.diff(reach.indptr))
    if len(judged) < _FEWEST_OBJECTS:
        return None
    pit = np.empty(len(judged))
    targets = [tree.targets for tree, _ in judges if tree.targets is not None]
    for piece, distributions in weigh_targets(reach[judged], *stacked(targets)):
        truth = y[rows[judged[piece]], None]
        middle = (distributions.cdf(truth) + distributions.cdf(truth, below=True))[:, 0] / 2
        pit[piece] = distributions.as_probabilities(middle)
    return _share_up_to(pit, weight[rows[judged]])


def _sample(n_objects: int) -> np.ndarray:
    if n_objects <= MOST_OBJECTS:
        return np.arange(n_objects)
    return np.sort(np.random.default_rng(_SEED).choice(n_objects, MOST_OBJECTS, replace=False))


def _share_up_to(pit: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The share of the weight with `pit` up to each of the LEVELS; 0 at the first, 1 at the last."""
    order = np.argsort(pit, kind="stable")
    below = np.concatenate([[0.0], np.cumsum(weight[order])])
    share = below[np.searchsorted(pit[order], LEVELS, side="right")] / below[-1]
    share[0], share[-1] = 0.0, 1.0
    return share
