"""The numbers are those of scikit-learn and SciPy where they have them, and of naive loops where they don't."""

import json
import warnings

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.calibration import calibration_curve
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    brier_score_loss,
    confusion_matrix,
    log_loss,
    precision_recall_fscore_support,
)

from probforest import ProbabilisticRandomForestClassifier
from probforest.evaluation.scores import confidence_interval, confusion_text, evaluate, per_class_text, share_right

CLASSES = np.array(["galaxy", "quasar", "star"])


def answers(n_objects=400, classes=CLASSES, seed=0):
    """Labels, probabilities that know something of them, and sizes of errors that go with them."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, len(classes), n_objects)
    sizes = rng.exponential(size=n_objects)
    noise = rng.dirichlet(np.ones(len(classes)), n_objects)
    trust = np.exp(-sizes)[:, None]
    return np.asarray(classes)[truth], trust * np.eye(len(classes))[truth] + (1 - trust) * noise, sizes


@pytest.fixture(scope="module")
def example():
    return answers()


@pytest.fixture(scope="module")
def evaluation(example):
    truth, proba, sizes = example
    return evaluate(truth, proba, CLASSES, error_size=sizes)


# Scores


@pytest.mark.parametrize("trials", [1, 7, 1000])
@pytest.mark.parametrize("level", [0.68, 0.95])
def test_interval_is_that_of_scipy(trials, level):
    for successes in {0, 1, trials // 2, trials}:
        expected = binomtest(successes, trials).proportion_ci(level, method="wilson")
        assert confidence_interval(successes, trials, level) == pytest.approx(tuple(expected), abs=1e-12)


def test_interval_of_nothing_says_nothing():
    assert confidence_interval(0, 0) == (0, 1)
    assert np.isnan(share_right(0, 0).value)


@pytest.mark.parametrize(("successes", "trials", "level"), [(3, 2, 0.95), (-1, 2, 0.95), (1, 2, 1.0), (1, 2, 95)])
def test_interval_of_nonsense_is_refused(successes, trials, level):
    with pytest.raises(ValueError, match="must be between"):
        confidence_interval(successes, trials, level)


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


# JSON and text


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


@pytest.mark.parametrize("n_classes", [1, 2, 3, 12, 13, 60])
@pytest.mark.parametrize("name", ["{}", "class {}", "cataclysmic variable of the very rare subtype {}", "日本{}"])
def test_text_is_narrow(n_classes, name):
    classes = [name.format(i) for i in range(n_classes)]
    text = evaluate(*answers(300, classes)[:2], classes, error_size=np.arange(300)).as_text()
    assert max(map(len, text.splitlines())) <= 100
    assert ("further" in text) == (n_classes > 12)


def test_text_has_the_numbers(evaluation):
    text = evaluation.as_text()
    assert f"{evaluation.accuracy.value:.3f}" in text
    assert f"{evaluation.log_loss:.3f}" in text
    for name in CLASSES:
        assert name in text
    assert "Size of the errors" in text


def test_names_with_line_breaks_and_escapes_stay_on_their_line():
    classes = ["a\nb", "c\x1b[31m"]
    text = evaluate(classes, np.eye(2), classes).as_text()
    assert "a b" in text
    assert "\x1b" not in text


def test_long_names_become_numbers_that_are_the_same_in_rows_and_columns():
    confusion = np.diag([1, 50, 50, 50])
    lines = confusion_text(confusion, [f"{'long' * 10} {i}" for i in range(4)], most=3).splitlines()
    assert lines[0].split()[-3:] == ["2", "3", "4"]
    assert [line.split()[0] for line in lines[1:4]] == ["2", "3", "4"]
    assert lines[1].split()[-3:] == ["50", "0", "0"]
    assert lines[4] == "(1 further class is in the report and in --json)"


def test_the_largest_classes_are_shown():
    truth, proba, _ = answers(100, np.arange(6))
    per_class = evaluate(truth, proba, np.arange(6)).per_class
    largest = sorted(per_class, key=lambda scores: -scores.n_objects)[:2]
    shown = [line.split()[0] for line in per_class_text(per_class, most=2).splitlines()[1:3]]
    assert set(shown) == {scores.name for scores in largest}


@pytest.mark.parametrize(("confidence", "verdict"), [(0.6, "too modest"), (0.8, "honest"), (0.99, "too sure")])
def test_findings_judge_the_confidence(confidence, verdict):
    truth = np.repeat([0, 1], [800, 200])
    found = evaluate(truth, np.tile([confidence, 1 - confidence], (1000, 1)), [0, 1]).findings()
    assert any(verdict in sentence for sentence in found)


def test_findings_name_the_worst():
    truth = ["star"] * 4 + ["galaxy"] * 4
    proba = np.eye(2)[[0, 0, 1, 1, 0, 0, 0, 0]]
    found = evaluate(truth, proba, ["galaxy", "star"]).findings()
    assert "Hardest class: star, of which 2 of 4 were found (50 %)." in found
    assert "Most frequent mix-up: 2 of 4 star were taken for galaxy." in found
    perfect = evaluate(["a", "b"], np.eye(2), ["a", "b"]).findings()
    assert perfect[0] == "All objects of every class were found."
