"""The best split of a node (paper, appendix "Best split search")."""

import math
from typing import NamedTuple

import numpy as np

from .arrays import total
from .criterion import split_score
from .dice import draw_below
from .histogram import add_hard, add_soft
from .jit import kernel
from .layout import EQUAL, INDEX, LEAF, LEARNED, REAL, SAME_COST


class NodeMass(NamedTuple):
    """What the members of the node under way weigh; arrays as long as the largest node."""

    mass: np.ndarray  # (n,) w π
    class_index: np.ndarray  # (n,) int32, for hard labels
    class_mass: np.ndarray  # (n, k) w π p, for soft labels; (0, k) otherwise
    total: np.ndarray  # (k,) M_c


class Search(NamedTuple):
    """Scratch space of the search."""

    histogram: np.ndarray  # (n_bins, k), all zero between two searches
    left: np.ndarray  # (k,)
    missing: np.ndarray  # (k,)
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
def missing_choice(search, total, left_weight, observed_weight, has_missing, rules, least):
    """Score of a cut, and where it sends the missing cells (NaN: by the observed share)."""
    observed_share = left_weight / observed_weight
    share = 0.5 if rules.missing == EQUAL else observed_share
    choice = 0.5 if rules.missing == EQUAL else math.nan
    best = split_score(search.left, search.missing, total, share, rules.criterion, least)
    if rules.missing == LEARNED and has_missing:
        for side in (0.0, 1.0):
            score = split_score(search.left, search.missing, total, side, rules.criterion, least)
            if score > best + SAME_COST * observed_weight:
                best, choice = score, side
    return best, choice


@kernel
def scan(search, total, feature, bins, rules, least):
    """The best cut of one feature's histogram, which is cleared on the way."""
    histogram, left, missing = search.histogram, search.left, search.missing
    n_classes = total.shape[0]
    node_weight, missing_weight = 0.0, 0.0
    for c in range(n_classes):
        node_weight += total[c]
        missing_weight += missing[c]
        left[c] = 0.0
    observed_weight = node_weight - missing_weight
    best = Split(-math.inf, LEAF, math.nan, math.nan)
    margin = SAME_COST * node_weight
    left_weight = 0.0
    last = -1
    for b in range(bins.n_bins[feature]):
        bin_weight = 0.0
        for c in range(n_classes):
            bin_weight += histogram[b, c]
        if bin_weight == 0.0:
            continue
        if last >= 0:
            score, choice = missing_choice(
                search, total, left_weight, observed_weight, missing_weight > 0.0, rules, least
            )
            if score > best.score + margin or (best.feature == LEAF and score > -math.inf):
                best = Split(score, feature, midpoint(bins.high[feature, last], bins.low[feature, b]), choice)
        for c in range(n_classes):
            left[c] += histogram[b, c]
            histogram[b, c] = 0.0
        left_weight += bin_weight
        last = b
    if rules.missing == LEARNED and missing_weight > 0.0 and last >= 0:
        # Everything observed against everything missing: missingness itself as the feature.
        score = split_score(left, missing, total, 0.0, rules.criterion, least)
        if score > best.score + margin or (best.feature == LEAF and score > -math.inf):
            best = Split(score, feature, math.inf, 0.0)
    return best


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
            add_hard(
                codes, bins.missing_code, index, node.mass, node.class_index, chunk, search.histogram, search.missing
            )
        else:
            add_soft(codes, bins.missing_code, index, node.class_mass, chunk, search.histogram, search.missing)
        found = scan(search, node.total, feature, bins, rules, least)
        if found.score > best.score + margin or (best.feature == LEAF and found.feature != LEAF):
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
        np.empty(n_classes, dtype=REAL),
        np.empty(n_classes, dtype=REAL),
        order,
        state,
    )
