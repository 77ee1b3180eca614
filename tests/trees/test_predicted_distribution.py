"""The predictive distribution: Meinshausen's weights, what errors do to it, and that it is calibrated."""

import sys

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import make_friedman1

import naive
from probforest import ProbabilisticDecisionTreeRegressor, ProbabilisticRandomForestRegressor
from probforest.trees import weighted_targets


@pytest.fixture(scope="module")
def friedman():
    return make_friedman1(250, noise=1.0, random_state=0)


def meinshausen(forest, X, y, query):
    """w_i(x) = mean over trees of 1{X_i in the leaf of x} n_i / (number in the leaf), eq. 4 and 5 of Meinshausen."""
    leaves, leaves_of_query = forest.apply(X), forest.apply(query)
    weights = np.zeros((len(query), len(y)))
    for t, draw in enumerate(forest.draws_):
        counts = draw.counts()
        for row in range(len(query)):
            together = counts * (leaves[:, t] == leaves_of_query[row, t])
            weights[row] += together / together.sum() / len(forest.draws_)
    return weights


@pytest.mark.parametrize("least", [1, 5])
def test_exact_values_have_the_weights_of_quantile_regression_forests(friedman, least):
    X, y = friedman
    query = make_friedman1(20, random_state=5)[0]
    forest = ProbabilisticRandomForestRegressor(15, random_state=0, min_samples_leaf=least).fit(X, y)
    expected = meinshausen(forest, X, y, query)[:, np.argsort(y)]
    distribution = forest.predict_distribution(query)
    np.testing.assert_array_equal(distribution.targets, np.sort(y))
    np.testing.assert_allclose(distribution.weights.toarray(), expected, atol=1e-12)
    np.testing.assert_allclose(distribution.mean, forest.predict(query), rtol=1e-12)


@pytest.mark.parametrize("keep_proba", [0.0, 0.05])
def test_weights_of_a_tree_with_errors_are_those_of_the_oracle(keep_proba):
    """Σ_leaves π (w π_train) / W_leaf."""
    random = np.random.default_rng(1)
    X, X_err = random.normal(size=(25, 2)), random.uniform(0.1, 0.5, (25, 2))
    y, weight = X[:, 0] + 0.1 * random.normal(size=25), random.uniform(0.5, 1.5, 25)
    model = ProbabilisticDecisionTreeRegressor(
        prior=None, keep_proba=keep_proba, min_samples_leaf=2, max_bins=65_535
    ).fit(X, y, X_err=X_err, sample_weight=weight)
    share = weight / weight.sum()
    standard = (y - share @ y) / np.sqrt(share @ (y - share @ y) ** 2)
    rules = naive.Rules(criterion="variance", keep_proba=keep_proba, min_samples_leaf=2)
    root = naive.grow(X, X_err, np.column_stack([standard**2, standard, np.ones(25)]), weight, rules)
    members = {}
    for i in range(25):
        for leaf, reach in naive.leaf_probabilities(root, X[i], X_err[i], keep_proba):
            members.setdefault(id(leaf), np.zeros(25))[i] = weight[i] * reach
    expected = np.zeros((5, 25))
    for row in range(5):
        reached = naive.leaf_probabilities(root, X[row] + 0.1, X_err[row] * 2, keep_proba)
        total = sum(reach for _, reach in reached)
        for leaf, reach in reached:
            expected[row] += reach / total * members[id(leaf)] / members[id(leaf)].sum()
    found = model.predict_distribution(X[:5] + 0.1, X_err=X_err[:5] * 2)
    np.testing.assert_allclose(found.weights.toarray(), expected[:, np.argsort(y)], atol=1e-5)


def test_errors_of_an_object_widen_its_distribution():
    X = np.linspace(0, 1, 400)[:, None]
    forest = ProbabilisticRandomForestRegressor(30, random_state=0, error_scale=1.0, prior=None, keep_proba=0.0)
    forest.fit(X, X[:, 0], X_err=0.01)
    query = np.full((3, 1), 0.5)
    std = forest.predict_distribution(query, X_err=[[0.01], [0.05], [0.2]]).std
    assert std[0] < 0.02
    # Splits of the same feature are passed independently (eq. 9), which makes them narrower than the error.
    assert 0.6 * 0.05 < std[1] < 0.05
    assert 0.5 * 0.2 < std[2] < 0.2


