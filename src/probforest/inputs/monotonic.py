"""In which direction answers may go with a feature: what users say about it, checked."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..support.wording import suggestion

_ALLOWED = (-1, 0, 1)


def read_directions(given: Any, n_features: int, names: Sequence[str] | None) -> np.ndarray:
    """`monotonic_cst` as 1 (rises), -1 (falls) or 0 for each feature, int64.

    It is None, one of these numbers per feature, or a mapping of names of features to them, where a table has `names`.

    >>> read_directions({"size": 1}, 2, ["colour", "size"])
    array([0, 1])
    """
    if given is None:
        return np.zeros(n_features, dtype=np.int64)
    index = getattr(given, "index", None)
    if index is not None and not callable(index) and any(isinstance(name, str) for name in index):
        given = dict(zip(index, np.asarray(given).tolist(), strict=True))  # a Series of pandas, by the names in it
    if not isinstance(given, Mapping):
        return _of_all(given, n_features)
    if names is None:
        raise ValueError("monotonic_cst is a mapping of names, but X has no names. Give one number per feature.")
    directions = np.zeros(n_features, dtype=np.int64)
    for name, direction in given.items():
        if name not in names:
            raise ValueError(f"monotonic_cst: there is no feature {name!r}. {suggestion(str(name), list(names))}")
        if isinstance(direction, bool) or not np.isscalar(direction) or direction not in _ALLOWED:
            raise ValueError(f"monotonic_cst[{name!r}] must be 1, -1 or 0; got {direction!r}.")
        directions[list(names).index(name)] = direction
    return directions


def _of_all(given: Any, n_features: int) -> np.ndarray:
    directions = np.asarray(given)
    if directions.shape != (n_features,):
        raise ValueError(
            f"monotonic_cst has shape {directions.shape}; expected one number for each of the {n_features} features "
            "(columns of errors are no features)."
        )
    allowed = np.isin(directions, _ALLOWED) if directions.dtype.kind in "iuf" else np.zeros(n_features, dtype=bool)
    if not allowed.all():
        place = int(np.argmin(allowed))
        raise ValueError(f"monotonic_cst must be 1, -1 or 0; got {directions[place]!r} for feature {place}.")
    return directions.astype(np.int64)
