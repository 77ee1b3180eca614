"""Features in groups that say something about each other.

The cost of a mixture grows with the third power of the number of features. Tables with many features are divided into
groups of those that correlate most, so that it grows in proportion to their number.
"""

from collections.abc import Mapping

import numpy as np

from .scored_cells import Sites

LARGEST_GROUP = 20
_LEAST_SQUARE = 1e-300
_DIGITS = 6  # of a correlation: the order of sums must not decide which of two equal ones is larger


def groups_of_features(sites: Mapping[int, Sites], weight: np.ndarray) -> list[np.ndarray]:
    """Divide features into groups of at most LARGEST_GROUP; a feature that is left alone is in none.

    A group begins with the feature that correlates most with all that are left. Then it takes, one by one, the one that
    correlates most with any of its features.
    """
    features = np.array(sorted(sites), dtype=np.int64)
    if len(features) <= LARGEST_GROUP:
        return [features] if len(features) > 1 else []
    relation = _squared_correlations([sites[j] for j in features.tolist()], weight)
    groups, left = [], np.arange(len(features))
    while len(left) > 1:
        among = relation[np.ix_(left, left)]
        members = [int(np.argmax(among.sum(axis=1)))]
        while len(members) < min(LARGEST_GROUP, len(left)):
            nearness = among[members].max(axis=0)
            nearness[members] = -1.0
            members.append(int(np.argmax(nearness)))
        groups.append(features[np.sort(left[members])])
        left = np.delete(left, members)
    return groups


def _squared_correlations(sites: list[Sites], weight: np.ndarray) -> np.ndarray:
    """Of what is expected given each feature alone, (d, d)."""
    expected = np.stack([site.place / (1.0 + site.variance) for site in sites])
    expected -= np.average(expected, axis=1, weights=weight)[:, None]
    products = (expected * weight) @ expected.T
    size = np.sqrt(np.maximum(np.diag(products), _LEAST_SQUARE))
    return np.round(np.square(products / size / size[:, None]), _DIGITS)
