"""Columns of tables with errors: found by name, named beside importances, empty, scaled by a transformer."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from error_table import LOWER, PAIR_MAP, RANDOM, VALUES, N, Y, forest, make_table
from probforest import Errors, ProbabilisticDecisionTreeClassifier, load, save

TREE = ProbabilisticDecisionTreeClassifier(error_columns="auto", random_state=0)


@pytest.mark.parametrize("kind", ["pandas", "polars", "astropy"])
def test_columns_are_found_by_name(kind):
    table = make_table()
    model = forest(error_columns="auto", sentinels={"c": -9999}).fit(table, Y)
    other = table[table.columns[::-1]].assign(objid=np.arange(N), e_z=-1.0)
    other.loc[:4, "c"] = -9999
    if kind == "polars":
        other = pytest.importorskip("polars").DataFrame({name: column.to_numpy() for name, column in other.items()})
    if kind == "astropy":
        other = pytest.importorskip("astropy.table").Table.from_pandas(other)
    table.loc[:4, "c"] = np.nan
    np.testing.assert_array_equal(model.predict_proba(other), model.predict_proba(table))


def test_columns_of_a_prediction_must_be_those_of_the_fit():
    table = make_table()
    model = forest(error_columns="auto").fit(table, Y)
    with pytest.raises(ValueError, match="X lacks the column 'e_b', which it had in fit; it has 'a', 'a_err1'"):
        model.predict(table.drop(columns="e_b"))
    with pytest.raises(ValueError, match="X has two columns with the name 'a'"):
        model.predict(pd.concat([table, table[["a"]]], axis=1))
    with pytest.warns(UserWarning, match="valid feature names"):
        np.testing.assert_array_equal(model.predict_proba(table.to_numpy()), model.predict_proba(table))
    with (
        pytest.warns(UserWarning, match="valid feature names"),
        pytest.raises(ValueError, match="expecting 9 features"),
    ):
        model.predict(table.to_numpy()[:, 1:])


def test_without_error_columns_the_message_says_which_columns_to_select():
    table = make_table()
    model = forest().fit(table, Y)
    remedy = r"feature names should match(.|\n)*Select them with X\[list\(model.feature_names_in_\)\]"
    for other in (table[table.columns[::-1]], table.assign(objid=0)):
        with pytest.raises(ValueError, match=remedy):
            model.predict(other)
        np.testing.assert_array_equal(model.predict(other[list(model.feature_names_in_)]), model.predict(table))
    with pytest.raises(ValueError, match="now missing") as caught:
        model.predict(table.drop(columns="e_b"))
    assert "Select them" not in str(caught.value)


# Names


@pytest.mark.parametrize("model", [forest(error_columns="auto"), TREE], ids=["forest", "tree"])
def test_importances_have_names(model, tmp_path):
    model = clone(model).fit(make_table(), Y)
    assert model.feature_names_.tolist() == ["a", "b", "c"]
    importances = pd.Series(model.feature_importances_, index=model.feature_names_)
    assert importances.idxmax() == "a"
    of_columns = pd.Series(model.column_importances_, index=model.feature_names_in_)
    for name, columns in {"a": ["a_err1", "a_err2"], "b": ["e_b"], "c": ["cerr1", "cerr2", "clim"]}.items():
        assert (of_columns[[name, *columns]] == importances[name]).all()
    save(model, tmp_path / "m.prf")
    np.testing.assert_array_equal(load(tmp_path / "m.prf").feature_names_, model.feature_names_)
    np.testing.assert_array_equal(load(tmp_path / "m.prf").column_importances_, model.column_importances_)


def test_names_of_features_without_error_columns():
    assert forest().fit(make_table(), Y).feature_names_.tolist() == list(make_table().columns)
    assert forest().fit(VALUES, Y).feature_names_.tolist() == ["x0", "x1", "x2"]
    numbered = forest().fit(pd.DataFrame(VALUES), Y)
    assert numbered.feature_names_.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(numbered.column_importances_, numbered.feature_importances_)
    with pytest.raises(NotFittedError):
        _ = forest().feature_names_


def test_select_from_model_keeps_values_with_their_errors():
    table = make_table()
    selector = SelectFromModel(forest(error_columns="auto"), importance_getter="column_importances_", threshold=0.4)
    pipeline = make_pipeline(selector.set_output(transform="pandas"), forest(error_columns="auto")).fit(table, Y)
    assert list(pipeline[0].get_feature_names_out()) == ["a", "a_err1", "a_err2"]
    assert list(pipeline[1].error_pairs_) == ["a"]
    assert pipeline.score(table, Y) > 0.8


def test_selectors_are_told_about_importances_of_columns():
    table = make_table()
    selector = SelectFromModel(forest(error_columns="auto")).fit(table, Y)
    with pytest.raises(ValueError, match='importance_getter="column_importances_"'):
        selector.transform(table)
    assert SelectFromModel(forest()).fit(make_table(), Y).get_support().shape == (9,)  # every column is a feature


# Error columns that say nothing


def test_an_empty_error_column_is_left_out_with_a_warning(tmp_path):
    table = make_table().assign(e_b=np.nan)
    message = "'e_b' has no number beside a value of 'b' .* taken as exact"
    with pytest.warns(UserWarning, match=message):
        model = forest(error_columns="auto").fit(table, Y)
    assert model.error_pairs_["b"] is None
    without = forest(error_columns="auto").fit(table.drop(columns="e_b"), Y)
    np.testing.assert_array_equal(model.predict_proba(table), without.predict_proba(table))
    np.testing.assert_array_equal(model.predict_proba(make_table()), without.predict_proba(make_table()))
    save(model, tmp_path / "m.prf")
    np.testing.assert_array_equal(load(tmp_path / "m.prf").predict_proba(table), model.predict_proba(table))
    with pytest.warns(UserWarning, match=message):
        mapped = forest(error_columns=PAIR_MAP, sentinels={"*": -9999}).fit(make_table().assign(e_b=-9999), Y)
    np.testing.assert_array_equal(mapped.predict_proba(table), without.predict_proba(table))


def test_errors_that_are_known_only_where_a_value_is_missing():
    table = make_table()
    table["e_b"] = np.where(np.arange(N) < 10, 0.1, np.nan)
    table.loc[:9, "b"] = np.nan
    with pytest.warns(UserWarning, match="'e_b' has no number beside a value of 'b'"):
        assert forest(error_columns="auto").fit(table, Y).error_pairs_["b"] is None


def test_both_sides_may_be_empty_but_not_one():
    empty = make_table().assign(a_err1=np.nan, a_err2=np.nan, cerr1=np.nan, cerr2=np.nan)
    with pytest.warns(UserWarning, match="have no number beside a value of") as caught:
        model = forest(error_columns="auto").fit(empty, Y)
    assert model.error_pairs_["a"] is None
    assert model.error_pairs_["c"] == Errors(limit="clim")
    assert [str(each.message).split(" have")[0] for each in caught] == ["'a_err2' and 'a_err1'", "'cerr2' and 'cerr1'"]
    with pytest.raises(ValueError, match=r"'a_err2', the lower error of 'a', has no number .* 'a_err1', has"):
        forest(error_columns="auto").fit(make_table().assign(a_err2=np.nan), Y)


def test_errors_without_weight_are_named():
    table = make_table()
    table["e_b"] = np.where(np.arange(N) < 10, 0.1, np.nan)
    with pytest.raises(ValueError, match="column 'e_b' of X is NaN; no error of this column is known"):
        forest(error_columns="auto").fit(table, Y, sample_weight=np.where(np.arange(N) < 10, 0.0, 1.0))


def test_auto_that_finds_nothing_says_so():
    with pytest.warns(UserWarning, match="error_columns=\"auto\" found no error column among 'a', 'b'") as caught:
        model = forest(error_columns="auto").fit(make_table()[["a", "b"]], Y)
    assert caught[0].filename == __file__
    model.predict(make_table()[["a", "b"]])  # without another warning
    forest(error_columns={}).fit(make_table()[["a", "b"]], Y)


# Transformers in front of the forest


@pytest.mark.parametrize("scaler", [StandardScaler(), RobustScaler(), MinMaxScaler(), FunctionTransformer(np.asarray)])
def test_a_transformer_that_loses_names_is_named(scaler):
    with pytest.raises(ValueError, match=r"X has none\. .*StandardScaler.* set_output"):
        make_pipeline(scaler, forest(error_columns="auto")).fit(make_table(), Y)


@pytest.mark.parametrize("scaler", [StandardScaler(), RobustScaler()])
def test_a_scaler_that_keeps_names_is_refused(scaler):
    table = make_table().drop(columns="clim")
    pipeline = make_pipeline(scaler.set_output(transform="pandas"), forest(error_columns="auto"))
    with pytest.raises(ValueError, match=rf"as after a {type(scaler).__name__}: .* Leave it out"):
        pipeline.fit(table, Y)


def test_ordinary_columns_look_like_no_scaler():
    """Counts of which most are 0, with errors of which most are 0, have medians of 0 but no negative errors."""
    counts = np.where(np.arange(N) % 3 == 0, RANDOM.poisson(9, N), 0)
    table = pd.DataFrame(
        {"n": counts, "n_err": np.sqrt(counts), "flag": np.arange(N) % 2, "flag_err": np.arange(N) % 2}
    )
    forest(error_columns="auto").fit(table, Y)


@pytest.mark.parametrize("scaler", [StandardScaler(with_mean=False), MinMaxScaler(), MaxAbsScaler()])
def test_a_scaler_that_leaves_errors_possible_is_warned_about(scaler):
    table = make_table().assign(cerr2=LOWER[:, 2], a_err2=LOWER[:, 0]).drop(columns="clim")
    pipeline = make_pipeline(scaler.set_output(transform="pandas"), forest(error_columns="auto"))
    with pytest.warns(UserWarning, match="as after a .*Scaler"):
        pipeline.fit(table, Y)
