"""What is learnt about the features of a training set, and how any table becomes the cells that kernels take.

The recipe: the content of a table → checked arrays → errors known → logarithms → posteriors → limits spread → cells.
Classes have no part in it; a fit takes the weights of the objects.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from ..families import Family
from ..inputs.tables import Layout, TableContent
from ..kernels.layout import Bins, Cells
from .binning import encode
from .feature_bins import FeatureBins, learn_bins
from .limits import TrainingSpread
from .measurements import Measurements, read_measurements
from .prior import Prior, learn_priors, with_priors


@dataclass(frozen=True, eq=False)
class FeatureModel:
    """What is known about each of the d features of a table after a fit."""

    layout: Layout  # the columns of the table
    families: tuple[Family, ...]  # (d) the distributions of measured values
    fitted_with_errors: bool
    median_errors: np.ndarray  # (d,), or (2, d) for lower and upper errors; NaN where none is known
    priors: tuple[Prior | None, ...]  # (d) the distributions of true values
    spreads: tuple[TrainingSpread, ...]  # (d) what limits are spread over

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
    ) -> "FittedFeatures":
        """Learn from a training set, in which each object counts with its `weight` (n,), or not at all."""
        learner = _Learner(weight, prior, max_bins, n_jobs)
        measurements = _distributions(table, families, learner, unknown_error, n_jobs)
        spreads = tuple(bins.spread for bins in learner.bins)
        model = cls(table.layout, families, table.has_errors, learner.medians, tuple(learner.priors), spreads)
        kept = None if weight.all() else weight > 0
        bins = encode(measurements, learner.bins, max_bins, kept, n_jobs)
        return FittedFeatures(model, measurements.cells(), bins)

    def apply(self, table: TableContent, *, unknown_error: str, n_jobs: int | None = None) -> Cells:
        """The cells of a table, or of a piece of one, that has the layout of the fit."""
        return _distributions(table, self.families, self, unknown_error, n_jobs).cells()

    def error_sizes(self, table: TableContent) -> np.ndarray:
        """The size of the errors of every object (n,): the median over the features of error / median error in the
        training set. NaN for an object without known errors. Limits and samples do not count."""
        measurements = _checked(table, self.families)
        if measurements.is_exact:
            return np.full(measurements.n_objects, np.nan)
        errors = (measurements.lower + measurements.upper) / 2
        medians = np.atleast_2d(self.median_errors).mean(axis=0)
        usable = np.isfinite(medians) & (medians > 0)
        with np.errstate(over="ignore"):
            ratio = np.where(measurements.has_errors(), errors, np.nan)[usable] / medians[usable, None]
        ratio = np.where(np.isfinite(ratio), ratio, np.nan)
        sizes = np.full(measurements.n_objects, np.nan)
        known = ~np.isnan(ratio).all(axis=0)
        sizes[known] = np.nanmedian(ratio[:, known], axis=0)
        return sizes

    @property
    def n_features(self) -> int:
        return len(self.families)

    # What the recipe needs, whatever the table.

    def medians_for(self, measurements: Measurements) -> np.ndarray | None:
        """The errors that replace unknown ones; None: the training set had no errors."""
        return self.median_errors if self.fitted_with_errors else None

    def priors_for(self, measurements: Measurements) -> Sequence[Prior | None]:
        """The distributions of true values."""
        return self.priors

    def spreads_for(self, measurements: Measurements) -> Sequence[TrainingSpread]:
        """What limits are spread over."""
        return self.spreads


class FittedFeatures(NamedTuple):
    """A FeatureModel, and what became of the table that it was fitted on."""

    model: FeatureModel
    cells: Cells  # of all objects
    bins: Bins  # of the objects that have a weight


class _Knowledge(Protocol):
    """What the recipe needs to know. It is given the table as it is at that step, from which a fit can learn it."""

    def medians_for(self, measurements: Measurements) -> np.ndarray | None: ...

    def priors_for(self, measurements: Measurements) -> Sequence[Prior | None]: ...

    def spreads_for(self, measurements: Measurements) -> Sequence[TrainingSpread]: ...


@dataclass
class _Learner:
    """Learns what the recipe needs, and keeps it."""

    weight: np.ndarray
    prior: str | None
    max_bins: int
    n_jobs: int | None
    medians: np.ndarray = field(init=False)
    priors: list[Prior | None] = field(init=False)
    bins: list[FeatureBins] = field(init=False)

    def medians_for(self, measurements: Measurements) -> np.ndarray:
        self.medians = measurements.median_errors(self.weight)
        return self.medians

    def priors_for(self, measurements: Measurements) -> list[Prior | None]:
        self.priors = learn_priors(self.prior, measurements, self.weight, self.n_jobs)
        return self.priors

    def spreads_for(self, measurements: Measurements) -> list[TrainingSpread]:
        self.bins = learn_bins(measurements, self.weight, self.max_bins, self.n_jobs)
        return [bins.spread for bins in self.bins]


def _distributions(
    table: TableContent, families: tuple[Family, ...], knowledge: _Knowledge, unknown_error: str, n_jobs: int | None
) -> Measurements:
    """The recipe, up to distributions that only need to be laid out as cells."""
    measurements = _checked(table, families)
    with table.layout.naming_columns():
        measurements = measurements.with_errors_known(unknown_error, knowledge.medians_for(measurements))
        measurements = measurements.with_logarithms()
    measurements = with_priors(knowledge.priors_for(measurements), measurements, n_jobs)
    return measurements.with_limits_spread(knowledge.spreads_for(measurements))


def _checked(table: TableContent, families: tuple[Family, ...]) -> Measurements:
    with table.layout.naming_columns():
        return read_measurements(table.X, table.X_err, table.X_limit, table.X_samples, families)
