"""Displays in scikit-learn's manner, and trees as figures."""

import re

import numpy as np
import pandas as pd
import pytest

from probforest import (
    ProbabilisticGradientBoostingClassifier,
    ProbabilisticRandomForestClassifier,
    ProbabilisticRandomForestRegressor,
)
from probforest.explain import (
    ContributionDisplay,
    ImportanceDisplay,
    MeasurementValueDisplay,
    decision_paths,
    export_text,
    plot_tree,
)
from probforest.importance import permutation_importance

plt = pytest.importorskip("matplotlib.pyplot")

RANDOM = np.random.default_rng(0)
NAMES = ["u", "$g_{", "<b>r</b>"]
X = pd.DataFrame(RANDOM.normal(size=(120, 3)), columns=NAMES)
X_ERR = np.full((120, 3), 0.3)
Y = np.where(X["u"] + X["$g_{"] > 0, "star", "$galaxy_{")
MODELS = {
    "forest": ProbabilisticRandomForestClassifier(4, random_state=0, max_depth=4).fit(X, Y, X_err=X_ERR),
    "boosting": ProbabilisticGradientBoostingClassifier(max_iter=3, random_state=0).fit(X, Y, X_err=X_ERR),
    "numbers": ProbabilisticRandomForestRegressor(4, random_state=0, error_scale=1.0).fit(X, X["u"], X_err=X_ERR),
}


@pytest.fixture(autouse=True)
def closed():
    plt.switch_backend("Agg")
    yield
    plt.close("all")


def labels(display):
    display.figure_.canvas.draw()  # fails if a name is taken for a formula
    return [label.get_text() for label in display.ax_.get_yticklabels()]


@pytest.mark.parametrize("kind", MODELS)
def test_displays_of_every_model(kind):
    model = MODELS[kind]
    assert labels(ImportanceDisplay.from_estimator(model)) == model.importances_.index
    costs = ImportanceDisplay.from_estimator(model, X[:30], kind="error", X_err=X_ERR[:30], most=2)
    assert labels(costs) == model.value_of_measurement(X[:30], X_err=X_ERR[:30]).error_importances().index[:2]
    why = ContributionDisplay.from_estimator(model, X[:5], X_err=X_ERR[:5], row=3)
    expected = [name for name, _ in model.contributions(X[:5], X_err=X_ERR[:5]).of(3)]
    assert labels(why) == ["average", *expected, "this object"]
    value = MeasurementValueDisplay.from_estimator(model, X[:5], X_err=X_ERR[:5], row=3, factor=0.5, most=1)
    best = model.value_of_measurement(X[:5], X_err=X_ERR[:5], factor=0.5).gain[3].argmax()
    assert labels(value) == [NAMES[best]]


def test_axes_of_the_user_are_used():
    _, (first, second) = plt.subplots(1, 2)
    display = ContributionDisplay.from_estimator(MODELS["forest"], X[:2], X_err=X_ERR[:2], ax=first)
    assert display.ax_ is first
    assert display.figure_ is first.figure
    assert display.plot(ax=second) is display
    assert display.ax_ is second
    assert len(plt.get_fignums()) == 1


def test_permutation_importances():
    result = permutation_importance(MODELS["forest"], X, Y, X_err=X_ERR, n_repeats=2, random_state=0)
    display = ImportanceDisplay.from_permutation(result)
    order = np.argsort(-result.importances_mean, kind="stable")
    assert labels(display) == [NAMES[j] for j in order]
    np.testing.assert_array_equal(display.importances.errors, result.importances_std[order])
    assert labels(ImportanceDisplay.from_permutation(result, names=["a", "b", "c"], most=1)) == ["abc"[order[0]]]


def test_bad_arguments():
    with pytest.raises(ValueError, match="kind is 'x'; expected"):
        ImportanceDisplay.from_estimator(MODELS["forest"], kind="x")
    with pytest.raises(ValueError, match="needs X"):
        ImportanceDisplay.from_estimator(MODELS["forest"], kind="error")


@pytest.mark.parametrize("kind", MODELS)
def test_a_tree_with_the_ways_of_an_object(kind):
    model = MODELS[kind]
    ax = plot_tree(model, 1, X=X[7:8], X_err=X_ERR[7:8], max_depth=2)
    ax.figure.canvas.draw()
    tree = model.trees_[1]
    reach = model.leaf_proba(X[7:8], X_err=X_ERR[7:8])[0, len(model.trees_[0].leaves) :].toarray()[0]
    reach = reach[: len(tree.leaves)] / reach[: len(tree.leaves)].sum()
    left = reach[tree.leaves < tree.right[0]].sum()
    shown = [text.get_text() for text in ax.texts]
    assert f"{left:.2f}" in shown
    assert f"{1 - left:.2f}" in shown
    name = model.feature_names_[tree.feature[0]]
    assert shown[0] == f"{name}\n≤ {tree.threshold[0]:.3g}"
    widths = sorted(line.get_linewidth() for line in ax.lines)
    assert widths[-1] == pytest.approx(6 * max(left, 1 - left))


def test_a_tree_alone_has_all_its_nodes():
    tree = MODELS["forest"].trees_[0]
    ax = plot_tree(MODELS["forest"], max_depth=50)
    boxes = [text for text in ax.texts if text.get_bbox_patch() is not None]
    assert len(boxes) == tree.n_nodes
    assert {text.get_text() for text in ax.texts if text.get_bbox_patch() is None} == {"yes", "no"}
    places = {tuple(text.get_position()) for text in boxes}
    assert len(places) == tree.n_nodes
    with pytest.raises(ValueError, match="X has 2 objects; expected one"):
        plot_tree(MODELS["forest"], X=X[:2], X_err=X_ERR[:2])


def test_words_of_every_model():
    assert re.search(r"[+-][\d.e-]+ for star \(", export_text(MODELS["boosting"], 1))
    mean, scatter = re.search(r"--- (\S+) ± (\S+) \(", export_text(MODELS["numbers"], 2)).groups()
    leaf = MODELS["numbers"].trees_[2].leaves[0]
    assert float(mean) == pytest.approx(MODELS["numbers"].trees_[2].value[leaf, 0], rel=0.01)
    assert float(scatter) >= 0
    three = np.array(["a", "b", "c"])[np.arange(120) % 3]
    boosting = ProbabilisticGradientBoostingClassifier(max_iter=2, random_state=0).fit(X, three)
    assert "for c (" in export_text(boosting, 5)
    paths = decision_paths(MODELS["numbers"], X[:2], X_err=X_ERR[:2], tree=1, most=2)
    assert all(" ± " in path.answer for of_object in paths for path in of_object)
