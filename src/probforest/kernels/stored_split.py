"""The best split of a node of boosting, whose histograms of all features are stored. See split.py for the rest."""

import math

from .cuts import sum_left_of_stored
from .jit import inlined, kernel
from .layout import EQUAL, LEAF, NEWTON, SAME_COST
from .split import Split, better_split, describe_slot, draw_feature, midpoint
from .statistic import best_stored_cut, weight_of

_NOTHING = 1e-12  # what rounding leaves of the weight of a bin, relative to that of the node


@inlined
def is_plain(search, feature, rules, empty):
    """Whether the best cut of a feature can be found in one pass: a loss, without missing cells and bounds."""
    if rules.criterion != NEWTON or rules.monotonic.shape[0] > 0:
        return False
    return search.stored[search.in_use[0], feature, search.stored.shape[2] - 1, 2] <= empty


@inlined
def better_plain_split(best, search, feature, node, node_weight, bins, rules, least, empty):
    """The best split of a plain feature, if it is better than `best`, or else that one."""
    margin = SAME_COST * node_weight
    stored = search.stored[search.in_use[0], feature]
    score, here, there = best_stored_cut(
        stored, bins.n_bins[feature], node.total, node_weight, empty, least, rules, margin
    )
    if here < 0 or score - best.score <= margin:
        return best
    missing_left = 0.5 if rules.missing[feature] == EQUAL else math.nan
    return Split(score, feature, midpoint(bins.high[feature, here], bins.low[feature, there]), missing_left)


@inlined
def fill_stored_slot(search, slot, bins, feature, rules, empty):
    """Find the sums to the left of each cut of the feature."""
    stored = search.stored[search.in_use[0], feature]
    first_bin, n_cuts = sum_left_of_stored(stored, bins.n_bins[feature], empty, search.missing, search.left)
    describe_slot(search, slot, first_bin, n_cuts, rules.criterion)


@kernel
def split_stored_node(node, bins, search, rules, least):
    """The best split whose sides weigh at least `least`, over features as `split_node` draws them."""
    node_weight = weight_of(node.total, rules.criterion)
    best, empty = Split(-math.inf, LEAF, math.nan, math.nan), _NOTHING * node_weight
    for slot in range(search.order.shape[0]):
        if slot >= rules.max_features and best.feature != LEAF:
            break
        draw_feature(search, slot, rules.max_features)
        feature = search.order[slot]
        if is_plain(search, feature, rules, empty):
            best = better_plain_split(best, search, feature, node, node_weight, bins, rules, least, empty)
            continue
        fill_stored_slot(search, slot, bins, feature, rules, empty)
        best = better_split(best, search, slot, node, node_weight, bins, rules, least, False)
    return best
