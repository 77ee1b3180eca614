"""The worst mistakes of a model: wrong answers that left next to nothing for the truth."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

MOST_MISTAKES = 8


class Mistake(NamedTuple):
    """An object with a wrong answer."""

    place: int  # which of the objects
    truth: str
    answer: str
    proba_of_answer: float
    proba_of_truth: float


def worst_mistakes(
    codes: np.ndarray, proba: np.ndarray, names: Sequence[str], index: np.ndarray
) -> tuple[Mistake, ...]:
    """The wrong answers with the lowest probabilities of the true classes, the worst first. `index` (n,) are the places
    of the objects, `codes` (n,) those of their true classes in `names` (k)."""
    answers, rows = proba.argmax(axis=1), np.arange(len(codes))
    of_truth, of_answer = proba[rows, codes], proba[rows, answers]
    wrong = np.flatnonzero(answers != codes)
    worst = wrong[np.lexsort([-of_answer[wrong], of_truth[wrong]])][:MOST_MISTAKES]
    return tuple(
        Mistake(int(index[i]), names[codes[i]], names[answers[i]], float(of_answer[i]), float(of_truth[i]))
        for i in worst.tolist()
    )
