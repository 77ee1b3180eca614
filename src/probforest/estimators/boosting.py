"""Gradient boosting with probabilistic trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ..explain.contributions import Contributions
from ..inputs.labels import LabelTable
from ..kernels.layout import Cells
from ..support.docstrings import Description, described
from ..trees.boosting import ScoreOfRows
from ..trees.boosting_trial import SIGNIFICANT, rows_of_trial
from ..trees.contributions import mean_contributions
from ..trees.fitted_tree import FittedTree
from ..trees.label_truth import DoubtfulLabels
from ..trees.losses import LogLoss, log_loss, probabilities
from ..trees.prior_trial import PriorTrial, compare_losses
from ..trees.training_set import TrainingSet
from .argument_types import (
    Distribution,
    ErrorColumns,
    MaxFeatures,
    MissingRule,
    PriorKind,
    Uncertainty,
    UnknownErrorRule,
)
from .arguments import ATTRIBUTES, VALUES
from .boosted_trees import BoostedTrees
from .boosting_parameters import BOOSTING_PARAMETERS
from .classifier import ProbabilisticClassifier
from .held_out import class_scorer

_ATTRIBUTES = ATTRIBUTES | {
    "label_truth_": Description("None", "The forest corrects its answers for doubtful labels; here the loss does."),
    "prior_trial_": Description(
        "PriorTrial or None",
        'With prior="auto" and errors: cross-validated log losses of small models (`empirical`, `none`), the standard '
        "`error` of their difference, `n_objects`; and `joint` with `joint_error`, that of its difference to the "
        "better one of the others, if features say something about each other.",
    ),
}


@described(BOOSTING_PARAMETERS, _ATTRIBUTES)
class ProbabilisticGradientBoostingClassifier(BoostedTrees, ProbabilisticClassifier):
    """Gradient boosting with trees whose features are probability distributions.

    In every iteration, a tree is grown on the gradients and hessians of the log loss, one for each class if there are
    more than two. Objects go both ways at a split, as in the forest; what they learn is the mean of the leaves they
    reach. With exact values and hard labels it is ordinary gradient boosting, as in scikit-learn's
    `HistGradientBoostingClassifier`.

    Doubtful labels (`y_proba`) enter by the likelihood of what was seen: predictions are about the true classes.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    trees_ : list of FittedTree
        The trees as flat arrays, iteration by iteration; with more than two classes, one per class in turn.
    fallback_trees_ : list of FittedTree
        With `error_features`, trees that look at the values alone; otherwise empty.
    baseline_ : ndarray of shape (n_trees_per_iteration,)
        Raw scores before the first iteration: logarithms of class frequencies or, for two classes, of their ratio.
    n_iter_ : int
        Number of iterations.
    n_trees_per_iteration_ : int
        1 for two classes, the number of classes for more.
    train_score_ : ndarray of shape (n_iter + 1,)
        Negative loss of the training set before the first iteration and after each; with early stopping, what `scoring`
        asks for. If labels are doubtful, before scores are multiplied by the factor that held-out labels find best.
    validation_score_ : ndarray of shape (n_iter + 1,)
        The same for the objects that were held out; empty if there are none.
    seed_ : int
        Seed of the objects that are held out and of all draws, which `warm_start` goes on with.
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from probforest import ProbabilisticGradientBoostingClassifier
    >>> table, y = load_breast_cancer(return_X_y=True)
    >>> X, X_err = table[:, :10], table[:, 10:20]  # ten means and their standard errors
    >>> X, X_test, X_err, X_err_test, y, y_test = train_test_split(X, X_err, y, random_state=0)
    >>> model = ProbabilisticGradientBoostingClassifier(random_state=0).fit(X, y, X_err=X_err)
    >>> round(float(model.score(X_test, y_test, X_err=X_err_test)), 2) > 0.9
    True
    """

    _parameters = BOOSTING_PARAMETERS
    label_information = True  # in the weights of nodes; the loss of a label knows by itself how much it says

    def __init__(
        self,
        *,
        learning_rate: float = 0.1,
        max_iter: int = 100,
        max_leaf_nodes: int = 31,
        max_depth: int | None = None,
        min_samples_leaf: int | float = 20,
        l2_regularization: float | Literal["auto"] = "auto",
        max_features: MaxFeatures = "auto",
        max_bins: int = 255,
        monotonic_cst: ArrayLike | Mapping[str, int] | None = None,
        warm_start: bool = False,
        early_stopping: bool | Literal["auto"] = "auto",
        scoring: str | Callable[..., float] | None = "loss",
        validation_fraction: float | None = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        class_weight: dict[Any, Any] | Literal["balanced"] | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        keep_proba: float = 0.1,
        missing: MissingRule = "auto",
        unknown_error: UnknownErrorRule = "median",
        distribution: Distribution = "normal",
        prior: PriorKind | None = "auto",
        error_columns: ErrorColumns | None = None,
        sentinels: Mapping[Any, Any] | None = None,
        error_features: bool = False,
    ) -> None:
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.max_bins = max_bins
        self.monotonic_cst = monotonic_cst
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.keep_proba = keep_proba
        self.missing = missing
        self.unknown_error = unknown_error
        self.distribution = distribution
        self.prior = prior
        self.error_columns = error_columns
        self.sentinels = sentinels
        self.error_features = error_features

    def _new_loss(self, training: TrainingSet, weight: np.ndarray) -> LogLoss:
        information = 1.0 if training.doubt is None else training.doubt.information
        assert isinstance(training.labels, LabelTable)
        return log_loss(training.labels, weight, information)

    def _is_doubtful(self, target: LabelTable) -> bool:
        self.label_truth_ = None
        return target.pmf is not None

    def _follows_labels(self, doubt: DoubtfulLabels | None) -> bool:
        """Nothing but the loss depends on how sure labels are."""
        return True

    def _rows_of_trial(self, weight: np.ndarray) -> np.ndarray:
        return rows_of_trial(weight)

    def _judge_priors(self, samples: list[TrainingSet]) -> PriorTrial:
        empirical, none, *joint = (self._judge_small_models(each).loss for each in samples)
        return compare_losses(empirical, none, samples[0].weight, *joint)

    def _choice_of(self, trial: PriorTrial) -> str | None:
        return trial.choice_if(SIGNIFICANT)

    def _classes_to_hold_out(self, training: TrainingSet) -> np.ndarray:
        assert isinstance(training.labels, LabelTable)
        return training.labels.class_index

    def _scorer(self, training: TrainingSet, weight: np.ndarray | None) -> ScoreOfRows:
        labels = self.classes_[self._classes_to_hold_out(training)]

        def answers(raw: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            return probabilities(raw), _as_decision(raw)

        return class_scorer(self.scoring, labels, self.classes_, answers, weight)

    def _check_classes(self, classes: np.ndarray) -> None:
        super()._check_classes(classes)
        if len(classes) < 2:
            raise ValueError(f"Boosting needs two classes or more; y has one class, {classes.tolist()[0]!r}.")

    def _probabilities(self, trees: list[FittedTree], query: Cells) -> np.ndarray:
        return probabilities(self._raw_scores(trees, query))

    def _careful_answers(self, trees: list[FittedTree], query: Cells) -> np.ndarray:
        """No probability is lost in pruning here: answers are as careful as they can be."""
        return self._probabilities(trees, query)

    @described(VALUES)
    def contributions(
        self,
        X: ArrayLike,
        *,
        X_err: Uncertainty = None,
        X_limit: ArrayLike | None = None,
        X_samples: ArrayLike | None = None,
    ) -> Contributions:
        """Compute what each feature adds to the raw scores, those of `decision_function`.

        Parameters
        ----------
        {parameters}

        Returns
        -------
        Contributions
            Its `base`, the raw scores before anything is known, plus the sum of its `values` over the features are the
            `answers`. For two classes there is one score, that of the second class. `text(row)` and `plot(row)` show
            one object.
        """
        query, falls_back = self._read_query(X, X_err, X_limit, X_samples, may_fall_back=True)
        trees = self._fallback_trees if falls_back else self._grown_trees
        answers = self._raw_scores(trees, query).T
        n_scores = answers.shape[1]
        base, values = np.empty(n_scores), np.empty((len(answers), query.values.shape[1], n_scores))
        for score in range(n_scores):
            of_score = trees[score::n_scores]
            root, added = mean_contributions(of_score, query, float(self.keep_proba), self.n_jobs)
            base[score] = self.baseline_[score] + len(of_score) * root[0]
            values[:, :, score] = len(of_score) * added[:, :, 0]
        names = self.feature_model_.names[: query.values.shape[1]]
        classes = self.classes_[1:] if n_scores == 1 else self.classes_
        return Contributions(base, values, np.ascontiguousarray(answers), names, classes, "score")

    @described(VALUES)
    def decision_function(
        self,
        X: ArrayLike,
        *,
        X_err: Uncertainty = None,
        X_limit: ArrayLike | None = None,
        X_samples: ArrayLike | None = None,
    ) -> np.ndarray:
        """Compute the raw scores.

        Parameters
        ----------
        {parameters}

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes log(p / (1 − p)) of the second one; otherwise logarithms of probabilities, up to a constant
            for each object.
        """
        query, falls_back = self._read_query(X, X_err, X_limit, X_samples, may_fall_back=True)
        return _as_decision(self._raw_scores(self._fallback_trees if falls_back else self._grown_trees, query))

    @described(VALUES)
    def staged_decision_function(
        self,
        X: ArrayLike,
        *,
        X_err: Uncertainty = None,
        X_limit: ArrayLike | None = None,
        X_samples: ArrayLike | None = None,
    ) -> Iterator[np.ndarray]:
        """Compute the raw scores after each iteration.

        Parameters
        ----------
        {parameters}

        Yields
        ------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            As `decision_function` would have returned it.
        """
        for raw in self._staged_raw_scores((X, X_err, X_limit, X_samples)):
            yield _as_decision(raw)

    @described(VALUES)
    def staged_predict_proba(
        self,
        X: ArrayLike,
        *,
        X_err: Uncertainty = None,
        X_limit: ArrayLike | None = None,
        X_samples: ArrayLike | None = None,
    ) -> Iterator[np.ndarray]:
        """Predict the probability of every class after each iteration.

        Parameters
        ----------
        {parameters}

        Yields
        ------
        ndarray of shape (n_samples, n_classes)
            As `predict_proba` would have returned it.
        """
        for raw in self._staged_raw_scores((X, X_err, X_limit, X_samples)):
            yield probabilities(raw)

    @described(VALUES)
    def staged_predict(
        self,
        X: ArrayLike,
        *,
        X_err: Uncertainty = None,
        X_limit: ArrayLike | None = None,
        X_samples: ArrayLike | None = None,
    ) -> Iterator[np.ndarray]:
        """Predict the most probable class after each iteration.

        Parameters
        ----------
        {parameters}

        Yields
        ------
        ndarray of shape (n_samples,)
            As `predict` would have returned it.
        """
        for raw in self._staged_raw_scores((X, X_err, X_limit, X_samples)):
            yield self.classes_[probabilities(raw).argmax(axis=1)]


def _as_decision(raw: np.ndarray) -> np.ndarray:
    """Raw scores (n_scores, n) as scikit-learn's decision functions have them."""
    return raw[0] if len(raw) == 1 else np.ascontiguousarray(raw.T)
