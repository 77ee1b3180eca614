"""A model knows the errors that it was trained with, and judges those of tables to predict."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from ..features.error_shift import CHECK_UNITS, FALLBACK_ANSWERS, LEAST_KNOWN, LEAVES_STAY, ErrorShift, shift_note
from ..features.feature_model import FeatureModel
from ..features.measurements import Measurements
from ..inputs.tables import Layout, TableContent
from ..support.docstrings import described
from ..support.warning import warn_caller
from .argument_types import Uncertainty
from .arguments import VALUES


class ErrorGuard:
    """The part of an estimator that compares errors. Not for use on its own."""

    feature_model_: FeatureModel
    _assumed_shifts: Sequence[ErrorShift] | None = None  # see `assuming`

    @abstractmethod
    def _read_table(self, given: tuple, layout: Layout | None = None) -> TableContent:
        """Take apart (X, X_err, X_limit, X_samples)."""

    def _judge_errors(self, measurements: Measurements, *, warn: bool, may_fall_back: bool) -> bool:
        """Whether the errors of a table are others than in the training set; warns of it, unless the user knows."""
        if not self._has_error_features and measurements.n_objects < LEAST_KNOWN:
            return False  # too few to say anything, and the answer for a single object should be quick
        assumed = self._assumed_shifts
        if assumed is None and not self.feature_model_.may_have_shifts(measurements):
            return False
        shifts = self.feature_model_.error_shifts(measurements) if assumed is None else assumed
        shifted = [shift for shift in shifts if shift.is_shifted]
        if shifted and warn and assumed is None:
            what_now = FALLBACK_ANSWERS if may_fall_back else LEAVES_STAY
            warn_caller(shift_note(shifted, what_now if self._has_error_features else CHECK_UNITS))
        return bool(shifted)

    @property
    def _has_error_features(self) -> bool:
        return self.feature_model_.has_error_features

    @described(VALUES)
    def error_shifts(
        self,
        X: ArrayLike,
        *,
        X_err: Uncertainty = None,
        X_limit: ArrayLike | None = None,
        X_samples: ArrayLike | None = None,
    ) -> tuple[ErrorShift, ...]:
        """Compare the errors of a table with those of the training set.

        A prediction does so by itself, and warns of errors that are shifted. With `error_features`, trees that don't
        look at errors answer then.

        Parameters
        ----------
        {parameters}

        Returns
        -------
        tuple of ErrorShift
            One for each feature that had errors in training, or two for lower and upper errors, the most different
            ones first, with the attributes `name`, `n_objects`, `distance` (Kolmogorov's, between the distributions of
            both), `ratio` (of the medians), `unknown` and `unknown_in_training` (shares of values without a known
            error) and `is_shifted`.
        """
        check_is_fitted(self)
        table = self._read_table((X, X_err, X_limit, X_samples), self.feature_model_.layout)
        return self.feature_model_.error_shifts(self.feature_model_.read(table))

    @contextmanager
    def assuming(self, shifts: Sequence[ErrorShift]) -> Iterator[None]:
        """Predict pieces of a table, whose errors were judged before, without judging those of each piece.

        Parameters
        ----------
        shifts : sequence of ErrorShift
            What `error_shifts` found for the whole table, or for a sample of its rows.

        Examples
        --------
        >>> import numpy as np
        >>> from probforest import ProbabilisticRandomForestClassifier
        >>> random = np.random.default_rng(0)
        >>> X, X_err, y = random.normal(size=(90, 2)), random.gamma(2, size=(90, 2)), np.arange(90) % 2
        >>> forest = ProbabilisticRandomForestClassifier(5, error_features=True).fit(X, y, X_err=X_err)
        >>> with forest.assuming(forest.error_shifts(X, X_err=X_err)):
        ...     pieces = [forest.predict_proba(X[rows], X_err=X_err[rows]) for rows in (slice(0, 2), slice(2, 90))]
        >>> np.array_equal(np.concatenate(pieces), forest.predict_proba(X, X_err=X_err))
        True
        """
        before = self._assumed_shifts
        self._assumed_shifts = tuple(shifts)
        try:
            yield
        finally:
            if before is None:
                del self._assumed_shifts
            else:
                self._assumed_shifts = before
