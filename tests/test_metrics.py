"""The metrics are expectations over the true label; the scorers ask the model with its errors, fold by fold."""

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import accuracy_score, brier_score_loss, f1_score, log_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from probforest import ProbabilisticRandomForestClassifier
from probforest.metrics import get_scorer, make_scorer, pmf_brier_score, pmf_log_loss

METRICS = [pmf_log_loss, pmf_brier_score]
FOREST = ProbabilisticRandomForestClassifier(n_estimators=5, max_depth=4, random_state=0)
CLASSES = ["a", "b", "c"]


@pytest.fixture(scope="module")
def pmfs():
    rng = np.random.default_rng(0)
    return rng.dirichlet(np.ones(3), 20), rng.dirichlet(np.ones(3), 20), rng.uniform(0.1, 2, 20)


@pytest.fixture(scope="module")
def cancer():
    table, y = load_breast_cancer(return_X_y=True)
    return table[::2, :5], 3 * table[::2, 10:15], y[::2]


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


class Recorder(ClassifierMixin, BaseEstimator):
    """Answers with fixed probabilities and notes what it is asked with."""

    def __init__(self, classes=(0, 1)):
        self.classes = classes

    def fit(self, X, y, X_err=None, X_limit=None, X_samples=None):
        self.classes_, self.fitted_with_, self.asked_with_ = np.array(self.classes), X_samples, []
        return self

    def predict_proba(self, X, **errors):
        self.asked_with_.append(errors)
        return np.random.default_rng(0).dirichlet(np.ones(len(self.classes)), len(X))

    def predict(self, X, **errors):
        return self.classes_[self.predict_proba(X, **errors).argmax(axis=1)]


def one_hot(index, n_classes=3):
    return np.eye(n_classes)[index]


# The metrics


def test_log_loss_of_hard_labels_is_that_of_scikit_learn(pmfs):
    _, predicted, weight = pmfs
    y = np.arange(20) % 3
    expected = log_loss(y, predicted, sample_weight=weight)
    assert pmf_log_loss(y, predicted, classes=[0, 1, 2], sample_weight=weight) == pytest.approx(expected, rel=1e-12)
    assert pmf_log_loss(one_hot(y), predicted, sample_weight=weight) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_predictions_of_zero_are_clipped_as_in_scikit_learn(dtype):
    predicted = np.array([[1, 0], [0, 1], [0.5, 0.5]], dtype=dtype)
    expected = log_loss([1, 1, 0], predicted)
    assert pmf_log_loss([1, 1, 0], predicted, classes=[0, 1]) == pytest.approx(expected, rel=1e-6)


