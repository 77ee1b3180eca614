"""What the members of a node add up to, and all that follows from it. Nothing else reads these sums.

A member adds its mass w π times the columns of its Target. With A and B made of the sums,

    criterion   columns              A                 B      weight W        value of the node
    GINI        p_c of the classes   M_c = Σ w π p_c   W      Σ_c M_c         M_c / W
    ENTROPY     p_c of the classes                            Σ_c M_c         M_c / W
    VARIANCE    y, 1                 Σ w π y           W      the last sum    Σ w π y / W
    NEWTON      g, h, 1              G = Σ w π g       H      the last sum    −G / (H + λ)

a side of a split scores Σ_c A_c² / (B + λ), where only NEWTON has a λ, or Σ_c M_c log2 M_c − W log2 W for the entropy.
Scores of sides add up, and the split with the largest sum has the lowest cost (eq. 13): a node's W × impurity is
W − score (Gini), −score (entropy) or Σ w π y² − score (variance; the first term is the same for all splits). With
gradients g and hessians h, −score is twice the change of the loss.

The criterion is looked at once per node or feature, not per member or cut.
"""

import math

import numpy as np

from .jit import inlined, kernel
from .layout import ENTROPY, GINI, NEWTON, SAME_COST

_HESSIAN = 1  # its place among the columns of NEWTON


@inlined
def has_classes(criterion):
    return (criterion == GINI) | (criterion == ENTROPY)


@kernel
def weight_of(sums, criterion):
    """W of sums (n_columns,)."""
    weight = 0.0
    for c in range(0 if has_classes(criterion) else sums.shape[0] - 1, sums.shape[0]):
        weight += sums[c]
    return weight


@inlined
def add_members(members, start, stop, target, node):
    """Fill `node` with the mass of the members [start, stop), and the sums over them (eq. 10, 11)."""
    for c in range(node.total.shape[0]):
        node.total[c] = 0.0
    hard = target.columns.shape[0] == 0
    for m in range(stop - start):
        mass = members.mass[start + m]
        node.mass[m] = mass
        if hard:
            c = members.class_index[start + m]
            node.class_index[m] = c
            node.total[np.uint64(c)] += mass
        else:
            i = np.uint64(members.row[start + m])
            for c in range(node.total.shape[0]):
                part = mass * target.columns[i, c]
                node.columns[m, c] = part
                node.total[c] += part


@kernel
def add_losses(members, start, stop, target, node):
    """`add_members` for the three columns of NEWTON, without `node.mass`: their sums are at hand, not in memory, where
    each addition would wait for the last one to arrive."""
    columns, out = target.columns, node.columns
    row, masses = members.row[start:stop], members.mass[start:stop]
    gradients, hessians, weights = 0.0, 0.0, 0.0
    for m in range(stop - start):
        i, mass = np.uint64(row[m]), masses[m]
        gradient, hessian, weight = mass * columns[i, 0], mass * columns[i, 1], mass * columns[i, 2]
        out[m, 0], out[m, 1], out[m, 2] = gradient, hessian, weight
        gradients += gradient
        hessians += hessian
        weights += weight
    node.total[0], node.total[1], node.total[2] = gradients, hessians, weights


@kernel
def x_log2_x(x):
    return x * math.log2(x) if x > 0.0 else 0.0


@inlined
def score_of(sums, weight, rules):
    """Score of one side, or of a whole node."""
    score = 0.0
    if rules.criterion == ENTROPY:
        for c in range(sums.shape[0]):
            score += x_log2_x(sums[c])
        return score - x_log2_x(weight)
    for c in range(sums.shape[0] if rules.criterion == GINI else 1):
        score += sums[c] * sums[c]
    return score / ((sums[_HESSIAN] if rules.criterion == NEWTON else weight) + rules.regularisation)


@inlined
def impurity_of(score, weight, criterion):
    """G (eq. 12) or the entropy in bits, from a side's score; of numbers, the impurity up to a constant."""
    if not has_classes(criterion):
        return -score / weight
    impurity = 1.0 - score / weight if criterion == GINI else -score / weight
    return max(impurity, 0.0)


@inlined
def is_pure(impurity, criterion):
    """Whether all members are of one class. Numbers have no such test: no split gains anything where they are equal."""
    return has_classes(criterion) & (impurity <= SAME_COST)


@inlined
def write_value(value, sums, weight, rules):
    """The value of a node: class probabilities, mean or Newton step, into `value` (k or 1,)."""
    if rules.criterion == NEWTON:
        value[0] = -sums[0] / (sums[_HESSIAN] + rules.regularisation)
    else:
        for c in range(value.shape[0]):
            value[c] = sums[c] / weight


@inlined
def bounded_step(gradient, hessian, rules, bounds):
    """The value of a node of NEWTON whose answers must lie between two `bounds` (2,)."""
    return min(max(-gradient / (hessian + rules.regularisation), bounds[0]), bounds[1])


