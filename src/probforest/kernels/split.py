"""The best split of a node (paper, appendix "Best split search")."""

import math
from typing import NamedTuple

import numpy as np

from .arrays import total
from .cuts import (
    best_cut,
    forbid,
    list_occupied,
    occupied_range,
    score_entropy,
    score_gini,
    sum_left,
    sum_left_of_listed,
)
from .dice import draw_below
from .histogram import LANES, add_listed, add_soft, add_words
from .jit import inlined, kernel
from .layout import EQUAL, GINI, INDEX, LEAF, LEARNED, REAL, SAME_COST, SCRATCH, Bins


class NodeMass(NamedTuple):
    """What the members of the node under way weigh; arrays as long as the largest node."""

    mass: np.ndarray  # (n,) w π
    class_index: np.ndarray  # (n,) int32, for hard labels
    class_mass: np.ndarray  # (n, n_columns) w π p, for soft labels, 0 beyond the last class; (0, n_columns) otherwise
    total: np.ndarray  # (k,) M_c
    to_left: np.ndarray  # (n,) probability to go left at the split of the node
    scratch: np.ndarray  # (2, SCRATCH) see left_probabilities


class Search(NamedTuple):
    """Scratch space of the search.

    Features take the slots 0, 1, … in the order in which they are drawn. In a slot, cuts are numbered from left to
    right: one behind each bin, or only behind the occupied ones, which are listed then. That is faster where few bins
    are occupied; both give the same split. What `cuts` holds of a slot stays until the next node, for a second look.
    """

    histogram: np.ndarray  # class masses per bin, see histogram.py; all zero between two searches
    occupied: np.ndarray  # (n_bins,) uint8, which bins hold something; all zero between two searches
    occupied_words: np.ndarray  # the same memory, eight bins at a time
    missing: np.ndarray  # (k,) masses of the missing cells
    left: np.ndarray  # (k, n_bins) class masses of the observed cells to the left of each cut
    sides: np.ndarray  # (2, n_bins) what the classes add to the score of each side
    bin: np.ndarray  # (d, n_bins + 9) int64, the bin to the left of each cut, where they are listed
    cuts: np.ndarray  # (d, 4, n_bins) numbers of each cut, rows OBSERVED to SCORE + 2
    slots: np.ndarray  # (d, 3) columns N_CUTS to MISSING_WEIGHT of each slot
    words: np.ndarray  # (SCRATCH,) uint64, codes of members
    order: np.ndarray  # (d,) a permutation of the features: those in the slots come first
    state: np.ndarray  # (1,) of the random generator


FEW_MEMBERS = 32  # so many occupy few bins
# Rows of a slot in `Search.cuts`.
OBSERVED = 0  # weight of the observed cells to the left
SCORE = 1  # score of the cut, for each of up to three ways to treat missing cells; -inf: not allowed
# Columns of `Search.slots`.
N_CUTS = 0
FIRST_BIN = 1  # the bin of the first cut; -1: the bins are listed
MISSING_WEIGHT = 2


class Split(NamedTuple):
    score: float
    feature: int  # LEAF: no valid split
    threshold: float
    missing_left: float  # NaN: the observed share


@inlined
def midpoint(low, high):
    """The threshold between two neighbours, low <= t < high even where the sum would overflow or round up."""
    middle = 0.5 * low + 0.5 * high
    return middle if low <= middle < high else low


@inlined
def way_of_missing(way, rule, observed):
    """The share of the missing cells that goes left is scale × (observed weight to the left) + offset.

    The ways: by the rule (half, or the observed share); when it is learned also all right and all left.
    """
    if way > 0:
        return 0.0, float(way - 1)
    return (0.0, 0.5) if rule == EQUAL else (1.0 / observed, 0.0)


@inlined
def fill_slot(search, slot, bins, feature, index, node):
    """Add up the members, and find the masses to the left of each cut of the feature."""
    histogram, occupied, missing, left = search.histogram, search.occupied, search.missing, search.left
    codes, missing_code, chunk = bins.codes, bins.missing_code, bins.chunk
    for c in range(missing.shape[0]):
        missing[c] = 0.0
    n_classes, n_bins = left.shape
    class_step, bin_step = n_bins, 1
    listed = bins.words.shape[0] == 0 or index.shape[0] <= FEW_MEMBERS
    if node.class_mass.shape[0] > 0:
        listed = True
        class_step, bin_step = 1, node.class_mass.shape[1]
        add_soft(codes, feature, missing_code, index, node.class_mass, chunk, histogram, occupied, missing)
    elif listed:
        labels = node.class_index
        add_listed(codes, feature, missing_code, index, node.mass, labels, chunk, n_bins, histogram, occupied, missing)
    else:
        words, labels = bins.words, node.class_index
        add_words(
            words, feature, missing_code, index, node.mass, labels, chunk, n_bins, search.words, histogram, missing
        )
    observed = search.cuts[slot, OBSERVED]
    first_bin = 0
    if listed:
        n_cuts = list_occupied(occupied, search.occupied_words, search.bin[slot])
        sum_left_of_listed(histogram, class_step, bin_step, search.bin[slot], n_cuts, left, observed)
    else:
        first_bin, n_cuts = occupied_range(histogram, bins.n_bins[feature], n_classes, n_bins)
        sum_left(histogram, n_bins, first_bin, n_cuts, left, observed)
    search.slots[slot, N_CUTS] = n_cuts
    search.slots[slot, FIRST_BIN] = -1 if listed else first_bin
    search.slots[slot, MISSING_WEIGHT] = total(missing)


