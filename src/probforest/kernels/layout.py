"""The dtypes, integer codes and bundles of arrays that the kernels share, each with its reason.

A bundle is a NamedTuple: Numba passes it as one argument, and it costs nothing inside a kernel.
All dtypes have a fixed width, so that a fitted tree means the same on every platform.
"""

from typing import NamedTuple

import numpy as np

INDEX = np.int32  # objects and nodes: 2e9 of either is more than fits in memory
REAL = np.float64  # values keep their full precision: a feature may have a large offset and a small spread

GINI, ENTROPY, VARIANCE, NEWTON = 0, 1, 2, 3  # see statistic.py
CRITERIA = {"gini": GINI, "entropy": ENTROPY}  # those of classes, by the names that users give
NUMBER_CRITERIA = {"squared_error": VARIANCE}  # those of numbers
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


# The kind of cells in a table is how many numbers each takes.
EXACT_CELLS = 1  # the value
NORMAL_CELLS = 2  # centre, 1/σ
FAMILY_CELLS = 3  # centre, 1/σ below it, 1/σ above it, of any family
TABULATED_CELLS = 4  # the same, and where the cell's own table begins; -1 - b: it has a family's, which begins at b
OWN_TABLE = 3  # the place of that number


class Cells(NamedTuple):
    """The distributions of a table, an object after the other: it is read in few places at a time, which then lie close
    together."""

    values: np.ndarray  # (n, d, kind) float64. NaN as centre: the cell is missing. Infinite 1/σ: it is exact.
    table: np.ndarray  # F of the families one after the other, then F of cells that belong to none; see cdf
    start: np.ndarray  # (d,) int64, where the table of the feature's family begins
    complete: bool  # whether no cell is missing


class CellColumns(NamedTuple):
    """The same, a feature after the other: a split reads one feature of many objects, which then lie close together."""

    values: np.ndarray  # (d, n, 1, kind), of each feature the `values` of a table with no other feature
    table: np.ndarray
    start: np.ndarray
    complete: bool


class Column(NamedTuple):
    """The distributions of one feature."""

    center: np.ndarray  # (n,) float64; NaN: missing
    lower: np.ndarray  # (n,) σ below the centre; 0: exact
    upper: np.ndarray  # (n,) σ above it; both (0,) when all cells are exact
    points_row: np.ndarray  # (n,) int64, row in `points` of a cell without a family, -1 for others; (0,): all have one
    points: np.ndarray  # (n_free, GRID_POINTS), grid points of the cells without a family


class MeasuredCell(NamedTuple):
    """One cell of a family, when its posterior is computed."""

    center: float
    inverse_lower: float  # 1/σ below the centre
    inverse_upper: float  # 1/σ above it
    table: np.ndarray  # (TABLE_STEPS + 1,) F of the family, squashed


class Mixture(NamedTuple):
    """K normal distributions in d dimensions."""

    share: np.ndarray  # (K,) > 0, of all objects; sums to 1
    mean: np.ndarray  # (K, d)
    covariance: np.ndarray  # (K, d, d), symmetric and positive definite


class MixtureSums(NamedTuple):
    """What the E step of the EM algorithm adds up over objects. The kernel adds up other sums, from which these follow:
    see mixture.py."""

    mass: np.ndarray  # (K,) weights × the probability that the object is of this component
    first: np.ndarray  # (K, d) mass × the expected true values; in the kernel mass × r
    second: np.ndarray  # (K, d, d) mass × their expected products; in the kernel mass × (r rᵀ − A⁻¹), upper triangles
    log_likelihood: np.ndarray  # ()


class MixtureSpace(NamedTuple):
    """Scratch space for some objects, one in each of L lanes; see mixture.py."""

    place: np.ndarray  # (d, L) o; 0 in dimensions that were not measured
    variance: np.ndarray  # (d, L) v; 1 in dimensions that were not measured
    seen: np.ndarray  # (d, L) 1 in dimensions that were measured, 0 in others
    n_seen: np.ndarray  # (L,) number of the former; later, weights of objects
    has_holes: np.ndarray  # (d,) bool, dimensions that some of the objects were not measured in
    factor: np.ndarray  # (K, d + 1, d, L) for each component the lower triangle of the root of A, and its y
    scale: np.ndarray  # (K, d, L) one over its diagonal; 0 in dimensions that were not measured
    inverse: np.ndarray  # (d, d, L) the upper triangle of its transposed inverse, of one component
    minus_residual: np.ndarray  # (d, L) −r of one component
    row: np.ndarray  # (d, L) for any step
    volume: np.ndarray  # (1, L) the determinant of A, and for any step
    mean: np.ndarray  # (K, d, L) of true values, by component
    spread: np.ndarray  # (K, d, L) their variances
    moments: np.ndarray  # (2, L) mean and variance in one dimension
    log_density: np.ndarray  # (K, L)
    shares: np.ndarray  # (K, L) the probabilities of the components
    used: np.ndarray  # (K,) bool, components that one of the objects may be of


