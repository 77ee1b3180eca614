"""The evaluation of predicted numbers as a web page: the same page as for classes, with other sections."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from string import Template

from .drawing import Plot
from .explanations import Explanation
from .findings import SHIFTS_TITLE, shift_lines
from .number_scores import NumberEvaluation
from .number_text import number_findings, number_headlines, number_size_table
from .report import _details, _explained, _figure, _list, _resource, _section, _table

EXPLANATIONS = {
    "predicted": Explanation(
        "Predicted and true numbers",
        "Each object with its true number and the predicted one, the mean of its distribution unless the model says "
        "otherwise.",
        "On the dashed line they are equal.",
        "a narrow band along the line.",
        "islands far from it: groups of objects that the features don't tell apart.",
    ),
    "bias": Explanation(
        "Bias",
        "Objects are sorted by the prediction into groups of the same size.",
        "The line is the median error of each group; 68 % of its errors are in the band.",
        "the line stays at 0.",
        "the line leaves 0: predictions of this size are too large or too small. Towards the ends a model that knows "
        "little predicts numbers that lie too far inside.",
    ),
    "pit": Explanation(
        "Can the distributions be trusted?",
        "F(true number) is the probability that the model gave to all smaller numbers. If the distributions are right, "
        "every value between 0 and 1 is as frequent.",
        "The bars should lie in the grey band.",
        "a flat histogram: probabilities mean what they say.",
        "a valley: distributions are too narrow. A hill: too wide. A slope: they lie too low or too high. Peaks at the "
        "ends: outliers that the model holds for impossible.",
    ),
    "interval_coverage": Explanation(
        "What intervals contain",
        "An interval of 68 % should contain 68 % of the true numbers.",
        "The curve shows all probabilities.",
        "the curve is in the grey band.",
        "below it, intervals are too narrow; calibrate=True, or conformal intervals, correct that for tables like the "
        "training set.",
    ),
    "expected_error": Explanation(
        "Does the model know when it is wrong?",
        "Objects are sorted by the predicted standard deviation into groups of the same size.",
        "The actual error of each group is drawn against the predicted one.",
        "the points follow the line: select objects by the predicted deviation.",
        "a flat curve: the predicted deviation says nothing about the error.",
    ),
    "number_error_size": Explanation(
        "What errors of the features cost",
        "Objects in groups by the size of their errors: the median over the features of error / median error in the "
        "training set.",
        "Diamonds are what the model expects.",
        "errors grow as the model expects.",
        "badly measured objects have larger errors than the model expects.",
    ),
    "importance": Explanation(
        "Which features matter",
        "The share of each feature in what all splits gain. Features that say the same share their importance.",
        "",
        "features that you know to matter come first.",
        "a feature that can't know anything is important: it may give the answer away.",
    ),
}


def html_number_report(
    evaluation: NumberEvaluation,
    plots: Sequence[Plot] = (),
    *,
    title: str,
    details: Mapping[str, str],
    warnings: Sequence[str] = (),
    error_shifts: Mapping[str, str] | None = None,
) -> str:
    """The page as text, to be written in UTF-8; arguments as those of `html_report`."""
    parts = [_head(evaluation, title, warnings), _cards(evaluation)]
    parts += _sections(evaluation, plots, error_shifts or {})
    body = "\n".join([*parts, _details(details)]).replace(" %", "&nbsp;%")  # no line begins with a per cent sign
    return Template(_resource("report.html")).substitute(title=escape(title), style=_resource("report.css"), body=body)


def _head(evaluation: NumberEvaluation, title: str, warnings: Sequence[str]) -> str:
    lead = f"Predictions of {evaluation.n_objects:,} numbers, compared with the true ones."
    paragraphs = [f'<p class="warning">{escape(text[:1].upper() + text[1:])}</p>' for text in warnings]
    return "\n".join([f"<h1>{escape(title)}</h1>", *paragraphs, f'<p class="lead">{lead}</p>'])


def _cards(evaluation: NumberEvaluation) -> str:
    items = "\n".join(
        f"<li>{escape(name)}<b>{escape(value)}</b><small>{escape(note)}</small></li>"
        for name, value, note in number_headlines(evaluation)
    )
    return f'<ul class="cards">\n{items}\n</ul>'


def _sections(evaluation: NumberEvaluation, plots: Sequence[Plot], error_shifts: Mapping[str, str]) -> Iterable[str]:
    yield _section("In short", _list(number_findings(evaluation)))
    if error_shifts:
        yield _section(SHIFTS_TITLE, _list(shift_lines(error_shifts)))
    figures = {plot.name: _figure(plot) for plot in plots}
    tables = {"number_error_size": _table(number_size_table(evaluation))} if evaluation.by_error_size else {}
    for name in EXPLANATIONS:
        content = figures.get(name, "") + tables.get(name, "")
        if content:
            yield _explained(name, content, EXPLANATIONS)
