"""A mixture of normal distributions in d dimensions, and what it says about objects measured with noise and holes.

A measured object is a place o and a variance v in each dimension: infinite where nothing was measured, 0 where it is
exact. For a component N(μ, C), with A = C + diag(v) in the measured dimensions and r = A⁻¹ (o − μ), the true values
have the mean μ + C r and the covariance C − C A⁻¹ C. In a measured dimension these are o − v r and v − v² (A⁻¹)ⱼⱼ.

C + diag(v) is swept over the measured dimensions: there it becomes −A⁻¹, and in the others C − C A⁻¹ C; between them
are the coefficients C A⁻¹ with which the others are estimated.

Several objects are worked on at a time, one in each lane: the innermost loops go over lanes, whatever d is, and become
vector instructions. (A number of lanes that the compiler knew would be unrolled instead.) An object has the same bits
in any lane, whatever the others are.
"""

import math

import numpy as np

from .jit import kernel
from .layout import REAL, Mixture, MixtureSpace, MixtureSums

LANES = 32  # objects at a time: their matrices stay in the fastest cache
_LOG_TWO_PI = math.log(2.0 * math.pi)


@kernel
def load(place, variance, first, space):
    """Objects (n, d) from row `first` on into the lanes; nothing was measured in lanes without an object."""
    n_features, n_lanes = space.place.shape
    for lane in range(n_lanes):
        i, there, n_seen = first + lane, first + lane < place.shape[0], 0.0
        for j in range(n_features):
            seen = there and variance[i, j] < np.inf
            space.place[j, lane] = place[i, j] if seen else 0.0
            space.variance[j, lane] = variance[i, j] if seen else 0.0
            space.seen[j, lane] = 1.0 if seen else 0.0
            n_seen += space.seen[j, lane]
        space.n_seen[lane] = n_seen


@kernel
def sweep(matrix, seen, column, scaled, volume):
    """Sweep symmetric, positive definite matrices (d, d, lanes), of which the upper triangles are used, over the
    dimensions that were `seen` (d, lanes); their determinants in these dimensions into `volume` (lanes,)."""
    n_features, n_lanes = seen.shape
    for lane in range(n_lanes):
        volume[lane] = 1.0
    for p in range(n_features):
        pivot, is_seen, inverse = matrix[p, p], seen[p], scaled[p]
        for lane in range(n_lanes):
            volume[lane] *= pivot[lane] if is_seen[lane] > 0.0 else 1.0
            inverse[lane] = is_seen[lane] / pivot[lane]
        for i in range(n_features):
            if i != p:
                source, keep, divided = matrix[min(i, p), max(i, p)], column[i], scaled[i]
                for lane in range(n_lanes):
                    keep[lane] = source[lane]
                    divided[lane] = source[lane] * inverse[lane]
        for i in range(n_features):
            if i != p:
                keep = column[i]
                for j in range(i, n_features):
                    to, divided = matrix[i, j], scaled[j]
                    if j != p:
                        for lane in range(n_lanes):
                            to[lane] -= keep[lane] * divided[lane]
                    else:
                        for lane in range(n_lanes):
                            to[lane] = keep[lane] * inverse[lane] if is_seen[lane] > 0.0 else keep[lane]
        for j in range(p + 1, n_features):
            to, keep = matrix[p, j], column[j]
            for lane in range(n_lanes):
                to[lane] = keep[lane] * inverse[lane] if is_seen[lane] > 0.0 else keep[lane]
        for lane in range(n_lanes):
            pivot[lane] = -inverse[lane] if is_seen[lane] > 0.0 else pivot[lane]


