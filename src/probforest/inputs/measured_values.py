"""What users say about their values, errors, limits and samples, checked once.

Every error about X, X_err, X_limit or X_samples is raised here or, where it depends on the training set or on a
distribution, in `features`. The caller's arrays are only read.
"""

from typing import NamedTuple

import numpy as np

from ..kernels.layout import real_empty
from .cell_error import CellError

LARGEST = 1e300  # of a value or an error: sums and differences of a few such numbers are still numbers
NO_LIMITS = np.empty((0, 0), dtype=np.int64)


class CheckedValues(NamedTuple):
    """Values and what is known about them, a row per feature but for the samples. The arrays are copies, again but for
    the samples, which may be many: those are only read."""

    center: np.ndarray  # (d, n) float64; NaN: missing
    lower: np.ndarray  # (d, n) float64, the error below the value, NaN: unknown; (0, 0) when all values are exact
    upper: np.ndarray  # (d, n) float64, the error above it; the same array as `lower` when no error is asymmetric
    limit: np.ndarray  # (d, n) int64, +1 for an upper limit, -1 for a lower one; (0, 0): there are none
    samples: np.ndarray | None  # (n, d, m) float64, draws of each value, NaN where there are fewer


def check_values(X: np.ndarray, X_err=None, X_limit=None, X_samples=None) -> CheckedValues:
    """Check values `X` (n, d) float64, their errors, which of them are limits, and samples that replace some.

    >>> import numpy as np
    >>> check_values(np.array([[1.0, np.nan]]), X_err=0.1).lower
    array([[0.1],
           [nan]])
    """
    _refuse(np.isinf(X), X, "X", "a finite value, or NaN if it is missing")
    _refuse(np.abs(X) > LARGEST, X, "X", f"a value between -{LARGEST:g} and {LARGEST:g}")
    center = np.array(X, dtype=np.float64).T  # a copy: the caller may go on writing into X
    limit = NO_LIMITS if X_limit is None else _read_limits(X_limit, X.shape)
    if X_err is None and not len(limit) and X_samples is None:
        lower = upper = real_empty(0, 0)
    else:
        lower, upper = _read_errors(0.0 if X_err is None else X_err, X.shape)
    if len(lower):
        _mark_missing(center, lower, upper, limit)
    samples = None if X_samples is None else _read_samples(X_samples, X.shape)
    return CheckedValues(center, lower, upper, limit, samples)


def _mark_missing(center: np.ndarray, lower: np.ndarray, upper: np.ndarray, limit: np.ndarray) -> None:
    """A value with an infinite error is missing, unless it is a limit; a missing value has no error."""
    endless = np.isposinf(lower) | np.isposinf(upper)
    if len(limit):
        endless &= limit == 0
        lower[limit != 0] = upper[limit != 0] = 0.0
    missing = np.isnan(center) | endless
    for array in (center, lower, upper):
        array[missing] = np.nan


def unmasked(table):
    """A masked array, of NumPy or astropy, with NaN where it is masked; anything else as it is."""
    if isinstance(table, np.ma.MaskedArray):
        return np.ma.filled(table.astype(np.float64), np.nan)
    if isinstance(table, np.ndarray) and hasattr(table, "unmasked"):
        return np.where(getattr(table, "mask", False), np.nan, np.asarray(table.unmasked, dtype=np.float64))
    return table


def names_of_errors(X_err) -> list | tuple | None:
    """Column names of a table of errors, or the index of a Series with one error per feature; a tuple of two for a
    pair."""
    if is_pair(X_err):
        return tuple(names_of_errors(side) for side in X_err)
    names = getattr(X_err, "columns", None)
    if names is None and _is_pandas(X_err) and X_err.ndim == 1:
        names = getattr(X_err, "index", None)
        names = None if callable(names) else names  # list.index
    return None if names is None else list(names)


def refuse_reordered(X, X_err, names_at_fit: list | tuple | None = None, word: str = "X_err") -> None:
    """Errors (or limits) are matched with values by position. Tables that say by name that this is wrong are refused.

    The columns of X_err often have names of their own (`e_gmag`); then they must be those of the training.
    """
    if is_pair(X_err):
        names_of_sides = names_at_fit if isinstance(names_at_fit, tuple) else (None, None)
        for side, names_of_side in zip(X_err, names_of_sides, strict=True):
            refuse_reordered(X, side, names_of_side, word)
        return
    names_of_X, names = getattr(X, "columns", None), names_of_errors(X_err)
    if names is not None and isinstance(names_at_fit, list) and names != names_at_fit:
        raise ValueError(f"{word} has the columns {names}, but in fit it had {names_at_fit}.")
    if names is not None and names_of_X is not None:
        _refuse_permuted(list(names_of_X), list(names), "columns", f"{word}[X.columns]", word)
    both_pandas = _is_pandas(X) and _is_pandas(X_err)
    if both_pandas and np.ndim(X_err) == 2 and not X.index.equals(X_err.index):
        _refuse_permuted(list(X.index), list(X_err.index), "rows", f"{word}.loc[X.index]", word)


def _is_pandas(table) -> bool:
    return type(table).__module__.split(".")[0] == "pandas"


def _refuse_permuted(expected: list, found: list, what: str, remedy: str, word: str) -> None:
    if found != expected and len(found) == len(expected) and set(found) == set(expected):
        raise ValueError(
            f"{word} has the {what} of X in another order. They are matched by position; reorder them with {remedy}."
        )


