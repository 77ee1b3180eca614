"""What users say about their values and errors, checked once and turned into arrays that kernels can trust.

Every complaint about X or X_err is raised here. The caller's arrays are only read.
"""

from dataclasses import dataclass

import numpy as np

from .kernels.layout import Cells, real_empty


@dataclass(frozen=True)
class Measurements:
    """A table of distributions, a row per feature, in any order of memory.

    NaN in `center`: missing. NaN in `scale`: the error is unknown.
    """

    center: np.ndarray  # (d, n) float64
    scale: np.ndarray  # (d, n) float64 standard deviations, 0: exact; (0, 0) when the table has no errors

    @property
    def is_exact(self) -> bool:
        return self.scale.shape[0] == 0

    def rows(self, keep: np.ndarray) -> "Measurements":
        """The objects where `keep` (n,) is true."""
        if keep.all():
            return self
        # compress keeps the rows contiguous, which a mask as an index does not
        scale = self.scale if self.is_exact else np.compress(keep, self.scale, axis=1)
        return Measurements(np.compress(keep, self.center, axis=1), scale)

    def median_errors(self, weight: np.ndarray) -> np.ndarray:
        """Weighted median of the known errors of every feature (d,); NaN where none is known."""
        if self.is_exact:
            return np.full(self.center.shape[0], np.nan)
        return np.array([_median_of_known(scale, weight) for scale in self.scale])

    def with_errors_known(self, rule: str, medians: np.ndarray | None) -> "Measurements":
        """Unknown errors replaced by the rule `unknown_error`: "median", "exact" or "raise".

        `medians` (d,) are those of the training set, None if it had no errors.
        """
        unknown = np.isnan(self.scale) & ~np.isnan(self.center) if not self.is_exact else np.zeros((0, 0), dtype=bool)
        if not unknown.any():
            return self
        row, column = np.argwhere(unknown.T)[0]
        place = f"X_err is NaN at row {row}, column {column}, where X has a value"
        if rule == "raise":
            raise ValueError(
                f'{place}, and unknown_error="raise". Give the error, or choose unknown_error="median" or "exact".'
            )
        if rule == "median" and medians is None:
            raise ValueError(
                f"{place}. The median error of the training set would take its place, but the model was fitted "
                'without X_err. Fit it with errors, give the error, or choose unknown_error="exact".'
            )
        if rule == "exact" or medians is None:
            filled = np.where(unknown, 0.0, self.scale)
        else:
            hopeless = np.flatnonzero(unknown.any(axis=1) & np.isnan(medians))
            if len(hopeless):
                raise ValueError(
                    f"X_err has no known error in column {hopeless[0]} of the training set, so "
                    'unknown_error="median" has nothing to take the median of. Give at least one error in that '
                    'column, or choose unknown_error="exact" to treat its values as exact.'
                )
            filled = np.where(unknown, medians[:, None], self.scale)
        return Measurements(self.center, filled)

    def cells(self) -> Cells:
        """As kernels take them; all errors must be known."""
        return Cells(_interleaved(self.center.T, self.scale.T), not np.isnan(self.center).any())


def read_measurements(X: np.ndarray, X_err) -> Measurements:
    """Check values `X` (n, d) float64 and their errors.

    >>> import numpy as np
    >>> read_measurements(np.array([[1.0, np.nan]]), X_err=0.1).scale
    array([[0.1],
           [nan]])
    """
    _refuse(np.isinf(X), X, "X", "a finite value, or NaN if it is missing")
    center = np.array(X, dtype=np.float64).T  # a copy: the caller may go on writing into X
    if X_err is None:
        return Measurements(center, real_empty(0, 0))
    scale = _read_errors(X_err, X.shape)
    missing = np.isnan(center) | np.isposinf(scale)
    center[missing] = np.nan
    scale[missing] = np.nan
    return Measurements(center, scale)


