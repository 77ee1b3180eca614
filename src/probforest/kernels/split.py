"""The best split of a node (paper, appendix "Best split search")."""

import math
from typing import NamedTuple

import numpy as np

from .arrays import total
from .criterion import x_log2_x
from .dice import draw_below
from .histogram import add_hard, add_soft
from .jit import kernel
from .layout import EQUAL, GINI, INDEX, LEAF, LEARNED, REAL, SAME_COST


class NodeMass(NamedTuple):
    """What the members of the node under way weigh; arrays as long as the largest node."""

    mass: np.ndarray  # (n,) w π
    class_index: np.ndarray  # (n,) int32, for hard labels
    class_mass: np.ndarray  # (n, k) w π p, for soft labels; (0, k) otherwise
    total: np.ndarray  # (k,) M_c


class Search(NamedTuple):
    """Scratch space of the search. A cut lies behind each occupied bin; cuts are numbered from left to right."""

    histogram: np.ndarray  # (n_bins, k), all zero between two searches
    occupied: np.ndarray  # (n_bins,) uint8, likewise
    missing: np.ndarray  # (k,) masses of the missing cells
    bin: np.ndarray  # (n_bins,) int64, the bin to the left of each cut
    left: np.ndarray  # (k, n_bins) class masses of the observed cells to the left of each cut
    observed: np.ndarray  # (n_bins,) their sum
    sums: np.ndarray  # (4, n_bins) weight and score of the two sides of each cut
    score: np.ndarray  # (n_bins,) score of each cut
    choice: np.ndarray  # (n_bins,) where each cut sends missing cells (NaN: by the observed share)
    order: np.ndarray  # (d,) a permutation of the features
    state: np.ndarray  # (1,) of the random generator


class Split(NamedTuple):
    score: float
    feature: int  # LEAF: no valid split
    threshold: float
    missing_left: float  # NaN: the observed share


@kernel
def midpoint(low, high):
    """The threshold between two neighbours, low <= t < high even where the sum would overflow or round up."""
    middle = 0.5 * low + 0.5 * high
    return middle if low <= middle < high else low


@kernel
def collect_cuts(search, n_bins):
    """List the occupied bins and the masses up to each of them; clears the histogram. Returns their number."""
    histogram, occupied = search.histogram, search.occupied
    n_cuts = 0
    for b in range(n_bins):  # without a branch, which would be mispredicted
        search.bin[n_cuts] = b
        n_cuts += occupied[b]
        occupied[b] = 0
    for cut in range(n_cuts):
        search.observed[cut] = 0.0
    for c in range(histogram.shape[1]):
        mass = 0.0
        for cut in range(n_cuts):
            b = search.bin[cut]
            mass += histogram[b, c]
            histogram[b, c] = 0.0
            search.left[c, cut] = mass
            search.observed[cut] += mass
    return n_cuts


@kernel
def add_sides(search, mass_left, share, missing, total, n_cuts, criterion):
    """Add one class to the weight and score of both sides of every cut: `mass_left` (n_cuts,) of the observed cells,
    and the share (scale × observed + offset) of the `missing` mass."""
    left_weight, right_weight, left_score, right_score = search.sums
    scale, offset = share
    for cut in range(n_cuts):
        left = mass_left[cut] + (scale * search.observed[cut] + offset) * missing
        right = total - left
        left_weight[cut] += left
        right_weight[cut] += right
        if criterion == GINI:
            left_score[cut] += left * left
            right_score[cut] += right * right
        else:
            left_score[cut] += x_log2_x(left)
            right_score[cut] += x_log2_x(right)


@kernel
def score_cuts(search, node_total, share, choice, n_cuts, rules, least, margin):
    """Score every cut with missing cells sent by `share`; keep it where it beats the score so far by `margin`."""
    left_weight, right_weight, left_score, right_score = search.sums
    for row in range(4):
        for cut in range(n_cuts):
            search.sums[row, cut] = 0.0
    for c in range(node_total.shape[0]):
        add_sides(search, search.left[c], share, search.missing[c], node_total[c], n_cuts, rules.criterion)
    for cut in range(n_cuts):
        if left_weight[cut] < least or right_weight[cut] < least:
            continue
        if rules.criterion == GINI:
            score = left_score[cut] / left_weight[cut] + right_score[cut] / right_weight[cut]
        else:
            score = left_score[cut] + right_score[cut] - x_log2_x(left_weight[cut]) - x_log2_x(right_weight[cut])
        if score > search.score[cut] + margin:
            search.score[cut] = score
            search.choice[cut] = choice


@kernel
def scan(search, node_total, feature, bins, rules, least):
    """The best cut of one feature's histogram, which is cleared on the way."""
    n_cuts = collect_cuts(search, bins.n_bins[feature])
    if n_cuts == 0:
        return Split(-math.inf, LEAF, math.nan, math.nan)
    margin = SAME_COST * total(node_total)
    has_missing = total(search.missing) > 0.0
    for cut in range(n_cuts):
        search.score[cut] = -math.inf
    if rules.missing == EQUAL:
        score_cuts(search, node_total, (0.0, 0.5), 0.5, n_cuts - 1, rules, least, margin)
    else:
        by_observed = (1.0 / search.observed[n_cuts - 1], 0.0)
        score_cuts(search, node_total, by_observed, math.nan, n_cuts - 1, rules, least, margin)
    if rules.missing == LEARNED and has_missing:
        # The last cut has everything observed on its left: missingness itself as the feature.
        score_cuts(search, node_total, (0.0, 0.0), 0.0, n_cuts, rules, least, margin)
        score_cuts(search, node_total, (0.0, 1.0), 1.0, n_cuts - 1, rules, least, margin)
    best = 0
    for cut in range(1, n_cuts):
        if search.score[cut] > search.score[best] + margin:
            best = cut
    if search.score[best] == -math.inf:
        return Split(-math.inf, LEAF, math.nan, math.nan)
    threshold = math.inf
    if best < n_cuts - 1:
        threshold = midpoint(bins.high[feature, search.bin[best]], bins.low[feature, search.bin[best + 1]])
    return Split(search.score[best], feature, threshold, search.choice[best])


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


@kernel
def new_node_mass(capacity, n_classes, hard):
    return NodeMass(
        np.empty(capacity, dtype=REAL),
        np.empty(capacity, dtype=INDEX),
        np.empty((0 if hard else capacity, n_classes), dtype=REAL),
        np.empty(n_classes, dtype=REAL),
    )


@kernel
def new_search(n_bins, n_classes, n_features, seed):
    state = np.empty(1, dtype=np.int64)
    state[0] = seed
    order = np.empty(n_features, dtype=np.int64)
    for j in range(n_features):
        order[j] = j
    return Search(
        np.zeros((n_bins, n_classes), dtype=REAL),
        np.zeros(n_bins, dtype=np.uint8),
        np.empty(n_classes, dtype=REAL),
        np.empty(n_bins + 1, dtype=np.int64),
        np.empty((n_classes, n_bins), dtype=REAL),
        np.empty(n_bins, dtype=REAL),
        np.empty((4, n_bins), dtype=REAL),
        np.empty(n_bins, dtype=REAL),
        np.empty(n_bins, dtype=REAL),
        order,
        state,
    )
