"""Figures show the numbers of the evaluation, are readable for 50 classes, and leave the user's matplotlib alone."""

import subprocess
import sys
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

from probforest.evaluation.drawing import as_svg, write_figures
from probforest.evaluation.figures import (
    confusion_figure,
    coverage_figure,
    error_size_figure,
    figures_of,
    importance_figure,
    per_class_figure,
    precision_recall_figure,
    reliability_figure,
    roc_figure,
)
from probforest.evaluation.findings import ErrorCosts
from probforest.evaluation.scores import evaluate

matplotlib = pytest.importorskip("matplotlib")


def make_evaluation(n_classes=3, name="class {}", n_objects=300):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, n_classes, n_objects)
    proba = 0.3 * np.eye(n_classes)[truth] + 0.7 * rng.dirichlet(np.full(n_classes, 0.2), n_objects)
    sizes = np.where(rng.uniform(size=n_objects) < 0.1, np.nan, rng.exponential(size=n_objects))
    classes = np.array([name.format(i) for i in range(n_classes)])
    return evaluate(classes[truth], proba, classes, error_size=sizes)


@pytest.fixture(scope="module")
def evaluation():
    return make_evaluation()


def labels_of(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def drawn(figure):
    figure.canvas.draw()
    return figure


def test_all_figures_in_their_order(evaluation):
    plots = figures_of(evaluation, importances=[0.3, 0.7])
    expected = [
        "confusion",
        "per_class",
        "roc",
        "precision_recall",
        "reliability",
        "error_size",
        "coverage",
        "importance",
    ]
    assert [plot.name for plot in plots] == expected
    assert all(plot.caption.endswith(".") for plot in plots)
    assert labels_of(plots[-1].figure.axes[0].yaxis) == ["feature 1", "feature 0"]


def test_what_is_not_known_is_not_drawn(evaluation):
    without = evaluate([0, 1], np.eye(2), [0, 1])
    expected = ["confusion", "per_class", "roc", "precision_recall", "reliability", "coverage"]
    assert [plot.name for plot in figures_of(without)] == expected
    with pytest.raises(ValueError, match="without error_size"):
        error_size_figure(without)


def test_confusion_has_the_counts(evaluation):
    axes = confusion_figure(evaluation).axes[0]
    assert [int(text.get_text()) for text in axes.texts] == evaluation.confusion.ravel().tolist()
    assert labels_of(axes.yaxis) == list(evaluation.names)
    assert axes.yaxis_inverted()


@pytest.mark.parametrize("n_classes", [1, 2, 12, 50])
def test_names_of_classes_do_not_overlap(n_classes):
    evaluation = make_evaluation(n_classes, name="a type of variable star with a long name {}", n_objects=600)
    for figure, across in ((confusion_figure(evaluation), True), (per_class_figure(evaluation), False)):
        axes = drawn(figure).axes[0]
        below = [label.get_window_extent() for label in axes.get_yticklabels()]
        assert all(low.y1 <= high.y0 + 1 for high, low in pairwise(below))
        assert min(box.x0 for box in below) >= 0
        beside = [label.get_window_extent() for label in axes.get_xticklabels()] if across else []
        assert all(left.x1 <= right.x0 + 1 for left, right in pairwise(beside))
        width, height = figure.get_size_inches()
        assert width == (6.5 if across and n_classes > 6 else 4.6)
        assert height < 12
        assert axes.get_window_extent().width > 0.4 * figure.bbox.width


def test_reliability_has_the_curve_and_the_counts(evaluation):
    axes, below = reliability_figure(evaluation).axes
    curve = next(line for line in axes.lines if line.get_label() == "this model")
    expected = [(bin.mean_proba, bin.accuracy.value) for bin in evaluation.reliability]
    np.testing.assert_allclose(curve.get_xydata(), expected)
    assert sum(bar.get_height() for bar in below.patches) == evaluation.n_objects


def test_errors_have_a_place_for_objects_without(evaluation):
    axes = error_size_figure(evaluation).axes[0]
    labels = labels_of(axes.xaxis)
    assert labels[0].startswith("unknown")
    assert len(labels) == len(evaluation.error_sizes) == 6
    expected, right = axes.lines
    assert expected.get_ydata() == pytest.approx([bin.mean_proba for bin in evaluation.error_sizes])
    assert right.get_ydata() == pytest.approx([bin.accuracy.value for bin in evaluation.error_sizes])


@pytest.mark.parametrize("n_classes", [2, 9])
def test_curves_of_the_largest_classes(n_classes):
    evaluation = make_evaluation(n_classes)
    largest = sorted(evaluation.curves, key=lambda curve: -curve.share)[:6]
    for draw, points, score in (
        (roc_figure, "roc", "roc_auc"),
        (precision_recall_figure, "precision_recall", "average_precision"),
    ):
        axes = draw(evaluation).axes[0]
        drawn = {line.get_label(): line.get_xydata() for line in axes.lines}
        for curve in largest:
            np.testing.assert_array_equal(drawn[f"{curve.name} {getattr(curve, score):.3f}"], getattr(curve, points))
        assert ("(3 more are in the table)" in drawn) == (n_classes == 9)


def test_axes_use_their_room():
    """Two classes have no answers below 50 %, and a good model no low shares."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 500)
    sure = np.where(rng.uniform(size=500) < 0.97, truth, 1 - truth)
    evaluation = evaluate(truth, 0.9 * np.eye(2)[sure] + 0.05, [0, 1])
    axes = reliability_figure(evaluation).axes[0]
    assert axes.get_xlim()[0] > 0.8
    assert axes.get_ylim()[0] > 0.8
    assert per_class_figure(evaluation).axes[0].get_xlim()[0] > 0.8
    assert precision_recall_figure(evaluation).axes[0].get_ylim()[0] > 0.8


def test_numbers_below_an_axis_do_not_overlap():
    axes = drawn(importance_figure(["u", "g"], [0.00321, -0.00487])).axes[0]
    boxes = [label.get_window_extent() for label in axes.get_xticklabels() if label.get_text()]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


def test_what_errors_cost():
    costs = ErrorCosts(["u", "g"], np.array([0.02, 0.01]), np.array([0.001, 0.002]), 50)
    plots = figures_of(make_evaluation(2), error_costs=costs)
    axes = plots[-1].figure.axes[0]
    assert plots[-1].name == "error_cost"
    assert labels_of(axes.yaxis) == ["u", "g"]
    assert axes.get_xlabel() == "expected gain of accuracy"


def test_coverage_has_the_curve(evaluation):
    (line,) = coverage_figure(evaluation).axes[0].lines
    expected = [(point.share, point.accuracy.value) for point in evaluation.coverage]
    np.testing.assert_allclose(line.get_xydata(), expected)


def test_the_most_important_features_are_on_top():
    importances = np.arange(30) / np.arange(30).sum()
    axes = importance_figure([f"f{i}" for i in range(30)], importances, most=5).axes[0]
    assert labels_of(axes.yaxis) == ["f29", "f28", "f27", "f26", "f25"]
    assert axes.yaxis_inverted()
    assert axes.get_xlabel() == "importance (not shown: 25 of 30 features, with 69 % of the sum)"


def test_importances_may_be_negative_and_must_have_names():
    axes = importance_figure(["u", "g", "r"], [0.2, -0.1, 0.0], most=2).axes[0]
    assert axes.get_xlabel() == "importance (not shown: 1 of 3 features)"
    with pytest.raises(ValueError, match="2 names"):
        importance_figure(["u", "g"], [1.0])


def test_files_are_written_and_always_the_same(evaluation, tmp_path):
    plots = figures_of(evaluation)[-1:]
    paths = write_figures(plots, tmp_path / "new" / "folder")
    assert [path.name for path in paths] == ["coverage.png", "coverage.svg"]
    assert paths[0].read_bytes().startswith(b"\x89PNG")
    ElementTree.fromstring(paths[1].read_text(encoding="utf-8"))
    assert as_svg(coverage_figure(evaluation)) == paths[1].read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["$x_{}", "日本 {}", "<&> {}", "\\frac {}", "a\nb {}"])
def test_any_name_can_be_drawn(name):
    evaluation = make_evaluation(2, name=name)
    ElementTree.fromstring(as_svg(confusion_figure(evaluation)))


def test_nothing_of_the_users_matplotlib_changes(evaluation):
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "black", "text.usetex": True}):
        before = dict(matplotlib.rcParams)
        as_svg(coverage_figure(evaluation))
        assert dict(matplotlib.rcParams) == before


def test_the_users_style_changes_nothing_of_the_figures(evaluation):
    expected = as_svg(coverage_figure(evaluation))
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "black", "savefig.transparent": True}):
        assert as_svg(coverage_figure(evaluation)) == expected


def test_pyplot_is_not_touched():
    code = (
        "import sys, numpy as np\n"
        "from probforest.evaluation.scores import evaluate\n"
        "assert 'matplotlib' not in sys.modules\n"
        "from probforest.evaluation.drawing import as_svg\n"
        "from probforest.evaluation.figures import coverage_figure\n"
        "assert 'matplotlib' not in sys.modules\n"
        "as_svg(coverage_figure(evaluate([0, 1], np.eye(2), [0, 1])))\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_without_matplotlib_the_error_says_what_to_install(evaluation, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'pip install "probforest\[plots\]"'):
        coverage_figure(evaluation)
