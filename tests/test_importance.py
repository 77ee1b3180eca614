"""Permutation importance: scikit-learn's, with every value in the company of its error, limit and samples."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import sklearn.inspection
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import accuracy_score

from probforest import ProbabilisticRandomForestClassifier
from probforest.importance import permutation_importance
from probforest.metrics import get_scorer, make_scorer

FOREST = ProbabilisticRandomForestClassifier(n_estimators=10, random_state=0)


@pytest.fixture(scope="module")
def data():
    """Two classes; the second feature is noise. Errors, limits and samples are functions of the values."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    X[:, 2] *= 0.1
    y = (X[:, 0] + X[:, 2] > 0).astype(int)
    return X, y


def company(X):
    """Errors, limits and samples that tell which value they belong to."""
    return {"X_err": X * X, "X_limit": np.sign(X), "X_samples": np.stack([X, 2 * X], axis=2)}


class Witness(ClassifierMixin, BaseEstimator):
    """Notes what it is asked with; predicts the sign of the first column."""

    def fit(self, X=None, y=None):
        self.classes_, self.asked_ = np.array([0, 1]), []
        return self

    def predict(self, X, **errors):
        self.asked_.append((X, errors))
        return (np.asarray(X)[:, 0] > 0).astype(int)

    def score(self, X, y, sample_weight=None, **errors):
        return accuracy_score(y, self.predict(X, **errors), sample_weight=sample_weight)


def test_noise_is_not_important(data):
    X, y = data
    X_err = np.full(X.shape, 0.05)
    forest = clone(FOREST).fit(X, y, X_err=X_err)
    result = permutation_importance(forest, X, y, X_err=X_err, random_state=0)
    assert result.importances.shape == (3, 5)
    assert result.importances_mean[0] > 0.3
    assert abs(result.importances_mean[1]) < 0.05
    np.testing.assert_array_equal(result.importances_mean, result.importances.mean(axis=1))
    np.testing.assert_array_equal(result.importances_std, result.importances.std(axis=1))
    assert "feature_names" not in result


def test_a_feature_drowned_in_its_errors_is_not_important(data):
    """However well its values tell the classes."""
    _, y = data
    X = np.column_stack([np.where(y, 0.5, -0.5), np.where(y, -0.5, 0.5)])
    X_err = np.column_stack([np.full(len(y), 0.1), np.full(len(y), 100.0)])
    forest = clone(FOREST).fit(X, y, X_err=X_err)
    result = permutation_importance(forest, X, y, X_err=X_err, random_state=0)
    assert result.importances_mean[0] > 0.3
    assert result.importances_mean[1] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("scoring", [None, "accuracy", make_scorer(accuracy_score)])
