"""Figures of explanations. Names are drawn as they are: a $ in them is no formula."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..support.extras import need
from ..support.wording import one_line, shortened

UP, DOWN, NEUTRAL = "#0072b2", "#d55e00", "#777777"  # Okabe and Ito's: colour-blind readers can tell them apart
_LONGEST_NAME = 28
_MOST_TICKS = 6
_ROOM_FOR_NUMBERS = 0.2  # of the width, on either side


def waterfall(ax: Any, base: float, steps: Sequence[tuple[str, float]], label: str) -> Any:
    """Steps from a base to an answer, the first one at the top."""
    ax = new_axes(ax, len(steps) + 2)
    ends = [base, *(base + np.cumsum([step for _, step in steps])).tolist()]
    low, high = min(ends), max(ends)
    room = _ROOM_FOR_NUMBERS * ((high - low) or abs(base) or 1.0)
    digits = int(np.clip(1 - np.floor(np.log10(room)), 0, 12))  # so that the smallest steps are not 0
    for place, (_, step) in enumerate(steps, start=1):
        start, end = ends[place - 1], ends[place]
        ax.barh(place, step, left=start, color=UP if step > 0 else DOWN, height=0.7)
        ax.plot([start, start], [place - 1, place], color=NEUTRAL, linewidth=0.8, zorder=0)
        _write_number(ax, end, place, f"{step:+.{digits}f}", left=step < 0)
    last = len(steps) + 1
    ax.plot([ends[-1], ends[-1]], [last - 1, last], color=NEUTRAL, linewidth=0.8, zorder=0)
    ax.plot([base, ends[-1]], [0, last], "D", color=NEUTRAL)
    for number, place in ((base, 0), (ends[-1], last)):
        _write_number(ax, number, place, f"{number:.{digits}f}", left=False)
    _name_rows(ax, ["average", *(name for name, _ in steps), "this object"])
    ax.set_xlim(low - room, high + room)
    ax.locator_params(axis="x", nbins=_MOST_TICKS)
    ax.set_xlabel(label, parse_math=False)
    return ax


def bars(ax: Any, numbers: Sequence[tuple[str, float]], label: str, errors: Any = None) -> Any:
    """A bar for each of some numbers, the first one at the top, with their standard errors if there are any."""
    ax = new_axes(ax, len(numbers))
    ax.barh(range(len(numbers)), [number for _, number in numbers], xerr=errors, color=UP, ecolor=NEUTRAL, height=0.7)
    _name_rows(ax, [name for name, _ in numbers])
    ax.locator_params(axis="x", nbins=_MOST_TICKS)
    ax.set_xlabel(label, parse_math=False)
    return ax


def new_axes(ax: Any, n_rows: int, width: float = 6.0) -> Any:
    """The axes that are given, or those of a new figure with room for some rows."""
    if ax is not None:
        return ax
    plt = need("matplotlib.pyplot", "A figure", "plots")
    _, ax = plt.subplots(figsize=(width, 0.9 + 0.32 * n_rows), layout="constrained")
    return ax


def _name_rows(ax: Any, names: Sequence[str]) -> None:
    shown = [shortened(one_line(name), _LONGEST_NAME) for name in names]
    ax.set_yticks(range(len(names)), shown, parse_math=False)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.grid(visible=False, axis="y")


def _write_number(ax: Any, x: float, y: float, text: str, *, left: bool) -> None:
    """A number beside a place."""
    ax.annotate(
        text,
        (x, y),
        xytext=(-4 if left else 6, 0),
        textcoords="offset points",
        ha="right" if left else "left",
        va="center",
        fontsize="small",
    )
