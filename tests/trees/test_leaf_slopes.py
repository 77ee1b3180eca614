"""Slopes in leaves: the models, the laws that they obey, and where they are used."""

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

import naive
from probforest import ProbabilisticRandomForestRegressor, load, merge, save
from probforest.estimators.choices import describe_choices
from probforest.features.limits import TrainingSpread
from probforest.kernels.layout import Cells
from probforest.trees.error_trial import Judgement, slopes_pay
from probforest.trees.leaf_slopes import LEAST_WEIGHT, MOST_FEATURES, scales_of


def plane(n_objects, seed=0, noise=0.0):
    random = np.random.default_rng(seed)
    X = random.uniform(size=(n_objects, 3))
    return X, 5 * X[:, 0] - 3 * X[:, 1] + noise * random.normal(size=n_objects)


def forest_with(slopes=True, n_trees=10, **parameters):
    return ProbabilisticRandomForestRegressor(n_trees, random_state=0, slopes=slopes, **parameters)


@pytest.fixture(scope="module")
def noisy():
    random = np.random.default_rng(0)
    X, y = make_friedman1(400, noise=0.5, random_state=0)
    X_err = random.uniform(0, 0.1, X.shape)
    return random.normal(X, X_err), y, X_err


@pytest.fixture(scope="module")
def fitted(noisy):
    X, y, X_err = noisy
    return forest_with(error_scale=0.5, prior=None).fit(X, y, X_err=X_err)


def query_of(forest, X, X_err=None):
    return forest._query_and_trees(X, X_err, None, None)[0]


def members_of(forest, number, X, X_err):
    """Masses (n, n_leaves) of the training objects in the leaves of a tree."""
    tree, counts = forest.trees_[number], forest.draws_[number].counts()
    row, leaf, reach = tree.visits(query_of(forest, X, X_err), forest.keep_proba)
    masses = np.zeros((len(X), len(tree.leaves)))
    masses[row, tree.leaf_numbers[leaf]] = counts[row] * reach
    return masses


def leaves_below(tree, node):
    if tree.feature[node] == -1:
        return [tree.leaf_numbers[node]]
    return leaves_below(tree, node + 1) + leaves_below(tree, tree.right[node])


def test_a_leaf_has_the_slopes_of_the_smallest_node_with_enough_objects(noisy, fitted):
    X, y, X_err = noisy
    places = fitted.slope_scales_.places(query_of(fitted, X, X_err))
    for number in (0, 1):
        tree, masses = fitted.trees_[number], members_of(fitted, number, X, X_err)
        smallest = {}  # by leaf: the last one that is found is the lowest
        for node in np.flatnonzero((tree.weight >= LEAST_WEIGHT) | (np.arange(tree.n_nodes) == 0)):
            for leaf in leaves_below(tree, node):
                smallest[leaf] = node
        for leaf, node in list(smallest.items())[::7]:
            mass = masses[:, leaves_below(tree, node)].sum(axis=1)
            mean = mass @ y / mass.sum()
            penalty = 10 * (mass @ np.square(y - mean) / mass.sum()) / y.var() / mass.sum()
            expected = naive.ridge(places, y, mass, penalty)
            np.testing.assert_allclose(tree.slopes.slope[tree.slopes.model[leaf]], expected, rtol=1e-6, atol=1e-8)
            in_leaf = masses[:, leaf] @ places / masses[:, leaf].sum()
            np.testing.assert_allclose(tree.slopes.mean[leaf], in_leaf, rtol=1e-10, atol=1e-12)


def test_slopes_move_the_members_of_a_leaf_by_nothing_in_the_mean(noisy, fitted):
    X, _, X_err = noisy
    places = fitted.slope_scales_.places(query_of(fitted, X, X_err))
    masses, slopes = members_of(fitted, 0, X, X_err), fitted.trees_[0].slopes
    for leaf, mass in enumerate(masses.T):
        added = (places - slopes.mean[leaf]) @ slopes.slope[slopes.model[leaf]]
        assert abs(mass @ added) < 1e-10 * mass.sum()


