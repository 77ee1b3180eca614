import sys

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import balanced_accuracy_score, log_loss

from probforest import ProbabilisticRandomForestClassifier
from probforest.datasets import make_two_classes
from problems import random_problem

PROBLEM = random_problem(1, n=200, d=5, k=3, missing=0.05)
Y = np.array(["ant", "bee", "cow"])[PROBLEM.pmf.argmax(axis=1)]
QUERY = random_problem(2, n=60, d=5, k=3)
FOREST = ProbabilisticRandomForestClassifier(30, random_state=0)


def fitted(**parameters):
    return clone(FOREST).set_params(**parameters).fit(PROBLEM.values, Y, X_err=PROBLEM.errors)


@pytest.fixture(scope="module")
def forest():
    return fitted()


def test_soft_vote_is_the_mean_of_the_trees_and_majority_their_share_of_votes(forest):
    each = []
    for tree in forest.trees_:
        alone = clone(forest).set_params(n_estimators=1).fit(PROBLEM.values, Y, X_err=PROBLEM.errors)
        alone.trees_ = [tree]
        each.append(alone.predict_proba(QUERY.values, X_err=QUERY.errors))
    soft = forest.predict_proba(QUERY.values, X_err=QUERY.errors)
    np.testing.assert_allclose(soft, np.mean(each, axis=0), atol=1e-12)
    majority = fitted(voting="majority").predict_proba(QUERY.values, X_err=QUERY.errors)
    votes = np.mean([np.eye(3)[proba.argmax(axis=1)] for proba in each], axis=0)
    np.testing.assert_allclose(majority, votes, atol=1e-12)


def test_predict_takes_the_most_probable_class_and_score_counts_it(forest):
    proba = forest.predict_proba(PROBLEM.values, X_err=PROBLEM.errors)
    predicted = forest.predict(PROBLEM.values, X_err=PROBLEM.errors)
    np.testing.assert_array_equal(predicted, forest.classes_[proba.argmax(axis=1)])
    weight = np.arange(200.0)
    expected = np.average(predicted == Y, weights=weight)
    assert forest.score(PROBLEM.values, Y, X_err=PROBLEM.errors, sample_weight=weight) == pytest.approx(expected)
    with np.errstate(divide="ignore"):
        log_proba = np.log(proba)
    np.testing.assert_array_equal(forest.predict_log_proba(PROBLEM.values, X_err=PROBLEM.errors), log_proba)


def test_leaf_probabilities_and_the_most_probable_leaf(forest):
    leaves = forest.leaf_proba(QUERY.values, X_err=QUERY.errors)
    assert leaves.format == "csr"
    assert leaves.shape == (60, sum(len(tree.leaves) for tree in forest.trees_))
    values = np.vstack([tree.value[tree.leaves] for tree in forest.trees_])
    most_probable = forest.apply(QUERY.values, X_err=QUERY.errors)
    assert most_probable.shape == (60, 30)
    start = 0
    total = np.zeros((60, 3))
    for t, tree in enumerate(forest.trees_):
        stop = start + len(tree.leaves)
        part = leaves[:, start:stop].toarray()
        assert (part.sum(axis=1) <= 1 + 1e-12).all()
        assert (part.sum(axis=1) > 0.05).all()
        total += part @ values[start:stop] / part.sum(axis=1, keepdims=True)
        np.testing.assert_array_equal(most_probable[:, t], tree.leaves[part.argmax(axis=1)])
        start = stop
    np.testing.assert_allclose(total / 30, forest.predict_proba(QUERY.values, X_err=QUERY.errors), atol=1e-12)


def test_proximity_is_the_probability_to_meet_in_a_leaf(forest):
    exact = fitted(keep_proba=0.0).proximity(QUERY.values, X_err=0.0).toarray()
    np.testing.assert_allclose(np.diag(exact), 1)
    leaves = fitted(keep_proba=0.0).apply(QUERY.values, X_err=0.0)
    np.testing.assert_allclose(exact, (leaves[:, None] == leaves[None]).mean(axis=2), atol=1e-12)
    noisy = forest.proximity(QUERY.values, X_err=QUERY.errors)
    assert noisy.shape == (60, 60)
    np.testing.assert_allclose(noisy.toarray(), noisy.toarray().T, atol=1e-12)
    assert noisy.max() <= 1 + 1e-12
    other = forest.proximity(QUERY.values, X_err=QUERY.errors, other=PROBLEM.values[:7], other_err=PROBLEM.errors[:7])
    assert other.shape == (60, 7)
    with pytest.raises(ValueError, match="other_err is given without other"):
        forest.proximity(QUERY.values, X_err=QUERY.errors, other_err=0.1)
    with pytest.warns(UserWarning, match="X_err is not given") as caught:
        forest.proximity(QUERY.values, other=PROBLEM.values[:7])
    assert len(caught) == 1


