"""An Evaluation as one web page that needs nothing else: no network, no script, all figures inside.

The numbers are those of `evaluation`, the figures those of `plotting`; what they mean is explained here.
"""

import base64
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import NamedTuple

from .figures import Plot, as_svg
from .scores import Evaluation, decimals, percent, shortened, size_range

LONGEST_NAME = 60  # in tables
LONGEST_HEAD = 16  # above the columns of the confusion matrix
# Nothing may be loaded or run, whatever the names in a table contain.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


class Explanation(NamedTuple):
    """What a newcomer needs to know of a section."""

    title: str
    text: str
    how_drawn: str  # left out where there is no figure
    good: str
    bad: str


EXPLANATIONS = {
    "confusion": Explanation(
        "Which classes are mixed up",
        "Every object is counted in the row of its true class and in the column of the answer, its most probable one.",
        "The darker a cell, the larger its share of the row; small shares are stressed, so that mix-ups stand out.",
        "almost everything is on the diagonal: most objects are given their true class.",
        "a large cell beside the diagonal: two classes that the features don't tell apart, or labels that are wrong.",
    ),
    "per_class": Explanation(
        "The classes one by one",
        "Recall is the share of a class's objects that were found, the completeness of a sample. "
        "Precision is the share of right ones among the answers, its purity. F1 is their harmonic mean.",
        "Lines are 95 % intervals; where they are long, there are too few objects to say.",
        "both are close to 1, for rare classes as well.",
        "low recall: the class is overlooked. Low precision: others are taken for it.",
    ),
    "reliability": Explanation(
        "Can the probabilities be trusted?",
        "Objects are sorted into ten bins by the probability of their answer. "
        "If the model says 80 %, about 80 % of these answers should be right.",
        "On the dashed line they are. The bars below say how many objects each point stands for.",
        "the share of right answers is the probability, up to the intervals: a probability means what it says.",
        "fewer right answers than promised: the model is too sure of itself. More: it is too modest.",
    ),
    "error_size": Explanation(
        "What measurement errors cost",
        "Accuracy of the objects with the smallest errors, the next larger ones, and so on; beside it the mean "
        "probability of the answers, which is the accuracy that the model itself expects.",
        "",
        "both agree: the model knows how much the errors cost. Accuracy may well fall with the errors.",
        "more is expected than comes true: poorly measured objects are answered with too much confidence.",
    ),
    "coverage": Explanation(
        "Clean samples",
        "Accuracy when only the most confident answers count. To make a clean sample, choose the accuracy that you "
        "need, and keep the objects whose answer has at least the probability in the table.",
        "",
        "accuracy starts near 1 and falls late.",
        "accuracy hardly depends on the share: the model's confidence says little about whether it is right.",
    ),
    "importance": Explanation(
        "Features that matter",
        "How much the model gains from each feature. Features that say the same share their importance.",
        "",
        "features on top that an expert would expect there.",
        "a feature on top that should not matter, such as an identifier: it may betray the label.",
    ),
}

STYLE = """
:root { color-scheme: light dark; --page: #f6f7f9; --card: #ffffff; --ink: #1b1f24; --quiet: #57606a; --line: #d8dee4;
  --accent: #0072b2; --good: #00694c; --bad: #a84300; }
@media (prefers-color-scheme: dark) {
  :root { --page: #14171b; --card: #1e2329; --ink: #e6e9ec; --quiet: #a3acb5; --line: #3a424b;
    --accent: #56b4e9; --good: #4cc9a0; --bad: #f2a065; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
main { max-width: 53rem; margin: 0 auto; padding: 2rem 1rem 3rem; }
h1 { font-size: 1.75rem; line-height: 1.25; margin: 0 0 .5rem; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: 0 0 .5rem; }
p { margin: 0 0 .75rem; }
.lead { font-size: 1.1rem; color: var(--quiet); }
.warning { padding: .8rem 1rem; border: 2px solid var(--bad); border-radius: .6rem; font-weight: 600;
  overflow-wrap: anywhere; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(max(10rem, 30%), 1fr)); gap: .75rem;
  margin: 1.5rem 0; padding: 0; list-style: none; }
.cards li, section { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; }
.cards li { padding: .8rem 1rem; }
.cards b { display: block; font-size: 1.7rem; line-height: 1.3; font-weight: 650; color: var(--accent);
  font-variant-numeric: tabular-nums; }
.cards small { display: block; color: var(--quiet); line-height: 1.35; }
section { padding: 1.25rem 1.25rem 1rem; margin: 0 0 1rem; }
section ul { margin: 0 0 .5rem; padding-left: 1.2rem; overflow-wrap: anywhere; }
.good, .bad { margin-bottom: .35rem; }
.good b { color: var(--good); }
.bad b { color: var(--bad); }
figure { margin: 1rem 0; padding: .75rem; background: #ffffff; border: 1px solid var(--line); border-radius: .4rem; }
figure img { display: block; width: 100%; height: auto; }
figcaption { color: #57606a; font-size: .85rem; margin-top: .4rem; }
.scroll { overflow-x: auto; margin: .75rem 0; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .7rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
thead th { color: var(--quiet); font-weight: 600; vertical-align: bottom; }
th:first-child { text-align: left; }
tbody th { font-weight: 500; }
.diagonal { font-weight: 700; color: var(--accent); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.25rem; margin: 0; font-size: .9rem; }
dt { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 30rem) {
  main { padding-top: 1.25rem; }
  section { padding: 1rem .8rem .8rem; }
  figure { padding: .35rem; margin-left: -.4rem; margin-right: -.4rem; }
  table { font-size: .8rem; }
  th, td { padding: .25rem .4rem; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .5rem; } }
@media print {
  :root { --page: #ffffff; --card: #ffffff; --ink: #000000; --quiet: #444444; --line: #bbbbbb; --accent: #005a8c;
    --good: #00694c; --bad: #a84300; }
  body { font-size: 10.5pt; }
  main { max-width: none; padding: 0; }
  section { border: 0; padding: .5rem 0; }
  h2 { break-after: avoid; }
  figure, tr, .cards li { break-inside: avoid; }
  figure { max-width: 13cm; border: 0; padding: 0; }
  .scroll { overflow-x: visible; } }
"""


