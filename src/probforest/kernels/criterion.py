"""What a good split is.

Both criteria are written as a score per side that adds up: with side masses L_c and weight W,
gini gives Σ L_c² / W and entropy gives Σ L_c log2 L_c − W log2 W. Then W·G = W − score (gini) or −score (entropy),
and the split with the largest sum of scores has the lowest cost (eq. 13).
"""

import math

from .jit import inlined, kernel
from .layout import GINI


@kernel
def x_log2_x(x):
    return x * math.log2(x) if x > 0.0 else 0.0


@inlined
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


@inlined
def impurity_of(score, weight, criterion):
    """G (eq. 12) or the entropy in bits, from a side's score."""
    impurity = 1.0 - score / weight if criterion == GINI else -score / weight
    return max(impurity, 0.0)
