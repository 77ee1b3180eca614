"""Distribution families: the shape of a cell's probability distribution in units of its σ.

A family consists of a quantile grid, on which the split search moves mass, and of F, with which objects move to the
children of a node. Nothing else in the program depends on the family. A value is the expectation of its distribution,
its error the standard deviation.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from .kernels.cdf import SQUASH, TABLE_REACH, TABLE_STEPS
from .kernels.layout import GRID_POINTS
from .kernels.posterior import inverse_table

# The mass to the left of the point kσ is exactly Φ(k), k from −3 to 3; the last point has all the remaining mass. Grid
# points of other families are their quantiles at the same levels, so that all families have the same chunks.
LEVELS = ndtr(np.arange(GRID_POINTS) - GRID_POINTS // 2.0)
ONE_SIGMA = slice(GRID_POINTS // 2 - 1, GRID_POINTS // 2 + 2)  # the grid points −1σ, 0, 1σ
CHUNK = np.diff(LEVELS[:-1], prepend=0.0, append=1.0)
_UNSPEAKABLE = 1e-10
_NOTHING = 1e-7  # smaller tails are cut, so that most cells go to one side only


@dataclass(frozen=True)
class Family:
    """A distribution with mean 0 and standard deviation 1, which is shifted and scaled to values and errors.

    Parameters
    ----------
    name : str
        Name of the family.
    cdf, ppf : callable
        Cumulative distribution function and its inverse, for arrays.
    log : bool, default=False
        Whether this is the distribution of the logarithm of a positive value.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.stats import logistic
    >>> width = logistic.std()
    >>> family = Family("logistic", lambda z: logistic.cdf(z * width), lambda p: logistic.ppf(p) / width)
    >>> round(float(family.cdf(0.0)), 3)
    0.5
    """

    name: str
    cdf: Callable[[np.ndarray], np.ndarray]
    ppf: Callable[[np.ndarray], np.ndarray]
    log: bool = False

    @property
    def is_normal(self) -> bool:
        """Whether F is that of the normal distribution."""
        return self.cdf is ndtr

    def grid(self) -> np.ndarray:
        """Grid points (GRID_POINTS,) in units of σ: the quantiles at the levels of a normal's −3σ … 3σ."""
        return np.round(self.ppf(LEVELS), 12)


def _uniform_cdf(z):
    return np.clip(0.5 + z / np.sqrt(12), 0.0, 1.0)


def _uniform_ppf(p):
    return (p - 0.5) * np.sqrt(12)


def _laplace_cdf(z):
    tail = 0.5 * np.exp(-np.sqrt(2) * np.abs(z))
    return np.where(z < 0, tail, 1.0 - tail)


def _laplace_ppf(p):
    return np.sign(p - 0.5) * -np.log(1.0 - 2.0 * np.abs(p - 0.5)) / np.sqrt(2)


def _student_t_cdf(degrees, z):
    return stdtr(degrees, z * np.sqrt(degrees / (degrees - 2.0)))


def _student_t_ppf(degrees, p):
    return stdtrit(degrees, p) / np.sqrt(degrees / (degrees - 2.0))


NORMAL = Family("normal", ndtr, ndtri)
LOGNORMAL = Family("lognormal", ndtr, ndtri, log=True)
UNIFORM = Family("uniform", _uniform_cdf, _uniform_ppf)
LAPLACE = Family("laplace", _laplace_cdf, _laplace_ppf)
BY_NAME = {family.name: family for family in (NORMAL, UNIFORM, LAPLACE, LOGNORMAL)}
_EXPECTED = (
    f'{", ".join(map(repr, BY_NAME))}, ("student_t", degrees of freedom), a Family, or a frozen distribution of SciPy'
)


@lru_cache(maxsize=256)
def student_t(degrees: float) -> Family:
    """Student's t with more than two `degrees` of freedom, scaled to a standard deviation of 1.

    >>> student_t(5.0).name
    'student_t(5)'
    """
    if not 2 < degrees < np.inf:
        raise ValueError(
            f"distribution: student_t has a standard deviation for more than two degrees of freedom, and is a "
            f"normal for infinitely many; got {degrees!r}."
        )
    return Family(f"student_t({degrees:g})", partial(_student_t_cdf, degrees), partial(_student_t_ppf, degrees))


def _standardised_cdf(distribution, mean, deviation, z):
    return distribution.cdf(mean + deviation * z)


def _standardised_ppf(distribution, mean, deviation, p):
    return (distribution.ppf(p) - mean) / deviation


@lru_cache(maxsize=256)  # so that a fit with warm_start finds the same object again
def family_from_scipy(distribution: Any) -> Family:
    """A frozen SciPy distribution, shifted and scaled to mean 0 and standard deviation 1.

    >>> from scipy.stats import gumbel_r
    >>> family = family_from_scipy(gumbel_r())
    >>> family.name, round(float(family.cdf(0.0)), 3)
    ('gumbel_r', 0.57)
    """
    try:
        mean, deviation = float(distribution.mean()), float(distribution.std())
    except TypeError as problem:
        raise ValueError(
            f"distribution {distribution!r} has open parameters; freeze it, as in gamma(2.0)."
        ) from problem
    name = getattr(getattr(distribution, "dist", distribution), "name", type(distribution).__name__)
    if not (np.isfinite(mean) and np.isfinite(deviation) and deviation > 0):
        raise ValueError(
            f"distribution {name} has mean {mean} and standard deviation {deviation}; both must be finite."
        )
    return Family(
        name,
        partial(_standardised_cdf, distribution, mean, deviation),
        partial(_standardised_ppf, distribution, mean, deviation),
    )


