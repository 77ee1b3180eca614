"""A table in pieces gives the forest of the whole table, bit for bit."""

import errno
import os
import resource

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from pieces import Cut, fit_pieces, same_trees
from probforest import (
    ProbabilisticGradientBoostingClassifier,
    ProbabilisticRandomForestClassifier,
    ProbabilisticRandomForestRegressor,
)
from probforest.estimators.in_pieces import fit_in_pieces, sampled_rows
from probforest.estimators.local_passes import LocalPasses
from probforest.estimators.table_pieces import TablePiece
from problems import random_problem

N = 600
PROBLEM = random_problem(5, n=N, d=4, k=3, missing=0.05)
X, X_ERR, Y = PROBLEM.values, PROBLEM.errors, np.array(["ant", "bee", "cow"])[PROBLEM.pmf.argmax(axis=1)]
RANDOM = np.random.default_rng(0)
WEIGHT = np.where(np.arange(N) % 7 == 0, 0.0, RANDOM.uniform(0.5, 2.0, N))
SURE = RANDOM.uniform(0.5, 1.0, N)
LIMIT = (RANDOM.random(X.shape) < 0.05).astype(float)
NUMBER = np.nan_to_num(X[:, 0]) * 3 + 1000 + RANDOM.normal(0, 0.1, N)
CLASSIFIER = ProbabilisticRandomForestClassifier(3, random_state=3, prior="empirical")
REGRESSOR = ProbabilisticRandomForestRegressor(3, random_state=3, prior="empirical", error_scale=1.0)

CASES = {
    "errors": (CLASSIFIER, {}, {"X_err": X_ERR}),
    "auto": (CLASSIFIER, {"prior": "auto"}, {"X_err": X_ERR}),
    "joint": (CLASSIFIER, {"prior": "joint"}, {"X_err": X_ERR}),
    "balanced": (CLASSIFIER, {"class_weight": "balanced"}, {"X_err": X_ERR, "sample_weight": WEIGHT}),
    "per tree": (
        CLASSIFIER,
        {"class_weight": "balanced_subsample", "min_samples_leaf": 0.01},
        {"X_err": X_ERR, "sample_weight": WEIGHT},
    ),
    "doubtful": (
        CLASSIFIER,
        {"class_weight": "balanced"},
        {"X_err": X_ERR, "y_proba": SURE, "sample_weight": WEIGHT},
    ),
    "PMFs": (CLASSIFIER, {}, {"y_proba": random_problem(5, n=N, d=4, k=3, missing=0.05, soft=True).pmf}),
    "limits": (CLASSIFIER, {}, {"X_err": X_ERR, "X_limit": LIMIT}),
    "two sides": (CLASSIFIER, {"prior": None, "max_samples": 0.3}, {"X_err": (X_ERR, 2 * X_ERR)}),
    "exact": (CLASSIFIER, {"bootstrap": False}, {}),
    "error features": (CLASSIFIER, {"error_features": True}, {"X_err": X_ERR}),
    "samples": (CLASSIFIER, {}, {"X_samples": X[:, :, None] + X_ERR[:, :, None] * RANDOM.normal(size=(N, 4, 5))}),
    "numbers": (REGRESSOR, {"max_samples": 0.5}, {"X_err": X_ERR, "sample_weight": WEIGHT}),
    "slopes": (REGRESSOR, {"slopes": True}, {"X_err": X_ERR, "sample_weight": WEIGHT}),
    "numbers with errors": (REGRESSOR, {}, {"X_err": X_ERR, "y_err": RANDOM.gamma(1.0, 0.3, N)}),
}


def problem(name):
    """A new model, the table, and the arguments of `predict`."""
    model, parameters, arguments = CASES[name]
    y = NUMBER if model is REGRESSOR else Y
    asked = {word: value for word, value in arguments.items() if word.startswith("X_")}
    return clone(model).set_params(**parameters), TablePiece(X=X, y=y, **arguments), asked


def fit(model, table, **more):
    arguments = {word: value for word, value in table._asdict().items() if value is not None}
    return clone(model).fit(**arguments, **more)


@pytest.mark.parametrize("name", CASES)
def test_a_table_as_small_as_the_sample_gives_the_forest_of_fit(name):
    model, table, asked = problem(name)
    in_memory, in_pieces = fit(model, table), fit_pieces(clone(model), table, 5)
    assert same_trees(in_memory, in_pieces)
    answers = [
        each.predict_proba(X, **asked) if model.__class__ is CLASSIFIER.__class__ else each.predict(X, **asked)
        for each in (in_memory, in_pieces)
    ]
    assert_array_equal(*answers)


@pytest.mark.parametrize("name", CASES)
def test_a_larger_table_gives_the_forest_of_fit_with_the_same_features(name):
    model, table, _ = problem(name)
    one, seven = (fit_pieces(clone(model), table, n_pieces, n_sample=200) for n_pieces in (1, 7))
    assert same_trees(one, seven)
    if name != "numbers with errors":  # what these count is learnt from the sample
        assert same_trees(one, fit(model, table, feature_model=one))


