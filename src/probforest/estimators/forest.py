"""The probabilistic random forest."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import accuracy_score
from sklearn.utils import check_random_state

from ..inputs.columns import describe_pairs
from ..inputs.labels import LabelTable
from ..inputs.parameters import VOTING_RULES, check_flag, check_integer, check_word, complain, number_of_draws
from ..kernels.layout import Cells
from ..support.progress import with_progress
from ..support.threads import in_threads
from ..support.warning import warn_caller
from ..trees.fitted_tree import FittedTree, sum_of_answers
from ..trees.leaves import leaf_probabilities, most_probable_leaves, proximities
from ..trees.training_set import TrainingSet
from .classifier import ProbabilisticClassifier
from .tree import MAX_SEED


class Draw(NamedTuple):
    """The bootstrap of one tree, as it can be drawn again for the out-of-bag answers."""

    seed: int
    n_objects: int
    n_draws: int | None  # None: no bootstrap, every object once

    def counts(self) -> np.ndarray:
        """How often each object was drawn (n_objects,)."""
        if self.n_draws is None:
            return np.ones(self.n_objects)
        drawn = np.random.default_rng(self.seed).integers(0, self.n_objects, self.n_draws)
        return np.bincount(drawn, minlength=self.n_objects).astype(np.float64)

    def feature_seed(self) -> int:
        """Seed of the tree's choice of features, apart from that of its objects."""
        return int(np.random.default_rng([self.seed, 1]).integers(1, MAX_SEED))


