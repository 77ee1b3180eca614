"""Regressors as files: the same answers, and files that are refused."""

import numpy as np
import pytest

from probforest import (
    ModelFileError,
    ProbabilisticDecisionTreeRegressor,
    ProbabilisticRandomForestRegressor,
    describe,
    load,
    save,
)
from probforest.storage.model_file import read_file, write_file


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    X = random.normal(size=(150, 1)) + 0.05 * random.normal(size=(150, 3))  # closer together than their errors
    X_err = random.gamma(2, 0.1, X.shape)
    return X, 10 * (X[:, 0] - X[:, 1]) + 0.1 * random.normal(size=150), X_err


@pytest.fixture(scope="module")
def forest(table):
    X, y, X_err = table
    model = ProbabilisticRandomForestRegressor(6, random_state=0, oob_score=True, warm_start=True, calibrate=True)
    with pytest.warns(UserWarning, match="drawn by every tree"):
        return model.fit(X, y, X_err=X_err, y_err=np.linspace(0.1, 1, 150))


def assert_same(loaded, model, table):
    X, y, X_err = table
    np.testing.assert_array_equal(loaded.predict(X, X_err=X_err), model.predict(X, X_err=X_err))
    one, other = (each.predict_distribution(X, X_err=X_err) for each in (loaded, model))
    for numbers in ("mean", "std", "median"):
        np.testing.assert_array_equal(getattr(one, numbers), getattr(other, numbers))
    np.testing.assert_array_equal(one.crps(y), other.crps(y))
    if model.conformal_ is not None:
        np.testing.assert_array_equal(*(each.interval(0.68, conformal=True) for each in (one, other)))
    for name in ("prior_", "error_scale_", "error_trial_", "target_scatter_"):
        assert getattr(loaded, name) == getattr(model, name)
    assert loaded.get_params() == model.get_params()
    if getattr(model, "noisy_forest_", None) is not None:
        noisy = {"X_err": 3 * np.asarray(X_err)}
        np.testing.assert_array_equal(
            loaded.predict_quantiles(X, 0.3, **noisy), model.predict_quantiles(X, 0.3, **noisy)
        )
        assert loaded.noise_factor(X, **noisy) == model.noise_factor(X, **noisy) > 2


@pytest.mark.filterwarnings("ignore:.*drawn by every tree")
def test_a_forest_comes_back_the_same(forest, table, tmp_path):
    X, y, X_err = table
    save(forest, tmp_path / "z.prf", about={"unit": "none"})
    loaded = load(tmp_path / "z.prf")
    assert_same(loaded, forest, table)
    assert loaded.oob_score_ == forest.oob_score_
    np.testing.assert_array_equal(loaded.oob_prediction_, forest.oob_prediction_)
    about = describe(tmp_path / "z.prf")
    assert (about["kind"], about["classes"], about["n_trees"]) == ("forest regressor", None, 6)
    grown = [
        each.set_params(n_estimators=8).fit(X, y, X_err=X_err, y_err=np.linspace(0.1, 1, 150))
        for each in (loaded, load(tmp_path / "z.prf"))
    ]
    np.testing.assert_array_equal(*(each.predict_quantiles(X, 0.2, X_err=X_err) for each in grown))


@pytest.mark.parametrize("parameters", [{}, {"error_features": True}, {"error_scale": 0.3, "prior": None}])
@pytest.mark.parametrize("kind", [ProbabilisticDecisionTreeRegressor, ProbabilisticRandomForestRegressor])
def test_all_kinds_come_back_the_same(kind, parameters, table, tmp_path):
    X, y, X_err = table
    model = kind(random_state=0, **parameters).fit(X, y, X_err=X_err)
    save(model, tmp_path / "model.prf")
    loaded = load(tmp_path / "model.prf")
    assert type(loaded) is kind
    assert_same(loaded, model, table)


def test_trees_of_several_training_sets_come_back(table, tmp_path):
    X, y, _ = table
    model = ProbabilisticRandomForestRegressor(3, random_state=0, warm_start=True).fit(X[:80], y[:80])
    model.set_params(n_estimators=6).fit(X[50:], y[50:])
    save(model, tmp_path / "model.prf")
    assert_same(load(tmp_path / "model.prf"), model, (X, y, 0.0))


def zero(place):
    def spoil(array):
        array[place] = 0

    return spoil


def put(number):
    def spoil(array):
        array[-1] = number

    return spoil


