"""Scores, text, figures and the page of predicted numbers."""

import numpy as np
import pytest
from scipy.stats import norm

from probforest.evaluation.number_figures import number_figures, pit_figure
from probforest.evaluation.number_report import html_number_report
from probforest.evaluation.number_scores import NumberAnswers, evaluate_numbers
from probforest.evaluation.number_text import number_findings, number_size_table, number_text


def answers_of(n, *, width=1.0, shift=0.0, seed=0):
    """Normal distributions with the right deviation times `width`, and means that are off by `shift`."""
    random = np.random.default_rng(seed)
    std = random.uniform(0.05, 0.2, n)
    predicted = random.uniform(0.2, 1.0, n)
    truth = predicted - shift + std * random.normal(size=n)
    z = (truth - predicted) / (width * std)
    ends = {p: norm.ppf([(1 - p) / 2, (1 + p) / 2]) for p in (0.68, 0.95)}
    intervals = {p: predicted[:, None] + width * std[:, None] * each for p, each in ends.items()}
    crps = width * std * (z * (2 * norm.cdf(z) - 1) + 2 * norm.pdf(z) - 1 / np.sqrt(np.pi))
    loss = 1 / (2 * np.sqrt(np.pi) * width * std) - 2 * norm.pdf(z) / (width * std)
    return NumberAnswers(truth, predicted, width * std, crps, loss, norm.cdf(z), intervals, 10 * std)


def test_scores_are_the_formulas():
    answers = answers_of(4000)
    found = evaluate_numbers(answers, is_redshift=True)
    errors = answers.predicted - answers.truth
    assert found.rmse == pytest.approx(np.sqrt(np.mean(errors**2)))
    assert found.coverage["0.68"] == pytest.approx(0.68, abs=0.03)
    assert found.pit_quartiles == pytest.approx([0.25, 0.5, 0.75], abs=0.03)
    assert found.cde_loss == pytest.approx(answers.cde_loss.mean())
    middle = np.median(errors)
    assert found.outliers == np.mean(np.abs(errors - middle) > 3 * 1.4826 * np.median(np.abs(errors - middle)))
    assert [group["n_objects"] for group in found.by_error_size] == [1000] * 4
    for group in found.by_error_size:
        assert group["rmse"] == pytest.approx(group["expected_rmse"], rel=0.1)
        assert group["coverage_0.95"] == pytest.approx(0.95, abs=0.03)
    text = "\n".join(number_text(found))
    for word in ("outliers", "CDE loss", "68% intervals", "redshifts", "by size of the errors"):
        assert word in text
    endless = NumberAnswers(answers.truth, answers.predicted, cde_loss=np.full(4000, np.inf))
    assert evaluate_numbers(endless).as_dict()["cde_loss"] is None


def test_findings_say_what_is_wrong():
    right = " ".join(number_findings(evaluate_numbers(answers_of(2000))))
    assert "no bias" in right
    assert "as they should" in right
    wrong = " ".join(number_findings(evaluate_numbers(answers_of(2000, width=0.5, shift=0.1))))
    assert "too large by 0.099" in wrong
    assert "too narrow" in wrong
    assert "too wide" in " ".join(number_findings(evaluate_numbers(answers_of(2000, width=2.0))))


def test_the_page_has_every_section_and_escapes_names():
    pytest.importorskip("matplotlib")
    answers = answers_of(300)
    evaluation = evaluate_numbers(answers, is_redshift=True)
    plots = number_figures(answers, evaluation, "z <b>", [0.7, 0.3], ["g", "<i>"])
    names = ["predicted", "bias", "pit", "interval_coverage", "expected_error", "number_error_size", "importance"]
    assert [plot.name for plot in plots] == names
    page = html_number_report(
        evaluation, plots, title="<x>", details={"Table": "a&b"}, warnings=["a <c>"], error_shifts={"e": "2 times"}
    )
    for text in (
        "<h1>&lt;x&gt;</h1>",
        "a&amp;b",
        "A &lt;c&gt;",
        "e: 2 times",
        "Redshift outliers",
        "95% intervals contain",
    ):
        assert text in page
    assert page.count("<figure>") == 7
    plain = html_number_report(evaluate_numbers(NumberAnswers(answers.truth, answers.predicted)), title="t", details={})
    assert "<figure>" not in plain
    assert "In short" in plain


def test_many_objects_are_a_map_and_few_are_drawn():
    pytest.importorskip("matplotlib")
    for n in (3, 5000):
        answers = answers_of(n)
        plots = number_figures(answers, evaluate_numbers(answers), "age")
        axes = plots[0].figure.axes
        assert (len(axes) == 2) == (n > 2000)  # with the bar of colours
    bars = pit_figure(np.full(100, 0.5)).axes[0].patches[0].get_data().values
    assert sorted(bars) == [0, 0, 0, 4]


def test_the_table_of_sizes():
    table = number_size_table(evaluate_numbers(answers_of(400)))
    assert table.heads == [
        "size of the errors",
        "objects",
        "error",
        "expected",
        "68% intervals contain",
        "95% intervals contain",
    ]
    assert len(table.rows) == 4
    assert table.rows[0][1] == "100"