@kernel
def explain(mean, covariance, log_share, space, k):
    """Sweep the matrices of the objects in the lanes and component k, and fill `space.shift` with −r in the measured
    dimensions and C r in the others, and `space.log_density` with the logarithm of density times share."""
    n_features, n_lanes = space.seen.shape
    matrix, shift, log_density = space.swept[k], space.shift[k], space.log_density[k]
    for i in range(n_features):
        for j in range(i, n_features):
            to = matrix[i, j]
            for lane in range(n_lanes):
                to[lane] = covariance[i, j]
        to, noise = matrix[i, i], space.variance[i]
        for lane in range(n_lanes):
            to[lane] += noise[lane]
    sweep(matrix, space.seen, space.column, space.scaled, space.volume)
    for i in range(n_features):
        off, here, seen, to = space.column[i], space.place[i], space.seen[i], shift[i]
        for lane in range(n_lanes):
            off[lane] = seen[lane] * (here[lane] - mean[i])
            to[lane] = 0.0
    for i in range(n_features):
        for j in range(n_features):
            row, off, to = matrix[min(i, j), max(i, j)], space.column[j], shift[i]
            for lane in range(n_lanes):
                to[lane] += row[lane] * off[lane]
    for lane in range(n_lanes):
        log_density[lane] = log_share - 0.5 * (math.log(space.volume[lane]) + space.n_seen[lane] * _LOG_TWO_PI)
    for i in range(n_features):
        off, minus_residual = space.column[i], shift[i]
        for lane in range(n_lanes):
            log_density[lane] += 0.5 * off[lane] * minus_residual[lane]


@kernel
def explain_by_all(place, variance, first, mixture, space):
    """The objects (n, d) from row `first` on, explained by every component; also the probabilities of the components,
    into `space.shares` (K, lanes), and the logarithm of the density of each object, into `space.volume` (lanes,)."""
    n_components, n_lanes = space.shares.shape
    load(place, variance, first, space)
    for k in range(n_components):
        explain(mixture.mean[k], mixture.covariance[k], math.log(mixture.share[k]), space, k)
    for lane in range(n_lanes):
        largest = space.log_density[0, lane]
        for k in range(1, n_components):
            largest = max(largest, space.log_density[k, lane])
        total = 0.0
        for k in range(n_components):
            space.shares[k, lane] = math.exp(space.log_density[k, lane] - largest)
            total += space.shares[k, lane]
        for k in range(n_components):
            space.shares[k, lane] /= total
        space.volume[lane] = largest + math.log(total)


@kernel
def add_expectations(place, variance, weight, mixture, sums, space):
    """The E step for objects (n, d): add to `sums`, lane by lane, what the M step needs of them."""
    n_features, n_lanes = space.seen.shape
    for first in range(0, place.shape[0], n_lanes):
        explain_by_all(place, variance, first, mixture, space)
        for lane in range(n_lanes):
            space.n_seen[lane] = weight[first + lane] if first + lane < place.shape[0] else 0.0
            sums.log_likelihood[lane] += space.n_seen[lane] * space.volume[lane]
        for k in range(mixture.share.shape[0]):
            counts, shares, to = space.n_seen, space.shares[k], sums.mass[k]
            for lane in range(n_lanes):
                shares[lane] *= counts[lane]
                to[lane] += shares[lane]
            for i in range(n_features):
                mass, weighted, seen = space.column[0], space.scaled[0], space.seen[i]
                minus_residual, to = space.shift[k, i], sums.first[k, i]
                for lane in range(n_lanes):
                    mass[lane] = shares[lane] * seen[lane]
                    weighted[lane] = mass[lane] * minus_residual[lane]
                    to[lane] -= weighted[lane]
                for j in range(i, n_features):
                    other, swept, seen = space.shift[k, j], space.swept[k, i, j], space.seen[j]
                    to = sums.second[k, i, j]
                    for lane in range(n_lanes):
                        to[lane] += seen[lane] * (weighted[lane] * other[lane] + mass[lane] * swept[lane])


@kernel
def moments_of_component(mean, space, k):
    """Mean and variance of the true values of the objects in the lanes, if they are of component k, into `space.mean`
    and `space.spread` (K, d, lanes)."""
    n_features, n_lanes = space.seen.shape
    for j in range(n_features):
        center, spread, noise, here = space.mean[k, j], space.spread[k, j], space.variance[j], space.place[j]
        own, shift, seen = space.swept[k, j, j], space.shift[k, j], space.seen[j]
        for lane in range(n_lanes):
            if seen[lane] > 0.0:
                center[lane] = here[lane] + noise[lane] * shift[lane]
                spread[lane] = noise[lane] + noise[lane] * noise[lane] * own[lane]
            else:
                center[lane] = mean[j] + shift[lane]
                spread[lane] = own[lane]


