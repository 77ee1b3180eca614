"""What stands out in an Evaluation, in sentences."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..support.wording import shortened
from .accuracy import Accuracy, share_right
from .scores import Evaluation
from .tables import percent

LONGEST_NAME = 28
LEAST_GAIN = 0.002  # of accuracy, that is worth a word
SHIFTS_TITLE = "Errors that are not like those of the training set"


class OutOfBag(NamedTuple):
    """What the out-of-bag answers of the training set scored."""

    accuracy: Accuracy
    log_loss: float
    of_this_table: bool = False  # whether this is the training set

    @property
    def scores(self) -> tuple[float, float]:
        """Accuracy and log loss."""
        return self.accuracy.value, self.log_loss


class ErrorCosts(NamedTuple):
    """What the errors of each feature cost: gains of accuracy that are expected without them, the largest first."""

    names: list[str]
    gains: np.ndarray  # (d,)
    errors: np.ndarray  # (d,) standard errors of the gains
    n_objects: int  # of the sample that they were computed from


def findings(
    evaluation: Evaluation, out_of_bag: OutOfBag | None = None, error_costs: ErrorCosts | None = None
) -> tuple[str, ...]:
    """The hardest class, the largest mix-up and the like, a sentence each."""
    sentences = (
        _hardest_class(evaluation),
        _largest_mix_up(evaluation),
        _calibration(evaluation),
        _most_confident_half(evaluation),
        _effect_of_errors(evaluation),
        _out_of_bag(evaluation, out_of_bag),
        _limiting_error(error_costs),
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


def _largest_mix_up(evaluation: Evaluation) -> str:
    """The largest share of a class that was taken for another one; a few objects alone don't make a large share."""
    wrong = evaluation.confusion - np.diag(np.diag(evaluation.confusion))
    if not wrong.any():
        return ""
    n_true = evaluation.confusion.sum(axis=1)
    sure_of = [
        [share_right(int(n), int(of)).low if n else 0.0 for n in row] for row, of in zip(wrong, n_true, strict=True)
    ]
    row, column = np.unravel_index(np.argmax(sure_of), wrong.shape)
    true, said = (shortened(evaluation.names[i], LONGEST_NAME) for i in (row, column))
    n_wrong, of = wrong[row, column], n_true[row]
    return f"Largest mix-up: {n_wrong:,} of {of:,} {true} ({percent(n_wrong / of)}) were taken for {said}."


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


def _out_of_bag(evaluation: Evaluation, out_of_bag: OutOfBag | None) -> str:
    """Whether the table is like the training set, as far as both intervals tell."""
    if out_of_bag is None:
        return ""
    then, now = out_of_bag.accuracy, evaluation.accuracy
    numbers = f"Out-of-bag accuracy in training {then.value:.3f}, here {now.value:.3f}"
    if out_of_bag.of_this_table:
        return f"{numbers}: the model has seen these objects."
    if then.value > now.value + np.hypot(then.value - then.low, now.high - now.value):
        return f"{numbers}: lower than expected. Is this table like the training set?"
    if then.value < now.value - np.hypot(then.high - then.value, now.value - now.low):
        return f"{numbers}: higher than expected. Is this table like the training set?"
    return f"{numbers}: as expected."


def _limiting_error(error_costs: ErrorCosts | None) -> str:
    """Which errors limit the accuracy."""
    if error_costs is None or error_costs.gains[0] < max(LEAST_GAIN, 2 * error_costs.errors[0]):
        return "" if error_costs is None else "No error of a single feature limits the accuracy noticeably."
    name, gain = shortened(error_costs.names[0], LONGEST_NAME), error_costs.gains[0]
    return f"The errors of {name} limit the accuracy most: without them it is expected to be {gain:.3f} higher."
