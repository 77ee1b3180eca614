"""What is learnt about the features of a training set, and how any table becomes the cells that kernels take.

The recipe: the content of a table → checked arrays → errors known → logarithms → errors scaled → posteriors → sizes of
errors as more features, if they are wanted → limits spread → cells. Targets have no part in it; a fit takes the
weights of objects.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np

from ..families import Family
from ..inputs.cell_error import CellError
from ..inputs.tables import Layout, TableContent
from ..kernels.layout import Bins, Cells
from .binning import encode
from .cell_summaries import CellSummaries, summaries_of
from .error_shift import ErrorShift, find_shifts, has_far_errors
from .error_spread import ErrorSpread, learn_error_spreads, sizes_of_errors
from .feature_bins import FeatureBins, bins_between
from .feature_learner import FeatureLearner, FindTellingHoles
from .joint_prior import NARROWING, JointPrior, with_posteriors
from .limits import TrainingSpread
from .measurements import Measurements, read_measurements
from .mixture_fit import THOROUGH
from .noisier_objects import NoisierObjects, measured_worse, relative_errors
from .prior import Prior, sample_of


@dataclass(frozen=True, eq=False)
class FeatureModel:
    """What is known about each of the d features of a table after a fit.

    With error features, trees see d + e features: the d values first, then the sizes of their errors.
    """

    layout: Layout  # the columns of the table
    families: tuple[Family, ...]  # (d) the distributions of measured values
    fitted_with_errors: bool
    median_errors: np.ndarray  # (d,), or (2, d) for lower and upper errors; NaN where none is known
    priors: tuple[Prior | None, ...]  # (d) the distributions of true values
    spreads: tuple[TrainingSpread, ...]  # (d) what limits are spread over
    error_spreads: tuple[ErrorSpread, ...]  # the errors of the training set, of those features that have some
    has_error_features: bool  # whether their sizes are features, too
    error_scale: float = 1.0  # factor of all errors when values are spread over them
    joint_prior: JointPrior | None = None  # what the features say about each other; None: nothing was learnt
    noisier: NoisierObjects | None = None  # for objects that are measured much worse; None: they are like others

    @classmethod
    def fit(
        cls,
        table: TableContent,
        weight: np.ndarray,
        families: tuple[Family, ...],
        *,
        prior: str | None,
        unknown_error: str,
        max_bins: int,
        n_jobs: int | None = None,
        error_features: bool = False,
        error_spreads: tuple[ErrorSpread, ...] | None = None,
        sample_weight: np.ndarray | None = None,
        rows: np.ndarray | None = None,
        error_scale: float = 1.0,
        telling_holes: FindTellingHoles | None = None,
        quick: bool = False,
        priors: Sequence[Prior | None] | None = None,
        checked: "CheckedTable | None" = None,
        for_noisier: bool = False,
    ) -> "FittedFeatures":
        """Learn from a training set, in which each object counts with its `weight` (n,), or not at all. With `rows`,
        only those are learnt from and returned; but median errors are those of all, as a few rows may have none.
        `checked` is what `check_table` makes of the table, if it is known. `for_noisier`: also learn the joint prior,
        if it is not the `prior`, for objects that are measured much worse than these.

        `error_spreads` are those of an earlier fit, whose trees are kept; None: they are learnt. `sample_weight` (n,)
        is what the objects would weigh in a table to predict, whose labels are not known. `telling_holes` says which
        features have holes that say something by themselves: these stay holes under the joint prior. None: no feature.
        `quick`: the joint prior and the bins are rough ones. `priors` are those of the features, if they are known;
        None: they are learnt.
        """
        checked = check_table(table, families, weight) if checked is None else checked.counting(weight)
        measurements, medians = checked.measurements, checked.medians
        del checked  # the numbers as they were given are not needed to the end
        if rows is not None:
            measurements, weight = measurements.rows(rows), weight[rows]
        if error_spreads is None:
            counted = weight if sample_weight is None else np.where(weight > 0, sample_weight, 0.0)
            error_spreads = learn_error_spreads(measurements, counted)
        others = _unlabelled(table, families, unknown_error, medians, error_scale)
        for_noisier &= bool((medians > 0).any())  # what errors can be compared with
        learner = FeatureLearner(
            weight, medians, prior, max_bins, n_jobs, error_scale, telling_holes, quick, priors, others, for_noisier
        )
        sizes = sizes_of_errors(measurements, _error_features(error_spreads)) if error_features else None
        measurements = _distributions(measurements, sizes, table.layout, learner, unknown_error, n_jobs)
        spreads = tuple(bins.spread for bins in learner.bins[: len(families)])
        known = table.layout, families, table.has_errors, learner.medians, tuple(learner.priors), spreads
        model = cls(*known, error_spreads, error_features, error_scale, learner.joint, learner.noisier)
        kept = None if weight.all() else weight > 0
        bins = encode(measurements, learner.bins, max_bins, kept, n_jobs)
        return FittedFeatures(model, measurements.into_cells(), bins, tuple(learner.bins))

    def prepare(
        self,
        table: TableContent,
        weight: np.ndarray,
        bins: Sequence[FeatureBins],
        *,
        unknown_error: str,
        max_bins: int,
        n_jobs: int | None = None,
    ) -> "FittedFeatures":
        """What becomes of another training set, or of a piece of one, that trees are grown on with these features."""
        measurements = self.read(table)
        sizes = sizes_of_errors(measurements, self.error_features) if self.has_error_features else None
        alike = replace(self, noisier=None)  # objects that trees are grown on are what others are compared with
        measurements = _distributions(measurements, sizes, self.layout, alike, unknown_error, n_jobs)
        kept = None if weight.all() else weight > 0
        codes = encode(measurements, bins, max_bins, kept, n_jobs)
        return FittedFeatures(self, measurements.into_cells(), codes, tuple(bins))

    @property
    def shared_bins(self) -> tuple[FeatureBins, ...]:
        """The bins for training sets other than the one that was learnt from: those of the values, whose edges are
        kept, and of the sizes of errors, between their quantiles."""
        of_values = tuple(bins_between(spread.points[1:-1], spread) for spread in self.spreads)
        return of_values + tuple(_bins_of_sizes(spread) for spread in self.error_features)

    def read(self, table: TableContent) -> Measurements:
        """The checked numbers of a table, or of a piece of one, that has the layout of the fit."""
        return _checked(table, self.families)

    def apply(
        self,
        table: Measurements,
        *,
        unknown_error: str,
        n_jobs: int | None = None,
        values_only: bool = False,
        errors_of: Measurements | None = None,
        narrowing: float = NARROWING,
    ) -> Cells:
        """The cells of a table that was `read`; `values_only`: without error features, which are those of `errors_of`
        if it is given. With a `narrowing` of 1, joint posteriors are as wide as they are."""
        sizes = None if values_only else sizes_of_errors(errors_of or table, self.error_features)
        return _distributions(table, sizes, self.layout, self, unknown_error, n_jobs, narrowing).into_cells()

    def posterior(self, table: Measurements, *, unknown_error: str, n_jobs: int | None = None) -> CellSummaries:
        """Median and widths of every cell of a table that was `read`: posteriors as they are, not as trees see them."""
        return summaries_of(_distributions(table, None, self.layout, self, unknown_error, n_jobs, narrowing=1.0))

    def error_shifts(self, table: Measurements) -> tuple[ErrorShift, ...]:
        """The errors of a table that was `read` beside those of the training set, the most different ones first."""
        names = self.names_of_values
        names_of_errors = [spread.name(names[spread.feature]) for spread in self.error_spreads]
        return find_shifts(self.error_spreads, names_of_errors, table, strict=self.has_error_features)

    def may_have_shifts(self, table: Measurements) -> bool:
        """Whether `error_shifts` might find some: it takes much longer."""
        return self.has_error_features or has_far_errors(self.error_spreads, table)

    def error_sizes(self, table: TableContent) -> np.ndarray:
        """The size of the errors of every object (n,): the median over the features of error / median error in the
        training set. NaN for an object without known errors. Limits and samples do not count."""
        measurements = self.read(table)
        if measurements.is_exact:
            return np.full(measurements.n_objects, np.nan)
        ratio = relative_errors(measurements, self.median_errors)
        sizes = np.full(measurements.n_objects, np.nan)
        known = ~np.isnan(ratio).all(axis=0)
        sizes[known] = np.nanmedian(ratio[:, known], axis=0)
        return sizes

    @property
    def n_values(self) -> int:
        """d, the number of features that have values."""
        return len(self.families)

    @property
    def error_features(self) -> tuple[ErrorSpread, ...]:
        """(e) The errors whose sizes are features, in the order of these."""
        return _error_features(self.error_spreads) if self.has_error_features else ()

    @property
    def n_features(self) -> int:
        """d + e, the number of features that trees see."""
        return self.n_values + len(self.error_features)

    @property
    def says_something_jointly(self) -> bool:
        """Whether features say something about each other."""
        return self.joint_prior is not None and len(self.joint_prior.groups) > 0

    @property
    def names_of_values(self) -> list[str]:
        """Names of the features that have values."""
        names = self.layout.features
        return [f"x{j}" for j in range(self.n_values)] if names is None else names

    @property
    def names(self) -> list[str]:
        """Names of all features that trees see."""
        names = self.names_of_values
        return names + [spread.name(names[spread.feature]) for spread in self.error_features]

    def by_column(self, of_features: np.ndarray) -> np.ndarray:
        """Numbers of all features (d + e) as numbers of the columns of the table: a value and its errors have the sum
        of theirs."""
        of_values = of_features[: self.n_values].copy()
        for spread, number in zip(self.error_features, of_features[self.n_values :], strict=True):
            of_values[spread.feature] += number
        return self.layout.by_column(of_values)

    # What the recipe needs, whatever the table.

    def medians_for(self, measurements: Measurements) -> np.ndarray | None:
        """The errors that replace unknown ones; None: the training set had no errors."""
        return self.median_errors if self.fitted_with_errors else None

    def priors_for(self, measurements: Measurements) -> Sequence[Prior | None]:
        """The distributions of true values."""
        return self.priors

    def joint_prior_for(self, measurements: Measurements) -> JointPrior | None:
        """What the features say about each other."""
        return self.joint_prior

    def measured_worse(self, measurements: Measurements) -> np.ndarray | None:
        """Which objects (n,) are measured much worse than the training set; None if they are like others."""
        if self.noisier is None or measurements.is_exact:
            return None
        return measured_worse(measurements, self.median_errors)

    def spreads_for(self, measurements: Measurements) -> Sequence[TrainingSpread]:
        """What limits are spread over."""
        return self.spreads


class CheckedTable(NamedTuple):
    """The numbers of a training set, checked, and the median errors of its features."""

    measurements: Measurements
    medians: np.ndarray  # (d,), or (2, d) for lower and upper errors
    weight: np.ndarray  # (n,) what the objects count for them

    def counting(self, weight: np.ndarray) -> "CheckedTable":
        """The same table with other weights of its objects."""
        if np.array_equal(weight, self.weight):
            return self
        return CheckedTable(self.measurements, self.measurements.median_errors(weight), weight)


def check_table(table: TableContent, families: tuple[Family, ...], weight: np.ndarray) -> CheckedTable:
    """The first step of a fit, which several of the same table can share."""
    measurements = _checked(table, families)
    return CheckedTable(measurements, measurements.median_errors(weight), weight)


class FittedFeatures(NamedTuple):
    """A FeatureModel, and what became of the table that it was fitted on."""

    model: FeatureModel
    cells: Cells  # of all objects
    bins: Bins  # of the objects that have a weight
    feature_bins: tuple[FeatureBins, ...]  # (d + e) what these are


class _Knowledge(Protocol):
    """What the recipe needs to know. It is given the table as it is at that step, from which a fit can learn it."""

    @property
    def error_scale(self) -> float: ...

    @property
    def noisier(self) -> NoisierObjects | None: ...

    def measured_worse(self, measurements: Measurements) -> np.ndarray | None: ...

    def medians_for(self, measurements: Measurements) -> np.ndarray | None: ...

    def priors_for(self, measurements: Measurements) -> Sequence[Prior | None]: ...

    def joint_prior_for(self, measurements: Measurements) -> JointPrior | None: ...

    def spreads_for(self, measurements: Measurements) -> Sequence[TrainingSpread]: ...


def _error_features(spreads: Sequence[ErrorSpread]) -> tuple[ErrorSpread, ...]:
    """The errors that can tell objects apart."""
    return tuple(spread for spread in spreads if not spread.is_constant)


def _bins_of_sizes(spread: ErrorSpread) -> FeatureBins:
    """Bins of the sizes of errors, with an edge midway between each two quantiles that differ."""
    sizes = np.unique(spread.quantiles)
    edges = sizes[:-1] / 2 + sizes[1:] / 2
    shares = np.linspace(0.0, 1.0, len(edges) + 2)
    return bins_between(edges, TrainingSpread(np.concatenate([sizes[:1], edges, sizes[-1:]]), shares))


def _distributions(
    measurements: Measurements,
    sizes: np.ndarray | None,
    layout: Layout,
    knowledge: _Knowledge,
    unknown_error: str,
    n_jobs: int | None,
    narrowing: float = NARROWING,
) -> Measurements:
    """The recipe from checked arrays up to distributions that only need to be laid out as cells.

    `sizes` (e, n) of errors become features: as they were given, before any unknown one is replaced.
    """
    worse = knowledge.measured_worse(measurements)
    with layout.naming_columns():
        measurements = measurements.with_errors_known(unknown_error, knowledge.medians_for(measurements))
        measurements = measurements.with_logarithms().with_errors_scaled(knowledge.error_scale)
    measured, priors = measurements, knowledge.priors_for(measurements)
    measurements = with_posteriors(priors, knowledge.joint_prior_for(measured), measured, n_jobs, narrowing)
    if worse is not None and knowledge.noisier is not None:
        measurements = knowledge.noisier.replaced(measurements, measured, worse, n_jobs, narrowing)
    if sizes is not None:
        measurements = measurements.with_exact_features(sizes)
    return measurements.with_limits_spread(knowledge.spreads_for(measurements))


def _unlabelled(
    table: TableContent,
    families: tuple[Family, ...],
    unknown_error: str,
    medians: np.ndarray,
    error_scale: float,
) -> Measurements | None:
    """Some of the objects without labels that belong to a training set, up to the first step that learns something."""
    if table.unlabelled is None:
        return None
    with _naming_unlabelled(), table.layout.naming_columns():
        measurements = _checked(table.unlabelled, families)
        measurements = measurements.with_errors_known(unknown_error, medians if table.has_errors else None)
        measurements = measurements.with_logarithms().with_errors_scaled(error_scale)
    return measurements.rows(sample_of(np.ones(measurements.n_objects), THOROUGH.n_objects))


@contextmanager
def _naming_unlabelled() -> Iterator[None]:
    """Errors say that they are about X_unlabelled."""
    try:
        yield
    except CellError as error:
        what = re.sub(r"\bX(_\w+)?$", r"X\1_unlabelled", error.what)
        raise CellError(what, error.value, error.row, error.column, error.remark) from None
    except ValueError as problem:
        raise ValueError(f"X_unlabelled can't be used: {problem}") from problem


def _checked(table: TableContent, families: tuple[Family, ...]) -> Measurements:
    with table.layout.naming_columns():
        return read_measurements(table.X, table.X_err, table.X_limit, table.X_samples, families)
