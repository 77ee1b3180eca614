"""The loss of raw scores, its gradients and hessians: what boosted trees learn.

Raw scores are logarithms of class probabilities up to a constant, q = softmax(raw); of two classes, only the difference
of both is kept, as the score of the second one. The loss of an object is the negative log likelihood of its label. A
label that is a PMF p is what an observer made of the true class, who knew the class frequencies π (the mean PMF): given
the true class c, it has a likelihood proportional to p_c / π_c, so that

    loss = −log Σ_c q_c p_c / π_c ,    ∂ loss / ∂ raw_c = q_c − r_c ,    r_c ∝ q_c p_c / π_c ,

where r are the probabilities of the classes given both the label and the features. A hard label is r itself. Features
may explain a label as a mistake, and a label has no weight beyond what it says.

The second derivative q_c (1 − q_c) − r_c (1 − r_c) is negative where features contradict a doubtful label, and of any
size where a label that says next to nothing meets a sure prediction. A node takes what can be expected of it, the
Fisher information: if a label is right about class c with a probability of 1 − e, and wrong with e, it is

    v² s² / (v s² + e (1 − e)) ,    v = q_c (1 − q_c) ,    s = 1 − 2e = |r_c − q_c| / (r_c + q_c − 2 q_c r_c) ,

as (1 − e) / e is the ratio of the odds of r_c and q_c. For hard labels it is v, for labels that say nothing 0.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.special import expit, log_softmax, logsumexp, softmax

from ..inputs.labels import LabelTable
from ..kernels.best_first import GrowSpace

_LEAST_FREQUENCY = 1e-15  # of a class: it has a logarithm, even if no object has any weight in it
_LEAST_HESSIAN = 1e-16  # where a probability is rounded to 0 or 1, a node must not divide by 0


class Loss(Protocol):
    """What boosting needs to know of a loss of n objects; raw scores are (n_scores, n).

    They may be scaled: true ones are `center` + `unit` × these, and true hessians and gains of splits `hessian_unit`
    and `gain_unit` × those.
    """

    @property
    def baseline(self) -> np.ndarray: ...

    @property
    def n_scores(self) -> int: ...

    @property
    def center(self) -> float: ...

    @property
    def unit(self) -> float: ...

    @property
    def hessian_unit(self) -> float: ...

    @property
    def gain_unit(self) -> float: ...

    @property
    def largest_step(self) -> float: ...

    @property
    def revises_leaves(self) -> bool: ...

    def at(self, raw: np.ndarray) -> "Loss": ...

    def derivatives(self, raw: np.ndarray) -> np.ndarray: ...

    def write_steps(self, n_nodes: int, space: GrowSpace, raw: np.ndarray) -> None: ...

    def of_objects(self, raw: np.ndarray) -> np.ndarray: ...

    def mean(self, raw: np.ndarray, weight: np.ndarray) -> float: ...

    def mean_of(self, losses: np.ndarray, weight: np.ndarray) -> float: ...


@dataclass(frozen=True, eq=False)
class LogLoss:
    """The loss of n objects with labels of k classes; raw scores are (n_scores, n)."""

    class_index: np.ndarray  # (n,)
    evidence: np.ndarray | None  # (k, n) log(p / π) of doubtful labels; None: all are hard
    information: np.ndarray | float  # (n,) factor that the weights of doubtful labels have in a node, 1 for hard ones
    baseline: np.ndarray  # (n_scores,) the best raw scores without any features

    center, unit, hessian_unit, gain_unit = 0.0, 1.0, 1.0, 1.0  # scores are not scaled
    largest_step, revises_leaves = np.inf, False

    def at(self, raw: np.ndarray) -> "LogLoss":
        """The loss that a tree is grown on, which is the same for all of them."""
        return self

    def write_steps(self, n_nodes: int, space: GrowSpace, raw: np.ndarray) -> None:
        """Newton steps are good enough for a loss with a curvature."""
        raise NotImplementedError

    @property
    def n_scores(self) -> int:
        """Raw scores per object, and trees per iteration: 1 for two classes, k for more."""
        return len(self.baseline)

    def derivatives(self, raw: np.ndarray) -> np.ndarray:
        """What a node adds up, (n_scores, n, 3): gradient, hessian and 1 of every object.

        Doubtful labels count less in the weight of a node, but not in its loss, which knows what they say.
        """
        columns = np.empty((*raw.shape, 3))
        columns[:, :, 2] = 1.0
        q, r = _second_of_two(raw) if self.n_scores == 1 else softmax(raw, axis=0), self._given_label(raw)
        curvature = q * (1 - q)
        if self.evidence is not None:
            curvature = _information(q, r)
        np.subtract(q, r, out=columns[:, :, 0])
        np.maximum(curvature, _LEAST_HESSIAN, out=columns[:, :, 1])
        if isinstance(self.information, np.ndarray):
            columns[:, :, :2] /= self.information[:, None]
        return columns

    def _given_label(self, raw: np.ndarray) -> np.ndarray:
        """r: 0 or 1 for hard labels."""
        if self.evidence is None:
            return self._hard
        if self.n_scores == 1:
            with np.errstate(invalid="ignore"):  # inf − inf is impossible: a PMF has a class with p > 0
                return expit(raw + (self.evidence[1] - self.evidence[0]))
        return softmax(raw + self.evidence, axis=0)

    @cached_property
    def _hard(self) -> np.ndarray:
        """Hard labels as 0 and 1, (n_scores, n)."""
        classes = np.arange(self.n_scores)[:, None] if self.n_scores > 1 else np.ones((1, 1))
        return (self.class_index == classes).astype(np.float64)

    @cached_property
    def _sign(self) -> np.ndarray:
        """Of two classes with hard labels: 1 and -1 (n,), the raw score × which speaks against the label."""
        return 1.0 - 2.0 * self._hard[0]

    def mean(self, raw: np.ndarray, weight: np.ndarray) -> float:
        """The weighted mean over all objects, with weights as in a node; those that weigh nothing don't count."""
        counted = weight > 0
        return weighted_mean(self.of_objects(raw, counted), self._without_information(weight)[counted])

    def mean_of(self, losses: np.ndarray, weight: np.ndarray) -> float:
        """The same, if the `losses` (n,) of all objects are known."""
        return weighted_mean(losses, self._without_information(weight))

    def _without_information(self, weight: np.ndarray) -> np.ndarray:
        return weight / self.information if isinstance(self.information, np.ndarray) else weight

    def of_objects(self, raw: np.ndarray, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
        """The loss of every object (n,), or of some of them."""
        scores, class_index = raw[:, rows], self.class_index[rows]
        if self.n_scores == 1 and self.evidence is None:  # the most common case, with few arrays
            loss, against = np.abs(scores[0]), scores[0] * self._sign[rows]
            np.log1p(np.exp(np.negative(loss, out=loss), out=loss), out=loss)
            return np.add(loss, np.maximum(against, 0.0, out=against), out=loss)
        if self.n_scores == 1:
            scores = np.concatenate([np.zeros_like(scores), scores])
        log_proba = log_softmax(scores, axis=0)
        if self.evidence is None:
            return -np.take_along_axis(log_proba, class_index[None].astype(np.intp), axis=0)[0]
        return -logsumexp(log_proba + self.evidence[:, rows], axis=0)


def weighted_mean(numbers: np.ndarray, weight: np.ndarray) -> float:
    """The mean of `numbers` (n,), some of which may be infinite where the `weight` (n,) is 0.

    Not by a product of arrays, for which BLAS starts threads, that go on waiting for work while trees are grown.
    """
    with np.errstate(invalid="ignore"):
        total = (weight * numbers).sum()
    if np.isnan(total):
        total = (weight * np.where(weight > 0, numbers, 0.0)).sum()
    return float(total / weight.sum())


def _information(q: np.ndarray, r: np.ndarray) -> np.ndarray:
    """The expected curvature of doubtful labels: q (1 − q) if they are certain, 0 if they say nothing."""
    least, variance = np.finfo(float).tiny, q * (1 - q)
    squared = np.square((r - q) / np.maximum(r + q - 2 * q * r, least))  # how much a label says, 0 to 1
    squared = np.minimum(squared, 1.0)  # in spite of rounding: the denominator below may be tiny
    return np.square(variance) * squared / np.maximum(squared * variance + (1 - squared) / 4, least)


def log_loss(labels: LabelTable, weight: np.ndarray, information: np.ndarray | float = 1.0) -> LogLoss:
    """The loss of labels; frequencies of classes are those among objects with these weights (n,), without the factor
    `information` (n,) that they have for doubtful labels."""
    weight = weight / information
    frequency = np.maximum(labels.class_masses(weight) / weight.sum(), _LEAST_FREQUENCY)
    scores = np.log(frequency)
    baseline = scores[1:] - scores[0] if len(scores) == 2 else scores
    if labels.pmf is None:
        return LogLoss(labels.class_index, None, information, baseline)
    with np.errstate(divide="ignore"):
        evidence = np.ascontiguousarray((np.log(labels.pmf) - scores).T)
    return LogLoss(labels.class_index, evidence, information, baseline)


def _second_of_two(raw: np.ndarray) -> np.ndarray:
    """q of the second of two classes; NumPy's exponentials are vector instructions, which those of SciPy's are not."""
    with np.errstate(over="ignore"):
        return 1.0 / (1.0 + np.exp(-raw))


def probabilities(raw: np.ndarray) -> np.ndarray:
    """Class probabilities (n, k) from raw scores (n_scores, n)."""
    if len(raw) == 1:
        second = expit(raw[0])
        return np.column_stack([expit(-raw[0]), second])
    return np.ascontiguousarray(softmax(raw, axis=0).T)
