"""An Evaluation as text for a terminal, at most 100 columns wide."""

import textwrap
from collections.abc import Mapping, Sequence

import numpy as np

from ..support.wording import one_line, shortened
from .findings import SHIFTS_TITLE, OutOfBag, findings, shift_lines
from .scores import ClassScores, Evaluation
from .tables import (
    Headline,
    Table,
    coverage_table,
    error_size_table,
    headlines,
    per_class_table,
    ranking_table,
    reliability_table,
)

WIDTH = 100
MOST_CONFUSION_CLASSES = 12  # beside each other
MOST_CLASS_ROWS = 40  # below each other
LONGEST_NAME = 28
SHORTEST_NAME = 8


def evaluation_text(
    evaluation: Evaluation, error_shifts: Mapping[str, str] | None = None, out_of_bag: OutOfBag | None = None
) -> str:
    """All of an evaluation, beside the `out_of_bag` scores of the training; the last line has no newline.

    `error_shifts` says of errors that are not like those of the training set how large they are.
    """
    confusion = confusion_text(evaluation.confusion, evaluation.names)
    parts = [
        _headline_text(evaluation, out_of_bag),
        "In short\n" + "\n".join(_wrapped(sentence) for sentence in findings(evaluation, out_of_bag)),
        "Classes\n" + per_class_text(evaluation.per_class),
        f"Confusion matrix (rows: true class, columns: answer)\n{confusion}",
        "Ranking (how well the probability of a class separates its objects from all others)\n"
        + ranking_text(evaluation),
        "Reliability (does the probability of the answer equal the share of right answers?)\n"
        + _aligned(reliability_table(evaluation)),
    ]
    if error_shifts:
        parts.append(f"{SHIFTS_TITLE}\n" + "\n".join(_wrapped(line) for line in shift_lines(error_shifts)))
    if evaluation.error_sizes:
        parts.append("Size of the errors\n" + _aligned(error_size_table(evaluation)))
    parts.append("Clean samples (only the most confident answers count)\n" + _aligned(coverage_table(evaluation)))
    return "\n\n".join(parts)


def confusion_text(confusion, classes, most=MOST_CONFUSION_CLASSES) -> str:
    """A confusion matrix of the classes with the most objects.

    If the names are too long for the columns, the classes are numbered.

    >>> print(confusion_text([[8, 2], [1, 9]], ["galaxy", "star"]))
    true \\ answer  galaxy  star
    galaxy              8     2
    star                1     9
    """
    confusion, names = np.asarray(confusion), [one_line(name) for name in classes]
    shown = _most_frequent(confusion.sum(axis=1), most)
    rows = [[f"{count:,}" for count in confusion[row, shown]] for row in shown]
    numbered = not _names_fit(rows, [names[i] for i in shown])
    heads = [str(i + 1) if numbered else names[i] for i in shown]
    used = sum(2 + max(map(len, column)) for column in zip(heads, *rows, strict=True))
    room = max(SHORTEST_NAME, min(LONGEST_NAME, WIDTH - used))
    labels = [shortened(f"{i + 1} {names[i]}" if numbered else names[i], room) for i in shown]
    corner = shortened("true \\ answer", room)
    table = Table([corner, *heads], [[label, *row] for label, row in zip(labels, rows, strict=True)])
    return _aligned(table) + _note_about_more(len(names) - len(shown))


def per_class_text(per_class: Sequence[ClassScores], most=MOST_CLASS_ROWS) -> str:
    """Precision, recall and F1 of the classes with the most objects.

    >>> print(per_class_text([ClassScores("star", 10, 9, 1.0, 0.9, 0.947)]))
    class  objects  answers  precision  recall     F1
    star        10        9      1.000   0.900  0.947
    """
    shown = [per_class[i] for i in _most_frequent(np.array([scores.n_objects for scores in per_class]), most)]
    return _aligned(per_class_table(shown, LONGEST_NAME)) + _note_about_more(len(per_class) - len(shown))


def ranking_text(evaluation: Evaluation, most=MOST_CLASS_ROWS) -> str:
    """Areas under ROC and average precisions of the classes with the most objects."""
    shown = _most_frequent(evaluation.confusion.sum(axis=1), most)
    heads, rows = ranking_table(evaluation, LONGEST_NAME)
    return _aligned(Table(heads, [rows[i] for i in shown])) + _note_about_more(len(rows) - len(shown))


def _headline_text(evaluation: Evaluation, out_of_bag: OutOfBag | None) -> str:
    left_out = f"{evaluation.n_left_out:,} more left out, which have no answer" if evaluation.n_left_out else ""
    beside = None if out_of_bag is None else out_of_bag.scores
    lines = [Headline("Objects", f"{evaluation.n_objects:,}", left_out), *headlines(evaluation, beside)]
    names, values = max(len(line.name) for line in lines), max(len(line.value) for line in lines)
    return "\n".join(f"{name:<{names}}  {value:>{values}}  {note}".rstrip() for name, value, note in lines)


def _most_frequent(counts: np.ndarray, most: int) -> np.ndarray:
    """The classes with the most objects, in their order."""
    return np.sort(np.argsort(-counts, kind="stable")[:most])


def _names_fit(rows: list[list[str]], names: list[str]) -> bool:
    """Whether there is room for the names of the classes above the columns and before the rows."""
    columns = zip(names, *rows, strict=True)
    before_rows = min(LONGEST_NAME, max(map(len, names)))
    return before_rows + sum(2 + max(map(len, column)) for column in columns) <= WIDTH


def _aligned(table: Table) -> str:
    """Columns beside each other: the first flush left, the others flush right."""
    lines = [table.heads, *table.rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(line[1:], widths[1:], strict=True))])
        for line in lines
    )


def _wrapped(sentence: str) -> str:
    return textwrap.fill(sentence, WIDTH, initial_indent="  ", subsequent_indent="    ")


def _note_about_more(n_more: int) -> str:
    if n_more == 0:
        return ""
    classes = "1 further class is" if n_more == 1 else f"{n_more} further classes are"
    return f"\n({classes} in the report and in --json)"
