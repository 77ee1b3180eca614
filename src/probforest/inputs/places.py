"""What users ask of predicted distributions, checked: probabilities, places of the target, objects."""

from typing import Any

import numpy as np


def read_probabilities(name: str, given: Any) -> np.ndarray:
    """One probability, (), or several, (k,).

    >>> read_probabilities("q", [0.16, 0.84])
    array([0.16, 0.84])
    """
    try:
        levels = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise ValueError(f"{name} must be one or more probabilities: {problem}") from problem
    if levels.ndim > 1 or not ((levels >= 0) & (levels <= 1)).all():
        raise ValueError(f"{name} must be one or more probabilities between 0 and 1; got {given!r}.")
    return levels


def read_probability(name: str, given: Any) -> float:
    """A single probability."""
    level = read_probabilities(name, given)
    if level.ndim:
        raise ValueError(f"{name} must be a single probability; got {given!r}.")
    return float(level)


def read_places(y: Any, n_objects: int) -> tuple[np.ndarray, bool]:
    """Places of the target (n, k), and whether there is one for each object."""
    places = np.asarray(y, dtype=np.float64)
    if np.isnan(places).any():
        raise ValueError("y contains NaN; expected places to look at.")
    if places.ndim == 0 or places.shape == (n_objects,):
        return np.broadcast_to(np.atleast_1d(places)[:, None], (n_objects, 1)), True
    if places.ndim == 2 and len(places) in (1, n_objects):
        return np.broadcast_to(places, (n_objects, places.shape[1])), False
    raise ValueError(
        f"y has shape {places.shape}; expected a number, one per object, ({n_objects},), several per object, "
        f"({n_objects}, k), or the same ones for all objects, (1, k): for a grid, y[None, :]."
    )


def read_truth(y: Any, n_objects: int) -> np.ndarray:
    """A target for each object, (n,)."""
    truth = read_places(y, n_objects)[0]
    if truth.shape[1] != 1:
        raise ValueError(f"y has shape {np.shape(y)}; expected one target per object, ({n_objects},).")
    return truth[:, 0]


def read_rows(rows: Any, n_objects: int) -> np.ndarray:
    """Numbers of objects, from a number, several, a slice, or a mask.

    >>> read_rows([0, -1], 5)
    array([0, 4])
    """
    if isinstance(rows, slice):
        return np.arange(n_objects)[rows]
    chosen = np.atleast_1d(rows)
    if chosen.dtype == bool and chosen.shape == (n_objects,):
        return np.flatnonzero(chosen)
    fits = chosen.ndim == 1 and chosen.dtype.kind in "iu" and ((-n_objects <= chosen) & (chosen < n_objects)).all()
    if not fits:
        raise IndexError(f"rows must be numbers of objects, below {n_objects}; got {rows!r}.")
    return np.arange(n_objects)[chosen]
