"""The results of an experiment as tables: every row in a CSV file, and means over the seeds to read."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from .studies import Row


def write_csv(rows: Sequence[Row], path: Path) -> None:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def read_csv(path: Path) -> list[Row]:
    """The rows of `write_csv`; what looks like a number becomes one."""
    with path.open(newline="", encoding="utf-8") as file:
        return [{name: _value(text) for name, text in row.items() if text != ""} for row in csv.DictReader(file)]


def _value(text: str) -> str | float | int:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def select(rows: Iterable[Row], **wanted) -> list[Row]:
    """The rows that have these values."""
    return [row for row in rows if all(row.get(name) == value for name, value in wanted.items())]


def distinct(rows: Iterable[Row], name: str) -> list:
    """The values of a column, in their order of appearance."""
    return list(dict.fromkeys(row[name] for row in rows))


def mean(rows: Sequence[Row], column: str = "accuracy") -> float:
    """The mean over the rows; NaN if there are none."""
    return float(np.mean([row[column] for row in rows])) if rows else np.nan


def table(rows: Sequence[Row], column: str = "accuracy") -> str:
    """Means over the seeds in Markdown: a line per noise and level, a column per contender, with the most trees."""
    most = max(distinct(rows, "trees"))
    rows = select(rows, trees=most)
    contenders = distinct(rows, "contender")
    lines = ["| noise | level | " + " | ".join(contenders) + " |", "| --- " * (2 + len(contenders)) + "|"]
    for noise in distinct(rows, "noise"):
        here = select(rows, noise=noise)
        for level in distinct(here, "level"):
            means = [mean(select(here, level=level, contender=name), column) for name in contenders]
            cells = ["" if np.isnan(value) else f"{value:.3f}" for value in means]
            lines.append(f"| {noise} | {level} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
