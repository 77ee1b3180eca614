"""The best split of a node (paper, appendix "Best split search")."""

import math
from typing import NamedTuple

import numpy as np

from .arrays import total
from .criterion import x_log2_x
from .dice import draw_below
from .histogram import add_hard, add_soft
from .jit import inlined, kernel
from .layout import CODE_SLOTS, EQUAL, GINI, INDEX, LEAF, LEARNED, REAL, SAME_COST, Bins


class NodeMass(NamedTuple):
    """What the members of the node under way weigh; arrays as long as the largest node."""

    mass: np.ndarray  # (n,) w π
    class_index: np.ndarray  # (n,) int32, for hard labels
    class_mass: np.ndarray  # (n, k) w π p, for soft labels; (0, k) otherwise
    total: np.ndarray  # (k,) M_c


class Search(NamedTuple):
    """Scratch space of the search. A cut lies behind each occupied bin; cuts are numbered from left to right."""

    histogram: np.ndarray  # (n_bins * k,), class masses bin by bin; all zero between two searches
    occupied: np.ndarray  # (n_bins,) uint8, which bins hold something; all zero between two searches
    occupied_words: np.ndarray  # the same memory, eight bins at a time
    missing: np.ndarray  # (k,) masses of the missing cells
    bin: np.ndarray  # (n_bins,) int64, the bin to the left of each cut
    left: np.ndarray  # (k, n_bins) class masses of the observed cells to the left of each cut
    cuts: np.ndarray  # (6, n_bins) numbers of each cut, rows OBSERVED to CHOICE
    codes: np.ndarray  # (n, CODE_SLOTS) codes of the node's members; (0, CODE_SLOTS) when all cells are exact
    order: np.ndarray  # (d,) a permutation of the features
    state: np.ndarray  # (1,) of the random generator


# Rows of `Search.cuts`. One table, as each array of a bundle costs time whenever the bundle is handed on.
OBSERVED = 0  # weight of the observed cells to the left
LEFT_SCORE, RIGHT_SCORE = 1, 2  # what the classes add to the score of each side
SCORE = 3  # score of the cut
RIVAL = 4  # score of the cut when missing cells go another way
CHOICE = 5  # where the cut sends missing cells (NaN: by the observed share)


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
def collect_cuts(search):
    """List the occupied bins in `search.bin`; returns their number."""
    occupied, words, bin_of_cut = search.occupied, search.occupied_words, search.bin
    n_cuts = np.uint64(0)  # unsigned: an index that can't be negative costs no test
    for word in range(words.shape[0]):
        if words[word] == 0:
            continue
        for b in range(8 * word, 8 * word + 8):  # without a branch, which would be mispredicted
            bin_of_cut[n_cuts] = b
            n_cuts += np.uint64(occupied[b])
        words[word] = 0
    return np.int64(n_cuts)


@inlined
def collect_masses(search, n_cuts, n_classes):
    """Class masses to the left of each cut; clears the histogram.

    Two classes at a time: a running sum waits for its last addition, and two of them wait together.
    """
    histogram, bin_of_cut, left, cuts = search.histogram, search.bin, search.left, search.cuts
    for cut in range(n_cuts):
        cuts[OBSERVED, cut] = 0.0
    for c in range(0, n_classes - 1, 2):
        mass, mass_next = 0.0, 0.0
        for cut in range(n_cuts):
            place = np.uint64(bin_of_cut[cut] * n_classes + c)
            mass += histogram[place]
            mass_next += histogram[place + np.uint64(1)]
            histogram[place] = 0.0
            histogram[place + np.uint64(1)] = 0.0
            left[c, cut] = mass
            left[c + 1, cut] = mass_next
            cuts[OBSERVED, cut] += mass + mass_next
    if n_classes % 2 == 1:
        mass = 0.0
        for cut in range(n_cuts):
            place = np.uint64(bin_of_cut[cut] * n_classes + n_classes - 1)
            mass += histogram[place]
            histogram[place] = 0.0
            left[n_classes - 1, cut] = mass
            cuts[OBSERVED, cut] += mass


@inlined
def score_cuts(search, node_total, scale, offset, n_cuts, criterion, least, row):
    """Score every cut (eq. 13) into the given row of `search.cuts`; -inf where a side weighs less than `least`.
    The share of missing cells that goes left is scale × (observed weight to the left) + offset.

    Plain loops over the cuts, one class after the other, which the compiler turns into vector instructions.
    """
    left, missing, cuts = search.left, search.missing, search.cuts
    for c in range(node_total.shape[0]):
        class_total, class_missing = node_total[c], missing[c]
        first = c == 0
        for cut in range(n_cuts):
            mass_left = left[c, cut] + (scale * cuts[OBSERVED, cut] + offset) * class_missing
            mass_right = class_total - mass_left
            if criterion == GINI:
                left_score, right_score = mass_left * mass_left, mass_right * mass_right
            else:
                left_score, right_score = x_log2_x(mass_left), x_log2_x(mass_right)
            cuts[LEFT_SCORE, cut] = left_score if first else cuts[LEFT_SCORE, cut] + left_score
            cuts[RIGHT_SCORE, cut] = right_score if first else cuts[RIGHT_SCORE, cut] + right_score
    node_weight, missing_weight = total(node_total), total(missing)
    for cut in range(n_cuts):
        left_weight = cuts[OBSERVED, cut] + (scale * cuts[OBSERVED, cut] + offset) * missing_weight
        right_weight = node_weight - left_weight
        if criterion == GINI:
            score = cuts[LEFT_SCORE, cut] / left_weight + cuts[RIGHT_SCORE, cut] / right_weight
        else:
            score = cuts[LEFT_SCORE, cut] + cuts[RIGHT_SCORE, cut] - x_log2_x(left_weight) - x_log2_x(right_weight)
        cuts[row, cut] = score if (left_weight >= least) & (right_weight >= least) else -math.inf


