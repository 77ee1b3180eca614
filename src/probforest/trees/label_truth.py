"""From what labels say to what is true.

The mean PMF of many objects is not the probability of their true classes: of objects that are all A, with labels that
are right in 80 %, it is 0.68. With T (k, k), whose row c is the mean PMF of objects whose true class is c, the mean PMF
of objects with the true classes q is q T. Here is T, and the way back from a mean PMF to q.

A mean over few objects is noisy, and T⁻¹ enlarges the noise. So q is not z = P T⁻¹, which need not be a PMF, but

    q = argmin ½ |q − z|² − s Σ_c m_c log q_c     on the simplex,

the most probable q if z is a measurement of it and there is a weak prior around the class frequencies m. The larger the
`softness` s, the farther q is from 0 and 1. It should be about the variance of z in a leaf, which follows from the size
of leaves. From there, log s is a posterior mean, learnt from answers for objects that were held out, whose labels have
the likelihood Π_i Σ_c q_ic p_ic / π_c with the mean PMF π. So answers are no harder than the labels warrant.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

LEAST_SOFTNESS, LARGEST_SOFTNESS = 1e-12, 1e12  # even with the least, no probability is exactly 0
_STEPS = 4.0 ** np.arange(-12, 20)  # softness that is tried; times the share of information that is lost
_PRIOR_WIDTH = np.log(8.0)  # of log s, around what is expected from the size of leaves
_TREES_THAT_AVERAGE = 16  # leaves have labels that agree by choice, and say more than they know: not so in a forest
_MOST_JUDGED = 50_000  # objects that the softness is learnt from
INFORMATION_SHARE = 0.2  # of a leaf's PMF: the mean that is weighted by label information. See `leaf_labels`.

_SINGULAR = 1e-6  # singular values of T, relative to the largest, that count as 0: they would enlarge rounding errors
_BLOCK, _FEWEST = 32_768, 16  # numbers at a time, which stay in the cache; of so many objects at least
_MOST_NEWTON_STEPS, _CONVERGED = 100, 1e-12
_TINY = 1e-300  # instead of 0 in a denominator


@dataclass(frozen=True, eq=False)
class LabelTruth:
    """How mean PMFs of leaves depend on true classes; k classes. Classes without weight have a prior of 0."""

    channel: np.ndarray  # (k, k), T: row c is the mean PMF in a leaf of objects whose true class is c
    prior: np.ndarray  # (k,) m, the classes as they count in leaves; sums to 1
    scale: np.ndarray  # (k,), at most 1, from classes as they count in leaves to class-weighted frequencies
    softness: float  # s, above 0
    wrong: float  # expected share of objects whose most probable class, by the label, is not the true one

    def answers(self, mean_pmf: np.ndarray) -> np.ndarray:
        """Probabilities of the true classes (n, k) from mean PMFs (n, k); rows of NaN stay."""
        answers = np.where(np.isnan(mean_pmf), np.nan, 0.0)
        n_rows = max(_FEWEST, _BLOCK // len(self.prior))
        for first in range(0, len(mean_pmf), n_rows):
            block = slice(first, first + n_rows)
            masses = self.scale[self._present, None] * self._in_leaves(mean_pmf[block, self._present].T)
            answers[block, self._present] = (masses / np.maximum(_sum(masses), _TINY)).T
        return answers

    def _in_leaves(self, mean_pmf: np.ndarray) -> np.ndarray:
        """q (k, n) of mean PMFs (k, n). Sums are written out: those of NumPy and BLAS depend on how many objects there
        are, and an object must have the same answer alone and together with others."""
        prior = self.prior[self._present, None]
        off = mean_pmf - (self.prior @ self.channel)[self._present, None]
        # What labels can't tell stays as it is in the prior.
        z = prior + _sum(row[:, None] * part for row, part in zip(self._inverse, off, strict=True))
        return _on_simplex(z, self.softness * prior)

    @cached_property
    def _present(self) -> np.ndarray:
        return np.flatnonzero(self.prior > 0)

    @cached_property
    def _inverse(self) -> np.ndarray:
        return np.linalg.pinv(self.channel[np.ix_(self._present, self._present)], rcond=_SINGULAR)

    @property
    def information(self) -> float:
        """1 for hard labels, 0 if labels say nothing: (trace T − 1)/(k − 1)."""
        n_present = len(self._present)
        trace = np.trace(self.channel[np.ix_(self._present, self._present)])
        return float(np.clip((trace - 1) / (n_present - 1), 0.0, 1.0)) if n_present > 1 else 1.0


class DoubtfulLabels(NamedTuple):
    """Labels of n objects that weigh something, not all of them hard."""

    pmf: np.ndarray  # (n, k), as given
    weight: np.ndarray  # (n,) > 0, as given: information and class weights multiply it
    information: np.ndarray  # (n,) > 0, of each label; ones if labels count alike
    class_weight: np.ndarray  # (k,) that PMFs in leaves are multiplied by
    wanted_class_weight: np.ndarray  # (k,) that true frequencies are multiplied by


class HeldOut(NamedTuple):
    """What a model says about objects of its training set that it has not seen."""

    rows: np.ndarray  # (m,) which objects
    mean_pmf: np.ndarray  # (m, k)
    share_of_trees: float = 1.0  # that a mean is over


def learn_label_truth(
    labels: DoubtfulLabels, leaves_per_tree: Sequence[int], held_out: HeldOut | None = None
) -> LabelTruth:
    """T, and the softness from answers for objects that were held out, or else from the number and size of leaves."""
    truth = _softened_by_size(_unsoftened(labels), float(labels.weight.sum() / np.mean(leaves_per_tree)))
    if held_out is None:
        softness = truth.softness * max(1.0, _TREES_THAT_AVERAGE / len(leaves_per_tree))
        truth = replace(truth, softness=min(softness, LARGEST_SOFTNESS))
    else:
        truth = _softened(truth, labels, held_out)
    scale = truth.scale * labels.wanted_class_weight
    return replace(truth, scale=scale / scale[truth.prior > 0].max())


def _unsoftened(labels: DoubtfulLabels) -> LabelTruth:
    """Answers are true frequencies, without class weights."""
    pmf, weight, class_weight = labels.pmf, labels.weight, labels.class_weight
    plain, weighted = (_mean_pmfs(pmf, each) for each in (weight, weight * labels.information))
    # An object of true class c counts in a leaf with the class weights of what its label says.
    counted = plain @ class_weight
    prior = np.where((class_weight > 0) & (labels.wanted_class_weight > 0), weight @ pmf * counted, 0.0)
    share = INFORMATION_SHARE
    return LabelTruth(
        channel=(1 - share) * _reweighted(plain, class_weight) + share * _reweighted(weighted, class_weight),
        prior=prior / prior.sum(),
        scale=1.0 / np.where(counted > 0, counted, 1.0),
        softness=LARGEST_SOFTNESS,
        wrong=float(weight @ (1 - pmf.max(axis=1)) / weight.sum()),
    )


def _softened(truth: LabelTruth, labels: DoubtfulLabels, held_out: HeldOut) -> LabelTruth:
    """The softness by the labels of objects that were held out, its prior being around that of `truth`."""
    frequencies = labels.weight @ labels.pmf / labels.weight.sum()
    evidence = labels.pmf[held_out.rows] / np.where(frequencies > 0, frequencies, 1.0)
    weight = labels.weight[held_out.rows] / labels.weight.mean()
    candidates = list(_candidates(truth))
    sums = [np.sum(each.answers(held_out.mean_pmf) * evidence, axis=1) for each in candidates]
    fits = [weight @ np.log(np.maximum(each, _TINY)) for each in sums]  # 0: a label of a class without weight
    logs = np.log([each.softness for each in candidates])
    off = (logs - np.log(truth.softness)) / _PRIOR_WIDTH
    softness = np.exp(softmax(fits - off**2 / 2) @ logs)
    # With all trees there is less noise: none of it, or all of it, averages out. This is midway.
    softness *= np.sqrt(held_out.share_of_trees)
    rounded = float(f"{softness:.1e}")  # so that the last digits of a few answers do not change those of all objects
    return replace(truth, softness=max(rounded, LEAST_SOFTNESS))


def _softened_by_size(truth: LabelTruth, objects_per_leaf: float) -> LabelTruth:
    """The softness is the variance of z in a leaf of so many objects."""
    softness = _variance_of_one_label(truth) / objects_per_leaf
    return replace(truth, softness=float(np.clip(softness, LEAST_SOFTNESS, LARGEST_SOFTNESS)))


def judged_objects(n_objects: int) -> np.ndarray:
    """Which objects (n,) the softness is learnt from."""
    return np.arange(n_objects) % max(1, -(-n_objects // _MOST_JUDGED)) == 0


def _candidates(truth: LabelTruth) -> Iterator[LabelTruth]:
    """From hard to soft, at least to 1 and to what a single label is worth. The closer labels are to hard ones, the
    harder all of them."""
    largest = max(1.0, _variance_of_one_label(truth))
    for step in _STEPS[largest >= _STEPS]:
        yield replace(truth, softness=max(float(step) * (1 - truth.information), LEAST_SOFTNESS))


def _variance_of_one_label(truth: LabelTruth) -> float:
    """Mean variance of z of a single object, beyond that of a hard label."""
    spread = np.sum(truth.prior * (1 - truth.prior)) / np.count_nonzero(truth.prior)
    return float(spread * (1 - truth.information) / max(truth.information, _SINGULAR))


def _mean_pmfs(pmf: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """T_cc' = Σ_i w_i p_ic p_ic' / Σ_i w_i p_ic; a class that nobody has is certain."""
    masses = weight @ pmf
    means = (pmf * weight[:, None]).T @ pmf / np.where(masses > 0, masses, 1.0)[:, None]
    return np.where((masses > 0)[:, None], means, np.eye(len(masses)))


def _reweighted(means: np.ndarray, class_weight: np.ndarray) -> np.ndarray:
    """Mean PMFs (k, k) of objects that count with `class_weight` (k,)."""
    masses = means * class_weight
    total = masses.sum(axis=1)
    return np.where((total > 0)[:, None], masses / np.where(total > 0, total, 1.0)[:, None], np.eye(len(total)))


def _sum(parts: Iterable[np.ndarray]) -> np.ndarray:
    return reduce(np.add, parts)


def _on_simplex(z: np.ndarray, barrier: np.ndarray) -> np.ndarray:
    """argmin ½ |q − z|² − Σ_c b_c log q_c on the simplex for every column of z (k, n); b is (k, 1), above 0.

    q_c (q_c − z_c + λ) = b_c, with λ such that Σ q = 1. The sum is a convex, falling function of λ, and above 1 where
    Newton's method begins, so that each step goes to the right and none too far.
    """
    z = z - reduce(np.maximum, z)
    multiplier = np.full(z.shape[1], -1.0)
    for _ in range(_MOST_NEWTON_STEPS):
        q, slope = _roots(z - multiplier, barrier)
        excess = _sum(q) - 1.0
        unfinished = excess > _CONVERGED
        if not unfinished.any():
            break
        # Each object stops by itself, whoever else is there.
        multiplier = np.where(unfinished, multiplier + excess / _sum(slope), multiplier)
    return q


def _roots(distance: np.ndarray, barrier: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The positive q with q (q − distance) = barrier, without cancellation, and dq/d distance."""
    root = np.maximum(np.sqrt(distance * distance + 4 * barrier), _TINY)
    larger = (np.abs(distance) + root) / 2
    q = np.where(distance > 0, larger, barrier / larger)
    return q, q / root
