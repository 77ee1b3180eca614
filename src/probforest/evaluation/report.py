"""An Evaluation as a web page. `page` makes it, `explanations` says what its sections mean."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from ..support.wording import shortened
from .drawing import Plot
from .explanations import EXPLANATIONS
from .findings import SHIFTS_TITLE, ErrorCosts, OutOfBag, findings, shift_lines
from .page import Section, bullets, details_of, explained, figure_of, html_page, row_of, scrolling_table, table_of
from .scores import Evaluation
from .tables import (
    Table,
    coverage_table,
    error_size_table,
    headlines,
    per_class_table,
    ranking_table,
    reliability_table,
)

LONGEST_NAME = 60  # in tables
LONGEST_HEAD = 16  # above the columns of the confusion matrix
FIGURES_OF = {"ranking": ("roc", "precision_recall")}  # of sections whose figures have other names


def html_report(
    evaluation: Evaluation,
    plots: Sequence[Plot] = (),
    *,
    title: str,
    details: Mapping[str, str],
    banner: str = "",
    warnings: Sequence[str] = (),
    error_shifts: Mapping[str, str] | None = None,
    out_of_bag: OutOfBag | None = None,
    error_costs: ErrorCosts | None = None,
    mistakes: Table | None = None,
) -> str:
    """The page as text, to be written in UTF-8. Without `plots`, tables take the place of figures.

    `details` (the model's file, the table, versions, …) are listed at the end; a `banner` and `warnings` stand right
    below the heading. `error_shifts` says of errors that are not like those of the training set how large they are,
    `mistakes` explains wrong answers.

    >>> from probforest.evaluation.scores import evaluate
    >>> evaluation = evaluate([0, 1, 1], [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]], [0, 1])
    >>> page = html_report(evaluation, title="Stars & galaxies", details={"Table": "test.fits"})
    >>> "<h1>Stars &amp; galaxies</h1>" in page
    True
    """
    sections = [Section("In short", bullets(findings(evaluation, out_of_bag, error_costs)))]
    if error_shifts:
        sections.append(Section(SHIFTS_TITLE, bullets(shift_lines(error_shifts))))
    tables = _tables(evaluation, {plot.name for plot in plots})
    if error_costs is not None and "error_cost" not in {plot.name for plot in plots}:
        tables["error_cost"] = table_of(_cost_table(error_costs))
    if mistakes is not None:
        tables["mistakes"] = table_of(mistakes)
    sections += _explained_sections(plots, tables)
    if details:
        sections.append(Section("What was evaluated", details_of(details)))
    return html_page(
        title,
        sections,
        lead=_lead(evaluation),
        banner=banner,
        warnings=warnings,
        cards=headlines(evaluation, None if out_of_bag is None else out_of_bag.scores),
    )


def _lead(evaluation: Evaluation) -> str:
    n_right = int(evaluation.confusion.trace())
    lead = f"{n_right:,} of {evaluation.n_objects:,} objects were given their true class."
    if evaluation.n_left_out:
        lead += f" Objects without an answer, which are left out: {evaluation.n_left_out:,}."
    return lead


def _explained_sections(plots: Sequence[Plot], tables: Mapping[str, str]) -> Iterable[Section]:
    """Everything that has a figure or a table, figures that are not known at the end."""
    figures = {plot.name: figure_of(plot) for plot in plots}
    for name, explanation in EXPLANATIONS.items():
        drawn = "".join(figures.pop(figure, "") for figure in FIGURES_OF.get(name, (name,)))
        if drawn.count("<figure") > 1:
            drawn = f'<div class="pair">{drawn}</div>'
        if drawn or name in tables:
            yield explained(explanation, drawn + tables.get(name, ""))
    for name, figure in figures.items():
        yield Section(name.replace("_", " ").capitalize(), figure)


def _tables(evaluation: Evaluation, drawn: set[str]) -> dict[str, str]:
    """The tables by the section they belong to; the confusion matrix and the reliability only if they aren't drawn."""
    tables = {
        "per_class": table_of(per_class_table(evaluation.per_class, LONGEST_NAME)),
        "ranking": table_of(ranking_table(evaluation, LONGEST_NAME)),
        "coverage": table_of(coverage_table(evaluation)),
    }
    if evaluation.error_sizes:
        tables["error_size"] = table_of(error_size_table(evaluation))
    if "confusion" not in drawn:
        tables["confusion"] = _confusion_table(evaluation)
    if "reliability" not in drawn:
        tables["reliability"] = table_of(reliability_table(evaluation))
    return tables


def _cost_table(costs: ErrorCosts) -> Table:
    rows = [
        [shortened(name, LONGEST_NAME), f"{gain:+.4f}", f"{error:.4f}"]
        for name, gain, error in zip(costs.names, costs.gains.tolist(), costs.errors.tolist(), strict=True)
    ]
    return Table(["feature", "expected gain of accuracy", "standard error"], rows[:20])


def _confusion_table(evaluation: Evaluation) -> str:
    names = [shortened(name, LONGEST_NAME) for name in evaluation.names]
    heads = [shortened(name, LONGEST_HEAD) for name in evaluation.names]
    rows = (row_of(names[i], _counts(counts, i)) for i, counts in enumerate(evaluation.confusion))
    cells = [f'<th scope="col">{escape(head)}</th>' for head in ("True class \\ answer", *heads)]
    return scrolling_table(cells, rows)


def _counts(counts: Iterable[int], diagonal: int) -> str:
    """The cells of a row of the confusion matrix; right answers stand out."""
    cells = [f"<td>{count:,}</td>" for count in counts]
    cells[diagonal] = cells[diagonal].replace("<td>", '<td class="diagonal">')
    return "".join(cells)