@pytest.mark.parametrize("error", [0.0, 0.1])
def test_probability_integral_transforms_are_uniform(error):
    """Data from a model of the kind that the forest assumes: a step function and noise."""
    random = np.random.default_rng(0)

    def draw(n):
        true = random.uniform(size=(n, 2))
        y = 4 * (true[:, 0] > 0.5) + random.normal(size=n)
        return true + error * random.normal(size=true.shape), y

    X, y = draw(3000)
    X_test, y_test = draw(1500)
    forest = ProbabilisticRandomForestRegressor(60, random_state=0, min_samples_leaf=20)
    distribution = forest.fit(X, y, X_err=error).predict_distribution(X_test, X_err=error)
    pit = distribution.pit(y_test)
    assert stats.kstest(pit, "uniform").statistic < 0.05
    low, high = distribution.interval(0.8).T
    assert np.mean((low <= y_test) & (y_test <= high)) == pytest.approx(0.8, abs=0.04)


def test_all_numbers_of_an_answer_have_their_shapes(friedman):
    X, y = friedman
    forest = ProbabilisticRandomForestRegressor(10, random_state=0).fit(X, y)
    answer = forest.predict_distribution(X[:7])
    assert len(answer) == answer.n_objects == 7
    assert "7 objects" in repr(answer)
    for numbers in (answer.mean, answer.std, answer.median, answer.mode, answer.quantile(0.3), answer.crps(y[:7])):
        assert numbers.shape == (7,)
    assert answer.quantile([0.1, 0.9]).shape == answer.interval(0.8).shape == (7, 2)
    for function in (answer.cdf, answer.pdf):
        assert function(10.0).shape == function(y[:7]).shape == (7,)
        assert function([[1.0, 2.0, 3.0]]).shape == function(np.zeros((7, 3))).shape == (7, 3)
    assert answer.sample(5, random_state=0).shape == (7, 5)
    np.testing.assert_array_equal(answer.sample(5, random_state=0), answer.sample(5, random_state=0))
    assert answer.weights.shape == (7, 250)
    mean, std = forest.predict(X[:7], return_std=True)
    np.testing.assert_allclose(mean, answer.mean)
    np.testing.assert_array_equal(std, answer.std)
    np.testing.assert_array_equal(forest.predict_quantiles(X[:7], [0.2, 0.7]), answer.quantile([0.2, 0.7]))
    np.testing.assert_array_equal(answer.median, answer.quantile(0.5))
    table = answer.to_table([0.025, 0.5])
    assert list(table.columns) == ["mean", "std", "q2.5", "q50"]
    np.testing.assert_array_equal(table["q50"], answer.median)


def test_wrong_questions_are_refused(friedman):
    X, y = friedman
    answer = ProbabilisticRandomForestRegressor(3, random_state=0).fit(X, y).predict_distribution(X[:7])
    for question, message in [
        (lambda: answer.quantile(1.5), "q must be one or more probabilities"),
        (lambda: answer.quantile("a"), "q must be"),
        (lambda: answer.interval([0.1, 0.2]), "p must be a single probability"),
        (lambda: answer.cdf(np.zeros(5)), r"y has shape \(5,\); expected a number, one per object, \(7,\)"),
        (lambda: answer.pdf(np.nan), "y contains NaN"),
        (lambda: answer.crps(np.zeros((7, 2))), "expected one target per object"),
        (lambda: answer.sample(0), "n must be"),
    ]:
        with pytest.raises(ValueError, match=message):
            question()


