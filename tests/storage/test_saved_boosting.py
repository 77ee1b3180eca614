"""Boosted regressors as files: the same answers, and files that are refused."""

import numpy as np
import pytest

from probforest import ModelFileError, ProbabilisticGradientBoostingRegressor, describe, load, save
from probforest.storage.model_file import read_file, write_file

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(150, 3))
X_ERR = RANDOM.gamma(2, 0.1, X.shape)
Y = np.exp(X[:, 0] + 0.1 * RANDOM.normal(size=150))
MODELS = {
    "squared error": {"early_stopping": True, "scoring": "r2"},
    "quantile": {"loss": "quantile", "quantile": 0.3, "monotonic_cst": [1, 0, -1]},
    "poisson": {"loss": "poisson", "error_features": True},
    "huber": {"loss": "huber", "quantile": 0.8},
}


def fitted(**options):
    model = ProbabilisticGradientBoostingRegressor(max_iter=6, random_state=np.random.RandomState(3), **options)
    return model.fit(X, Y, X_err=X_ERR)


@pytest.mark.parametrize("name", MODELS)
def test_a_model_comes_back_the_same(name, tmp_path):
    model = fitted(warm_start=True, **MODELS[name])
    save(model, tmp_path / "z.prf")
    loaded = load(tmp_path / "z.prf")
    np.testing.assert_array_equal(loaded.predict(X, X_err=X_ERR), model.predict(X, X_err=X_ERR))
    same = "prior_", "error_scale_", "error_trial_", "target_scatter_", "seed_", "n_iter_", "loss_", "delta_"
    for attribute in (*same, "loss_trial_"):
        assert getattr(loaded, attribute) == getattr(model, attribute)
    for attribute in ("train_score_", "validation_score_", "baseline_", "feature_importances_"):
        np.testing.assert_array_equal(getattr(loaded, attribute), getattr(model, attribute))
    about = describe(tmp_path / "z.prf")
    assert (about["kind"], about["classes"], about["n_trees"]) == ("boosting regressor", None, model.n_iter_)
    grown = [each.set_params(max_iter=9).fit(X, Y, X_err=X_ERR) for each in (model, loaded)]
    np.testing.assert_array_equal(*(each.predict(X, X_err=X_ERR) for each in grown))


def test_a_function_can_not_be_saved(tmp_path):
    model = fitted(early_stopping=True, scoring=lambda model, X, y: -np.abs(model.predict(X) - y).max())
    with pytest.raises(ValueError, match="The parameter scoring is a function"):
        save(model, tmp_path / "z.prf")


def _put(name, place, value):
    def edit(document, arrays):
        arrays[name] = arrays[name].copy()
        arrays[name][place] = value

    return edit


def _without(name):
    return lambda document, arrays: arrays.pop(name)


def _tell(key, value):
    return lambda document, arrays: document.update({key: value})


@pytest.mark.parametrize(
    "edit",
    [
        _put("baseline", 0, np.nan),
        _put("nodes_value", (0, 0), np.inf),
        _put("nodes_links", (0, 0), 9),
        _without("train_score"),
        _tell("seed", 0),
        _tell("seed", "1"),
        _tell("kind", "forest regressor"),
        _tell("kind", "boosting"),
        lambda document, arrays: document["parameters"].update(monotonic_cst=[3, 0, 0]),
        lambda document, arrays: document["parameters"].update(loss="hubert"),
        _tell("loss", "auto"),
        lambda document, arrays: document.update(loss="huber", delta=None),
        lambda document, arrays: document.update(loss="huber", delta=0.0),
        lambda document, arrays: document.update(loss="squared_error", delta=1.0),
        lambda document, arrays: document["loss_trial"].update(squared_error=None),
        lambda document, arrays: document["loss_trial"].update(another=1),
    ],
)
def test_crafted_files_are_refused(edit, tmp_path):
    save(fitted(), tmp_path / "z.prf")
    document, arrays = read_file(tmp_path / "z.prf")
    edit(document, arrays)
    write_file(tmp_path / "z.prf", document, arrays)
    with pytest.raises(ModelFileError):
        load(tmp_path / "z.prf")
