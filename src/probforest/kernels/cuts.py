"""The cuts of one feature, from left to right: where they are, the sums to the left of each, which score is best.

A cut lies behind a bin. Plain loops over the cuts and flat arrays, one column after the other: the compiler turns them
into vector instructions.
"""

import math

import numpy as np

from .jit import kernel


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
    The mass of class c in bin b is entry c × class_step + b of the histogram. For masses only: a sum of gradients may
    be 0 in a bin that holds something."""
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
def sum_left(histogram, column_step, first_bin, n_cuts, left):
    """Sums to the left of the cuts behind `n_cuts` bins, per column into `left` (n_columns, n or more); clears the
    histogram.

    Four cuts at a time: a running sum waits for its last addition, and so waits half as often. Behind an empty bin the
    sums are the same to the last bit.
    """
    rest = n_cuts % 4
    for c in range(left.shape[0]):
        below, place = 0.0, np.uint64(c * column_step + first_bin)
        for cut in range(0, n_cuts - rest, 4):
            second, third, fourth = place + np.uint64(1), place + np.uint64(2), place + np.uint64(3)
            one, three = histogram[place], histogram[third]
            two, four = one + histogram[second], three + histogram[fourth]
            histogram[place], histogram[second], histogram[third], histogram[fourth] = 0.0, 0.0, 0.0, 0.0
            left[c, cut] = below + one
            below += two
            left[c, cut + 1] = below
            left[c, cut + 2] = below + three
            below += four
            left[c, cut + 3] = below
            place += np.uint64(4)
        for cut in range(n_cuts - rest, n_cuts):
            below += histogram[place]
            histogram[place] = 0.0
            left[c, cut] = below
            place += np.uint64(1)


@kernel
def sum_left_of_listed(histogram, column_step, bin_step, bin_of_cut, n_cuts, left):
    """The same for cuts behind the bins `bin_of_cut` (n or more,) only. Column c of bin b is entry
    c × column_step + b × bin_step of the histogram."""
    for c in range(left.shape[0]):
        below = 0.0
        for cut in range(n_cuts):
            place = np.uint64(c * column_step + bin_of_cut[cut] * bin_step)
            below += histogram[place]
            histogram[place] = 0.0
            left[c, cut] = below


@kernel
def sum_left_of_stored(stored, n_bins, least, missing, left):
    """The same from a histogram `stored` (more than n_bins, n_lanes) that stays as it is: three columns side by side,
    the weight last, the missing cells behind all bins of all features.

    A bin that weighs no more than `least` is empty: that is what subtraction leaves behind. Empty bins at both ends are
    left out. Returns the first bin that is not, and the number of bins from there to the last one, (0, 0) if all are;
    fills `missing` (3,) and `left` (3, n or more).
    """
    last_row = stored.shape[0] - 1
    there_are = stored[last_row, 2] > least
    for c in range(3):
        missing[c] = stored[last_row, c] if there_are else 0.0
    first, end = 0, n_bins
    while first < end and stored[first, 2] <= least:
        first += 1
    while end > first and stored[end - 1, 2] <= least:
        end -= 1
    if first == end:
        return 0, 0
    one, two, three = 0.0, 0.0, 0.0
    for b in range(first, end):  # all columns at once: each sum waits for its last addition
        place, cut = np.uint64(b), np.uint64(b - first)
        counts = stored[place, 2] > least
        one += stored[place, 0] if counts else 0.0
        two += stored[place, 1] if counts else 0.0
        three += stored[place, 2] if counts else 0.0
        left[0, cut], left[1, cut], left[2, cut] = one, two, three
    return first, end - first


@kernel
def best_cut(n_cuts, score, margin):
    """The first cut that no other beats by more than `margin`; -1 if none is allowed.

    Four maxima at a time, as each waits for the one before.
    """
    a, b, c, d = -math.inf, -math.inf, -math.inf, -math.inf
    fours = n_cuts - n_cuts % 4
    for cut in range(0, fours, 4):
        place = np.uint64(cut)
        a, b = max(a, score[place]), max(b, score[place + np.uint64(1)])
        c, d = max(c, score[place + np.uint64(2)]), max(d, score[place + np.uint64(3)])
    for cut in range(fours, n_cuts):
        a = max(a, score[np.uint64(cut)])
    top = max(max(a, b), max(c, d))
    if top == -math.inf:
        return -1
    for cut in range(n_cuts):
        if score[cut] >= top - margin:
            return cut
    return -1
