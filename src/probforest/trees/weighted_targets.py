"""Distributions that are training targets with weights, many at a time: all their numbers.

Each distribution is a row of a sparse matrix, whose columns are the targets in increasing order.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np
from scipy import sparse
from scipy.special import ndtr

from ..kernels.layout import INDEX
from ..kernels.target_weights import find_quantiles, merged, quantile_places

_ENTRIES = 3_000_000  # weights above zero that are in memory
_ROUNDING = 1e-12  # of a sum of weights: a quantile must not fall behind its target
_MODE_LEVELS = np.linspace(0.01, 0.99, 99)  # quantiles, at one of which the density is taken to be the largest
_PLACES = 1024  # of the grid that squares of densities are integrated on
_OBJECTS = 512  # that are on such grids together
_TINY_BANDWIDTH = 1e-3  # of the deviation


@dataclass(frozen=True, eq=False)
class WeightedTargets:
    """Distributions of n objects. Entries lie one object after the other, by increasing target; each has some."""

    y: np.ndarray  # (m,) all targets, increasing
    first: np.ndarray  # (n + 1,) where the entries of each object begin
    place: np.ndarray  # of the entry's target in `y`
    weight: np.ndarray  # they sum to 1 for each object
    shift: np.ndarray | None = None  # (n,) what the targets of each object are moved by; None: by nothing

    @property
    def n_objects(self) -> int:
        return len(self.first) - 1

    @property
    def matrix(self) -> sparse.csr_matrix:
        """Weights (n, m)."""
        return sparse.csr_matrix((self.weight, self.place, self.first), shape=(self.n_objects, len(self.y)))

    @cached_property
    def row(self) -> np.ndarray:
        """The object of each entry."""
        return np.repeat(np.arange(self.n_objects), np.diff(self.first))

    @cached_property
    def value(self) -> np.ndarray:
        """The target of each entry."""
        targets = self.y[self.place]
        return targets if self.shift is None else targets + self.shift[self.row]

    @cached_property
    def up_to(self) -> np.ndarray:
        """F at the target of each entry: the sum of the object's weights up to it."""
        running = np.cumsum(self.weight)
        before = np.concatenate([[0.0], running])[self.first[:-1]]
        found = running - before[self.row]
        found[self.first[1:] - 1] = 1.0
        return found

    def recalibrated(self, levels: np.ndarray, share: np.ndarray) -> "WeightedTargets":
        """The same targets with G(F) instead of F, where G is `share` (k,) at `levels` (k,), both from 0 to 1. F counts
        as `as_probabilities` says."""
        up_to = np.interp(self.as_probabilities(self.up_to, self.row), levels, share)
        up_to[self.first[1:] - 1] = 1.0
        before = np.concatenate([[0.0], up_to[:-1]])
        before[self.first[:-1]] = 0.0
        return replace(self, weight=up_to - before)

    def _sums(self, of_entries: np.ndarray) -> np.ndarray:
        return np.add.reduceat(of_entries, self.first[:-1])

    @cached_property
    def mean(self) -> np.ndarray:
        """(n,)"""
        return self._sums(self.weight * self.value)

    @cached_property
    def std(self) -> np.ndarray:
        """(n,)"""
        return np.sqrt(self._sums(self.weight * np.square(self.value - self.mean[self.row])))

    def quantiles(self, levels: np.ndarray) -> np.ndarray:
        """The smallest target with F >= level, (n, k) for `levels` (k,)."""
        order = np.argsort(levels, kind="stable")
        at = np.empty((self.n_objects, len(levels)), dtype=np.int64)
        find_quantiles(self.first, self.weight, levels[order] - _ROUNDING, at)
        found = np.empty(at.shape)
        found[:, order] = self.y[self.place[at]]
        return moved(found, self.shift)

    def point(self, kind: str) -> np.ndarray:
        """The "mean", the "median" or the "mode", (n,)."""
        if kind == "mean":
            return self.mean
        return self._mode() if kind == "mode" else self.quantiles(np.array([0.5]))[:, 0]

    def _mode(self) -> np.ndarray:
        places = self.quantiles(_MODE_LEVELS)
        best = self.pdf(places).argmax(axis=1)
        return places[np.arange(len(places)), best]

    def cdf(self, places: np.ndarray, *, below: bool = False) -> np.ndarray:
        """F at `places` (n, k): the sum of the weights of targets up to a place, or only of those `below` it."""
        rank = self._number_up_to(places, below)
        key = self.row * (len(self.y) + 1) + self.place
        wanted = np.arange(self.n_objects)[:, None] * (len(self.y) + 1) + rank
        at = np.searchsorted(key, wanted.ravel(), side="left").reshape(places.shape)
        is_above = at > self.first[:-1, None]
        return np.where(is_above, self.up_to[np.maximum(at - 1, 0)], 0.0)

    def _number_up_to(self, places: np.ndarray, below: bool) -> np.ndarray:
        """How many of the targets `y`, moved for the object, are not above `places` (n, k), or are below them."""
        side: Literal["left", "right"] = "left" if below else "right"
        if self.shift is None:
            return np.searchsorted(self.y, places, side=side)
        shift = self.shift[:, None]
        rank = np.searchsorted(self.y, places - shift, side=side)
        counts = np.less if below else np.less_equal  # sums are rounded, and differences in another way
        after = self.y[np.minimum(rank, len(self.y) - 1)] + shift
        rank = np.where((rank < len(self.y)) & counts(after, places), rank + 1, rank)
        before = self.y[np.maximum(rank - 1, 0)] + shift
        return np.where((rank > 0) & ~counts(before, places), rank - 1, rank)

    def as_probabilities(self, cumulative: np.ndarray, row: np.ndarray | slice = slice(None)) -> np.ndarray:
        """Sums of weights F, of objects `row`, as probabilities of a new target to lie below.

        n equal weights are n draws, and a new one falls between any two of them, or beyond the first and the last,
        with the same probability 1 / (n + 1): what is between them has not F, but ½ + (F − ½) n / (n + 1) below it.
        """
        n = self.effective_number[row]
        return 0.5 + (cumulative - 0.5) * n / (n + 1)

    @cached_property
    def effective_number(self) -> np.ndarray:
        """How many equal weights would scatter as much, (n,)."""
        return 1 / self._sums(np.square(self.weight))

    @cached_property
    def bandwidth(self) -> np.ndarray:
        """Width of the normal kernel that makes a density of the weights, (n,): Silverman's rule, with the number of
        equal weights that would scatter as much. 0 where all targets are the same."""
        quartiles = self.quantiles(np.array([0.25, 0.75]))
        between = (quartiles[:, 1] - quartiles[:, 0]) / 1.349
        narrow = np.where(between > 0, np.minimum(self.std, between), self.std)
        return np.maximum(0.9 * narrow * self.effective_number**-0.2, _TINY_BANDWIDTH * self.std)

    def pdf(self, places: np.ndarray) -> np.ndarray:
        """Density at `places` (n, k); infinite at, and 0 off, a distribution of one target."""
        height = self._with_kernels(places, lambda z: np.exp(-0.5 * np.minimum(z * z, 1400.0)) / np.sqrt(2 * np.pi))
        flat = self.bandwidth[:, None] == 0
        at_it = np.where(places == self.value[self.first[:-1], None], np.inf, 0.0)
        return np.where(flat, at_it, height / np.where(flat, 1.0, self.bandwidth[:, None]))

    def smooth_cdf(self, places: np.ndarray) -> np.ndarray:
        """The integral of the density up to `places` (n, k); of a distribution of one target, its step."""
        flat = self.bandwidth[:, None] == 0
        step = places >= self.value[self.first[:-1], None]
        return np.where(flat, step, self._with_kernels(places, ndtr))

    def _with_kernels(self, places: np.ndarray, kernel: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Σ w kernel((place − y) / bandwidth), (n, k)."""
        found = np.empty(places.shape)
        spread = np.where(self.bandwidth == 0, 1.0, self.bandwidth)[self.row]
        for k in range(places.shape[1]):
            found[:, k] = self._sums(self.weight * kernel((places[self.row, k] - self.value) / spread))
        return found

    @cached_property
    def squared_density(self) -> np.ndarray:
        """∫ pdf² of every object, (n,): Σ_ij w_i w_j N(y_i − y_j; 0, 2 h²). Infinite for one target.

        Weights are put on a grid, shared by the two places next to a target; the sum over pairs with the same distance
        is an autocorrelation then.
        """
        low, high = self.value[self.first[:-1]], self.value[self.first[1:] - 1]
        step = np.where(high > low, (high - low) / (_PLACES - 1), 1.0)
        found = np.empty(self.n_objects)
        for top in range(0, self.n_objects, _OBJECTS):
            rows = slice(top, min(top + _OBJECTS, self.n_objects))
            entries = slice(self.first[rows.start], self.first[rows.stop])
            row = self.row[entries]
            at = (self.value[entries] - low[row]) / step[row]
            left = np.minimum(at.astype(np.int64), _PLACES - 2)
            place = (row - top) * _PLACES + left
            right_share = self.weight[entries] * (at - left)
            size = (rows.stop - top) * _PLACES
            mass = np.bincount(place, self.weight[entries] - right_share, size)
            mass += np.bincount(place + 1, right_share, size)
            together = np.square(np.abs(np.fft.rfft(mass.reshape(-1, _PLACES), 2 * _PLACES)))
            pairs = np.fft.irfft(together, 2 * _PLACES)[:, :_PLACES]  # by the distance in steps
            pairs[:, 1:] *= 2
            width = np.sqrt(2.0) * np.where(self.bandwidth[rows] > 0, self.bandwidth[rows], 1.0)
            z = np.arange(_PLACES) * (step[rows] / width)[:, None]
            heights = np.exp(-0.5 * np.minimum(z * z, 1400.0)) / (np.sqrt(2 * np.pi) * width[:, None])
            found[rows] = (pairs * heights).sum(axis=1)
        return np.where(self.bandwidth == 0, np.inf, found)

    @cached_property
    def half_difference(self) -> np.ndarray:
        """½ E|Y − Y'| of two independent draws, (n,): Σ w y (F(y) + F(y−) − 1), around the mean, so that an offset
        costs no digits."""
        below = self.up_to - self.weight
        return self._sums(self.weight * (self.value - self.mean[self.row]) * (self.up_to + below - 1))

    def crps(self, truth: np.ndarray) -> np.ndarray:
        """Continuous ranked probability score of `truth` (n,): E|Y − y| − ½ E|Y − Y'|, (n,)."""
        return np.maximum(self.distance(truth) - self.half_difference, 0.0)

    def distance(self, truth: np.ndarray) -> np.ndarray:
        """E|Y − y| of `truth` (n,), (n,)."""
        return self._sums(self.weight * np.abs(self.value - truth[self.row]))

    def draws(self, uniform: np.ndarray) -> np.ndarray:
        """A target for each of the numbers between 0 and 1, (n, k)."""
        found = np.empty(uniform.shape)
        for k in range(uniform.shape[1]):
            at = np.searchsorted(self.row + self.up_to, np.arange(self.n_objects) + uniform[:, k], side="left")
            found[:, k] = self.value[np.clip(at, self.first[:-1], self.first[1:] - 1)]
        return found


def weigh_targets(
    reach: sparse.csr_matrix, y: np.ndarray, shares: sparse.csr_matrix, shift: np.ndarray | None = None
) -> Iterator[tuple[slice, WeightedTargets]]:
    """The distributions of objects that have probabilities `reach` (n, all leaves) to be in leaves with `shares` (all
    leaves, m) of the targets `y` (m,), moved by `shift` (n,), some objects after the other."""
    (leaf_first, leaf, probability), leaves = _for_kernels(reach), _for_kernels(shares)
    for first, last, n_entries in _blocks(reach, np.diff(leaves[0]), len(y)):
        entries = slice(leaf_first[first], leaf_first[last])
        reached = leaf_first[first : last + 1] - leaf_first[first], leaf[entries], probability[entries]
        of_these = None if shift is None else shift[first:last]
        yield slice(first, last), WeightedTargets(y, *merged(*reached, *leaves, len(y), n_entries), of_these)


def quantiles_in_leaves(
    reach: sparse.csr_matrix,
    y: np.ndarray,
    shares: sparse.csr_matrix,
    levels: np.ndarray,
    shift: np.ndarray | None = None,
) -> np.ndarray:
    """The quantiles of the distributions of `weigh_targets` at `levels` (k,), (n, k), without all of their weights."""
    order = np.argsort(levels, kind="stable")
    places = quantile_places(*_for_kernels(reach), *_for_kernels(shares), len(y), levels[order] - _ROUNDING)
    found = np.empty(places.shape)
    found[:, order] = y[places]
    return moved(found, shift)


def moved(places: np.ndarray, shift: np.ndarray | None) -> np.ndarray:
    """Places (n, k) of objects that are moved by `shift` (n,)."""
    return places if shift is None else places + shift[:, None]


def _for_kernels(matrix: sparse.csr_matrix) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where rows begin, the columns of entries, and the entries."""
    return matrix.indptr.astype(np.int64, copy=False), matrix.indices.astype(INDEX, copy=False), matrix.data


def _blocks(reach: sparse.csr_matrix, sizes: np.ndarray, n_targets: int) -> list[tuple[int, int, int]]:
    """Ranges of objects whose weights fit in memory, from the numbers of entries of the leaves that they reach, and the
    largest number of their entries."""
    entries = np.add.reduceat(sizes[reach.indices].astype(np.int64), reach.indptr[:-1])
    before = np.concatenate([[0], np.cumsum(np.minimum(entries, n_targets))])
    ends = [0]
    while ends[-1] < reach.shape[0]:
        last = int(np.searchsorted(before, before[ends[-1]] + _ENTRIES, side="right")) - 1
        ends.append(max(last, ends[-1] + 1))
    return [(first, last, int(before[last] - before[first])) for first, last in pairwise(ends)]
