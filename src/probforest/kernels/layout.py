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

LEAF = -1  # `feature` of a leaf, and its right child
GRID_POINTS = 7  # mean, ±1σ, ±2σ, ±3σ; a constant, so that the compiler unrolls the loops over it
CODE_SLOTS = 8  # the codes of a cell, and one unused: eight bytes are fetched at once
FREE_STEPS = 32  # steps of the table of a cell that belongs to no family

SCRATCH = 256  # entries of a loop's scratch space: it stays in the fastest cache

# Two costs closer than this (relative to the node's weight) are the same cost. Sums of the same masses in
# another order differ by about 1e-16 per term; without the margin, the order of rows would decide ties.
SAME_COST = 1e-11
# Weights are sums of rounded probabilities: "at least one object" must not fail at 0.9999999999.
SAME_WEIGHT = 1e-9


class Cells(NamedTuple):
    """The distributions of a table, an object after the other: it is read in few places at a time, which then lie close
    together."""

    values: np.ndarray  # (n, d, 1) float64, the values, when all cells are exact
    # (n, d, 2), centre and 1/σ side by side, when all are normal; (n, d, 3), centre, 1/σ below it and above, of any
    # family; (n, d, 4), and where the cell's own table begins, -1 for that of its family. An infinite 1/σ: the cell is
    # exact. A NaN as centre: it is missing.
    table: np.ndarray  # F of the families one after the other, then F of cells that belong to none; see cdf
    start: np.ndarray  # (d,) int64, where the table of the feature's family begins
    complete: bool  # whether no cell is missing


class Column(NamedTuple):
    """The distributions of one feature."""

    center: np.ndarray  # (n,) float64; NaN: missing
    lower: np.ndarray  # (n,) σ below the centre; 0: exact
    upper: np.ndarray  # (n,) σ above it; both (0,) when all cells are exact
    number: np.ndarray  # (n,) int64, row of a cell without a family in `points`, -1 for the others; (0,): there is none
    points: np.ndarray  # (n_free, GRID_POINTS), its grid points


class Bins(NamedTuple):
    """The grid points of every training cell as bin codes."""

    codes: np.ndarray  # (n, d, CODE_SLOTS) uint8 or uint16, the last slot unused; (n, d, 1) when all cells are exact
    words: np.ndarray  # (n, d) uint64, the same memory if that is eight bytes per cell; (0, d) otherwise
    n_bins: np.ndarray  # (d,) int64, number of bins of the feature
    low: np.ndarray  # (d, n_bins) smallest grid point in the bin; NaN beyond the bins of the feature
    high: np.ndarray  # (d, n_bins) largest grid point in the bin
    missing_code: int  # the code of a missing cell, above all bins
    chunk: np.ndarray  # (GRID_POINTS,) the probability between a grid point and the one before it, of all families


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


class Members(NamedTuple):
    """The objects in the nodes under way, a stack of segments."""

    row: np.ndarray  # int32, the object: its row in the table
    reach: np.ndarray  # float64, π: the probability that it reaches the node
    mass: np.ndarray  # float64, w π
    main: np.ndarray  # bool, whether the node lies on the object's most probable path
    class_index: np.ndarray  # int32, its hard label: carried along, as it would have to be fetched from far


class Nodes(NamedTuple):
    """A tree in depth-first order, a row per node. The left child of node i is node i + 1.

    What every visit of a node reads is kept small and together, so that it stays in the cache.
    """

    links: np.ndarray  # (n_nodes, 2) int32, columns FEATURE and RIGHT, the right child; both LEAF in a leaf
    threshold: np.ndarray  # (n_nodes,) float64, NaN in a leaf
    shares: np.ndarray  # (n_nodes, 2) float64, columns MISSING_LEFT and SHARE_LEFT; NaN in a leaf
    facts: np.ndarray  # (n_nodes, 3) float64, columns WEIGHT to DECREASE
    value: np.ndarray  # (n_nodes, k) float64, class probabilities


FEATURE, RIGHT = 0, 1
MISSING_LEFT = 0  # probability that a missing cell goes left
SHARE_LEFT = 1  # share of the node's training weight that goes left
WEIGHT = 0  # expected number of training objects
IMPURITY = 1
DECREASE = 2  # impurity minus the cost of the split; 0 in a leaf


class Wave(NamedTuple):
    """Objects on their way down a tree, all on the same level; an object may be in several nodes of it."""

    row: np.ndarray  # int32, the object
    node: np.ndarray  # int32, where it is
    reach: np.ndarray  # float64, π: the probability that it reaches the node
    main: np.ndarray  # bool, whether the node lies on its most probable path


class WalkSpace(NamedTuple):
    """Space for objects that walk down a tree together."""

    wave: Wave
    after: Wave  # the level below
    leaves: Wave  # entries that have come to a leaf; their `main` is not filled
    to_left: np.ndarray  # (SCRATCH,)
    answer: np.ndarray  # (n_rows, k + 1), class masses and their sum for each of the objects; n_rows may walk together


class Visits(NamedTuple):
    """Which leaves the objects of a table reached, in no order."""

    row: np.ndarray  # int32, the object
    leaf: np.ndarray  # int32, node number
    reach: np.ndarray  # float64


def real_empty(*shape: int) -> np.ndarray:
    """An unused array argument: a kernel has one signature, so absence is a size of zero."""
    return np.empty(shape, dtype=REAL)
