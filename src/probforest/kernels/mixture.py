"""A mixture of normal distributions in d dimensions, and what it says about objects measured with noise and holes.

A measured object is a place o and a variance v in each dimension: infinite where nothing was measured, 0 where it is
exact. For a component N(μ, C), with A = C + diag(v) in the measured dimensions, the true values have the mean
μ + C A⁻¹ (o − μ) and the covariance C − C A⁻¹ C. With A = UᵀU (Cholesky), both come from G = U⁻ᵀ C and u = U⁻ᵀ (o − μ).

Loops go along rows of memory and carry no sum, so that they become vector instructions. Products are added up in whole
matrices: rows of the same length are faster than half as many numbers in a triangle.
"""

import math

import numpy as np

from .jit import kernel
from .layout import REAL, Mixture, MixtureSpace, MixtureSums

_LOG_TWO_PI = math.log(2.0 * math.pi)


@kernel
def measured_dimensions(variance, seen):
    """The dimensions with a finite `variance` (d,) into `seen` (d,); returns their number."""
    n_seen = 0
    for j in range(variance.shape[0]):
        if variance[j] < np.inf:
            seen[n_seen] = j
            n_seen += 1
    return n_seen


@kernel
def factorise(variance, covariance, seen, n_seen, factor):
    """U of A = UᵀU, the `covariance` (d, d) of true values plus the `variance` (d,) of the noise in the dimensions
    `seen`, into the upper triangle of `factor`."""
    for a in range(n_seen):
        row, of_feature = factor[a], covariance[seen[a]]
        for b in range(a, n_seen):
            row[b] = of_feature[seen[b]]
        row[a] += variance[seen[a]]
    for c in range(n_seen):
        row = factor[c]
        inverse = 1.0 / math.sqrt(row[c])
        for b in range(c, n_seen):
            row[b] *= inverse
        for a in range(c + 1, n_seen):
            share, other = row[a], factor[a]
            for b in range(a, n_seen):
                other[b] -= share * row[b]


@kernel
def explain(place, variance, mean, covariance, seen, n_seen, factor, gain, whitened):
    """Fill `gain` (n_seen rows, d) with G and `whitened` (n_seen,) with u of one object and one component; returns the
    logarithm of the object's density."""
    n_features = place.shape[0]
    factorise(variance, covariance, seen, n_seen, factor)
    for a in range(n_seen):
        whitened[a] = place[seen[a]] - mean[seen[a]]
        to, source = gain[a], covariance[seen[a]]
        for j in range(n_features):
            to[j] = source[j]
    squares, log_volume = 0.0, 0.0
    for c in range(n_seen):
        row, done = factor[c], gain[c]
        inverse = 1.0 / row[c]
        log_volume += math.log(row[c])
        whitened[c] *= inverse
        here = whitened[c]
        squares += here * here
        for j in range(n_features):
            done[j] *= inverse
        for a in range(c + 1, n_seen):
            share, to = row[a], gain[a]
            whitened[a] -= share * here
            for j in range(n_features):
                to[j] -= share * done[j]
    return -0.5 * squares - log_volume - 0.5 * n_seen * _LOG_TWO_PI


@kernel
def to_shares(log_density, shares):
    """Replace logarithms of densities (K,), each times the share of its component, by what they are of their sum;
    returns the logarithm of that."""
    largest = log_density[0]
    for k in range(1, shares.shape[0]):
        largest = max(largest, log_density[k])
    total = 0.0
    for k in range(shares.shape[0]):
        shares[k] = math.exp(log_density[k] - largest)
        total += shares[k]
    for k in range(shares.shape[0]):
        shares[k] /= total
    return largest + math.log(total)


@kernel
def posterior_mean(mean, gain, whitened, n_seen, out):
    """μ + Gᵀu into `out` (d,)."""
    for j in range(out.shape[0]):
        out[j] = mean[j]
    for c in range(n_seen):
        here, row = whitened[c], gain[c]
        for j in range(out.shape[0]):
            out[j] += here * row[j]


