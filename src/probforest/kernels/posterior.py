"""What a free-form prior makes of measured values: the quantiles of their posteriors."""

import numpy as np

from .cdf import SQUASH, TABLE_STEPS, look_up, look_up_all, squashed_position
from .jit import inlined, kernel
from .lanes import LANES, aligned_rows, in_all, load, plus, store
from .layout import INDEX, REAL, MeasuredCell
from .running_sums import running_sums

N_LEVELS = 3  # quantiles of a cell that are computed at once: −1σ, 0 and 1σ
_FINE_REACH = 4.0  # σ: nearly all of a cell
_NOTHING = 1e-7  # a value with less of its probability where the prior has any lies 5 σ or more from all true ones
_LEVEL_TOLERANCE = 1e-5  # of the probability below a quantile
_MOST_STEPS = 60  # of the search for it; a handful is enough, but for tables of F with a jump


@inlined
def place_in_table(cell, threshold):
    """Where F(threshold) stands in the table of a MeasuredCell."""
    inverse_scale = cell.inverse_lower if threshold < cell.center else cell.inverse_upper
    return squashed_position(threshold - cell.center, inverse_scale)


@inlined
def threshold_at(cell, place):
    """The threshold whose F stands at `place` in the table of a MeasuredCell."""
    squashed = place / (0.5 * TABLE_STEPS) - 1.0
    z = SQUASH * squashed / (1.0 - abs(squashed))
    return cell.center + z / (cell.inverse_lower if z < 0.0 else cell.inverse_upper)


@kernel
def cell_cdf(cell, threshold):
    """F(threshold) of a MeasuredCell."""
    return look_up(cell.table, 0, place_in_table(cell, threshold), TABLE_STEPS)


@inlined
def count_up_to(edges, low, middle, high):
    """How many of `edges` are not above each of three places. They are few: counting them, as vector instructions, is
    faster than a search, which has branches that can't be predicted."""
    up_to_low, up_to_middle, up_to_high = np.int64(0), np.int64(0), np.int64(0)
    for k in range(edges.shape[0]):
        up_to_low += edges[k] <= low
        up_to_middle += edges[k] <= middle
        up_to_high += edges[k] <= high
    return up_to_low, up_to_middle, up_to_high


@inlined
def window(edges, low, center, high):
    """The prior's cells [first, last) that have something between `low` and `high`; none is last <= first. And the
    number of the first of `edges` above `center`."""
    n_cells = edges.shape[0] - 1
    up_to_low, above_center, up_to_high = count_up_to(edges, low, center, high)
    return min(max(up_to_low - 1, 0), n_cells), min(up_to_high, n_cells), above_center


@inlined
def fill_cdf(cell, edges, steps, out):
    """F of a MeasuredCell at `edges` (m,) into `out` (m,); `steps` (m,) int32 is scratch space."""
    count = edges.shape[0]
    for k in range(count):
        out[k] = place_in_table(cell, edges[k])
        steps[k] = 0
    look_up_all(cell.table, steps, out, count, out)


