"""A table of distributions as arrays, on its way from checked values to what kernels take: unknown errors are filled
in, log-normal features become logarithms, limits are spread. Each step makes a new table; none changes the old one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..families import NORMAL, Family, even_normal_table, tables_of
from ..inputs.cell_error import CellError
from ..inputs.measured_values import check_values
from ..kernels.layout import FREE_STEPS, OWN_TABLE, Cells, Column, real_empty
from ..kernels.sorting import order_of
from ..support.block_copy import side_by_side
from .limits import NOTHING, SPREAD, TrainingSpread, forms_of_limits, kinds_of_limits
from .tabulated_cells import FreeForms, empty_forms, forms_of_samples, in_order_of_cells

_NONE = np.empty((0, 0), dtype=np.int64)  # no limits, or no cells without a family


@dataclass(frozen=True)
class Measurements:
    """A table of distributions, a row per feature, in any order of memory.

    NaN in `center`: missing. NaN in an error: it is unknown. Features of a log-normal family are given by the
    distribution of their logarithm.
    """

    center: np.ndarray  # (d, n) float64
    lower: np.ndarray  # (d, n) float64, σ below the centre, 0: exact; (0, 0) when all cells are exact
    upper: np.ndarray  # (d, n) float64, σ above it; the same array as `lower` when no error is asymmetric
    families: tuple[Family, ...]  # of each feature
    limit: np.ndarray  # (d, n) int64, +1 when the centre is an upper limit, -1 a lower one; (0, 0): no limits
    form_index: np.ndarray  # (d, n) int64, which of the `forms` the cell has, -1: that of its family; (0, 0): all -1
    forms: FreeForms  # cells that belong to no family
    memory: np.ndarray | None = None  # (n, d, 3) centres and errors side by side, if they lie in memory like that

    @property
    def n_objects(self) -> int:
        return self.center.shape[1]

    @property
    def is_exact(self) -> bool:
        return self.lower.shape[0] == 0

    @property
    def is_symmetric(self) -> bool:
        return self.upper is self.lower

    @property
    def has_limits(self) -> bool:
        return self.limit.shape[0] > 0

    @property
    def has_free_forms(self) -> bool:
        return self.form_index.shape[0] > 0

    def column(self, j: int) -> Column:
        """The cells of feature j. Limits that are not spread yet are missing in it."""
        center = np.ascontiguousarray(self.center[j])
        if self.has_limits:
            center = np.where(self.limit[j] != 0, np.nan, center)
        form_index = self.form_index[j] if self.has_free_forms else np.empty(0, dtype=np.int64)
        lower = real_empty(0) if self.is_exact else np.ascontiguousarray(self.lower[j])
        upper = lower if self.is_symmetric else np.ascontiguousarray(self.upper[j])
        return Column(center, lower, upper, np.ascontiguousarray(form_index), self.forms.points)

    def rows(self, index: np.ndarray | slice) -> "Measurements":
        """Some of the objects."""
        lower = self.lower if self.is_exact else self.lower[:, index]
        return replace(
            self,
            center=self.center[:, index],
            lower=lower,
            upper=lower if self.is_symmetric else self.upper[:, index],
            limit=self.limit[:, index] if self.has_limits else self.limit,
            form_index=self.form_index[:, index] if self.has_free_forms else self.form_index,
        )

    def has_errors(self) -> np.ndarray:
        """The cells (d, n) that an error belongs to: values other than limits and samples."""
        with_errors = ~np.isnan(self.center)
        if self.has_limits:
            with_errors &= self.limit == 0
        if self.has_free_forms:
            with_errors &= self.form_index < 0
        return with_errors

    def median_errors(self, weight: np.ndarray) -> np.ndarray:
        """Weighted median of the known errors of every feature (d,), or (2, d) for lower and upper ones; NaN where none
        is known."""
        if self.is_exact:
            return np.full(self.center.shape[0], np.nan)
        sides = (self.lower,) if self.is_symmetric else (self.lower, self.upper)
        with_errors = self.has_errors()
        medians = [
            [_median_of_known(error[of], weight[of]) for error, of in zip(side, with_errors, strict=True)]
            for side in sides
        ]
        return np.array(medians[0] if self.is_symmetric else medians)

    def with_errors_known(self, rule: str, medians: np.ndarray | None) -> "Measurements":
        """Unknown errors replaced by the rule `unknown_error`: "median", "exact" or "raise".

        `medians` are those of the training set, None if it had no errors.
        """
        if self.is_exact:
            return self
        with_errors = self.has_errors()
        both = None if medians is None else np.broadcast_to(medians, (2, len(self.center)))
        lower = _known(self.lower, with_errors, rule, None if both is None else both[0])
        # Whether there are two sides must not depend on whether an error is unknown: the rows of a table would
        # be summed up in another order than each of them alone.
        one_side = rule != "median" or both is None or np.array_equal(both[0], both[1], equal_nan=True)
        if self.is_symmetric and one_side:
            return replace(self, lower=lower, upper=lower)
        upper = _known(self.upper, with_errors, rule, None if both is None else both[1])
        return replace(self, lower=lower, upper=upper.copy() if upper is lower else upper)

    def with_logarithms(self) -> "Measurements":
        """The logarithms of log-normal features: with mean x and standard deviation σ, those are normal with variance
        s² = ln(1 + σ²/x²) and mean ln x − s²/2. Draws are logarithms already."""
        features = [j for j, family in enumerate(self.families) if family.log]
        if not features:
            return self
        center, lower, upper = self._copied_cells()
        for j in features:
            values = self.form_index[j] < 0 if self.has_free_forms else np.ones(self.n_objects, dtype=bool)
            refuse_not_positive(np.where(values, center[j], np.nan), j, "X")
            if self.is_exact:
                center[j, values] = np.log(center[j, values])
                continue
            _refuse_asymmetric(lower[j, values], upper[j, values], j)
            center[j, values], lower[j, values] = _logarithms(center[j, values], lower[j, values])
            upper[j, values] = lower[j, values]
        return replace(self, center=center, lower=lower, upper=upper)

    def with_errors_scaled(self, factor: float) -> "Measurements":
        """All errors multiplied by `factor`; 0 makes values exact. Limits and samples stay as they are."""
        if factor == 1.0 or self.is_exact:
            return self
        has_other_forms = self.has_limits or self.has_free_forms
        if factor == 0.0 and not has_other_forms:
            nothing = real_empty(0, 0)
            return replace(self, lower=nothing, upper=nothing)
        scaled = np.where(self.has_errors(), factor, 1.0)
        lower = self.lower * scaled
        return replace(self, lower=lower, upper=lower if self.is_symmetric else self.upper * scaled)

    def with_steps(self, steps: np.ndarray, growth: float) -> "Measurements":
        """Values that have moved by `steps` (d, n), log-normal ones by a factor, with errors that are larger by the
        factor `growth`. Unknown errors, limits and samples, and their values, stay as they are."""
        known = self.has_known_errors()
        steps, growths = np.where(known, steps, 0.0), np.where(known, growth, 1.0)
        center = self.center + steps
        for j in (j for j, family in enumerate(self.families) if family.log):
            ratio = np.exp(np.where(known[j], steps[j] / self.center[j], 0.0))
            center[j], growths[j] = self.center[j] * ratio, growths[j] * ratio
        lower = self.lower * growths
        return replace(self, center=center, lower=lower, upper=lower if self.is_symmetric else self.upper * growths)

    def has_known_errors(self) -> np.ndarray:
        """The cells (d, n) whose error is a number."""
        return self.has_errors() & np.isfinite(self.lower) & np.isfinite(self.upper)

    def with_exact_features(self, values: np.ndarray) -> "Measurements":
        """More features, whose `values` (e, n) are exact, NaN where they are missing."""
        if len(values) == 0:
            return self
        lower = _with_rows(self.lower, np.zeros(values.shape))
        return replace(
            self,
            center=_with_rows(self.center, values),
            lower=lower,
            upper=lower if self.is_symmetric else _with_rows(self.upper, np.zeros(values.shape)),
            families=self.families + (NORMAL,) * len(values),
            limit=_with_rows(self.limit, np.zeros(values.shape, dtype=np.int64)),
            form_index=_with_rows(self.form_index, np.full(values.shape, -1)),
        )

    def followed_by(self, other: "Measurements") -> "Measurements":
        """The objects of two tables with the same features."""
        tables = self, other
        lower = upper = real_empty(0, 0)
        if not (self.is_exact and other.is_exact):
            lower = np.concatenate([_or_filled(each.lower, each.center, 0.0) for each in tables], axis=1)
            upper = np.concatenate([_or_filled(each.upper, each.center, 0.0) for each in tables], axis=1)
        limit = form_index = _NONE
        if self.has_limits or other.has_limits:
            limit = np.concatenate([_or_filled(each.limit, each.center, 0) for each in tables], axis=1)
        if self.has_free_forms or other.has_free_forms:
            own, others = (_or_filled(each.form_index, each.center, -1) for each in tables)
            form_index = np.concatenate([own, np.where(others < 0, -1, others + len(self.forms.center))], axis=1)
        forms = FreeForms(*(np.concatenate(parts) for parts in zip(self.forms, other.forms, strict=True)))
        center = np.concatenate([self.center, other.center], axis=1)
        is_symmetric = self.is_symmetric and other.is_symmetric
        return Measurements(center, lower, lower if is_symmetric else upper, self.families, limit, form_index, forms)

    def every(self, step: int) -> "Measurements":
        """One object of `step`, evenly."""
        if step <= 1:
            return self
        lower = self.lower[:, ::step]
        upper = lower if self.is_symmetric else self.upper[:, ::step]
        center, limit, form_index = (part[:, ::step] for part in (self.center, self.limit, self.form_index))
        return replace(self, center=center, lower=lower, upper=upper, limit=limit, form_index=form_index)

    def _copied_cells(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Copies of the centres and of both errors, in the same order of memory; one where both are the same array."""
        lower = np.copy(self.lower)
        return np.copy(self.center), lower, lower if self.is_symmetric else np.copy(self.upper)

    def with_limits_spread(self, spreads: Sequence[TrainingSpread]) -> "Measurements":
        """Limits as cells without a family, spread over what the training set has on their allowed side."""
        if not self.has_limits:
            return self
        center, limit = np.copy(self.center), self.limit
        lower, upper = np.where(limit != 0, 0.0, self.lower), np.where(limit != 0, 0.0, self.upper)
        form_index = self.form_index.copy() if self.has_free_forms else np.full_like(limit, -1)
        are_spread = np.zeros_like(limit, dtype=bool)
        for j, spread in enumerate(spreads):
            at = np.flatnonzero((limit[j] != 0) & ~np.isnan(center[j]))
            kind = kinds_of_limits(spread, center[j, at], limit[j, at])
            center[j, at[kind == NOTHING]] = np.nan
            are_spread[j, at[kind == SPREAD]] = True
        own, n_before = empty_forms(int(are_spread.sum())), len(self.forms.center)
        form_index.T[are_spread.T] = np.arange(n_before, n_before + len(own.center))  # one object after the other
        for j, spread in enumerate(spreads):
            at = np.flatnonzero(are_spread[j])
            forms = forms_of_limits(spread, center[j, at], limit[j, at])
            center[j, at], lower[j, at], upper[j, at] = forms[:3]
            for part, of_feature in zip(own, forms, strict=True):
                part[form_index[j, at] - n_before] = of_feature
        forms = FreeForms(*(np.concatenate(parts) for parts in zip(self.forms, own, strict=True))) if n_before else own
        return replace(self, center=center, lower=lower, upper=upper, limit=_NONE, form_index=form_index, forms=forms)

    def into_cells(self) -> Cells:
        """As kernels take them; all errors must be known, and limits spread.

        The cells take over the `memory` of the table, which is of no use afterwards: a large one is not there twice.
        """
        complete = not np.isnan(self.center).any()
        if self.is_exact:
            values = np.ascontiguousarray(self.center.T)[:, :, None]
        elif self.is_symmetric and not self.has_free_forms and all(family.is_normal for family in self.families):
            values = _interleaved(self.center.T, self.lower.T)
        else:
            return self._general_cells(complete)
        return Cells(values, even_normal_table(), np.zeros(len(self.center), dtype=np.int64), complete)

    def _general_cells(self, complete: bool) -> Cells:
        table, start = tables_of(self.families)
        if not self.has_free_forms:
            return Cells(self._with_both_sides(), table, start, complete)
        index = self.form_index.T
        values = _interleaved(self.center.T, self.lower.T, self.upper.T, n_more=1)
        tables, of_cells = in_order_of_cells(self.forms.table, index)
        values[:, :, OWN_TABLE] = np.where(index < 0, -1 - start, len(table) + (FREE_STEPS + 1) * of_cells)
        return Cells(values, np.concatenate([table, tables.ravel()]), start, complete)

    def _with_both_sides(self) -> np.ndarray:
        """Centre and both 1/σ of every cell, (n, d, 3)."""
        parts, memory = (self.center, self.lower, self.upper), self.memory
        if memory is None or any(part.base is not memory or part.shape != memory.T.shape[1:] for part in parts):
            return _interleaved(self.center.T, self.lower.T, self.upper.T)
        _invert(memory[:, :, 1:])
        return memory


