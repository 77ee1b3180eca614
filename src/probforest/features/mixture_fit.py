"""Learn the mixture of normal distributions that true values come from, from values with noise and holes.

The EM algorithm of extreme deconvolution (Bovy, Hogg & Roweis 2011). It begins with a single component; then all
components are split along their longest axes, as long as objects that were held out become more likely.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from ..kernels.layout import Mixture, MixtureSums
from ..kernels.mixture import ExpectationSpace, expectation_space, expectations, log_likelihoods, sums_of_objects
from ..support.threads import in_threads, shares_of_threads

_FIRST_STEPS = 8  # of the EM algorithm, to see whether more components help
_LENGTHENING, _LONGEST = 1.2, 1.8  # of steps, from one to the next, and of all
_ENOUGH = 3e-4  # gain of the log-likelihood per object in a step, below which no step follows
_LEAST_GAIN = 1e-3  # of objects that were held out: less is no reason for more components
_FEWEST_OBJECTS = 10  # per component, on average
_LEAST_VARIANCE = 1e-3  # of a component in any direction; a feature has 1 in all
_PSEUDO_OBJECTS = 1.0  # objects that a component has in addition, with the covariance of all: none of them collapses
_LEAST_SHARE = 1e-10  # of a component; its logarithm is a number
_DIGITS = 9  # of a mixture: sums of the same numbers in another order must not make another forest
_PIECE = 512  # objects at a time; sums depend on where pieces end, so that it is the same for any number of threads


class Effort(NamedTuple):
    """How much to do for a mixture."""

    n_objects: int  # that it is learnt from, at most
    most_components: int
    more_steps: int  # of the EM algorithm for each number of components that helps, at most
    last_steps: int  # with all objects and the best number of components, at most


THOROUGH, MODERATE, QUICK = Effort(5000, 32, 8, 20), Effort(2500, 8, 8, 10), Effort(600, 4, 5, 5)


class NoisyPoints(NamedTuple):
    """Measured objects in d dimensions."""

    place: np.ndarray  # (n, d)
    variance: np.ndarray  # (n, d) of the noise; infinite: not measured, 0: exact
    weight: np.ndarray  # (n,) an object of weight 2 counts as two

    def rows(self, index: np.ndarray | slice) -> "NoisyPoints":
        return NoisyPoints(*(np.ascontiguousarray(part[index]) for part in self))


def fit_mixture(points: NoisyPoints, effort: Effort = THOROUGH, n_jobs: int | None = None) -> Mixture | None:
    """The mixture of true values. None if independent standard normal values explain objects that were held out as
    well, or if there are too few to tell."""
    training, test = _halves(points)
    if min(training.weight.sum(), test.weight.sum()) < _FEWEST_OBJECTS:
        return None
    best, mixture = None, _standard(points.place.shape[1])
    likelihood = _log_likelihoods(mixture, test, n_jobs)
    while True:
        mixture = improved(mixture, training, _FIRST_STEPS, n_jobs)
        if not _is_better(_log_likelihoods(mixture, test, n_jobs), likelihood, test.weight):
            break
        best = improved(mixture, training, effort.more_steps, n_jobs)
        likelihood = _log_likelihoods(best, test, n_jobs)
        n_components = 2 * len(best.share)
        if n_components > effort.most_components or n_components * _FEWEST_OBJECTS > training.weight.sum():
            break
        mixture = _split(best)
    return None if best is None else _rounded(improved(best, points, effort.last_steps, n_jobs))


def _halves(points: NoisyPoints) -> tuple[NoisyPoints, NoisyPoints]:
    """Half of the objects, and the other half, chosen by what they are, so that neither the order of rows and features
    nor objects that come twice change the choice."""
    about = points.place.sum(axis=1) / np.sqrt(points.place.shape[1])
    held_out = np.floor(100 * about) % 2 == 0
    return points.rows(~held_out), points.rows(held_out)


def _standard(n_features: int) -> Mixture:
    """N(0, 1) in each dimension."""
    return Mixture(np.ones(1), np.zeros((1, n_features)), np.eye(n_features)[None])


def _log_likelihoods(mixture: Mixture, points: NoisyPoints, n_jobs: int | None) -> np.ndarray:
    def of_piece(piece: NoisyPoints) -> np.ndarray:
        return log_likelihoods(piece.place, piece.variance, mixture)

    return np.concatenate(list(in_threads(of_piece, _pieces(points), n_jobs)))


def _is_better(one: np.ndarray, other: np.ndarray, weight: np.ndarray) -> bool:
    """Whether log-likelihoods (n,) are better than others of the same objects by more than their standard error."""
    gain = np.average(one - other, weights=weight)
    error = np.sqrt(np.average(np.square(one - other - gain), weights=weight) / weight.sum())
    return bool(gain > max(error, _LEAST_GAIN))


def _pieces(points: NoisyPoints) -> list[NoisyPoints]:
    return [points.rows(slice(at, at + _PIECE)) for at in range(0, len(points.weight), _PIECE)]


def improved(mixture: Mixture, points: NoisyPoints, most_steps: int, n_jobs: int | None) -> Mixture:
    """Steps of the EM algorithm, until they gain little.

    Steps go further than the algorithm says, in its direction, so that two thirds as many are enough. If the likelihood
    falls, they have gone too far, and go on from where it would have led.
    """
    pieces, total = _pieces(points), points.weight.sum()
    parts = [pieces[part] for part in shares_of_threads(len(pieces), len(pieces), n_jobs)]
    works = [_EStep(part, expectation_space(mixture)) for part in parts]
    safe, length, before = mixture, 1.0, -np.inf
    for _ in range(most_steps):
        found = in_threads(partial(_EStep.sums, mixture=mixture), works, n_jobs)
        sums = expectations(_added([each for part in found for each in part]), mixture)
        reached = float(sums.log_likelihood) / total
        if reached < before:
            mixture, length, before = safe, 1.0, -np.inf
            continue
        safe = maximised(mixture, sums)
        if reached - before < _ENOUGH:
            break
        mixture, length, before = beyond(mixture, safe, length), min(_LENGTHENING * length, _LONGEST), reached
    return safe


def beyond(start: Mixture, end: Mixture, length: float) -> Mixture:
    """As far from `start` as `length` times the way to `end`; the end itself where no mixture lies there."""
    if length == 1.0:
        return end
    share = start.share * (end.share / start.share) ** length
    mean, covariance = (a + length * (b - a) for a, b in zip(start[1:], end[1:], strict=True))
    is_one = np.linalg.eigvalsh(covariance).min() > _LEAST_VARIANCE
    return Mixture(share / share.sum(), mean, covariance) if is_one else end


class _EStep(NamedTuple):
    """The part of an E step that one thread does."""

    pieces: list[NoisyPoints]
    space: ExpectationSpace

    def sums(self, mixture: Mixture) -> list[MixtureSums]:
        """What is added up over each piece."""
        return [sums_of_objects(*piece, mixture, self.space) for piece in self.pieces]


def _added(all_sums: list[MixtureSums]) -> MixtureSums:
    return MixtureSums(*(np.add.reduce(parts) for parts in zip(*all_sums, strict=True)))


def maximised(mixture: Mixture, sums: MixtureSums) -> Mixture:
    """The M step. Components are drawn a little towards all others, and a single one towards N(0, 1)."""
    n_components, n_features = mixture.mean.shape
    least = _LEAST_SHARE * sums.mass.sum()
    mass = sums.mass + least
    mean = (sums.first + least * mixture.mean) / mass[:, None]
    across = sums.first[:, :, None] * mean[:, None, :]
    scatter = sums.second - across - across.transpose(0, 2, 1)
    scatter += sums.mass[:, None, None] * (mean[:, :, None] * mean[:, None, :])
    pooled = scatter.sum(axis=0) / mass.sum() if n_components > 1 else np.eye(n_features)
    covariance = (scatter + _PSEUDO_OBJECTS * pooled) / (mass + _PSEUDO_OBJECTS)[:, None, None]
    covariance = (covariance + covariance.transpose(0, 2, 1)) / 2 + _LEAST_VARIANCE * np.eye(n_features)
    return Mixture(mass / mass.sum(), mean, covariance)


def _split(mixture: Mixture) -> Mixture:
    """Two components for each, on either side of its centre along its longest axis."""
    length, axes = np.linalg.eigh(mixture.covariance)
    step = 0.5 * np.sqrt(length[:, -1:]) * axes[:, :, -1]
    narrower = mixture.covariance - step[:, :, None] * step[:, None, :]
    return Mixture(
        np.repeat(mixture.share / 2, 2),
        np.stack([mixture.mean - step, mixture.mean + step], axis=1).reshape(-1, mixture.mean.shape[1]),
        np.repeat(narrower, 2, axis=0),
    )


def _rounded(mixture: Mixture) -> Mixture:
    share = np.maximum(np.round(mixture.share, _DIGITS), 10.0**-_DIGITS)
    return Mixture(share / share.sum(), np.round(mixture.mean, _DIGITS), np.round(mixture.covariance, _DIGITS))