@kernel
def likelihoods(center, lower, upper, reach, edges, table, below, steps, out):
    """How likely the measured cells (n,) are for a true value between neighbouring `edges` (m + 1,), into `out`: cell i
    is in lane i % LANES of the rows of out[i // LANES] (m, LANES), and nothing is written for lanes without a cell. A
    cell reaches up to `reach` σ from the measured value. `below` and `steps` (m + 1,) are scratch space."""
    n_cells = edges.shape[0] - 1
    for i in range(center.shape[0]):
        cell = MeasuredCell(center[i], 1.0 / lower[i], 1.0 / upper[i], table)
        first, last, _ = window(edges, center[i] - reach * lower[i], center[i], center[i] + reach * upper[i])
        fill_cdf(cell, edges, steps, below)
        for k in range(n_cells):
            below[k] = (below[k + 1] - below[k]) / (edges[k + 1] - edges[k])
        to, lane = out[i // LANES], i % LANES
        for k in range(n_cells):
            to[k, lane] = below[k] if first <= k < last else 0.0


@inlined
def sum_of_likelihoods(likelihood, mass):
    """Σ likelihood × mass over the rows of `likelihood` (m, LANES). Two sums: each addition waits for the last one."""
    one, two, count = in_all(0.0), in_all(0.0), mass.shape[0]
    for k in range(0, count - 1, 2):
        one = plus(one, load(likelihood, k), in_all(mass[k]))
        two = plus(two, load(likelihood, k + 1), in_all(mass[k + 1]))
    if count % 2 == 1:
        one = plus(one, load(likelihood, count - 1), in_all(mass[count - 1]))
    return plus(one, two, in_all(1.0))


@kernel
def maximise(likelihood, weight, n_steps, mass, gain, totals):
    """Steps of the EM algorithm: `mass` (m,) of a prior becomes the mean posterior of the measured cells, in the lanes
    of `likelihood` (g, m, LANES), with their `weight` (g, LANES). A cell where the prior has nothing takes no part.
    `gain` (m, LANES) and `totals` (2, LANES) are scratch space."""
    total, seen = totals[0], totals[1]
    for _ in range(n_steps):
        for k in range(mass.shape[0]):
            store(gain, k, in_all(0.0))
        store(totals, 1, in_all(0.0))
        for g in range(weight.shape[0]):
            here, counts = likelihood[g], weight[g]
            store(totals, 0, sum_of_likelihoods(here, mass))
            for lane in range(LANES):
                is_seen = total[lane] > 0.0
                seen[lane] += counts[lane] if is_seen else 0.0
                total[lane] = counts[lane] / total[lane] if is_seen else 0.0
            factor = load(totals, 0)
            for k in range(mass.shape[0]):
                store(gain, k, plus(load(gain, k), factor, load(here, k)))
        all_seen = 0.0
        for lane in range(LANES):
            all_seen += seen[lane]
        for k in range(mass.shape[0]):
            gained = 0.0
            for lane in range(LANES):
                gained += gain[k, lane]
            mass[k] *= gained / all_seen if all_seen > 0.0 else 1.0


@inlined
def keeps_its_shape(edges, right, center, lower, upper):
    """Whether a measured value is so fine that the prior has nothing to say about it: nearly all of it lies in the
    prior's cell around the value (or the two that meet there), in those beside, or beyond the prior's ends. `right` is
    the first edge above the value."""
    left = right - 1
    if left >= 0 and edges[left] == center:
        left -= 1
    is_above = left < 1 or edges[left - 1] <= center - _FINE_REACH * lower
    return is_above and (right + 1 >= edges.shape[0] or center + _FINE_REACH * upper <= edges[right + 1])


@inlined
def fill_cumulative(cell, edges, density, densest, steps, below, cumulative):
    """F of a measured value at `edges` (m + 1,) into `below`, and the posterior's mass, not normalised, from the first
    to each of them into `cumulative`. Returns that of all; 0 where the prior, with its `density` (m,) between the
    edges, does not explain it. No density of the prior is above `densest`. `steps` is scratch space."""
    n_cells = density.shape[0]
    fill_cdf(cell, edges, steps, below)
    for k in range(n_cells):
        cumulative[k + 1] = (below[k + 1] - below[k]) * density[k]
    cumulative[0] = 0.0
    total = running_sums(cumulative[1 : n_cells + 1])
    # Next to nothing beside the largest density here, of which that of all cells says enough as a rule.
    return total if total > _NOTHING * densest or total > _NOTHING * largest(density) else 0.0


@kernel
def largest(numbers):
    """The largest of numbers (n,) >= 0."""
    most = 0.0
    for k in range(numbers.shape[0]):
        most = max(most, numbers[k])
    return most


@inlined
def counts_below(values, one, two, three):
    """How many of `values` (m,) are below each of three levels."""
    below_one, below_two, below_three = np.int64(0), np.int64(0), np.int64(0)
    for k in range(values.shape[0]):
        below_one += values[k] < one
        below_two += values[k] < two
        below_three += values[k] < three
    return below_one, below_two, below_three


@kernel
def place_of(cell, inverse, target, low, high, below_low, below_high, tolerance):
    """Where F of a measured value, `below_low` at `low` and `below_high` at `high`, is `target` within a `tolerance`.

    The `inverse` of F knows it, but for the tails. There the secant method in a bracket finds it; an end that stays
    twice counts half (Illinois), so that the bracket closes fast.
    """
    place = look_up(inverse, 0, target * TABLE_STEPS, TABLE_STEPS)
    if abs(look_up(cell.table, 0, place, TABLE_STEPS) - target) <= tolerance:
        return min(max(threshold_at(cell, place), low), high)
    off_low, off_high = below_low - target, below_high - target
    place, side = low, 0
    for _ in range(_MOST_STEPS):
        spread = off_high - off_low
        place = low - off_low * ((high - low) / spread) if spread > 0.0 else 0.5 * low + 0.5 * high
        off = cell_cdf(cell, place) - target
        if abs(off) <= tolerance:
            break
        if off < 0.0:
            low, off_low = place, off
            off_high = 0.5 * off_high if side < 0 else off_high
            side = -1
        else:
            high, off_high = place, off
            off_low = 0.5 * off_low if side > 0 else off_low
            side = 1
    return place


@kernel
def quantiles(center, lower, upper, reach, edges, density, table, inverse, levels, steps, scratch, out):
    """The quantiles of the posteriors of cells (n,) at `levels` (3,) into `out` (n, 3).

    The prior has a `density` (m,) between `edges` (m + 1,), where the posterior is a piece of the cell's own
    distribution, which ends `reach` σ from its centre. NaN where the cell is finer than what the prior knows, or where
    that has nothing. `inverse` is that of the `table` of F. `steps` is (m + 1,) int32, `scratch` is (2, m + 1).
    """
    below, cumulative, densest = scratch[0], scratch[1], largest(density)
    for i in range(center.shape[0]):
        x, cell = center[i], MeasuredCell(center[i], 1.0 / lower[i], 1.0 / upper[i], table)
        least, most = x - reach * lower[i], x + reach * upper[i]
        first, last, above_center = window(edges, least, x, most)
        n_cells, total = last - first, 0.0
        # Slices: an index that might be negative, as far as the compiler knows, is no vector instruction.
        here, dense = edges[first : last + 1], density[first:last]
        if n_cells > 0 and not keeps_its_shape(edges, above_center, x, lower[i], upper[i]):
            total = fill_cumulative(cell, here, dense, densest, steps, below, cumulative)
        if not total > 0.0:
            for q in range(N_LEVELS):
                out[i, q] = np.nan
            continue
        found = counts_below(cumulative[1:n_cells], levels[0] * total, levels[1] * total, levels[2] * total)
        for q in range(N_LEVELS):
            k, target = found[q], levels[q] * total
            out[i, q] = place_of(
                cell,
                inverse,
                below[k] + (target - cumulative[k]) / dense[k],
                max(here[k], least),
                min(here[k + 1], most),
                below[k],
                below[k + 1],
                _LEVEL_TOLERANCE * total / dense[k],
            )


# Not kernels: arrays that are made in Python need not be compiled.
def inverse_table(table: np.ndarray) -> np.ndarray:
    """Places in a `table` of F, evenly spaced in F."""
    return np.interp(np.linspace(0.0, 1.0, TABLE_STEPS + 1), table, np.arange(TABLE_STEPS + 1.0))


def posterior_quantiles(center, lower, upper, reach, edges, density, table, levels, inverse=None) -> np.ndarray:
    """The quantiles (n, q) at up to three `levels` (q,). The `inverse` of the table need not be computed if it is
    known."""
    inverse = inverse_table(table) if inverse is None else inverse
    out, scratch = np.empty((len(center), N_LEVELS), dtype=REAL), np.empty((2, len(edges)), dtype=REAL)
    steps = np.empty(len(edges), dtype=INDEX)
    all_levels = levels if len(levels) == N_LEVELS else np.resize(levels, N_LEVELS)
    quantiles(center, lower, upper, reach, edges, density, table, inverse, all_levels, steps, scratch, out)
    return out[:, : len(levels)]


def most_likely_masses(center, lower, upper, weight, reach, edges, table, n_steps) -> np.ndarray:
    """Masses (m,) of a prior between `edges` (m + 1,) after some steps from equal ones."""
    n_cells, n_groups = len(edges) - 1, -(-len(center) // LANES)
    likelihood, weights, gain, totals = aligned_rows(
        [(n_groups, n_cells, LANES), (n_groups, LANES), (n_cells, LANES), (2, LANES)]
    )
    below, steps = np.empty(len(edges), dtype=REAL), np.empty(len(edges), dtype=INDEX)
    likelihoods(center, lower, upper, reach, edges, table, below, steps, likelihood)
    weights.reshape(-1)[: len(weight)] = weight
    mass = np.full(n_cells, 1.0 / n_cells)
    maximise(likelihood, weights, n_steps, mass, gain, totals)
    return mass
