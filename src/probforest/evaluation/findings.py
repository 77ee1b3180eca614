"""What stands out in an Evaluation, in sentences."""

from collections.abc import Mapping

import numpy as np

from ..support.wording import shortened
from .scores import Evaluation
from .tables import percent

LONGEST_NAME = 28
SHIFTS_TITLE = "Errors that are not like those of the training set"


def findings(evaluation: Evaluation) -> tuple[str, ...]:
    """The hardest class, the most frequent mix-up and the like, a sentence each."""
    sentences = (
        _hardest_class(evaluation),
        _most_frequent_mix_up(evaluation),
        _calibration(evaluation),
        _most_confident_half(evaluation),
        _effect_of_errors(evaluation),
    )
    return tuple(sentence for sentence in sentences if sentence)


def shift_lines(error_shifts: Mapping[str, str]) -> list[str]:
    """Errors and how large they are, a line each.

    >>> shift_lines({"error of mag": "3 times those of the training set"})
    ['error of mag: 3 times those of the training set']
    """
    return [f"{shortened(name, 2 * LONGEST_NAME)}: {how_large}" for name, how_large in error_shifts.items()]


def _hardest_class(evaluation: Evaluation) -> str:
    there = [scores for scores in evaluation.per_class if scores.n_objects]
    hardest = min(there, key=lambda scores: scores.recall)
    if hardest.recall == 1:
        return "All objects of every class were found."
    found = round(hardest.recall * hardest.n_objects)
    name = shortened(hardest.name, LONGEST_NAME)
    return f"Hardest class: {name}, of which {found:,} of {hardest.n_objects:,} were found ({percent(hardest.recall)})."


def _most_frequent_mix_up(evaluation: Evaluation) -> str:
    wrong = evaluation.confusion - np.diag(np.diag(evaluation.confusion))
    if not wrong.any():
        return ""
    row, column = np.unravel_index(np.argmax(wrong), wrong.shape)
    true, said = (shortened(evaluation.names[i], LONGEST_NAME) for i in (row, column))
    n_true = evaluation.confusion[row].sum()
    return f"Most frequent mix-up: {wrong[row, column]:,} of {n_true:,} {true} were taken for {said}."


def _calibration(evaluation: Evaluation) -> str:
    expected, accuracy = evaluation.mean_proba, evaluation.accuracy
    if accuracy.low <= expected <= accuracy.high:
        verdict = "honest"
    else:
        verdict = "too sure" if expected > accuracy.value else "too modest"
    numbers = f"Mean probability of the answers {expected:.3f}, accuracy {accuracy.value:.3f}"
    return f"{numbers}: on average, the model is {verdict}."


def _most_confident_half(evaluation: Evaluation) -> str:
    half = next(point for point in evaluation.coverage if point.share >= 0.5 - 1e-9)
    if half.share == 1:
        return ""
    threshold, accuracy = half.least_proba, half.accuracy.value
    return f"Accuracy of the most confident {percent(half.share)} (probability from {threshold:.3f}): {accuracy:.3f}."


def _effect_of_errors(evaluation: Evaluation) -> str:
    bins = [bin for bin in evaluation.error_sizes if not bin.is_unknown]
    if len(bins) < 2:
        return ""
    small, large = (bin.accuracy.value for bin in (bins[0], bins[-1]))
    return f"Accuracy with the smallest errors: {small:.3f}, with the largest: {large:.3f}."
