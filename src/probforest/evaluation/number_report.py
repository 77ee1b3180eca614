"""The evaluation of predicted numbers as a web page: the same page as for classes, with other sections."""

from collections.abc import Iterable, Mapping, Sequence

from .drawing import Plot
from .explanations import Explanation
from .findings import SHIFTS_TITLE, shift_lines
from .number_scores import NumberEvaluation
from .number_text import number_findings, number_headlines, number_size_table
from .page import Section, bullets, details_of, explained, figure_of, html_page, table_of

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
    banner: str = "",
    warnings: Sequence[str] = (),
    error_shifts: Mapping[str, str] | None = None,
) -> str:
    """The page as text, to be written in UTF-8; arguments as those of `html_report`."""
    sections = [Section("In short", bullets(number_findings(evaluation)))]
    if error_shifts:
        sections.append(Section(SHIFTS_TITLE, bullets(shift_lines(error_shifts))))
    sections += _explained_sections(evaluation, plots)
    if details:
        sections.append(Section("What was evaluated", details_of(details)))
    return html_page(
        title,
        sections,
        lead=f"Predictions of {evaluation.n_objects:,} numbers, compared with the true ones.",
        banner=banner,
        warnings=warnings,
        cards=number_headlines(evaluation),
    )


def _explained_sections(evaluation: NumberEvaluation, plots: Sequence[Plot]) -> Iterable[Section]:
    """Everything that has a figure or a table."""
    figures = {plot.name: figure_of(plot) for plot in plots}
    tables = {"number_error_size": table_of(number_size_table(evaluation))} if evaluation.by_error_size else {}
    for name, explanation in EXPLANATIONS.items():
        content = figures.get(name, "") + tables.get(name, "")
        if content:
            yield explained(explanation, content)