def test_a_value_keeps_its_company(data, scoring):
    X, y = data
    witness = Witness().fit()
    permutation_importance(witness, X, y, **company(X), scoring=scoring, n_repeats=2, random_state=0)
    assert len(witness.asked_) == 1 + 3 * 2
    for call, (asked, errors) in enumerate(witness.asked_):
        for name, expected in company(asked).items():
            np.testing.assert_array_equal(errors[name], expected)
        moved = (asked != X).any(axis=0)
        assert moved.tolist() == [call > 0 and feature == (call - 1) // 2 for feature in range(3)]
        np.testing.assert_array_equal(np.sort(asked, axis=0), np.sort(X, axis=0))


@pytest.mark.parametrize("kind", ["list", "pandas", "polars", "masked"])
def test_every_kind_of_table_moves(data, kind):
    X, y = data
    names = ["a", "b", "c"]
    make = {"list": np.ndarray.tolist, "masked": lambda table: np.ma.masked_less(table, -1.0)}
    make["pandas"] = lambda table: pd.DataFrame(table, columns=names, index=np.arange(len(table))[::-1])
    if kind == "polars":
        polars = pytest.importorskip("polars")
        make["polars"] = lambda table: polars.DataFrame(dict(zip(names, table.T, strict=True)))
    witness, expected = Witness().fit(), Witness().fit()
    tables = {"X_err": (make[kind](X * X), make[kind](-X)), "X_limit": make[kind](np.sign(X))}
    result = permutation_importance(witness, make[kind](X), y, **tables, random_state=0)
    arrays = {"X_err": (X * X, -X), "X_limit": np.sign(X)}
    permutation_importance(expected, X, y, **arrays, random_state=0)
    for (asked, errors), (values, limits) in zip(witness.asked_, expected.asked_, strict=True):
        assert type(asked) is type(witness.asked_[0][0]) or kind == "list"
        np.testing.assert_array_equal(np.asarray(asked), values)
        np.testing.assert_array_equal(np.asarray(errors["X_limit"]), limits["X_limit"])
        for side in range(2):
            np.testing.assert_array_equal(np.asarray(errors["X_err"][side]), limits["X_err"][side])
        if kind == "masked":
            np.testing.assert_array_equal(asked.mask, values < -1)
        if kind == "pandas":
            assert asked.index.equals(witness.asked_[0][0].index)
    assert result.get("feature_names", np.array(names)).tolist() == names
    assert ("feature_names" in result) == (kind in ("pandas", "polars"))


@pytest.mark.parametrize("X_err", [0, 0.5, [0.1, 0.2, 0.3], pd.Series([0.1, 0.2, 0.3]), (0.1, [0.1, 0.2, 0.3])])
def test_errors_that_all_objects_share_do_not_move(data, X_err):
    X, y = data
    witness = Witness().fit()
    permutation_importance(witness, X, y, X_err=X_err, n_repeats=1)
    for _, errors in witness.asked_:
        assert list(errors) == ["X_err"]
        assert errors["X_err"] is X_err or errors["X_err"] == X_err


def test_a_mixed_pair_moves_where_there_is_something_to_move(data):
    X, y = data
    witness = Witness().fit()
    permutation_importance(witness, X, y, X_err=(0.1, X * X), n_repeats=1, random_state=0)
    for asked, errors in witness.asked_:
        lower, upper = errors["X_err"]
        assert lower == 0.1
        np.testing.assert_array_equal(upper, asked * asked)


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_table_that_carries_its_errors(data, package):
    X, y = data
    frames = pytest.importorskip(package)
    columns = {"e_b": X[:, 1] ** 2, "a": X[:, 0], "note": np.arange(150), "b": X[:, 1], "lim": np.sign(X[:, 1])}
    table = frames.DataFrame({**columns, "c": X[:, 2]})
    witness = Witness().fit()
    witness.error_pairs_ = {"c": None, "b": SimpleNamespace(columns=("e_b", "lim")), "a": None}
    result = permutation_importance(witness, table, y, n_repeats=4, random_state=0)
    assert result.feature_names.tolist() == ["c", "b", "a"]
    assert result.importances.shape == (3, 4)
    for asked, errors in witness.asked_:
        assert errors == {}
        assert list(asked.columns) == list(table.columns)
        value = np.asarray(asked["b"])
        np.testing.assert_array_equal(asked["e_b"], value**2)
        np.testing.assert_array_equal(asked["lim"], np.sign(value))
        np.testing.assert_array_equal(asked["note"], np.arange(150))
    assert (np.asarray(witness.asked_[5][0]["b"]) != X[:, 1]).any()
    with pytest.raises(ValueError, match="X lacks the columns"):
        permutation_importance(witness, table[["a", "b", "c"]], y)
    with pytest.raises(ValueError, match="X has no column names"):
        permutation_importance(witness, X, y)


def test_a_model_without_pairs_of_columns_is_like_any_other(data):
    X, y = data
    witness = Witness().fit()
    witness.error_pairs_ = None
    assert permutation_importance(witness, X, y, n_repeats=1).importances.shape == (3, 1)


def test_without_errors_it_is_that_of_scikit_learn(data):
    X, y = data
    model = LinearDiscriminantAnalysis().fit(X, y)
    options = {"n_repeats": 100, "scoring": "neg_log_loss", "sample_weight": np.linspace(0, 1, len(y))}
    ours = permutation_importance(model, X, y, random_state=0, **options)
    theirs = sklearn.inspection.permutation_importance(model, X, y, random_state=1, **options)
    spread = theirs.importances_std / np.sqrt(100)
    assert (np.abs(ours.importances_mean - theirs.importances_mean) <= 5 * np.sqrt(2) * spread).all()
    np.testing.assert_allclose(ours.importances_std, theirs.importances_std, rtol=0.25)


def test_importances_are_lost_score(data):
    """By hand, from what a witness saw."""
    X, y = data
    weight = np.linspace(0, 1, len(y))
    witness = Witness().fit()
    result = permutation_importance(witness, X, y, n_repeats=3, sample_weight=weight, random_state=0)
    scores = [accuracy_score(y, asked[:, 0] > 0, sample_weight=weight) for asked, _ in witness.asked_]
    np.testing.assert_array_equal(result.importances, scores[0] - np.reshape(scores[1:], (3, 3)))


def test_the_same_seed_gives_the_same_numbers(data):
    X, y = data
    first, again, other = (
        permutation_importance(Witness().fit(), X, y, random_state=seed).importances for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


@pytest.mark.parametrize("as_frame", [False, True])
def test_the_callers_tables_stay_as_they_are(data, as_frame):
    X, y = data
    tables = {"X": X, **company(X)}
    if as_frame:
        tables = {name: pd.DataFrame(table) if table.ndim == 2 else table for name, table in tables.items()}
    before = {name: np.array(table) for name, table in tables.items()}
    permutation_importance(Witness().fit(), tables.pop("X"), y, **tables, random_state=0)
    for name, table in {"X": X, **tables}.items():
        np.testing.assert_array_equal(np.asarray(table), before[name])


def test_read_only_arrays_will_do(data):
    X, y = data
    X = X.copy()
    X.flags.writeable = False
    permutation_importance(Witness().fit(), X, y, X_err=X, n_repeats=1)


def test_columns_keep_their_type():
    X = pd.DataFrame({"n": [1, 2, 3], "x": [0.1, 0.2, 0.3], "k": pd.array([1, None, 3], dtype="Int64")})
    witness = Witness().fit()
    permutation_importance(witness, X, [0, 1, 0], scoring=lambda model, X, y: model.asked_.append((X, {})) or 0.0)
    for asked, _ in witness.asked_:
        assert asked.dtypes.tolist() == X.dtypes.tolist()


def test_what_is_wrong_is_named(data):
    X, y = data
    witness = Witness().fit()
    with pytest.raises(ValueError, match="n_repeats must be an integer from 1 to"):
        permutation_importance(witness, X, y, n_repeats=0)
    with pytest.raises(ValueError, match="scoring must be"):
        permutation_importance(witness, X, y, scoring=3)
    with pytest.raises(ValueError, match=r"X has shape \(150,\)"):
        permutation_importance(witness, X[:, 0], y)
    forest = clone(FOREST).fit(X, y, X_err=0.1)
    with pytest.raises(ValueError, match="X_err has shape"):
        permutation_importance(forest, X, y, X_err=np.ones((3, 3)))


def test_scores_of_a_forest_are_asked_with_errors(data):
    X, y = data
    X_err = np.abs(X)
    forest = clone(FOREST).fit(X, y, X_err=X_err)
    options = {"X_err": X_err, "n_repeats": 2, "random_state": 0}
    by_name = permutation_importance(forest, X, y, scoring="neg_log_loss", **options)
    by_scorer = permutation_importance(forest, X, y, scoring=get_scorer("neg_log_loss"), **options)
    np.testing.assert_array_equal(by_name.importances, by_scorer.importances)
    own, accuracy = (permutation_importance(forest, X, y, scoring=scoring, **options) for scoring in (None, "accuracy"))
    np.testing.assert_array_equal(own.importances, accuracy.importances)
