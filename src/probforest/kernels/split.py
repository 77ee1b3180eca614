"""The best split of a node (paper, appendix "Best split search")."""

import math
from typing import NamedTuple

import numpy as np

from .cuts import best_cut, list_occupied, occupied_range, sum_left, sum_left_of_listed
from .dice import draw_below
from .histogram import add_columns, add_listed, add_words
from .jit import inlined, kernel
from .lanes import FOUR, aligned_zeros
from .layout import (
    EQUAL,
    INDEX,
    LEAF,
    LEARNED,
    REAL,
    SAME_COST,
    SCRATCH,
    Bins,
    Cuts,
    Histogram,
    NodeMass,
    Search,
)
from .pair_histogram import add_pairs, sum_left_of_pairs
from .statistic import forbid, score_cuts, weigh_cuts, weight_of

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
def fill_slot(search, slot, bins, feature, index, node, criterion):
    """Add up the members, and find the sums to the left of each cut of the feature."""
    if node.columns.shape[0] > 0 and has_many_pairs(search, bins, index):
        first_bin, n_cuts = add_up_pairs(search, bins, feature, index, node)
    else:
        first_bin, n_cuts = add_up(search, slot, bins, feature, index, node)
    describe_slot(search, slot, first_bin, n_cuts, criterion)


@inlined
def describe_slot(search, slot, first_bin, n_cuts, criterion):
    """Note what must be known of a feature whose sums to the left of each cut are found."""
    weigh_cuts(n_cuts, search.left, criterion, search.cuts[slot, OBSERVED])
    search.slots[slot, N_CUTS] = n_cuts
    search.slots[slot, FIRST_BIN] = first_bin
    search.slots[slot, MISSING_WEIGHT] = weight_of(search.missing, criterion)


@inlined
def has_many_pairs(search, bins, index):
    """Whether targets have two columns, and there are more members than would occupy few bins."""
    return search.left.shape[0] == 2 and bins.words.shape[0] > 0 and index.shape[0] > FEW_MEMBERS


@kernel
def add_up_pairs(search, bins, feature, index, node):
    """`add_up` for many members with two columns."""
    missing, left = search.missing, search.left
    missing[0], missing[1] = 0.0, 0.0
    histogram = Histogram(search.histogram, search.occupied, missing, left.shape[1])
    add_pairs(bins, feature, index, node, histogram, search.words)
    return sum_left_of_pairs(search.histogram, node.columns.shape[1], bins.n_bins[feature], left)


@inlined
def add_up(search, slot, bins, feature, index, node):
    """Add up the members, and find the sums to the left of each cut. Returns the bin of the first cut, -1 if the bins
    are listed, and the number of cuts."""
    missing, left = search.missing, search.left
    histogram = Histogram(search.histogram, search.occupied, missing, left.shape[1])
    for c in range(missing.shape[0]):
        missing[c] = 0.0
    n_columns, n_bins = left.shape
    column_step, bin_step = n_bins, 1
    listed = bins.words.shape[0] == 0 or index.shape[0] <= FEW_MEMBERS
    if node.columns.shape[0] > 0:
        listed = True
        column_step, bin_step = 1, node.columns.shape[1]
        add_columns(bins, feature, index, node, histogram)
    elif listed:
        add_listed(bins, feature, index, node, histogram)
    else:
        add_words(bins, feature, index, node, histogram, search.words)
    first_bin = 0
    if listed:
        n_cuts = list_occupied(search.occupied, search.occupied_words, search.bin[slot])
        sum_left_of_listed(search.histogram, column_step, bin_step, search.bin[slot], n_cuts, left)
    else:
        first_bin, n_cuts = occupied_range(search.histogram, bins.n_bins[feature], n_columns, n_bins)
        sum_left(search.histogram, n_bins, first_bin, n_cuts, left)
    return -1 if listed else first_bin, n_cuts


@inlined
def score_slot(search, slot, way, n_cuts, node, node_weight, rules, least, again):
    """Score the cuts of a slot for one way to treat missing cells; -inf where a side weighs less than `least`.
    With `again` they have their scores already."""
    observed, score = search.cuts[slot, OBSERVED], search.cuts[slot, SCORE + way]
    missing_weight = search.slots[slot, MISSING_WEIGHT]
    feature = search.order[slot]
    scale, offset = way_of_missing(way, rules.missing[feature], observed[n_cuts - 1])
    direction = 0
    if rules.monotonic.shape[0] > 0:
        direction = rules.monotonic[feature]
    cuts = Cuts(
        n_cuts,
        search.left,
        observed,
        search.missing,
        missing_weight,
        node.total,
        node_weight,
        scale,
        offset,
        direction,
        search.bounds,
    )
    if again:
        forbid(cuts, least, score)
    else:
        score_cuts(cuts, rules, least, search.sides, score)
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