def test_pieces_do_not_change_the_answer(friedman, monkeypatch):
    X, y = friedman
    forest = ProbabilisticRandomForestRegressor(10, random_state=0, error_scale=1.0).fit(X, y, X_err=0.1)
    expected = forest.predict_distribution(X, X_err=0.1)
    whole = expected.mean, expected.median, expected.crps(y)
    monkeypatch.setattr(weighted_targets, "_ENTRIES", 500)
    monkeypatch.setattr("probforest.trees.reached_leaves._MOST", 40)
    monkeypatch.setattr("probforest.trees.reached_leaves._FEWEST", 40)
    answer = forest.predict_distribution(X, X_err=0.1)
    for found, number in zip((answer.mean, answer.median, answer.crps(y)), whole, strict=True):
        np.testing.assert_allclose(found, number, rtol=1e-12)


def test_equal_targets_are_one(friedman):
    X, y = friedman
    rounded = np.round(y)
    forest = ProbabilisticRandomForestRegressor(10, random_state=0).fit(X, rounded)
    answer = forest.predict_distribution(X)
    np.testing.assert_array_equal(answer.targets, np.unique(rounded))
    np.testing.assert_allclose(answer.cdf(1e9), 1)
    assert answer.cdf(-1e9).tolist() == [0.0] * len(y)


@pytest.fixture(scope="module")
def answer(friedman):
    X, y = friedman
    forest = ProbabilisticRandomForestRegressor(15, random_state=0).fit(X, y)
    query, truth = make_friedman1(30, random_state=5)
    return forest.predict_distribution(query), truth, forest, query


def test_some_objects_are_those_of_all(answer):
    everything = answer[0]
    for rows in (3, [4, 0], slice(2, 9), np.arange(30) > 20, -1):
        np.testing.assert_array_equal(everything[rows].median, np.atleast_1d(everything.median[rows]))
    with pytest.raises(IndexError, match="below 30"):
        everything[30]
    with pytest.raises(IndexError, match="numbers of objects"):
        everything["a"]


def test_the_loss_of_densities_is_an_integral(answer):
    everything, truth, _, _ = answer
    grid = np.linspace(-30, 60, 9001)
    density = everything.pdf(grid[None, :])
    expected = np.trapezoid(density**2, grid, axis=1) - 2 * everything.pdf(truth)
    np.testing.assert_allclose(everything.cde_loss(truth), expected, rtol=1e-4)
    one_target = ProbabilisticRandomForestRegressor(3).fit(np.ones((5, 1)), np.full(5, 2.0))
    assert one_target.predict_distribution([[1.0]]).cde_loss([2.0]).tolist() == [np.inf]


@pytest.mark.parametrize("kind", ["mean", "median", "mode"])
def test_prediction_says_which_number_is_returned(answer, friedman, kind):
    everything, _, forest, query = answer
    forest = ProbabilisticRandomForestRegressor(15, random_state=0, prediction=kind, oob_score=True).fit(*friedman)
    expected = getattr(everything, kind)
    np.testing.assert_allclose(forest.predict(query), expected, rtol=1e-12)
    number, std = forest.predict(query, return_std=True)
    np.testing.assert_allclose(number, expected, rtol=1e-12)
    np.testing.assert_array_equal(std, everything.std)
    with pytest.raises(ValueError, match="kind"):
        everything.point("middle")


def test_out_of_bag_medians_are_those_of_trees_that_left_objects_out(friedman):
    X, y = friedman
    weight = np.where(np.arange(len(y)) < 20, 0.0, 1.0)
    forest = ProbabilisticRandomForestRegressor(12, random_state=0, prediction="median", oob_score=True)
    with pytest.warns(UserWarning, match="drawn by every tree"):
        forest.fit(X, y, sample_weight=weight)
    leaves = forest.apply(X)
    for row in (0, 25, 90, 249):
        weights = np.zeros(len(y))
        for t, draw in enumerate(forest.draws_):
            counts = np.zeros(len(y))
            counts[20:] = draw.counts()
            if counts[row] == 0:
                together = counts * (leaves[:, t] == leaves[row, t])
                weights += together / together.sum()
        order = np.argsort(y)
        up_to = np.cumsum(weights[order]) / weights.sum()
        assert forest.oob_prediction_[row] == y[order][np.argmax(up_to >= 0.5 - 1e-12)]


