"""The page is whole by itself: valid, safe with any name, and the same in a browser."""

import base64
import os
import re
import shutil
import subprocess
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest

from probforest.evaluation.accuracy import Accuracy
from probforest.evaluation.drawing import Plot
from probforest.evaluation.explanations import EXPLANATIONS
from probforest.evaluation.figures import confusion_figure, coverage_figure, figures_of, importance_figure
from probforest.evaluation.findings import ErrorCosts, OutOfBag
from probforest.evaluation.report import html_report
from probforest.evaluation.scores import evaluate
from probforest.evaluation.tables import Table

pytest.importorskip("matplotlib")

VOID = {"meta", "img", "br", "link", "input", "hr"}
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
EVIL = "<script>document.title = 'hacked'</script>"
QUOTE = '" onerror="alert(1)'


class Page(HTMLParser):
    """What is on a page, and whether its tags are closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.texts, self.attributes = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *attribute) for attribute in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style" and data.strip():
            self.texts.append(data.strip())

    def values(self, tag, attribute):
        return [value for t, name, value in self.attributes if (t, name) == (tag, attribute)]


def make_evaluation(classes=("galaxy", "star"), errors=True, n_objects=60):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, len(classes), n_objects)
    proba = 0.5 * np.eye(len(classes))[truth] + 0.5 * rng.dirichlet(np.ones(len(classes)), n_objects)
    proba[0] = np.nan
    return evaluate(np.array(classes)[truth], proba, classes, error_size=np.arange(n_objects) if errors else None)


@pytest.fixture(scope="module")
def text():
    evaluation = make_evaluation()
    costs = ErrorCosts(["u", "g"], np.array([0.02, 0.01]), np.array([0.001, 0.002]), 50)
    plots = figures_of(evaluation, importances=[0.4, 0.6], names=["u", "g"], error_costs=costs)
    return html_report(
        evaluation,
        plots,
        title="A test",
        details={"Model": "forest.prf", "Rows": "60"},
        out_of_bag=OutOfBag(Accuracy(0.875, 0.85, 0.9), 0.375),
        error_costs=costs,
        mistakes=Table(["row", "why"], [["7", "u +0.5, " * 10]]),
    )


@pytest.fixture(scope="module")
def page(text):
    return Page(text)


def test_the_page_says_what_it_is(text, page):
    assert text.startswith("<!DOCTYPE html>")
    assert page.values("html", "lang") == ["en"]
    assert page.values("meta", "charset") == ["utf-8"]
    assert "viewport" in page.values("meta", "name")
    assert page.values("meta", "http-equiv") == ["Content-Security-Policy"]
    assert page.texts.count("A test") == 2  # in the title and on the page


def test_nothing_is_loaded_or_run(text, page):
    assert not {"script", "link", "iframe", "object", "form"} & set(page.tags)
    assert all(target.startswith("#") for target in page.values("a", "href"))
    assert all(source.startswith("data:image/svg+xml;base64,") for source in page.values("img", "src"))
    assert not re.search(r"https?:|url\(|@import|javascript:", text)
    assert not [name for _, name, _ in page.attributes if name.startswith("on")]


def test_figures_are_svg_with_a_text_for_those_who_do_not_see_them(page):
    sources = page.values("img", "src")
    assert len(sources) == len(EXPLANATIONS)  # mistakes have none, and separated classes have two
    for source in sources:
        root = ElementTree.fromstring(base64.b64decode(source.partition(",")[2]))
        assert root.tag.endswith("svg")
    assert all(page.values("img", "alt"))


def test_every_figure_is_explained(page):
    for explanation in EXPLANATIONS.values():
        assert explanation.title in page.texts


def test_contents_lead_to_every_section(page):
    targets = [target.removeprefix("#") for target in page.values("a", "href")]
    assert targets == page.values("section", "id")
    assert len(targets) == len(EXPLANATIONS) + 2  # in short, what was evaluated
    heads = [page.texts[i] for i in range(len(page.texts)) if page.texts.count(page.texts[i]) == 2]
    assert EXPLANATIONS["mistakes"].title in heads


def test_tables_and_wide_figures_scroll_by_themselves(text):
    assert text.count("<table>") == text.count('<div class="scroll" tabindex="0"><table>')
    many = make_evaluation([f"class {i}" for i in range(9)])
    wide = html_report(many, [Plot("confusion", "Counts.", confusion_figure(many))], title="", details={})
    assert '<figure class="wide"><div class="scroll" tabindex="0"><img' in wide
    assert '<td class="long words">u +0.5, ' in text


def test_out_of_bag_stands_beside_test(page):
    assert any(words.endswith("; out of bag 0.875") for words in page.texts)
    assert any(words.endswith("; out of bag 0.375") for words in page.texts)


def test_the_banner_is_the_first_thing_below_the_heading():
    text = html_report(make_evaluation(), title="Heading", details={}, banner=f"Training table {EVIL}", warnings=["w"])
    page = Page(text)
    texts = page.texts[page.texts.index("Heading", 1) :]
    assert texts[1:3] == [f"Training table {EVIL}", "W"]
    assert page.values("p", "class")[0] == "banner"


def test_numbers_are_there(page):
    evaluation = make_evaluation()
    for value in (evaluation.accuracy.value, evaluation.log_loss, evaluation.brier, evaluation.calibration_error):
        assert f"{value:.3f}" in page.texts
    assert str(evaluation.error_sizes[0].accuracy) in page.texts
    assert str(evaluation.coverage[0].accuracy) in page.texts
    assert f"{evaluation.per_class[0].f1:.3f}" in page.texts
    assert any("left out: 1." in words for words in page.texts)


def test_details_are_at_the_end(page):
    assert page.texts[-5:] == ["What was evaluated", "Model", "forest.prf", "Rows", "60"]
    assert "What was evaluated" not in Page(html_report(make_evaluation(), title="", details={})).texts


def test_the_confusion_matrix_is_drawn_or_a_table_but_not_both(text):
    corner = "True class \\ answer"
    assert corner not in text
    evaluation = make_evaluation()
    without = Page(html_report(evaluation, title="No figures", details={}))
    assert corner in without.texts
    assert "img" not in without.tags
    diagonal = [value for value in without.values("td", "class") if value == "diagonal"]
    assert len(diagonal) == len(evaluation.classes)


def test_without_errors_there_is_no_section_about_them():
    page = Page(html_report(make_evaluation(errors=False), title="", details={}))
    assert EXPLANATIONS["error_size"].title not in page.texts
    assert EXPLANATIONS["coverage"].title in page.texts


def test_figures_of_others_can_be_added():
    plot = Plot("sky_map", "Where on the sky.", importance_figure(["ra"], [1.0]))
    page = Page(html_report(make_evaluation(), [plot], title="", details={}))
    assert "Sky map" in page.texts
    assert "Where on the sky." in page.texts


def test_names_are_text_whatever_they_contain():
    evaluation = make_evaluation((EVIL, QUOTE))
    plots = [Plot("coverage", EVIL + QUOTE, coverage_figure(evaluation))]
    costs = ErrorCosts([EVIL, QUOTE], np.array([0.02, 0.01]), np.array([0.001, 0.002]), 50)
    mistakes = Table(["row", EVIL], [[EVIL, EVIL + QUOTE]])
    text = html_report(
        evaluation, plots, title=EVIL, details={EVIL: QUOTE}, error_costs=costs, mistakes=mistakes, banner=EVIL
    )
    page = Page(text)
    assert "<script" not in text
    assert page.texts.count(EVIL) >= 4  # title, heading, class, detail
    assert page.values("img", "alt") == [EVIL + QUOTE]
    assert not [name for _, name, _ in page.attributes if name.startswith("on")]


def in_browser(text, tmp_path, *options):
    """The page after Chromium has read it."""
    path = tmp_path / "report.html"
    path.write_text(text, encoding="utf-8")
    command = [CHROMIUM, "--headless", "--disable-gpu", "--no-first-run", f"--user-data-dir={tmp_path / 'profile'}"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--no-sandbox")  # Chromium refuses to run as root otherwise
    return subprocess.run([*command, *options, path.as_uri()], capture_output=True, text=True, timeout=60, check=True)


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
def test_a_browser_opens_it(text, tmp_path):
    picture = tmp_path / "report.png"
    in_browser(text, tmp_path, f"--screenshot={picture}", "--window-size=1000,2000")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 50_000  # a page with figures, not an empty one


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
def test_a_browser_runs_nothing_of_it(tmp_path):
    evil = html_report(make_evaluation((EVIL, QUOTE)), title=EVIL, details={})
    dom = in_browser(evil, tmp_path, "--dump-dom").stdout
    assert "<script" not in dom
    assert "<title>hacked" not in dom
    # Even a script that someone puts in is not run: the page forbids it.
    changed = in_browser(evil.replace("</body>", EVIL + "</body>"), tmp_path, "--dump-dom").stdout
    assert "<title>hacked" not in changed


def test_warnings_stand_between_the_heading_and_the_numbers():
    warning = f"trained on {EVIL}"
    page = Page(html_report(make_evaluation(), title="Heading", details={}, warnings=[warning]))
    texts = page.texts[page.texts.index("Heading", 1) :]
    assert texts[1] == f"Trained on {EVIL}"
    assert "were given their true class" in texts[2]
    assert "script" not in page.tags
    assert page.values("p", "class")[0] == "warning"