def html_report(
    evaluation: Evaluation,
    plots: Sequence[Plot] = (),
    *,
    title: str,
    facts: Mapping[str, str],
    warnings: Sequence[str] = (),
) -> str:
    """One self-contained web page about an evaluation.

    Parameters
    ----------
    evaluation : Evaluation
        The numbers.
    plots : sequence of Plot, default=()
        The figures, of :func:`probforest.plotting.figures_of`. Without them, there are tables in their place.
    title : str
        Heading of the page.
    facts : mapping of str to str
        What was evaluated: the model's file, the table, versions. Listed at the end.
    warnings : sequence of str, default=()
        What a reader must know before the numbers. Right below the heading.

    Returns
    -------
    str
        The page, to be written in UTF-8.

    Examples
    --------
    >>> from probforest.evaluation import evaluate
    >>> from probforest.html_report import html_report
    >>> evaluation = evaluate([0, 1, 1], [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]], [0, 1])
    >>> page = html_report(evaluation, title="Stars & galaxies", facts={"Table": "test.fits"})
    >>> "<h1>Stars &amp; galaxies</h1>" in page
    True
    """
    head = _head(evaluation, title, warnings)
    body = "\n".join([head, _cards(evaluation), *_sections(evaluation, plots), _facts(facts)])
    body = body.replace(" %", "&nbsp;%")  # no line begins with a sign of per cent
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def _head(evaluation: Evaluation, title: str, warnings: Sequence[str]) -> str:
    n_right = int(evaluation.confusion.trace())
    lead = f"{n_right:,} of {evaluation.n_objects:,} objects were given their true class."
    if evaluation.n_left_out:
        lead += f" Objects without an answer, which are left out: {evaluation.n_left_out:,}."
    paragraphs = [f'<p class="warning">{escape(text[:1].upper() + text[1:])}</p>' for text in warnings]
    return "\n".join([f"<h1>{escape(title)}</h1>", *paragraphs, f'<p class="lead">{lead}</p>'])


def _cards(evaluation: Evaluation) -> str:
    """The headline numbers, each with what it can be compared with."""
    accuracy, baseline = evaluation.accuracy, evaluation.baseline
    shares = "0 is best; the shares of the classes alone give"
    cards = [
        ("Accuracy", f"{accuracy.value:.3f}", f"95 % interval {accuracy.low:.3f} … {accuracy.high:.3f}"),
        ("Most frequent class", f"{baseline.accuracy:.3f}", "accuracy of giving it to every object: the least to beat"),
        (
            "Balanced accuracy",
            f"{evaluation.balanced_accuracy:.3f}",
            "mean recall: rare classes count as much as others",
        ),
        ("Log loss", f"{evaluation.log_loss:.3f}", f"{shares} {baseline.log_loss:.3f}"),
        ("Brier score", f"{evaluation.brier:.3f}", f"{shares} {baseline.brier:.3f}"),
        (
            "Calibration error",
            f"{evaluation.calibration_error:.3f}",
            "0 is best; how far probabilities are from the share of right answers",
        ),
    ]
    items = "\n".join(f"<li>{name}<b>{value}</b><small>{note}</small></li>" for name, value, note in cards)
    return f'<ul class="cards">\n{items}\n</ul>'


