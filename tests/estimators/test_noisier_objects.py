"""Objects that are measured much worse than the training set have the joint prior, whatever others have."""

from dataclasses import replace

import numpy as np
import pytest

from probforest import (
    ProbabilisticGradientBoostingClassifier,
    ProbabilisticRandomForestClassifier,
)
from probforest.features.measurements import read_measurements
from probforest.features.noisier_objects import MUCH_WORSE, measured_worse
from probforest.storage.model_file import ModelFileError, read_file, write_file
from probforest.storage.models import load, save
from probforest.trees.prior_trial import PriorTrial

MODELS = [
    ProbabilisticRandomForestClassifier(20, random_state=0),
    ProbabilisticGradientBoostingClassifier(max_iter=20, random_state=0),
]


def well_measured(seed, n, noise=0.0):
    """Features that are one hidden number, with tiny errors; or with noise of so many times their scatter."""
    random = np.random.default_rng(seed)
    hidden = random.normal(size=(n, 1))
    X, X_err = hidden + 0.2 * random.normal(size=(n, 5)), random.gamma(9, 0.002, (n, 5))
    added = noise * random.uniform(0.5, 1.0, X.shape)
    return X + added * random.normal(size=X.shape), np.hypot(X_err, added), (np.abs(hidden[:, 0]) < 0.6).astype(int)


X, X_ERR, Y = well_measured(0, 600)
X_TEST, X_ERR_TEST, Y_TEST = well_measured(1, 400)
X_BAD, X_ERR_BAD, Y_BAD = well_measured(2, 1500, noise=1.0)


@pytest.fixture(scope="module", params=MODELS, ids=lambda model: type(model).__name__)
def model(request):
    with pytest.MonkeyPatch.context() as patch:  # all priors are alike for objects like these: chance would decide
        patch.setattr(PriorTrial, "choice_if", lambda trial, significant: "empirical")
        return request.param.fit(X, Y, X_err=X_ERR)


def without(model):
    """The same model, for which all objects are alike."""
    plain = type(model)(**model.get_params())
    vars(plain).update(vars(model))
    plain.feature_model_ = replace(model.feature_model_, noisier=None)
    return plain


def test_worse_objects_are_those_with_much_larger_errors_in_the_geometric_mean():
    usual = np.array([1.0, 2.0, 4.0])
    worse, little = 1.01 * MUCH_WORSE * usual, 0.99 * MUCH_WORSE * usual
    one = np.array([1.01 * MUCH_WORSE**3, 0.0, 2.0])  # errors below the usual ones count as these
    errors = np.array([worse, little, one, 0.98 * one, usual, [np.nan] * 3])
    table = read_measurements(np.zeros(errors.shape), errors)
    assert measured_worse(table, usual).tolist() == [True, False, True, False, False, False]
    # Features without a usual error, or without a value, do not count.
    assert measured_worse(table, np.array([np.nan, 2.0, 4.0])).tolist() == [True, False, False, False, False, False]
    holes = read_measurements(np.array([[0.0, np.nan, np.nan]]), worse[None])
    assert measured_worse(holes, usual).tolist() == [True]
    both_sides = read_measurements(np.zeros((1, 3)), (worse[None], 1.1 * worse[None]))
    assert measured_worse(both_sides, np.array([usual, usual])).tolist() == [True]


def test_objects_like_those_of_the_training_set_are_not_touched(model):
    """Their cells have two sides now, and so another table of F."""
    found = model.predict_proba(X_TEST, X_err=X_ERR_TEST)
    np.testing.assert_allclose(found, without(model).predict_proba(X_TEST, X_err=X_ERR_TEST), atol=1e-5)


@pytest.mark.filterwarnings("ignore:The errors of this table are not like those")
def test_worse_objects_are_answered_better(model):
    plain = without(model).score(X_BAD, Y_BAD, X_err=X_ERR_BAD)
    assert model.score(X_BAD, Y_BAD, X_err=X_ERR_BAD) > plain + 0.03


@pytest.mark.filterwarnings("ignore:The errors of this table are not like those")
def test_an_object_has_the_same_answer_alone_and_with_others(model):
    mixed, errors = np.vstack([X_TEST[:20], X_BAD[:20]]), np.vstack([X_ERR_TEST[:20], X_ERR_BAD[:20]])
    together = model.predict_proba(mixed, X_err=errors)
    for i in (0, 7, 20, 33):
        alone = model.predict_proba(mixed[[i]], X_err=errors[[i]])
        np.testing.assert_array_equal(alone[0], together[i])
    np.testing.assert_array_equal(model.predict_proba(X_TEST[:20], X_err=X_ERR_TEST[:20]), together[:20])


def test_objects_that_trees_are_grown_on_are_not_touched(model):
    """Neither in a fit nor in pieces of a table: others are compared with them."""
    features = model.feature_model_
    table = model._read_table((X_BAD, X_ERR_BAD, None, None), features.layout)
    assert measured_worse(features.read(table), features.median_errors).all()
    options = {"unknown_error": "median", "max_bins": 255}
    weight = np.ones(len(X_BAD))
    found = features.prepare(table, weight, features.shared_bins, **options)
    plain = replace(features, noisier=None).prepare(table, weight, features.shared_bins, **options)
    np.testing.assert_array_equal(found.cells.values, plain.cells.values)
    asked = features.apply(features.read(table), unknown_error="median")
    assert (asked.values[:, :, 0] != plain.cells.values[:, :, 0]).any()


@pytest.mark.parametrize("prior", [None, "empirical", "normal"])
def test_a_prior_that_was_asked_for_is_used_for_all_objects(prior):
    forest = ProbabilisticRandomForestClassifier(2, prior=prior, random_state=0).fit(X, Y, X_err=X_ERR)
    assert forest.feature_model_.noisier is None


def test_nothing_is_learnt_without_errors_or_relations():
    forest = ProbabilisticRandomForestClassifier(2, random_state=0)
    assert forest.fit(X, Y).feature_model_.noisier is None
    assert forest.fit(X[:, :1], Y, X_err=X_ERR[:, :1]).feature_model_.noisier is None


@pytest.mark.filterwarnings("ignore:The errors of this table are not like those")
def test_saved_models_know_it_and_crafted_ones_are_refused(model, tmp_path):
    save(model, tmp_path / "model.prf")
    loaded = load(tmp_path / "model.prf")
    expected = model.predict_proba(X_BAD, X_err=X_ERR_BAD)
    np.testing.assert_array_equal(loaded.predict_proba(X_BAD, X_err=X_ERR_BAD), expected)
    for change in (
        lambda document, arrays: arrays["noisier_joint_covariances"].__setitem__(0, -1.0),
        lambda document, arrays: arrays["noisier_prior_mass"].__setitem__(0, 2.0),
        lambda document, arrays: arrays.pop("noisier_joint_means"),
        lambda document, arrays: document["noisier"].update({"joint_prior": None}),
        lambda document, arrays: document.update({"noisier": [1]}),
    ):
        document, arrays = read_file(tmp_path / "model.prf")
        change(document, arrays)
        write_file(tmp_path / "crafted.prf", document, arrays)
        with pytest.raises(ModelFileError):
            load(tmp_path / "crafted.prf")
