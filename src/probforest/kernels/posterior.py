"""What a free-form prior makes of measured values: the quantiles of their posteriors."""

import math

import numpy as np

from .cdf import look_up, squashed_position
from .jit import kernel
from .layout import REAL

_REACH = 8.0  # σ: what a cell has beyond does not change its posterior
_HALVINGS = 12
SCALES, SCALE_STEP = 48, 0.75  # errors on the grid of posteriors: down by 2 ** 0.75 each


@kernel
def cell_cdf(threshold, center, inverse_lower, inverse_upper, table):
    """F of one cell, from a squashed `table`."""
    inverse = inverse_lower if threshold < center else inverse_upper
    return look_up(table, 0, squashed_position(threshold, center, inverse))


@kernel
def first_above(edges, value):
    """The number of the first of `edges` above `value`."""
    low, high = 0, edges.shape[0]
    while low < high:
        middle = (low + high) // 2
        if edges[middle] <= value:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def window(edges, center, lower, upper):
    """The prior's cells [first, last) that a measured value may lie in; none is last <= first."""
    n_cells = edges.shape[0] - 1
    first = min(max(first_above(edges, center - _REACH * lower) - 1, 0), n_cells)
    return first, min(first_above(edges, center + _REACH * upper), n_cells)


@kernel
def likelihoods(center, lower, upper, edges, table, out, windows):
    """How likely the measured cells (n,) are for a true value between neighbouring `edges` (m + 1,), into `out` (n, m);
    and into `windows` (n, 2), where that is not nothing."""
    for i in range(center.shape[0]):
        x, inverse_lower, inverse_upper = center[i], 1.0 / lower[i], 1.0 / upper[i]
        first, last = window(edges, x, lower[i], upper[i])
        windows[i, 0], windows[i, 1] = first, last
        below = cell_cdf(edges[first], x, inverse_lower, inverse_upper, table)
        for k in range(first, last):
            above = cell_cdf(edges[k + 1], x, inverse_lower, inverse_upper, table)
            out[i, k] = (above - below) / (edges[k + 1] - edges[k])
            below = above


@kernel
def maximise(likelihood, windows, weight, n_steps, mass, gain):
    """Steps of the EM algorithm: `mass` (m,) of a prior becomes the mean posterior of the measured cells. A cell where
    the prior has nothing takes no part. `gain` (m,) is scratch space."""
    for _ in range(n_steps):
        for k in range(mass.shape[0]):
            gain[k] = 0.0
        seen = 0.0
        for i in range(windows.shape[0]):
            row, first, count = likelihood[i], windows[i, 0], windows[i, 1] - windows[i, 0]
            here, there, to = row[first:], mass[first:], gain[first:]
            # Four sums: one would wait for each of its additions.
            one, two, three, four = 0.0, 0.0, 0.0, 0.0
            fours = count - count % 4
            for k in range(0, fours, 4):
                one += here[k] * there[k]
                two += here[k + 1] * there[k + 1]
                three += here[k + 2] * there[k + 2]
                four += here[k + 3] * there[k + 3]
            for k in range(fours, count):
                one += here[k] * there[k]
            total = (one + two) + (three + four)
            if total > 0.0:
                seen += weight[i]
                factor = weight[i] / total
                for k in range(count):
                    to[k] += factor * here[k]
        for k in range(mass.shape[0]):
            mass[k] *= gain[k] / seen if seen > 0.0 else 1.0


@kernel
def place_between(low, high, share, center, lower, upper, table):
    """Where a `share` of what a cell has between `low` and `high` lies below."""
    inverse_lower, inverse_upper = 1.0 / lower, 1.0 / upper
    below = cell_cdf(low, center, inverse_lower, inverse_upper, table)
    target = below + share * (cell_cdf(high, center, inverse_lower, inverse_upper, table) - below)
    low, high = max(low, center - _REACH * lower), min(high, center + _REACH * upper)
    jumps = lower != upper and low < center < high  # the density, from one half to the other
    if high - low < 0.5 * min(lower, upper) and not jumps:  # it is as good as constant
        return low + share * (high - low)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if cell_cdf(middle, center, inverse_lower, inverse_upper, table) < target:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


