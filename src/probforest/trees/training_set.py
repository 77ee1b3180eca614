"""A training set that is ready for growing trees on it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..features.binning import first_features
from ..features.feature_bins import FeatureBins
from ..features.feature_model import FittedFeatures
from ..inputs.labels import LabelTable
from ..inputs.targets import NumberTable
from ..inputs.weights import class_weights
from ..kernels.grow import Room, grow
from ..kernels.layout import Bins, Cells, Rules, Target
from .bootstrap import Draw, SampleDraw
from .fitted_tree import FittedTree
from .holes import worth_learning
from .label_truth import DoubtfulLabels
from .leaf_labels import with_plain_means
from .leaf_slopes import Scales, scales_of

# With a mean weight of 1 a tree has at most two nodes per object; more is possible where objects weigh more, and go
# both ways at every split.
_NODES_PER_OBJECT, _MANY_NODES = 64, 200_000


@dataclass(frozen=True)
class TrainingSet:
    """The objects that weigh something; the others can't change anything and are left out."""

    kept: np.ndarray  # (n_all,) bool
    cells: Cells
    bins: Bins
    labels: LabelTable | NumberTable
    target: Target
    weight: np.ndarray  # (n,) > 0
    doubt: DoubtfulLabels | None  # None: all labels are hard
    feature_bins: tuple[FeatureBins, ...] = ()  # (d) what the bins are
    numbers: np.ndarray | None = None  # (n,) of a sample: the places of its objects among all; None: these are all
    room: Room = field(default_factory=Room)  # that its trees need

    @property
    def n_objects(self) -> int:
        return len(self.weight)

    @property
    def n_features(self) -> int:
        """How many features trees look at."""
        return len(self.bins.n_bins)

    @property
    def scales(self) -> Scales:
        """Where the values of its features lie: not those of the sizes of errors."""
        return scales_of([bins.spread for bins in self.feature_bins])

    def drawn(self, draw: Draw) -> tuple["TrainingSet", np.ndarray]:
        """Objects of which some were drawn, and what they weigh in this draw (n,), 0 for the others."""
        return self, self.weight * draw.counts()

    def draw_of(self, draw: Draw) -> Draw | SampleDraw:
        """A draw from all objects as it concerns the objects here."""
        return draw if self.numbers is None else SampleDraw(draw, self.numbers)

    def with_first_features(self, n_features: int) -> "TrainingSet":
        """The same objects, of which trees look at the first features only."""
        return replace(self, bins=first_features(self.bins, n_features))

    def has_holes_worth_learning(self) -> np.ndarray:
        """For each feature, whether it pays to learn where missing values go, (d,)."""
        if self.cells.complete:
            return np.zeros(self.n_features, dtype=bool)
        holes, numbers = np.isnan(self.cells.values[:, :, 0]), isinstance(self.labels, NumberTable)
        return worth_learning(holes, self.target, self.weight, numbers=numbers)

    def grow(
        self, weight: np.ndarray, rules_for: Callable[[float, int], Rules], seed: int, class_weight: Any = None
    ) -> FittedTree:
        """Grow a tree with other weights (n,), after weighting the classes; `rules_for` takes its total weight and
        the number of features."""
        target = self.target
        drawn = np.flatnonzero(weight)  # sums are those of these objects, whatever others there are
        if class_weight is not None and isinstance(self.labels, LabelTable):
            factors = class_weights(class_weight, self.labels.rows(drawn), weight[drawn], of_a_draw=True)
            relabelled, factor = self.labels.reweighted(factors)
            target, weight = relabelled.for_kernels(), weight * factor
        rules = rules_for(weight[drawn].sum(), self.n_features)
        most_nodes = max(_MANY_NODES, _NODES_PER_OBJECT * self.n_objects)
        nodes = grow(self.cells, self.bins, target, weight, rules, seed, most_nodes, self.room)
        if nodes is None:
            raise _endless(most_nodes, self.n_objects, weight.sum(), rules)
        if self.doubt is not None:
            information = self.doubt.information
            nodes = with_plain_means(nodes, self.cells, _pmfs(target), weight, information, rules.keep_proba)
        return FittedTree(nodes)


def _pmfs(target: Target) -> np.ndarray:
    """PMFs (n, k), also of labels that are hard once classes are weighted."""
    hard = len(target.columns) == 0
    return np.eye(target.columns.shape[1])[target.class_index] if hard else target.columns


def _endless(most_nodes: int, n_objects: int, total: float, rules: Rules) -> ValueError:
    return ValueError(
        f"A tree grown on {n_objects} objects has more than {most_nodes} nodes. The objects weigh {total:.3g} in all, "
        f"a leaf needs a weight of {rules.min_leaf_weight:.3g} (min_samples_leaf counts weights), and an object is in "
        f"every node that it reaches with a probability above keep_proba={rules.keep_proba:g}. Scale sample_weight to "
        "a mean of about 1, or give a larger min_samples_leaf or keep_proba, or a max_depth."
    )


def make_training_set(
    features: FittedFeatures,
    labels: LabelTable | NumberTable,
    weight: np.ndarray,
    doubt: DoubtfulLabels | None = None,
    *,
    all_soft: bool = False,
) -> TrainingSet:
    """Leave out the objects without weight; `doubt` has none of them. With `all_soft`, labels have PMFs also if all of
    them are hard, as those of other pieces are not."""
    kept = weight > 0
    cells = features.cells if kept.all() else _rows(features.cells, kept)
    labels, weight = labels.rows(kept), weight[kept]
    if all_soft and isinstance(labels, LabelTable):
        labels = labels.all_soft()
    return TrainingSet(kept, cells, features.bins, labels, labels.for_kernels(), weight, doubt, features.feature_bins)


def _rows(cells: Cells, kept: np.ndarray) -> Cells:
    values = cells.values[kept]
    return cells._replace(values=values, complete=not np.isnan(values[:, :, 0]).any())
