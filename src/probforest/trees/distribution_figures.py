"""Figures of predicted distributions. Need matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..support.extras import need

_PLACES = 201  # at which a density is drawn
_WIDE = 0.2  # of the drawn range, on each side of the distribution
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")  # Okabe and Ito's


def draw_densities(
    ax: Any, rows: Sequence[int], places: np.ndarray, densities: np.ndarray, intervals: np.ndarray, truth: Any
) -> Any:
    """Densities (n, k) of the objects `rows` at `places` (n, k), with `intervals` (n, 2) filled, and the true targets
    (n,) as lines, if these are known."""
    if ax is None:
        plt = need("matplotlib.pyplot", "A figure", "plots")
        _, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
    for place, row in enumerate(rows):
        colour, (low, high) = _COLOURS[place % len(_COLOURS)], intervals[place]
        x, height = places[place], densities[place]
        ax.plot(x, height, color=colour, label=f"object {row}")
        ax.fill_between(x, height, where=(low <= x) & (x <= high), color=colour, alpha=0.2, linewidth=0)
        if truth is not None:
            ax.axvline(truth[place], color=colour, linestyle="--", linewidth=1)
    ax.set(xlabel="target", ylabel="density")
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False)
    return ax


def places_to_draw(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Places (n, k) around distributions that lie between `low` and `high` (n,)."""
    size = high - low
    size = np.where(size > 0, size, np.maximum(np.abs(low), 1.0) * 1e-3)
    return np.linspace(low - _WIDE * size, high + _WIDE * size, _PLACES, axis=1)
