"""The numbers are those of scikit-learn where it has them, and of naive loops where it does not."""

import dataclasses
import json
import warnings

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    balanced_accuracy_score,
    brier_score_loss,
    confusion_matrix,
    log_loss,
    precision_recall_fscore_support,
    roc_auc_score,
)

from answers import CLASSES, answers
from probforest import ProbabilisticRandomForestClassifier
from probforest.evaluation.accuracy import share_right
from probforest.evaluation.scores import evaluate


@pytest.fixture(scope="module")
def example():
    return answers()


@pytest.fixture(scope="module")
def evaluation(example):
    truth, proba, sizes = example
    return evaluate(truth, proba, CLASSES, error_size=sizes)


# Scores


def test_scores_are_those_of_scikit_learn(example, evaluation):
    truth, proba, _ = example
    said = CLASSES[proba.argmax(axis=1)]
    assert evaluation.accuracy.value == accuracy_score(truth, said)
    assert evaluation.balanced_accuracy == pytest.approx(balanced_accuracy_score(truth, said))
    assert evaluation.log_loss == pytest.approx(log_loss(truth, proba, labels=CLASSES))
    brier = sum(brier_score_loss(truth == name, proba[:, column]) for column, name in enumerate(CLASSES))
    assert evaluation.brier == pytest.approx(brier)
    np.testing.assert_array_equal(evaluation.confusion, confusion_matrix(truth, said, labels=CLASSES))


def test_baseline_is_what_the_shares_of_the_classes_score(example, evaluation):
    truth, _, _ = example
    shares = np.array([np.mean(truth == name) for name in CLASSES])
    alone = evaluate(truth, np.tile(shares, (len(truth), 1)), CLASSES)
    assert evaluation.baseline == pytest.approx((alone.accuracy.value, alone.log_loss, alone.brier))


def test_curves_have_the_scores_of_scikit_learn(example, evaluation):
    truth, proba, _ = example
    for place, curve in enumerate(evaluation.curves):
        is_one = truth == CLASSES[place]
        assert curve.roc_auc == roc_auc_score(is_one, proba[:, place])
        assert curve.average_precision == average_precision_score(is_one, proba[:, place])
        assert curve.share == is_one.mean()
        assert np.trapezoid(curve.roc[:, 1], curve.roc[:, 0]) == pytest.approx(curve.roc_auc, abs=0.01)
        assert len(curve.roc) <= 200
    absent = evaluate(["a", "a"], [[0.9, 0.1], [0.6, 0.4]], ["a", "b"])
    assert all(np.isnan(curve.roc_auc) and len(curve.roc) == 0 for curve in absent.curves)
    assert absent.as_dict()["curves"][1] == {"name": "b", "share": 0.0, "roc_auc": None, "average_precision": None}


def test_the_worst_mistakes():
    proba = np.array([[0.9, 0.1], [0.2, 0.8], [np.nan, np.nan], [0.99, 0.01], [0.4, 0.6]])
    evaluation = evaluate(["a", "a", "a", "b", "a"], proba, ["a", "b"])
    worst = [(mistake.place, mistake.truth, mistake.answer) for mistake in evaluation.mistakes]
    assert worst == [(3, "b", "a"), (1, "a", "b"), (4, "a", "b")]
    assert evaluation.mistakes[0][3:] == (0.99, 0.01)


def test_classes_have_the_scores_of_scikit_learn(example, evaluation):
    truth, proba, _ = example
    expected = precision_recall_fscore_support(truth, CLASSES[proba.argmax(axis=1)], labels=CLASSES)
    found = [(c.precision, c.recall, c.f1, c.n_objects) for c in evaluation.per_class]
    np.testing.assert_allclose(found, np.transpose(expected))
    assert sum(scores.n_answers for scores in evaluation.per_class) == len(truth)