def test_slopes_move_distributions_and_change_nothing_else(noisy, fitted):
    X, y, X_err = noisy
    plain = forest_with(False, error_scale=0.5, prior=None).fit(X, y, X_err=X_err)
    one, other = (each.predict_distribution(X[:50], X_err=X_err[:50]) for each in (plain, fitted))
    shift = other.shift
    assert np.abs(shift).max() > 0.1
    np.testing.assert_array_equal(one.shift, 0)
    np.testing.assert_array_equal(one.weights.toarray(), other.weights.toarray())
    np.testing.assert_array_equal(one.quantile([0.1, 0.5]) + shift[:, None], other.quantile([0.1, 0.5]))
    np.testing.assert_array_equal(one.summary([0.3])[:, 2] + shift, other.summary([0.3])[:, 2])
    np.testing.assert_allclose(one.std, other.std, rtol=1e-10)
    np.testing.assert_allclose(one.mean + shift, other.mean, rtol=1e-10)
    np.testing.assert_allclose(one.pdf(y[:50] - shift), other.pdf(y[:50]), rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(one.crps(y[:50] - shift), other.crps(y[:50]), rtol=1e-9)
    np.testing.assert_allclose(one.mode + shift, other.mode, rtol=1e-9)
    np.testing.assert_allclose(one.sample(3, 0) + shift[:, None], other.sample(3, 0), rtol=1e-12)
    np.testing.assert_array_equal(other[[3, 1]].shift, shift[[3, 1]])


def test_the_probability_up_to_a_quantile_contains_it(noisy, fitted):
    X, _, X_err = noisy
    answer = fitted.predict_distribution(X, X_err=X_err)
    levels = np.linspace(0.01, 0.99, 23)
    quantiles = answer.quantile(levels)
    assert (answer.cdf(quantiles) >= levels - 1e-9).all()
    below = np.concatenate([piece.cdf(quantiles[rows], below=True) for rows, piece in answer.pieces()])
    assert (below <= levels + 1e-9).all()


def test_all_answers_agree(noisy, fitted):
    X, y, X_err = noisy
    asked = {"X_err": X_err[:20]}
    mean = fitted.predict(X[:20], **asked)
    np.testing.assert_allclose(fitted.predict_distribution(X[:20], **asked).mean, mean, rtol=1e-10)
    why = fitted.contributions(X[:20], **asked)
    np.testing.assert_allclose(why.base + why.values.sum(axis=1), mean[:, None], rtol=1e-12)
    np.testing.assert_array_equal(why.answers[:, 0], mean)
    shap = fitted.shapley_values(X[:5], X_err=X_err[:5], background=X, background_err=X_err, n_background=5)
    np.testing.assert_array_equal(shap.answers[:, 0], mean[:5])
    np.testing.assert_array_equal(fitted.predict(X[3:4], X_err=X_err[3:4]), mean[3:4])
    threads = forest_with(error_scale=0.5, prior=None, n_jobs=2).fit(X, y, X_err=X_err)
    np.testing.assert_array_equal(threads.predict(X[:20], **asked), mean)


def test_contributions_of_slopes_are_those_of_their_features():
    X, y = plane(400)
    forest = forest_with().fit(X, y)
    plain = forest_with(False).fit(X, y)
    added = forest.contributions(X).values[:, :, 0] - plain.contributions(X).values[:, :, 0]
    np.testing.assert_allclose(added.sum(axis=1), forest.predict_distribution(X).shift, atol=1e-10)
    assert np.abs(added[:, 2]).mean() < 0.1 * np.abs(added[:, 0]).mean()


def test_a_plane_is_learnt():
    X, y = plane(1000)
    query, truth = plane(200, seed=1)
    inside = ((query > 0.05) & (query < 0.95)).all(axis=1)
    errors = [np.abs(forest_with(each, 30).fit(X, y).predict(query) - truth)[inside] for each in (False, True)]
    assert errors[1].mean() < 0.3 * errors[0].mean()


def test_nothing_moves_where_targets_or_features_are_constant():
    X, y = plane(200)
    np.testing.assert_array_equal(forest_with().fit(X, np.full(200, 3.0)).predict_distribution(X).shift, 0)
    np.testing.assert_array_equal(forest_with().fit(np.ones((200, 2)), y).predict_distribution(np.eye(2)).shift, 0)
    with_constant = np.column_stack([X, np.ones(200)])
    other = np.column_stack([X, np.full(200, 8.0)])
    forest = forest_with(max_features=None).fit(with_constant, y)
    np.testing.assert_array_equal(forest.predict(with_constant), forest.predict(other))


def test_units_of_targets_and_features_do_not_matter():
    X, y = plane(300, noise=0.1)
    shift = forest_with().fit(X, y).predict_distribution(X).shift
    of_target = forest_with().fit(X, 100 - 4 * y).predict_distribution(X).shift
    np.testing.assert_allclose(of_target, -4 * shift, rtol=1e-6, atol=1e-7)
    other = X * [1e6, 1.0, 1e-3] + [0, 1e4, 5]
    np.testing.assert_allclose(forest_with().fit(other, y).predict_distribution(other).shift, shift, atol=1e-5)


def test_values_beyond_the_training_set_are_at_its_end_and_missing_ones_in_its_middle():
    spread = TrainingSpread(np.linspace(0, 10, 101), np.linspace(0, 1, 101))
    scales = scales_of([spread, TrainingSpread(np.array([2.0]), np.array([1.0]))])
    values = np.array([[1e300, 5], [-np.inf, 2], [np.nan, np.nan], [5, 1]])
    found = scales.places(Cells(values[:, :, None], np.empty(0), np.zeros(2, dtype=np.int64), False))
    width = (8.413 - 1.587) / 2
    np.testing.assert_allclose(found[:, 0], [4.95 / width, -4.95 / width, 0, 0], atol=1e-9)
    np.testing.assert_array_equal(found[:, 1], 0)


def test_objects_without_values_are_answered():
    X, y = plane(300)
    X[::3, 0] = np.nan
    answer = forest_with().fit(X, y).predict(np.array([[np.nan] * 3, [1e9, -1e9, np.nan]]))
    assert np.isfinite(answer).all()


def test_slopes_are_used_where_they_pay():
    """Errors that are larger than the noise: values are taken as nearly exact, and the target is a plane."""
    X, y = plane(900, noise=0.05)
    forest = ProbabilisticRandomForestRegressor(20, random_state=0).fit(X, y, X_err=0.3)
    assert forest.error_scale_ < 1
    assert forest.slopes_
    trial = forest.error_trial_
    assert trial.with_slopes < 0.9 * trial.crps[trial.choice]
    assert "with slopes in leaves" in describe_choices(forest)[0]
    assert not forest.noisy_forest_.slopes_
    without = ProbabilisticRandomForestRegressor(20, random_state=0, slopes=False).fit(X, y, X_err=0.3)
    assert not without.slopes_
    assert without.error_trial_.with_slopes is None
    query, truth = plane(300, seed=1)
    scores = [each.predict_distribution(query, X_err=0.3).crps(truth).mean() for each in (forest, without)]
    assert scores[0] < 0.9 * scores[1]
    random = np.random.default_rng(0)  # noise that hides the values
    X_err = random.uniform(0, 0.6, X.shape)
    hidden = ProbabilisticRandomForestRegressor(20, random_state=0).fit(random.normal(X, X_err), y, X_err=X_err)
    assert hidden.error_scale_ == 1
    assert not hidden.slopes_
    assert not ProbabilisticRandomForestRegressor(5).fit(X, y).slopes_  # an ordinary forest


def test_slopes_must_be_clearly_better():
    random = np.random.default_rng(0)
    crps, judged = random.uniform(1, 2, 400), np.arange(400) < 300
    noise = 0.1 * random.normal(size=400)
    noise -= noise[judged].mean()
    for gain, pays in ((0.0, False), (0.02, True), (-0.02, False)):
        assert slopes_pay(Judgement(judged, crps, crps, crps + noise - gain), np.ones(400)) is pays
    assert not slopes_pay(Judgement(judged, crps, crps), np.ones(400))


@pytest.mark.parametrize("prediction", ["mean", "median"])
def test_out_of_bag_predictions_and_calibration_know_slopes(prediction):
    X, y = plane(500)
    others = {"n_trees": 40, "oob_score": True, "calibrate": True, "prediction": prediction}
    one, other = (forest_with(each, **others).fit(X, y) for each in (True, False))
    assert 1 - one.oob_score_ < 0.5 * (1 - other.oob_score_)
    intervals = [each.predict_distribution(X).interval(0.9, conformal=True) for each in (one, other)]
    widths = [np.diff(each).mean() for each in intervals]
    assert widths[0] < widths[1]


def test_trees_can_be_added_saved_and_merged(noisy, fitted, tmp_path):
    X, y, X_err = noisy
    grown = forest_with(n_trees=4, error_scale=0.5, prior=None, warm_start=True).fit(X, y, X_err=X_err)
    grown.set_params(n_estimators=10).fit(X, y, X_err=X_err)
    asked = {"X_err": X_err[:20]}
    np.testing.assert_array_equal(grown.predict(X[:20], **asked), fitted.predict(X[:20], **asked))
    save(grown, tmp_path / "model.prf")
    loaded = load(tmp_path / "model.prf")
    assert loaded.slopes_
    np.testing.assert_array_equal(loaded.predict(X[:20], **asked), grown.predict(X[:20], **asked))
    np.testing.assert_array_equal(*(each.predict_quantiles(X[:20], 0.3, **asked) for each in (loaded, grown)))
    second = forest_with(n_trees=5, error_scale=0.5, prior=None).set_params(random_state=1)
    second.fit(X[::2], y[::2], X_err=X_err[::2], feature_model=fitted)
    assert second.slopes_
    together = merge([fitted, second])
    mean = (10 * fitted.predict(X[:20], **asked) + 5 * second.predict(X[:20], **asked)) / 15
    np.testing.assert_allclose(together.predict(X[:20], **asked), mean, rtol=1e-12)
    np.testing.assert_allclose(together.predict_distribution(X[:20], **asked).mean, mean, rtol=1e-10)


def test_what_can_not_be_is_refused(noisy):
    X, y, X_err = noisy
    with pytest.raises(ValueError, match="slopes must be"):
        forest_with("yes").fit(X, y)
    with pytest.raises(ValueError, match="slopes=True needs error_features=False"):
        forest_with(error_features=True).fit(X, y, X_err=X_err)
    many = np.random.default_rng(0).normal(size=(150, MOST_FEATURES + 1))
    with pytest.raises(ValueError, match=f"slopes=True needs at most {MOST_FEATURES} features"):
        forest_with().fit(many, y[:150])
    assert not forest_with("auto", 5).fit(many, many[:, 0], X_err=0.5).slopes_
    assert forest_with(np.bool_(True), 3).fit(X, y).slopes_
