"""The members of a node go on to its children (eq. 6–9, 18): the same computation in training and in prediction."""

import math

import numpy as np

from .cdf import left_probability
from .jit import kernel
from .layout import INDEX, REAL, Members

# A thousand halvings (missing cells in a very deep tree) would make π zero, and the object would weigh nothing anywhere.
_LEAST_REACH = 1e-290


@kernel
def new_members(capacity):
    return Members(np.empty(capacity, dtype=INDEX), np.empty(capacity, dtype=REAL), np.empty(capacity, dtype=np.bool_))


@kernel
def with_room(members, used, needed):
    """The same stack with room for `needed` members; the first `used` are kept."""
    if needed <= members.index.shape[0]:
        return members
    larger = new_members(2 * needed)
    larger.index[:used] = members.index[:used]
    larger.reach[:used] = members.reach[:used]
    larger.main[:used] = members.main[:used]
    return larger


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
def send(members, start, stop, probability, share_left, keep_proba, scratch):
    """Replace the segment [start, stop) of `members`, the top of the stack, by its two children.

        before  ... | node                    probability (m,): to the left
        after   ... | right | left

    A child is entered while π > keep_proba, and always along the most probable path; when both ways are equally
    probable that is the side with the larger share of the training weight. Every member enters the right child
    at most once, so the right child is written over the node itself; the left one waits in `scratch`.
    The stack must have room for stop + (stop - start). Returns where the right and the left child end.
    """
    right_end = start
    n_left = 0
    for m in range(start, stop):
        index, reach, main = members.index[m], members.reach[m], members.main[m]
        to_left = probability[m - start]
        main_left = to_left > 0.5 or (to_left == 0.5 and share_left >= 0.5)
        reach_left, reach_right = reach * to_left, reach * (1.0 - to_left)
        if reach_left > keep_proba or (main and main_left):
            scratch.index[n_left] = index
            scratch.reach[n_left] = max(reach_left, _LEAST_REACH)
            scratch.main[n_left] = main and main_left
            n_left += 1
        if reach_right > keep_proba or (main and not main_left):
            members.index[right_end] = index
            members.reach[right_end] = max(reach_right, _LEAST_REACH)
            members.main[right_end] = main and not main_left
            right_end += 1
    left_end = right_end + n_left
    members.index[right_end:left_end] = scratch.index[:n_left]
    members.reach[right_end:left_end] = scratch.reach[:n_left]
    members.main[right_end:left_end] = scratch.main[:n_left]
    return right_end, left_end
