"""The joint prior in model files, right and wrong ones."""

import numpy as np
import pytest

from probforest import ProbabilisticDecisionTreeClassifier, ProbabilisticRandomForestClassifier
from probforest.storage.model_file import ModelFileError, read_file, write_file
from probforest.storage.models import load, save

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(400, 1)) + 0.3 * RANDOM.normal(size=(400, 3))
X[::9, 1] = np.nan
Y, X_ERR = np.arange(400) % 2, RANDOM.gamma(1, 0.5, (400, 3))


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "forest.prf"
    save(ProbabilisticRandomForestClassifier(3, random_state=0, prior="joint").fit(X, Y, X_err=X_ERR), path)
    return path


@pytest.mark.parametrize("kind", [ProbabilisticRandomForestClassifier, ProbabilisticDecisionTreeClassifier])
def test_a_loaded_model_gives_the_same_answers(kind, tmp_path):
    options = {} if kind is ProbabilisticDecisionTreeClassifier else {"n_estimators": 3}
    model = kind(random_state=0, prior="joint", **options).fit(X, Y, X_err=X_ERR)
    assert len(model.feature_model_.joint_prior.groups) == 1
    save(model, tmp_path / "model.prf")
    loaded = load(tmp_path / "model.prf")
    assert loaded.prior_ == "joint"
    np.testing.assert_array_equal(loaded.predict_proba(X, X_err=X_ERR), model.predict_proba(X, X_err=X_ERR))


def test_a_joint_prior_that_found_nothing_is_saved_too(tmp_path):
    model = ProbabilisticRandomForestClassifier(3, random_state=0, prior="joint").fit(X[:9], Y[:9], X_err=X_ERR[:9])
    assert model.feature_model_.joint_prior.groups == ()
    save(model, tmp_path / "model.prf")
    np.testing.assert_array_equal(
        load(tmp_path / "model.prf").predict_proba(X, X_err=X_ERR), model.predict_proba(X, X_err=X_ERR)
    )


def put(name, place, value):
    return lambda document, arrays: arrays[name].__setitem__(place, value)


def shorten(name):
    return lambda document, arrays: arrays.update({name: arrays[name][:-1].copy()})


def tell(key, value):
    return lambda document, arrays: document["joint_prior"].update({key: value})


@pytest.mark.parametrize(
    "change",
    {
        "not positive definite": put("joint_covariances", 0, -1.0),
        "not symmetric": put("joint_covariances", 1, 0.123),
        "a covariance that is none": put("joint_covariances", 0, np.nan),
        "an endless mean": put("joint_means", 0, np.inf),
        "a share of nothing": put("joint_shares", 0, 0.0),
        "shares that are too many": put("joint_shares", 0, 2.0),
        "a feature that is not there": put("joint_features", 2, 3),
        "a feature below the first": put("joint_features", 0, -1),
        "a feature twice": put("joint_features", 0, 1),
        "too few means": shorten("joint_means"),
        "too few covariances": shorten("joint_covariances"),
        "no shares": lambda document, arrays: arrays.pop("joint_shares"),
        "a group of nothing": tell("groups", [[0, 3]]),
        "groups that are no pairs": tell("groups", [[1]]),
        "groups that are text": tell("groups", "many"),
        "too few rules for holes": tell("completed", [True]),
        "rules that are numbers": tell("completed", [1, 1, 1]),
        "something else": lambda document, arrays: document.update({"joint_prior": 3}),
    }.items(),
    ids=lambda change: change[0],
)
def test_crafted_files_are_refused(saved, tmp_path, change):
    document, arrays = read_file(saved)
    change[1](document, arrays)
    write_file(tmp_path / "crafted.prf", document, arrays)
    with pytest.raises(ModelFileError):
        load(tmp_path / "crafted.prf")