def test_figures_of_objects(answer):
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    everything, truth, _, _ = answer
    ax = everything.plot([2, 7], p=0.5, truth=truth, ax=Figure().subplots())
    curves = [line.get_xydata() for line in ax.lines]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["object 2", "object 7"]
    assert len(curves) == 4
    for curve, row in zip(curves[::2], (2, 7), strict=True):
        assert np.trapezoid(curve[:, 1], curve[:, 0]) == pytest.approx(1, abs=0.02)
        np.testing.assert_allclose(curve[:, 1], everything[row].pdf(curve[None, :, 0])[0])
    assert curves[1][0, 0] == truth[2]


def test_densities_for_qp(answer):
    qp = pytest.importorskip("qp")
    everything, truth, _, _ = answer
    ensemble = everything.to_qp()
    assert isinstance(ensemble, qp.Ensemble)
    assert ensemble.npdf == 30
    np.testing.assert_allclose(ensemble.mean().ravel(), everything.mean, atol=0.05)
    places = np.array([[8.0, 15.0]])
    np.testing.assert_allclose(ensemble.pdf(places[0]), everything.pdf(places), atol=0.003)
    fine = everything.to_qp(np.linspace(-10, 40, 2001))
    np.testing.assert_allclose(fine.pdf(truth[:, None]).ravel(), everything.pdf(truth), rtol=0.01)


def test_densities_narrower_than_the_grid_keep_their_mass():
    pytest.importorskip("qp")
    forest = ProbabilisticRandomForestRegressor(3, random_state=0).fit([[0.0], [1.0]] * 9, [0.21, 0.79] * 9)
    grid = np.linspace(0, 1, 11)
    density = forest.predict_distribution([[0.0], [1.0]]).to_qp(grid).pdf(grid)
    np.testing.assert_allclose(density, 10 * np.eye(11)[[2, 8]], atol=1e-9)


@pytest.mark.parametrize(
    "grid", [[1.0, 2.0], [3.0, 2.0, 1.0], [0.0, np.nan, 1.0], [[1.0, 2.0, 3.0]], [90.0, 91.0, 92.0]]
)
def test_bad_grids_are_refused(answer, grid):
    with pytest.raises(ValueError, match="grid"):
        answer[0].to_qp(grid)


def test_qp_is_named_if_it_is_missing(answer, monkeypatch):
    monkeypatch.setitem(sys.modules, "qp", None)
    with pytest.raises(ImportError, match=r"to_qp needs qp.*probforest\[photoz\]"):
        answer[0].to_qp()


@pytest.mark.parametrize("keep_proba", [0.0, 0.05, 1.0])
@pytest.mark.parametrize("target", ["numbers", "ties", "constant"])
def test_quantiles_are_those_of_the_whole_distribution(friedman, keep_proba, target):
    """Without calibration, they are found without the order of all targets."""
    X, y = (each.copy() for each in friedman)
    y = {"numbers": y, "ties": np.round(y / 5), "constant": np.full(len(y), 3.0)}[target]
    X_err = np.random.default_rng(0).uniform(0, 0.2, X.shape)
    X_err[::3] = 0.0
    X[::7, 2] = np.nan
    forest = ProbabilisticRandomForestRegressor(
        8, random_state=0, error_scale=1.0, keep_proba=keep_proba, min_samples_leaf=2
    )
    answer = forest.fit(X, y, X_err=X_err).predict_distribution(X[:60], X_err=X_err[:60])
    levels = np.array([0.84, 0.0, 0.16, 0.5, 1.0, 0.5])
    whole = np.vstack([piece.quantiles(levels) for _, piece in answer.pieces()])
    np.testing.assert_array_equal(answer.quantile(levels), whole)
    np.testing.assert_array_equal(answer.median, whole[:, 3])
    np.testing.assert_array_equal(answer[7].quantile(levels), whole[7:8])
