"""The members of a node go on to its children (eq. 6–9, 18): the same computation in training and in prediction."""

import math

import numpy as np

from .arrays import enlarged
from .cdf import left_probability
from .jit import kernel
from .layout import INDEX, REAL, Members

# A thousand halvings (missing cells in a very deep tree) would make π zero, and the object would weigh nothing.
_LEAST_REACH = 1e-290


@kernel
def new_members(capacity):
    return Members(np.empty(capacity, dtype=INDEX), np.empty(capacity, dtype=REAL), np.empty(capacity, dtype=np.bool_))


@kernel
def enlarged_members(members, used, capacity):
    """The first `used` members in a larger stack."""
    return Members(
        enlarged(members.row, used, capacity),
        enlarged(members.reach, used, capacity),
        enlarged(members.main, used, capacity),
    )


@kernel
def left_probabilities(cells, feature, threshold, missing_left, index, table, out):
    """F_ij(threshold) of the objects `index` (m,) into `out` (m,); `missing_left` where the cell is missing."""
    center = cells.center[feature]
    exact = cells.inverse_scale.shape[0] == 0
    inverse_scale = center if exact else cells.inverse_scale[feature]
    for m in range(index.shape[0]):
        x = center[index[m]]
        if math.isnan(x):
            out[m] = missing_left
        elif exact:
            out[m] = 1.0 if x <= threshold else 0.0
        else:
            out[m] = left_probability(threshold, x, inverse_scale[index[m]], table)


@kernel
def send(members, start, stop, probability, share_left, keep_proba):
    """Write the two children of the segment [start, stop) of `members`, the top of the stack, above it.

        before  ... | node                    probability (m,): to the left
        after   ... | node | right | left

    A child is entered while π > keep_proba, and always along the most probable path; when both ways are equally
    probable that is the side with the larger share of the training weight. The stack must have room for
    stop + 2 (stop - start). Returns where the right and the left child end.
    """
    left_start = stop + (stop - start)
    right_end, left_end = stop, left_start
    for m in range(start, stop):
        index, reach, main = members.row[m], members.reach[m], members.main[m]
        to_left = probability[m - start]
        main_left = to_left > 0.5 or (to_left == 0.5 and share_left >= 0.5)
        reach_left, reach_right = reach * to_left, reach * (1.0 - to_left)
        if reach_left > keep_proba or (main and main_left):
            members.row[left_end] = index
            members.reach[left_end] = max(reach_left, _LEAST_REACH)
            members.main[left_end] = main and main_left
            left_end += 1
        if reach_right > keep_proba or (main and not main_left):
            members.row[right_end] = index
            members.reach[right_end] = max(reach_right, _LEAST_REACH)
            members.main[right_end] = main and not main_left
            right_end += 1
    move_down(members, left_start, left_end, right_end)
    return right_end, right_end + left_end - left_start


@kernel
def move_down(members, start, stop, to):
    """Copy the segment [start, stop) to one that begins at `to` <= start."""
    for m in range(stop - start):
        members.row[to + m] = members.row[start + m]
        members.reach[to + m] = members.reach[start + m]
        members.main[to + m] = members.main[start + m]


@kernel
def replace_parent(members, start, stop, right_end, left_end):
    """Move the children that `send` wrote down over their parent [start, stop). Returns their new ends."""
    move_down(members, stop, left_end, start)
    return right_end - (stop - start), left_end - (stop - start)
