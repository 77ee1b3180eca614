"""How far values usually lie from what the other features of their object say, by the size of their errors, and how
much noise must have been added to a table whose values lie farther.

Errors alone do not tell how noisy a table is: those of faint magnitudes, for instance, are often larger than the noise.
If noise of half of such an error is added, the errors grow by an eighth only, the noise by far more. So the training
set is made noisier by some factors, and a table is as noisy as the one of these whose values scatter alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .added_noise import with_noise_added
from .derived_features import Derived, find_derived
from .measurements import Measurements
from .prior import weighted_quantiles
from .usual_errors import beyond_chance, error_logarithms, medians_of_bins

NOISES = np.array([0.0, 0.25, 0.5, 1.0, 2.0, 4.0])  # added to the training set, in its errors
_WHOLE_ERROR = 3  # the place of 1
_BINS = 16  # of the errors of a feature, with the same number of objects each
_LEAST_IN_BIN = 30  # objects
_FEWEST_OBJECTS = 100
_MOST_OBJECTS = 5000  # of the training set
_DEVIATION = 1.4826  # of a normal distribution, in median absolute deviations
_FARTHEST = 5.0  # deviations of a feature; what lies beyond counts as this
_RIDGE = 1e-3  # of the weight of all objects: features that say the same
_CLEAR = 0.2  # growth of ln(distance) by noise of a whole error, from which a feature tells how noisy it is
_SMALL = 1e-9  # distance, in deviations: its logarithm is a number
_SIGNIFICANT = 1.0  # standard errors by which the values of a feature must lie farther than usual
_ALIKE = 1.25  # factor by which the noise of features differs if it is the same in all of them
_AGREE = 0.75  # share of the features that must be at least as noisy: another population changes some of them


@dataclass(frozen=True, eq=False)
class UsualScatter:
    """Logarithms of the distances of the values of d features from what the others say, in deviations of the feature,
    by the size of the errors."""

    features: np.ndarray  # (d,) int64, their numbers
    middle: np.ndarray  # (d,) median of each
    deviation: np.ndarray  # (d,) robust standard deviation of each
    slopes: np.ndarray  # (d, d) what the others say: Σ slope × value, both in deviations; 0 for itself
    edges: np.ndarray  # (d, b - 1) of the bins of ln(error), increasing
    sizes: np.ndarray  # (d, b) median ln(distance) in each bin
    scatter: np.ndarray  # (d,) robust standard deviation of ln(distance) in a bin
    growth: np.ndarray  # (d, len(NOISES)) by which ln(distance) grows with added noise; never falls
    shares: np.ndarray  # (d,) how much a feature counts; they sum to 1

    def factor(self, table: Measurements) -> float:
        """By which factor the noise of a table is larger than its errors would have been without it: √(1 + k²) if it is
        like a training set to which noise of k times its errors was added; 1 if chance explains it."""
        noise = np.zeros(len(self.features))
        for place, excess in enumerate(self._excesses(table)):
            known = excess[~np.isnan(excess)]
            if len(known):
                chance = _SIGNIFICANT * self.scatter[place] / np.sqrt(len(known))
                growth, first = np.unique(self.growth[place], return_index=True)  # of equals, the least noise
                noise[place] = np.interp(beyond_chance(np.median(known), chance), growth, NOISES[first])
        return float(np.sqrt(1 + self._agreed(noise) ** 2))

    def _agreed(self, noise: np.ndarray) -> float:
        """The noise of a table from that of its features (d,): the mean around what most of them have at least. Where
        the others have far more, the objects are of another kind; this does not count as noise."""
        least = weighted_quantiles(noise, self.shares, np.array([1 - _AGREE]))[0]
        return float(self.shares @ np.clip(noise, least, _ALIKE * least))

    def _excesses(self, table: Measurements) -> np.ndarray:
        """By how much ln(distance) of every value is larger than usual (d, n); NaN without a value or an error."""
        distance, logs = self._distances(table), error_logarithms(table)[self.features]
        for row, size, cuts, usual in zip(distance, logs, self.edges, self.sizes, strict=True):
            row -= usual[np.searchsorted(cuts, np.where(np.isnan(size), 0.0, size))]
        return np.where(np.isnan(logs), np.nan, distance)

    def _distances(self, table: Measurements) -> np.ndarray:
        values = _in_deviations(table.center[self.features], self.middle, self.deviation)
        others = self.slopes @ np.where(np.isnan(values), 0.0, values)
        return np.log(np.maximum(np.abs(values - others), _SMALL))


def learn_usual_scatter(table: Measurements, weight: np.ndarray, shares: np.ndarray) -> UsualScatter | None:
    """From a training set, whose objects with a `weight` (n,) above 0 count, each feature with its share (d,); None if
    no feature tells how noisy it is."""
    rows = np.flatnonzero(weight > 0)
    table = table.rows(rows).every(-(-len(rows) // _MOST_OBJECTS))
    derived = find_derived(table)
    shares = _shares_of_parents(shares, derived)
    features = _features_that_count(table, shares)
    if not len(features):
        return None
    usual = _without_noise_added(table, features)
    random = np.random.default_rng(0)
    noisier = [_medians(usual._excesses(with_noise_added(table, noise, random))) for noise in NOISES]
    growth = np.maximum.accumulate(np.column_stack(noisier), axis=1)
    tells = growth[:, _WHOLE_ERROR] > _CLEAR
    counting = np.where(tells, shares[features], 0.0)
    return replace(usual, growth=growth, shares=counting / counting.sum()) if tells.any() else None


def _shares_of_parents(shares: np.ndarray, derived: Sequence[Derived]) -> np.ndarray:
    """Shares (d,) in which sums and differences of others do not count, as these would know them without a distance,
    but for the two features that they are made of."""
    shares = np.array(shares, dtype=np.float64)
    for each in reversed(derived):  # those that are made of derived ones come last
        shares[[each.one, each.other]] += shares[each.feature] / 2
        shares[each.feature] = 0.0
    return shares


def _features_that_count(table: Measurements, shares: np.ndarray) -> np.ndarray:
    """Features that count, have errors and scatter."""
    known = ~np.isnan(error_logarithms(table))
    candidates = np.flatnonzero((known.sum(axis=1) >= _FEWEST_OBJECTS) & (shares > 0))
    return candidates[_deviations(table.center[candidates])[1] > 0]


def _without_noise_added(table: Measurements, features: np.ndarray) -> UsualScatter:
    """What is usual in the training set; `growth` and `shares` are not known yet."""
    middle, deviation = _deviations(table.center[features])
    values, logs = _in_deviations(table.center[features], middle, deviation), error_logarithms(table)[features]
    n_bins = int(np.clip(table.n_objects // _LEAST_IN_BIN, 1, _BINS))
    edges = np.array([np.nanquantile(each, np.arange(1, n_bins) / n_bins) for each in logs])
    later = np.zeros(len(features))
    first = UsualScatter(
        features, middle, deviation, _slopes(values), edges, np.zeros((len(features), n_bins)), later, later, later
    )
    usual = replace(first, sizes=_medians_in_bins(logs, first._excesses(table), edges))
    return replace(usual, scatter=_DEVIATION * _medians(np.abs(usual._excesses(table))))


def _deviations(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Median and robust standard deviation of every feature, from values (d, n)."""
    middle = _medians(values)
    return middle, _DEVIATION * _medians(np.abs(values - middle[:, None]))