def test_brier_score_of_hard_labels_is_the_sum_over_the_classes(pmfs):
    _, predicted, weight = pmfs
    y = np.arange(20) % 3
    expected = sum(brier_score_loss(y == c, predicted[:, c], sample_weight=weight) for c in range(3))
    assert pmf_brier_score(y, predicted, classes=[0, 1, 2], sample_weight=weight) == pytest.approx(expected, rel=1e-12)
    twice = 2 * brier_score_loss(y == 1, predicted[:, 1])
    assert pmf_brier_score(y == 1, predicted[:, 1], classes=[False, True]) == pytest.approx(twice, rel=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_the_score_is_the_expectation_over_the_true_label(metric, pmfs):
    truth, predicted, _ = pmfs
    of_class = np.array([[metric(one_hot([c]), q[None]) for c in range(3)] for q in predicted])
    assert metric(truth, predicted) == pytest.approx((truth * of_class).sum(axis=1).mean(), rel=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_no_prediction_is_better_than_the_truth(metric, pmfs):
    truth, other, _ = pmfs
    for step in (1e-3, 0.1, 1.0):
        assert metric(truth, truth) < metric(truth, (1 - step) * truth + step * other)


@pytest.mark.parametrize("metric", METRICS)
def test_weight_two_is_an_object_twice(metric, pmfs):
    truth, predicted, _ = pmfs
    twice = np.repeat(np.arange(20), 1 + np.arange(20) % 2)
    weighted = metric(truth, predicted, sample_weight=1 + np.arange(20) % 2)
    assert weighted == pytest.approx(metric(truth[twice], predicted[twice]), rel=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_classes_are_the_order_of_the_columns(metric, pmfs):
    _, predicted, _ = pmfs
    y = np.array(CLASSES)[np.arange(20) % 3]
    expected = metric(y, predicted, classes=CLASSES)
    assert metric(pd.Series(y), predicted[:, [2, 0, 1]], classes=["c", "a", "b"]) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_one_column_is_that_of_the_second_of_two_classes(metric):
    second = np.array([0.2, 0.9])
    truth = [[0.3, 0.7], [0.0, 1.0]]
    assert metric(truth, second) == pytest.approx(metric(truth, np.column_stack([1 - second, second])), rel=1e-12)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    ("y_true", "y_pred", "options", "message"),
    [
        ([[0.5, 0.4]], [[0.5, 0.5]], {}, "y_true sums to 0.9 in row 0"),
        ([[1, 0], [1, 0]], [[1, 0], [0.5, 0.6]], {}, "y_pred sums to 1.1 in row 1"),
        ([[1.5, -0.5]], [[0.5, 0.5]], {}, "y_true is 1.5 at row 0, column 0"),
        ([[0.5, 0.5]], [[np.nan, 0.5]], {}, "y_pred is nan at row 0, column 0"),
        ([[0.5, 0.5]], [1.2], {}, "y_pred is 1.2 at row 0;"),
        ([[0.5, 0.5]], [["x", "y"]], {}, "y_pred must hold numbers"),
        ([[0.5, 0.5]], 0.5, {}, r"y_pred has shape \(\)"),
        ([[0.2, 0.3, 0.5]], [[0.5, 0.5]], {}, r"y_pred has shape \(1, 2\); expected .* \(1, 3\)"),
        ([[0.2, 0.3, 0.5]], [0.5], {}, r"y_pred has shape \(1,\), which means two classes"),
        (["a"], [[0.5, 0.5]], {}, "y_true holds labels"),
        (["a", "d"], one_hot([0, 1]), {"classes": CLASSES}, "y_true is 'd' at row 1, which is not one of the classes"),
        ([1], one_hot([0]), {"classes": CLASSES}, "y_true is 1 at row 0"),
        ([np.nan], one_hot([0]), {"classes": [0.0, 1.0, 2.0]}, "y_true is nan at row 0"),
        (["a"], [[0.5, 0.5]], {"classes": ["a", "a"]}, "classes must be different"),
        (["a"], [[0.5, 0.5]], {"classes": "a"}, "classes must be a list"),
        ([[0.5, 0.5]], [[0.5, 0.5]], {"classes": CLASSES}, "y_true has 2 columns, but there are 3 classes"),
        ([[0.5, 0.5]], [[0.5, 0.5]], {"sample_weight": [0.0]}, "sample_weight .* sums to zero"),
        ([[0.5, 0.5]], [[0.5, 0.5]], {"sample_weight": [1.0, 1.0]}, "sample_weight has shape"),
    ],
)
def test_what_is_wrong_is_named(metric, y_true, y_pred, options, message):
    with pytest.raises(ValueError, match=message):
        metric(y_true, y_pred, **options)


@pytest.mark.parametrize("metric", METRICS)
def test_tables_with_their_columns_in_another_order_are_refused(metric):
    truth, predicted = pd.DataFrame([[0.1, 0.9]], columns=["a", "b"]), pd.DataFrame([[0.9, 0.1]], columns=["b", "a"])
    with pytest.raises(ValueError, match="y_pred has the columns"):
        metric(truth, predicted)
    with pytest.raises(ValueError, match="y_true has the columns"):
        metric(truth, predicted.to_numpy(), classes=["b", "a"])
    assert metric(truth, predicted[["a", "b"]]) == metric(truth.to_numpy(), predicted.to_numpy()[:, ::-1])
    assert metric(["a"], pd.DataFrame([[0.1, 0.9]]), classes=["a", "b"]) > 0  # 0 and 1 are no names


# The scorers


@pytest.mark.parametrize("name", ["accuracy", "balanced_accuracy", "f1", "neg_log_loss", "roc_auc", "neg_brier_score"])
def test_scorers_do_what_those_of_scikit_learn_do(name, cancer):
    X, _, y = cancer
    for model in (LinearDiscriminantAnalysis(), clone(FOREST)):  # the first has a decision_function
        model.fit(X, y)
        assert get_scorer(name)(model, X, y) == sklearn.metrics.get_scorer(name)(model, X, y)


@pytest.mark.parametrize("name", ["accuracy", "f1_macro", "neg_log_loss", "roc_auc_ovr"])
def test_scorers_do_the_same_for_more_classes(name):
    X, y = np.zeros((30, 1)), np.array(CLASSES)[np.arange(30) % 3]
    model = Recorder(CLASSES).fit(X, y)
    assert get_scorer(name)(model, X, y, X_err=1.0) == sklearn.metrics.get_scorer(name)(model, X, y)


def test_scores_are_those_of_predictions_with_errors(cancer):
    X, X_err, y = cancer
    weight = np.linspace(0, 1, len(y))
    forest = clone(FOREST).fit(X, y, X_err=X_err)
    labels, proba = forest.predict(X, X_err=X_err), forest.predict_proba(X, X_err=X_err)
    errors = {"X_err": X_err}
    assert get_scorer("accuracy")(forest, X, y, **errors) == accuracy_score(y, labels)
    assert get_scorer("neg_log_loss")(forest, X, y, **errors) == -log_loss(y, proba[:, 1])
    assert get_scorer("roc_auc")(forest, X, y, **errors) == roc_auc_score(y, proba[:, 1])
    assert get_scorer("roc_auc")(forest, X, y, **errors) != get_scorer("roc_auc")(forest, X, y, X_err=0)
    weighted = get_scorer("accuracy")(forest, X, y, **errors, sample_weight=weight)
    assert weighted == accuracy_score(y, labels, sample_weight=weight)
    assert make_scorer(f1_score, pos_label=0)(forest, X, y, **errors) == f1_score(y, labels, pos_label=0)


def test_own_metrics_as_scorers(cancer):
    X, X_err, y = cancer
    forest = clone(FOREST).fit(X, y, X_err=X_err)
    proba = forest.predict_proba(X, X_err=X_err)
    soft = 0.8 * np.eye(2)[y] + 0.1
    scorer = make_scorer(pmf_log_loss, response_method="predict_proba", greater_is_better=False)
    assert scorer(forest, X, soft, X_err=X_err) == pytest.approx(-pmf_log_loss(soft, proba), rel=1e-12)
    scorer = make_scorer(pmf_brier_score, response_method="predict_proba", greater_is_better=False, classes=[0, 1])
    expected = pmf_brier_score(y, proba, classes=[0, 1])
    assert scorer(forest, X, y, X_err=X_err) == pytest.approx(-expected, rel=1e-12)


def test_only_what_is_given_is_handed_over():
    X, y = np.zeros((4, 1)), np.array([0, 1, 0, 1])
    model = Recorder().fit(X, y)
    scorer = get_scorer("accuracy")
    scorer(model, X, y)
    scorer(model, X, y, X_err=0)
    scorer(model, X, y, X_limit="limits", X_samples="samples")
    assert model.asked_with_ == [{}, {"X_err": 0}, {"X_limit": "limits", "X_samples": "samples"}]


def test_wrong_names_are_refused():
    with pytest.raises(ValueError, match="not a valid scoring value"):
        get_scorer("goodness")
    with pytest.raises(ValueError, match="name must be the name"):
        get_scorer(accuracy_score)


def test_copies_keep_their_requests(cancer, routing):
    X, X_err, y = cancer
    forest = clone(FOREST).fit(X, y, X_err=X_err)
    scorer = get_scorer("roc_auc").set_score_request(sample_weight="weight", X_limit=False)
    for other in (pickle.loads(pickle.dumps(scorer)), copy.deepcopy(scorer), clone(scorer, safe=False)):
        assert repr(other) == repr(scorer)
        assert other.get_metadata_routing().score.requests == scorer.get_metadata_routing().score.requests
        assert other(forest, X, y, X_err=X_err) == scorer(forest, X, y, X_err=X_err)


# In scikit-learn's tools


def test_requests(routing):
    scorer = get_scorer("accuracy")
    measured = {"X_err": True, "X_limit": True, "X_samples": True}
    assert scorer.get_metadata_routing().score.requests == {**measured, "sample_weight": None}
    assert scorer.set_score_request(sample_weight=True, X_err="errors") is scorer
    expected = {**measured, "sample_weight": True, "X_err": "errors"}
    assert scorer.get_metadata_routing().score.requests == expected
    with pytest.raises(ValueError, match="valid identifier"):
        scorer.set_score_request(sample_weight="no name")
    assert scorer.get_metadata_routing().score.requests == expected
    assert get_scorer("accuracy").get_metadata_routing().score.requests["X_err"] is True  # nobody else's


def test_requests_need_metadata_routing():
    with pytest.raises(RuntimeError, match="enable_metadata_routing"):
        get_scorer("accuracy").set_score_request(sample_weight=True)


def score_by_hand(X, X_err, y, metric, folds):
    scores = []
    for train, test in folds.split(X, y):
        forest = clone(FOREST).fit(X[train], y[train], X_err=X_err[train])
        scores.append(metric(y[test], forest.predict_proba(X[test], X_err=X_err[test])[:, 1]))
    return scores


def test_cross_validate_hands_every_fold_its_errors(cancer, routing):
    X, X_err, y = cancer
    folds = StratifiedKFold(3)
    forest = clone(FOREST).set_fit_request(X_err=True)
    options = {"cv": folds, "error_score": "raise", "params": {"X_err": X_err}}
    expected = score_by_hand(X, X_err, y, roc_auc_score, folds)
    one = cross_validate(forest, X, y, scoring=get_scorer("roc_auc"), **options)
    np.testing.assert_array_equal(one["test_score"], expected)
    two = {"auc": get_scorer("roc_auc"), "loss": get_scorer("neg_log_loss")}
    several = cross_validate(forest, X, y, scoring=two, **options)
    np.testing.assert_array_equal(several["test_auc"], expected)
    losses = score_by_hand(X, X_err, y, log_loss, folds)
    np.testing.assert_allclose(several["test_loss"], -np.array(losses), rtol=1e-12)
    with warnings.catch_warnings():  # that the model is asked without
        warnings.simplefilter("ignore")
        without = cross_validate(forest, X, y, scoring="roc_auc", **options)
    assert not np.array_equal(without["test_score"], expected)


def test_cross_validate_cuts_samples_and_weights_into_folds(routing):
    X, y = np.arange(12.0)[:, None], np.arange(12) % 2
    samples, weight = np.arange(48.0).reshape(12, 1, 4), np.arange(1.0, 13.0)
    seen = []

    def metric(y_true, y_pred, sample_weight):
        seen.append(sample_weight)
        return 0.0

    model = Recorder().set_fit_request(X_samples=True)
    scorer = make_scorer(metric, response_method="predict_proba").set_score_request(sample_weight=True)
    params = {"X_samples": samples, "sample_weight": weight}
    folds = StratifiedKFold(2)
    result = cross_validate(model, X, y, scoring=scorer, cv=folds, params=params, return_estimator=True)
    for (train, test), fitted, weights in zip(folds.split(X, y), result["estimator"], seen, strict=True):
        np.testing.assert_array_equal(fitted.fitted_with_, samples[train])
        np.testing.assert_array_equal(fitted.asked_with_[0]["X_samples"], samples[test])
        np.testing.assert_array_equal(weights, weight[test])


def test_what_is_not_passed_causes_no_error(cancer, routing):
    X, _, y = cancer
    options = {"cv": 3, "error_score": "raise", "params": {}}  # scikit-learn 1.6 does not route params=None
    ours = cross_validate(FOREST, X, y, scoring=get_scorer("roc_auc"), **options)["test_score"]
    np.testing.assert_array_equal(ours, cross_validate(FOREST, X, y, scoring="roc_auc", **options)["test_score"])


def test_weights_must_be_asked_for(cancer, routing):
    X, X_err, y = cancer
    forest = clone(FOREST).set_fit_request(X_err=True, sample_weight=True)
    params = {"X_err": X_err, "sample_weight": np.ones(len(y))}
    with pytest.raises(ValueError, match="sample_weight"):
        cross_validate(forest, X, y, scoring=get_scorer("roc_auc"), cv=3, params=params)


@pytest.mark.parametrize("several", [False, True])
def test_grid_search_hands_every_fold_its_errors(several, cancer, routing):
    X, X_err, y = cancer
    folds = StratifiedKFold(3)
    forest = clone(FOREST).set_fit_request(X_err=True)
    scorer = get_scorer("roc_auc")
    scoring = {"auc": scorer, "accuracy": get_scorer("accuracy")} if several else scorer
    refit = "auc" if several else True
    search = GridSearchCV(forest, {"max_depth": [1, 4]}, scoring=scoring, refit=refit, cv=folds, error_score="raise")
    search.fit(X, y, X_err=X_err)
    name = "mean_test_auc" if several else "mean_test_score"
    expected = np.mean(score_by_hand(X, X_err, y, roc_auc_score, folds))
    assert search.cv_results_[name][1] == pytest.approx(expected, rel=1e-12)
    assert search.score(X, y, X_err=X_err) == scorer(search.best_estimator_, X, y, X_err=X_err)


def test_cross_validate_of_a_pipeline(cancer, routing):
    X, X_err, y = cancer
    forest = clone(FOREST).set_fit_request(X_err=True).set_predict_proba_request(X_err=True)
    model = make_pipeline(FunctionTransformer(), forest)
    folds = StratifiedKFold(3)
    result = cross_validate(
        model, X, y, scoring=get_scorer("roc_auc"), cv=folds, params={"X_err": X_err}, error_score="raise"
    )
    np.testing.assert_array_equal(result["test_score"], score_by_hand(X, X_err, y, roc_auc_score, folds))


def test_without_routing_a_scorer_is_one_of_scikit_learn(cancer):
    X, _, y = cancer
    ours = cross_validate(FOREST, X, y, scoring={"auc": get_scorer("roc_auc")}, cv=3)["test_auc"]
    np.testing.assert_array_equal(ours, cross_validate(FOREST, X, y, scoring="roc_auc", cv=3)["test_score"])
