"""The cuts of one feature, from left to right: what lies to the left of each, how good it is, which one is best.

A cut lies behind a bin. Plain loops over the cuts and flat arrays, one class after the other: the compiler turns them
into vector instructions.
"""

import math

import numpy as np

from .criterion import x_log2_x
from .jit import inlined, kernel


@kernel
def list_occupied(occupied, words, bin_of_cut):
    """List the occupied bins, which need a cut, and clear the marks; `words` is the memory of `occupied`, eight bins at
    a time. Returns their number."""
    n_cuts = np.uint64(0)  # unsigned: an index that can't be negative costs no test
    for word in range(words.shape[0]):
        if words[word] == 0:
            continue
        for b in range(8 * word, 8 * word + 8):  # without a branch, which would be mispredicted
            bin_of_cut[n_cuts] = b
            n_cuts += np.uint64(occupied[b])
        words[word] = 0
    return np.int64(n_cuts)


@kernel
def occupied_range(histogram, n_bins, n_classes, class_step):
    """The first bin that holds something, and the number of bins from there to the last one; (0, 0) if none does.
    Class c of bin b is entry c × class_step + b of the histogram."""
    first, last = n_bins, -1
    for c in range(n_classes):
        start, b = c * class_step, 0
        while b < first and histogram[np.uint64(start + b)] == 0.0:
            b += 1
        first = b
        b = n_bins - 1
        while b > last and histogram[np.uint64(start + b)] == 0.0:
            b -= 1
        last = b
    return (0, 0) if last < 0 else (first, last + 1 - first)


@kernel
def sum_left(histogram, class_step, first_bin, n_cuts, left, observed):
    """Masses to the left of the cuts behind `n_cuts` bins, per class into `left` (k, n or more) and of all classes into
    `observed` (n or more,); clears the histogram.

    Four cuts at a time: a running sum waits for its last addition, and so waits half as often. Behind an empty bin the
    sums are the same to the last bit.
    """
    rest = n_cuts % 4
    for c in range(left.shape[0]):
        mass, place = 0.0, np.uint64(c * class_step + first_bin)
        for cut in range(0, n_cuts - rest, 4):
            second, third, fourth = place + np.uint64(1), place + np.uint64(2), place + np.uint64(3)
            one, three = histogram[place], histogram[third]
            two, four = one + histogram[second], three + histogram[fourth]
            histogram[place], histogram[second], histogram[third], histogram[fourth] = 0.0, 0.0, 0.0, 0.0
            left[c, cut] = mass + one
            mass += two
            left[c, cut + 1] = mass
            left[c, cut + 2] = mass + three
            mass += four
            left[c, cut + 3] = mass
            place += np.uint64(4)
        for cut in range(n_cuts - rest, n_cuts):
            mass += histogram[place]
            histogram[place] = 0.0
            left[c, cut] = mass
            place += np.uint64(1)
    add_classes(n_cuts, left, observed)


@kernel
def sum_left_of_listed(histogram, class_step, bin_step, bin_of_cut, n_cuts, left, observed):
    """The same for cuts behind the bins `bin_of_cut` (n or more,) only. Class c of bin b is entry
    c × class_step + b × bin_step of the histogram."""
    for c in range(left.shape[0]):
        mass = 0.0
        for cut in range(n_cuts):
            place = np.uint64(c * class_step + bin_of_cut[cut] * bin_step)
            mass += histogram[place]
            histogram[place] = 0.0
            left[c, cut] = mass
    add_classes(n_cuts, left, observed)


@inlined
def add_classes(n_cuts, left, observed):
    for cut in range(n_cuts):
        observed[cut] = left[0, cut]
    for c in range(1, left.shape[0]):
        for cut in range(n_cuts):
            observed[cut] += left[c, cut]


@inlined
def gini_score(left_squares, right_squares, left_weight, right_weight, least):
    """Σ L_c² / W_l + Σ R_c² / W_r with one division; -inf if a side weighs less than `least` > 0."""
    score = (left_squares * right_weight + right_squares * left_weight) / (left_weight * right_weight)
    return score if (left_weight >= least) & (right_weight >= least) else -math.inf


@kernel
def score_gini(n_cuts, left, observed, scale, offset, missing, missing_weight, total, weight, least, sides, score):
    """Score every cut (eq. 13); -inf where a side weighs less than `least` > 0.

    Of the missing cells, the share scale × observed + offset goes left. `missing` and `total` (k,) are the class masses
    of the missing cells and of the node, `missing_weight` and `weight` their sums, `sides` (2, n or more) is scratch.
    """
    if total.shape[0] == 2:  # the most common case, in one go
        for cut in range(n_cuts):
            share = scale * observed[cut] + offset
            left0, left1 = left[0, cut] + share * missing[0], left[1, cut] + share * missing[1]
            right0, right1 = total[0] - left0, total[1] - left1
            left_weight = observed[cut] + share * missing_weight
            squares, right_squares = left0 * left0 + left1 * left1, right0 * right0 + right1 * right1
            score[cut] = gini_score(squares, right_squares, left_weight, weight - left_weight, least)
        return
    for cut in range(n_cuts):
        sides[0, cut] = 0.0
        sides[1, cut] = 0.0
    for c in range(total.shape[0]):
        class_total, class_missing = total[c], missing[c]
        for cut in range(n_cuts):
            mass_left = left[c, cut] + (scale * observed[cut] + offset) * class_missing
            mass_right = class_total - mass_left
            sides[0, cut] += mass_left * mass_left
            sides[1, cut] += mass_right * mass_right
    for cut in range(n_cuts):
        left_weight = observed[cut] + (scale * observed[cut] + offset) * missing_weight
        score[cut] = gini_score(sides[0, cut], sides[1, cut], left_weight, weight - left_weight, least)


@kernel
def score_entropy(n_cuts, left, observed, scale, offset, missing, missing_weight, total, weight, least, score):
    """The same for the entropy."""
    for cut in range(n_cuts):
        left_weight = observed[cut] + (scale * observed[cut] + offset) * missing_weight
        score[cut] = -x_log2_x(left_weight) - x_log2_x(weight - left_weight)
    for c in range(total.shape[0]):
        for cut in range(n_cuts):
            mass_left = left[c, cut] + (scale * observed[cut] + offset) * missing[c]
            score[cut] += x_log2_x(mass_left) + x_log2_x(total[c] - mass_left)
    forbid(n_cuts, observed, scale, offset, missing_weight, weight, least, score)


@kernel
def forbid(n_cuts, observed, scale, offset, missing_weight, weight, least, score):
    """-inf as score where a side weighs less than `least`."""
    for cut in range(n_cuts):
        left_weight = observed[cut] + (scale * observed[cut] + offset) * missing_weight
        allowed = (left_weight >= least) & (weight - left_weight >= least)
        score[cut] = score[cut] if allowed else -math.inf


@kernel
def best_cut(n_cuts, score, margin):
    """The first cut that no other beats by more than `margin`; -1 if none is allowed.

    Four maxima at a time, as each waits for the one before.
    """
    a, b, c, d = -math.inf, -math.inf, -math.inf, -math.inf
    for cut in range(0, n_cuts - 3, 4):
        a, b = max(a, score[cut]), max(b, score[cut + 1])
        c, d = max(c, score[cut + 2]), max(d, score[cut + 3])
    for cut in range(n_cuts - n_cuts % 4, n_cuts):
        a = max(a, score[cut])
    top = max(max(a, b), max(c, d))
    if top == -math.inf:
        return -1
    for cut in range(n_cuts):
        if score[cut] >= top - margin:
            return cut
    return -1