@kernel
def quantiles(center, lower, upper, edges, density, table, levels, scratch, out):
    """The quantiles of the posteriors of cells (n,) at `levels` (q,), increasing, into `out` (n, q).

    The prior has a `density` (m,) between `edges` (m + 1,), where the posterior is a piece of the cell's own
    distribution. NaN where the cell is finer than what the prior knows, or where that has nothing. `scratch` (m,).
    """
    n_cells = density.shape[0]
    for i in range(center.shape[0]):
        x = center[i]
        here = min(max(first_above(edges, x) - 1, 0), n_cells - 1)
        if lower[i] + upper[i] < edges[min(here + 2, n_cells)] - edges[max(here - 1, 0)]:
            for q in range(levels.shape[0]):
                out[i, q] = np.nan
            continue
        inverse_lower, inverse_upper = 1.0 / lower[i], 1.0 / upper[i]
        first, last = window(edges, x, lower[i], upper[i])
        total = 0.0
        below = cell_cdf(edges[first], x, inverse_lower, inverse_upper, table)
        for k in range(first, last):
            above = cell_cdf(edges[k + 1], x, inverse_lower, inverse_upper, table)
            total += (above - below) * density[k]
            scratch[k] = total
            below = above
        k = first
        for q in range(levels.shape[0]):
            target = levels[q] * total
            while k < last - 1 and scratch[k] < target:
                k += 1
            if total > 0.0:
                before = scratch[k - 1] if k > first else 0.0
                share = (target - before) / (scratch[k] - before)
                out[i, q] = place_between(edges[k], edges[k + 1], share, x, lower[i], upper[i], table)
            else:
                out[i, q] = np.nan


@kernel
def interpolate(center, scale, edges, largest, summaries, out):
    """The posteriors of cells (n,) with equal errors on both sides, from those of errors and values on a grid: into
    `out` (n, 3), median and σ on either side; NaN beyond the edges. `summaries` (m + 1, SCALES, 3) has the median, and
    both σ in units of the error: at the `edges` (m + 1,), for the error `largest` / 2 ** (SCALE_STEP × number).
    """
    last_cell, n_scales = edges.shape[0] - 2, summaries.shape[1]
    for i in range(center.shape[0]):
        x, sigma = center[i], min(scale[i], largest)
        place = math.log2(largest / sigma) / SCALE_STEP
        if not edges[0] <= x <= edges[last_cell + 1]:
            out[i, 0] = np.nan
            out[i, 1] = np.nan
            out[i, 2] = np.nan
        elif place >= n_scales - 1:  # finer than anything the prior knows
            out[i, 0] = x
            out[i, 1] = sigma
            out[i, 2] = sigma
        else:
            k = min(first_above(edges, x) - 1, last_cell)
            j = int(place)
            right, finer = (x - edges[k]) / (edges[k + 1] - edges[k]), place - j
            for q in range(3):
                left_value = summaries[k, j, q] + finer * (summaries[k, j + 1, q] - summaries[k, j, q])
                right_value = summaries[k + 1, j, q] + finer * (summaries[k + 1, j + 1, q] - summaries[k + 1, j, q])
                out[i, q] = left_value + right * (right_value - left_value)
            out[i, 1] *= sigma
            out[i, 2] *= sigma


# Not kernels: arrays that are made in Python need not be compiled.
def posterior_quantiles(center, lower, upper, edges, density, table, levels) -> np.ndarray:
    """The quantiles (n, q) at `levels` (q,)."""
    out, scratch = np.empty((len(center), len(levels)), dtype=REAL), np.empty(len(density), dtype=REAL)
    quantiles(center, lower, upper, edges, density, table, levels, scratch, out)
    return out


def most_likely_masses(center, lower, upper, weight, edges, table, n_steps) -> np.ndarray:
    """Masses (m,) of a prior between `edges` (m + 1,) after some steps from equal ones."""
    n_cells = len(edges) - 1
    likelihood, windows = np.empty((len(center), n_cells), dtype=REAL), np.empty((len(center), 2), dtype=np.int64)
    likelihoods(center, lower, upper, edges, table, likelihood, windows)
    mass = np.full(n_cells, 1.0 / n_cells)
    maximise(likelihood, windows, weight, n_steps, mass, np.empty(n_cells, dtype=REAL))
    return mass


def interpolated_posteriors(center, scale, edges, largest, summaries) -> np.ndarray:
    """Median and σ on either side (n, 3) of cells with equal errors on both sides."""
    out = np.empty((len(center), 3), dtype=REAL)
    interpolate(center, scale, edges, largest, summaries, out)
    return out
