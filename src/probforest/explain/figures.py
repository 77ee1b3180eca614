"""Figures of explanations."""

from __future__ import annotations

from typing import Any

from ..support.extras import need

_UP, _DOWN, _NEUTRAL = "#0072b2", "#d55e00", "#777777"


def waterfall(ax: Any, base: float, steps: list[tuple[str, float]], label: str) -> Any:
    """Steps from a base to an answer, the first one at the top."""
    ax = _axes(ax, len(steps) + 2)
    names, at = ["average"], base
    ax.barh(0, base, color=_NEUTRAL)
    ax.text(base, 0, f" {base:.2f}", va="center", fontsize="small")
    for place, (name, step) in enumerate(steps, start=1):
        ax.barh(place, step, left=at, color=_UP if step > 0 else _DOWN)
        ax.text(max(at, at + step), place, f" {step:+.3f}", va="center", fontsize="small")
        at += step
        names.append(name)
    ax.barh(len(steps) + 1, at, color=_NEUTRAL)
    ax.text(at, len(steps) + 1, f" {at:.2f}", va="center", fontsize="small")
    ax.set(yticks=range(len(steps) + 2), yticklabels=[*names, "this object"], xlabel=label)
    if label.startswith("probability"):
        ax.set_xlim(0, 1.12)
    ax.invert_yaxis()
    return ax


def bars(ax: Any, numbers: list[tuple[str, float]], label: str) -> Any:
    """A bar for each of some numbers, the first one at the top."""
    ax = _axes(ax, len(numbers))
    places = range(len(numbers))
    ax.barh(places, [number for _, number in numbers], color=_UP)
    ax.set(yticks=places, yticklabels=[name for name, _ in numbers], xlabel=label)
    ax.invert_yaxis()
    return ax


def _axes(ax: Any, n_bars: int) -> Any:
    if ax is not None:
        return ax
    plt = need("matplotlib.pyplot", "A figure", "plots")
    _, ax = plt.subplots(figsize=(6, 0.9 + 0.32 * n_bars), layout="constrained")
    return ax