def test_importances_find_the_feature_that_matters():
    random = np.random.default_rng(0)
    values = random.normal(size=(300, 4))
    y = values[:, 2] > 0
    forest = clone(FOREST).fit(values, y, X_err=0.1)
    assert forest.feature_importances_.sum() == pytest.approx(1)
    assert forest.feature_importances_.argmax() == 2
    assert forest.feature_importances_[2] > 0.5
    nothing = clone(FOREST).fit(np.ones((10, 4)), np.arange(10) % 2)
    np.testing.assert_array_equal(nothing.feature_importances_, 0)


def test_out_of_bag_answers_come_from_trees_that_did_not_draw_the_object():
    forest = fitted(oob_score=True)
    expected = np.zeros((200, 3))
    for tree, draw in zip(forest.trees_, forest.draws_, strict=True):
        alone = clone(FOREST).set_params(n_estimators=1).fit(PROBLEM.values, Y, X_err=PROBLEM.errors)
        alone.trees_ = [tree]
        answer = alone.predict_proba(PROBLEM.values, X_err=PROBLEM.errors)
        expected += answer * (draw.counts() == 0)[:, None]
    np.testing.assert_allclose(forest.oob_decision_function_, expected / expected.sum(axis=1, keepdims=True), atol=1e-9)
    accuracy = np.mean(forest.classes_[expected.argmax(axis=1)] == Y)
    assert forest.oob_score_ == pytest.approx(accuracy)
    assert forest.oob_score_ < forest.score(PROBLEM.values, Y, X_err=PROBLEM.errors)
    assert fitted(oob_score=balanced_accuracy_score).oob_score_ == pytest.approx(
        balanced_accuracy_score(Y, forest.classes_[expected.argmax(axis=1)])
    )


def test_objects_that_every_tree_drew_have_no_out_of_bag_answer():
    with pytest.warns(UserWarning, match="drawn by every tree"):
        forest = fitted(oob_score=True, n_estimators=2)
    assert np.isnan(forest.oob_decision_function_).any()
    assert 0 < forest.oob_score_ <= 1


def test_warm_start_adds_trees():
    forest = fitted(n_estimators=10, warm_start=True)
    first = list(forest.trees_)
    forest.set_params(n_estimators=30).fit(PROBLEM.values, Y, X_err=PROBLEM.errors)
    assert len(forest.trees_) == 30
    assert all(a is b for a, b in zip(first, forest.trees_, strict=False))
    # the same forest as one grown at once
    np.testing.assert_array_equal(
        forest.predict_proba(QUERY.values, X_err=0), fitted().predict_proba(QUERY.values, X_err=0)
    )
    with pytest.warns(UserWarning, match="no tree is added"):
        forest.fit(PROBLEM.values, Y, X_err=PROBLEM.errors)
    with pytest.raises(ValueError, match="can't remove trees"):
        forest.set_params(n_estimators=5).fit(PROBLEM.values, Y)
    with pytest.raises(ValueError, match="needs the classes of before"):
        forest.set_params(n_estimators=31).fit(PROBLEM.values, Y == "ant")
    with pytest.raises(ValueError, match="needs 5 features"):
        forest.fit(PROBLEM.values[:, :3], Y)


def test_a_failed_warm_start_leaves_the_model_as_it_was():
    forest = fitted(n_estimators=10, warm_start=True)
    before = forest.predict_proba(QUERY.values, X_err=QUERY.errors)
    with pytest.raises(ValueError, match="classes of before"):
        forest.set_params(n_estimators=12).fit(PROBLEM.values, Y == "ant", X_err=PROBLEM.errors)
    np.testing.assert_array_equal(forest.predict_proba(QUERY.values, X_err=QUERY.errors), before)


