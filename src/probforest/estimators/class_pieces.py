"""Classes that come in pieces: what has to be known of all of them before a piece can be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..features.feature_bins import FeatureBins
from ..inputs.labels import LabelTable, read_labels
from ..inputs.weights import balancing_weights, class_weights, read_sample_weight
from ..support.exact_sum import as_float
from ..trees.label_truth import DoubtfulLabels
from ..trees.training_set import TrainingSet, make_training_set
from .classifier import ProbabilisticClassifier
from .table_pieces import Passes, TablePiece


class ClassSurvey(NamedTuple):
    """What is known of a whole table after a first look at its labels."""

    n_rows: list[int]  # of each piece
    classes: Any  # of all pieces; None: the columns of y_proba are the classes


class ClassRules(NamedTuple):
    """How the labels of a piece become a target."""

    classes: Any
    factors: np.ndarray  # (k,) weights of the classes
    are_doubtful: bool  # whether the labels of any piece are


class _PieceSums(NamedTuple):
    """What labels add up to."""

    masses: list[int]
    are_doubtful: bool


@dataclass(frozen=True)
class ClassPieces:
    """Reads the labels of a table in pieces, for a classifier. `classes` as in `fit`."""

    model: ProbabilisticClassifier
    classes: Any = None

    def survey(self, passes: Passes) -> ClassSurvey:
        """A first look at all labels."""
        found = passes.over_targets(_labels_found)
        n_rows = [count for count, _ in found]
        if self.classes is not None:
            return ClassSurvey(n_rows, np.asarray(self.classes))
        labels = {number: names for number, (_, names) in enumerate(found) if names is not None and len(names)}
        return ClassSurvey(n_rows, _all_classes(labels, passes) if labels else None)

    def targets(self, piece: TablePiece, survey: ClassSurvey) -> tuple[Any, Any, Any, Any]:
        """What `_read_training_set` takes beside the features."""
        has_names = self.classes is None and hasattr(piece.y_proba, "columns")
        return piece.y, piece.y_proba, None if has_names else survey.classes, piece.sample_weight

    def rules(self, sample: TablePiece, survey: ClassSurvey, passes: Passes) -> ClassRules:
        """What is known of all labels after a second look, if one is needed."""
        balanced = isinstance(self.model.class_weight, str) and self.model.class_weight == "balanced"
        if not balanced and sample.y_proba is None:
            return ClassRules(survey.classes, self._given_factors(), False)
        sums = passes.over_targets(_Sums(self, survey))
        masses = [as_float(sum(each)) for each in zip(*(piece.masses for piece in sums), strict=True)]
        factors = balancing_weights(self.model.classes_, np.array(masses)) if balanced else self._given_factors()
        return ClassRules(survey.classes, factors, any(piece.are_doubtful for piece in sums))

    def _given_factors(self) -> np.ndarray:
        """Weights of classes that do not depend on how many objects there are."""
        given = None if isinstance(self.model.class_weight, str) else self.model.class_weight
        return class_weights(given, LabelTable(self.model.classes_, np.zeros(0, dtype=np.int32)), np.zeros(0))

    def read(
        self, piece: TablePiece, survey: ClassSurvey, rules: ClassRules, bins: Sequence[FeatureBins]
    ) -> tuple[TrainingSet | None, np.ndarray]:
        """A piece as trees take it, None if no object weighs anything, and which of its objects do."""
        labels, given_weight, weight = self.weighted(piece, survey)
        labels = labels.all_soft() if rules.are_doubtful else labels
        information = labels.information if self.model.label_information else np.ones(len(weight))
        weighted_labels, factor = labels.reweighted(rules.factors)
        weight = weight * factor
        kept = weight > 0
        if not kept.any():
            return None, kept
        table = self.model._read_table(piece.given, self.model.feature_model_.layout)
        features = self.model._prepare_features(table, weight, bins)
        doubt = None
        if rules.are_doubtful and labels.pmf is not None:
            plain = np.ones(len(rules.factors))  # what is learnt about labels is learnt from the sample
            doubt = DoubtfulLabels(labels.pmf[kept], given_weight[kept], information[kept], plain, plain)
        return make_training_set(features, weighted_labels, weight, doubt, all_soft=rules.are_doubtful), kept

    def weighted(self, piece: TablePiece, survey: ClassSurvey) -> tuple[LabelTable, np.ndarray, np.ndarray]:
        """Labels, sample weights, and these times label information."""
        y, y_proba, classes, sample_weight = self.targets(piece, survey)
        labels = read_labels(y, y_proba, classes, piece.n_rows, warn=False)
        given_weight = read_sample_weight(sample_weight, piece.n_rows)
        return labels, given_weight, given_weight * labels.information if self.model.label_information else given_weight


@dataclass(frozen=True)
class _Sums:
    """A function of a piece, which other processes can be given."""

    reader: ClassPieces
    survey: ClassSurvey

    def __call__(self, piece: TablePiece) -> _PieceSums:
        if piece.n_rows == 0:
            return _PieceSums([0] * len(self.reader.model.classes_), False)
        labels, _, weight = self.reader.weighted(piece, self.survey)
        return _PieceSums(labels.exact_masses(weight), labels.rows(weight > 0).pmf is not None)


def _labels_found(piece: TablePiece) -> tuple[int, np.ndarray | None]:
    """Number of rows, and the different labels."""
    if piece.y is None or piece.n_rows == 0:
        return piece.n_rows, None
    return piece.n_rows, read_labels(piece.y, None, None, piece.n_rows).classes


def _all_classes(labels: dict[int, np.ndarray], passes: Passes) -> np.ndarray:
    """The classes of all pieces, which must be of one kind."""
    kinds = {number: _kind(names) for number, names in labels.items()}
    first = next(iter(kinds))
    for number, kind in kinds.items():
        if kind != kinds[first]:
            raise ValueError(
                f"y has {kinds[first]} in {passes.name_of(first)} (such as {labels[first].tolist()[0]!r}), but {kind} "
                f"in {passes.name_of(number)} (such as {labels[number].tolist()[0]!r}). Give all labels one type."
            )
    return np.unique(np.concatenate(list(labels.values())))


def _kind(names: np.ndarray) -> str:
    is_text = names.dtype.kind in "UT" or (names.dtype.kind == "O" and isinstance(names.tolist()[0], str))
    return "text" if is_text else "numbers"
