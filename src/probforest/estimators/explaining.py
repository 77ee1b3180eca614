"""What a classifier says about its own answers."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from ..explain.contributions import Contributions
from ..explain.measurement_value import MeasurementValue
from ..kernels.layout import Cells
from ..support.docstrings import described
from ..trees.contributions import close_the_sum, mean_contributions
from ..trees.fitted_tree import FittedTree, sum_of_answers
from .argument_types import Uncertainty
from .arguments import BETTER, VALUES
from .better_measured import KEEP_PROBA, check_factor
from .explained_model import ExplainedModel

_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(16)
_SMALL_STEP = 1e-4


class ExplainedClassifier(ExplainedModel):
    """The part of a classifier that explains answers. Not for use on its own."""

    voting: str
    classes_: np.ndarray

    @abstractmethod
    def _truth_of(self, answers: np.ndarray) -> np.ndarray:
        """Probabilities of the true classes, from what the trees answer (n, k)."""

    @abstractmethod
    def _probabilities(self, trees: list[FittedTree], query: Cells) -> np.ndarray:
        """What `predict_proba` returns, from these trees."""

    def _explained_answers(self, trees: list[FittedTree], query: Cells) -> np.ndarray:
        return self._probabilities(trees, query)

    @property
    def _explained_columns(self) -> tuple[np.ndarray, str]:
        return self.classes_, "probability"

    @described(VALUES)
    def contributions(
        self,
        X: ArrayLike,
        *,
        X_err: Uncertainty = None,
        X_limit: ArrayLike | None = None,
        X_samples: ArrayLike | None = None,
    ) -> Contributions:
        """Compute what each feature adds to the probability of each class.

        On its way from a node to its children, the answer for an object changes from the value of the node to those of
        the children that it enters, each with its probability. The change is put to the account of the feature that the
        node splits on.

        Parameters
        ----------
        {parameters}

        Returns
        -------
        Contributions
            Its `base`, the answer before anything is known, plus the sum of its `values` over the features are the
            `answers`. `text(row)` and `plot(row)` show one object.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from probforest import ProbabilisticRandomForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> forest = ProbabilisticRandomForestClassifier(20, random_state=0).fit(X, y, X_err=0.2)
        >>> why = forest.contributions(X[:2], X_err=0.2)
        >>> bool(abs(why.base + why.values.sum(axis=1) - why.answers).max() < 1e-12)
        True
        """
        if self.voting == "majority":
            raise ValueError(
                'contributions explain probabilities; with voting="majority" there are only votes. Take voting="soft".'
            )
        query, falls_back = self._read_query(X, X_err, X_limit, X_samples, may_fall_back=True)
        trees = self._fallback_trees if falls_back else self._grown_trees
        base, values = mean_contributions(trees, query, float(self.keep_proba), self.n_jobs)
        mean_pmf = self._sum_of_answers(trees, query, self.n_jobs) / len(trees)
        answers, base_answer = self._truth_of(mean_pmf), self._truth_of(base[None])[0]
        if answers is not mean_pmf:
            values = self._as_truth(base, values)
        close_the_sum(values, answers - base_answer)
        names = self.feature_model_.names[: query.values.shape[1]]
        return Contributions(base_answer, values, answers, names, self.classes_)

    def _as_truth(self, base: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Contributions to mean PMFs of doubtful labels as contributions to probabilities of true classes: the change
        along the straight way from the base to the mean PMF, of which each feature has its share at every place."""
        total, changed = values.sum(axis=1), np.zeros_like(values)
        for place, weight in zip((_NODES + 1) / 2, _NODE_WEIGHTS / 2, strict=True):
            here = base + place * total
            for j in range(values.shape[1]):
                step = _SMALL_STEP * values[:, j]
                difference = self._truth_of(here + step) - self._truth_of(here - step)
                changed[:, j] += weight * difference / (2 * _SMALL_STEP)
        return changed

    @described(VALUES | BETTER)
    def value_of_measurement(
        self,
        X: ArrayLike,
        *,
        X_err: Uncertainty = None,
        X_limit: ArrayLike | None = None,
        X_samples: ArrayLike | None = None,
        factor: float = 0.0,
    ) -> MeasurementValue:
        """Compute how much surer each answer is expected to be if one value were known better.

        A value may truly be anywhere in its distribution; a missing value, anywhere in that of the training set. For
        each of these places the model answers again, as if the value were known to be there, and the answers are
        compared with that of today.

        Parameters
        ----------
        {parameters}

        Returns
        -------
        MeasurementValue
            `gain` has the expected gain of information in bits for every object and feature, `ranking()` the most
            valuable measurements, `text(row)` and `plot(row)` show one object.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from probforest import ProbabilisticRandomForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> forest = ProbabilisticRandomForestClassifier(20, random_state=0).fit(X, y, X_err=0.2)
        >>> value = forest.value_of_measurement(X[70:72], X_err=0.2)
        >>> value.gain.shape
        (2, 4)
        """
        factor = check_factor(factor)
        query, falls_back = self._read_query(X, X_err, X_limit, X_samples, may_fall_back=True)
        trees = self._fallback_trees if falls_back else self._grown_trees
        now = self._careful_answers(trees, query)
        entropy, top = _entropy(now), now.max(axis=1)
        gain, surer, change = np.zeros((3, len(now), self.feature_model_.n_values))
        given, answers_of = (X, X_err, X_limit, X_samples), partial(self._careful_answers, trees)
        for j, rows, answers in self._possible_answers(given, query, falls_back, factor, answers_of):
            gain[rows, j] = entropy[rows] - _entropy(answers).mean(axis=1)
            surer[rows, j] = answers.max(axis=2).mean(axis=1) - top[rows]
            change[rows, j] = (answers.argmax(axis=2) != now[rows].argmax(axis=1)[:, None]).mean(axis=1)
        names = self.feature_model_.names_of_values
        return MeasurementValue(gain, names, factor, entropy, top, top[:, None] + surer, change)

    def _careful_answers(self, trees: list[FittedTree], query: Cells) -> np.ndarray:
        """Answers (n, k) that follow improbable branches, too: the mean answer for all places of a value is then nearly
        that for its distribution, and no measurement is expected to make an answer less sure."""
        keep_proba, votes = min(float(self.keep_proba), KEEP_PROBA), self.voting == "majority"
        total = sum_of_answers(trees, query, keep_proba, majority=votes, n_jobs=self.n_jobs)
        return self._truth_of(total / len(trees))


def _entropy(pmf: np.ndarray) -> np.ndarray:
    """In bits, over the last axis."""
    positive = np.where(pmf > 0, pmf, 1.0)
    return -(pmf * np.log2(positive)).sum(axis=-1)