def test_any_failed_fit_leaves_the_model_as_it_was():
    forest = fitted(n_estimators=10)
    before = forest.predict_proba(QUERY.values, X_err=QUERY.errors)
    for parameters, data in (
        ({"max_features": 99}, (PROBLEM.values, np.arange(200) % 7)),
        ({"min_samples_leaf": 0}, (PROBLEM.values, np.arange(200) % 7)),
        ({}, (PROBLEM.values[:, :2], Y[:-1])),
    ):
        with pytest.raises(ValueError):
            forest.set_params(**parameters).fit(*data)
        forest.set_params(max_features="sqrt", min_samples_leaf=1)
        np.testing.assert_array_equal(forest.predict_proba(QUERY.values, X_err=QUERY.errors), before)
    with pytest.raises(ValueError):
        (unfitted := clone(FOREST).set_params(max_features=99)).fit(PROBLEM.values, Y)
    with pytest.raises(NotFittedError):
        unfitted.predict(QUERY.values)
    with pytest.raises(NotFittedError):
        _ = unfitted.feature_importances_


def test_out_of_bag_draws_are_those_that_each_tree_was_grown_with():
    random_labels = np.random.default_rng(0).integers(0, 2, 200)
    forest = clone(FOREST).set_params(warm_start=True, oob_score=True, n_estimators=50)
    forest.fit(PROBLEM.values, random_labels)
    forest.set_params(max_samples=10, n_estimators=51).fit(PROBLEM.values, random_labels)
    assert forest.oob_score_ < 0.65  # 1.0 if trees judged objects that they had drawn
    with pytest.warns(UserWarning, match="another number of objects"):
        forest.set_params(n_estimators=80, max_samples=None).fit(PROBLEM.values[:150], random_labels[:150])
    assert forest.oob_score_ < 0.65


def test_objects_without_information_do_not_count_in_the_out_of_bag_score():
    alone = clone(FOREST).set_params(oob_score=True).fit(PROBLEM.values, y_proba=PROBLEM.pmf, classes=[0, 1, 2])
    values = np.vstack([PROBLEM.values, PROBLEM.values])
    pmf = np.vstack([PROBLEM.pmf, np.full((200, 3), 1 / 3)])
    with_more = clone(FOREST).set_params(oob_score=True).fit(values, y_proba=pmf, classes=[0, 1, 2])
    assert with_more.oob_score_ == alone.oob_score_


def test_trees_are_grown_under_every_joblib_backend():
    expected = fitted(n_estimators=4).predict_proba(QUERY.values, X_err=0)
    for backend in ("threading", "loky", "multiprocessing"):
        with joblib.parallel_config(backend=backend, n_jobs=2):
            found = fitted(n_estimators=4).predict_proba(QUERY.values, X_err=0)
        np.testing.assert_array_equal(found, expected)


def test_options_of_the_answer_are_checked_when_it_is_asked_for():
    forest = fitted(n_estimators=2)
    with pytest.raises(ValueError, match="voting must be one of"):
        forest.set_params(voting="hrad").predict(QUERY.values, X_err=0)
    with pytest.raises(ValueError, match="keep_proba must be"):
        forest.set_params(voting="soft", keep_proba=7).predict(QUERY.values, X_err=0)


def test_classes_that_nobody_has_do_not_lighten_balanced_weights():
    two = np.where(np.arange(200) % 10 == 0, 1, 0)
    for classes in ([0, 1], list(range(50))):
        forest = clone(FOREST).set_params(class_weight="balanced", bootstrap=False, n_estimators=1)
        assert forest.fit(PROBLEM.values, two, classes=classes).trees_[0].weight[0] == pytest.approx(200)


@pytest.mark.parametrize(("max_samples", "expected"), [(None, 200), (50, 50), (0.1, 20)])
def test_number_of_draws(max_samples, expected):
    forest = fitted(max_samples=max_samples)
    for tree in forest.trees_:
        assert tree.weight[0] == pytest.approx(expected)


