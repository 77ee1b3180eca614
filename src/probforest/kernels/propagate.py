"""Objects go on to the children of a node (eq. 6–9, 18): the same rule in training and in prediction."""

import numpy as np

from ..support.block_copy import copy_in_blocks
from .cdf import even_position, look_up_all, look_up_own, read_cell, squashed_position
from .eights import EIGHT, above, at_least, below, load_indices, load_numbers, n_chosen, product, rest, write
from .jit import inlined, kernel
from .layout import (
    EXACT_CELLS,
    INDEX,
    NORMAL_CELLS,
    OWN_TABLE,
    REAL,
    SCRATCH,
    TABULATED_CELLS,
    CellColumns,
    Cells,
    Members,
)

# A thousand halvings (missing cells in a very deep tree) would make π zero, and the object would weigh nothing.
LEAST_REACH = 1e-290


@kernel
def branch(reach, main, to_left, share_left, keep_proba):
    """Where an object goes from a node that it reaches with probability `reach`, when it goes left with `to_left`.

    A child is entered while π > keep_proba, and always along the most probable path (`main`: the node lies on it); when
    both ways are equally probable that is the side with the larger share of the training weight.
    Returns whether it enters the left and the right child, its π there, and whether its most probable path goes left.
    """
    main_left = (to_left > 0.5) | ((to_left == 0.5) & (share_left >= 0.5))
    reach_left, reach_right = reach * to_left, reach * (1.0 - to_left)
    enters_left = (reach_left > keep_proba) | (main & main_left)
    enters_right = (reach_right > keep_proba) | (main & (not main_left))
    return enters_left, enters_right, max(reach_left, LEAST_REACH), max(reach_right, LEAST_REACH), main_left


@inlined
def cells_of_feature(columns, feature):
    """The cells of one feature of CellColumns, as a table with no other feature."""
    return Cells(columns.values[feature], columns.table, columns.start[feature : feature + 1], columns.complete)


@kernel
def left_probabilities(cells, feature, threshold, rows, out, scratch, steps):
    """F_ij(threshold) of the objects `rows` (m,) into `out` (m,); NaN where the cell is missing.

    A block of cells at a time, in steps: fetch them from all over the memory, find their places in the table, look them
    up. Each loop does one thing, and so many cells at once. `scratch` is (2, SCRATCH), `steps` (SCRATCH,).
    """
    values, feature, kind = cells.values, np.uint64(feature), cells.values.shape[2]
    if kind == EXACT_CELLS:  # nothing to look up: one step is faster than several
        for m in range(rows.shape[0]):
            center = values[np.uint64(rows[m]), feature, 0]
            here = 1.0 if center <= threshold else 0.0
            out[m] = here if center == center else np.nan
        return
    center, place, start = scratch[0], scratch[1], cells.start[feature]
    flat, n_features = values.reshape(-1), np.uint64(values.shape[1])
    for first in range(0, rows.shape[0], SCRATCH):
        count = min(rows.shape[0] - first, SCRATCH)
        here, to = rows[first:], out[first:]
        for m in range(count):
            at = (np.uint64(here[m]) * n_features + feature) * np.uint64(kind)
            center[m], place[m] = read_cell(flat, at, kind, threshold)
        if kind == NORMAL_CELLS:
            for m in range(count):
                place[m] = even_position(threshold - center[m], place[m])
        else:
            for m in range(count):
                place[m] = squashed_position(threshold - center[m], place[m])
        if kind == TABULATED_CELLS:
            for m in range(count):
                to[m] = values[np.uint64(here[m]), feature, OWN_TABLE]
            look_up_own(cells.table, to, place, count)
        else:
            for m in range(count):
                steps[m] = start
            look_up_all(cells.table, steps, place, count, to)
        if not cells.complete:
            for m in range(count):
                to[m] = to[m] if center[m] == center[m] else np.nan


@kernel
def follow_larger(reach, to_left, share_left, keep_proba):
    """Pruning that loses nothing: if π of the smaller side is not above `keep_proba`, everything follows the larger
    one. Returns the probability to go left after that."""
    main_left = (to_left > 0.5) | ((to_left == 0.5) & (share_left >= 0.5))
    whole = 1.0 if main_left else 0.0
    return whole if reach * min(to_left, 1.0 - to_left) <= keep_proba else to_left