def test_what_is_learnt_after_the_trees_is_learnt_from_the_sample():
    model, table, _ = problem("doubtful")
    model.set_params(oob_score=True, n_estimators=30)
    in_memory, in_pieces = fit(model, table), fit_pieces(clone(model), table, 4)
    assert_array_equal(in_memory.oob_decision_function_, in_pieces.oob_decision_function_)
    assert in_memory.oob_score_ == in_pieces.oob_score_
    assert in_memory.label_truth_.softness == in_pieces.label_truth_.softness
    larger = fit_pieces(clone(model), table, 4, n_sample=300)
    assert larger.oob_decision_function_.shape == (300, 3)
    assert larger.oob_score_ == pytest.approx(in_memory.oob_score_, abs=0.1)


def test_calibrated_numbers():
    model, table, asked = problem("numbers")
    model.set_params(calibrate=True, n_estimators=12)
    in_memory, in_pieces = fit(model, table), fit_pieces(clone(model), table, 4)
    assert_array_equal(in_memory.calibration_, in_pieces.calibration_)
    assert_array_equal(in_memory.predict_quantiles(X, **asked), in_pieces.predict_quantiles(X, **asked))


def test_errors_that_all_objects_share():
    """Also if a piece has as many rows as there are features."""
    for errors in (0.3, np.array([0.1, 0.2, 0.3, 0.4])):
        table = TablePiece(X=X, y=Y, X_err=errors)
        in_pieces = fit_pieces(clone(CLASSIFIER), table, 150)
        assert same_trees(in_pieces, fit(CLASSIFIER, table))


def test_a_class_that_only_one_piece_has():
    rare = np.where(np.arange(N) == 590, "dog", Y)
    table = TablePiece(X=X, y=rare, X_err=X_ERR)
    forest = fit_pieces(clone(CLASSIFIER), table, 5, n_sample=100)
    assert forest.classes_.tolist() == ["ant", "bee", "cow", "dog"]
    assert same_trees(forest, fit(CLASSIFIER, table, feature_model=forest))


def test_the_sample_does_not_depend_on_the_cuts():
    whole = sampled_rows([1000], 50)[0]
    parts = sampled_rows([0, 300, 0, 650, 50], 50)
    starts = [0, 0, 300, 300, 950]
    assert_array_equal(np.concatenate([part + start for part, start in zip(parts, starts, strict=True)]), whole)
    assert len(np.unique(whole)) == 50
    with pytest.raises(ValueError, match="no rows"):
        sampled_rows([0, 0], 10)


def test_trees_draw_no_more_than_fits():
    _, table, _ = problem("errors")
    forest = fit_pieces(clone(CLASSIFIER), table, 3, most_draws=100)
    assert {draw.n_draws for draw in forest.draws_} == {100}
    assert {draw.n_objects for draw in forest.draws_} == {N}
    for parameters in ({"max_samples": 200}, {"bootstrap": False}):
        with pytest.raises(ValueError, match="100 fit into the memory"):
            fit_pieces(clone(CLASSIFIER).set_params(**parameters), table, 3, most_draws=100)


def test_files_are_removed(tmp_path):
    _, table, _ = problem("errors")
    fit_pieces(clone(CLASSIFIER), table, 3, tmp_path)
    assert list(tmp_path.iterdir()) == []
    bad = table._replace(X_err=np.where(np.arange(N)[:, None] == 590, -1.0, X_ERR))
    with pytest.raises(ValueError, match=r"piece 2: X_err is -1.0 at row"):
        fit_pieces(clone(CLASSIFIER), bad, 3, tmp_path, n_sample=100)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_a_clear_error(tmp_path):
    """A limit on the size of files stands for it."""
    _, table, _ = problem("errors")
    model = fit(CLASSIFIER, table)
    before = model.trees_
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
    try:
        with pytest.raises(OSError, match="No space left for the codes") as problem_found:
            fit_pieces(model, table, 3, tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert problem_found.value.errno in (errno.ENOSPC, errno.EFBIG)
    assert os.listdir(tmp_path) == []
    assert model.trees_ is before


def test_what_is_refused():
    _, table, _ = problem("errors")
    with pytest.raises(TypeError, match="Only random forests"):
        fit_pieces(ProbabilisticGradientBoostingClassifier(), table, 2)
    with pytest.raises(ValueError, match="warm_start"):
        fit_pieces(clone(CLASSIFIER).set_params(warm_start=True), table, 2)


def test_labels_of_different_types():
    class Mixed(Cut):
        def pieces(self, *, targets_only=False):
            first, second = super().pieces(targets_only=targets_only)
            yield first._replace(y=np.arange(first.n_rows) % 2)
            yield second

    _, table, _ = problem("errors")
    with (
        LocalPasses(Mixed(table, 2)) as passes,
        pytest.raises(
            ValueError, match=r"y has numbers in piece 0 \(such as 0\), but text in piece 1 \(such as 'ant'\)"
        ),
    ):
        fit_in_pieces(clone(CLASSIFIER), passes)
