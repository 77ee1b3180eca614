"""The dtypes, integer codes and bundles of arrays that the kernels share, each with its reason.

A bundle is a NamedTuple: Numba passes it as one argument, and it costs nothing inside a kernel.
All dtypes have a fixed width, so that a fitted tree means the same on every platform.
"""

from typing import NamedTuple

import numpy as np

INDEX = np.int32  # objects and nodes: 2e9 of either is more than fits in memory
REAL = np.float64  # values keep their full precision: a feature may have a large offset and a small spread

GINI, ENTROPY = 0, 1
EQUAL, OBSERVED, LEARNED = 0, 1, 2

LEAF = -1  # `feature` of a leaf, `left` and `right` too
GRID_POINTS = 7  # mean, ±1σ, ±2σ, ±3σ; a constant, so that the compiler unrolls the loops over it
CODE_SLOTS = 8  # the codes of a cell, and one unused: eight bytes are fetched at once

# Two costs closer than this (relative to the node's weight) are the same cost. Sums of the same masses in
# another order differ by about 1e-16 per term; without the margin, the order of rows would decide ties.
SAME_COST = 1e-11
# Weights are sums of rounded probabilities: "at least one object" must not fail at 0.9999999999.
SAME_WEIGHT = 1e-9


class Cells(NamedTuple):
    """The distributions of a table, feature-major, so that a node reads one contiguous row."""

    values: np.ndarray  # (d, n, 2) float64, centre and 1/σ side by side; (d, n, 1) when all cells are exact
    # A NaN as centre: the cell is missing. An infinite 1/σ: it is exact.


class Query(NamedTuple):
    """The distributions of a table, object-major, so that an object's way down a tree reads one contiguous row."""

    center: np.ndarray  # (n, d) float64; NaN: the cell is missing
    inverse_scale: np.ndarray  # (n, d) float64, 1/σ, inf: exact; (0, 0) when all cells are exact


class Bins(NamedTuple):
    """The grid points of every training cell as bin codes."""

    codes: np.ndarray  # (d, n, CODE_SLOTS) uint8 or uint16, the last slot unused; (d, n, 1) when all cells are exact
    low: np.ndarray  # (d, n_bins) smallest grid point in the bin; NaN beyond the bins of the feature
    high: np.ndarray  # (d, n_bins) largest grid point in the bin
    missing_code: int  # the code of a missing cell, above all bins


class Labels(NamedTuple):
    """The label of every training object, hard or soft."""

    class_index: np.ndarray  # (n,) int32, the class of a hard label
    pmf: np.ndarray  # (n, k) float64; (0, k) when all labels are hard


class Rules(NamedTuple):
    """When a node is split, and how."""

    criterion: int
    missing: int
    max_features: int
    max_depth: int
    min_split_weight: float
    min_leaf_weight: float
    min_impurity_decrease: float
    keep_proba: float


class Shape(NamedTuple):
    """The standard distribution of a family: its grid and its tabulated F."""

    grid: np.ndarray  # (GRID_POINTS,) offsets of the grid points in units of σ
    chunk: np.ndarray  # (GRID_POINTS,) probability between a grid point and the one before it
    table: np.ndarray  # F on an even grid over ±TABLE_REACH


class Members(NamedTuple):
    """The objects in the nodes under way, a stack of segments."""

    row: np.ndarray  # int32, the object: its row in the table
    reach: np.ndarray  # float64, π: the probability that it reaches the node
    mass: np.ndarray  # float64, w π
    main: np.ndarray  # bool, whether the node lies on the object's most probable path


class Nodes(NamedTuple):
    """A tree in depth-first order, a row per node; the left child of node i is i + 1.

    Few arrays with columns, not many arrays: half the time to compile, and a visit of a node reads one place.
    """

    links: np.ndarray  # (n_nodes, 3) int32, columns FEATURE, LEFT, RIGHT
    numbers: np.ndarray  # (n_nodes, 6) float64, columns THRESHOLD to DECREASE
    value: np.ndarray  # (n_nodes, k) float64, class probabilities


FEATURE, LEFT, RIGHT = 0, 1, 2  # all LEAF in a leaf
THRESHOLD = 0  # NaN in a leaf
MISSING_LEFT = 1  # probability that a missing cell goes left; NaN in a leaf
SHARE_LEFT = 2  # share of the node's training weight that goes left; NaN in a leaf
WEIGHT = 3  # expected number of training objects
IMPURITY = 4
DECREASE = 5  # impurity minus the cost of the split; 0 in a leaf


class Path(NamedTuple):
    """One object on its way down a tree: the nodes that wait for it, and the leaves that it has reached."""

    node: np.ndarray  # int32
    reach: np.ndarray  # float64
    main: np.ndarray  # bool
    leaf: np.ndarray  # int32
    leaf_reach: np.ndarray  # float64


class Visits(NamedTuple):
    """Which leaves the objects of a table reached, object by object."""

    row: np.ndarray  # int32, the object
    leaf: np.ndarray  # int32, node number
    reach: np.ndarray  # float64


def real_empty(*shape: int) -> np.ndarray:
    """An unused array argument: a kernel has one signature, so absence is a size of zero."""
    return np.empty(shape, dtype=REAL)
