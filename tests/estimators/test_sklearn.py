"""The estimators behave as scikit-learn's own do: its checks, its tools, its metadata routing."""

import pickle
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from probforest import (
    ProbabilisticDecisionTreeClassifier,
    ProbabilisticDecisionTreeRegressor,
    ProbabilisticGradientBoostingClassifier,
    ProbabilisticGradientBoostingRegressor,
    ProbabilisticRandomForestClassifier,
    ProbabilisticRandomForestRegressor,
)

FOREST = ProbabilisticRandomForestClassifier(n_estimators=10, random_state=0)
TREE = ProbabilisticDecisionTreeClassifier()
BOOSTING = ProbabilisticGradientBoostingClassifier(max_iter=10, min_samples_leaf=5, random_state=0)


def expected_failures(estimator):
    """Of the failures that scikit-learn declares for its own forest, the one that ours shares: a bootstrap draws other
    rows when a row is given twice than when it weighs twice, and so does early stopping. The tree, and the forest
    without bootstrap, have none."""
    if getattr(estimator, "bootstrap", False) or getattr(estimator, "early_stopping", False) is True:
        return {"check_sample_weight_equivalence_on_dense_data": "the draws depend on the number of rows"}
    return {}


@pytest.mark.filterwarnings("ignore:No split of the training set")  # a few objects whose targets are alike
@parametrize_with_checks(
    [
        TREE,
        ProbabilisticDecisionTreeClassifier(criterion="entropy", missing="learned", keep_proba=0.0),
        FOREST,
        ProbabilisticRandomForestClassifier(n_estimators=10, voting="majority", missing="equal", bootstrap=False),
        ProbabilisticDecisionTreeRegressor(),
        ProbabilisticRandomForestRegressor(n_estimators=10, random_state=0),
        BOOSTING,
        ProbabilisticGradientBoostingClassifier(max_iter=5, early_stopping=True, max_features=0.5, random_state=0),
        ProbabilisticGradientBoostingRegressor(max_iter=10, min_samples_leaf=5, random_state=0),
        ProbabilisticGradientBoostingRegressor("absolute_error", max_iter=30, min_samples_leaf=5, random_state=0),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def cancer():
    table, y = load_breast_cancer(return_X_y=True)
    return table[:, :10], table[:, 10:20], y


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.parametrize("model", [TREE, FOREST, BOOSTING], ids=["tree", "forest", "boosting"])
def test_clone_has_the_parameters_and_not_the_fit(model, cancer):
    X, X_err, y = cancer
    fitted = clone(model).fit(X, y, X_err=X_err)
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert not hasattr(copy, "classes_")


@pytest.mark.parametrize("model", [TREE, FOREST, BOOSTING], ids=["tree", "forest", "boosting"])
@pytest.mark.parametrize("way", ["pickle", "joblib", "joblib_mmap"])
def test_saved_models_answer_the_same_bits(model, way, cancer, tmp_path):
    X, X_err, y = cancer
    fitted = clone(model).fit(X, y, X_err=X_err)
    if way == "pickle":
        loaded = pickle.loads(pickle.dumps(fitted))
    else:
        joblib.dump(fitted, tmp_path / "model")
        loaded = joblib.load(tmp_path / "model", mmap_mode="r" if way == "joblib_mmap" else None)
    np.testing.assert_array_equal(loaded.predict_proba(X, X_err=X_err), fitted.predict_proba(X, X_err=X_err))


def test_cross_validate_routes_errors(cancer, routing):
    X, X_err, y = cancer
    forest = clone(FOREST).set_fit_request(X_err=True).set_score_request(X_err=True)
    result = cross_validate(forest, X, y, params={"X_err": X_err}, cv=3, error_score="raise", return_estimator=True)
    assert result["test_score"].min() > 0.88
    assert all(model.fitted_with_errors_ for model in result["estimator"])


def test_grid_search_routes_errors_label_probabilities_and_weights(cancer, routing):
    X, X_err, y = cancer
    forest = clone(FOREST).set_fit_request(X_err=True, y_proba=True, sample_weight=True)
    forest.set_score_request(X_err=True, sample_weight=True)
    search = GridSearchCV(forest, {"keep_proba": [0.05, 1.0]}, cv=3, error_score="raise")
    search.fit(X, y, X_err=X_err, y_proba=np.full(len(y), 0.9), sample_weight=np.ones(len(y)))
    assert search.best_score_ > 0.88
    assert search.best_estimator_.fitted_with_errors_


def test_pipeline_routes_errors(cancer, routing):
    X, X_err, y = cancer
    forest = clone(FOREST).set_fit_request(X_err=True).set_predict_request(X_err=True)
    pipeline = make_pipeline(FunctionTransformer(np.log1p), forest)
    relative = X_err / (1 + X)
    pipeline.fit(X, y, X_err=relative)
    assert (pipeline.predict(X, X_err=relative) == y).mean() > 0.9


def test_calibration_with_errors_in_training(cancer, routing):
    X, X_err, y = cancer
    forest = clone(FOREST).set_fit_request(X_err=True)
    calibrated = CalibratedClassifierCV(forest, cv=3)
    with pytest.warns(UserWarning, match="X_err is not given"):
        proba = calibrated.fit(X, y, X_err=X_err).predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert (proba.argmax(axis=1) == y).mean() > 0.9


def test_permutation_importance_without_errors(cancer):
    X, _, y = cancer
    forest = clone(FOREST).fit(X, y)
    assert permutation_importance(forest, X, y, n_repeats=2, random_state=0).importances_mean.max() > 0


def test_data_frames_and_their_names(cancer):
    X, X_err, y = cancer
    names = [f"f{j}" for j in range(10)]
    frame, errors = pd.DataFrame(X, columns=names), pd.DataFrame(X_err, columns=[f"e_{name}" for name in names])
    forest = clone(FOREST).fit(frame, pd.Series(y), X_err=errors)
    assert forest.feature_names_in_.tolist() == names
    expected = clone(FOREST).fit(X, y, X_err=X_err).predict_proba(X, X_err=X_err)
    np.testing.assert_array_equal(forest.predict_proba(frame, X_err=errors), expected)
    with pytest.raises(ValueError, match="feature names"):
        forest.predict(frame[names[::-1]], X_err=errors)
    with pytest.raises(ValueError, match="in fit it had"):
        forest.predict(frame, X_err=pd.DataFrame(X_err, columns=names)[names[::-1]])


def test_class_probabilities_from_a_data_frame(cancer):
    X, X_err, y = cancer
    pmf = pd.DataFrame({"malignant": 1.0 - y, "benign": y * 1.0})
    forest = clone(FOREST).fit(X, X_err=X_err, y_proba=pmf)
    assert forest.classes_.tolist() == ["benign", "malignant"]
    names = np.array(["malignant", "benign"])[y]
    expected = clone(FOREST).fit(X, names, X_err=X_err)
    np.testing.assert_array_equal(forest.predict_proba(X, X_err=0), expected.predict_proba(X, X_err=0))


@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba", "apply", "leaf_proba"])
@pytest.mark.parametrize("model", [TREE, FOREST, BOOSTING], ids=["tree", "forest", "boosting"])
def test_a_model_with_errors_warns_once_per_call_when_asked_without(model, method, cancer):
    X, X_err, y = cancer
    fitted = clone(model).fit(X, y, X_err=X_err)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        getattr(fitted, method)(X)
    assert len(caught) == 1
    assert caught[0].filename == __file__  # points at the caller's line
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        getattr(fitted, method)(X, X_err=X_err)
        getattr(fitted, method)(X, X_err=0)
        getattr(clone(model).fit(X, y), method)(X)  # nothing to warn about


def test_score_warns_at_the_callers_line(cancer):
    X, X_err, y = cancer
    fitted = clone(FOREST).fit(X, y, X_err=X_err)
    with pytest.warns(UserWarning, match="X_err is not given") as caught:
        fitted.score(X, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__
