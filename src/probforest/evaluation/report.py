"""An Evaluation as one web page that needs nothing else: no network, no script, all figures inside.

The frame of the page is `report.html`, its style `report.css`; `explanations` says what the sections mean.
"""

import base64
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from string import Template

from ..support.wording import shortened
from .drawing import Plot, as_svg
from .explanations import EXPLANATIONS, Explanation
from .findings import SHIFTS_TITLE, findings, shift_lines
from .scores import Evaluation
from .tables import Table, coverage_table, error_size_table, headlines, per_class_table, reliability_table

LONGEST_NAME = 60  # in tables
LONGEST_HEAD = 16  # above the columns of the confusion matrix


def html_report(
    evaluation: Evaluation,
    plots: Sequence[Plot] = (),
    *,
    title: str,
    details: Mapping[str, str],
    warnings: Sequence[str] = (),
    error_shifts: Mapping[str, str] | None = None,
) -> str:
    """The page as text, to be written in UTF-8. Without `plots`, tables take the place of figures.

    `details` (the model's file, the table, versions, …) are listed at the end, `warnings` right below the heading.
    `error_shifts` says of errors that are not like those of the training set how large they are.

    >>> from probforest.evaluation.scores import evaluate
    >>> evaluation = evaluate([0, 1, 1], [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]], [0, 1])
    >>> page = html_report(evaluation, title="Stars & galaxies", details={"Table": "test.fits"})
    >>> "<h1>Stars &amp; galaxies</h1>" in page
    True
    """
    head = _head(evaluation, title, warnings)
    parts = [head, _cards(evaluation), *_sections(evaluation, plots, error_shifts or {}), _details(details)]
    body = "\n".join(parts)
    body = body.replace(" %", "&nbsp;%")  # no line begins with a per cent sign
    return Template(_resource("report.html")).substitute(title=escape(title), style=_resource("report.css"), body=body)


def _resource(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _head(evaluation: Evaluation, title: str, warnings: Sequence[str]) -> str:
    n_right = int(evaluation.confusion.trace())
    lead = f"{n_right:,} of {evaluation.n_objects:,} objects were given their true class."
    if evaluation.n_left_out:
        lead += f" Objects without an answer, which are left out: {evaluation.n_left_out:,}."
    paragraphs = [f'<p class="warning">{escape(text[:1].upper() + text[1:])}</p>' for text in warnings]
    return "\n".join([f"<h1>{escape(title)}</h1>", *paragraphs, f'<p class="lead">{lead}</p>'])


def _cards(evaluation: Evaluation) -> str:
    """The main scores, each with what it can be compared with."""
    items = "\n".join(
        f"<li>{name}<b>{value}</b><small>{note}</small></li>" for name, value, note in headlines(evaluation)
    )
    return f'<ul class="cards">\n{items}\n</ul>'


def _sections(evaluation: Evaluation, plots: Sequence[Plot], error_shifts: Mapping[str, str]) -> Iterable[str]:
    """What stands out, then everything that has a figure or a table."""
    yield _section("In short", _list(findings(evaluation)))
    if error_shifts:
        yield _section(SHIFTS_TITLE, _list(shift_lines(error_shifts)))
    figures = {plot.name: _figure(plot) for plot in plots}
    tables = _tables(evaluation, figures)
    for name in dict.fromkeys([*EXPLANATIONS, *figures]):
        content = figures.get(name, "") + tables.get(name, "")
        if content:
            yield _explained(name, content)


def _list(lines: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"


def _section(title: str, content: str) -> str:
    return f"<section>\n<h2>{escape(title)}</h2>\n{content}\n</section>"


def _explained(name: str, content: str, explanations: Mapping[str, Explanation] = EXPLANATIONS) -> str:
    if name not in explanations:
        return _section(name.replace("_", " ").capitalize(), content)
    title, text, how_drawn, good, bad = explanations[name]
    if "<figure>" in content:
        text = f"{text} {how_drawn}".rstrip()
    advice = f'<p class="good"><b>Good:</b> {good}</p>\n<p class="bad"><b>Bad:</b> {bad}</p>'
    return _section(title, f"<p>{text}</p>\n{advice}\n{content}")


def _figure(plot: Plot) -> str:
    data = base64.b64encode(as_svg(plot.figure).encode("utf-8")).decode("ascii")
    caption = escape(plot.caption)
    image = f'<img src="data:image/svg+xml;base64,{data}" alt="{caption}">'
    return f"<figure>{image}<figcaption>{caption}</figcaption></figure>\n"


def _tables(evaluation: Evaluation, figures: Mapping[str, str]) -> dict[str, str]:
    """The tables by the section they belong to; the confusion matrix and the reliability only if they aren't drawn."""
    tables = {
        "per_class": _table(per_class_table(evaluation.per_class, LONGEST_NAME)),
        "coverage": _table(coverage_table(evaluation)),
    }
    if evaluation.error_sizes:
        tables["error_size"] = _table(error_size_table(evaluation))
    if "confusion" not in figures:
        tables["confusion"] = _confusion_table(evaluation)
    if "reliability" not in figures:
        tables["reliability"] = _table(reliability_table(evaluation))
    return tables


def _table(table: Table) -> str:
    """A table of texts, which are escaped here."""
    rows = (_row(first, "".join(f"<td>{escape(cell)}</td>" for cell in cells)) for first, *cells in table.rows)
    return _scrolling([head[:1].upper() + head[1:] for head in table.heads], rows)


def _row(first: str, cells: str) -> str:
    return f'<tr><th scope="row">{escape(first)}</th>{cells}</tr>'


def _scrolling(heads: Iterable[str], rows: Iterable[str]) -> str:
    """A table that scrolls by itself where the window is narrow."""
    head, body = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads), "\n".join(rows)
    return f'<div class="scroll"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>'


def _confusion_table(evaluation: Evaluation) -> str:
    names = [shortened(name, LONGEST_NAME) for name in evaluation.names]
    heads = [shortened(name, LONGEST_HEAD) for name in evaluation.names]
    rows = (_row(names[i], _counts(counts, i)) for i, counts in enumerate(evaluation.confusion))
    return _scrolling(["True class \\ answer", *heads], rows)


def _counts(counts: Iterable[int], diagonal: int) -> str:
    """The cells of a row of the confusion matrix; right answers stand out."""
    cells = [f"<td>{count:,}</td>" for count in counts]
    cells[diagonal] = cells[diagonal].replace("<td>", '<td class="diagonal">')
    return "".join(cells)


def _details(details: Mapping[str, str]) -> str:
    if not details:
        return ""
    items = "\n".join(f"<dt>{escape(str(name))}</dt><dd>{escape(str(value))}</dd>" for name, value in details.items())
    return _section("What was evaluated", f"<dl>\n{items}\n</dl>")
