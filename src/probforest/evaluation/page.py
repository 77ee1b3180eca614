"""Web pages that need nothing else: no network, no script, all figures inside. What stands on them is passed in.

The frame of a page is `report.html`, its style `report.css`.
"""

import base64
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import NamedTuple

from .drawing import WIDTH, Plot, as_svg
from .explanations import Explanation
from .tables import Headline, Table

LONGEST_CELL = 40  # letters; longer texts get several lines


class Section(NamedTuple):
    """A part of a page; its content is HTML, its title plain text."""

    title: str
    content: str


def html_page(
    title: str,
    sections: Sequence[Section],
    *,
    lead: str,
    banner: str = "",
    warnings: Sequence[str] = (),
    cards: Sequence[Headline] = (),
) -> str:
    """A page as text, to be written in UTF-8: heading, banner, warnings, lead, main numbers, contents, sections.

    >>> page = html_page("Stars & galaxies", [Section("In short", paragraph("a < b"))], lead="Two classes.")
    >>> "<h1>Stars &amp; galaxies</h1>" in page, "a &lt; b" in page
    (True, True)
    """
    urgent = [f'<p class="banner" role="alert">{escape(banner)}</p>'] if banner else []
    urgent += [f'<p class="warning">{escape(text[:1].upper() + text[1:])}</p>' for text in warnings]
    head = [f"<h1>{escape(title)}</h1>", *urgent, f'<p class="lead">{escape(lead)}</p>', _cards(cards)]
    parts = ["<header>", *head, "</header>", _contents(sections), '<div class="content">']
    parts += [_section(number, section) for number, section in enumerate(sections, start=1)]
    body = "\n".join([*parts, "</div>"])
    body = body.replace(" %", "&nbsp;%").replace("± ", "±&nbsp;")  # a number stays together with its sign
    return Template(_resource("report.html")).substitute(title=escape(title), style=_resource("report.css"), body=body)


def _resource(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _contents(sections: Sequence[Section]) -> str:
    """Links to the sections."""
    if len(sections) < 2:
        return ""
    items = "\n".join(
        f'<li><a href="#section-{number}">{escape(section.title)}</a></li>'
        for number, section in enumerate(sections, start=1)
    )
    return f'<nav aria-label="Contents">\n<ol>\n{items}\n</ol>\n</nav>'


def _cards(cards: Sequence[Headline]) -> str:
    """The main numbers, each with what it can be compared with."""
    if not cards:
        return ""
    items = "\n".join(
        f"<li>{escape(name)}<b>{escape(value)}</b><small>{escape(note)}</small></li>" for name, value, note in cards
    )
    return f'<ul class="cards">\n{items}\n</ul>'


def _section(number: int, section: Section) -> str:
    return f'<section id="section-{number}">\n<h2>{escape(section.title)}</h2>\n{section.content}\n</section>'


def paragraph(text: str) -> str:
    """Text as a paragraph."""
    return f"<p>{escape(text)}</p>\n"


def bullets(lines: Iterable[str]) -> str:
    """Texts as a list."""
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"


def explained(explanation: Explanation, content: str) -> Section:
    """A section with what a newcomer needs to know of it."""
    title, text, how_drawn, good, bad = explanation
    if "<figure" in content:
        text = f"{text} {how_drawn}".rstrip()
    advice = f'<p class="good"><b>Good:</b> {escape(good)}</p>\n<p class="bad"><b>Bad:</b> {escape(bad)}</p>'
    return Section(title, f"{paragraph(text)}{advice}\n{content}")


def figure_of(plot: Plot) -> str:
    """A figure. Its background is that of the page, so that it can be read on a dark one."""
    data = base64.b64encode(as_svg(plot.figure, transparent=True).encode("utf-8")).decode("ascii")
    caption, is_wide = escape(plot.caption), plot.figure.get_size_inches()[0] > WIDTH
    image = f'<img src="data:image/svg+xml;base64,{data}" alt="{caption}">'
    scrolling = f'<div class="scroll" tabindex="0">{image}</div>' if is_wide else image
    kind = ' class="wide"' if is_wide else ""
    return f"<figure{kind}>{scrolling}<figcaption>{caption}</figcaption></figure>\n"


def table_of(table: Table) -> str:
    """A table of texts, which are escaped here. Columns of words are flush left, those of numbers flush right."""
    kinds = [_kind(cells) for cells in zip(*table.rows, strict=True)] or [""] * len(table.heads)
    rows = (row_of(row[0], "".join(map(_cell, row[1:], kinds[1:]))) for row in table.rows)
    heads = [
        f'<th scope="col"{kind}>{escape(head[:1].upper() + head[1:])}</th>'
        for head, kind in zip(table.heads, kinds, strict=True)
    ]
    return scrolling_table(heads, rows)


def _kind(cells: Sequence[str]) -> str:
    """The class of the cells of a column."""
    if not any(letter.isalpha() for text in cells for letter in text):
        return ""
    return ' class="long words"' if max(map(len, cells)) > LONGEST_CELL else ' class="words"'


def _cell(text: str, kind: str) -> str:
    return f"<td{kind}>{escape(text)}</td>"


def row_of(first: str, cells: str) -> str:
    """A row; `cells` are HTML."""
    return f'<tr><th scope="row">{escape(first)}</th>{cells}</tr>'


def scrolling_table(heads: Iterable[str], rows: Iterable[str]) -> str:
    """A table that scrolls by itself where the window is narrow; `heads` and `rows` are HTML."""
    head, body = "".join(heads), "\n".join(rows)
    return (
        f'<div class="scroll" tabindex="0"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n'
        "</table></div>"
    )


def details_of(details: Mapping[str, str]) -> str:
    """Names and values in two columns."""
    items = "\n".join(f"<dt>{escape(str(name))}</dt><dd>{escape(str(value))}</dd>" for name, value in details.items())
    return f"<dl>\n{items}\n</dl>"
