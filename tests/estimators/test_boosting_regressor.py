"""Boosted numbers: whole models against the oracle, scikit-learn's boosting, laws of the losses."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor
from sklearn.metrics import (
    mean_absolute_error,
    mean_gamma_deviance,
    mean_pinball_loss,
    mean_poisson_deviance,
    mean_squared_error,
)
from threadpoolctl import threadpool_limits

import naive
import naive_boosting
from probforest import ProbabilisticDecisionTreeRegressor, ProbabilisticGradientBoostingRegressor
from problems import random_problem

LOSSES = [
    ("squared_error", None),
    ("absolute_error", None),
    ("quantile", 0.8),
    ("poisson", None),
    ("gamma", None),
    ("huber", 0.7),
]
names = pytest.mark.parametrize(("loss", "quantile"), LOSSES, ids=[name for name, _ in LOSSES])


def boosting(loss="squared_error", quantile=None, **options):
    return ProbabilisticGradientBoostingRegressor(loss, quantile=quantile, **({"random_state": 0} | options))


def targets(loss, y):
    """Targets that suit a loss."""
    positive = np.exp((y - y.mean()) / (2 * y.std()))
    return np.random.default_rng(0).poisson(3 * positive) * 1.0 if loss == "poisson" else positive


@names
@pytest.mark.parametrize("missing", ["observed", "learned"])
def test_three_iterations_are_those_of_the_oracle(loss, quantile, missing):
    problem = random_problem(4, n=40, noise=0.0, missing=0.1, weighted=True)
    y = targets(loss, np.random.default_rng(1).normal(np.nansum(problem.values, axis=1)))
    options = {"max_iter": 3, "max_leaf_nodes": 4, "learning_rate": 0.2, "min_samples_leaf": 3, "max_bins": 65_535}
    model = boosting(loss, quantile, missing=missing, l2_regularization=0.5, keep_proba=0.1, **options)
    model.fit(problem.values, y, sample_weight=problem.weight)
    rules = naive.Rules(criterion="newton", missing=missing, keep_proba=0.1, min_samples_leaf=3, regularisation=0.5)
    raw = naive_boosting.boost_numbers(problem, y, loss, quantile, rules, 3, 4, 0.2, model.delta_)
    expected = np.exp(raw) if loss in ("poisson", "gamma") else raw
    assert sum(tree.n_nodes for tree in model.trees_) > 9
    np.testing.assert_allclose(model.predict(problem.values), expected, rtol=1e-8)


METRICS = {
    "squared_error": mean_squared_error,
    "absolute_error": mean_absolute_error,
    "quantile": lambda y, found: mean_pinball_loss(y, found, alpha=0.8),
    "poisson": mean_poisson_deviance,
    "gamma": mean_gamma_deviance,
    "huber": mean_absolute_error,
}


def rival(loss, quantile, **options):
    """scikit-learn's boosting; its Huber loss is in another class."""
    if loss != "huber":
        return HistGradientBoostingRegressor(loss=loss, quantile=quantile, **options)
    options = {"n_estimators": options["max_iter"], "max_leaf_nodes": 31, "max_depth": None, "min_samples_leaf": 20}
    return GradientBoostingRegressor(loss="huber", alpha=quantile, random_state=0, **options)


@names
def test_exact_data_give_gradient_boosting_as_it_is_known(loss, quantile):
    found = []
    for seed in range(3):
        X, y = make_friedman1(1000, noise=1.0, random_state=seed)
        y = targets(loss, y)
        options = {"loss": loss, "quantile": quantile, "max_iter": 40}
        with threadpool_limits(1):
            theirs = rival(**options).fit(X[:500], y[:500])
        ours = boosting(**options).fit(X[:500], y[:500])
        found.append([METRICS[loss](y[500:], model.predict(X[500:])) for model in (ours, theirs)])
    ours, theirs = np.mean(found, axis=0)
    assert ours == pytest.approx(theirs, rel=0.05)


def test_the_first_scores_are_those_of_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    for loss, quantile in LOSSES[:-1]:  # there is no Huber loss
        options = {
            "loss": loss,
            "quantile": quantile,
            "max_iter": 2,
            "early_stopping": True,
            "validation_fraction": None,
        }
        theirs = HistGradientBoostingRegressor(**options).fit(X, y).train_score_
        ours = boosting(**options).fit(X, y).train_score_
        np.testing.assert_allclose(ours, theirs, rtol=0.01)