def read_measurements(
    X: np.ndarray, X_err=None, X_limit=None, X_samples=None, families: tuple[Family, ...] | None = None
) -> Measurements:
    """Check values `X` (n, d) float64 and what is known about them, and make distributions of them.

    Errors may still be unknown and limits are not spread; only draws of log-normal features are logarithms already.
    """
    families = (NORMAL,) * X.shape[1] if families is None else families
    center, lower, upper, limit, samples = check_values(X, X_err, X_limit, X_samples)
    measurements = Measurements(center, lower, upper, families, limit, _NONE, empty_forms(0))
    return measurements if samples is None else _with_samples(measurements, samples)


def _with_samples(measurements: Measurements, samples: np.ndarray) -> Measurements:
    """Draws (n, d, m) instead of the cells that have some."""
    samples = _with_logarithms_of_draws(samples, measurements.families)
    sampled, forms = forms_of_samples(samples)
    center, lower, upper = (np.copy(part.T) for part in (measurements.center, measurements.lower, measurements.upper))
    center[sampled], lower[sampled], upper[sampled] = forms[:3]
    form_index = np.full(center.shape, -1)
    form_index[sampled] = np.arange(len(forms.center))
    limit = np.where(sampled.T, 0, measurements.limit) if measurements.has_limits else measurements.limit
    return replace(
        measurements, center=center.T, lower=lower.T, upper=upper.T, limit=limit, form_index=form_index.T, forms=forms
    )