@inlined
def draw_feature(search, slot, max_features):
    """Put a feature that has no slot yet into this one: drawn at random, or the next one if all are asked for."""
    n_features = search.order.shape[0]
    if max_features < n_features:
        swap = slot + draw_below(search.state, n_features - slot)
        search.order[slot], search.order[swap] = search.order[swap], search.order[slot]


@inlined
def better_split(best, search, slot, node, node_weight, bins, rules, least, again):
    """The best split of the feature in a slot, if it is better than `best`, or else that one. With `again` it has its
    scores already."""
    n_cuts, margin = np.int64(search.slots[slot, N_CUTS]), SAME_COST * node_weight
    rule = rules.missing[search.order[slot]]
    n_ways = 3 if rule == LEARNED and search.slots[slot, MISSING_WEIGHT] > 0.0 else 1
    best_cut_here = n_cuts
    for way in range(n_ways if n_cuts > 0 else 0):
        cut = score_slot(search, slot, way, n_cuts, node, node_weight, rules, least, again)
        lead = search.cuts[slot, SCORE + way, cut] - best.score if cut >= 0 else -math.inf
        # Of equally good splits the first: first feature, then first cut, then first way.
        if lead > margin or (lead >= -margin and best_cut_here < n_cuts and cut < best_cut_here):
            best, best_cut_here = split_at(search, slot, cut, way, n_cuts, bins, rule), cut
    return best


@kernel
def split_node(index, node, bins, search, rules, least, n_drawn):
    """The best split whose sides weigh at least `least`, over `max_features` features drawn at random, and over more
    while none of them has a valid one. All features are taken in their order when all are asked for: such a tree
    does not depend on a seed.

    With `n_drawn` > 0, it is the next best: the same features and scores as before, and a larger `least`.
    Returns the split and the number of features it was searched on.
    """
    node_weight = weight_of(node.total, rules.criterion)
    best = Split(-math.inf, LEAF, math.nan, math.nan)
    again = n_drawn > 0
    slot = 0
    while slot < (n_drawn if again else search.order.shape[0]):
        if not again:
            if slot >= rules.max_features and best.feature != LEAF:
                break
            draw_feature(search, slot, rules.max_features)
            fill_slot(search, slot, bins, search.order[slot], index, node, rules.criterion)
        best = better_split(best, search, slot, node, node_weight, bins, rules, least, again)
        slot += 1
    return best, slot


# Not kernels: arrays that are made in Python need not be compiled.
def new_node_mass(capacity: int, n_columns: int, hard: bool) -> NodeMass:
    n_lanes = -(-n_columns // FOUR) * FOUR
    return NodeMass(
        mass=np.empty(capacity, dtype=REAL),
        class_index=np.empty(capacity, dtype=INDEX),
        columns=aligned_zeros(0 if hard else capacity, n_lanes),
        total=np.empty(n_columns, dtype=REAL),
        to_left=np.empty(capacity, dtype=REAL),
        scratch=np.empty((2, SCRATCH), dtype=REAL),
        steps=np.empty(SCRATCH, dtype=INDEX),
    )


def new_search(bins: Bins, n_columns: int, seed: int, n_stored: int = 0) -> Search:
    """With `n_stored`, there is space for the histograms of so many nodes, and these are what is searched."""
    n_features, n_bins = bins.low.shape
    n_lanes = -(-n_columns // FOUR) * FOUR
    occupied_words = np.zeros(n_bins // 8 + 1, dtype=np.uint64)
    return Search(
        histogram=aligned_zeros(n_bins * n_lanes),
        occupied=occupied_words.view(np.uint8),
        occupied_words=occupied_words,
        missing=np.empty(n_columns, dtype=REAL),
        left=np.empty((n_columns, n_bins), dtype=REAL),
        sides=np.empty((2, n_bins), dtype=REAL),
        bin=np.empty((n_features, 8 * len(occupied_words) + 1), dtype=np.int64),
        cuts=np.empty((n_features, 4, n_bins), dtype=REAL),
        slots=np.empty((n_features, 3), dtype=REAL),
        words=np.empty(SCRATCH, dtype=np.uint64),
        order=np.arange(n_features, dtype=np.int64),
        state=np.array([seed], dtype=np.int64),
        stored=aligned_zeros(n_stored, n_features, n_bins + 1, n_lanes),
        in_use=np.zeros(1, dtype=np.int64),
        bounds=np.array([-np.inf, np.inf]),
    )