@names
def test_training_loss_falls_with_every_iteration(loss, quantile):
    X, y = make_friedman1(400, random_state=0)
    model = boosting(loss, quantile, learning_rate=0.05, max_iter=40, error_scale=1, prior=None)
    model.fit(X, targets(loss, y), X_err=0.1)
    assert (np.diff(model.train_score_) > 0).all()


def test_constant_gradients_give_a_regression_tree():
    """A single full step of the squared error is the tree of squares."""
    X, y = make_friedman1(300, random_state=1)
    model = boosting(max_iter=1, learning_rate=1.0, min_samples_leaf=10, max_leaf_nodes=1000, max_bins=65_535).fit(X, y)
    tree = ProbabilisticDecisionTreeRegressor(min_samples_leaf=10, keep_proba=0.1, max_features=None, max_bins=65_535)
    np.testing.assert_allclose(model.predict(X), tree.fit(X, y).predict(X), rtol=1e-9)


def test_errors_help():
    losses = []
    for seed in range(3):
        random = np.random.default_rng(seed)
        X, y = make_friedman1(1200, random_state=seed)
        X_err = 0.5 * random.uniform(size=X.shape)
        X = X + X_err * random.normal(size=X.shape)
        ours = boosting().fit(X[:800], y[:800], X_err=X_err[:800]).predict(X[800:], X_err=X_err[800:])
        with threadpool_limits(1):
            theirs = HistGradientBoostingRegressor().fit(X[:800], y[:800]).predict(X[800:])
        losses.append([mean_squared_error(y[800:], each) for each in (ours, theirs)])
    ours, theirs = np.mean(losses, axis=0)
    assert ours < 0.95 * theirs


@names
def test_units_and_offsets_of_targets_change_nothing_else(loss, quantile):
    X, y = make_friedman1(300, random_state=2)
    y, offset = targets(loss, y), 0.0 if loss in ("poisson", "gamma") else 1e6
    plain = boosting(loss, quantile, max_iter=15).fit(X, y).predict(X)
    other = boosting(loss, quantile, max_iter=15).fit(X, offset + 1e-3 * y).predict(X)
    np.testing.assert_allclose((other - offset) / 1e-3, plain, rtol=1e-5)


@names
def test_weights_are_numbers_of_objects(loss, quantile):
    n = 45 if loss == "huber" else 150  # few have no folds, which depend on the number of rows
    X, y = make_friedman1(n, random_state=3)
    y, times = targets(loss, y), np.random.default_rng(0).integers(1, 4, n)
    weighted = boosting(loss, quantile, max_iter=10).fit(X, y, sample_weight=times)
    repeated = boosting(loss, quantile, max_iter=10).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-9)


def test_errors_of_targets_weigh_them():
    X, y = make_friedman1(400, random_state=4)
    random = np.random.default_rng(0)
    y_err = np.where(random.random(400) < 0.5, 0.1, 20.0)
    noisy = y + y_err * random.normal(size=400)
    knowing, blind = boosting().fit(X, noisy, y_err=y_err), boosting().fit(X, noisy)
    assert mean_squared_error(y, knowing.predict(X)) < 0.5 * mean_squared_error(y, blind.predict(X))
    equal = boosting().fit(X, noisy, y_err=3.0)
    np.testing.assert_array_equal(equal.predict(X), blind.predict(X))
    with pytest.raises(ValueError, match="y_err is not used with loss='poisson'"):
        boosting("poisson").fit(X, np.abs(noisy), y_err=y_err)


@names
def test_contributions_sum_to_raw_scores(loss, quantile):
    X, y = make_friedman1(200, random_state=5)
    model = boosting(loss, quantile, max_iter=10).fit(X, targets(loss, y), X_err=0.1)
    why, found = model.contributions(X[:20], X_err=0.1), model.predict(X[:20], X_err=0.1)
    expected = np.log(found) if loss in ("poisson", "gamma") else found
    np.testing.assert_allclose(why.answers[:, 0], expected, rtol=1e-12)
    np.testing.assert_allclose(why.base + why.values.sum(axis=1), why.answers, rtol=1e-12)
    scale = np.abs(why.answers - why.base).max()
    assert np.abs(why.values).max() < 3 * scale  # inner nodes of revised trees answer in the unit of the target


