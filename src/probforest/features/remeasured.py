"""What objects might look like if a value were measured better, when features say something about each other.

A new value changes what is known about all other features of the object. So the measurement itself is replaced, and
priors are applied again. If features say nothing about each other, `cell_quantiles.better_known` does the same at once.
"""

from dataclasses import replace
from functools import partial

import numpy as np
from scipy.special import ndtri

from ..kernels.layout import Cells
from .cell_quantiles import cell_quantiles
from .feature_model import FeatureModel
from .measurements import Measurements


class Remeasured:
    """Tables of what might be measured, for objects that were `read` by a FeatureModel."""

    def __init__(
        self, model: FeatureModel, table: Measurements, *, unknown_error: str, n_jobs: int | None, values_only: bool
    ) -> None:
        self._model, self._table = model, table
        self._known = table.with_errors_known(unknown_error, model.medians_for(table))
        self._apply = partial(model.apply, unknown_error=unknown_error, n_jobs=n_jobs, values_only=values_only)
        self._now = self._apply(table, narrowing=1.0)

    def cells(self, objects: slice, levels: np.ndarray, factor: float) -> tuple[np.ndarray, np.ndarray, Cells]:
        """For some objects and each of their values that is not exact, cells at equally probable places of what a
        measurement with `factor` × its error would find.

        Returns the objects (m,) and features (m,), and the cells (m × q) of one after the other.
        """
        now = self._now._replace(values=self._now.values[objects])
        quantiles = cell_quantiles(now, self._model.spreads, levels)[:, : self._model.n_values]
        medians = cell_quantiles(now, self._model.spreads, np.array([0.5]))[:, : self._model.n_values]
        rows, features = np.nonzero(quantiles[:, :, 0] < quantiles[:, :, -1])
        offsets = (quantiles - medians)[rows, features]
        rows = rows + objects.start
        # The new measurement scatters around the truth, which may be anywhere in its distribution.
        noise = factor * self._errors(rows, features)[:, None] * np.abs(ndtri(levels))
        places = medians[rows - objects.start, features] + np.sign(offsets) * np.hypot(offsets, noise)
        asked, of_feature = np.repeat(rows, len(levels)), np.repeat(features, len(levels))
        new = self._replaced(asked, of_feature, places.ravel(), factor)
        return rows, features, self._apply(new, errors_of=self._table.rows(asked))

    def _errors(self, rows: np.ndarray, features: np.ndarray) -> np.ndarray:
        """Mean errors of some cells, of logarithms where these are used; 0 where there are none."""
        if self._known.is_exact:
            return np.zeros(len(rows))
        known = self._known.with_logarithms()
        errors = (known.lower + known.upper)[features, rows] / 2
        return np.where(known.has_errors()[features, rows], np.nan_to_num(errors), 0.0)

    def _replaced(self, rows: np.ndarray, features: np.ndarray, places: np.ndarray, factor: float) -> Measurements:
        """The objects `rows` (m,) with one value each, that of `features` (m,), measured again at `places` (m,). Holes,
        limits and samples become exact."""
        table, at = self._known.rows(rows), (features, np.arange(len(rows)))
        is_log = np.array([family.log for family in table.families])[features]
        center = table.center.copy()
        center[at] = np.where(is_log, np.exp(np.where(is_log, places, 0.0)), places)
        lower, upper = table.lower, table.upper
        if not table.is_exact:
            shrunk = np.where(table.has_errors()[at], factor, 0.0)
            lower = _with(lower, at, shrunk * np.nan_to_num(lower[at]))
            upper = lower if table.is_symmetric else _with(upper, at, shrunk * np.nan_to_num(upper[at]))
        limit = _with(table.limit, at, 0) if table.has_limits else table.limit
        form_index = _with(table.form_index, at, -1) if table.has_free_forms else table.form_index
        return replace(table, center=center, lower=lower, upper=upper, limit=limit, form_index=form_index)


def _with(array: np.ndarray, at: tuple[np.ndarray, np.ndarray], values: np.ndarray | int) -> np.ndarray:
    """A copy of an array with other values at some places."""
    changed = array.copy()
    changed[at] = values
    return changed
