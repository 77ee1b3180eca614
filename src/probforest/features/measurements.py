"""A table of distributions as arrays, on its way from what users say to what kernels take: unknown errors are filled
in, log-normal features become logarithms, limits are spread.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..families import Family, even_normal_table, tables_of
from ..inputs.cell_error import CellError
from ..kernels.layout import FREE_STEPS, Cells, Column, real_empty
from .limits import NOTHING, SPREAD, Reference, forms_of_limits, kinds_of_limits
from .tabulated_cells import FreeForms

NO_NUMBERS = np.empty((0, 0), dtype=np.int64)


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
    number: np.ndarray  # (d, n) int64, which of the `forms` is the cell, or -1; (0, 0): there are none
    forms: FreeForms  # cells that belong to no family

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
        return self.number.shape[0] > 0

    def rows(self, keep: np.ndarray) -> "Measurements":
        """The objects where `keep` (n,) is true."""
        if keep.all():
            return self

        def kept(array: np.ndarray) -> np.ndarray:
            # compress keeps the rows contiguous, which a mask as an index does not
            return np.compress(keep, array, axis=1) if array.shape[0] else array

        lower = kept(self.lower)
        upper = lower if self.is_symmetric else kept(self.upper)
        return replace(
            self,
            center=kept(self.center),
            lower=lower,
            upper=upper,
            limit=kept(self.limit),
            number=kept(self.number),
        )

    def column(self, j: int) -> Column:
        """The cells of feature j; limits are not spread yet, and so have no part in it."""
        center = np.ascontiguousarray(self.center[j])
        if self.has_limits:
            center = np.where(self.limit[j] != 0, np.nan, center)
        number = self.number[j] if self.has_free_forms else np.empty(0, dtype=np.int64)
        lower = real_empty(0) if self.is_exact else np.ascontiguousarray(self.lower[j])
        upper = lower if self.is_symmetric else np.ascontiguousarray(self.upper[j])
        return Column(center, lower, upper, np.ascontiguousarray(number), self.forms.points)

    def has_errors(self) -> np.ndarray:
        """The cells (d, n) that an error belongs to: values that are no limits and no samples."""
        with_errors = ~np.isnan(self.center)
        if self.has_limits:
            with_errors &= self.limit == 0
        if self.has_free_forms:
            with_errors &= self.number < 0
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
        """The same with the logarithms of log-normal features: with mean x and standard deviation σ, those are normal
        with variance s² = ln(1 + σ²/x²) and mean ln x − s²/2. Overwrites its arrays; draws are logarithms already."""
        for j in [j for j, family in enumerate(self.families) if family.log]:
            values = self.number[j] < 0 if self.has_free_forms else np.ones(self.center.shape[1], dtype=bool)
            x = self.center[j, values]
            refuse_not_positive(np.where(values, self.center[j], np.nan), j, "X")
            if self.is_exact:
                self.center[j, values] = np.log(x)
                continue
            lower, upper = self.lower[j, values], self.upper[j, values]
            if not np.array_equal(lower, upper, equal_nan=True):
                raise ValueError(
                    f"X_err has lower and upper errors that differ in column {j}, whose distribution is log-normal: it "
                    'is asymmetric by itself. Give one error per value, or take distribution="normal".'
                )
            with np.errstate(over="ignore"):
                ratio = lower / x
            variance = np.log1p(np.minimum(ratio, 1e100) ** 2)  # a larger one has no square
            self.center[j, values] = np.log(x) - 0.5 * variance
            self.lower[j, values] = self.upper[j, values] = np.sqrt(variance)
        return self

    def with_limits_spread(self, references: Sequence[Reference]) -> "Measurements":
        """Limits as free-form cells, spread over what the training set has on their allowed side."""
        if not self.has_limits:
            return self
        center, limit = self.center.copy(), self.limit
        lower, upper = np.where(limit != 0, 0.0, self.lower), np.where(limit != 0, 0.0, self.upper)
        number = self.number.copy() if self.has_free_forms else np.full(center.shape, -1)
        spread = [self.forms]
        for j, reference in enumerate(references):
            at = np.flatnonzero((limit[j] != 0) & ~np.isnan(center[j]))
            kind = kinds_of_limits(reference, center[j, at], limit[j, at])
            center[j, at[kind == NOTHING]] = np.nan
            at = at[kind == SPREAD]
            forms = forms_of_limits(reference, center[j, at], limit[j, at])
            n_before = sum(len(each.center) for each in spread)
            number[j, at] = np.arange(n_before, n_before + len(at))
            center[j, at], lower[j, at], upper[j, at] = forms[:3]
            spread.append(forms)
        together = FreeForms(*(np.concatenate(parts) for parts in zip(*spread, strict=True)))
        return replace(self, center=center, lower=lower, upper=upper, limit=NO_NUMBERS, number=number, forms=together)

    def cells(self) -> Cells:
        """As kernels take them; all errors must be known, and limits spread."""
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
            return Cells(_interleaved(self.center.T, self.lower.T, self.upper.T), table, start, complete)
        own = np.where(self.number >= 0, len(table) + self.number * (FREE_STEPS + 1), -1)
        values = np.empty((*self.center.T.shape, 4))
        values[:, :, :3] = _interleaved(self.center.T, self.lower.T, self.upper.T)
        values[:, :, 3] = own.T
        return Cells(values, np.concatenate([table, self.forms.table.ravel()]), start, complete)


def refuse_not_positive(values: np.ndarray, j: int, name: str) -> None:
    """Complain about values (n,) of a log-normal feature j that are not positive."""
    bad = values <= 0
    if bad.any():
        row = int(np.argmax(bad))
        raise CellError(name, values[row], row, j, "a log-normal feature has positive values, or NaN")


def _interleaved(center: np.ndarray, *scales: np.ndarray) -> np.ndarray:
    """Centre and 1/σ of every cell side by side."""
    values = np.empty((*center.shape, 1 + len(scales)))
    values[:, :, 0] = center
    with np.errstate(divide="ignore", over="ignore"):  # 1/0, and 1/σ of a σ that is as good as 0: exact
        for place, scale in enumerate(scales, start=1):
            np.divide(1.0, scale, out=values[:, :, place])
    return values


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
    order = np.argsort(values, kind="stable")
    values, below = values[order], np.cumsum(weight[order])
    half = below[-1] / 2
    lower = values[np.searchsorted(below, half, side="left")]
    upper = values[min(np.searchsorted(below, half, side="right"), len(values) - 1)]
    return lower / 2 + upper / 2
