"""How a regressor uses errors: what was asked for, or what small forests on a sample show to be best."""

from __future__ import annotations

import numpy as np

from ..features.feature_model import FittedFeatures, check_table
from ..inputs.cell_error import CellError
from ..inputs.tables import TableContent
from ..inputs.targets import NumberTable, weights_of_errors
from ..kernels.layout import Cells, Target
from ..trees.error_trial import (
    EXACT,
    FEWEST_OBJECTS,
    PART,
    PART_OF_ERRORS,
    TREES,
    ErrorTrial,
    Judgement,
    choose_way,
    judge_small_forest,
    scatter_of,
    slopes_pay,
)
from ..trees.holes import holes_that_shift
from ..trees.leaf_slopes import MOST_FEATURES, Scales
from ..trees.prior_trial import sample_for_trial
from ..trees.training_set import make_training_set
from .explained_regressor import ExplainedRegressor

FEWEST_FOR_TRIAL = 100  # objects; fewer can't tell how far errors should spread them


class ErrorUse(ExplainedRegressor):
    """The part of a regressor that chooses its prior, how far errors spread objects, and what errors of targets count.
    Not for use on its own: it needs `_grow_tree`."""

    n_estimators: int = 1  # a parameter of the forest
    slopes: bool | str = False  # the same

    # Attributes, set by fit.
    error_scale_: float
    error_trial_: ErrorTrial | None
    target_scatter_: float | None
    slopes_: bool = False
    slope_scales_: Scales | None = None  # what slopes are learnt with; None: there are none

    def _choose(
        self, table: TableContent, numbers: NumberTable, weight: np.ndarray, errors: np.ndarray | None
    ) -> np.ndarray:
        """Set how errors spread objects, and the scatter of targets. Returns the factors of the weights (n,) that
        follow from the errors of targets. Trees that are added have the choices of the others."""
        if self._keeps_choices:
            if self.prior not in ("auto", self.prior_):
                raise ValueError(f"{self._keeper} needs the prior of before: the old trees know no other.")
            if self.error_scale not in ("auto", self.error_scale_):
                raise ValueError(f"{self._keeper} needs the error_scale of before: the old trees know no other.")
        else:
            self.prior_trial_, self.error_trial_ = None, None
            self.prior_ = "empirical" if self.prior == "auto" else self.prior
            self.error_scale_ = 1.0 if self.error_scale == "auto" else float(self.error_scale)
            self.slopes_, self.slope_scales_ = self._wants_slopes, None
            if self._wants_slopes and table.X.shape[1] > MOST_FEATURES:
                raise ValueError(f"slopes=True needs at most {MOST_FEATURES} features; got {table.X.shape[1]}.")
        needs_scatter = errors is not None and len(np.unique(errors[weight > 0])) > 1
        if not self._keeps_choices:
            self.target_scatter_ = None
        knows_scatter = self.target_scatter_ is not None
        judgement = self._try_ways(table, numbers, weight, needs_scatter and not knows_scatter)
        if errors is None or not needs_scatter:
            return np.ones(len(weight))
        if self.target_scatter_ is None:
            self.target_scatter_ = self._scatter(numbers, weight, errors, judgement)
        return weights_of_errors(errors, self.target_scatter_, weight)

    def _scatter(
        self,
        numbers: NumberTable,
        weight: np.ndarray,
        errors: np.ndarray,
        judgement: tuple[np.ndarray, Judgement] | None,
    ) -> float:
        """How targets scatter around predictions, apart from their errors."""
        if judgement is None:  # too few objects: all that is known is how they scatter around their mean
            return numbers.scaled_by(weight).scale
        rows, judged = judgement
        rows, mean = rows[judged.judged], judged.mean[judged.judged]
        return scatter_of(numbers.y[rows] - mean, errors[rows], weight[rows])

    def _try_ways(
        self, table: TableContent, numbers: NumberTable, weight: np.ndarray, needs_scatter: bool
    ) -> tuple[np.ndarray, Judgement] | None:
        """Grow small forests that show how far errors should spread objects, if that is to be chosen. Returns the rows
        of the sample and what the best one says; None if there was nothing to grow."""
        is_open = self.error_scale == "auto" or (self.prior == "auto" and self.error_scale != 0)
        chooses = table.has_errors and is_open and not self._keeps_choices
        if np.count_nonzero(weight) < FEWEST_FOR_TRIAL or not (chooses or needs_scatter):
            return None
        rows = self._rows_of_trial(weight)
        target = numbers.rows(rows).scaled_by(weight[rows]).for_kernels()
        try:
            ways = self._possible_ways() if chooses else {"used": (self.error_scale_, self.prior_)}
            checked = self._checked = check_table(table, self._families(table), weight)
            samples = {
                name: self._sample_with_prior(table, weight, prior, rows, target, error_scale=scale, checked=checked)
                for name, (scale, prior) in ways.items()
            }
        except CellError:
            return None  # the fit itself will raise it, with the row of the table
        if chooses:  # features that say nothing about each other have no joint prior
            samples = {name: each for name, each in samples.items() if ways[name][1] != "joint" or _is_joint(each)}
        if chooses and all(_is_exact(each.cells) for each in samples.values()):
            if not needs_scatter:
                return None
            chooses, samples = False, {"used": next(iter(samples.values()))}
        judgements = {}
        for name, each in samples.items():
            # Too steep for noisier tables: only where these are answered by another forest.
            self.slopes_ = chooses and self._may_have_slopes(each) and ways[name][0] < 1
            judgements[name] = self._judge(each, numbers.rows(rows), weight[rows])
        self.slopes_ = self._wants_slopes
        if not chooses:
            return rows, judgements["used"]
        trial = choose_way(judgements, weight[rows])
        self.error_trial_, (self.error_scale_, self.prior_) = trial, ways[trial.choice]
        self.slopes_ |= slopes_pay(judgements[trial.choice], weight[rows])
        return rows, judgements[trial.choice]

    @property
    def _wants_slopes(self) -> bool:
        return not isinstance(self.slopes, str) and bool(self.slopes)

    def _may_have_slopes(self, features: FittedFeatures) -> bool:
        is_open = self.slopes == "auto" and not self.error_features
        return is_open and features.model.n_features <= MOST_FEATURES

    def _informative_holes(self, missing: np.ndarray, target: Target, weight: np.ndarray) -> np.ndarray:
        return holes_that_shift(missing, target, weight)

    def _rows_of_trial(self, weight: np.ndarray) -> np.ndarray:
        """The objects that ways to use errors are tried on."""
        return sample_for_trial(weight, self.n_estimators, FEWEST_OBJECTS, 3 * TREES)

    def _possible_ways(self) -> dict[str, tuple[float, str | None]]:
        """What the parameters leave to be chosen: factors of errors and priors, the safest way first."""
        scale = 1.0 if self.error_scale == "auto" else float(self.error_scale)
        priors = ("empirical", None, "joint") if self.prior == "auto" else (self.prior,)
        ways: dict[str, tuple[float, str | None]] = {prior or "none": (scale, prior) for prior in priors}
        if self.error_scale == "auto":
            prior = None if self.prior == "auto" else self.prior
            ways[PART], ways[EXACT] = (PART_OF_ERRORS, prior), (0.0, prior)
        return ways

    def _judge(self, features: FittedFeatures, numbers: NumberTable, weight: np.ndarray) -> Judgement:
        sample = make_training_set(features, numbers.scaled_by(weight), weight)
        self._choose_missing_rules(sample)
        n_trees, keep_proba = int(self.n_estimators), float(self.keep_proba)
        return judge_small_forest(sample, numbers.y, self._grow_tree, keep_proba, n_trees, self.n_jobs)


def _is_joint(features: FittedFeatures) -> bool:
    return features.model.says_something_jointly


def _is_exact(cells: Cells) -> bool:
    """Whether no value has an error: then all ways to use errors are the same."""
    return not np.isfinite(cells.values[:, :, 1:3]).any()