@kernel
def mixture_posteriors(place, variance, mixture, mean, spread, log_likelihood, space):
    """Mean and variance of the true values of objects into `mean` and `spread` (n, d), and how likely each object was,
    into `log_likelihood` (n,)."""
    n_components, n_features, n_lanes = space.mean.shape
    for first in range(0, place.shape[0], n_lanes):
        explain_by_all(place, variance, first, mixture, space)
        n_objects = min(n_lanes, place.shape[0] - first)
        for lane in range(n_objects):
            log_likelihood[first + lane] = space.volume[lane]
        for k in range(n_components):
            moments_of_component(mixture.mean[k], space, k)
        for j in range(n_features):
            center, total = space.column[0], space.volume
            for lane in range(n_lanes):
                center[lane] = 0.0
                total[lane] = 0.0
            for k in range(n_components):
                share, of_component = space.shares[k], space.mean[k, j]
                for lane in range(n_lanes):
                    center[lane] += share[lane] * of_component[lane]
            for k in range(n_components):
                share, of_component, own = space.shares[k], space.mean[k, j], space.spread[k, j]
                for lane in range(n_lanes):
                    off = of_component[lane] - center[lane]
                    total[lane] += share[lane] * (max(own[lane], 0.0) + off * off)
            for lane in range(n_objects):
                mean[first + lane, j] = center[lane]
                spread[first + lane, j] = total[lane]


# Not kernels: arrays that are made in Python need not be compiled.
def mixture_space(mixture: Mixture) -> MixtureSpace:
    """Scratch space for the kernels above."""
    k, d = mixture.mean.shape
    shapes = {
        "place": (d, LANES),
        "variance": (d, LANES),
        "seen": (d, LANES),
        "n_seen": (LANES,),
        "column": (d, LANES),
        "scaled": (d, LANES),
        "volume": (LANES,),
        "swept": (k, d, d, LANES),
        "shift": (k, d, LANES),
        "mean": (k, d, LANES),
        "spread": (k, d, LANES),
        "log_density": (k, LANES),
        "shares": (k, LANES),
    }
    return MixtureSpace(**{name: np.empty(shape, dtype=REAL) for name, shape in shapes.items()})


def expectations(place: np.ndarray, variance: np.ndarray, weight: np.ndarray, mixture: Mixture) -> MixtureSums:
    """The sums of the E step over objects (n, d)."""
    k, d = mixture.mean.shape
    shapes = (k, LANES), (k, d, LANES), (k, d, d, LANES), (LANES,)
    in_lanes = MixtureSums(*(np.zeros(shape, dtype=REAL) for shape in shapes))
    add_expectations(place, variance, weight, mixture, in_lanes, mixture_space(mixture))
    mass, residual, upper, log_likelihood = (part.sum(axis=-1) for part in in_lanes)
    shift = np.einsum("kij,kj->ki", mixture.covariance, residual)
    # Around the component's own centre: M C + C (Σ m r rᵀ − Σ m A⁻¹) C.
    products = upper + np.triu(upper, 1).transpose(0, 2, 1)
    second = mixture.covariance @ products @ mixture.covariance + mass[:, None, None] * mixture.covariance
    across = mixture.mean[:, :, None] * shift[:, None, :]
    own = mass[:, None, None] * (mixture.mean[:, :, None] * mixture.mean[:, None, :])
    first = mass[:, None] * mixture.mean + shift
    return MixtureSums(mass, first, second + across + across.transpose(0, 2, 1) + own, log_likelihood[None])


def posteriors(place: np.ndarray, variance: np.ndarray, mixture: Mixture) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean and variance (n, d) of the true values of objects, and their log-likelihood (n,)."""
    mean, spread = np.empty(place.shape, dtype=REAL), np.empty(place.shape, dtype=REAL)
    log_likelihood = np.empty(len(place), dtype=REAL)
    mixture_posteriors(place, variance, mixture, mean, spread, log_likelihood, mixture_space(mixture))
    return mean, spread, log_likelihood
