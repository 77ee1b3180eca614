"""The rule for missing values that the table decides: missing="auto"."""

import numpy as np
import pytest

from probforest import ProbabilisticDecisionTreeClassifier, ProbabilisticRandomForestClassifier, load, save
from probforest.datasets import make_two_classes, remove_cells

MODELS = pytest.mark.parametrize("model", [ProbabilisticDecisionTreeClassifier, ProbabilisticRandomForestClassifier])


def informative_and_random_holes():
    """Two informative features; holes of the first are the label in most cases, those of the second are random."""
    X, y = make_two_classes(600, random_state=0)
    X = X[:, :3].copy()
    random = np.random.default_rng(1)
    X[random.random(600) < np.where(y == 1, 0.7, 0.1), 0] = np.nan
    X[random.random(600) < 0.3, 1] = np.nan
    return X, y


def test_holes_that_are_the_label_need_one_split():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(40, 2)), np.repeat([0, 1], 20)
    X[y == 1, 1] = np.nan
    tree = ProbabilisticDecisionTreeClassifier().fit(X, y)
    assert tree.tree_.n_nodes == 3
    assert (tree.predict(X) == y).all()


@MODELS
def test_each_feature_has_the_rule_that_suits_its_holes(model):
    X, y = informative_and_random_holes()
    assert model(random_state=0).fit(X, y).missing_.tolist() == ["learned", "observed", "observed"]
    assert model(random_state=0, missing="equal").fit(X, y).missing_.tolist() == ["equal"] * 3


def test_auto_is_the_rule_that_it_names_where_all_features_have_the_same():
    X, y = make_two_classes(400, random_state=0)
    holes = remove_cells(X, 0.2, random_state=1)
    auto = ProbabilisticRandomForestClassifier(10, random_state=0).fit(holes, y)
    observed = ProbabilisticRandomForestClassifier(10, random_state=0, missing="observed").fit(holes, y)
    assert (auto.missing_ == "observed").all()
    np.testing.assert_array_equal(auto.predict_proba(holes), observed.predict_proba(holes))


def test_objects_without_weight_and_trees_that_are_added_change_no_rule():
    X, y = informative_and_random_holes()
    weight = np.where(np.arange(600) < 300, 1.0, 0.0)
    forest = ProbabilisticRandomForestClassifier(3, random_state=0, warm_start=True).fit(X, y, sample_weight=weight)
    alone = ProbabilisticRandomForestClassifier(3, random_state=0).fit(X[:300], y[:300])
    np.testing.assert_array_equal(forest.missing_, alone.missing_)
    complete = np.nan_to_num(X)
    forest.set_params(n_estimators=5).fit(complete, y, sample_weight=weight)
    np.testing.assert_array_equal(forest.missing_, alone.missing_)


def test_the_choices_are_said(capsys):
    X, y = informative_and_random_holes()
    ProbabilisticRandomForestClassifier(3, random_state=0, verbose=1).fit(X, y)
    assert "prior: empirical\nmissing values: learned for x0; observed for x1, x2\n" in capsys.readouterr().out


def test_rules_are_saved(tmp_path):
    X, y = informative_and_random_holes()
    forest = ProbabilisticRandomForestClassifier(3, random_state=0).fit(X, y)
    save(forest, tmp_path / "forest.prf")
    assert load(tmp_path / "forest.prf").missing_.tolist() == ["learned", "observed", "observed"]


@pytest.mark.parametrize(
    "rules", [["learned"], ["learned", "observed", "auto"], ["learned", "observed", 3], "observed"]
)
def test_rules_of_a_file_are_checked(tmp_path, rules):
    X, y = informative_and_random_holes()
    forest = ProbabilisticRandomForestClassifier(3, random_state=0).fit(X, y)
    forest.missing_ = np.array(rules, dtype=object)
    with pytest.raises(ValueError, match="rule"):
        save(forest, tmp_path / "forest.prf")