def _with_logarithms_of_draws(samples: np.ndarray, families: Sequence[Family]) -> np.ndarray:
    features = [j for j, family in enumerate(families) if family.log]
    samples = np.copy(samples) if features else samples
    for j in features:
        refuse_not_positive(np.nanmin(samples[:, j], axis=1, initial=np.inf), j, "X_samples")
        samples[:, j] = np.log(samples[:, j])
    return samples


def refuse_not_positive(values: np.ndarray, j: int, name: str) -> None:
    """Raise an error for values (n,) of a log-normal feature j that are not positive."""
    bad = values <= 0
    if bad.any():
        row = int(np.argmax(bad))
        raise CellError(name, values[row], row, j, "a log-normal feature has positive values, or NaN")


def _refuse_asymmetric(lower: np.ndarray, upper: np.ndarray, j: int) -> None:
    if not np.array_equal(lower, upper, equal_nan=True):
        raise ValueError(
            f"X_err has lower and upper errors that differ in column {j}, whose distribution is log-normal: it is "
            'asymmetric by itself. Give one error per value, or take distribution="normal".'
        )


def _logarithms(x: np.ndarray, sigma: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of the logarithm of log-normal values."""
    with np.errstate(over="ignore"):
        ratio = sigma / x
    variance = np.log1p(np.minimum(ratio, 1e100) ** 2)  # a larger one has no square
    return np.log(x) - 0.5 * variance, np.sqrt(variance)


def _with_rows(array: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """An array (d, n) with more rows (e, n), an object after the other in memory; an empty one stays as it is."""
    return np.concatenate([array.T, rows.T], axis=1).T if len(array) else array


def _or_filled(array: np.ndarray, like: np.ndarray, number: float) -> np.ndarray:
    """An array (d, n) or, if it is empty, one that is filled with a number."""
    return array if len(array) else np.full(like.shape, number)


def _interleaved(center: np.ndarray, *scales: np.ndarray, n_more: int = 0) -> np.ndarray:
    """Centre and 1/σ of every cell side by side, and room for `n_more` numbers."""
    values = side_by_side(center, *scales, n_more=n_more)
    _invert(values[:, :, 1 : 1 + len(scales)])
    return values


def _invert(scales: np.ndarray) -> None:
    """σ to 1/σ, in place: one side after the other, as NumPy is slow where rows have two numbers."""
    with np.errstate(divide="ignore", over="ignore"):  # 1/0, and 1/σ of a σ that is as good as 0: exact
        for side in np.moveaxis(scales, -1, 0):
            np.divide(1.0, side, out=side)


def _known(errors: np.ndarray, with_errors: np.ndarray, rule: str, medians: np.ndarray | None) -> np.ndarray:
    """Errors (d, n) of one side with the unknown ones replaced; the same array if there is none."""
    unknown = np.isnan(errors) & with_errors
    if not unknown.any():
        return errors
    row, column = np.argwhere(unknown.T)[0].tolist()
    there = partial(CellError, "X_err", "NaN", row, column)
    if rule == "raise":
        raise there(
            'X has a value there, and unknown_error="raise": give the error, or choose unknown_error="median" or '
            '"exact"'
        )
    if rule == "exact":
        return np.where(unknown, 0.0, errors)
    if medians is None:
        raise there(
            "X has a value there. The median error of the training set would take its place, but the model was fitted "
            'without X_err. Fit it with errors, give the error, or choose unknown_error="exact"'
        )
    hopeless = np.flatnonzero(unknown.any(axis=1) & np.isnan(medians))
    if len(hopeless):
        remark = (
            'no error of this column is known in the training set, so unknown_error="median" has nothing to take the '
            'median of. Give at least one, or choose unknown_error="exact" to treat its values as exact'
        )
        raise CellError("X_err", "NaN", None, int(hopeless[0]), remark)
    return np.where(unknown, medians[:, None] + 0.0, errors)  # a median of -0, in an old file, is 0


def _median_of_known(scale: np.ndarray, weight: np.ndarray) -> float:
    """Weighted median, so that an object of weight 2 counts as two objects; the plain median for equal weights."""
    known = ~np.isnan(scale) & (weight > 0)
    if not known.any():
        return np.nan
    values, weight = scale[known], weight[known]
    if (weight == weight[0]).all():
        return float(np.median(values))
    order = order_of(values)
    values, below = values[order], np.cumsum(weight[order])
    half = below[-1] / 2
    lower = values[np.searchsorted(below, half, side="left")]
    upper = values[min(np.searchsorted(below, half, side="right"), len(values) - 1)]
    return lower / 2 + upper / 2