class Bins(NamedTuple):
    """The grid points of every training cell as bin codes."""

    codes: np.ndarray  # (n, d, CODE_SLOTS) uint8 or uint16, the last slot unused; (n, d, 1) when all cells are exact
    words: np.ndarray  # (n, d) uint64, the same memory if that is eight bytes per cell; (0, d) otherwise
    n_bins: np.ndarray  # (d,) int64, number of bins of the feature
    low: np.ndarray  # (d, n_bins) smallest grid point in the bin; NaN beyond the bins of the feature
    high: np.ndarray  # (d, n_bins) largest grid point in the bin
    missing_code: int  # the code of a missing cell, above all bins
    chunk: np.ndarray  # (GRID_POINTS,) the probability between a grid point and the one before it, of all families


class Target(NamedTuple):
    """What the trees learn about every training object.

    `columns` are what a node adds up, each member with its weight: class probabilities, (y, 1) or (g, h, 1). One type
    for all of them: every kernel is compiled once. Costs closer than SAME_COST are ties, so y and g must be of order 1,
    and y centred, as a node keeps no sum of squares.
    """

    class_index: np.ndarray  # (n,) int32, the class of a hard label; not used where there are columns
    columns: np.ndarray  # (n, n_columns) float64; (0, k) when all labels are hard


class Rules(NamedTuple):
    """When a node is split, and how."""

    criterion: int
    missing: np.ndarray  # (d,) int64, EQUAL, OBSERVED or LEARNED for each feature
    max_features: int
    max_depth: int
    min_split_weight: float
    min_leaf_weight: float
    min_impurity_decrease: float
    keep_proba: float
    regularisation: float  # λ of NEWTON, 0 for the others
    min_leaf_hessian: float = 0.0  # a side of NEWTON needs more: its step would be a division by nearly nothing
    # (d,) int64 of NEWTON: 1, -1 or 0 where answers must rise or fall with the feature, or may do both; (0,): all may
    monotonic: np.ndarray = np.empty(0, dtype=np.int64)


class Members(NamedTuple):
    """The objects in the nodes under way, a stack of segments."""

    row: np.ndarray  # int32, the object: its row in the table
    reach: np.ndarray  # float64, π: the probability that it reaches the node
    mass: np.ndarray  # float64, w π
    main: np.ndarray  # bool, whether the node lies on the object's most probable path
    class_index: np.ndarray  # int32, its hard label: carried along, as it would have to be fetched from far


class NodeMass(NamedTuple):
    """What the members of the node under way weigh; arrays as long as the largest node."""

    mass: np.ndarray  # (n,) w π
    class_index: np.ndarray  # (n,) int32, for hard labels
    columns: np.ndarray  # (n, n_lanes) mass × the columns of the target, 0 beyond the last; (0, n_lanes): hard labels
    total: np.ndarray  # (n_columns,) sums over the members
    to_left: np.ndarray  # (n,) probability to go left at the split of the node
    scratch: np.ndarray  # (2, SCRATCH) see left_probabilities
    steps: np.ndarray  # (SCRATCH,) int32, the same


