import numpy as np
import pytest

from probforest.evaluation.findings import findings
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
    assert "Most frequent mix-up: 2 of 4 star were taken for galaxy." in found
    perfect = findings(evaluate(["a", "b"], np.eye(2), ["a", "b"]))
    assert perfect[0] == "All objects of every class were found."