def _in_deviations(values: np.ndarray, middle: np.ndarray, deviation: np.ndarray) -> np.ndarray:
    """Values (d, n) relative to the training set; NaN where they are missing."""
    return np.clip((values - middle[:, None]) / deviation[:, None], -_FARTHEST, _FARTHEST)


def _slopes(values: np.ndarray) -> np.ndarray:
    """How every feature (d, n) follows from the others: coefficients (d, d) of least squares, 0 for itself."""
    known = np.where(np.isnan(values), 0.0, values)
    together = known @ known.T
    slopes = np.zeros(together.shape)
    for j in range(len(values)):
        others = np.arange(len(values)) != j
        ridge = _RIDGE * values.shape[1] * np.eye(int(others.sum()))
        slopes[j, others] = np.linalg.solve(together[np.ix_(others, others)] + ridge, together[others, j])
    return slopes


def _medians(rows: np.ndarray) -> np.ndarray:
    """Of each row, without what is not known; at least one value of each is."""
    return np.array([np.median(row[~np.isnan(row)]) for row in rows])


def _medians_in_bins(logs: np.ndarray, distances: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """The median of the `distances` (d, n) in the bins of `logs` (d, n), (d, b)."""
    found = []
    for size, distance, cuts in zip(logs, distances, edges, strict=True):
        known = ~np.isnan(distance)
        found.append(medians_of_bins(np.searchsorted(cuts, size[known]), distance[known], len(cuts) + 1))
    return np.array(found)
