"""The labels in the leaves of a grown tree.

A tree is grown on objects that count with the information of their labels. In a leaf the few certain labels would then
hide all others, and what the leaf says would depend on whether it has one. So most of a leaf's PMF is the mean that
does without: a plain mean of labels is q T with one T for all leaves (see `label_truth`).
"""

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from ..kernels.layout import Cells, Nodes
from ..kernels.route import route
from .label_truth import INFORMATION_SHARE

_BLOCK = 8192  # objects whose ways through the tree are in memory


def with_plain_means(
    nodes: Nodes, cells: Cells, pmf: np.ndarray, weight: np.ndarray, information: np.ndarray, keep_proba: float
) -> Nodes:
    """Replace the PMFs of leaves, grown on `weight` (n,), by means that are mostly weighted by weight / information.

    The PMFs (n, k) of inner nodes, which no prediction uses, stay. Nothing changes if labels count alike.
    """
    if (information == 1.0).all():
        return nodes
    masses = np.zeros(nodes.value.shape)
    for block, reach in _reaches(nodes, cells, np.flatnonzero(weight > 0), keep_proba):
        masses += reach.T @ (pmf[block] * (weight[block] / information[block])[:, None])
    total = masses.sum(axis=1)
    reached = total > 0
    value = nodes.value.copy()
    value[reached] *= INFORMATION_SHARE
    value[reached] += (1 - INFORMATION_SHARE) * masses[reached] / total[reached, None]
    return nodes._replace(value=value)


def _reaches(
    nodes: Nodes, cells: Cells, rows: np.ndarray, keep_proba: float
) -> Iterator[tuple[np.ndarray, sparse.csr_matrix]]:
    """π of objects (a block of `rows`) in nodes (columns)."""
    for first in range(0, len(rows), _BLOCK):
        block = rows[first : first + _BLOCK]
        values = cells.values[block]
        row, leaf, reach = route(cells._replace(values=values), nodes, keep_proba)
        yield block, sparse.csr_matrix((reach, (row, leaf)), shape=(len(values), len(nodes.value)))
