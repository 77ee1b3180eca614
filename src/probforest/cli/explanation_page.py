"""The web page of `probforest explain`."""

from collections.abc import Sequence
from typing import Any

from ..evaluation.drawing import Plot, new_figure
from ..evaluation.page import Section, figure_of, html_page, paragraph, table_of
from ..evaluation.tables import Table
from .ranking import Worthwhile

_NOTHING, _TINY = "–", 1e-3


def figure_for(label: str, file_name: str, place: int, why: Any, value: Any, most: int) -> Plot:
    """Both explanations of a row."""
    n_above, n_below = min(most, len(why.names)) + 3, min(most, len(value.names))
    with new_figure(height=0.32 * (n_above + n_below) + 1.5) as figure:
        above, below = figure.subplots(2, 1, height_ratios=[n_above, n_below])
        why.plot(place, most=most, ax=above)
        value.plot(place, most=most, ax=below)
    return Plot(file_name, f"{label}: what each feature adds, and what better measurements would bring.", figure)


def explanation_page(
    title: str, labels: Sequence[str], plots: Sequence[Plot], why: Any, value: Any, best: Sequence[Worthwhile]
) -> str:
    """A section for each row; before them, the ranking of `best` measurements if there is one."""
    sections = (
        [Section("Worth measuring again", table_of(_ranking_table(labels, best, value.gain_label)))] if best else []
    )
    for place, (label, plot) in enumerate(zip(labels, plots, strict=True)):
        content = paragraph(value.text(place)) + figure_of(plot) + table_of(_features(why, value, place))
        sections.append(Section(f"{label}, {why.headline(place)}", content))
    lead = (
        "What each feature adds to the answer, beginning with the average answer, and what would be gained if one "
        "value were known exactly."
    )
    return html_page(title, sections, lead=lead)


def _ranking_table(labels: Sequence[str], best: Sequence[Worthwhile], gain_label: str) -> Table:
    """The most valuable measurements."""
    rows = [[label, each.feature, f"{each.gain:#.3g}", each.effect] for label, each in zip(labels, best, strict=True)]
    return Table(["object", "measure", gain_label, "if it were known exactly"], rows)


def _features(why: Any, value: Any, place: int) -> Table:
    """All features of one row that add something or could be known better, those that add most first."""
    gains = dict(zip(value.names, value.gain[place].tolist(), strict=True))
    added = dict(why.of(place))
    order = [*added, *(name for name in gains if name not in added)]
    columns = [[numbers.get(name, 0.0) for name in order] for numbers in (added, gains)]
    rows = [list(row) for row in zip(order, _numbers(columns[0], "+"), _numbers(columns[1], ""), strict=True)]
    rows = [row for row in rows if row[1:] != [_NOTHING, _NOTHING]]
    return Table(["feature", f"adds to the {why.quantity}", value.gain_label], rows)


def _numbers(numbers: list[float], sign: str) -> list[str]:
    """Three digits of each; those that are tiny beside the largest one are not worth a digit."""
    tiny = _TINY * max(map(abs, numbers), default=0.0)
    return [f"{number:{sign}.3g}" if abs(number) > tiny else _NOTHING for number in numbers]
