"""A mixture of normal distributions in d dimensions, and what it says about objects measured with noise and holes.

A measured object is a place o and a variance v in each dimension: infinite where nothing was measured, 0 where it is
exact. For a component N(μ, C), with A = C + diag(v) in the measured dimensions and r = A⁻¹ (o − μ), the true values
have the mean μ + C r and the covariance C − C A⁻¹ C. In a measured dimension these are o − v r and v − v² (A⁻¹)ⱼⱼ.

A = L Lᵀ (Cholesky). The density needs y = L⁻¹ (o − μ) and the determinant only; L⁻¹, from which A⁻¹ = L⁻ᵀ L⁻¹ and
r = L⁻ᵀ y follow, is computed for components that an object may be of. In dimensions that were not measured, A is the
unit matrix, and L⁻¹ is set to 0: they add nothing to any sum.

Several objects are worked on at a time, one in each lane (lanes.py). An object has the same bits in any lane, whatever
the others are.
"""

import math
from typing import NamedTuple

import numpy as np

from .jit import inlined, kernel
from .lanes import LANES, aligned_rows, in_all, inverse_root, load, plus, product, rest, store
from .layout import REAL, Mixture, MixtureSpace, MixtureSums

_LOG_TWO_PI = math.log(2.0 * math.pi)
_LEAST_SHARE = 1e-10  # of the probability of an object: a component with less takes no part


@kernel
def load_objects(place, variance, first, space):
    """Objects (n, d) from row `first` on into the lanes; nothing was measured in lanes without an object."""
    n_features, n_lanes = space.place.shape
    for j in range(n_features):
        space.has_holes[j] = False
    for lane in range(n_lanes):
        i, there, n_seen = first + lane, first + lane < place.shape[0], 0.0
        for j in range(n_features):
            seen = there and variance[i, j] < np.inf
            space.place[j, lane] = place[i, j] if seen else 0.0
            space.variance[j, lane] = variance[i, j] if seen else 1.0
            space.seen[j, lane] = 1.0 if seen else 0.0
            space.has_holes[j] |= there and not seen
            n_seen += space.seen[j, lane]
        space.n_seen[lane] = n_seen


@inlined
def fill(mean, covariance, space, factor):
    """A of the objects in the lanes into the lower triangle of `factor` (d + 1, d, L), and o − μ into its last row."""
    n_features = mean.shape[0]
    seen, off = space.seen, factor[n_features]
    for i in range(n_features):
        row, seen_here = factor[i], load(seen, i)
        for j in range(i):
            store(row, j, product(product(seen_here, load(seen, j)), in_all(covariance[i, j])))
        store(row, i, plus(load(space.variance, i), seen_here, in_all(covariance[i, i])))
        store(off, i, rest(load(space.place, i), seen_here, in_all(mean[i])))


@inlined
def less_products(left, row, other, first, last):
    """`left` − Σ row[k] other[k] over first <= k < last."""
    for k in range(first, last):
        left = rest(left, load(row, k), load(other, k))
    return left


@inlined
def less_products_of_four(a, b, c, d, rows, at, other, first, last):
    """The same for `rows` (…, n, L) from `at` on, for four of them at a time: `other` is read once for all."""
    row_a, row_b, row_c, row_d = rows[at], rows[at + 1], rows[at + 2], rows[at + 3]
    for k in range(first, last):
        shared = load(other, k)
        a, b = rest(a, load(row_a, k), shared), rest(b, load(row_b, k), shared)
        c, d = rest(c, load(row_c, k), shared), rest(d, load(row_d, k), shared)
    return a, b, c, d


@kernel
def factorise(factor, scale, seen, volume):
    """L of the matrices in `factor`, in place, column by column, and L⁻¹ times its last row; one over the diagonal of L
    into `scale` (d, L) and the determinants into `volume` (1, L)."""
    n_features = scale.shape[0]
    store(volume, 0, in_all(1.0))
    for j in range(n_features):
        of_pivot = factor[j]
        pivot = less_products(load(of_pivot, j), of_pivot, of_pivot, 0, j)
        store(volume, 0, product(load(volume, 0), pivot))
        own = product(inverse_root(pivot), load(seen, j))
        store(scale, j, own)
        n_rows = n_features - j
        for i in range(j + 1, j + 1 + n_rows - n_rows % 4, 4):
            start = load(factor[i], j), load(factor[i + 1], j), load(factor[i + 2], j), load(factor[i + 3], j)
            a, b, c, d = less_products_of_four(start[0], start[1], start[2], start[3], factor, i, of_pivot, 0, j)
            store(factor[i], j, product(a, own))
            store(factor[i + 1], j, product(b, own))
            store(factor[i + 2], j, product(c, own))
            store(factor[i + 3], j, product(d, own))
        for i in range(j + 1 + n_rows - n_rows % 4, n_features + 1):
            left = less_products(load(factor[i], j), factor[i], of_pivot, 0, j)
            store(factor[i], j, product(left, own))