class Search(NamedTuple):
    """Scratch space of the search.

    Features take the slots 0, 1, … in the order in which they are drawn. In a slot, cuts are numbered from left to
    right: one behind each bin, or only behind the occupied ones, which are listed then. That is faster where few bins
    are occupied; both give the same split. What `cuts` holds of a slot stays until the next node, for a second look.
    """

    histogram: np.ndarray  # sums per bin, see histogram.py; all zero between two searches
    occupied: np.ndarray  # (n_bins,) uint8, which bins hold something; all zero between two searches
    occupied_words: np.ndarray  # the same memory, eight bins at a time
    missing: np.ndarray  # (n_columns,) sums over the missing cells
    left: np.ndarray  # (n_columns, n_bins) sums over the observed cells to the left of each cut
    sides: np.ndarray  # (2, n_bins) sum of squares on each side
    bin: np.ndarray  # (d, n_bins + 9) int64, the bin to the left of each cut, where they are listed
    cuts: np.ndarray  # (d, 4, n_bins) numbers of each cut, rows OBSERVED to SCORE + 2
    slots: np.ndarray  # (d, 3) columns N_CUTS to MISSING_WEIGHT of each slot
    words: np.ndarray  # (SCRATCH,) uint64, codes of members
    order: np.ndarray  # (d,) a permutation of the features: those in the slots come first
    state: np.ndarray  # (1,) of the random generator
    stored: (
        np.ndarray
    )  # (n_stored, d, n_bins + 1, n_lanes) histograms of whole nodes; (0, ...): none, members are added
    in_use: np.ndarray  # (1,) int64, which of them is that of the node
    bounds: np.ndarray  # (2,) the least and the largest value that the children of the node may have, if some are bound


class Histogram(NamedTuple):
    """The part of a Search that members are added to."""

    sums: np.ndarray  # per bin, see histogram.py
    occupied: np.ndarray  # (n_bins,) uint8
    missing: np.ndarray  # (n_columns,)
    n_bins: int


class Cuts(NamedTuple):
    """The cuts of one feature of a node, and what lies to the left of each."""

    n_cuts: int
    left: np.ndarray  # (n_columns, n_cuts or more) sums over the observed members to the left
    weight: np.ndarray  # (n_cuts or more,) their weight
    missing: np.ndarray  # (n_columns,) sums over the members whose cell is missing
    missing_weight: float
    total: np.ndarray  # (n_columns,) sums over all members
    total_weight: float
    share_scale: float  # of the missing members, the share `share_scale` × weight + `share_offset` goes left
    share_offset: float
    direction: int  # of `Rules.monotonic` for this feature
    bounds: np.ndarray  # as in Search


class Nodes(NamedTuple):
    """A tree in depth-first order, a row per node. The left child of node i is node i + 1.

    What every visit of a node reads is kept small and together, so that it stays in the cache.
    """

    links: np.ndarray  # (n_nodes, 2) int32, columns FEATURE and RIGHT, the right child; both LEAF in a leaf
    threshold: np.ndarray  # (n_nodes,) float64, NaN in a leaf
    shares: np.ndarray  # (n_nodes, 2) float64, columns MISSING_LEFT and SHARE_LEFT; NaN in a leaf
    summary: np.ndarray  # (n_nodes, 3) float64, columns WEIGHT, IMPURITY and DECREASE
    value: np.ndarray  # (n_nodes, k) float64, class probabilities; (n_nodes, 1), mean of y or Newton step


FEATURE, RIGHT = 0, 1
MISSING_LEFT = 0  # probability that a missing cell goes left
SHARE_LEFT = 1  # share of the node's training weight that goes left
WEIGHT = 0  # expected number of training objects
IMPURITY = 1
DECREASE = 2  # impurity minus the cost of the split; 0 in a leaf


class Wave(NamedTuple):
    """Objects on their way down a tree, all on the same level; an object may be in several nodes of it."""

    at: np.ndarray  # int64, object × 2³² + node: one number, as an entry is copied at every level
    reach: np.ndarray  # float64, π: the probability that it reaches the node; −π on its most probable path


class WalkSpace(NamedTuple):
    """Space for objects that walk down a tree together."""

    wave: Wave
    after: Wave  # the level below
    leaves: Wave  # entries that have come to a leaf, all with π
    scratch: np.ndarray  # (3, SCRATCH), see left_probabilities_at
    steps: np.ndarray  # (SCRATCH,) int32, the same
    right: np.ndarray  # (SCRATCH,) int64, see advance
    answer: np.ndarray  # (n_rows, k + 1), class masses and their sum for each of the objects; n_rows may walk together


class Visits(NamedTuple):
    """Which leaves the objects of a table reached, in no order."""

    row: np.ndarray  # int32, the object
    leaf: np.ndarray  # int32, node number
    reach: np.ndarray  # float64


def real_empty(*shape: int) -> np.ndarray:
    """An unused array argument: a kernel has one signature, so absence is a size of zero."""
    return np.empty(shape, dtype=REAL)