def test_fractions_count_expected_objects():
    tree = fitted(min_samples_leaf=0.1, n_estimators=3).trees_[0]
    assert tree.weight[tree.leaves].min() >= 0.1 * tree.weight[0] - 1e-6
    tree = fitted(min_weight_fraction_leaf=0.2, n_estimators=3).trees_[0]
    assert tree.weight[tree.leaves].min() >= 0.2 * tree.weight[0] - 1e-6
    tree = fitted(min_samples_split=0.5, n_estimators=3).trees_[0]
    assert tree.weight[tree.feature >= 0].min() >= 0.5 * tree.weight[0] - 1e-6


def test_impurity_decrease_is_weighted_by_the_share_of_the_tree():
    tree = fitted(min_impurity_decrease=0.02, n_estimators=3).trees_[0]
    split = tree.feature >= 0
    assert split.any()
    assert (tree.decrease * tree.weight / tree.weight[0])[split].min() >= 0.02
    assert tree.n_nodes < fitted(n_estimators=3).trees_[0].n_nodes


def test_balanced_classes_weigh_the_same():
    rare = np.where(np.arange(200) % 10 == 0, "rare", "common")
    forest = clone(FOREST).set_params(class_weight="balanced", bootstrap=False, max_depth=1, n_estimators=2)
    np.testing.assert_allclose(forest.fit(PROBLEM.values, rare).trees_[0].value[0], 0.5)
    forest.set_params(class_weight="balanced_subsample", bootstrap=True)
    for tree in forest.fit(PROBLEM.values, rare).trees_:
        np.testing.assert_allclose(tree.value[0], 0.5)


def two_shifted_classes(n, d=5):
    random = np.random.default_rng(0)
    y = random.integers(0, 2, n)
    return random, random.normal(0, 1, (n, d)) + 0.7 * y[:, None], y


def test_label_probabilities_help_when_labels_are_wrong():
    random, values, y = two_shifted_classes(4000)
    wrong = np.where(random.random(4000) < 0.1, 0.0, 0.45)  # a tenth is certain, the rest is nearly a guess
    noisy = np.where(random.random(4000) < wrong, 1 - y, y)
    train, test = slice(0, 2000), slice(2000, None)
    scores = {}
    for name in ("ignored", "paper", "information"):
        forest = clone(FOREST).set_params(label_information=name == "information")
        forest.fit(values[train], noisy[train], y_proba=None if name == "ignored" else 1 - wrong[train])
        scores[name] = forest.score(values[test], y[test])
    assert scores["ignored"] + 0.02 < scores["paper"]
    assert scores["paper"] + 0.02 < scores["information"]


def test_soft_voting_is_as_accurate_as_the_majority_and_has_a_lower_log_loss():
    random, values, y = two_shifted_classes(2000)
    errors = 2 * random.random(values.shape)
    values = values + errors * random.normal(size=values.shape)
    train, test = slice(0, 1000), slice(1000, None)
    proba = {}
    for voting in ("soft", "majority"):
        forest = clone(FOREST).set_params(voting=voting).fit(values[train], y[train], X_err=errors[train])
        proba[voting] = forest.predict_proba(values[test], X_err=errors[test])
    accuracy = {voting: (p.argmax(axis=1) == y[test]).mean() for voting, p in proba.items()}
    assert accuracy["soft"] == pytest.approx(accuracy["majority"], abs=0.02)
    assert log_loss(y[test], proba["soft"]) < log_loss(y[test], proba["majority"])


def test_verbose_shows_progress(capsys, monkeypatch):
    fitted(verbose=1, n_estimators=4)
    assert "trees: 100%" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)  # as if it were not installed
    fitted(verbose=1, n_estimators=4)
    assert "trees: 4/4" in capsys.readouterr().err
    fitted(n_estimators=4)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("fewest", [1, 20_000])
def test_answers_do_not_depend_on_how_objects_are_shared_among_threads(fewest, monkeypatch):
    X, y = make_two_classes(600, random_state=0)
    forest = ProbabilisticRandomForestClassifier(5, random_state=0, n_jobs=2).fit(X, y, X_err=0.5)
    expected = forest.set_params(n_jobs=1).predict_proba(X, X_err=0.5)
    monkeypatch.setattr("probforest.trees.fitted_tree.SMALLEST_BLOCK", 7)
    monkeypatch.setattr("probforest.trees.fitted_tree.FEWEST_ANSWERS", fewest)
    found = forest.set_params(n_jobs=2).predict_proba(X, X_err=0.5)
    np.testing.assert_array_equal(found, expected)