@kernel
def invert(factor, scale, inverse):
    """(L⁻¹)ᵢⱼ into `inverse` (d, d, L) at j, i; what lies below its diagonal must be 0."""
    for i in range(scale.shape[0]):
        of_row, own = factor[i], load(scale, i)
        for j in range(0, i - i % 4, 4):
            zero = in_all(0.0)
            a, b, c, d = less_products_of_four(zero, zero, zero, zero, inverse, j, of_row, j, i)
            store(inverse[j], i, product(a, own))
            store(inverse[j + 1], i, product(b, own))
            store(inverse[j + 2], i, product(c, own))
            store(inverse[j + 3], i, product(d, own))
        for j in range(i - i % 4, i):
            left = less_products(in_all(0.0), of_row, inverse[j], j, i)
            store(inverse[j], i, product(left, own))
        store(inverse[i], i, own)


@inlined
def fill_residuals(whitened, inverse, minus_residual):
    """−r = −L⁻ᵀ y."""
    n_features = minus_residual.shape[0]
    for j in range(n_features):
        row = inverse[j]
        left = in_all(0.0)
        for k in range(j, n_features):
            left = rest(left, load(row, k), load(whitened, k))
        store(minus_residual, j, left)


@kernel
def invert_component(space, k):
    """L⁻¹ and −r of component k."""
    invert(space.factor[k], space.scale[k], space.inverse)
    fill_residuals(space.factor[k, space.row.shape[0]], space.inverse, space.minus_residual)


@kernel
def weigh_component(mean, covariance, log_share, space, k):
    """L and y of component k, and the logarithm of density times share into `space.log_density`."""
    n_features, n_lanes = space.seen.shape
    factor, log_density = space.factor[k], space.log_density[k]
    fill(mean, covariance, space, factor)
    factorise(factor, space.scale[k], space.seen, space.volume)
    whitened, minus_square = factor[n_features], in_all(0.0)
    for j in range(n_features):
        minus_square = rest(minus_square, load(whitened, j), load(whitened, j))
    store(space.log_density, k, minus_square)
    volume, n_seen = space.volume[0], space.n_seen
    for lane in range(n_lanes):
        size = math.log(volume[lane]) + n_seen[lane] * _LOG_TWO_PI
        log_density[lane] = log_share + 0.5 * (log_density[lane] - size)


@kernel
def weigh_components(place, variance, first, mixture, space):
    """For the objects (n, d) from row `first` on: the probabilities of the components into `space.shares` (K, L), 0 for
    those that take no part, and the logarithm of the density of each object into `space.volume` (1, L)."""
    n_components, n_lanes = space.shares.shape
    load_objects(place, variance, first, space)
    for k in range(n_components):
        weigh_component(mixture.mean[k], mixture.covariance[k], math.log(mixture.share[k]), space, k)
    for lane in range(n_lanes):
        largest = space.log_density[0, lane]
        for k in range(1, n_components):
            largest = max(largest, space.log_density[k, lane])
        total = 0.0
        for k in range(n_components):
            space.shares[k, lane] = math.exp(space.log_density[k, lane] - largest)
            total += space.shares[k, lane]
        for k in range(n_components):
            share = space.shares[k, lane] / total
            space.shares[k, lane] = share if share > _LEAST_SHARE else 0.0
        space.volume[0, lane] = largest + math.log(total)


@inlined
def takes_part(shares):
    """Whether any of the objects may be of a component."""
    found = False
    for lane in range(shares.shape[0]):
        found |= shares[lane] > 0.0
    return found