def as_numbers(table, name: str) -> np.ndarray:
    """What was given as `name`, float64, NaN where it is masked or missing."""
    table = unmasked(table)
    try:
        if np.asarray(table).dtype.kind in "USV":
            raise ValueError("it holds text")
        if _is_pandas(table):  # whose own missing value, pd.NA, is no number
            return table.to_numpy(dtype=np.float64, na_value=np.nan)
        return np.asarray(table, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise ValueError(f"{name} must hold numbers: {problem}") from problem


def _read_errors(X_err, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """X_err in any of its forms as standard deviations below and above the values, each (d, n); the same array twice
    when they are no pair."""
    expected = "an error >= 0 (0: exact, NaN: unknown, inf: the value is missing)"
    if not is_pair(X_err):
        errors = as_numbers(X_err, "X_err")
        if errors.shape == (*shape, 2):
            return _read_errors((errors[:, :, 0], errors[:, :, 1]), shape)
        errors = _errors_of_shape(errors, "X_err", shape)
        remedy = "; take the absolute value of errors that your table stores with a sign, or give (lower, upper)"
        _refuse(errors < 0, errors, "X_err", expected + remedy)
        both = _spread_out(errors, shape)
        return both, both
    below, above = (_errors_of_shape(side, f"X_err[{place}]", shape) for place, side in enumerate(X_err))
    _refuse(above < 0, above, "X_err[1], the upper error,", expected + "; the order is (lower, upper)")
    below = _without_sign(below, expected)
    return _spread_out(below, shape), _spread_out(above, shape)


def is_pair(X_err) -> bool:
    """Whether X_err is a pair (lower, upper): a tuple of two. A list of two is one error for each of two features."""
    return isinstance(X_err, tuple) and len(X_err) == 2


def _spread_out(errors: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """A copy with an error per value, by feature; adding 0 makes 0 of -0, of which 1/σ would be -inf."""
    return np.add(np.broadcast_to(errors, shape), 0.0).T


def _errors_of_shape(X_err, name: str, shape: tuple[int, int]) -> np.ndarray:
    errors = as_numbers(X_err, name)
    _refuse((errors > LARGEST) & ~np.isposinf(errors), errors, name, f"an error up to {LARGEST:g}, or inf")
    n_features = shape[1]
    if errors.ndim == 1 and errors.shape != (n_features,):
        raise ValueError(
            f"{name} has {errors.shape[0]} numbers in one dimension, which means one per feature, but X has "
            f"{n_features} features. Give a scalar, shape ({n_features},) or shape {shape}."
        )
    if errors.ndim > 2 or (errors.ndim == 2 and errors.shape != shape):
        raise ValueError(
            f"{name} has shape {errors.shape}, but X has shape {shape}. Give a scalar, one error per feature, "
            f"shape ({n_features},), or one per value, shape {shape}. For lower and upper errors give a tuple, "
            "X_err=(lower, upper)."
        )
    return errors


def _without_sign(lower: np.ndarray, expected: str) -> np.ndarray:
    """Lower errors; archives store them with a minus sign, all those of a feature."""
    negative, positive = lower < 0, lower > 0
    if lower.ndim == 2:
        mixed = negative.any(axis=0) & positive.any(axis=0)
        rarer = np.where(negative.sum(axis=0) < positive.sum(axis=0), negative, positive)
        also = "; the lower errors of a feature must have the same sign, plus or minus"
        _refuse(rarer & mixed, lower, "X_err[0], the lower error,", expected + also)
    return np.abs(lower)


def _read_limits(X_limit, shape: tuple[int, int]) -> np.ndarray:
    """X_limit as int64 (d, n); what is unknown is no limit."""
    limit = as_numbers(X_limit, "X_limit")
    if np.asarray(X_limit).dtype == bool:
        raise ValueError("X_limit is true or false; give +1 for an upper limit, -1 for a lower one, 0 for a value.")
    if limit.shape != shape:
        raise ValueError(f"X_limit has shape {limit.shape}, but X has shape {shape}. Give one number per value.")
    limit = np.where(np.isnan(limit), 0.0, limit)
    expected = "+1 (the value is an upper limit), -1 (a lower limit) or 0 (a value)"
    _refuse(~np.isin(limit, (-1.0, 0.0, 1.0)), limit, "X_limit", expected)
    return np.array(limit.T, dtype=np.int64)


def _read_samples(X_samples, shape: tuple[int, int]) -> np.ndarray:
    """Draws (n, d, m)."""
    samples = as_numbers(X_samples, "X_samples")
    if samples.ndim != 3 or samples.shape[:2] != shape or samples.shape[2] == 0:
        raise ValueError(
            f"X_samples has shape {samples.shape}, but X has shape {shape}. Give shape ({shape[0]}, {shape[1]}, m): "
            "m draws per value, NaN where there are fewer."
        )
    least, most = (reduce(samples, axis=None, initial=0.0) for reduce in (np.fmin.reduce, np.fmax.reduce))
    if max(-least, most) > LARGEST:
        infinite = np.isinf(samples).any(axis=2)
        _refuse(infinite, np.where(infinite, np.inf, 0.0), "X_samples", "numbers")
        largest = np.nanmax(np.abs(samples), axis=2, initial=0.0)
        _refuse(largest > LARGEST, largest, "X_samples", f"draws between -{LARGEST:g} and {LARGEST:g}")
    return samples


def _refuse(bad: np.ndarray, values: np.ndarray, name: str, expected: str) -> None:
    if not bad.any():
        return
    where = tuple(int(place) for place in np.unravel_index(np.argmax(bad), bad.shape))
    row, column = (None,) * (2 - len(where)) + where
    # "infinity" is the word that scikit-learn's users look for.
    value = "infinity" if np.isposinf(values[where]) else "-infinity" if np.isneginf(values[where]) else values[where]
    raise CellError(name, value, row, column, f"expected {expected}")