@inlined
def score_slot(search, slot, way, n_cuts, node, node_weight, rules, least, again):
    """Score the cuts of a slot for one way to treat missing cells; -inf where a side weighs less than `least`.
    With `again` they have their scores already."""
    observed, score = search.cuts[slot, OBSERVED], search.cuts[slot, SCORE + way]
    missing_weight = search.slots[slot, MISSING_WEIGHT]
    scale, offset = way_of_missing(way, rules.missing, observed[n_cuts - 1])
    left, missing = search.left, search.missing
    if again:
        forbid(n_cuts, observed, scale, offset, missing_weight, node_weight, least, score)
    elif rules.criterion == GINI:
        score_gini(
            n_cuts,
            left,
            observed,
            scale,
            offset,
            missing,
            missing_weight,
            node.total,
            node_weight,
            least,
            search.sides,
            score,
        )
    else:
        score_entropy(
            n_cuts, left, observed, scale, offset, missing, missing_weight, node.total, node_weight, least, score
        )
    if way != 1:
        # Behind the last cut there is nothing observed. It is a split only where all missing cells go right:
        # missingness itself as the feature.
        score[n_cuts - 1] = -math.inf
    return best_cut(n_cuts, score, SAME_COST * node_weight)


@inlined
def split_at(search, slot, cut, way, n_cuts, bins, rule):
    """The split of a cut: its threshold lies midway to the next bin that holds something."""
    cuts, feature = search.cuts, search.order[slot]
    next_cut, first_bin = cut + 1, np.int64(search.slots[slot, FIRST_BIN])
    if first_bin >= 0:  # there are cuts behind empty bins, too
        while next_cut < n_cuts and cuts[slot, OBSERVED, next_cut] == cuts[slot, OBSERVED, cut]:
            next_cut += 1
    threshold = math.inf
    if next_cut < n_cuts:
        here = search.bin[slot, cut] if first_bin < 0 else first_bin + cut
        there = search.bin[slot, next_cut] if first_bin < 0 else first_bin + next_cut
        threshold = midpoint(bins.high[feature, here], bins.low[feature, there])
    missing_left = 0.5 if rule == EQUAL else math.nan
    if way > 0:
        missing_left = float(way - 1)
    return Split(cuts[slot, SCORE + way, cut], feature, threshold, missing_left)


@kernel
def split_node(index, node, bins, search, rules, least, n_drawn):
    """The best split whose sides weigh at least `least`, over `max_features` features drawn at random, and over more
    while none of them has a valid one. All features are taken in their order when all are asked for: such a tree
    does not depend on a seed.

    With `n_drawn` > 0, it is the next best: the same features and scores as before, and a larger `least`.
    Returns the split and the number of features it was searched on.
    """
    n_features = search.order.shape[0]
    node_weight = total(node.total)
    best = Split(-math.inf, LEAF, math.nan, math.nan)
    margin = SAME_COST * node_weight
    again = n_drawn > 0
    slot = 0
    while slot < (n_drawn if again else n_features):
        if not again:
            if slot >= rules.max_features and best.feature != LEAF:
                break
            if rules.max_features < n_features:
                swap = slot + draw_below(search.state, n_features - slot)
                search.order[slot], search.order[swap] = search.order[swap], search.order[slot]
            fill_slot(search, slot, bins, search.order[slot], index, node)
        n_cuts = np.int64(search.slots[slot, N_CUTS])
        n_ways = 3 if rules.missing == LEARNED and search.slots[slot, MISSING_WEIGHT] > 0.0 else 1
        best_cut_here = n_cuts
        for way in range(n_ways if n_cuts > 0 else 0):
            cut = score_slot(search, slot, way, n_cuts, node, node_weight, rules, least, again)
            lead = search.cuts[slot, SCORE + way, cut] - best.score if cut >= 0 else -math.inf
            # Of equally good splits the first: first feature, then first cut, then first way.
            if lead > margin or (lead >= -margin and best_cut_here < n_cuts and cut < best_cut_here):
                best, best_cut_here = split_at(search, slot, cut, way, n_cuts, bins, rules.missing), cut
        slot += 1
    return best, slot


# Not kernels: arrays that are made in Python need not be compiled.
def new_node_mass(capacity: int, n_classes: int, hard: bool) -> NodeMass:
    n_columns = -(-n_classes // LANES) * LANES
    return NodeMass(
        mass=np.empty(capacity, dtype=REAL),
        class_index=np.empty(capacity, dtype=INDEX),
        class_mass=np.zeros((0 if hard else capacity, n_columns), dtype=REAL),
        total=np.empty(n_classes, dtype=REAL),
        to_left=np.empty(capacity, dtype=REAL),
        scratch=np.empty((2, SCRATCH), dtype=REAL),
    )


def new_search(bins: Bins, n_classes: int, seed: int) -> Search:
    n_features, n_bins = bins.low.shape
    n_columns = -(-n_classes // LANES) * LANES
    occupied_words = np.zeros(n_bins // 8 + 1, dtype=np.uint64)
    return Search(
        histogram=np.zeros(n_bins * n_columns, dtype=REAL),
        occupied=occupied_words.view(np.uint8),
        occupied_words=occupied_words,
        missing=np.empty(n_classes, dtype=REAL),
        left=np.empty((n_classes, n_bins), dtype=REAL),
        sides=np.empty((2, n_bins), dtype=REAL),
        bin=np.empty((n_features, 8 * len(occupied_words) + 1), dtype=np.int64),
        cuts=np.empty((n_features, 4, n_bins), dtype=REAL),
        slots=np.empty((n_features, 3), dtype=REAL),
        words=np.empty(SCRATCH, dtype=np.uint64),
        order=np.arange(n_features, dtype=np.int64),
        state=np.array([seed], dtype=np.int64),
    )
