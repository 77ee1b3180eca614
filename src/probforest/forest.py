"""The probabilistic random forest."""

from itertools import pairwise
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.metrics import accuracy_score
from sklearn.utils import check_random_state

from .classifier import ProbabilisticClassifier
from .fitted_tree import FittedTree
from .inspection import leaf_probabilities, mean_importances, most_probable_leaves, proximities
from .kernels.layout import Cells
from .labels import LabelTable
from .parameters import VOTING_RULES, check_flag, check_integer, check_word, complain, number_of_draws
from .progress import with_progress
from .training_set import TrainingSet
from .tree import MAX_SEED
from .warning import warn_caller

BLOCK = 2048  # objects that go down a tree together: their cells stay in the cache


class ProbabilisticRandomForestClassifier(ProbabilisticClassifier):
    """A random forest whose features are probability distributions and whose labels are probability mass functions.

    The method of Reis, Baron & Shahaf (2019). With exact values and hard labels it is an ordinary random forest.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : {"gini", "entropy"}, default="gini"
        The impurity that splits reduce.
    max_depth : int or None, default=None
        Depth limit of the trees; None grows until nodes are pure or too light.
    min_samples_split : int or float, default=2
        Least expected number of objects (the sum of weight × probability) of a node that is split; a float is
        a fraction of the tree's weight.
    min_samples_leaf : int or float, default=1
        The same for either child of a split.
    min_weight_fraction_leaf : float, default=0.0
        Least share of the tree's weight in a leaf.
    max_features : {"sqrt", "log2"}, int, float or None, default="sqrt"
        Features that each split looks at; None takes all.
    min_impurity_decrease : float, default=0.0
        Least decrease of the impurity, weighted by the node's share of the tree's weight.
    bootstrap : bool, default=True
        Whether each tree draws its objects at random with replacement; else all trees use all.
    max_samples : int, float or None, default=None
        How many objects a tree draws; None draws as many as there are.
    oob_score : bool or callable, default=False
        Whether to judge the forest on the objects that each tree did not draw; a callable (y_true, y_pred) replaces
        the accuracy.
    class_weight : dict, "balanced", "balanced_subsample" or None, default=None
        Factor of the weight of each class; "balanced_subsample" balances each tree's draw.
    n_jobs : int or None, default=None
        Threads that grow and ask the trees; -1 takes all cores. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws of objects and features.
    verbose : int, default=0
        Show a progress bar while fitting (tqdm's, if it is installed).
    warm_start : bool, default=False
        Keep the trees of the last `fit` and add to them.
    keep_proba : float, default=0.05
        An object enters a node only while its probability to reach it is above this; it always follows its
        most probable path. 0 keeps everything, 1 makes every object follow one path.
    voting : {"soft", "majority"}, default="soft"
        Average the trees' probabilities, or count their votes as the paper does.
    missing : {"observed", "equal", "learned"}, default="observed"
        Where a missing value goes: as the node's observed weight does, half to each side, or where training found
        it best.
    unknown_error : {"median", "exact", "raise"}, default="median"
        What a NaN in `X_err` beside a value means: the feature's median error, no error, or an error message.
    label_information : bool, default=True
        Multiply an object's weight by the information of its label: 1 for a hard label, 0 when all classes are
        equally probable. False is the paper's rule.
    max_bins : int, default=255
        Candidate thresholds per feature, at most 65,535. Features with fewer distinct grid points are searched exactly.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    trees_ : list of FittedTree
        The trees as flat arrays.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` had names that are all strings.
    oob_score_ : float
        Out-of-bag score, with `oob_score`.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Out-of-bag probabilities, with `oob_score`; NaN for an object that every tree drew.
    median_errors_ : ndarray of shape (n_features_in_,)
        Median known error of every feature in training; NaN where none was known.
    fitted_with_errors_ : bool
        Whether `fit` was given `X_err`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from probforest import ProbabilisticRandomForestClassifier
    >>> table, y = load_breast_cancer(return_X_y=True)
    >>> X, X_err = table[:, :10], table[:, 10:20]  # ten means and their standard errors
    >>> X, X_test, X_err, X_err_test, y, y_test = train_test_split(X, X_err, y, random_state=0)
    >>> forest = ProbabilisticRandomForestClassifier(random_state=0).fit(X, y, X_err=X_err)
    >>> round(float(forest.score(X_test, y_test, X_err=X_err_test)), 2) > 0.9
    True
    """

    trees_: list[FittedTree]
    oob_score_: float
    oob_decision_function_: np.ndarray

    def __init__(
        self,
        n_estimators=100,
        *,
        criterion="gini",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features="sqrt",
        min_impurity_decrease=0.0,
        bootstrap=True,
        max_samples=None,
        oob_score=False,
        class_weight=None,
        n_jobs=None,
        random_state=None,
        verbose=0,
        warm_start=False,
        keep_proba=0.05,
        voting="soft",
        missing="observed",
        unknown_error="median",
        label_information=True,
        max_bins=255,
    ):
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.keep_proba = keep_proba
        self.voting = voting
        self.missing = missing
        self.unknown_error = unknown_error
        self.label_information = label_information
        self.max_bins = max_bins

    def fit(self, X, y=None, *, X_err=None, y_proba=None, classes=None, sample_weight=None):
        """Grow the forest.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Values; NaN marks a missing one.
        y : array-like of shape (n_samples,), optional
            Labels. Only `y_proba` of shape (n_samples, n_classes) makes them unnecessary; beside it, they tell
            nothing but the classes.
        X_err : None, float, or array-like of shape (n_features,) or (n_samples, n_features), default=None
            Standard deviations: 0 is an exact value, NaN an unknown error, inf a missing value. None: all exact.
        y_proba : array-like of shape (n_samples,) or (n_samples, n_classes), default=None
            The probability that each label in `y` is right, the rest being shared evenly by the other classes; or
            the probability of every class.
        classes : array-like of shape (n_classes,), default=None
            The class of each column of `y_proba`, unless it is a DataFrame whose columns say so. Also names classes
            that no label in `y` has.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the objects.

        Returns
        -------
        self
        """
        earlier_trees, earlier_seeds = self._earlier_trees(X)
        training, measurements, labels = self._read_training_set(X, y, X_err, y_proba, classes, sample_weight)
        new_seeds = self._seeds(len(earlier_trees))
        self.trees_ = earlier_trees + self._grow(training, new_seeds)
        self._tree_seeds = earlier_seeds + new_seeds
        if self.oob_score:
            self._judge_out_of_bag(training, measurements.cells(), labels)
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer("n_estimators", self.n_estimators, 1)
        check_word("voting", self.voting, VOTING_RULES)
        check_flag("bootstrap", self.bootstrap)
        check_flag("warm_start", self.warm_start)
        if not callable(self.oob_score):
            check_flag("oob_score", self.oob_score)
        if self.oob_score and not self.bootstrap:
            raise ValueError("oob_score needs bootstrap=True: without it every tree uses every object.")
        if self.max_samples is not None and not self.bootstrap:
            complain("max_samples", self.max_samples, "None when bootstrap=False, as nothing is drawn")

    @property
    def _class_weight_per_tree(self) -> bool:
        return isinstance(self.class_weight, str) and self.class_weight == "balanced_subsample"

    @property
    def _adds_trees(self) -> bool:
        return self.warm_start and hasattr(self, "trees_")

    def _earlier_trees(self, X) -> tuple[list[FittedTree], list[int]]:
        """The trees that warm_start keeps, and their seeds."""
        if not self._adds_trees:
            return [], []
        if self.n_estimators < len(self.trees_):
            raise ValueError(
                f"warm_start=True can't remove trees: n_estimators={self.n_estimators}, but there are "
                f"{len(self.trees_)} already."
            )
        if np.ndim(X) == 2 and np.shape(X)[1] != self.n_features_in_:
            raise ValueError(f"warm_start=True needs {self.n_features_in_} features as before; got {np.shape(X)[1]}.")
        if self.n_estimators == len(self.trees_):
            warn_caller("warm_start=True and n_estimators is as before: no tree is added.")
        return self.trees_, self._tree_seeds

    def _check_classes(self, classes: np.ndarray) -> None:
        if self._adds_trees and not np.array_equal(classes, self.classes_):
            raise ValueError(f"warm_start=True needs the classes of before, {self.classes_}; got {classes}.")

    def _seeds(self, n_earlier: int) -> list[int]:
        """One seed per new tree. With an integer `random_state`, trees that are added later get the seeds that they
        would have had from the start."""
        seeds = check_random_state(self.random_state).randint(1, MAX_SEED, self.n_estimators, dtype=np.int64)
        return seeds[n_earlier:].tolist()

    def _grow(self, training: TrainingSet, seeds: list[int]) -> list[FittedTree]:
        trees = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")(
            delayed(self._grow_one)(training, seed) for seed in seeds
        )
        return list(with_progress(trees, len(seeds), "trees", self.verbose))

    def _grow_one(self, training: TrainingSet, seed: int) -> FittedTree:
        counts, kernel_seed = self._draw(seed, training.n_objects)
        weight = training.weight * counts
        class_weight = "balanced" if self._class_weight_per_tree else None
        return training.grow(weight, self._rules(weight.sum()), kernel_seed, class_weight)

    def _draw(self, seed: int, n_objects: int) -> tuple[np.ndarray, int]:
        """How often a tree draws each object (n,), and the seed of its choice of features."""
        random = np.random.default_rng(seed)
        kernel_seed = int(random.integers(1, MAX_SEED))
        if not self.bootstrap:
            return np.ones(n_objects), kernel_seed
        drawn = random.integers(0, n_objects, number_of_draws(self.max_samples, n_objects))
        return np.bincount(drawn, minlength=n_objects).astype(np.float64), kernel_seed

    def _judge_out_of_bag(self, training: TrainingSet, cells: Cells, labels: LabelTable) -> None:
        """Every object is judged by the trees that did not draw it; one that weighs nothing, by all of them."""
        answers = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")(
            delayed(self._out_of_bag_answers)(tree, seed, training, cells)
            for tree, seed in zip(self.trees_, self._tree_seeds, strict=True)
        )
        total = np.zeros((len(training.kept), len(self.classes_)))
        for out_of_bag, answer in answers:
            total[out_of_bag] += answer
        judges = total.sum(axis=1)
        judged = judges > 0
        if not judged.all():
            warn_caller(
                f"{np.sum(~judged)} objects were drawn by every tree and have no out-of-bag answer (NaN). "
                "More trees help."
            )
        with np.errstate(invalid="ignore"):
            self.oob_decision_function_ = total / judges[:, None]
        truth = self.classes_[labels.most_probable[judged]]
        answer = self.classes_[total[judged].argmax(axis=1)]
        metric = self.oob_score if callable(self.oob_score) else accuracy_score
        self.oob_score_ = metric(truth, answer) if judged.any() else np.nan

    def _out_of_bag_answers(self, tree: FittedTree, seed: int, training: TrainingSet, cells: Cells):
        drawn = np.zeros(len(training.kept), dtype=bool)
        drawn[training.kept] = self._draw(seed, training.n_objects)[0] > 0
        out_of_bag = np.flatnonzero(~drawn)
        inverse_scale = cells.inverse_scale[:, out_of_bag] if len(cells.inverse_scale) else cells.inverse_scale
        left_out = Cells(np.ascontiguousarray(cells.center[:, out_of_bag]), np.ascontiguousarray(inverse_scale))
        return out_of_bag, self._ask([tree], left_out, 0, len(out_of_bag))

    def _ask(self, trees: list[FittedTree], cells: Cells, first: int, last: int) -> np.ndarray:
        """Sum of the trees' answers for the objects [first, last), always in the order of the trees."""
        total = np.zeros((last - first, len(self.classes_)))
        for tree in trees:
            tree.add_answers(cells, first, last, float(self.keep_proba), self.voting == "majority", total)
        return total

    def predict_proba(self, X, *, X_err=None):
        """Predict the probability of every class: the average of the trees' probabilities, or the share of their votes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Values; NaN marks a missing one.
        X_err : None, float, or array-like of shape (n_features,) or (n_samples, n_features), default=None
            Standard deviations of the values.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        cells = self._read_query(X, X_err)
        n_objects = cells.center.shape[1]
        borders = [*range(0, n_objects, BLOCK), n_objects]
        n_jobs = min(effective_n_jobs(self.n_jobs), len(borders) - 1)
        blocks = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(self._ask)(self.trees_, cells, first, last) for first, last in pairwise(borders)
        )
        return np.concatenate(blocks) / len(self.trees_)

    def apply(self, X, *, X_err=None):
        """Node number of the most probable leaf of every object in every tree, shape (n_samples, n_trees)."""
        return most_probable_leaves(self.trees_, self._read_query(X, X_err), float(self.keep_proba), self.n_jobs)

    def leaf_proba(self, X, *, X_err=None):
        """Probability of every object to reach each leaf, a CSR matrix of shape (n_samples, all leaves).

        The columns are the leaves of the first tree in the order of their node numbers, then those of the second,
        and so on. In each tree a row sums to 1 when `keep_proba` is 0, and to what was not pruned otherwise.
        """
        return leaf_probabilities(self.trees_, self._read_query(X, X_err), float(self.keep_proba), self.n_jobs)

    def proximity(self, X, *, X_err=None, other=None, other_err=None):
        """Probability that two objects end in the same leaf, averaged over the trees.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Values; NaN marks a missing one.
        X_err : None, float, or array-like of shape (n_features,) or (n_samples, n_features), default=None
            Standard deviations of the values.
        other, other_err : like `X` and `X_err`, default=None
            The objects to compare with; None compares the objects of `X` with each other.

        Returns
        -------
        scipy CSR matrix of shape (n_samples, n_other)
            An object and an independent copy of it meet with a probability below 1 if it has errors, and so the
            diagonal is not 1 then.
        """
        scaled = self._scaled_leaf_proba(X, X_err)
        other_scaled = scaled if other is None else self._scaled_leaf_proba(other, other_err)
        return proximities(scaled, other_scaled, len(self.trees_))

    def _scaled_leaf_proba(self, X: Any, X_err: Any):
        cells = self._read_query(X, X_err)
        return leaf_probabilities(self.trees_, cells, float(self.keep_proba), self.n_jobs, scaled=True)

    @property
    def feature_importances_(self):
        """Impurity decrease of every feature, weighted by expected objects, averaged over trees, (n_features_in_,)."""
        return mean_importances(self.trees_, self.n_features_in_)
