"""Boosted trees: a whole model against the oracle, laws, early stopping, doubtful labels."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

import naive
import naive_boosting
from probforest import ProbabilisticGradientBoostingClassifier, ProbabilisticGradientBoostingRegressor
from probforest.datasets import add_noise, flip_labels, make_two_classes
from probforest.kernels.layout import WEIGHT
from probforest.trees.boosting import Booster
from problems import random_problem


def boosting(**options):
    return ProbabilisticGradientBoostingClassifier(**({"random_state": 0} | options))


@pytest.fixture(scope="module")
def noisy():
    """A training set and a test set with errors."""
    X, y = make_two_classes(1600, random_state=3)
    table = add_noise(X, 1.0, random_state=4)
    return (table.X[:800], y[:800], table.X_err[:800]), (table.X[800:], y[800:], table.X_err[800:])


@pytest.mark.parametrize("missing", ["observed", "learned"])
@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("k", [2, 3])
def test_three_iterations_are_those_of_the_oracle(k, soft, missing):
    problem = random_problem(k, n=40, k=k, noise=0.0, missing=0.1, soft=soft, weighted=True)
    information = (k * np.square(problem.pmf).sum(axis=1) - 1) / (k - 1)
    known = np.average(information, weights=problem.weight)  # of a label; leaves of doubtful ones may weigh half
    rules = naive.Rules(
        criterion="newton",
        missing=missing,
        keep_proba=0.1,
        min_samples_leaf=3 * max(known, 0.5),
        regularisation=10.0 if soft else 0.0,
    )
    expected = naive_boosting.boost(*problem, rules, 3, 4, 0.2)
    model = boosting(
        max_iter=3,
        keep_proba=0.1,
        max_leaf_nodes=4,
        learning_rate=0.2,
        min_samples_leaf=3,
        max_bins=65_535,
        missing=missing,
        max_features=None,
        early_stopping=False,
    )
    model.fit(problem.values, y_proba=problem.pmf, classes=np.arange(k), sample_weight=problem.weight)
    found = model.decision_function(problem.values)
    if k == 2:
        expected = expected[:, 1] - expected[:, 0]
    assert sum(tree.n_nodes for tree in model.trees_) > 3 * len(model.trees_)
    np.testing.assert_allclose(found, expected, atol=1e-8)


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_digits])
def test_exact_data_give_gradient_boosting_as_it_is_known(load):
    X, y = load(return_X_y=True)
    accuracies, losses = [], []
    for seed in range(3):
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=seed, stratify=y)
        ours = boosting(max_iter=30).fit(X_train, y_train).predict_proba(X_test)
        with threadpool_limits(1):  # its threads are slow on a busy machine
            theirs = HistGradientBoostingClassifier(max_iter=30).fit(X_train, y_train).predict_proba(X_test)
        answers = ours, theirs
        accuracies.append([accuracy_score(y_test, answer.argmax(axis=1)) for answer in answers])
        losses.append([log_loss(y_test, answer) for answer in answers])
    (accuracy, rival), (loss, rival_loss) = np.mean(accuracies, axis=0), np.mean(losses, axis=0)
    assert accuracy >= rival - 0.015
    assert loss <= rival_loss * 1.08


def test_errors_help(noisy):
    (X, y, X_err), (X_test, y_test, X_err_test) = noisy
    ours = boosting().fit(X, y, X_err=X_err).predict_proba(X_test, X_err=X_err_test)
    with threadpool_limits(1):
        rival = HistGradientBoostingClassifier(random_state=0).fit(X, y).predict_proba(X_test)
    assert log_loss(y_test, ours) < log_loss(y_test, rival) - 0.02


def test_training_loss_falls_with_every_iteration(noisy):
    (X, y, X_err), _ = noisy
    model = boosting(learning_rate=0.05, max_iter=60).fit(X, y, X_err=X_err)
    assert model.train_score_.shape == (61,)
    assert (np.diff(model.train_score_) > 0).all()
    assert model.validation_score_.shape == (0,)
    proba = model.predict_proba(X, X_err=X_err)
    assert -log_loss(y, proba) == pytest.approx(model.train_score_[-1], abs=1e-9)


@pytest.mark.parametrize("k", [2, 3])
def test_staged_answers_end_with_the_answer(k):
    problem = random_problem(5, n=200, k=k, missing=0.1)
    y, about = problem.pmf.argmax(axis=1), {"X_err": problem.errors}
    model = boosting(max_iter=12).fit(problem.values, y, **about)
    decisions = list(model.staged_decision_function(problem.values, **about))
    probabilities = list(model.staged_predict_proba(problem.values, **about))
    classes = list(model.staged_predict(problem.values, **about))
    assert len(decisions) == len(probabilities) == len(classes) == model.n_iter_ == 12
    assert len(model.trees_) == 12 * model.n_trees_per_iteration_
    np.testing.assert_allclose(decisions[-1], model.decision_function(problem.values, **about), atol=1e-12)
    np.testing.assert_allclose(probabilities[-1], model.predict_proba(problem.values, **about), atol=1e-12)
    np.testing.assert_array_equal(classes[-1], model.predict(problem.values, **about))
    fewer = boosting(max_iter=5).fit(problem.values, y, **about)
    np.testing.assert_array_equal(decisions[4], fewer.decision_function(problem.values, **about))


@pytest.mark.parametrize("k", [2, 4])
def test_same_bits_for_any_number_of_threads(k):
    problem = random_problem(6, n=1500, k=k, missing=0.1)
    y, about = problem.pmf.argmax(axis=1), {"X_err": problem.errors}
    answers = [
        boosting(max_iter=8, n_jobs=n_jobs, max_features=0.7, early_stopping=True)
        .fit(problem.values, y, **about)
        .predict_proba(problem.values, **about)
        for n_jobs in (1, 3)
    ]
    np.testing.assert_array_equal(*answers)


def test_vanishing_errors_give_the_model_of_exact_values():
    problem = random_problem(7, n=300, noise=0.0)
    y = problem.pmf.argmax(axis=1)
    exact = boosting(max_iter=10, max_bins=65_535).fit(problem.values, y).predict_proba(problem.values)
    nearly = boosting(max_iter=10, max_bins=65_535).fit(problem.values, y, X_err=1e-12)
    np.testing.assert_allclose(nearly.predict_proba(problem.values, X_err=1e-12), exact, atol=1e-9)


def test_weights_are_numbers_of_objects():
    problem = random_problem(8, n=150, noise=0.0, weighted=True)
    y, times = problem.pmf.argmax(axis=1), problem.weight.astype(int)
    weighted = boosting(max_iter=10).fit(problem.values, y, sample_weight=problem.weight)
    repeated = boosting(max_iter=10).fit(np.repeat(problem.values, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(
        weighted.predict_proba(problem.values), repeated.predict_proba(problem.values), atol=1e-9
    )


def test_early_stopping_keeps_the_iterations_up_to_the_smallest_loss(noisy):
    (X, y, X_err), _ = noisy
    model = boosting(max_iter=400, early_stopping=True, learning_rate=0.3).fit(X, y, X_err=X_err)
    assert 1 <= model.n_iter_ < 200
    assert model.validation_score_.shape == model.train_score_.shape == (model.n_iter_ + 1,)
    assert model.validation_score_.argmax() == model.n_iter_


def test_training_stops_when_nothing_is_left_to_learn(capsys):
    X = np.repeat([[0.0], [1.0]], 50, axis=0)
    model = boosting(max_iter=2000, learning_rate=1.0, verbose=1).fit(X, np.repeat([0, 1], 50))
    assert model.n_iter_ < 100
    assert "no split is left" in capsys.readouterr().out
    few = boosting(max_iter=10).fit(X[::5], np.repeat([0, 1], 10))  # min_samples_leaf allows no split at all
    assert few.n_iter_ == 1
    np.testing.assert_allclose(few.predict_proba([[0.0]]), 0.5)


@pytest.mark.parametrize(("kind", "confidence"), [("constant", 0.7), ("varied", None)])
def test_doubtful_labels_are_answered_with_the_truth(kind, confidence):
    X, y = make_two_classes(4000, random_state=5)
    random = np.random.default_rng(0)
    wrong = np.full(2000, 0.3) if confidence else random.uniform(0, 0.9, 2000)
    labels = flip_labels(y[:2000], wrong, random_state=6)
    model = boosting().fit(X[:2000], labels.y, y_proba=labels.confidence)
    naive_use = boosting().fit(X[:2000], labels.y)
    loss = log_loss(y[2000:], model.predict_proba(X[2000:]))
    assert loss < log_loss(y[2000:], naive_use.predict_proba(X[2000:])) - 0.05
    assert model.score(X[2000:], y[2000:]) > 0.8
    assert len(model.validation_score_) > 0  # it stops early by default


def test_holes_that_are_the_label_separate_classes():
    X = np.random.default_rng(0).normal(size=(200, 2))
    y = np.arange(200) % 2
    X[y == 1, 0] = np.nan
    model = boosting(max_iter=20).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.missing_.tolist() == ["learned", "observed"]


def test_error_features_and_their_fallback():
    X, y = make_two_classes(1200, random_state=1)
    random = np.random.default_rng(2)
    X_err = np.exp(random.normal(y[:, None] * 1.0, 0.5, X.shape))  # sizes of errors tell the class
    X = X + X_err * random.normal(size=X.shape)
    plain = boosting(max_iter=20).fit(X, y, X_err=X_err)
    model = boosting(max_iter=20, error_features=True).fit(X, y, X_err=X_err)
    assert model.score(X, y, X_err=X_err) > plain.score(X, y, X_err=X_err)
    with pytest.warns(UserWarning, match="error"):
        fallback = model.predict_proba(X, X_err=20 * X_err)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(fallback, plain.predict_proba(X, X_err=20 * X_err))
    assert len(model.feature_importances_) == 2 * X.shape[1]


def test_importances_find_the_informative_feature():
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 4))
    model = boosting(max_iter=20).fit(X, X[:, 2] > 0)
    assert model.feature_importances_.argmax() == 2
    assert model.feature_importances_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("learning_rate", 0.0),
        ("max_iter", 0),
        ("max_leaf_nodes", 1),
        ("max_leaf_nodes", None),
        ("l2_regularization", -1.0),
        ("l2_regularization", "none"),
        ("early_stopping", "never"),
        ("validation_fraction", 1.0),
        ("n_iter_no_change", 0),
        ("tol", -1.0),
        ("keep_proba", 1.5),
        ("prior", "joint?"),
    ],
)
def test_wrong_parameters_are_named(parameter, value):
    with pytest.raises(ValueError, match=parameter):
        boosting(**{parameter: value}).fit([[0.0], [1.0]], [0, 1])


def test_a_single_class_is_an_error():
    with pytest.raises(ValueError, match="two classes"):
        boosting().fit([[0.0], [1.0]], [1, 1])


def test_a_model_that_learns_nothing_says_so():
    X = np.zeros((100, 1))
    with pytest.warns(UserWarning, match="min_samples_leaf asks for 20 on both sides"):
        model = boosting().fit(X, np.arange(100) % 2)
    assert model.n_iter_ == 1
    np.testing.assert_allclose(model.predict_proba(X), 0.5)


def test_small_tables_with_doubtful_labels_are_learnt_from():
    X, y = load_iris(return_X_y=True)
    random = np.random.default_rng(0)
    seen = np.where(random.random(150) < 0.3, random.integers(0, 3, 150), y)
    model = boosting().fit(X, seen, y_proba=np.where(np.eye(3)[seen] == 1, 0.8, 0.1))  # labels say as much as 64 do
    assert model.score(X, y) > 0.9


def test_too_few_doubtful_labels_for_any_split_are_no_mistake_of_weights():
    X, y = make_two_classes(30, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # "scale sample_weight" would not help
        boosting(max_iter=3).fit(X, y, y_proba=np.full(30, 0.8))


@pytest.mark.parametrize(("doubt", "expected"), [(0.0, 20), (0.3, 20 * 0.16), (0.1, 20 * 0.64)])
def test_a_leaf_needs_no_more_average_objects_than_min_samples_leaf(doubt, expected):
    X, y = make_two_classes(100, random_state=0)
    model = boosting(max_iter=3).fit(X, y, y_proba=np.full(100, 1 - doubt))
    nodes = model.trees_[0].nodes
    weight = nodes.summary[np.isnan(nodes.threshold), WEIGHT]
    assert expected * (1 - 1e-9) <= weight.min() < 2 * expected
    model.set_params(min_samples_leaf=0.4).fit(
        X, y, y_proba=np.full(100, 1 - doubt)
    )  # a share is that of what they say
    nodes = model.trees_[0].nodes
    assert nodes.summary[:, WEIGHT].min() >= 0.4 * (1 - 1e-9) * nodes.summary[0, WEIGHT]


@pytest.mark.parametrize(("doubt", "expected"), [(0.0, 15), (0.05, 7), (0.4, 7)])
def test_half_of_the_features_are_drawn_for_doubtful_labels(doubt, expected, monkeypatch):
    X, y = make_two_classes(400, random_state=0)
    seen = []

    class Watched(Booster):
        def __init__(self, training, loss, rules, *rest, **options):
            seen.append(rules.max_features)
            super().__init__(training, loss, rules, *rest, **options)

    monkeypatch.setattr("probforest.estimators.boosted_trees.Booster", Watched)
    about = {"y_proba": np.full(400, 1 - doubt)}
    boosting(max_iter=2).fit(X, y, **about)
    assert set(seen) == {expected}
    boosting(max_iter=2, max_features=0.3).fit(X, y, **about)
    assert seen[-1] == 4


@pytest.mark.parametrize(("doubt", "expected"), [(0.01, 20 * 0.9604), (0.1, 20 * 0.64), (0.3, 10)])
def test_leaves_of_many_doubtful_labels_may_weigh_half_of_min_samples_leaf(doubt, expected):
    X, y = make_two_classes(3000, random_state=0)
    model = boosting(max_iter=3).fit(X, y, y_proba=np.full(3000, 1 - doubt))
    weights = np.concatenate([tree.weight[tree.leaves] for tree in model.trees_])
    assert expected * (1 - 1e-9) <= weights.min() < 1.5 * expected


def test_warm_start_with_doubtful_labels_goes_on_without_early_stopping():
    X, y = make_two_classes(300, random_state=0)
    about = {"y_proba": np.full(300, 0.8)}
    model = boosting(max_iter=5, warm_start=True).fit(X, y, **about)
    with pytest.raises(ValueError, match="Take early_stopping=False"):
        model.set_params(max_iter=9).fit(X, y, **about)
    model.set_params(early_stopping=False).fit(X, y, **about)
    assert model.n_iter_ == 9
    assert (model.train_score_.shape, model.validation_score_.shape) == ((10,), (0,))


@pytest.mark.parametrize("as_matrix", [False, True])
def test_labels_that_are_certain_or_say_nothing_are_the_certain_ones(as_matrix):
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 3))
    y, confidence = (X[:, 0] > 0).astype(int), np.where(np.arange(300) < 100, 1.0, 0.5)
    labels = {"y": y, "y_proba": confidence}
    if as_matrix:
        right = np.eye(2)[y]
        labels = {"y_proba": right * confidence[:, None] + (1 - right) * (1 - confidence[:, None]), "classes": [0, 1]}
    model = ProbabilisticGradientBoostingClassifier(max_iter=5, random_state=0)
    found = clone(model).fit(X, **labels).predict_proba(X)
    np.testing.assert_array_equal(found, clone(model).fit(X[:100], y[:100]).predict_proba(X))


def test_scores_that_are_often_equal_leave_the_last_of_the_best_iterations():
    X = np.random.default_rng(0).normal(size=(400, 3))
    model = ProbabilisticGradientBoostingClassifier(early_stopping=True, scoring="accuracy", tol=0.0, random_state=0)
    model.fit(X, X[:, 0] > 0)
    assert model.n_iter_ == np.flatnonzero(model.validation_score_ == model.validation_score_.max())[-1]
    assert model.n_iter_ > 5


def test_scores_that_are_nan_at_first_stop_nothing():
    X = np.random.default_rng(0).normal(size=(300, 3))
    scores = iter([np.nan] * 3 + [0.1 * n for n in range(100)])
    model = ProbabilisticGradientBoostingRegressor(
        max_iter=12, early_stopping=True, scoring=lambda *_: next(scores), validation_fraction=None
    )
    assert model.fit(X, X[:, 0]).n_iter_ == 12


def test_a_score_that_is_always_nan_says_nothing():
    X = np.random.default_rng(0).normal(size=(300, 3))
    model = ProbabilisticGradientBoostingRegressor(max_iter=12, early_stopping=True, scoring=lambda *_: np.nan)
    with pytest.warns(UserWarning, match="scoring=.* is NaN"):
        assert model.fit(X, X[:, 0]).n_iter_ > 5