@inlined
def add_component(space, k, shares, mass, first, second):
    """Add what the M step needs of component k."""
    n_features = space.row.shape[0]
    minus_residual, share = space.minus_residual, load(shares, k)
    store(mass, k, plus(load(mass, k), share, in_all(1.0)))
    for i in range(n_features):
        row, products, minus_here = space.inverse[i], second[i], load(minus_residual, i)
        store(first, i, rest(load(first, i), share, minus_here))
        n_rows = n_features - i
        for j in range(i, i + n_rows - n_rows % 4, 4):
            a, b = product(minus_here, load(minus_residual, j)), product(minus_here, load(minus_residual, j + 1))
            c, d = product(minus_here, load(minus_residual, j + 2)), product(minus_here, load(minus_residual, j + 3))
            a, b, c, d = less_products_of_four(a, b, c, d, space.inverse, j, row, j, n_features)
            store(products, j, plus(load(products, j), share, a))
            store(products, j + 1, plus(load(products, j + 1), share, b))
            store(products, j + 2, plus(load(products, j + 2), share, c))
            store(products, j + 3, plus(load(products, j + 3), share, d))
        for j in range(i + n_rows - n_rows % 4, n_features):
            left = less_products(product(minus_here, load(minus_residual, j)), row, space.inverse[j], j, n_features)
            store(products, j, plus(load(products, j), share, left))


@kernel
def add_expectations(place, variance, weight, mixture, log_likelihood, sums, space):
    """The E step for objects (n, d): how likely each was, into `log_likelihood` (n,), and, unless `sums` are empty,
    what the M step needs of them, which is added to these lane by lane."""
    n_lanes = space.seen.shape[1]
    for first in range(0, place.shape[0], n_lanes):
        weigh_components(place, variance, first, mixture, space)
        for lane in range(min(n_lanes, place.shape[0] - first)):
            log_likelihood[first + lane] = space.volume[0, lane]
        if sums.mass.shape[0] == 0:
            continue
        for lane in range(n_lanes):
            space.n_seen[lane] = weight[first + lane] if first + lane < place.shape[0] else 0.0
            sums.log_likelihood[lane] += space.n_seen[lane] * space.volume[0, lane]
        for k in range(mixture.share.shape[0]):
            counts, shares = space.n_seen, space.shares[k]
            for lane in range(n_lanes):
                shares[lane] *= counts[lane]
            if takes_part(shares):
                invert_component(space, k)
                add_component(space, k, space.shares, sums.mass, sums.first[k], sums.second[k])


@inlined
def fill_hole(mean, covariance, space, k, j):
    """Mean and variance of the true values in dimension j, for objects that were not measured there, into
    `space.mean` and `space.spread`; of the others, nothing of use."""
    factor, scale, row, n_features = space.factor[k], space.scale[k], space.row, space.row.shape[0]
    center, spread = in_all(mean[j]), in_all(covariance[j, j])
    for i in range(n_features):
        related, of_row = product(load(space.seen, i), in_all(covariance[i, j])), factor[i]
        center = rest(center, related, load(space.minus_residual, i))
        for m in range(i):
            related = rest(related, load(row, m), load(of_row, m))
        related = product(related, load(scale, i))
        store(row, i, related)
        spread = rest(spread, related, related)
    store(space.mean[k], j, center)
    store(space.spread[k], j, spread)


@kernel
def moments_of_component(mean, covariance, space, k):
    """Mean and variance of the true values of the objects in the lanes, if they are of component k, into `space.mean`
    and `space.spread` (K, d, L)."""
    n_features, n_lanes = space.seen.shape
    invert_component(space, k)
    for j in range(n_features):
        if space.has_holes[j]:
            fill_hole(mean, covariance, space, k, j)
        row, own = space.inverse[j], in_all(0.0)
        for m in range(j, n_features):
            own = rest(own, load(row, m), load(row, m))
        store(space.row, 0, own)
        center, spread, noise, here = space.mean[k, j], space.spread[k, j], space.variance[j], space.place[j]
        minus_own, minus_residual, seen = space.row[0], space.minus_residual[j], space.seen[j]
        for lane in range(n_lanes):
            measured = here[lane] + noise[lane] * minus_residual[lane]
            left = noise[lane] + noise[lane] * noise[lane] * minus_own[lane]
            center[lane] = measured if seen[lane] > 0.0 else center[lane]
            spread[lane] = left if seen[lane] > 0.0 else spread[lane]


@kernel
def mix_moments(space, used, j):
    """Mean and variance in dimension j, over the components that are `used` (K,), into `space.moments` (2, L)."""
    center = in_all(0.0)
    for k in range(used.shape[0]):
        if used[k]:
            center = plus(center, load(space.shares, k), load(space.mean[k], j))
    total = in_all(0.0)
    for k in range(used.shape[0]):
        if used[k]:
            share, off = load(space.shares, k), plus(load(space.mean[k], j), center, in_all(-1.0))
            total = plus(total, share, plus(load(space.spread[k], j), off, off))
    store(space.moments, 0, center)
    store(space.moments, 1, total)