@names
@pytest.mark.parametrize("direction", [1, -1])
def test_monotonic_constraints_hold(loss, quantile, direction):
    X, y = make_friedman1(400, noise=3.0, random_state=6)
    model = boosting(loss, quantile, max_iter=20, monotonic_cst=[0] * 3 + [direction] + [0] * 6)
    model.fit(X, targets(loss, y))
    query = np.repeat(X[:10], 40, axis=0)
    query[:, 3] = np.tile(np.linspace(-0.1, 1.1, 40), 10)
    steps = direction * np.diff(model.predict(query).reshape(10, 40), axis=1)
    assert (steps >= -1e-12).all()
    assert steps.max() > 0 or direction < 0


def test_warm_start_goes_on_as_if_nothing_had_happened():
    X, y = make_friedman1(300, random_state=7)
    options = {"max_features": 0.5, "early_stopping": True, "n_iter_no_change": 50}
    whole = boosting(max_iter=30, **options).fit(X, y, X_err=0.1)
    model = boosting(max_iter=10, warm_start=True, **options).fit(X, y, X_err=0.1)
    first = model.trees_[0]
    model.set_params(max_iter=30).fit(X, y, X_err=0.1)
    assert model.trees_[0] is first
    assert model.n_iter_ == whole.n_iter_ == len(model.train_score_) - 1
    np.testing.assert_allclose(model.predict(X, X_err=0.1), whole.predict(X, X_err=0.1), rtol=1e-9)
    np.testing.assert_allclose(model.validation_score_, whole.validation_score_, rtol=1e-9)
    with pytest.raises(ValueError, match="max_iter=5, but there are"):
        model.set_params(max_iter=5).fit(X, y, X_err=0.1)
    with pytest.warns(UserWarning, match="no iteration is added"):
        model.set_params(max_iter=model.n_iter_).fit(X, y, X_err=0.1)


def test_warm_start_needs_the_objects_of_before():
    X, y = make_friedman1(200, random_state=7)
    model = boosting(max_iter=3, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="early_stopping and validation_fraction of before"):
        model.set_params(max_iter=6, early_stopping=True).fit(X, y)
    assert model.n_iter_ == 3
    model.set_params(max_iter=6, early_stopping=False).fit(X, y)
    assert model.n_iter_ == 6


def test_any_score_can_stop():
    X, y = make_friedman1(400, random_state=8)
    for scoring in ("neg_mean_absolute_error", None, lambda model, X, y: -np.abs(model.predict(X) - y).max()):
        model = boosting(max_iter=300, learning_rate=0.5, early_stopping=True, scoring=scoring).fit(X, y)
        assert model.validation_score_.argmax() == model.n_iter_ < 300
    np.testing.assert_allclose(boosting(early_stopping=True, scoring="r2").fit(X, y).validation_score_[0], 0, atol=0.1)
    watched = boosting(max_iter=5, early_stopping=True, validation_fraction=None).fit(X, y)
    assert watched.validation_score_.shape == (0,)
    assert watched.n_iter_ == 5


def test_stages_end_with_the_model_and_thread_numbers_do_not_matter():
    X, y = make_friedman1(300, random_state=9)
    one, three = (boosting(max_iter=12, n_jobs=n_jobs).fit(X, y, X_err=0.1) for n_jobs in (1, 3))
    stages = list(one.staged_predict(X, X_err=0.1))
    assert len(stages) == one.n_iter_ == 12
    np.testing.assert_allclose(stages[-1], one.predict(X, X_err=0.1), rtol=1e-12)
    np.testing.assert_array_equal(one.predict(X, X_err=0.1), three.predict(X, X_err=0.1))


@pytest.mark.parametrize("loss", ["poisson", "gamma"])
def test_targets_that_differ_by_many_orders_of_magnitude_give_numbers(loss):
    X = np.random.default_rng(0).normal(size=(300, 2))
    y = np.where(X[:, 0] > 0, 1000.0, 1e-6)
    model = boosting(loss, learning_rate=0.5, max_iter=100).fit(X, y)
    found = model.predict(X)
    assert np.isfinite(found).all()
    assert np.isfinite(model.train_score_).all()
    assert np.median(found[X[:, 0] > 0]) == pytest.approx(1000, rel=0.05)
    assert np.median(found[X[:, 0] <= 0]) < 1


def test_there_is_no_distribution():
    model = boosting(max_iter=2).fit(*make_friedman1(100, random_state=0))
    assert not hasattr(model, "predict_distribution")
    with pytest.raises(AttributeError, match='loss="quantile"'):
        model.predict_quantiles([[0.0] * 10])
    assert not hasattr(model, "conformalize")