@inlined
def bounded_score(sums, weight, rules, bounds):
    """`score_of` a node: with bounds, the score of the value that it may have, −G × value."""
    if rules.monotonic.shape[0] == 0:
        return score_of(sums, weight, rules)
    return -sums[0] * bounded_step(sums[0], sums[_HESSIAN], rules, bounds)


@inlined
def weigh_cuts(n_cuts, left, criterion, weight):
    """The weight to the left of each cut, from sums `left` (n_columns, n_cuts or more), into `weight`."""
    first = 0 if has_classes(criterion) else left.shape[0] - 1
    for cut in range(n_cuts):
        weight[cut] = left[first, cut]
    for c in range(first + 1, left.shape[0]):
        for cut in range(n_cuts):
            weight[cut] += left[c, cut]


@inlined
def sum_of_scores(left_squares, right_squares, left_base, right_base):
    """Σ A_c² / B of both sides with one division."""
    return (left_squares * right_base + right_squares * left_base) / (left_base * right_base)


@inlined
def score_two_classes(cuts, least, score):
    """Gini scores of two classes, the most common case, in one go."""
    left, missing, total, weight = cuts.left, cuts.missing, cuts.total, cuts.weight
    scale, offset, missing_weight, total_weight = (
        cuts.share_scale,
        cuts.share_offset,
        cuts.missing_weight,
        cuts.total_weight,
    )
    for cut in range(cuts.n_cuts):
        share = scale * weight[cut] + offset
        left0, left1 = left[0, cut] + share * missing[0], left[1, cut] + share * missing[1]
        right0, right1 = total[0] - left0, total[1] - left1
        left_weight = weight[cut] + share * missing_weight
        squares, right_squares = left0 * left0 + left1 * left1, right0 * right0 + right1 * right1
        right_weight = total_weight - left_weight
        both = sum_of_scores(squares, right_squares, left_weight, right_weight)
        score[cut] = both if (left_weight >= least) & (right_weight >= least) else -math.inf


@inlined
def score_one_column(cuts, rules, least, base, base_missing, base_total, score):
    """Scores of numbers and losses, which have one A, in one go."""
    left, weight, scale, offset = cuts.left, cuts.weight, cuts.share_scale, cuts.share_offset
    missing, total, missing_weight, total_weight = (
        cuts.missing[0],
        cuts.total[0],
        cuts.missing_weight,
        cuts.total_weight,
    )
    extra, least_base = rules.regularisation, rules.min_leaf_hessian
    for cut in range(cuts.n_cuts):
        share = scale * weight[cut] + offset
        left_weight, left_base = weight[cut] + share * missing_weight, base[cut] + share * base_missing
        right_weight, right_base = total_weight - left_weight, base_total - left_base
        sum_left = left[0, cut] + share * missing
        sum_right = total - sum_left
        both = sum_of_scores(sum_left * sum_left, sum_right * sum_right, left_base + extra, right_base + extra)
        allowed = (left_weight >= least) & (right_weight >= least)
        score[cut] = both if allowed & (min(left_base, right_base) >= least_base) else -math.inf


@inlined
def score_bounded(cuts, rules, least, score):
    """Scores of losses where answers must rise or fall with a feature: a side scores −G × value, its value lies within
    bounds, and a cut whose values go the wrong way is not allowed."""
    left, weight, scale, offset = cuts.left, cuts.weight, cuts.share_scale, cuts.share_offset
    for cut in range(cuts.n_cuts):
        share = scale * weight[cut] + offset
        left_weight = weight[cut] + share * cuts.missing_weight
        left_gradient = left[0, cut] + share * cuts.missing[0]
        left_hessian = left[_HESSIAN, cut] + share * cuts.missing[_HESSIAN]
        right_gradient, right_hessian = cuts.total[0] - left_gradient, cuts.total[_HESSIAN] - left_hessian
        left_value = bounded_step(left_gradient, left_hessian, rules, cuts.bounds)
        right_value = bounded_step(right_gradient, right_hessian, rules, cuts.bounds)
        allowed = (left_weight >= least) & (cuts.total_weight - left_weight >= least)
        allowed &= min(left_hessian, right_hessian) >= rules.min_leaf_hessian
        allowed &= (right_value - left_value) * cuts.direction >= 0.0
        score[cut] = -left_gradient * left_value - right_gradient * right_value if allowed else -math.inf