def _sections(evaluation: Evaluation, plots: Sequence[Plot]) -> Iterable[str]:
    """What stands out, then all that has a figure or a table."""
    yield _section("In short", "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in evaluation.findings()) + "</ul>")
    figures = {plot.name: _figure(plot) for plot in plots}
    tables = _tables(evaluation, figures)
    for name in dict.fromkeys([*EXPLANATIONS, *figures]):
        content = figures.get(name, "") + tables.get(name, "")
        if content:
            yield _explained(name, content)


def _section(title: str, content: str) -> str:
    return f"<section>\n<h2>{escape(title)}</h2>\n{content}\n</section>"


def _explained(name: str, content: str) -> str:
    if name not in EXPLANATIONS:
        return _section(name.replace("_", " ").capitalize(), content)
    title, text, how_drawn, good, bad = EXPLANATIONS[name]
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
    tables = {"per_class": _per_class_table(evaluation), "coverage": _coverage_table(evaluation)}
    if evaluation.error_sizes:
        tables["error_size"] = _error_size_table(evaluation)
    if "confusion" not in figures:
        tables["confusion"] = _confusion_table(evaluation)
    if "reliability" not in figures:
        tables["reliability"] = _reliability_table(evaluation)
    return tables


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of texts, which are escaped here."""
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in heads)
    body = "\n".join(_row(first, "".join(f"<td>{escape(cell)}</td>" for cell in cells)) for first, *cells in rows)
    return _scrolling(head, body)


def _row(first: str, cells: str) -> str:
    return f'<tr><th scope="row">{escape(first)}</th>{cells}</tr>'


def _scrolling(head: str, body: str) -> str:
    """A table that scrolls by itself where the window is narrow."""
    return f'<div class="scroll"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>'


def _per_class_table(evaluation: Evaluation) -> str:
    rows = (
        [shortened(name, LONGEST_NAME), f"{n_objects:,}", f"{n_answers:,}", *map(decimals, shares)]
        for name, n_objects, n_answers, *shares in evaluation.per_class
    )
    return _table(["Class", "Objects", "Answers", "Precision", "Recall", "F1"], rows)


def _confusion_table(evaluation: Evaluation) -> str:
    names = [shortened(name, LONGEST_NAME) for name in evaluation.names]
    heads = [shortened(name, LONGEST_HEAD) for name in evaluation.names]
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in ("True class \\ answer", *heads))
    rows = (_row(names[i], _counts(counts, i)) for i, counts in enumerate(evaluation.confusion))
    return _scrolling(head, "\n".join(rows))


def _counts(counts: Iterable[int], diagonal: int) -> str:
    """The cells of a row of the confusion matrix; right answers stand out."""
    cells = [f"<td>{count:,}</td>" for count in counts]
    cells[diagonal] = cells[diagonal].replace("<td>", '<td class="diagonal">')
    return "".join(cells)


def _reliability_table(evaluation: Evaluation) -> str:
    rows = (
        [f"{low:.1f} – {high:.1f}", f"{n_objects:,}", f"{mean_proba:.3f}", str(accuracy)]
        for low, high, n_objects, mean_proba, accuracy in evaluation.reliability
    )
    return _table(["Probability", "Objects", "Mean probability", "Accuracy (95 % interval)"], rows)


def _error_size_table(evaluation: Evaluation) -> str:
    rows = (
        [
            size_range(bin),
            f"{bin.n_objects:,}",
            "–" if bin.is_unknown else f"{bin.median:.3g}",
            str(bin.accuracy),
            f"{bin.mean_proba:.3f}",
        ]
        for bin in evaluation.error_sizes
    )
    return _table(["Size of the errors", "Objects", "Median size", "Accuracy (95 % interval)", "Expected"], rows)


def _coverage_table(evaluation: Evaluation) -> str:
    rows = (
        [percent(share), f"{n_objects:,}", f"{least_proba:.3f}", str(accuracy)]
        for share, n_objects, least_proba, accuracy in evaluation.coverage
    )
    return _table(["Share kept", "Objects", "Probability from", "Accuracy (95 % interval)"], rows)


def _facts(facts: Mapping[str, str]) -> str:
    if not facts:
        return ""
    items = "\n".join(f"<dt>{escape(str(name))}</dt><dd>{escape(str(fact))}</dd>" for name, fact in facts.items())
    return _section("What was evaluated", f"<dl>\n{items}\n</dl>")
