"""Usual mistakes: each works, or raises an error that says what to do."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from probforest import ProbabilisticDecisionTreeClassifier, ProbabilisticRandomForestClassifier

FOREST = ProbabilisticRandomForestClassifier(5, random_state=0)
TREE = ProbabilisticDecisionTreeClassifier()
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(30, 3))
Y = (X[:, 0] > 0).astype(int)
PMF = np.column_stack([1.0 - Y, Y])
MODELS = pytest.mark.parametrize("model", [TREE, FOREST], ids=["tree", "forest"])


def altered(array, where, value):
    copy = np.array(array, dtype=float)
    copy[where] = value
    return copy


BAD_FITS = {
    "X is one-dimensional": ({"X": X[:, 0]}, "Expected 2D array"),
    "no rows": ({"X": X[:0], "y": Y[:0]}, "0 sample"),
    "no columns": ({"X": X[:, :0]}, "0 feature"),
    "X infinite": ({"X": altered(X, (4, 1), np.inf)}, r"X is infinity at row 4, column 1; expected a finite value"),
    "X too large": ({"X": altered(X, (4, 1), -2e300)}, r"X is -2e\+300 at row 4, column 1; expected a value between"),
    "X_err too large": (
        {"X_err": altered(X**2, (4, 1), 2e300)},
        r"X_err is 2e\+300 at row 4, column 1; expected an error",
    ),
    "a side of X_err too large": ({"X_err": (0.1, 2e300)}, r"X_err\[1\] is 2e\+300; expected an error up to 1e\+300"),
    "X_samples too large": (
        {"X_samples": altered(np.zeros((30, 3, 2)), (4, 1, 0), -2e300)},
        r"X_samples is 2e\+300 at row 4, column 1; expected draws between",
    ),
    "X minus infinite": ({"X": altered(X, (4, 1), -np.inf)}, r"X is -infinity at row 4, column 1"),
    "X of words": ({"X": [["a", "b", "c"]] * 30}, "could not convert string to float"),
    "X_err wrong shape": ({"X_err": np.ones((29, 3))}, r"X_err has shape \(29, 3\), but X has shape \(30, 3\)"),
    "X_err transposed": ({"X_err": np.ones((3, 30))}, r"X_err has shape \(3, 30\)"),
    "X_err per object": ({"X_err": np.ones(30)}, "one per feature, but X has 3 features"),
    "X_err three-dimensional": ({"X_err": np.ones((30, 3, 4))}, "X_err has shape"),
    "X_err negative": (
        {"X_err": altered(np.ones((30, 3)), (7, 2), -0.5)},
        r"X_err is -0.5 at row 7, column 2; expected",
    ),
    "X_err negative scalar": ({"X_err": -1}, "X_err is -1.0; expected an error >= 0"),
    "X_err negative per feature": ({"X_err": [1, 1, -2]}, "X_err is -2.0 at column 2"),
    "X_err minus infinite": ({"X_err": altered(np.ones((30, 3)), (7, 2), -np.inf)}, "X_err is -infinity at row 7"),
    "X_err unknown for a whole feature": (
        {"X_err": [0.1, np.nan, 0.1]},
        "X_err is NaN at column 1; no error",
    ),
    "X_err of words": ({"X_err": [["a", "b", "c"]] * 30}, "X_err must hold numbers"),
    "no y": ({"y": None}, "requires y to be passed"),
    "y too short": ({"y": Y[:-1]}, "y has 29 labels, but X has 30 objects"),
    "y with NaN": ({"y": altered(Y, 3, np.nan)}, r"y is nan \(NaN or infinity\) at row 3"),
    "y with None": ({"y": [None, *["a"] * 15, *["b"] * 14]}, "y is None .* at row 0"),
    "y with NaN among strings": ({"y": np.array([*["a"] * 29, np.nan], dtype=object)}, "y is nan .* at row 29"),
    "y continuous": ({"y": X[:, 0]}, "continuous"),
    "y two-dimensional": ({"y": PMF}, "y should be a 1d array"),
    "y mixed": ({"y": np.array([*["a"] * 15, *[1] * 15], dtype=object)}, "mix"),
    "confidence above 1": ({"y_proba": np.full(30, 1.5)}, "y_proba is 1.5 at row 0; expected a probability"),
    "confidence negative": ({"y_proba": altered(np.ones(30), 5, -0.1)}, "y_proba is -0.1 at row 5"),
    "confidence NaN": ({"y_proba": altered(np.ones(30), 5, np.nan)}, "y_proba is nan at row 5"),
    "confidence too short": ({"y_proba": np.ones(29)}, r"y_proba has shape \(29,\), but X has 30 objects"),
    "confidence without labels": ({"y": None, "y_proba": np.ones(30)}, "requires y to be passed"),
    "confidence of words": ({"y_proba": ["sure"] * 30}, "y_proba must hold numbers"),
    "PMF that does not sum to 1": ({"y_proba": altered(PMF, 4, [0.5, 0.4])}, "y_proba sums to 0.9 in row 4"),
    "PMF with NaN": ({"y_proba": altered(PMF, (4, 0), np.nan)}, "y_proba is nan at row 4, column 0"),
    "PMF negative": ({"y_proba": altered(PMF, 4, [-0.5, 1.0])}, "y_proba is -0.5 at row 4, column 0"),
    "PMF without classes": ({"y": None, "y_proba": PMF}, "nothing says which class each one is"),
    "PMF with too few classes": ({"y": None, "y_proba": PMF, "classes": ["a"]}, "2 columns, but there are 1 classes"),
    "PMF with equal classes": ({"y": None, "y_proba": PMF, "classes": ["a", "a"]}, "classes must be different"),
    "PMF columns against y": ({"y": np.arange(30) % 3, "y_proba": PMF}, "2 columns, but there are 3 classes"),
    "PMF whose classes lack a label": (
        {"y_proba": PMF, "classes": [1, 2]},
        "at row .* not one of the classes",
    ),
    "PMF frame against classes": ({"y_proba": pd.DataFrame(PMF), "classes": ["a", "b"]}, "has the columns"),
    "classes not a list": ({"classes": "star"}, "classes must be a list"),
    "classes lack a label": ({"classes": [0, 2]}, "not one of the classes"),
    "no label says anything, with errors": (
        {"y_proba": np.full(30, 0.5), "X_err": 0.1},
        "Every object has weight zero",
    ),
    "weights too large": ({"sample_weight": np.full(30, 1e200)}, "expected a sum between"),
    "one confidence per object as a column": (
        {"y_proba": np.full((30, 1), 0.9), "classes": [1]},
        "shape .n,., not .n, 1.",
    ),
    "y with pandas' NA": ({"y": pd.array(["a", *["b"] * 28, None], dtype="string")}, "at row 29"),
    "y of bytes": ({"y": np.array([b"a", b"b"] * 15)}, "y holds bytes.*astype"),
    "classes of another kind": ({"classes": ["a", "b"]}, "y has labels such as .*, but the classes are"),
    "classes mixed": ({"classes": [0, "a"]}, "all text or all numbers"),
    "classes with NaN": ({"classes": [0.0, np.nan]}, "without a missing one"),
    "too many columns": ({"y_proba": np.full((30, 3), 1 / 3)}, "3 columns, but there are 2 classes.*classes="),
    "no label says anything": ({"y_proba": np.full(30, 0.5)}, "Every object has weight zero.*label_information"),
    "doubt without another class": ({"y": np.zeros(30), "y_proba": np.full(30, 0.9)}, "single class"),
    "weights all zero": ({"sample_weight": np.zeros(30)}, "Every object has weight zero"),
    "weight negative": ({"sample_weight": altered(np.ones(30), 2, -1)}, "sample_weight is -1.0 at row 2"),
    "weight NaN": ({"sample_weight": altered(np.ones(30), 2, np.nan)}, "sample_weight is nan at row 2"),
    "weight wrong shape": ({"sample_weight": np.ones(29)}, r"sample_weight has shape \(29,\)"),
    "weight of words": ({"sample_weight": ["heavy"] * 30}, "sample_weight must hold numbers"),
}


@MODELS
@pytest.mark.parametrize("name", BAD_FITS)
def test_bad_data(model, name):
    arguments, message = BAD_FITS[name]
    with pytest.raises(ValueError, match=message):
        clone(model).fit(**{"X": X, "y": Y} | arguments)


BAD_PARAMETERS = {
    "criterion": ("log_loss", 'criterion must be one of "gini", "entropy"; got \'log_loss\''),
    "missing": ("drop", 'missing must be one of "auto", "equal", "observed", "learned"'),
    "unknown_error": (None, "unknown_error must be one of"),
    "label_information": ("yes", "label_information must be True or False"),
    "keep_proba": (1.5, "keep_proba must be a number from 0 to 1; got 1.5"),
    "max_depth": (0, "max_depth must be an integer from 1 to"),
    "min_samples_split": (1, "min_samples_split must be an integer from 2 to 2147483647, or a fraction"),
    "min_samples_leaf": (0, "min_samples_leaf must be an integer from 1 to 2147483647, or a fraction"),
    "min_weight_fraction_leaf": (0.7, "min_weight_fraction_leaf must be a number from 0 to 0.5"),
    "max_features": (4, "max_features must be .* an integer from 1 to the 3 features of X; got 4"),
    "min_impurity_decrease": (-0.1, "min_impurity_decrease must be a number of at least 0"),
    "class_weight": ("heavy", "class_weight must be"),
    "max_bins": (1, "max_bins must be an integer from 2 to 65535"),
}
BAD_FOREST_PARAMETERS = {
    "n_estimators": (0, "n_estimators must be an integer from 1 to"),
    "voting": ("hard", 'voting must be one of "soft", "majority"'),
    "bootstrap": ("no", "bootstrap must be True or False"),
    "max_samples": (31, "max_samples must be .* an integer from 1 to the 30 objects"),
    "oob_score": ("yes", "oob_score must be True or False"),
    "warm_start": (1, "warm_start must be True or False"),
    "verbose": ("yes", "verbose must be an integer from 0 to"),
}


@MODELS
@pytest.mark.parametrize("name", BAD_PARAMETERS)
def test_bad_parameters(model, name):
    value, message = BAD_PARAMETERS[name]
    with pytest.raises(ValueError, match=message):
        clone(model).set_params(**{name: value}).fit(X, Y)


@pytest.mark.parametrize("name", BAD_FOREST_PARAMETERS)
def test_bad_parameters_of_the_forest(name):
    value, message = BAD_FOREST_PARAMETERS[name]
    with pytest.raises(ValueError, match=message):
        clone(FOREST).set_params(**{name: value}).fit(X, Y)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_features", 0), ("max_features", 1.5), ("max_features", "automatic"), ("max_features", True),
        ("min_samples_leaf", 1.5), ("min_samples_leaf", "few"), ("max_depth", 2.5), ("keep_proba", "0.1"),
        ("class_weight", {0: -1.0}), ("class_weight", {0: 1.0, 7: 2.0}), ("max_bins", 100_000), ("max_bins", 10.0),
        ("class_weight", "balanced_subsample"), ("class_weight", {0: "x"}), ("max_depth", 2**63),
        ("min_samples_leaf", 10**400), ("min_samples_split", 10**400), ("min_samples_leaf", 1e-200),
        ("min_impurity_decrease", 10**400), ("min_impurity_decrease", np.nan), ("keep_proba", np.nan),
        ("max_bins", 2**70), ("max_features", 10**400), ("min_weight_fraction_leaf", 10**400),
    ],
)  # fmt: skip
def test_more_bad_parameters(name, value):
    with pytest.raises(ValueError, match=name):
        clone(TREE).set_params(**{name: value}).fit(X, Y)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_jobs", "x"), ("n_jobs", 0), ("n_jobs", 1.5), ("n_jobs", True), ("n_jobs", 10**400), ("n_estimators", 2**63),
        ("max_samples", 10**400), ("max_samples", np.nan),
    ],
)  # fmt: skip
def test_more_bad_parameters_of_a_forest(name, value):
    with pytest.raises(ValueError, match=name):
        clone(FOREST).set_params(**{name: value}).fit(X, Y)


def test_a_value_that_is_shown_is_not_endless():
    with pytest.raises(ValueError, match=r"max_depth must be .*; got an integer of 33216 bits\."):
        clone(TREE).set_params(max_depth=10**9999).fit(X, Y)
    with pytest.raises(ValueError, match=r"criterion must be .*xxx\.\.\.\.$"):
        clone(TREE).set_params(criterion="x" * 1000).fit(X, Y)


@MODELS
@pytest.mark.parametrize("weight", [1e140, 1e-160, 1e-320, 1e308])
def test_weights_that_nobody_can_compute_with(model, weight):
    fractions = clone(model).set_params(min_samples_leaf=0.1, min_samples_split=0.2)
    for prior in ("normal", "empirical"):
        with pytest.raises(
            ValueError, match=r"sum to .*; expected a sum between 1e-60 and 1e\+60\. Scale sample_weight"
        ):
            clone(fractions).set_params(prior=prior).fit(X, Y, sample_weight=np.full(30, weight))


@MODELS
@pytest.mark.parametrize("prior", ["normal", "empirical"])
@pytest.mark.filterwarnings("ignore:The errors of this table")
def test_some_objects_may_weigh_next_to_nothing(model, prior):
    model = clone(model).set_params(prior=prior)
    weight = np.where(np.arange(30) % 2 == 0, 1.0, 1e-300)
    found = model.fit(X, Y, X_err=1e100, sample_weight=weight).predict_proba(X, X_err=0.1)
    assert np.isfinite(found).all()
    found = model.fit(altered(X, (slice(0, 30, 2), 0), np.nan), Y, X_err=0.1, sample_weight=weight)
    assert np.isfinite(found.predict_proba(X, X_err=0.1)).all()
    assert np.isfinite(found.feature_importances_).all()


@MODELS
@pytest.mark.parametrize("y_proba", [None, np.full(30, 0.9)])
def test_a_class_without_weight_can_not_be_balanced(model, y_proba):
    weight = np.where(Y == 1, 1.0, 1e-320)
    model = clone(model).set_params(class_weight="balanced")
    if y_proba is None:
        with pytest.raises(ValueError, match=r'class_weight="balanced" can.t balance the class 0: its objects weigh 1'):
            model.fit(X, Y, sample_weight=weight)
    else:  # the other objects may be of the class, too
        assert np.isfinite(model.fit(X, Y, sample_weight=weight, y_proba=y_proba).predict_proba(X)).all()
    slight = model.fit(X, Y, sample_weight=np.where(Y == 1, 1.0, 1e-25), y_proba=y_proba)
    assert np.isfinite(slight.predict_proba(X)).all()


@pytest.mark.parametrize("scale", [1e300, 5e299, 1e-300, 5e-324])
@pytest.mark.parametrize("prior", [None, "normal", "empirical"])
def test_limits_of_a_feature_at_the_ends_of_what_is_a_number(scale, prior):
    values = np.sign(X) * np.minimum(np.abs(X), 1) * scale
    limit = np.where(np.arange(90).reshape(30, 3) % 4 == 0, 1, 0) - np.where(
        np.arange(90).reshape(30, 3) % 7 == 0, 1, 0
    )
    for error in (None, 0.1 * scale):
        forest = clone(FOREST).set_params(prior=prior).fit(values, Y, X_err=error, X_limit=limit)
        proba = forest.predict_proba(values, X_err=0.0 if error is None else error, X_limit=limit)
        np.testing.assert_allclose(proba.sum(axis=1), 1)


def test_a_fit_that_would_not_end_is_refused(monkeypatch):
    """Each of few heavy objects goes both ways at every split, and a leaf needs only the weight of one light one."""
    monkeypatch.setattr("probforest.trees.training_set._MANY_NODES", 20_000)
    tree = clone(TREE).set_params(keep_proba=0.0)
    with pytest.raises(ValueError, match=r"A tree grown on 20 objects has more than 20000 nodes.*Scale sample_weight"):
        tree.fit(X[:20], Y[:20], X_err=1.0, sample_weight=np.full(20, 1e8))
    tree.fit(X[:20], Y[:20], X_err=1.0, sample_weight=np.full(20, 10.0))
    tree.set_params(keep_proba=0.05).fit(X[:20], Y[:20], X_err=1.0, sample_weight=np.full(20, 1e8))


def test_parameters_that_contradict_each_other():
    with pytest.raises(ValueError, match="oob_score needs bootstrap=True"):
        clone(FOREST).set_params(bootstrap=False, oob_score=True).fit(X, Y)
    with pytest.raises(ValueError, match="max_samples must be None when bootstrap=False"):
        clone(FOREST).set_params(bootstrap=False, max_samples=5).fit(X, Y)


@MODELS
def test_queries(model):
    fitted = clone(model).fit(X, Y, X_err=0.1)
    with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 3"):
        fitted.predict(X[:, :2], X_err=0.1)
    with pytest.raises(ValueError, match="X is infinity at row 1, column 2"):
        fitted.predict(altered(X, (1, 2), np.inf), X_err=0.1)
    with pytest.raises(ValueError, match="X_err is -1"):
        fitted.predict(X, X_err=-1)
    with pytest.raises(NotFittedError):
        clone(model).predict(X, X_err=0.1)


@MODELS
def test_unknown_errors(model):
    errors = altered(np.full((30, 3), 0.2), (5, 1), np.nan)
    errors[6, 1] = 0.4
    filled = altered(errors, (5, 1), 0.2)
    for rule, value in (("median", 0.2), ("exact", 0.0)):
        found = clone(model).set_params(unknown_error=rule).fit(X, Y, X_err=errors)
        expected = clone(model).fit(X, Y, X_err=altered(errors, (5, 1), value))
        np.testing.assert_array_equal(
            found.predict_proba(X, X_err=errors), expected.predict_proba(X, X_err=altered(errors, (5, 1), value))
        )
    with pytest.raises(ValueError, match=r'X_err is NaN at row 5, column 1.*unknown_error="raise"'):
        clone(model).set_params(unknown_error="raise").fit(X, Y, X_err=errors)
    with pytest.raises(ValueError, match="X_err is NaN at row 5, column 1"):
        clone(model).set_params(unknown_error="raise").fit(X, Y, X_err=filled).predict(X, X_err=errors)
    # the first offender is found row by row
    earlier_column = altered(errors, (9, 0), np.nan)
    with pytest.raises(ValueError, match=r"X_err is NaN at row 5, column 1.*fitted without X_err"):
        clone(model).fit(X, Y).predict(X, X_err=earlier_column)
    # a model without errors has no median to take
    with pytest.raises(ValueError, match="the model was fitted without X_err"):
        clone(model).fit(X, Y).predict(X, X_err=errors)


@MODELS
def test_masked_and_nullable_values_are_missing(model):
    values, errors = altered(X, (3, 1), np.nan), altered(np.full((30, 3), 0.2), (4, 2), np.nan)
    expected = clone(model).fit(values, Y, X_err=errors).predict_proba(values, X_err=errors)
    masked = np.ma.masked_equal(np.nan_to_num(values, nan=-999.0), -999.0)
    masked_errors = np.ma.masked_invalid(errors)
    found = clone(model).fit(masked, Y, X_err=masked_errors).predict_proba(masked, X_err=masked_errors)
    np.testing.assert_array_equal(found, expected)
    frame, error_frame = pd.DataFrame(values).convert_dtypes(), pd.DataFrame(errors).convert_dtypes()
    found = clone(model).fit(frame, Y, X_err=error_frame).predict_proba(frame, X_err=error_frame)
    np.testing.assert_array_equal(found, expected)


@MODELS
def test_tables_whose_names_contradict_their_positions(model):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    errors = pd.DataFrame(np.full((30, 3), 0.2), columns=["e_a", "e_b", "e_c"])
    fitted = clone(model).fit(frame, Y, X_err=errors)
    with pytest.raises(ValueError, match="in fit it had"):
        fitted.predict(frame, X_err=errors[["e_b", "e_a", "e_c"]])
    fitted.predict(frame, X_err=0.2)
    with pytest.raises(ValueError, match="rows of X in another order"):
        clone(model).fit(frame, Y, X_err=errors[::-1])
    with pytest.raises(ValueError, match="columns of X in another order"):
        clone(model).fit(frame, Y, X_err=pd.Series([0.1, 0.2, 0.3], index=["c", "a", "b"]))


@MODELS
def test_weights_that_allow_no_split_are_noticed(model):
    with pytest.warns(UserWarning, match="No tree can have a split: the 30 objects weigh 1 in all"):
        clone(model).fit(X, Y, sample_weight=np.full(30, 1 / 30))
    with pytest.warns(UserWarning, match="No tree can have a split"):
        clone(model).fit(X, Y, y_proba=np.full(30, 0.55))
    light = clone(model).set_params(min_samples_leaf=0.1, min_samples_split=0.2)
    light.fit(X, Y, sample_weight=np.full(30, 1 / 30))  # fractions have no unit
    assert light.score(X, Y) > 0.8


@MODELS
def test_errors_at_prediction_only(model):
    proba = clone(model).fit(X, Y).predict_proba(X, X_err=5.0)
    assert (np.ptp(proba, axis=1) < np.ptp(clone(model).fit(X, Y).predict_proba(X), axis=1)).mean() > 0.8


@MODELS
def test_infinite_error_means_missing(model):
    errors = altered(np.full((30, 3), 0.2), (5, 1), np.inf)
    values = altered(X, (5, 1), np.nan)
    a, b = clone(model).fit(X, Y, X_err=errors), clone(model).fit(values, Y, X_err=0.2)
    np.testing.assert_array_equal(a.predict_proba(X, X_err=errors), b.predict_proba(values, X_err=0.2))


@MODELS
@pytest.mark.parametrize("missing", ["equal", "observed", "learned"])
@pytest.mark.filterwarnings("ignore:The errors of this table")
def test_things_that_work(model, missing):
    model = clone(model).set_params(missing=missing)
    assert model.fit(X, np.zeros(30)).predict_proba(X).tolist() == [[1.0]] * 30  # one class
    assert model.fit(X[:1], ["a"]).predict(X).tolist() == ["a"] * 30  # one row
    constant = model.fit(np.ones((30, 3)), Y).predict_proba(np.ones((2, 3)))
    np.testing.assert_allclose(constant[0], constant[1])
    values = X.copy()
    values[:, 1] = np.nan  # a feature that was never observed
    assert model.fit(values, Y, X_err=[0.1, 0.1, 0.1]).score(values, Y, X_err=0.1) > 0.8
    assert model.fit(values, Y, X_err=[0.1, np.nan, 0.1]).n_features_in_ == 3  # nor its error
    everything_missing = model.fit(np.full((30, 3), np.nan), Y).predict_proba(X)
    np.testing.assert_allclose(everything_missing.sum(axis=1), 1)
    weights = np.where(np.arange(30) < 10, 0.0, 1.0)
    assert model.fit(X, Y, sample_weight=weights).predict(X).shape == (30,)
    one_left = (np.arange(30) == 3).astype(float)
    assert set(model.fit(X, Y, sample_weight=one_left).predict(X)) == {Y[3]}
    assert model.fit(X, Y, y_proba=np.full(30, 0.8), classes=[0, 1, 2]).predict_proba(X).shape == (30, 3)
    assert model.fit(X, Y, X_err=1e-320).score(X, Y, X_err=1e-320) > 0.9  # 1/σ overflows: exact
    assert np.isfinite(model.fit(X * 1e299, Y, X_err=1e299).predict_proba(X, X_err=1e300)).all()


def test_class_weights():
    doubled = clone(TREE).set_params(class_weight={1: 2.0}, max_depth=1).fit(X, Y)
    repeated = clone(TREE).set_params(max_depth=1).fit(np.vstack([X, X[Y == 1]]), np.concatenate([Y, Y[Y == 1]]))
    np.testing.assert_allclose(doubled.predict_proba(X), repeated.predict_proba(X))
    zero = clone(FOREST).set_params(class_weight={0: 0.0}).fit(X, Y)
    assert set(zero.predict(X)) == {1}
    # a superset of the classes is what cross-validation may need
    clone(FOREST).set_params(class_weight={0: 1.0, 1: 2.0, 2: 3.0}).fit(X, Y)


def test_deep_trees_overflow_nothing():
    n = 100_000
    line = np.arange(n, dtype=float)[:, None]
    alternating = np.arange(n) % 2
    tree = ProbabilisticDecisionTreeClassifier().fit(line, alternating)
    assert tree.predict_proba(line).shape == (n, 2)
    steps = np.floor(line / 34)  # alternating again, but each value is a bin: a tree that splits off one at a time
    deep = ProbabilisticDecisionTreeClassifier(max_bins=5000, missing="equal").fit(steps, steps[:, 0] % 2)
    assert deep.get_depth() > 1100  # deep enough for a probability of 0.5^depth to vanish
    assert deep.score(steps, steps[:, 0] % 2) == 1.0
    assert np.isfinite(deep.predict_proba(np.array([[np.nan], [5.0]]), X_err=0.0)).all()