@inlined
def score_ways(search, node_total, n_cuts, rules, least, margin):
    """Score every cut for every way to treat missing cells that the rules allow, and keep the best way of each.

    The ways: by the rule (half, or the observed share); when they are learned also all right and all left.
    """
    cuts = search.cuts
    n_ways = 3 if rules.missing == LEARNED and total(search.missing) > 0.0 else 1
    for way in range(n_ways):
        scale, offset = 0.0, 0.5 if rules.missing == EQUAL else 0.0
        if way == 0 and rules.missing != EQUAL:
            scale = 1.0 / cuts[OBSERVED, n_cuts - 1]
        if way == 2:
            offset = 1.0
        score_cuts(search, node_total, scale, offset, n_cuts, rules.criterion, least, SCORE if way == 0 else RIVAL)
        if way > 0:
            for cut in range(n_cuts):
                if way == 1:
                    cuts[CHOICE, cut] = math.nan
                if cuts[RIVAL, cut] > cuts[SCORE, cut] + margin:
                    cuts[SCORE, cut] = cuts[RIVAL, cut]
                    cuts[CHOICE, cut] = offset
        else:
            # Behind the last cut there is nothing observed. It is a split only where all missing cells go right:
            # missingness itself as the feature.
            cuts[SCORE, n_cuts - 1] = -math.inf
    return n_ways


@inlined
def scan(search, node_total, feature, bins, rules, least):
    """The best cut of one feature's histogram, which is cleared on the way."""
    n_cuts = collect_cuts(search)
    if n_cuts == 0:
        return Split(-math.inf, LEAF, math.nan, math.nan)
    collect_masses(search, n_cuts, node_total.shape[0])
    cuts = search.cuts
    margin = SAME_COST * total(node_total)
    n_ways = score_ways(search, node_total, n_cuts, rules, least, margin)
    best, to_beat = 0, -math.inf
    for cut in range(n_cuts):
        if cuts[SCORE, cut] > to_beat:
            best, to_beat = cut, cuts[SCORE, cut] + margin
    if to_beat == -math.inf:
        return Split(-math.inf, LEAF, math.nan, math.nan)
    threshold = math.inf
    if best < n_cuts - 1:
        threshold = midpoint(bins.high[feature, search.bin[best]], bins.low[feature, search.bin[best + 1]])
    missing_left = 0.5 if rules.missing == EQUAL else math.nan
    if n_ways > 1:
        missing_left = cuts[CHOICE, best]
    return Split(cuts[SCORE, best], feature, threshold, missing_left)


@kernel
def split_node(index, node, bins, search, chunk, rules, least, n_drawn):
    """The best split whose sides weigh at least `least`, over `max_features` features drawn at random, and over more
    while none of them has a valid one. All features are taken in their order when all are asked for: such a tree
    does not depend on a seed.

    With `n_drawn` > 0, the features are the first ones of `search.order`, as they were drawn before.
    Returns the split and the number of features it was searched on.
    """
    n_features = search.order.shape[0]
    best = Split(-math.inf, LEAF, math.nan, math.nan)
    margin = SAME_COST * total(node.total)
    visited = 0
    while visited < (n_drawn if n_drawn > 0 else n_features):
        if n_drawn == 0:
            if visited >= rules.max_features and best.feature != LEAF:
                break
            if rules.max_features < n_features:
                swap = visited + draw_below(search.state, n_features - visited)
                search.order[visited], search.order[swap] = search.order[swap], search.order[visited]
        feature = search.order[visited]
        codes = bins.codes[feature]
        for c in range(search.missing.shape[0]):
            search.missing[c] = 0.0
        if node.class_mass.shape[0] == 0:
            add_hard(codes, bins.missing_code, index, node.mass, node.class_index, chunk, search)
        else:
            add_soft(codes, bins.missing_code, index, node.class_mass, chunk, search)
        found = scan(search, node.total, feature, bins, rules, least)
        if found.score > best.score + margin:
            best = found
        visited += 1
    return best, visited


# Not kernels: arrays that are made in Python need not be compiled.
def new_node_mass(capacity: int, n_classes: int, hard: bool) -> NodeMass:
    return NodeMass(
        mass=np.empty(capacity, dtype=REAL),
        class_index=np.empty(capacity, dtype=INDEX),
        class_mass=np.empty((0 if hard else capacity, n_classes), dtype=REAL),
        total=np.empty(n_classes, dtype=REAL),
    )


def new_search(bins: Bins, n_classes: int, capacity: int, seed: int) -> Search:
    n_features, _, n_slots = bins.codes.shape
    n_bins = bins.low.shape[1]
    words = np.zeros(n_bins // 8 + 1, dtype=np.uint64)
    return Search(
        histogram=np.zeros(n_bins * n_classes, dtype=REAL),
        occupied=words.view(np.uint8),
        occupied_words=words,
        missing=np.empty(n_classes, dtype=REAL),
        bin=np.empty(8 * len(words) + 1, dtype=np.int64),
        left=np.empty((n_classes, n_bins), dtype=REAL),
        cuts=np.empty((6, n_bins), dtype=REAL),
        codes=np.empty((0 if n_slots == 1 else capacity, CODE_SLOTS), dtype=bins.codes.dtype),
        order=np.arange(n_features, dtype=np.int64),
        state=np.array([seed], dtype=np.int64),
    )
