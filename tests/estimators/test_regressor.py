"""The regressors: CART on exact values, errors of targets, out of bag, threads, warm start, bad input."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import r2_score
from sklearn.tree import DecisionTreeRegressor

import naive
from probforest import ProbabilisticDecisionTreeRegressor, ProbabilisticRandomForestRegressor
from probforest.inputs.targets import read_numbers, read_target_errors, weights_of_errors
from probforest.trees.error_trial import scatter_of


@pytest.fixture(scope="module")
def friedman():
    return make_friedman1(300, noise=1.0, random_state=0)


@pytest.fixture(scope="module")
def noisy(friedman):
    X, y = friedman
    random = np.random.default_rng(0)
    X_err = random.uniform(0.0, 0.2, X.shape)
    return X + random.normal(size=X.shape) * X_err, y, X_err


@pytest.mark.parametrize("table", ["friedman1", "diabetes"])
def test_exact_values_give_the_tree_of_scikit_learn(table):
    X, y = make_friedman1(300, random_state=1) if table == "friedman1" else load_diabetes(return_X_y=True)
    for depth in range(1, 9):
        ours = ProbabilisticDecisionTreeRegressor(max_depth=depth, max_bins=65_535).fit(X, y).tree_
        theirs = DecisionTreeRegressor(max_depth=depth, random_state=0).fit(X, y).tree_
        is_leaf = theirs.children_left < 0
        expected = theirs.weighted_n_node_samples[is_leaf] @ theirs.impurity[is_leaf]
        assert ours.weight[ours.leaves] @ ours.impurity[ours.leaves] == pytest.approx(expected, rel=1e-9)
        assert ours.impurity[0] == pytest.approx(y.var(), rel=1e-12)
        assert len(ours.leaves) == is_leaf.sum()


def test_impurities_of_a_grown_tree_are_variances(friedman):
    X, y = friedman
    tree = ProbabilisticDecisionTreeRegressor(min_samples_leaf=20).fit(X, 100 + y).tree_
    leaf_of = ProbabilisticDecisionTreeRegressor(min_samples_leaf=20).fit(X, 100 + y).apply(X)
    for leaf in tree.leaves:
        members = 100 + y[leaf_of == leaf]
        assert tree.value[leaf, 0] == pytest.approx(members.mean())
        assert tree.impurity[leaf] == pytest.approx(members.var(), rel=1e-9)
    inner = np.flatnonzero(tree.feature >= 0)
    children = [tree.left[inner], tree.right[inner]]
    below = sum(tree.weight[child] * tree.impurity[child] for child in children) / tree.weight[inner]
    np.testing.assert_allclose(tree.impurity[inner] - below, tree.decrease[inner], rtol=1e-9)


@pytest.mark.parametrize("keep_proba", [0.0, 0.05])
def test_a_tree_with_errors_is_that_of_the_oracle(keep_proba):
    random = np.random.default_rng(3)
    X, X_err = random.normal(size=(30, 2)), random.uniform(0.1, 0.5, (30, 2))
    y = np.round(X[:, 0] + 0.3 * random.normal(size=30), 1)
    model = ProbabilisticDecisionTreeRegressor(
        prior=None, keep_proba=keep_proba, min_samples_leaf=2, max_bins=65_535
    ).fit(X, 5 + 10 * y, X_err=X_err)
    standard = (y - y.mean()) / y.std()
    rules = naive.Rules(criterion="variance", keep_proba=keep_proba, min_samples_leaf=2)
    target = np.column_stack([standard**2, standard, np.ones(30)])
    root = naive.grow(X, X_err, target, np.ones(30), rules)
    leaves = naive.leaves(root)
    tree = model.tree_
    assert len(tree.leaves) == len(leaves) > 4
    means = np.array([leaf["value"][0] for leaf in leaves]) * y.std() + y.mean()
    np.testing.assert_allclose(tree.value[tree.leaves, 0], 5 + 10 * means, atol=1e-4)
    variances = np.array([leaf["impurity"] for leaf in leaves]) * y.var() * 100
    np.testing.assert_allclose(tree.impurity[tree.leaves], variances, atol=1e-3)


def test_as_good_as_scikit_learn_on_exact_values(friedman):
    X, y = friedman
    X_test, y_test = make_friedman1(500, noise=1.0, random_state=9)
    ours = ProbabilisticRandomForestRegressor(random_state=0).fit(X, y).score(X_test, y_test)
    theirs = RandomForestRegressor(random_state=0).fit(X, y).score(X_test, y_test)
    assert ours > theirs - 0.02


def test_draws_from_posteriors_of_targets_count_with_their_deviation(friedman):
    X, y = friedman
    random = np.random.default_rng(0)
    y_err = random.uniform(0.1, 3.0, len(y))
    draws = y[:, None] + y_err[:, None] * np.array([1.0, -1.0, np.nan, 1.0, -1.0])  # their deviation is the error
    expected = ProbabilisticRandomForestRegressor(5, random_state=0).fit(X, y, y_err=y_err)
    found = ProbabilisticRandomForestRegressor(5, random_state=0).fit(X, y, y_err=draws)
    np.testing.assert_allclose(found.predict(X), expected.predict(X), rtol=1e-9)
    assert found.target_scatter_ == pytest.approx(expected.target_scatter_)


def test_units_and_offsets_of_targets_change_nothing(friedman):
    X, y = friedman
    expected = ProbabilisticRandomForestRegressor(10, random_state=0).fit(X, y)
    for factor, offset in [(1e-20, 0.0), (1e20, 0.0), (1.0, 1e6)]:
        model = ProbabilisticRandomForestRegressor(10, random_state=0).fit(X, factor * y + offset)
        answer = (model.predict(X) - offset) / factor
        np.testing.assert_allclose(answer, expected.predict(X), rtol=1e-6)
        np.testing.assert_allclose(model.feature_importances_, expected.feature_importances_, rtol=1e-6)


def test_equal_errors_of_targets_change_nothing(friedman):
    X, y = friedman
    expected = ProbabilisticRandomForestRegressor(10, random_state=0).fit(X, y).predict(X)
    for y_err in (0.0, 0.7, np.full(len(y), 3.0), (0.5, 0.5)):
        model = ProbabilisticRandomForestRegressor(10, random_state=0).fit(X, y, y_err=y_err)
        np.testing.assert_array_equal(model.predict(X), expected)


def test_good_targets_count_more():
    random = np.random.default_rng(0)
    X = random.uniform(size=(600, 3))
    truth = 10 * (X[:, 0] > 0.5)
    y_err = np.where(random.uniform(size=600) < 0.5, 0.1, 20.0)
    y = truth + random.normal(size=600) * y_err
    scores = {}
    for name, errors in {"with": y_err, "without": None}.items():
        model = ProbabilisticRandomForestRegressor(30, random_state=0).fit(X, y, y_err=errors)
        scores[name] = np.mean(np.square(model.predict(X) - truth))
    assert scores["with"] < 0.3 * scores["without"]


def test_an_unknown_target_is_an_object_that_is_not_there(friedman):
    X, y = friedman
    y_err = np.full(len(y), 0.5)
    y_err[:40] = np.inf
    without = ProbabilisticDecisionTreeRegressor().fit(X[40:], y[40:])
    model = ProbabilisticDecisionTreeRegressor().fit(X, np.where(np.arange(len(y)) < 40, 1e6, y), y_err=y_err)
    np.testing.assert_allclose(model.predict(X), without.predict(X), rtol=1e-12)


def test_weights_of_errors():
    weight = np.ones(4)
    errors = np.array([0.0, 1.0, 2.0, np.inf])
    found = weights_of_errors(errors, 1.0, weight)
    expected = np.array([1.0, 1 / 2, 1 / 5, 0.0])
    np.testing.assert_allclose(found, expected * 3 / expected.sum())
    assert weights_of_errors(np.full(4, 0.3), 2.0, weight).tolist() == [1.0] * 4
    assert np.isfinite(weights_of_errors(np.array([0.0, 1e-90, 1e90]), 0.0, np.ones(3))).all()


def test_scatter_is_found_beside_the_errors():
    random = np.random.default_rng(0)
    error = random.uniform(0, 4, 5000)
    residual = random.normal(size=5000) * np.hypot(2.0, error)
    assert scatter_of(residual, error, np.ones(5000)) == pytest.approx(2.0, rel=0.1)
    assert scatter_of(np.zeros(5), np.ones(5), np.ones(5)) == 0.0


def test_out_of_bag_answers(noisy):
    X, y, X_err = noisy
    forest = ProbabilisticRandomForestRegressor(40, random_state=0, oob_score=True, error_scale=1.0).fit(
        X, y, X_err=X_err
    )
    expected = np.zeros((2, len(y)))
    for tree, draw in zip(forest.trees_, forest.draws_, strict=True):
        left_out = draw.counts() == 0
        alone = ProbabilisticRandomForestRegressor(1)
        alone.__dict__ = forest.__dict__ | {"trees_": [tree]}
        expected[:, left_out] += alone.predict(X[left_out], X_err=X_err[left_out]), np.ones(left_out.sum())
    np.testing.assert_allclose(forest.oob_prediction_, expected[0] / expected[1])
    assert forest.oob_score_ == pytest.approx(r2_score(y, forest.oob_prediction_))
    assert 0.3 < forest.oob_score_ < 0.95
    own = ProbabilisticRandomForestRegressor(40, random_state=0, oob_score=lambda a, b: 7.0, error_scale=1.0)
    assert own.fit(X, y, X_err=X_err).oob_score_ == 7.0


def test_threads_change_no_bit(noisy):
    X, y, X_err = noisy
    answers = []
    for n_jobs in (1, 3):
        forest = ProbabilisticRandomForestRegressor(20, random_state=0, n_jobs=n_jobs, oob_score=True, calibrate=True)
        forest.fit(X, y, X_err=X_err, y_err=np.linspace(0, 2, len(y)))
        distribution = forest.predict_distribution(X, X_err=X_err)
        numbers = [forest.predict(X, X_err=X_err), forest.oob_prediction_, distribution.std, distribution.median]
        answers.append([*numbers, forest.calibration_, distribution.interval(0.68, conformal=True)])
    for one, other in zip(*answers, strict=True):
        np.testing.assert_array_equal(one, other)


def test_warm_start_adds_trees(noisy):
    X, y, X_err = noisy
    at_once = ProbabilisticRandomForestRegressor(12, random_state=0).fit(X, y, X_err=X_err)
    grown = ProbabilisticRandomForestRegressor(5, random_state=0, warm_start=True, error_scale=1.0, prior="empirical")
    grown.fit(X, y, X_err=X_err).set_params(n_estimators=12).fit(X, y, X_err=X_err)
    assert (at_once.error_scale_, at_once.prior_) == (1.0, "empirical")
    np.testing.assert_array_equal(grown.predict(X, X_err=X_err), at_once.predict(X, X_err=X_err))
    np.testing.assert_array_equal(
        grown.predict_quantiles(X, 0.3, X_err=X_err), at_once.predict_quantiles(X, 0.3, X_err=X_err)
    )
    with pytest.raises(ValueError, match="error_scale of before"):
        grown.set_params(n_estimators=14, error_scale=0.5).fit(X, y, X_err=X_err)
    with pytest.raises(ValueError, match="prior of before"):
        grown.set_params(error_scale=1.0, prior="normal").fit(X, y, X_err=X_err)


def test_warm_start_on_other_objects_keeps_the_distribution(noisy):
    X, y, _ = noisy
    forest = ProbabilisticRandomForestRegressor(5, random_state=0, warm_start=True).fit(X[:200], y[:200])
    forest.set_params(n_estimators=10).fit(X[100:], y[100:])
    distribution = forest.predict_distribution(X)
    np.testing.assert_array_equal(distribution.targets, np.unique(y))
    np.testing.assert_allclose(distribution.mean, forest.predict(X), rtol=1e-12)


def test_error_features_fall_back(noisy):
    X, y, X_err = noisy
    forest = ProbabilisticRandomForestRegressor(10, random_state=0, error_features=True).fit(X, y, X_err=X_err)
    with pytest.warns(UserWarning, match="error"):
        mean = forest.predict(X, X_err=5 * X_err)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_allclose(forest.predict_distribution(X, X_err=5 * X_err).mean, mean)
    plain = ProbabilisticRandomForestRegressor(10, random_state=0).fit(X, y, X_err=X_err)
    with pytest.warns(UserWarning, match="error"):
        np.testing.assert_allclose(plain.predict(X, X_err=5 * X_err), mean)


def test_constant_targets_and_single_objects(friedman):
    X, y = friedman
    model = ProbabilisticRandomForestRegressor(5, random_state=0)
    assert set(model.fit(X, np.full(len(y), 3.5)).predict(X).tolist()) == {3.5}
    distribution = model.predict_distribution(X[:3])
    assert distribution.std.tolist() == [0, 0, 0]
    assert distribution.mode.tolist() == [3.5] * 3
    assert distribution.crps([3.5, 4.5, 3.0]).tolist() == [0.0, 1.0, 0.5]
    assert model.fit(X[:1], y[:1]).predict(X).tolist() == [y[0]] * len(X)


BAD = {
    "NaN": ({"y": [np.nan, *range(29)]}, r"y contains NaN: nan at row 0"),
    "infinite": ({"y": [0.0, np.inf, *range(28)]}, r"y contains infinity.*at row 1"),
    "text": ({"y": ["a"] * 30}, "y must hold numbers"),
    "too few": ({"y": np.zeros(29)}, "y has 29 numbers, but X has 30 objects"),
    "two columns": ({"y": np.zeros((30, 2))}, "y should be a 1d array"),
    "none": ({"y": None}, "requires y to be passed"),
    "negative error": ({"y_err": [-1.0] + [1.0] * 29}, r"y_err is -1.0 at row 0; expected a number >= 0"),
    "negative upper error": ({"y_err": (1.0, [-1.0] + [1.0] * 29)}, r"y_err is -1.0 at row 0"),
    "no known error": ({"y_err": np.full(30, np.nan)}, "y_err is NaN for all objects"),
    "endless errors": ({"y_err": np.full(30, np.inf)}, "y_err is infinite for all objects"),
    "shape of errors": ({"y_err": np.ones(7)}, r"y_err has shape \(7,\)"),
    "two-dimensional errors": ({"y_err": np.ones((29, 5))}, r"y_err has shape \(29, 5\).*\(30, m\)"),
    "an infinite draw": ({"y_err": [[1.0, 2.0, np.inf]] * 30}, "y_err has the draw inf at row 0, column 2"),
    "no known draw": ({"y_err": np.full((30, 3), np.nan)}, "y_err is NaN for all objects"),
    "three sides": ({"y_err": (1.0, 1.0, 1.0)}, "y_err is a tuple of 3"),
    "text errors": ({"y_err": ["x"] * 30}, "y_err must hold numbers"),
    "weights": ({"sample_weight": np.zeros(30)}, "Every object has weight zero"),
}


@pytest.mark.parametrize("problem", BAD)
def test_bad_targets_are_refused(problem):
    given, message = BAD[problem]
    X = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.raises(ValueError, match=message):
        ProbabilisticRandomForestRegressor(3).fit(X, **({"y": np.arange(30.0)} | given))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"criterion": "gini"}, "squared_error"), ({"error_scale": -1}, "error_scale"), ({"prior": "x"}, "prior")],
)
def test_bad_parameters_are_refused(parameters, message, friedman):
    with pytest.raises(ValueError, match=message):
        ProbabilisticRandomForestRegressor(3, **parameters).fit(*friedman)


def test_reading_does_not_change_the_callers_arrays(friedman):
    X, y = friedman
    y, y_err = y.copy(), np.linspace(0, 1, len(y))
    y_err[3] = np.nan
    before = y.copy(), y_err.copy()
    ProbabilisticRandomForestRegressor(3).fit(X, y, y_err=y_err)
    np.testing.assert_array_equal(y, before[0])
    np.testing.assert_array_equal(y_err, before[1])
    numbers = read_numbers(y, len(y))
    assert numbers.y is not y
    assert read_target_errors(np.column_stack([y_err * 0 + 3, y_err * 0 + 4]), len(y))[0] == pytest.approx(12.5**0.5)


def test_informative_holes_are_learnt():
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 2))
    y = 5.0 * (random.uniform(size=400) < 0.3) + 0.1 * random.normal(size=400)
    X[y > 2, 0] = np.nan
    X[random.uniform(size=400) < 0.3, 1] = np.nan
    forest = ProbabilisticRandomForestRegressor(20, random_state=0).fit(X, y)
    assert forest.missing_.tolist() == ["learned", "observed"]
    assert forest.score(X, y) > 0.95