@kernel
def sum_products(one, other):
    """Σ one × other, four sums at a time: each addition waits for the last one of its sum."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    count = np.uint64(one.shape[0])  # unsigned: an index that can't be negative costs no test
    fours = count - count % np.uint64(4)
    for m in range(np.uint64(0), fours, np.uint64(4)):
        a += one[m] * other[m]
        b += one[m + np.uint64(1)] * other[m + np.uint64(1)]
        c += one[m + np.uint64(2)] * other[m + np.uint64(2)]
        d += one[m + np.uint64(3)] * other[m + np.uint64(3)]
    for m in range(fours, count):
        a += one[m] * other[m]
    return (a + b) + (c + d)


@kernel
def conserve(members, start, stop, probability, share_left, keep_proba):
    """`follow_larger` for the members [start, stop), in place in `probability` (m,). Returns how many of them go right
    and left."""
    n_right, n_left, reach = 0, 0, members.reach[start:stop]
    for m in range(stop - start):
        to_left = follow_larger(reach[m], probability[m], share_left, keep_proba)
        probability[m] = to_left
        n_left += to_left > 0.0
        n_right += to_left < 1.0
    return n_right, n_left


@inlined
def part_eights(members, start, count, right_end, left_end, probability):
    """`part` for `count` members, a multiple of EIGHT. Returns where the children end then."""
    for m in range(0, count, EIGHT):
        to_left = load_numbers(probability, m)
        goes_left, goes_right = above(to_left, 0.0), below(to_left, 1.0)
        # All is read before anything is written: a child may take the place of the node.
        row, reach, mass = (
            load_indices(members.row, start + m),
            load_numbers(members.reach, start + m),
            load_numbers(members.mass, start + m),
        )
        write(row, goes_left, members.row, left_end)
        write(at_least(product(reach, to_left), LEAST_REACH), goes_left, members.reach, left_end)
        write(product(mass, to_left), goes_left, members.mass, left_end)
        left_end += n_chosen(goes_left)
        write(row, goes_right, members.row, right_end)
        write(at_least(product(reach, rest(to_left)), LEAST_REACH), goes_right, members.reach, right_end)
        write(product(mass, rest(to_left)), goes_right, members.mass, right_end)
        right_end += n_chosen(goes_right)
    return right_end, left_end


@kernel
def part(members, start, stop, right_start, left_start, probability):
    """`send` after `conserve`: everybody goes where their `probability` (m,) is above 0, and nobody asks for the most
    probable path or for labels. Returns where the right and the left child end.

    There must be room for EIGHT more than enter a child in free space. A child that takes the place of the node stays
    within it: the last members, less than EIGHT, go one by one.
    """
    row, reach, mass = members.row, members.reach, members.mass
    whole = stop - start - (stop - start) % EIGHT
    right_end, left_end = part_eights(members, start, whole, np.uint64(right_start), np.uint64(left_start), probability)
    for m in range(whole, stop - start):
        at = np.uint64(start + m)
        to_left, to_right = probability[m], 1.0 - probability[m]
        this_row, this_reach, this_mass = row[at], reach[at], mass[at]  # before they are written over
        row[left_end] = this_row
        reach[left_end] = max(this_reach * to_left, LEAST_REACH)
        mass[left_end] = this_mass * to_left
        left_end += np.uint64(to_left > 0.0)
        row[right_end] = this_row
        reach[right_end] = max(this_reach * to_right, LEAST_REACH)
        mass[right_end] = this_mass * to_right
        right_end += np.uint64(to_left < 1.0)
    return np.int64(right_end), np.int64(left_end)


@kernel
def send(members, start, stop, right_start, left_start, probability, share_left, keep_proba):
    """Write the two children of the segment [start, stop) of `members` into free space.

        before  ... | node | ...                               probability (m,): to the left
        after   ... | node | ... | right ... | left ...

    There must be room for one more than enters: every member is written to both children, and counts where it enters,
    so that there is no branch that can't be predicted. One of the children may take the place of the node, `start`.
    Returns where the right and the left child end, and what they weigh.
    """
    row, reach, mass, main, label = members.row, members.reach, members.mass, members.main, members.class_index
    right_end, left_end = np.uint64(right_start), np.uint64(left_start)
    right_weight, left_weight = 0.0, 0.0
    for m in range(stop - start):
        at = np.uint64(start + m)
        to_left = probability[m]
        this_row, is_main, this_label = row[at], main[at], label[at]  # before they are written over
        enters_left, enters_right, reach_left, reach_right, main_left = branch(
            reach[at], is_main, to_left, share_left, keep_proba
        )
        mass_left, mass_right = mass[at] * to_left, mass[at] * (1.0 - to_left)
        row[left_end] = this_row
        reach[left_end] = reach_left
        mass[left_end] = mass_left
        main[left_end] = is_main & main_left
        label[left_end] = this_label
        left_weight += mass_left * enters_left
        left_end += np.uint64(enters_left)
        row[right_end] = this_row
        reach[right_end] = reach_right
        mass[right_end] = mass_right
        main[right_end] = is_main & (not main_left)
        label[right_end] = this_label
        right_weight += mass_right * enters_right
        right_end += np.uint64(enters_right)
    return np.int64(right_end), np.int64(left_end), right_weight, left_weight


@kernel
def move_down(members, start, stop, to):
    """Copy the segment [start, stop) to one that begins at `to` <= start. Returns where it ends."""
    for m in range(stop - start):
        members.row[to + m] = members.row[start + m]
    for m in range(stop - start):
        members.reach[to + m] = members.reach[start + m]
    for m in range(stop - start):
        members.mass[to + m] = members.mass[start + m]
    for m in range(stop - start):
        members.main[to + m] = members.main[start + m]
    for m in range(stop - start):
        members.class_index[to + m] = members.class_index[start + m]
    return to + stop - start


@inlined
def replace_parent(members, start, stop, right_end, left_end):
    """Move the children that `send` wrote down over their parent [start, stop), the left one on top.
    Returns their new ends."""
    right_end = move_down(members, stop, right_end, start)
    return right_end, move_down(members, stop + (stop - start), left_end, right_end)


# Not kernels: arrays that are made in Python need not be compiled.
def cell_columns(cells: Cells) -> CellColumns:
    n_objects, n_features, kind = cells.values.shape
    values = np.empty((n_features, n_objects, 1, kind), dtype=REAL)
    for number in range(kind):
        copy_in_blocks(cells.values[:, :, number].T, values[:, :, 0, number])
    return CellColumns(values, cells.table, cells.start, cells.complete)


def new_members(capacity: int) -> Members:
    return Members(
        row=np.empty(capacity, dtype=INDEX),
        reach=np.empty(capacity, dtype=REAL),
        mass=np.empty(capacity, dtype=REAL),
        main=np.empty(capacity, dtype=np.bool_),
        class_index=np.empty(capacity, dtype=INDEX),
    )