def read_families(distribution: Any, n_features: int, names: Sequence[str] | None = None) -> tuple[Family, ...]:
    """The family of each feature, from the parameter `distribution`.

    >>> [family.name for family in read_families({"flux": "lognormal"}, 2, ["mag", "flux"])]
    ['normal', 'lognormal']
    """
    if isinstance(distribution, Mapping):
        return _families_of_mapping(distribution, n_features, names)
    if isinstance(distribution, list):
        if len(distribution) != n_features:
            raise ValueError(
                f"distribution has {len(distribution)} families in a list, but X has {n_features} features."
            )
        return tuple(_read_family(word) for word in distribution)
    return (_read_family(distribution),) * n_features


def _families_of_mapping(mapping: Mapping, n_features: int, names: Sequence[str] | None) -> tuple[Family, ...]:
    families = [NORMAL] * n_features
    place = {name: j for j, name in enumerate(names)} if names is not None else {}
    for key, word in mapping.items():
        by_number = isinstance(key, int | np.integer) and not isinstance(key, bool) and 0 <= key < n_features
        j = place.get(key, int(key) if by_number else None)
        if j is None:
            known = (
                f"the columns {list(names)}" if names is not None else f"columns 0 to {n_features - 1}, without names"
            )
            raise ValueError(f"distribution names the feature {key!r}, but X has {known}.")
        families[j] = _read_family(word)
    return tuple(families)


def _read_family(word: Any) -> Family:
    if isinstance(word, Family):
        return word
    if isinstance(word, str) and word in BY_NAME:
        return BY_NAME[word]
    if isinstance(word, tuple) and len(word) == 2 and word[0] == "student_t":
        if not isinstance(word[1], int | float | np.number) or isinstance(word[1], bool):
            raise ValueError(f"distribution is {word!r}; the degrees of freedom must be a number.")
        return student_t(float(word[1]))
    if all(hasattr(word, method) for method in ("cdf", "ppf", "mean", "std")):
        return family_from_scipy(word)
    raise ValueError(f"distribution is {word!r}; expected {_EXPECTED}; or a list of these, or a mapping per feature.")


@cache
def even_normal_table() -> np.ndarray:
    """F of the normal distribution, evenly spaced in z."""
    table = ndtr(np.linspace(-TABLE_REACH, TABLE_REACH, TABLE_STEPS + 1))
    table[0], table[-1] = 0.0, 1.0
    return table


def squashed_places(n_steps: int) -> np.ndarray:
    """The inner points (n_steps - 1,), in σ, of a table with `n_steps` equal steps in z / (SQUASH + |z|)."""
    squashed = np.linspace(-1.0, 1.0, n_steps + 1)[1:-1]
    return SQUASH * squashed / (1.0 - np.abs(squashed))


@lru_cache(maxsize=256)
def full_table(family: Family) -> np.ndarray:
    """F of any family including its tails, evenly spaced in z / (SQUASH + |z|)."""
    with np.errstate(over="ignore"):  # far out in the tails
        inside = family.cdf(squashed_places(TABLE_STEPS))
    table = np.concatenate([[0.0], inside, [1.0]])
    if not (np.diff(table) >= -1e-12).all():
        raise ValueError(f"distribution {family.name} has a cdf that falls or is no number; expected one that rises.")
    return np.maximum.accumulate(np.clip(table, 0.0, 1.0))


@lru_cache(maxsize=256)
def one_sigma_grid(family: Family) -> np.ndarray:
    """The quantiles of a family at a normal's −1σ, 0 and 1σ, in units of σ."""
    return family.grid()[ONE_SIGMA]


@lru_cache(maxsize=256)
def inverse_of_table(family: Family) -> np.ndarray:
    """Places in the `full_table` of a family, evenly spaced in F."""
    return inverse_table(full_table(family))


@lru_cache(maxsize=256)
def reach_of(family: Family) -> float:
    """The distance from the centre, in σ, beyond which the probability of a family is negligible."""
    inside = np.flatnonzero(np.minimum(full_table(family), 1.0 - full_table(family))[1:-1] > _UNSPEAKABLE)
    places = squashed_places(TABLE_STEPS)
    return float(max(-places[max(inside[0] - 1, 0)], places[min(inside[-1] + 1, len(places) - 1)]))


@lru_cache(maxsize=256)
def squashed_table(family: Family) -> np.ndarray:
    """`full_table` without the ends of the tails, which affect no split."""
    table = full_table(family).copy()
    table[table < _NOTHING] = 0.0
    table[table > 1.0 - _NOTHING] = 1.0
    return table


def tables_of(families: Sequence[Family]) -> tuple[np.ndarray, np.ndarray]:
    """Squashed tables one after the other, that of the normal first, and the start of that of each feature."""
    unique = list(dict.fromkeys([NORMAL, *(NORMAL if family.is_normal else family for family in families)]))
    place = {family: number * (TABLE_STEPS + 1) for number, family in enumerate(unique)}
    start = np.array([place[NORMAL if family.is_normal else family] for family in families], dtype=np.int64)
    return np.concatenate([squashed_table(family) for family in unique]), start