@kernel
def mixture_posteriors(place, variance, mixture, mean, spread, space):
    """Mean and variance of the true values of objects into `mean` and `spread` (n, d)."""
    n_components, n_features, n_lanes = space.mean.shape
    used, moments = space.used, space.moments
    for first in range(0, place.shape[0], n_lanes):
        weigh_components(place, variance, first, mixture, space)
        for k in range(n_components):
            used[k] = takes_part(space.shares[k])
            if used[k]:
                moments_of_component(mixture.mean[k], mixture.covariance[k], space, k)
        for j in range(n_features):
            mix_moments(space, used, j)
            for lane in range(min(n_lanes, place.shape[0] - first)):
                mean[first + lane, j] = moments[0, lane]
                spread[first + lane, j] = max(moments[1, lane], 0.0)


# Not kernels: arrays that are made in Python need not be compiled.
def mixture_space(mixture: Mixture) -> MixtureSpace:
    """Scratch space for the kernels above."""
    k, d = mixture.mean.shape
    shapes = {
        "place": (d, LANES),
        "variance": (d, LANES),
        "seen": (d, LANES),
        "n_seen": (LANES,),
        "factor": (k, d + 1, d, LANES),
        "scale": (k, d, LANES),
        "inverse": (d, d, LANES),
        "minus_residual": (d, LANES),
        "row": (d, LANES),
        "volume": (1, LANES),
        "mean": (k, d, LANES),
        "spread": (k, d, LANES),
        "moments": (2, LANES),
        "log_density": (k, LANES),
        "shares": (k, LANES),
    }
    numbers = zip(shapes, aligned_rows(shapes.values()), strict=True)
    return MixtureSpace(**dict(numbers), has_holes=np.zeros(d, dtype=bool), used=np.zeros(k, dtype=bool))


class ExpectationSpace(NamedTuple):
    """Space for an E step, which many of them can use, one after the other: to make it takes as long as some hundred
    objects."""

    sums: MixtureSums  # lane by lane
    scratch: MixtureSpace


def expectation_space(mixture: Mixture) -> ExpectationSpace:
    """Space for mixtures of this size."""
    return ExpectationSpace(_zero_sums(*mixture.mean.shape), mixture_space(mixture))


def _zero_sums(k: int, d: int) -> MixtureSums:
    return MixtureSums(*aligned_rows([(k, LANES), (k, d, LANES), (k, d, d, LANES), (LANES,)]))


def sums_of_objects(
    place: np.ndarray, variance: np.ndarray, weight: np.ndarray, mixture: Mixture, space: ExpectationSpace | None = None
) -> MixtureSums:
    """What the kernel adds up over objects (n, d)."""
    sums, scratch = expectation_space(mixture) if space is None else space
    for part in sums:
        part.fill(0.0)
    add_expectations(place, variance, weight, mixture, np.empty(len(place)), sums, scratch)
    return MixtureSums(*(part.sum(axis=-1) for part in sums))


def expectations(added: MixtureSums, mixture: Mixture) -> MixtureSums:
    """The sums of the E step, from what the kernel has added up over all objects."""
    mass, residual, upper, log_likelihood = added
    shift = np.einsum("kij,kj->ki", mixture.covariance, residual)
    # Around the component's own centre: M C + C (Σ m r rᵀ − Σ m A⁻¹) C.
    products = upper + np.triu(upper, 1).transpose(0, 2, 1)
    second = mixture.covariance @ products @ mixture.covariance + mass[:, None, None] * mixture.covariance
    across = mixture.mean[:, :, None] * shift[:, None, :]
    own = mass[:, None, None] * (mixture.mean[:, :, None] * mixture.mean[:, None, :])
    first = mass[:, None] * mixture.mean + shift
    return MixtureSums(mass, first, second + across + across.transpose(0, 2, 1) + own, log_likelihood)


def posteriors(place: np.ndarray, variance: np.ndarray, mixture: Mixture) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance (n, d) of the true values of objects."""
    mean, spread = np.empty(place.shape, dtype=REAL), np.empty(place.shape, dtype=REAL)
    mixture_posteriors(place, variance, mixture, mean, spread, mixture_space(mixture))
    return mean, spread


def log_likelihoods(place: np.ndarray, variance: np.ndarray, mixture: Mixture) -> np.ndarray:
    """How likely objects (n, d) were, (n,)."""
    found = np.empty(len(place), dtype=REAL)
    add_expectations(place, variance, np.empty(0), mixture, found, _zero_sums(0, 0), mixture_space(mixture))
    return found