SPOILERS = {
    "a target too far": ("leaf_places", put(10**6)),
    "a negative place": ("leaf_places", put(-1)),
    "places out of order": ("leaf_places", lambda array: array.__setitem__(slice(None), array[::-1].copy())),
    "a share of nothing": ("leaf_shares", zero(0)),
    "a negative share": ("leaf_shares", put(-0.5)),
    "a share that is no number": ("leaf_shares", put(np.nan)),
    "an empty leaf": ("leaf_sizes", zero(0)),
    "a leaf too large": ("leaf_sizes", put(2**62)),
    "a set that does not exist": ("target_sets", put(3)),
    "a set too large": ("target_set_sizes", put(2**62)),
    "targets out of order": ("target_values", put(-1e9)),
    "an infinite target": ("target_values", put(np.inf)),
    "a mean that is no number": ("nodes_value", put(np.nan)),
    "a calibration that falls": ("calibration", lambda array: array.__setitem__((0, 5), 0.99)),
    "a calibration that does not end": ("calibration", put(np.nan)),
    "bins of errors out of order": ("usual_edges", lambda array: array.__setitem__((0, 0), 1e9)),
    "a usual error that is no number": ("usual_sizes", put(np.inf)),
    "shares of errors that are too large": ("usual_shares", put(2.0)),
    "scatter of a feature that does not exist": ("scatter_features", put(3)),
    "bins of scatter out of order": ("scatter_edges", lambda array: array.__setitem__((0, 0), 1e9)),
    "a usual scatter that is no number": ("scatter_slopes", put(np.nan)),
    "a deviation of nothing": ("scatter_deviation", zero(0)),
    "shares of scatter that are too large": ("scatter_shares", put(2.0)),
    "noise without growth": ("scatter_growth", lambda array: array.__setitem__((0, 0), 1e9)),
    "a spoiled forest for noisy tables": ("noisy_leaf_shares", put(-0.5)),
    "a margin that is no number": ("conformal", put(np.nan)),
    "a margin of minus infinity": ("conformal", put(-np.inf)),
    "a scale of margins of nothing": ("conformal", zero(0)),
    "an infinite prediction": ("oob_prediction", put(np.inf)),
}


SPOILED_SLOPES = {
    "scales that are no numbers": ("slope_scales", lambda array: array.__setitem__((0, 0), np.nan)),
    "a width of nothing": ("slope_scales", lambda array: array.__setitem__((1, 0), 0.0)),
    "a tree without slopes": ("slope_counts", zero(0)),
    "more slopes than there are": ("slope_counts", put(2**62)),
    "a slope that is no number": ("slope_values", put(np.nan)),
    "an infinite mean": ("leaf_means", put(np.inf)),
    "slopes that do not exist": ("leaf_slopes", put(10**6)),
    "a negative number of slopes": ("leaf_slopes", put(-1)),
}


@pytest.mark.parametrize("name", SPOILERS)
def test_spoiled_files_are_refused(name, forest, tmp_path):
    assert_refused(forest, *SPOILERS[name], tmp_path / "model.prf")


@pytest.mark.parametrize("name", SPOILED_SLOPES)
def test_spoiled_slopes_are_refused(name, table, tmp_path):
    X, y, X_err = table
    model = ProbabilisticRandomForestRegressor(3, random_state=0, error_scale=0.1, slopes=True).fit(X, y, X_err=X_err)
    assert_refused(model, *SPOILED_SLOPES[name], tmp_path / "model.prf")


def assert_refused(model, array, spoil, path):
    save(model, path)
    document, arrays = read_file(path)
    arrays = {key: each.copy() for key, each in arrays.items()}
    spoil(arrays[array])
    write_file(path, document, arrays)
    with pytest.raises(ModelFileError, match="no model that probforest can use"):
        load(path)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("error_trial", [{"empirical": 1.0}, "none", 5]),
        ("error_trial", [{"magic": 1.0}, "magic", 5]),
        ("error_trial", 3),
        ("target_scatter", -1.0),
        ("error_scale", -1.0),
        ("usual_errors", [0.0, -1.0]),
        ("usual_errors", [0.0]),
        ("noisy_forest", None),
        ("noisy_forest", {"kind": "forest"}),
        ("kind", "tree regressor"),
        ("kind", "forest"),
    ],
)
def test_spoiled_documents_are_refused(key, value, forest, tmp_path):
    path = tmp_path / "model.prf"
    save(forest, path)
    document, arrays = read_file(path)
    write_file(path, document | {key: value}, arrays)
    with pytest.raises(ModelFileError, match="no model that probforest can use"):
        load(path)