def _interleaved(center: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Centre and 1/σ of every cell side by side, (…, 2); the centre alone, (…, 1), when all cells are exact."""
    if scale.size == 0:
        return np.ascontiguousarray(center)[:, :, None]
    values = np.empty((*center.shape, 2))
    values[:, :, 0] = center
    with np.errstate(divide="ignore", over="ignore"):  # 1/0, and 1/σ of a σ that is as good as 0: exact
        np.divide(1.0, scale, out=values[:, :, 1])
    return values


def unmasked(table):
    """A masked array (as columns of astropy tables are) with NaN where it is masked; anything else as it is."""
    if not isinstance(table, np.ma.MaskedArray):
        return table
    return np.ma.filled(table.astype(np.float64), np.nan)


def names_of_errors(X_err) -> list | None:
    """Column names of a table of errors, or the index of a Series with one error per feature."""
    names = getattr(X_err, "columns", None)
    if names is None and np.ndim(X_err) == 1:
        names = getattr(X_err, "index", None)
        names = None if callable(names) else names  # list.index
    return None if names is None else list(names)


def refuse_reordered(X, X_err, names_at_fit: list | None = None) -> None:
    """Errors are matched with values by position. Tables that say by name that this is wrong are refused.

    The columns of X_err often have names of their own (`e_gmag`); then they must be those of the training.
    """
    names_of_X, names = getattr(X, "columns", None), names_of_errors(X_err)
    if names is not None and names_at_fit is not None and names != names_at_fit:
        raise ValueError(f"X_err has the columns {names}, but in fit it had {names_at_fit}.")
    if names is not None and names_of_X is not None:
        _refuse_permuted(list(names_of_X), names, "columns", "X_err[X.columns]")
    both_pandas = _is_pandas(X) and _is_pandas(X_err)
    if both_pandas and np.ndim(X_err) == 2 and not X.index.equals(X_err.index):
        _refuse_permuted(list(X.index), list(X_err.index), "rows", "X_err.loc[X.index]")


def _is_pandas(table) -> bool:
    return type(table).__module__.split(".")[0] == "pandas"


def _refuse_permuted(expected: list, found: list, what: str, remedy: str) -> None:
    if found != expected and len(found) == len(expected) and set(found) == set(expected):
        raise ValueError(
            f"X_err has the {what} of X in another order. Errors are matched by position; reorder them with {remedy}."
        )


def _as_numbers(X_err) -> np.ndarray:
    X_err = unmasked(X_err)
    try:
        if _is_pandas(X_err):  # whose own missing value, pd.NA, is no number
            return X_err.to_numpy(dtype=np.float64, na_value=np.nan)
        return np.asarray(X_err, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise ValueError(f"X_err must hold numbers: {problem}") from problem


def _read_errors(X_err, shape: tuple[int, int]) -> np.ndarray:
    """X_err in any of its forms as standard deviations (d, n)."""
    errors = _as_numbers(X_err)
    n_features = shape[1]
    if errors.ndim == 1 and errors.shape != (n_features,):
        raise ValueError(
            f"X_err has {errors.shape[0]} numbers in one dimension, which means one per feature, but X has "
            f"{n_features} features. Give a scalar, shape ({n_features},) or shape {shape}."
        )
    if errors.ndim > 2 or (errors.ndim == 2 and errors.shape != shape):
        raise ValueError(
            f"X_err has shape {errors.shape}, but X has shape {shape}. Give a scalar, one error per feature, "
            f"shape ({n_features},), or one per value, shape {shape}."
        )
    expected = "an error >= 0 (0: exact, NaN: unknown, inf: the value is missing); take the absolute value of errors"
    _refuse(errors < 0, errors, "X_err", expected + " that your table stores with a sign")
    return np.array(np.broadcast_to(errors, shape), dtype=np.float64).T


def _refuse(bad: np.ndarray, values: np.ndarray, name: str, expected: str) -> None:
    if not bad.any():
        return
    where = np.unravel_index(np.argmax(bad), bad.shape)
    axes = {0: (), 1: ("column",), 2: ("row", "column")}[bad.ndim]
    place = ", ".join(f"{axis} {position}" for axis, position in zip(axes, where, strict=True))
    # "infinity" is the word that scikit-learn's users look for.
    value = "infinity" if np.isposinf(values[where]) else "-infinity" if np.isneginf(values[where]) else values[where]
    raise ValueError(f"{name} is {value}{' at ' + place if place else ''}; expected {expected}.")


def _median_of_known(scale: np.ndarray, weight: np.ndarray) -> float:
    """Weighted median, so that an object of weight 2 counts as two objects; the plain median for equal weights."""
    known = ~np.isnan(scale) & (weight > 0)
    if not known.any():
        return np.nan
    values, weight = scale[known], weight[known]
    if (weight == weight[0]).all():
        return float(np.median(values))
    order = np.argsort(values, kind="stable")
    values, below = values[order], np.cumsum(weight[order])
    half = below[-1] / 2
    lower = values[np.searchsorted(below, half, side="left")]
    upper = values[min(np.searchsorted(below, half, side="right"), len(values) - 1)]
    return lower / 2 + upper / 2
