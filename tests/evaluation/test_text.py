"""The text has the numbers, and fits into a terminal whatever the classes are called."""

import numpy as np
import pytest

from answers import CLASSES, answers
from probforest.evaluation.scores import evaluate
from probforest.evaluation.text import confusion_text, evaluation_text, per_class_text


@pytest.mark.parametrize("n_classes", [1, 2, 3, 12, 13, 60])
@pytest.mark.parametrize("name", ["{}", "class {}", "cataclysmic variable of the very rare subtype {}", "日本{}"])
def test_text_is_narrow(n_classes, name):
    classes = [name.format(i) for i in range(n_classes)]
    text = evaluation_text(evaluate(*answers(300, classes)[:2], classes, error_size=np.arange(300)))
    assert max(map(len, text.splitlines())) <= 100
    assert ("further" in text) == (n_classes > 12)


def test_text_has_the_numbers():
    truth, proba, sizes = answers()
    evaluation = evaluate(truth, proba, CLASSES, error_size=sizes)
    text = evaluation_text(evaluation)
    assert f"{evaluation.accuracy.value:.3f}" in text
    assert f"{evaluation.log_loss:.3f}" in text
    for name in CLASSES:
        assert name in text
    assert "Size of the errors" in text


def test_names_with_line_breaks_and_escapes_stay_on_their_line():
    classes = ["a\nb", "c\x1b[31m"]
    text = evaluation_text(evaluate(classes, np.eye(2), classes))
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