def test_classes_without_objects_or_answers_have_no_scores():
    truth, proba = ["a", "a", "b"], np.eye(4)[[0, 2, 0]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        a, b, c, d = evaluate(truth, proba, list("abcd")).per_class
    assert (a.precision, a.recall, a.f1) == (0.5, 0.5, 0.5)
    assert (np.isnan(b.precision), b.recall, b.f1) == (True, 0, 0)
    assert (c.precision, np.isnan(c.recall), c.f1) == (0, True, 0)
    assert np.isnan([d.precision, d.recall, d.f1]).all()


# Curves


def test_reliability_is_that_of_scikit_learn(example, evaluation):
    truth, proba, _ = example
    right, confidence = truth == CLASSES[proba.argmax(axis=1)], proba.max(axis=1)
    share, mean = calibration_curve(right, confidence, n_bins=10)
    assert [bin.accuracy.value for bin in evaluation.reliability] == pytest.approx(share)
    assert [bin.mean_proba for bin in evaluation.reliability] == pytest.approx(mean)
    counts = [bin.n_objects for bin in evaluation.reliability]
    assert sum(counts) == len(truth)
    assert evaluation.calibration_error == pytest.approx(np.average(np.abs(share - mean), weights=counts))


def test_a_model_that_is_always_sure_is_off_by_its_mistakes():
    evaluation = evaluate([0, 0, 0, 1], np.eye(2)[[0, 0, 0, 0]], [0, 1])
    (bin,) = evaluation.reliability
    assert (bin.low, bin.high, bin.n_objects, bin.mean_proba) == (pytest.approx(0.9), 1, 4, 1)
    assert evaluation.calibration_error == 0.25


def test_error_bins_hold_every_object_once(example, evaluation):
    truth, proba, sizes = example
    right = truth == CLASSES[proba.argmax(axis=1)]
    assert [bin.n_objects for bin in evaluation.error_sizes] == [80] * 5
    previous = -1.0
    for bin in evaluation.error_sizes:
        members = (sizes > previous) & (sizes <= bin.high)
        assert bin.low == sizes[members].min()
        assert bin.median == np.median(sizes[members])
        assert bin.accuracy == share_right(right[members].sum(), members.sum())
        assert bin.mean_proba == pytest.approx(proba[members].max(axis=1).mean())
        previous = bin.high


def test_ties_make_fewer_error_bins_and_no_errors_one_more(example):
    truth, proba, sizes = example
    sizes = np.where(sizes < 1, 0.0, 2.0)
    sizes[:30] = np.nan
    without, small, large = evaluate(truth, proba, CLASSES, error_size=sizes).error_sizes
    assert without.is_unknown
    assert (without.n_objects, small.n_objects, large.n_objects) == (30, (sizes == 0).sum(), (sizes == 2).sum())
    assert (small.low, small.high, large.median) == (0, 0, 2)


def test_few_objects_make_few_error_bins(example):
    truth, proba, sizes = example
    assert len(evaluate(truth[:25], proba[:25], CLASSES, error_size=sizes[:25]).error_sizes) == 2
    assert len(evaluate(truth[:2], proba[:2], CLASSES, error_size=sizes[:2]).error_sizes) == 1
    nothing = np.full(2, np.nan)
    assert len(evaluate(truth[:2], proba[:2], CLASSES, error_size=nothing).error_sizes) == 1
    assert evaluate(truth, proba, CLASSES).error_sizes == ()


def test_coverage_counts_the_most_confident(example, evaluation):
    truth, proba, _ = example
    order = np.argsort(-proba.max(axis=1))
    right = (truth == CLASSES[proba.argmax(axis=1)])[order]
    assert [point.n_objects for point in evaluation.coverage] == list(range(40, 401, 40))
    for point in evaluation.coverage:
        assert point.accuracy == share_right(right[: point.n_objects].sum(), point.n_objects)
        assert point.least_proba == proba.max(axis=1)[order[point.n_objects - 1]]
    assert evaluation.coverage[-1].accuracy == evaluation.accuracy


def test_equally_confident_objects_come_in_together():
    proba = np.array([[1.0, 0.0]] * 6 + [[0.3, 0.7]] * 4)
    points = evaluate([0, 1] * 5, proba, [0, 1]).coverage
    assert [(point.share, point.least_proba) for point in points] == [(0.6, 1.0), (1.0, 0.7)]


def test_order_of_the_objects_does_not_matter(example, evaluation):
    truth, proba, sizes = example
    order = np.random.default_rng(1).permutation(len(truth))
    shuffled = evaluate(truth[order], proba[order], CLASSES, error_size=sizes[order])
    mistakes = [mistake._replace(place=int(order[mistake.place])) for mistake in shuffled.mistakes]
    assert mistakes == list(evaluation.mistakes)
    shuffled = dataclasses.replace(shuffled, mistakes=evaluation.mistakes)
    assert json.loads(json.dumps(shuffled.as_dict()), parse_float=rounded) == json.loads(
        json.dumps(evaluation.as_dict()), parse_float=rounded
    )


def rounded(number):
    return round(float(number), 9)


# What is left out, and what is refused


def test_objects_without_an_answer_are_left_out(example, evaluation):
    truth, proba, sizes = example
    more = evaluate(
        np.append(truth, ["star", "galaxy"]),
        np.vstack([proba, np.full((2, 3), np.nan)]),
        CLASSES,
        error_size=np.append(sizes, [9, np.nan]),
    )
    assert (more.n_left_out, evaluation.n_left_out) == (2, 0)
    assert {**more.as_dict(), "n_left_out": 0} == evaluation.as_dict()


def test_out_of_bag_answers_of_a_forest_can_be_judged():
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.where(X[:, 0] > 0, "up", "down")
    forest = ProbabilisticRandomForestClassifier(2, oob_score=True, random_state=0)
    with pytest.warns(UserWarning, match="out-of-bag"):
        forest.fit(X, y)
    evaluation = evaluate(y, forest.oob_decision_function_, forest.classes_)
    assert evaluation.n_left_out > 0
    assert evaluation.accuracy.value == forest.oob_score_


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"truth": ["a", "c"]}, "truth is 'c' at row 1, which is not one of the classes"),
        ({"truth": ["a", np.nan]}, "at row 1"),
        ({"truth": [["a", "b"]]}, "a class per object"),
        ({"truth": ["a"]}, r"expected \(1, 2\)"),
        ({"proba": [[1.0, 0.0]]}, r"expected \(2, 2\)"),
        ({"proba": [[1.0, 0.0], [0.3, np.nan]]}, "at row 1; expected probabilities that sum to 1"),
        ({"proba": [[0.2, 0.2], [0.5, 0.5]]}, "at row 0"),
        ({"proba": [[1.5, -0.5], [0.5, 0.5]]}, "at row 0"),
        ({"proba": np.full((2, 2), np.nan)}, "none of the 2 objects has an answer"),
        ({"classes": ["a", "a"]}, "must differ"),
        ({"error_size": [1.0]}, r"expected a number per object, \(2,\)"),
        ({"error_size": [1.0, -1.0]}, "error_size is -1.0 at row 1"),
        ({"error_size": [np.inf, 1.0]}, "error_size is inf at row 0"),
    ],
)
def test_nonsense_is_refused(changes, message):
    given = {"truth": ["a", "b"], "proba": [[1.0, 0.0], [0.5, 0.5]], "classes": ["a", "b"], **changes}
    with pytest.raises(ValueError, match=message):
        evaluate(**given)


# JSON


@pytest.mark.parametrize("classes", [CLASSES, np.arange(3), np.array([True, False]), np.array([0.5, 1.5])])
def test_everything_can_be_written_as_json(classes):
    truth, proba, sizes = answers(50, classes)
    sizes[::7] = np.nan
    evaluation = evaluate(truth, proba, classes, error_size=sizes)
    found = evaluation.as_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["classes"] == classes.tolist()
    assert found["error_sizes"][0]["median"] is None
    assert found["confusion"] == evaluation.confusion.tolist()