@kernel
def score_squares(cuts, rules, least, sides, score):
    """Score every cut by Σ A_c² / (B + λ). `sides` (2, n_cuts or more) is scratch space."""
    n_cuts, left, weight, scale, offset = cuts.n_cuts, cuts.left, cuts.weight, cuts.share_scale, cuts.share_offset
    if rules.criterion == GINI and left.shape[0] == 2:
        score_two_classes(cuts, least, score)
        return
    if rules.criterion == NEWTON and rules.monotonic.shape[0] > 0:
        score_bounded(cuts, rules, least, score)
        return
    missing_weight, total_weight = cuts.missing_weight, cuts.total_weight
    if rules.criterion != GINI:
        base, base_missing, base_total = weight, missing_weight, total_weight
        if rules.criterion == NEWTON:
            base, base_missing, base_total = left[_HESSIAN], cuts.missing[_HESSIAN], cuts.total[_HESSIAN]
        score_one_column(cuts, rules, least, base, base_missing, base_total, score)
        return
    for cut in range(n_cuts):
        sides[0, cut] = 0.0
        sides[1, cut] = 0.0
    for c in range(left.shape[0]):
        column_total, column_missing = cuts.total[c], cuts.missing[c]
        for cut in range(n_cuts):
            sum_left = left[c, cut] + (scale * weight[cut] + offset) * column_missing
            sum_right = column_total - sum_left
            sides[0, cut] += sum_left * sum_left
            sides[1, cut] += sum_right * sum_right
    for cut in range(n_cuts):
        left_weight = weight[cut] + (scale * weight[cut] + offset) * missing_weight
        right_weight = total_weight - left_weight
        both = sum_of_scores(sides[0, cut], sides[1, cut], left_weight, right_weight)
        score[cut] = both if (left_weight >= least) & (right_weight >= least) else -math.inf


@kernel
def forbid(cuts, least, score):
    """-inf as score where a side weighs less than `least` > 0."""
    weight, scale, offset = cuts.weight, cuts.share_scale, cuts.share_offset
    for cut in range(cuts.n_cuts):
        left_weight = weight[cut] + (scale * weight[cut] + offset) * cuts.missing_weight
        allowed = (left_weight >= least) & (cuts.total_weight - left_weight >= least)
        score[cut] = score[cut] if allowed else -math.inf


@kernel
def score_entropy(cuts, least, score):
    """The same for the entropy."""
    weight, scale, offset = cuts.weight, cuts.share_scale, cuts.share_offset
    for cut in range(cuts.n_cuts):
        left_weight = weight[cut] + (scale * weight[cut] + offset) * cuts.missing_weight
        score[cut] = -x_log2_x(left_weight) - x_log2_x(cuts.total_weight - left_weight)
    for c in range(cuts.total.shape[0]):
        for cut in range(cuts.n_cuts):
            mass_left = cuts.left[c, cut] + (scale * weight[cut] + offset) * cuts.missing[c]
            score[cut] += x_log2_x(mass_left) + x_log2_x(cuts.total[c] - mass_left)
    forbid(cuts, least, score)


@kernel
def best_stored_cut(stored, n_bins, total, total_weight, empty, least, rules, margin):
    """The best cut of a feature of NEWTON without missing cells, from a `stored` histogram (more than n_bins, n_lanes)
    with the columns side by side; bins that weigh no more than `empty` are empty.

    Sums, scores and the search for the best one in a single pass, as cuts with too little on a side need no score. Of
    equally good cuts (up to `margin`) the first one counts, and none lies behind an empty bin. Returns its score, the
    bin to its left and the next one that is not empty; the bins are -1 if no cut is allowed.
    """
    gradient, hessian, weight = 0.0, 0.0, 0.0
    extra, least_hessian, whole, all_hessian = rules.regularisation, rules.min_leaf_hessian, total[0], total[_HESSIAN]
    # A score is a fraction. Divisions are slow, so two of them are compared as products.
    best, best_base, here = -math.inf, 1.0, np.int64(-1)
    for b in range(n_bins):
        place = np.uint64(b)
        gradient += stored[place, 0]
        hessian += stored[place, _HESSIAN]
        weight += stored[place, 2]
        right_hessian = all_hessian - hessian
        if weight < least or min(hessian, right_hessian) < least_hessian:
            continue
        if total_weight - weight < least:
            break
        right, left_base, right_base = whole - gradient, hessian + extra, right_hessian + extra
        both, base = gradient * gradient * right_base + right * right * left_base, left_base * right_base
        if both * best_base > (best + margin * best_base) * base and stored[place, 2] > empty:
            best, best_base, here = both, base, np.int64(b)
    if here < 0:
        return -math.inf, here, here
    there = here + 1
    while there < n_bins - 1 and stored[np.uint64(there), 2] <= empty:
        there += 1
    return best / best_base, here, there


@inlined
def score_cuts(cuts, rules, least, sides, score):
    """Score every cut; -inf where a side weighs less than `least` > 0."""
    if rules.criterion == ENTROPY:
        score_entropy(cuts, least, score)
    else:
        score_squares(cuts, rules, least, sides, score)


# Not a kernel: arrays are made in Python.
def n_values(criterion: int, n_columns: int) -> int:
    """The number of values of a node, for a target with so many columns."""
    return n_columns if criterion in (GINI, ENTROPY) else 1
