"""The single probabilistic decision tree."""

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..trees.fitted_tree import FittedTree, sum_of_answers
from ..trees.leaves import leaf_probabilities, most_probable_leaves
from .classifier import ProbabilisticClassifier

MAX_SEED = 2**32 - 1


class ProbabilisticDecisionTreeClassifier(ProbabilisticClassifier):
    """A decision tree whose features are probability distributions and whose labels are probability mass functions.

    Every object goes down both branches of a split, each with the probability that its true value lies there.
    With exact values and hard labels it is an ordinary CART tree, up to the binning of thresholds (`max_bins`).

    Parameters
    ----------
    criterion : {"gini", "entropy"}, default="gini"
        The impurity that splits reduce.
    max_depth : int or None, default=None
        Depth limit; None grows until nodes are pure or too light.
    min_samples_split : int or float, default=2
        Least expected number of objects (the sum of weight × probability) of a node that is split; a float is
        a fraction of the training set's weight.
    min_samples_leaf : int or float, default=1
        The same for either child of a split.
    min_weight_fraction_leaf : float, default=0.0
        Least share of the training set's weight in a leaf.
    max_features : {"sqrt", "log2"}, int, float or None, default=None
        Features that each split looks at; None takes all.
    min_impurity_decrease : float, default=0.0
        Least decrease of the impurity, weighted by the node's share of the training weight.
    class_weight : dict, "balanced" or None, default=None
        Factor of the weight of each class.
    random_state : int, RandomState instance or None, default=None
        Seed of the choice of features; irrelevant when all are looked at.
    keep_proba : float, default=0.05
        An object enters a node only while its probability to reach it is above this; it always follows its
        most probable path. 0 keeps everything, 1 makes every object follow one path.
    missing : {"observed", "equal", "learned"}, default="observed"
        Where a missing value goes: as the node's observed weight does, half to each side, or where training found
        it best.
    unknown_error : {"median", "exact", "raise"}, default="median"
        What a NaN in `X_err` beside a value means: the feature's median error, no error, or an error message.
    label_information : bool, default=True
        Multiply an object's weight by the information of its label: 1 for a hard label, 0 when all classes are
        equally probable.
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
    tree_ : FittedTree
        The tree as flat arrays.
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
    median_errors_ : ndarray of shape (n_features,), or (2, n_features) for lower and upper errors
        Median known error of every feature in training; NaN where none was known.
    fitted_with_errors_ : bool
        Whether `fit` was given errors.
    error_pairs_ : dict or None
        With `error_columns`: each feature and the columns of its errors, or None for one that has none.

    Examples
    --------
    >>> import numpy as np
    >>> from probforest import ProbabilisticDecisionTreeClassifier
    >>> X, y = np.array([[1.0], [2.0], [4.0], [5.0]]), ["star", "star", "quasar", "quasar"]
    >>> tree = ProbabilisticDecisionTreeClassifier().fit(X, y, X_err=0.5)
    >>> tree.classes_
    array(['quasar', 'star'], dtype='<U6')
    >>> tree.predict([[1.5], [4.5]], X_err=0.5)
    array(['star', 'quasar'], dtype='<U6')
    >>> tree.predict_proba([[3.0]], X_err=10.0).round(1)  # it might be anything
    array([[0.5, 0.5]])
    """

    tree_: FittedTree

    def __init__(
        self,
        *,
        criterion="gini",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=None,
        min_impurity_decrease=0.0,
        class_weight=None,
        random_state=None,
        keep_proba=0.05,
        missing="observed",
        unknown_error="median",
        label_information=True,
        max_bins=255,
        distribution="normal",
        prior="empirical",
        error_columns=None,
        sentinels=None,
    ):
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.min_impurity_decrease = min_impurity_decrease
        self.class_weight = class_weight
        self.random_state = random_state
        self.keep_proba = keep_proba
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
        """Grow the tree.

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
            training, _, _ = self._read_training_set((X, X_err, X_limit, X_samples), y, y_proba, classes, sample_weight)
            seed = int(check_random_state(self.random_state).randint(1, MAX_SEED, dtype=np.int64))
            self.tree_ = training.grow(training.weight, self._rules, seed)
        return self

    def predict_proba(self, X, *, X_err=None, X_limit=None, X_samples=None):
        """Predict the probability of every class: the leaves' answers, weighted by the probability to reach them.

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
        return sum_of_answers([self.tree_], query, float(self.keep_proba))

    def apply(self, X, *, X_err=None, X_limit=None, X_samples=None):
        """Node number of the most probable leaf of every object, shape (n_samples,)."""
        query = self._read_query(X, X_err, X_limit, X_samples)
        return most_probable_leaves([self.tree_], query, float(self.keep_proba))[:, 0]

    def leaf_proba(self, X, *, X_err=None, X_limit=None, X_samples=None):
        """Probability of every object to reach each leaf, a CSR matrix of shape (n_samples, n_leaves).

        The columns are the leaves in the order of their node numbers. A row sums to 1 when `keep_proba` is 0, and to
        what was not pruned otherwise.
        """
        query = self._read_query(X, X_err, X_limit, X_samples)
        return leaf_probabilities([self.tree_], query, float(self.keep_proba))

    @property
    def _grown_trees(self) -> list[FittedTree]:
        return [self.tree_]

    def get_depth(self):
        """Depth of the deepest leaf."""
        check_is_fitted(self)
        return self.tree_.depth

    def get_n_leaves(self):
        """Number of leaves."""
        check_is_fitted(self)
        return len(self.tree_.leaves)
