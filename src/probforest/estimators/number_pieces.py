"""Numbers to learn that come in pieces: what has to be known of all of them before a piece can be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..features.feature_bins import FeatureBins
from ..inputs.targets import (
    ErrorWeights,
    NumberTable,
    center_and_scale,
    learn_error_weights,
    read_numbers,
    read_target_errors,
    weight_sums,
)
from ..inputs.weights import read_sample_weight
from ..trees.training_set import TrainingSet, make_training_set
from .regressor import ProbabilisticRegressor
from .table_pieces import Passes, TablePiece


class NumberSurvey(NamedTuple):
    """What is known of a whole table after a first look at its targets."""

    n_rows: list[int]  # of each piece
    first: float  # target of the first object that weighs something


class NumberRules(NamedTuple):
    """How the targets of a piece become weights, and numbers on the scale of trees."""

    typical_error: float  # of a target whose error is unknown
    error_weights: ErrorWeights | None
    center: float = 0.0
    scale: float = 1.0


@dataclass(frozen=True)
class NumberPieces:
    """Reads the targets of a table in pieces, for a regressor."""

    model: ProbabilisticRegressor

    def survey(self, passes: Passes) -> NumberSurvey:
        """A first look at all targets."""
        found = passes.over_targets(_first_number)
        first = next((number for _, number in found if number is not None), None)
        if first is None:
            raise ValueError("No object weighs anything: sample_weight is 0, or y_err infinite, for all of them.")
        return NumberSurvey([count for count, _ in found], first)

    def targets(self, piece: TablePiece, survey: NumberSurvey) -> tuple[Any, Any, Any]:
        """What `_read_training_set` takes beside the features."""
        return piece.y, piece.y_err, piece.sample_weight

    def rules(self, sample: TablePiece, survey: NumberSurvey, passes: Passes) -> NumberRules:
        """What errors of targets count is learnt from the sample; centre and scale are those of all targets."""
        errors = read_target_errors(sample.y_err, sample.n_rows, read_numbers(sample.y, sample.n_rows).y)
        typical, by_errors = 0.0, None
        if errors is not None:
            finite = np.isfinite(errors)
            typical = float(np.median(errors[finite]))
            if self.model.target_scatter_ is not None:
                given = np.where(finite, read_sample_weight(sample.sample_weight, sample.n_rows), 0.0)
                by_errors = learn_error_weights(errors, self.model.target_scatter_, given)
        rules = NumberRules(typical, by_errors)
        sums = passes.over_targets(_Sums(self, survey, rules))
        total = tuple(sum(each) for each in zip(*sums, strict=True))
        center, scale = center_and_scale(survey.first, (total[0], total[1], total[2]))
        return rules._replace(center=center, scale=scale)

    def read(
        self, piece: TablePiece, survey: NumberSurvey, rules: NumberRules, bins: Sequence[FeatureBins]
    ) -> tuple[TrainingSet | None, np.ndarray]:
        """A piece as trees take it, None if no object weighs anything, and which of its objects do."""
        y, weight = self.weighted(piece, rules)
        kept = weight > 0
        if not kept.any():
            return None, kept
        table = self.model._read_table(piece.given, self.model.feature_model_.layout)
        features = self.model._prepare_features(table, weight, bins)
        return make_training_set(features, NumberTable(y, rules.center, rules.scale), weight), kept

    def weighted(self, piece: TablePiece, rules: NumberRules) -> tuple[np.ndarray, np.ndarray]:
        """Targets, and what they weigh."""
        y = read_numbers(piece.y, piece.n_rows).y
        weight = read_sample_weight(piece.sample_weight, piece.n_rows)
        errors = read_target_errors(piece.y_err, piece.n_rows, y, rules.typical_error)
        if errors is None:
            return y, weight
        weight = np.where(np.isfinite(errors), weight, 0.0)
        return y, weight if rules.error_weights is None else weight * rules.error_weights.of(errors)


@dataclass(frozen=True)
class _Sums:
    """A function of a piece, which other processes can be given."""

    reader: NumberPieces
    survey: NumberSurvey
    rules: NumberRules

    def __call__(self, piece: TablePiece) -> tuple[int, int, int]:
        if piece.n_rows == 0:
            return 0, 0, 0
        y, weight = self.reader.weighted(piece, self.rules)
        return weight_sums(y, weight, self.survey.first)


def _first_number(piece: TablePiece) -> tuple[int, float | None]:
    """Number of rows, and the target of the first one that weighs something."""
    if piece.n_rows == 0:
        return 0, None
    y = read_numbers(piece.y, piece.n_rows).y
    weight = read_sample_weight(piece.sample_weight, piece.n_rows)
    errors = read_target_errors(piece.y_err, piece.n_rows, y, 1.0)
    kept = weight > 0 if errors is None else (weight > 0) & np.isfinite(errors)
    return piece.n_rows, float(y[np.argmax(kept)]) if kept.any() else None