@pytest.mark.filterwarnings("ignore:No split of the training set")
@pytest.mark.parametrize("options", [{}, {"early_stopping": True, "validation_fraction": 0.9}])
def test_counts_may_be_zero_in_all_objects_but_some(options):
    """Of a fold, or of all objects that are not held out."""
    X, counts = np.random.default_rng(0).normal(size=(500, 2)), np.zeros(500)
    counts[:2] = 1.0
    found = boosting("poisson", max_iter=5, **options).fit(X, counts, X_err=0.1).predict(X, X_err=0.1)
    assert np.isfinite(found).all()
    assert (found > 0).all()


@pytest.mark.parametrize(("loss", "quantile"), [("huber", None), ("absolute_error", None), ("quantile", 0.5)])
def test_outliers_may_be_of_any_size(loss, quantile):
    random = np.random.default_rng(0)
    X = random.normal(size=(500, 2))
    y = X[:, 0] + 0.1 * random.normal(size=500)

    def fitted(outlier):
        with_outliers = np.where(np.arange(500) < 3, outlier, y)
        return boosting(loss, quantile, max_iter=20, prior=None, error_scale=1.0).fit(X, with_outliers).predict(X)

    np.testing.assert_allclose(fitted(1e12), fitted(1e3), rtol=1e-3, atol=1e-3)


def test_directions_of_a_series_belong_to_the_names_in_it():
    X, y = make_friedman1(300, random_state=0)
    table = pd.DataFrame(X[:, :5], columns=list("abcde"))
    by_names = boosting(max_iter=5, monotonic_cst=pd.Series({"d": 1, "a": -1})).fit(table, y)
    expected = boosting(max_iter=5, monotonic_cst=[-1, 0, 0, 1, 0]).fit(table, y)
    np.testing.assert_array_equal(by_names.predict(table), expected.predict(table))


def test_warm_start_needs_the_quantile_of_before():
    X, y = make_friedman1(100, random_state=0)
    model = boosting("quantile", 0.1, max_iter=2, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match=r"quantile of before, 0\.1; got 0\.9"):
        model.set_params(quantile=0.9, max_iter=3).fit(X, y)
    assert model.set_params(quantile=0.1).fit(X, y).n_iter_ == 3


@pytest.mark.parametrize(
    ("options", "y", "message"),
    [
        ({"loss": "hubert"}, [0.0, 1.0], "loss must be one of"),
        ({"loss": "huber", "quantile": 0.0}, [0.0, 1.0], "quantile must be a fraction"),
        ({"loss": "auto", "quantile": 0.5}, [0.0, 1.0], "no other loss takes one"),
        ({"loss": "quantile"}, [0.0, 1.0], "quantile"),
        ({"quantile": 0.5}, [0.0, 1.0], "quantile"),
        ({"loss": "quantile", "quantile": 1.0}, [0.0, 1.0], "quantile must be a fraction"),
        ({"loss": "poisson"}, [1.0, -2.0], "requires y >= 0; got -2.0 at row 1"),
        ({"loss": "poisson"}, [0.0, 0.0], "requires a y above 0"),
        ({"loss": "gamma"}, [1.0, 0.0], "requires y > 0; got 0.0 at row 1"),
        ({"monotonic_cst": [1, 0]}, [0.0, 1.0], "one number for each of the 1 features"),
        ({"monotonic_cst": [2]}, [0.0, 1.0], "monotonic_cst must be 1, -1 or 0; got"),
        ({"monotonic_cst": {"a": 1}}, [0.0, 1.0], "X has no names"),
        ({"scoring": "los"}, [0.0, 1.0], "scoring"),
        ({"error_scale": -1.0}, [0.0, 1.0], "error_scale"),
    ],
)
def test_wrong_parameters_and_targets_are_named(options, y, message):
    with pytest.raises(ValueError, match=message):
        boosting(**options).fit([[0.0], [1.0]], y)


@pytest.mark.parametrize("weight", [1e16, 1e20, 1e30])
@names
def test_huge_weights_are_weights(loss, quantile, weight):
    """Those of fluxes in cgs units are: in their sums, 20 objects are less than what rounding leaves."""
    X, y = make_friedman1(200, random_state=0)
    sample_weight = weight / np.random.default_rng(0).uniform(0.5, 1, 200) ** 2
    model = boosting(loss, quantile, max_iter=10)
    found = model.fit(X, targets(loss, y), X_err=0.05, sample_weight=sample_weight).predict(X, X_err=0.05)
    assert np.isfinite(found).all()
    assert np.corrcoef(found, targets(loss, y))[0, 1] > 0.5
