"""What a node's members add up to per bin of one feature, for targets with two columns: numbers (y, 1), or PMFs of two
classes.

The histogram is that of `add_columns`, bit for bit; the codes of a cell are read at once, as `add_words` does it, and
bins are not marked.
"""

import numpy as np

from .histogram import code_of, fetch
from .jit import inlined, kernel
from .layout import GRID_POINTS, SCRATCH


@inlined
def add_pair(sums, place, one, two):
    sums[place] += one
    sums[place + np.uint64(1)] += two


@kernel
def add_pairs(bins, feature, index, node, histogram, buffer):
    """Add members `index` (m,) whose codes fit in a word; `buffer` (SCRATCH,) is scratch space."""
    words, missing_code, chunk, columns = bins.words, np.uint64(bins.missing_code), bins.chunk, node.columns
    sums, _, missing, _ = histogram
    n_lanes = np.uint64(columns.shape[1])
    # Names for the chunks: the compiler can't know that the histogram is not written over an array of them.
    c0, c1, c2, c3, c4, c5, c6 = chunk[0], chunk[1], chunk[2], chunk[3], chunk[4], chunk[5], chunk[6]
    for first in range(0, index.shape[0], SCRATCH):
        count = min(index.shape[0] - first, SCRATCH)
        fetch(words, np.uint64(feature), index, first, count, buffer)
        for m in range(count):
            word, member = buffer[m], np.uint64(first + m)
            one, two = columns[member, 0], columns[member, 1]
            first_code = code_of(word, 0)
            if first_code == missing_code:
                add_pair(missing, np.uint64(0), one, two)
            elif first_code == code_of(word, GRID_POINTS - 1):  # all grid points in one bin: the same sums, at hand
                place = first_code * n_lanes
                sums[place] = sums[place] + one * c0 + one * c1 + one * c2 + one * c3 + one * c4 + one * c5 + one * c6
                place += np.uint64(1)
                sums[place] = sums[place] + two * c0 + two * c1 + two * c2 + two * c3 + two * c4 + two * c5 + two * c6
            else:
                add_pair(sums, first_code * n_lanes, one * c0, two * c0)
                add_pair(sums, code_of(word, 1) * n_lanes, one * c1, two * c1)
                add_pair(sums, code_of(word, 2) * n_lanes, one * c2, two * c2)
                add_pair(sums, code_of(word, 3) * n_lanes, one * c3, two * c3)
                add_pair(sums, code_of(word, 4) * n_lanes, one * c4, two * c4)
                add_pair(sums, code_of(word, 5) * n_lanes, one * c5, two * c5)
                add_pair(sums, code_of(word, 6) * n_lanes, one * c6, two * c6)


@kernel
def sum_left_of_pairs(histogram, n_lanes, n_bins, left):
    """Sums to the left of the cuts behind bins, into `left` (2, n_bins or more); clears the histogram. Empty bins at
    both ends have no cut; behind an empty bin in between the sums are the same to the last bit.

    Returns the first bin that is not empty, and the number of bins from there to the last one; (0, 0) if all are.
    """
    first, end = 0, n_bins
    while first < end and histogram[first * n_lanes] == 0.0 and histogram[first * n_lanes + 1] == 0.0:
        first += 1
    while end > first and histogram[(end - 1) * n_lanes] == 0.0 and histogram[(end - 1) * n_lanes + 1] == 0.0:
        end -= 1
    one, two = 0.0, 0.0
    for b in range(first, end):
        place, cut = np.uint64(b * n_lanes), np.uint64(b - first)
        one += histogram[place]
        two += histogram[place + np.uint64(1)]
        left[0, cut], left[1, cut] = one, two
        histogram[place], histogram[place + np.uint64(1)] = 0.0, 0.0
    return (0, 0) if first == end else (first, end - first)