@kernel
def add_expectations(place, variance, weight, mixture, sums, space):
    """The E step for objects (n, d): add to `sums` what each component expects of their true values."""
    n_components, n_features = mixture.mean.shape
    for i in range(place.shape[0]):
        n_seen = measured_dimensions(variance[i], space.seen)
        for k in range(n_components):
            mean, covariance, gain = mixture.mean[k], mixture.covariance[k], space.gain[k]
            space.log_density[k] = math.log(mixture.share[k]) + explain(
                place[i], variance[i], mean, covariance, space.seen, n_seen, space.factor, gain, space.whitened
            )
            posterior_mean(mean, gain, space.whitened, n_seen, space.mean[k])
        sums.log_likelihood[0] += weight[i] * to_shares(space.log_density, space.shares)
        for k in range(n_components):
            mass, expected = weight[i] * space.shares[k], space.mean[k]
            sums.mass[k] += mass
            for a in range(n_features):
                first, second, covariance = mass * expected[a], sums.second[k, a], mixture.covariance[k, a]
                sums.first[k, a] += first
                for b in range(n_features):
                    second[b] += first * expected[b] + mass * covariance[b]
            for c in range(n_seen):
                row = space.gain[k, c]
                for a in range(n_features):
                    share, second = mass * row[a], sums.second[k, a]
                    for b in range(n_features):
                        second[b] -= share * row[b]


@kernel
def mixture_posteriors(place, variance, mixture, mean, spread, log_likelihood, space):
    """Mean and variance of the true values of objects into `mean` and `spread` (n, d), and how likely each object was,
    into `log_likelihood` (n,)."""
    n_components, n_features = mixture.mean.shape
    for i in range(place.shape[0]):
        n_seen = measured_dimensions(variance[i], space.seen)
        for k in range(n_components):
            covariance, gain, own_spread = mixture.covariance[k], space.gain[0], space.spread[k]
            space.log_density[k] = math.log(mixture.share[k]) + explain(
                place[i], variance[i], mixture.mean[k], covariance, space.seen, n_seen, space.factor, gain,
                space.whitened,
            )  # fmt: skip
            posterior_mean(mixture.mean[k], gain, space.whitened, n_seen, space.mean[k])
            for j in range(n_features):
                own_spread[j] = covariance[j, j]
            for c in range(n_seen):
                row = gain[c]
                for j in range(n_features):
                    own_spread[j] -= row[j] * row[j]
        log_likelihood[i] = to_shares(space.log_density, space.shares)
        to_mean, to_spread = mean[i], spread[i]
        for j in range(n_features):
            to_mean[j] = 0.0
            to_spread[j] = 0.0
        for k in range(n_components):
            for j in range(n_features):
                to_mean[j] += space.shares[k] * space.mean[k, j]
        for k in range(n_components):
            for j in range(n_features):
                off = space.mean[k, j] - to_mean[j]
                to_spread[j] += space.shares[k] * (max(space.spread[k, j], 0.0) + off * off)


# Not kernels: arrays that are made in Python need not be compiled.
def mixture_space(mixture: Mixture) -> MixtureSpace:
    """Scratch space for the kernels above."""
    n_components, d = mixture.mean.shape
    return MixtureSpace(
        seen=np.empty(d, dtype=np.int64),
        factor=np.empty((d, d), dtype=REAL),
        gain=np.empty((n_components, d, d), dtype=REAL),
        whitened=np.empty(d, dtype=REAL),
        mean=np.empty((n_components, d), dtype=REAL),
        spread=np.empty((n_components, d), dtype=REAL),
        log_density=np.empty(n_components, dtype=REAL),
        shares=np.empty(n_components, dtype=REAL),
    )


def expectations(place: np.ndarray, variance: np.ndarray, weight: np.ndarray, mixture: Mixture) -> MixtureSums:
    """The sums of the E step over objects (n, d)."""
    n_components, d = mixture.mean.shape
    shapes = (n_components,), (n_components, d), (n_components, d, d), (1,)
    sums = MixtureSums(*(np.zeros(shape, dtype=REAL) for shape in shapes))
    add_expectations(place, variance, weight, mixture, sums, mixture_space(mixture))
    return sums


def posteriors(place: np.ndarray, variance: np.ndarray, mixture: Mixture) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean and variance (n, d) of the true values of objects, and their log-likelihood (n,)."""
    mean, spread = np.empty(place.shape, dtype=REAL), np.empty(place.shape, dtype=REAL)
    log_likelihood = np.empty(len(place), dtype=REAL)
    mixture_posteriors(place, variance, mixture, mean, spread, log_likelihood, mixture_space(mixture))
    return mean, spread, log_likelihood
