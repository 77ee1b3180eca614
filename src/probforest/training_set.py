"""A training set that is ready for growing trees on it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .binning import bin_measurements, find_ladders
from .fitted_tree import FittedTree
from .kernels.grow import grow
from .kernels.layout import Bins, Cells, Labels, Rules
from .labels import LabelTable
from .measurements import Measurements
from .reference import Reference
from .weights import class_weights


@dataclass(frozen=True)
class TrainingSet:
    """The objects that weigh something; the others can't change anything and are left out."""

    kept: np.ndarray  # (n_all,) bool
    cells: Cells
    bins: Bins
    labels: LabelTable
    kernel_labels: Labels
    weight: np.ndarray  # (n,) > 0
    references: list[Reference]  # what it has of each feature

    @property
    def n_objects(self) -> int:
        return len(self.weight)

    def grow(
        self, weight: np.ndarray, rules_for: Callable[[float], Rules], seed: int, class_weight: Any = None
    ) -> FittedTree:
        """Grow a tree with other weights (n,), after weighting the classes; `rules_for` takes its total weight."""
        labels = self.kernel_labels
        if class_weight is not None:
            relabelled, factor = self.labels.reweighted(class_weights(class_weight, self.labels, weight))
            labels, weight = relabelled.for_kernels(), weight * factor
        return FittedTree(grow(self.cells, self.bins, labels, weight, rules_for(weight.sum()), seed))


def make_training_set(
    measurements: Measurements, labels: LabelTable, weight: np.ndarray, max_bins: int, n_jobs: int | None
) -> TrainingSet:
    """Leave out the objects without weight, and bin the rest."""
    kept = weight > 0
    measurements, labels, weight = measurements.rows(kept), labels.rows(kept), weight[kept]
    ladders = find_ladders(measurements, weight, max_bins, n_jobs)
    references = [ladder.reference for ladder in ladders]
    measurements = measurements.with_limits_spread(references)
    bins = bin_measurements(measurements, ladders, max_bins, n_jobs)
    return TrainingSet(kept, measurements.cells(), bins, labels, labels.for_kernels(), weight, references)