class ProbabilisticRandomForestClassifier(ProbabilisticClassifier):
    """A random forest whose features are probability distributions and whose labels are probability mass functions.

    The method of Reis, Baron & Shahaf (2019). With exact values and hard labels it is an ordinary
    random forest, up to the binning of thresholds (`max_bins`).

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
        Show a progress bar while fitting (tqdm's, if it is installed), and which columns `error_columns` paired.
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
    distribution : str, tuple, Family, SciPy distribution, list or mapping, default="normal"
        The family of the errors: "normal", "uniform", "laplace", "lognormal", ("student_t", degrees of freedom), or any
        frozen distribution of SciPy; one for all features, a list with one for each, or a mapping of the names (or
        numbers) of features that are not normal. The value is its expectation, the error its standard deviation.
    prior : {"empirical", "normal"} or None, default="empirical"
        What a measured value says about the true one depends on how the true values are spread, which is learnt from
        the training set: their whole distribution, or their mean and variance. None: nothing is learnt, and the truth
        scatters around the measured value, as in the paper.
    error_columns : None, "auto" or mapping, default=None
        Which columns of `X`, a table with names, are errors of which others: a mapping such as
        `{"gmag": "e_gmag", "prad": ("prad_err2", "prad_err1"), "mass": Errors(lower=..., upper=..., limit="masslim")}`;
        "auto" finds them by the usual names. None: every column is a feature. Unless it is None, a table to
        predict is matched by name: the order of its columns does not matter, and columns that `fit` had not seen are
        ignored.
    sentinels : mapping or None, default=None
        Numbers that stand for a missing value, by column, such as `{"W3mag": 99, "*": -9999}`; "*" means all columns
        but those that say what is a limit.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    trees_ : list of FittedTree
        The trees as flat arrays.
    n_features_in_ : int
        Number of columns of `X`, those of errors included.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of `X`, if it had names that are all strings.
    feature_names_ : ndarray of shape (n_features,)
        Names of the features, in the order of `feature_importances_`: of all columns but those of errors and limits;
        "x0", "x1", ... if `X` had no names.
    feature_importances_ : ndarray of shape (n_features,)
        Impurity decrease of every feature, weighted by expected objects; they sum to 1, or are all 0.
    column_importances_ : ndarray of shape (n_features_in_,)
        The same by column of `X`: a column with errors or limits has the importance of its value. For scikit-learn's
        feature selection: `SelectFromModel(forest, importance_getter="column_importances_")`.
    oob_score_ : float
        Out-of-bag score, with `oob_score`.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Out-of-bag probabilities, with `oob_score`; NaN for an object that every tree drew.
    median_errors_ : ndarray of shape (n_features,), or (2, n_features) for lower and upper errors
        Median known error of every feature in training; NaN where none was known.
    fitted_with_errors_ : bool
        Whether `fit` was given errors.
    error_pairs_ : dict or None
        With `error_columns`: each feature and the columns of its errors, or None for one that has none.

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
        distribution="normal",
        prior="empirical",
        error_columns=None,
        sentinels=None,
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
        self.distribution = distribution
        self.prior = prior
        self.error_columns = error_columns
        self.sentinels = sentinels

    def fit(
        self, X, y=None, *, X_err=None, X_limit=None, X_samples=None, y_proba=None, classes=None, sample_weight=None
    ):
        """Grow the forest.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Values; NaN marks a missing one.
        y : array-like of shape (n_samples,), optional
            Labels. Only `y_proba` of shape (n_samples, n_classes) makes them unnecessary; beside it, they tell
            nothing but the classes.
        X_err : None, float, array-like of shape (n_features,) or (n_samples, n_features), or two of these, default=None
            Standard deviations, matched with `X` by position: 0 is an exact value, NaN an unknown error, inf a missing
            value. None: all exact. A tuple is a pair (lower, upper), and so is an array of shape (n_samples,
            n_features, 2): half of the probability lies on either side of the value. Lower errors may have a minus
            sign, as archives store them.
        X_limit : array-like of shape (n_samples, n_features), default=None
            +1 where the value is an upper limit, the truth being below it, -1 where it is a lower limit, 0 (or NaN)
            elsewhere. A limit is spread over what the training set has on its allowed side.
        X_samples : array-like of shape (n_samples, n_features, n_draws) or astropy Distribution, default=None
            Draws from the posterior of each value, NaN where there are fewer. They take the place of `X` and `X_err`;
            a cell without draws keeps these.
        y_proba : array-like of shape (n_samples,) or (n_samples, n_classes), default=None
            The probability that each label in `y` is right, the rest being shared evenly by the other classes; or
            the probability of every class.
        classes : array-like of shape (n_classes,), default=None
            The class of each column of `y_proba`, unless it is a DataFrame whose columns say so. Also names classes
            that no label in `y` has.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the objects. They count in `min_samples_split` and `min_samples_leaf`, so that an object of
            weight 2 is the same as two objects; their mean should be about 1.

        Returns
        -------
        self
        """
        self._check_parameters()
        with self._unchanged_on_error():
            earlier_trees, earlier_draws = self._earlier_trees(X)
            training, cells, labels = self._read_training_set(
                (X, X_err, X_limit, X_samples), y, y_proba, classes, sample_weight
            )
            if self.verbose and self.error_pairs_ is not None:
                print(describe_pairs(self.error_pairs_))
            everything = cells if self.oob_score else None
            del cells  # as large as what was given: trees grow without those that weigh nothing
            draws = self._new_draws(len(earlier_trees), training.n_objects)
            self.trees_ = earlier_trees + self._grow(training, draws)
            self._draws = earlier_draws + draws
            if everything is not None:
                self._judge_out_of_bag(training, everything, labels)
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

    def _earlier_trees(self, X) -> tuple[list[FittedTree], list[Draw]]:
        """The trees that warm_start keeps, and what they drew."""
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
        return self.trees_, self._draws

    def _check_classes(self, classes: np.ndarray) -> None:
        if self._adds_trees and not np.array_equal(classes, self.classes_):
            raise ValueError(f"warm_start=True needs the classes of before, {self.classes_}; got {classes}.")

    def _new_draws(self, n_earlier: int, n_objects: int) -> list[Draw]:
        """One draw per new tree. With an integer `random_state`, trees that are added later get the seeds that they
        would have had from the start."""
        seeds = check_random_state(self.random_state).randint(1, MAX_SEED, self.n_estimators, dtype=np.int64)
        n_draws = number_of_draws(self.max_samples, n_objects) if self.bootstrap else None
        return [Draw(seed, n_objects, n_draws) for seed in seeds[n_earlier:].tolist()]

    def _grow(self, training: TrainingSet, draws: list[Draw]) -> list[FittedTree]:
        class_weight = "balanced" if self._class_weight_per_tree else None

        def grow_one(draw: Draw) -> FittedTree:
            return training.grow(training.weight * draw.counts(), self._rules, draw.feature_seed(), class_weight)

        self._rules(training.weight.sum())  # complains here rather than in a thread
        trees = in_threads(grow_one, draws, self.n_jobs)
        return list(with_progress(trees, len(draws), "trees", self.verbose))

    def _judge_out_of_bag(self, training: TrainingSet, query: Cells, labels: LabelTable) -> None:
        """Every object is judged by the trees that did not draw it; one that weighs nothing, by all of them."""
        judges = [
            (tree, draw)
            for tree, draw in zip(self.trees_, self._draws, strict=True)
            if draw.n_objects == training.n_objects
        ]
        if len(judges) < len(self.trees_):
            warn_caller("Trees that were grown on another number of objects take no part in the out-of-bag score.")

        def ask(judge: tuple[FittedTree, Draw]) -> tuple[np.ndarray, np.ndarray]:
            return self._out_of_bag_answers(*judge, training.kept, query)

        total = np.zeros((len(training.kept), len(self.classes_)))
        for out_of_bag, answer in in_threads(ask, judges, self.n_jobs):
            total[out_of_bag] += answer
        n_judges = total.sum(axis=1)
        judged = n_judges > 0
        if not judged.all():
            warn_caller(
                f"{np.sum(~judged)} objects were drawn by every tree and have no out-of-bag answer (NaN). "
                "More trees help."
            )
        with np.errstate(invalid="ignore"):
            self.oob_decision_function_ = total / n_judges[:, None]
        counted = judged & training.kept  # an object that weighs nothing does not count here either
        truth = self.classes_[labels.class_index[counted]]
        answer = self.classes_[total[counted].argmax(axis=1)]
        metric = self.oob_score if callable(self.oob_score) else accuracy_score
        self.oob_score_ = metric(truth, answer) if counted.any() else np.nan

    def _out_of_bag_answers(
        self, tree: FittedTree, draw: Draw, kept: np.ndarray, query: Cells
    ) -> tuple[np.ndarray, np.ndarray]:
        """The objects that a tree did not draw, and what it says about them."""
        out_of_bag = np.ones(len(kept), dtype=bool)
        out_of_bag[kept] = draw.counts() == 0
        left_out = query._replace(values=query.values[out_of_bag])
        return out_of_bag, sum_of_answers([tree], left_out, float(self.keep_proba), majority=self._majority)

    @property
    def _majority(self) -> bool:
        return self.voting == "majority"

    def predict_proba(self, X, *, X_err=None, X_limit=None, X_samples=None):
        """Predict the probability of every class: the average of the trees' probabilities, or the share of their votes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Values; NaN marks a missing one.
        X_err, X_limit, X_samples : default=None
            What is known about the values, as in `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        query = self._read_query(X, X_err, X_limit, X_samples)
        total = sum_of_answers(self.trees_, query, float(self.keep_proba), majority=self._majority, n_jobs=self.n_jobs)
        return total / len(self.trees_)

    def apply(self, X, *, X_err=None, X_limit=None, X_samples=None):
        """Node number of the most probable leaf of every object in every tree, shape (n_samples, n_trees)."""
        query = self._read_query(X, X_err, X_limit, X_samples)
        return most_probable_leaves(self.trees_, query, float(self.keep_proba), self.n_jobs)

    def leaf_proba(self, X, *, X_err=None, X_limit=None, X_samples=None):
        """Probability of every object to reach each leaf, a CSR matrix of shape (n_samples, all leaves).

        The columns are the leaves of the first tree in the order of their node numbers, then those of the second,
        and so on. In each tree a row sums to 1 when `keep_proba` is 0, and to what was not pruned otherwise.
        """
        query = self._read_query(X, X_err, X_limit, X_samples)
        return leaf_probabilities(self.trees_, query, float(self.keep_proba), self.n_jobs)

    def proximity(
        self,
        X,
        *,
        X_err=None,
        X_limit=None,
        X_samples=None,
        other=None,
        other_err=None,
        other_limit=None,
        other_samples=None,
    ):
        """Probability that two objects end in the same leaf, averaged over the trees.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Values; NaN marks a missing one.
        X_err, X_limit, X_samples : default=None
            What is known about the values, as in `fit`.
        other, other_err, other_limit, other_samples : like `X`, `X_err`, `X_limit` and `X_samples`, default=None
            The objects to compare with; None compares the objects of `X` with each other.

        Returns
        -------
        scipy CSR matrix of shape (n_samples, n_other)
            An object and an independent copy of it meet with a probability below 1 if it has errors, and so the
            diagonal is not 1 then.
        """
        about_other = other_err, other_limit, other_samples
        if other is None and any(given is not None for given in about_other):
            raise ValueError("other_err is given without other, or other_limit, or other_samples: of which values?")
        scaled = self._scaled_leaf_proba(X, X_err, X_limit, X_samples)
        # one warning is enough
        other_scaled = scaled if other is None else self._scaled_leaf_proba(other, *about_other, warn=X_err is not None)
        return proximities(scaled, other_scaled, len(self.trees_))

    def _scaled_leaf_proba(self, X: Any, X_err: Any, X_limit: Any, X_samples: Any, *, warn: bool = True):
        query = self._read_query(X, X_err, X_limit, X_samples, warn=warn)
        return leaf_probabilities(self.trees_, query, float(self.keep_proba), self.n_jobs, scaled=True)

    @property
    def _grown_trees(self) -> list[FittedTree]:
        return self.trees_
