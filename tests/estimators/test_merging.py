"""Forests with the features of another model, and forests that are merged."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from probforest import (
    ProbabilisticDecisionTreeClassifier,
    ProbabilisticGradientBoostingClassifier,
    ProbabilisticRandomForestClassifier,
    ProbabilisticRandomForestRegressor,
    load,
    merge,
    save,
)
from problems import random_problem

PROBLEM = random_problem(1, n=300, d=4, k=3, missing=0.05)
X, X_ERR, Y = PROBLEM.values, PROBLEM.errors, np.array(["ant", "bee", "cow"])[PROBLEM.pmf.argmax(axis=1)]
QUERY = random_problem(2, n=50, d=4, k=3)
FOREST = ProbabilisticRandomForestClassifier(4, random_state=0, prior="empirical")


@pytest.fixture(scope="module")
def donor():
    return clone(FOREST).fit(X, Y, X_err=X_ERR)


def grown_on(rows, donor, seed, **parameters):
    forest = clone(FOREST).set_params(random_state=seed, **parameters)
    return forest.fit(X[rows], Y[rows], X_err=X_ERR[rows], feature_model=donor)


def probabilities(forest):
    return forest.predict_proba(QUERY.values, X_err=QUERY.errors)


def test_a_merged_forest_answers_with_the_mean_of_all_trees(donor, tmp_path):
    first, second = grown_on(slice(0, 150), donor, 1), grown_on(slice(150, 300), donor, 2, n_estimators=8)
    merged = merge([first, second])
    expected = (4 * probabilities(first) + 8 * probabilities(second)) / 12
    assert_allclose(probabilities(merged), expected, atol=1e-12)
    assert merged.n_estimators == len(merged.trees_) == len(merged.draws_) == 12
    assert merged.feature_model_ is donor.feature_model_
    assert len(first.trees_) == 4
    save(merged, tmp_path / "merged.prf")
    assert_array_equal(probabilities(load(tmp_path / "merged.prf")), probabilities(merged))


def test_files_can_be_merged(donor, tmp_path):
    for number in (1, 2):
        save(grown_on(slice(None), donor, number), tmp_path / f"{number}.prf")
    merged = merge(load(tmp_path / f"{number}.prf") for number in (1, 2))
    both = merge([grown_on(slice(None), donor, number) for number in (1, 2)])
    assert_array_equal(probabilities(merged), probabilities(both))


def test_features_that_are_taken_over_are_not_learnt(donor):
    half = grown_on(slice(0, 150), donor, 1)
    assert half.feature_model_ is donor.feature_model_
    assert_array_equal(half.missing_, donor.missing_)
    assert half.prior_ == donor.prior_
    own = clone(FOREST).fit(X[:150], Y[:150], X_err=X_ERR[:150])
    assert not np.array_equal(own.feature_model_.median_errors, donor.feature_model_.median_errors)


def test_the_same_table_gives_thresholds_of_the_same_bins(donor):
    """Bins come from the edges that the model keeps; on all distinct points the search is that of a first fit."""
    again = grown_on(slice(None), donor, 0)
    assert [tree.n_nodes for tree in again.trees_] == pytest.approx([tree.n_nodes for tree in donor.trees_], rel=0.1)
    assert np.abs(probabilities(again) - probabilities(donor)).mean() < 0.1


def test_a_part_may_lack_a_class_and_objects_without_weight_change_nothing(donor):
    part = Y != "bee"
    weight = np.where(part, 1.0, 0.0)
    lacking = grown_on(part, donor, 3)
    assert_array_equal(lacking.classes_, ["ant", "bee", "cow"])
    weighted = clone(FOREST).set_params(random_state=3)
    weighted.fit(X, Y, X_err=X_ERR, sample_weight=weight, feature_model=donor)
    assert_array_equal(probabilities(lacking), probabilities(weighted))
    assert (probabilities(lacking)[:, 1] == 0).all()


@pytest.mark.parametrize("kind", [ProbabilisticDecisionTreeClassifier, ProbabilisticGradientBoostingClassifier])
def test_other_models_can_take_over_features(donor, kind):
    model = kind(random_state=0, prior="empirical").fit(X, Y, X_err=X_ERR, feature_model=donor)
    assert model.feature_model_ is donor.feature_model_
    assert model.score(X, Y, X_err=X_ERR) > 0.6


def test_limits_and_error_features_are_shared():
    limit = (np.arange(X.size).reshape(X.shape) % 11 == 0).astype(float)
    model = clone(FOREST).set_params(error_features=True)
    first = model.fit(X, Y, X_err=X_ERR, X_limit=limit)
    other = clone(FOREST).set_params(error_features=True, random_state=1)
    other.fit(X[::2], Y[::2], X_err=X_ERR[::2], X_limit=limit[::2], feature_model=first)
    merged = merge([first, other])
    assert len(merged.fallback_trees_) == 8
    assert merged.score(X, Y, X_err=X_ERR, X_limit=limit) > 0.8


def test_doubtful_labels_are_merged():
    pmf = random_problem(1, n=300, d=4, k=3, missing=0.05, soft=True).pmf
    classes = ["ant", "bee", "cow"]
    first = clone(FOREST).fit(X, X_err=X_ERR, y_proba=pmf, classes=classes)
    second = clone(FOREST).set_params(random_state=1)
    second.fit(X, X_err=X_ERR, y_proba=pmf, classes=classes, feature_model=first)
    merged = merge([first, second])
    assert_allclose(merged.label_truth_.channel, first.label_truth_.channel)  # the same labels
    assert_allclose(probabilities(merged).sum(axis=1), 1.0)
    with pytest.raises(ValueError, match="some of them doubtful"):
        merge([first, clone(FOREST).set_params(random_state=2).fit(X, Y, X_err=X_ERR, feature_model=first)])


def test_regressors_are_merged():
    y = np.nan_to_num(X[:, 0]) + np.arange(300) / 100
    forest = ProbabilisticRandomForestRegressor(4, random_state=0)
    first = clone(forest).fit(X, y, X_err=X_ERR)
    second = clone(forest).set_params(random_state=1).fit(X[:150], y[:150], X_err=X_ERR[:150], feature_model=first)
    merged = merge([first, second])
    expected = (first.predict(X, X_err=X_ERR) + second.predict(X, X_err=X_ERR)) / 2
    assert_allclose(merged.predict(X, X_err=X_ERR), expected)
    quantiles = merged.predict_quantiles(X, X_err=X_ERR)
    assert (np.diff(quantiles, axis=1) >= 0).all()
    calibrated = ProbabilisticRandomForestRegressor(20, random_state=0, calibrate=True).fit(X, y, X_err=X_ERR)
    with pytest.raises(ValueError, match="calibrate"):
        merge([calibrated])


def test_what_can_not_be_merged(donor):
    with pytest.raises(ValueError, match="at least one"):
        merge([])
    with pytest.raises(TypeError, match=r"models\[1\] is a ProbabilisticDecisionTree"):
        merge([donor, ProbabilisticDecisionTreeClassifier().fit(X, Y)])
    with pytest.raises(ValueError, match="same random_state"):
        merge([donor, donor])
    with pytest.raises(ValueError, match="what was learnt about the features"):
        merge([donor, clone(FOREST).fit(X[1:], Y[1:], X_err=X_ERR[1:])])
    with pytest.raises(ValueError, match="the parameter keep_proba"):
        merge([donor, grown_on(slice(None), donor, 1, keep_proba=0.2)])


def test_what_can_not_be_taken_over(donor):
    def refuses(match, forest=FOREST, **arguments):
        with pytest.raises(ValueError, match=match):
            clone(forest).fit(**{"X": X, "y": Y, "X_err": X_ERR, "feature_model": donor} | arguments)

    refuses("fitted model of probforest; got str", feature_model="forest.prf")
    refuses("must predict numbers", ProbabilisticRandomForestRegressor(), y=np.arange(300.0))
    refuses("not one of the classes", y=np.where(Y == "ant", "dog", Y))
    refuses("4 features", X=X[:, :3], X_err=0.1)
    refuses("feature_model needs the prior", clone(FOREST).set_params(prior=None))
    refuses("feature_model needs the distribution", clone(FOREST).set_params(distribution="laplace"))
    refuses("max_bins is 2", clone(FOREST).set_params(max_bins=2))
    warm = clone(FOREST).set_params(warm_start=True).fit(X, Y, X_err=X_ERR)
    with pytest.raises(ValueError, match="Give one of both"):
        warm.set_params(n_estimators=5).fit(X, Y, X_err=X_ERR, feature_model=donor)
    assert len(warm.trees_) == 4
