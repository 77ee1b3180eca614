"""How far errors spread objects: chosen by what is better on the table."""

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

from probforest import ProbabilisticDecisionTreeRegressor, ProbabilisticRandomForestRegressor
from probforest.estimators.choices import describe_choices
from probforest.trees.error_trial import Judgement, choose_way


def judgement(crps):
    return Judgement(np.ones(len(crps), dtype=bool), np.zeros(len(crps)), np.asarray(crps))


def test_the_safest_way_that_is_not_worse_is_chosen():
    random = np.random.default_rng(0)
    base, noise = random.uniform(1, 2, 500), 0.1 * random.normal(size=500)
    same = choose_way({"empirical": judgement(base + noise - noise.mean()), "exact": judgement(base)}, np.ones(500))
    assert same.choice == "empirical"
    worse = choose_way({"empirical": judgement(base + noise + 0.05), "exact": judgement(base)}, np.ones(500))
    assert worse.choice == "exact"
    assert worse.n_objects == 500
    assert worse.crps["exact"] == pytest.approx(base.mean())


def test_noise_that_hides_the_values_is_spread():
    random = np.random.default_rng(0)
    X, y = make_friedman1(600, noise=0.5, random_state=0)
    X_err = random.uniform(0, 0.6, X.shape)
    forest = ProbabilisticRandomForestRegressor(20, random_state=0)
    forest.fit(X + random.normal(size=X.shape) * X_err, y, X_err=X_err)
    assert forest.error_scale_ == 1.0
    assert set(forest.error_trial_.crps) == {"empirical", "none", "part", "exact"}


def test_exact_values_with_alleged_errors_are_not_spread():
    X, y = make_friedman1(600, noise=0.5, random_state=0)
    forest = ProbabilisticRandomForestRegressor(20, random_state=0).fit(X, y, X_err=0.5)
    assert forest.error_scale_ < 1
    assert forest.error_trial_.choice in ("part", "exact")
    assert forest.error_scale_ == forest.feature_model_.error_scale


def test_without_errors_nothing_is_tried():
    X, y = make_friedman1(300, random_state=0)
    assert ProbabilisticRandomForestRegressor(5).fit(X, y).error_trial_ is None
    assert ProbabilisticRandomForestRegressor(5).fit(X, y, X_err=0.0).error_trial_ is None
    with_scatter = ProbabilisticRandomForestRegressor(5).fit(X, y, X_err=0.0, y_err=y - y.min())
    assert with_scatter.error_trial_ is None
    assert with_scatter.target_scatter_ > 0
    assert ProbabilisticRandomForestRegressor(5, error_scale=1.0, prior=None).fit(X, y, X_err=0.1).error_trial_ is None
    assert ProbabilisticDecisionTreeRegressor().fit(X, y, X_err=0.1).error_trial_ is None


def test_what_is_given_is_not_chosen():
    X, y = make_friedman1(300, random_state=0)
    forest = ProbabilisticRandomForestRegressor(5, prior="normal").fit(X, y, X_err=0.5)
    assert set(forest.error_trial_.crps) == {"normal", "part", "exact"}
    assert forest.prior_ == "normal"  # whatever was chosen, so that trees can be added
    forest = ProbabilisticRandomForestRegressor(5, error_scale=0.7).fit(X, y, X_err=0.5)
    assert set(forest.error_trial_.crps) <= {"empirical", "none", "joint"}
    assert forest.error_scale_ == 0.7


def test_a_scale_of_zero_is_a_model_without_errors():
    X, y = make_friedman1(300, random_state=0)
    exact = ProbabilisticRandomForestRegressor(5, random_state=0).fit(X, y)
    scaled = ProbabilisticRandomForestRegressor(5, random_state=0, error_scale=0).fit(X, y, X_err=0.3)
    np.testing.assert_array_equal(scaled.predict(X, X_err=0.3), exact.predict(X))
    pair = ProbabilisticRandomForestRegressor(5, random_state=0, error_scale=0).fit(X, y, X_err=(0.3, 0.2))
    np.testing.assert_array_equal(pair.predict(X, X_err=(0.3, 0.1)), exact.predict(X))


def test_the_joint_prior_is_taken_where_values_say_much_about_each_other():
    random = np.random.default_rng(0)
    hidden = random.normal(size=(800, 1))
    X_err = random.gamma(1, 1.0, (800, 6))
    X = hidden + 0.1 * random.normal(size=X_err.shape) + X_err * random.normal(size=X_err.shape)
    forest = ProbabilisticRandomForestRegressor(30, random_state=0).fit(X, hidden[:, 0], X_err=X_err)
    assert forest.prior_ == "joint"
    assert forest.error_trial_.crps["joint"] < 0.8 * forest.error_trial_.crps["empirical"]
    assert "joint" in describe_choices(forest)[0]


def test_holes_that_tell_the_target_are_not_filled():
    random = np.random.default_rng(0)
    hidden = random.normal(size=(500, 1))
    X = hidden + 0.1 * random.normal(size=(500, 3))
    X[hidden[:, 0] > 0.5, 0] = np.nan
    X[random.random(500) < 0.3, 1] = np.nan
    forest = ProbabilisticRandomForestRegressor(5, prior="joint", random_state=0).fit(X, hidden[:, 0])
    np.testing.assert_array_equal(forest.feature_model_.joint_prior.completed, [False, True, True])
