"""What a good split is.

Both criteria are written as a score per side that adds up: with side masses L_c and weight W,
gini gives Σ L_c² / W and entropy gives Σ L_c log2 L_c − W log2 W. Then W·G = W − score (gini) or −score (entropy),
and the split with the largest sum of scores has the lowest cost (eq. 13).
"""

import math

from .jit import kernel
from .layout import GINI


@kernel
def x_log2_x(x):
    return x * math.log2(x) if x > 0.0 else 0.0


@kernel
def side_score(mass, weight, criterion):
    """Score of one side with class masses `mass` (k,)."""
    total = 0.0
    if criterion == GINI:
        for c in range(mass.shape[0]):
            total += mass[c] * mass[c]
        return total / weight
    for c in range(mass.shape[0]):
        total += x_log2_x(mass[c])
    return total - x_log2_x(weight)


@kernel
def impurity_of(score, weight, criterion):
    """G (eq. 12) or the entropy in bits, from a side's score."""
    impurity = 1.0 - score / weight if criterion == GINI else -score / weight
    return max(impurity, 0.0)


@kernel
def split_score(left, missing, total, share, criterion, min_leaf_weight):
    """Score of sending `left` plus the `share` of `missing` to the left and the rest of `total` to the right, all (k,).

    -inf when a side has less than `min_leaf_weight`.
    """
    left_weight, right_weight = 0.0, 0.0
    left_sum, right_sum = 0.0, 0.0
    for c in range(total.shape[0]):
        mass_left = left[c] + share * missing[c]
        mass_right = max(total[c] - mass_left, 0.0)
        left_weight += mass_left
        right_weight += mass_right
        if criterion == GINI:
            left_sum += mass_left * mass_left
            right_sum += mass_right * mass_right
        else:
            left_sum += x_log2_x(mass_left)
            right_sum += x_log2_x(mass_right)
    if left_weight < min_leaf_weight or right_weight < min_leaf_weight:
        return -math.inf
    if criterion == GINI:
        return left_sum / left_weight + right_sum / right_weight
    return left_sum + right_sum - x_log2_x(left_weight) - x_log2_x(right_weight)
