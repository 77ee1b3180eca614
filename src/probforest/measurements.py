"""What users say about their values and errors, checked once and turned into arrays that kernels can trust.

Every complaint about X or X_err is raised here. The caller's arrays are only read.
"""

from dataclasses import dataclass

import numpy as np

from .kernels.layout import Cells, real_empty


@dataclass(frozen=True)
class Measurements:
    """A table of distributions, feature-major. NaN in `center`: missing. NaN in `scale`: the error is unknown."""

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

    def with_errors_known(self, rule: str, medians: np.ndarray) -> "Measurements":
        """Unknown errors replaced by the rule `unknown_error`: "median", "exact" or "raise"."""
        unknown = np.isnan(self.scale) & ~np.isnan(self.center) if not self.is_exact else np.zeros((0, 0), dtype=bool)
        if not unknown.any():
            return self
        features, objects = np.nonzero(unknown)
        if rule == "raise":
            first = np.lexsort((features, objects))[0]
            raise ValueError(
                f"X_err is NaN at row {objects[first]}, column {features[first]}, where X has a value, and "
                'unknown_error="raise". Give the error, or choose unknown_error="median" or "exact".'
            )
        if rule == "exact":
            filled = np.where(unknown, 0.0, self.scale)
        else:
            hopeless = np.unique(features[np.isnan(medians[features])])
            if len(hopeless):
                raise ValueError(
                    f"X_err has no known error in column {hopeless[0]} of the training set, so "
                    'unknown_error="median" has nothing to take the median of. Give at least one error in that '
                    'column, or choose unknown_error="exact" to treat its values as exact.'
                )
            filled = np.where(unknown, medians[:, None], self.scale)
        return Measurements(self.center, filled)

    def cells(self) -> Cells:
        """As the kernels take them; all errors must be known."""
        if self.is_exact:
            return Cells(self.center, real_empty(0, 0))
        with np.errstate(divide="ignore", over="ignore"):  # 1/0, and 1/σ of a σ that is as good as 0: exact
            return Cells(self.center, 1.0 / self.scale)


def read_measurements(X: np.ndarray, X_err, *, names_of_X=None) -> Measurements:
    """Check values `X` (n, d) float64 against their errors; `names_of_X` are the column names of a DataFrame.

    >>> import numpy as np
    >>> read_measurements(np.array([[1.0, np.nan]]), X_err=0.1).scale
    array([[0.1],
           [nan]])
    """
    _refuse(np.isinf(X), X, "X", "a finite value, or NaN if it is missing")
    # A copy even where X is Fortran-ordered already: the caller may go on writing into X.
    center = np.array(X.T, dtype=np.float64, order="C")
    if X_err is None:
        return Measurements(center, real_empty(0, 0))
    scale = _read_errors(X_err, X.shape, names_of_X)
    missing = np.isnan(center) | np.isposinf(scale)
    center[missing] = np.nan
    scale[missing] = np.nan
    return Measurements(center, scale)


def _read_errors(X_err, shape: tuple[int, int], names_of_X) -> np.ndarray:
    """X_err in any of its forms as standard deviations (d, n)."""
    _refuse_reordered_columns(X_err, names_of_X)
    try:
        errors = np.asarray(X_err, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise ValueError(f"X_err must hold numbers: {problem}") from problem
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
    _refuse(errors < 0, errors, "X_err", "an error >= 0 (0: exact, NaN: unknown, inf: the value is missing)")
    return np.array(np.broadcast_to(errors, shape).T, dtype=np.float64, order="C")


def _refuse(bad: np.ndarray, values: np.ndarray, name: str, expected: str) -> None:
    if not bad.any():
        return
    where = np.unravel_index(np.argmax(bad), bad.shape)
    axes = {0: (), 1: ("column",), 2: ("row", "column")}[bad.ndim]
    place = ", ".join(f"{axis} {position}" for axis, position in zip(axes, where, strict=True))
    # "infinity" is the word that scikit-learn's users look for.
    value = "infinity" if np.isposinf(values[where]) else "-infinity" if np.isneginf(values[where]) else values[where]
    raise ValueError(f"{name} is {value}{' at ' + place if place else ''}; expected {expected}.")


def _refuse_reordered_columns(X_err, names_of_X) -> None:
    """The names of X in another order are surely a mistake; other names are what error columns usually have."""
    names = getattr(X_err, "columns", None)
    if names is None or names_of_X is None:
        return
    if list(names) != list(names_of_X) and set(names) == set(names_of_X):
        raise ValueError(
            f"X_err has the columns of X in another order: {list(names)} instead of {list(names_of_X)}. "
            "Errors are matched by position; reorder them with X_err[X.columns]."
        )


def _median_of_known(scale: np.ndarray, weight: np.ndarray) -> float:
    """Weighted median, so that an object of weight 2 counts as two objects; the plain median for equal weights."""
    known = ~np.isnan(scale) & (weight > 0)
    if not known.any():
        return np.nan
    order = np.argsort(scale[known], kind="stable")
    values, below = scale[known][order], np.cumsum(weight[known][order])
    half = below[-1] / 2
    lower = values[np.searchsorted(below, half, side="left")]
    upper = values[min(np.searchsorted(below, half, side="right"), len(values) - 1)]
    return lower / 2 + upper / 2
