import numpy as np
import pytest

from probforest.evaluation.accuracy import Accuracy
from probforest.evaluation.findings import ErrorCosts, OutOfBag, findings
from probforest.evaluation.scores import evaluate


@pytest.mark.parametrize(("confidence", "verdict"), [(0.6, "too modest"), (0.8, "honest"), (0.99, "too sure")])
def test_findings_judge_the_confidence(confidence, verdict):
    truth = np.repeat([0, 1], [800, 200])
    found = findings(evaluate(truth, np.tile([confidence, 1 - confidence], (1000, 1)), [0, 1]))
    assert any(verdict in sentence for sentence in found)


def test_findings_name_the_worst():
    truth = ["star"] * 4 + ["galaxy"] * 4
    proba = np.eye(2)[[0, 0, 1, 1, 0, 0, 0, 0]]
    found = findings(evaluate(truth, proba, ["galaxy", "star"]))
    assert "Hardest class: star, of which 2 of 4 were found (50 %)." in found
    assert "Largest mix-up: 2 of 4 star (50 %) were taken for galaxy." in found
    perfect = findings(evaluate(["a", "b"], np.eye(2), ["a", "b"]))
    assert perfect[0] == "All objects of every class were found."


def test_the_largest_mix_up_is_one_by_share():
    """30 of 100 are more than 50 of 1,000; and the only object of a class is no share."""
    truth = np.repeat([0, 1, 2], [1000, 100, 1])
    answer = np.concatenate([np.repeat([0, 1], [950, 50]), np.repeat([1, 0], [70, 30]), [0]])
    found = findings(evaluate(truth, np.eye(3)[answer], [0, 1, 2]))
    assert "Largest mix-up: 30 of 100 1 (30 %) were taken for 0." in found


@pytest.mark.parametrize(
    ("out_of_bag", "verdict"), [(0.83, "as expected"), (0.9, "lower than expected"), (0.7, "higher than expected")]
)
def test_out_of_bag_beside_test(out_of_bag, verdict):
    truth = np.repeat([0, 1], [800, 200])
    evaluation = evaluate(truth, np.tile([0.8, 0.2], (1000, 1)), [0, 1])
    found = findings(evaluation, OutOfBag(Accuracy(out_of_bag, out_of_bag - 0.03, out_of_bag + 0.03), 0.5))
    assert any(f"{out_of_bag:.3f}, here 0.800: {verdict}" in sentence for sentence in found)


def test_the_limiting_error():
    evaluation = evaluate(["a", "b"], np.eye(2), ["a", "b"])
    costs = ErrorCosts(["u", "g"], np.array([0.021, 0.01]), np.array([0.001, 0.002]), 50)
    assert (
        "errors of u limit the accuracy most: without them it is expected to be 0.021"
        in findings(evaluation, None, costs)[-1]
    )
    unclear = costs._replace(errors=np.array([0.03, 0.03]))
    assert findings(evaluation, None, unclear)[-1].startswith("No error of a single feature")
