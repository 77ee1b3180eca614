"""Tables that bring their errors along: DataFrames and astropy's tables, units, sentinels, scikit-learn's tools."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier
from sklearn.inspection import permutation_importance as plain_permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_validate

from error_table import LIMIT, LOWER, PAIR_MAP, RANDOM, TRUTH, UPPER, VALUES, N, Y, forest, make_table
from probforest import ProbabilisticDecisionTreeClassifier
from probforest.importance import permutation_importance


def by_hand():
    """The same as arrays."""
    upper = np.column_stack([UPPER[:, 0], LOWER[:, 1], UPPER[:, 2]])
    limit = np.column_stack([np.zeros((N, 2)), LIMIT[:, 2]])
    about = {"X_err": (LOWER, upper), "X_limit": limit}
    return forest().fit(VALUES, Y, **about).predict_proba(VALUES, **about)


@pytest.mark.parametrize("error_columns", ["auto", PAIR_MAP], ids=["auto", "mapping"])
def test_a_table_is_the_same_as_its_arrays(error_columns):
    table = make_table()
    model = forest(error_columns=error_columns).fit(table, Y)
    np.testing.assert_array_equal(model.predict_proba(table), by_hand())
    assert list(model.error_pairs_) == ["a", "b", "c"]
    assert model.error_pairs_["c"].limit == "clim"
    assert model.n_features_in_ == 9
    assert len(model.feature_importances_) == 3
    pd.testing.assert_frame_equal(table, make_table())


def test_without_error_columns_every_column_is_a_feature():
    model = forest().fit(make_table(), Y)
    assert model.error_pairs_ is None
    assert len(model.feature_importances_) == 9


def test_polars():
    polars = pytest.importorskip("polars")
    table = polars.DataFrame({name: column.to_numpy() for name, column in make_table().items()})
    np.testing.assert_array_equal(forest(error_columns="auto").fit(table, Y).predict_proba(table), by_hand())


def test_the_tree_takes_tables_too():
    table = make_table()
    tree = ProbabilisticDecisionTreeClassifier(error_columns="auto", random_state=0).fit(table, Y)
    assert tree.score(table, Y) > 0.8
    assert len(tree.feature_importances_) == 3


def test_cross_validation_searches_calibration_and_stacking_need_no_routing():
    table, model = make_table(), forest(error_columns="auto")
    assert np.mean(cross_validate(model, table, Y, scoring=["accuracy", "neg_log_loss"])["test_accuracy"]) > 0.7
    assert cross_val_predict(model, table, Y, method="predict_proba").shape == (N, 2)
    search = GridSearchCV(model, {"keep_proba": [0.05, 0.5], "prior": [None, "normal"]}, scoring="roc_auc", cv=3)
    assert search.fit(table, Y).best_score_ > 0.75
    calibrated = CalibratedClassifierCV(model, cv=3).fit(table, Y)
    assert calibrated.score(table, Y) > 0.8
    stack = StackingClassifier([("prf", model)], LogisticRegression(), cv=3).fit(table, Y)
    assert stack.score(table, Y) > 0.8
    clone(model)


def test_permutation_importance_moves_a_value_with_its_errors():
    table = make_table()
    model = forest(error_columns="auto").fit(table, Y)
    assert plain_permutation_importance(model, table, Y, random_state=0).importances_mean.shape == (9,)
    together = permutation_importance(model, table, Y, random_state=0)
    assert list(together.feature_names) == ["a", "b", "c"]
    assert together.importances_mean.argmax() == 0


def test_label_probabilities_beside_a_table():
    table = make_table()
    model = forest(error_columns="auto").fit(table, Y, y_proba=RANDOM.uniform(0.6, 1, N))
    assert model.score(table, Y) > 0.8


def test_verbose_reports_the_pairs(capsys):
    forest(error_columns="auto", verbose=1).fit(make_table(), Y)
    assert "a: -a_err2 +a_err1" in capsys.readouterr().out


def test_sentinels_are_missing_values():
    table = make_table()
    table.loc[3, "a"], table.loc[4, "b"], table.loc[5, "e_b"] = 99.0, -9999.0, -9999.0
    model = forest(error_columns="auto", sentinels={"a": [99, 98], "*": -9999}).fit(table, Y)
    clean = table.replace(-9999.0, np.nan)
    clean.loc[3, "a"] = np.nan
    expected = forest(error_columns="auto").fit(clean, Y).predict_proba(clean)
    np.testing.assert_array_equal(model.predict_proba(table), expected)
    by_number = forest(sentinels={0: 99}).fit(np.where(TRUTH > 2, 99.0, TRUTH), Y)
    expected = forest().fit(np.where((TRUTH > 2) & (np.arange(3) == 0), np.nan, np.where(TRUTH > 2, 99.0, TRUTH)), Y)
    np.testing.assert_array_equal(by_number.predict_proba(TRUTH), expected.predict_proba(TRUTH))


@pytest.mark.parametrize(
    ("options", "change", "message"),
    [
        ({"error_columns": "auto"}, lambda t: t.drop(columns="b"), "'e_b' looks like the error of 'b'"),
        ({"error_columns": "auto"}, lambda t: t.assign(b_err=1.0), "e_b.*b_err|b_err.*e_b"),
        ({"error_columns": "auto"}, lambda t: t.to_numpy(), "error_columns needs a table with names"),
        ({"error_columns": {"a": "nothing"}}, lambda t: t, "'nothing'"),
        ({"error_columns": "guess"}, lambda t: t, "error_columns must be"),
        ({"error_columns": "auto"}, lambda t: t.assign(name="x"), "no number in column 'name'"),
        ({"error_columns": "auto"}, lambda t: t.assign(clim=2.0), r"column .clim. of X is 2.0 at row 0; expected \+1"),
        ({"error_columns": "auto"}, lambda t: t.assign(e_b=-1.0), "column 'e_b' of X is -1.0 at row 0; expected"),
        ({"error_columns": "auto"}, lambda t: t.assign(a_err1=-1.0), "column 'a_err1' of X is -1.0 at row 0; expected"),
        ({}, lambda t: t.assign(b=np.inf), "column 'b' of X is infinity at row 0; expected a finite"),
        ({"sentinels": {"z": 9}}, lambda t: t, "sentinels names the column 'z'"),
        ({"sentinels": {"a": "n/a"}}, lambda t: t, r"sentinels\['a'\] must be a number"),
        ({"sentinels": -9999}, lambda t: t, "sentinels must be a mapping"),
    ],
)
def test_bad_tables(options, change, message):
    with pytest.raises(ValueError, match=message):
        forest(**options).fit(change(make_table()), Y)


def test_errors_come_from_one_place():
    with pytest.raises(ValueError, match="X_err is given, but error_columns says"):
        forest(error_columns="auto").fit(make_table(), Y, X_err=0.1)


# astropy


@pytest.fixture
def astropy():
    return pytest.importorskip("astropy")


def astropy_table(kind, unit="mag", error_unit="mag"):
    from astropy import units
    from astropy.table import QTable, Table

    table = make_table()
    made = {"Table": Table, "QTable": QTable}[kind]()
    for name, column in table.items():
        made[name] = column.to_numpy()
    made["a"].unit = unit
    made["a_err1"].unit = made["a_err2"].unit = error_unit
    return (QTable if kind == "QTable" else Table)(made), units


@pytest.mark.usefixtures("astropy")
@pytest.mark.parametrize("kind", ["Table", "QTable"])
def test_astropy_tables(kind):
    table, _ = astropy_table(kind)
    model = forest(error_columns="auto").fit(table, Y)
    np.testing.assert_array_equal(model.predict_proba(table), by_hand())
    np.testing.assert_array_equal(model.predict_proba(make_table()), by_hand())


@pytest.mark.usefixtures("astropy")
@pytest.mark.parametrize("kind", ["Table", "QTable"])
def test_units_are_converted_or_refused(kind):
    table, units = astropy_table(kind, "m", "cm")
    table["a_err1"], table["a_err2"] = 100 * table["a_err1"], 100 * table["a_err2"]
    if kind == "Table":
        table["a_err1"].unit = table["a_err2"].unit = units.cm
    model = forest(error_columns="auto").fit(table, Y)
    np.testing.assert_allclose(model.predict_proba(table), by_hand(), atol=1e-5)
    other, _ = astropy_table("QTable", "m", "m")
    for name in ("a", "a_err1", "a_err2"):
        other[name] = other[name].to("km")
    np.testing.assert_allclose(model.predict_proba(other), by_hand(), atol=1e-5)
    wrong, _ = astropy_table("QTable", "s", "s")
    with pytest.raises(ValueError, match="column 'a' of X has the unit s, which can't be converted to m"):
        model.predict(wrong)
    wrong, _ = astropy_table("QTable", "m", "s")
    with pytest.raises(ValueError, match="'a_err2', the error of 'a', has the unit s"):
        forest(error_columns="auto").fit(wrong, Y)


@pytest.mark.usefixtures("astropy")
def test_masked_columns_are_missing():
    from astropy.table import MaskedColumn, QTable, Table
    from astropy.utils.masked import Masked

    table, units = astropy_table("Table")
    mask = np.arange(N) % 10 == 0
    masked = Table(table)
    masked["b"] = MaskedColumn(np.where(mask, 77.0, VALUES[:, 1]), mask=mask)
    expected = make_table()
    expected.loc[mask, "b"] = np.nan
    expected = forest(error_columns="auto").fit(expected, Y).predict_proba(expected)
    np.testing.assert_array_equal(forest(error_columns="auto").fit(masked, Y).predict_proba(masked), expected)
    quantity = QTable(table)
    quantity["b"] = Masked(np.where(mask, 77.0, VALUES[:, 1]) * units.one, mask=mask)
    np.testing.assert_array_equal(forest(error_columns="auto").fit(quantity, Y).predict_proba(quantity), expected)


@pytest.mark.usefixtures("astropy")
def test_distributions_of_astropy_are_samples():
    from astropy import uncertainty
    from astropy.table import Table

    draws = VALUES[:, :, None] + 0.3 * np.random.default_rng(1).normal(size=(N, 3, 50))
    expected = forest().fit(VALUES, Y, X_samples=draws).predict_proba(VALUES, X_samples=draws)
    distribution = uncertainty.Distribution(draws)
    found = forest().fit(VALUES, Y, X_samples=distribution).predict_proba(VALUES, X_samples=distribution)
    np.testing.assert_array_equal(found, expected)
    table = Table({name: uncertainty.Distribution(draws[:, j]) for j, name in enumerate("abc")})
    for error_columns in (None, "auto"):
        model = forest(error_columns=error_columns).fit(table, Y)  # and no warning that there are no error columns
        np.testing.assert_array_equal(model.predict_proba(table), expected)
    with pytest.raises(ValueError, match="give them as X_samples"):
        forest().fit(distribution, Y)


@pytest.mark.usefixtures("astropy")
def test_quantities_as_arrays():
    from astropy import units

    model = forest().fit(VALUES * units.m, Y, X_err=100 * LOWER * units.cm)
    expected = forest().fit(VALUES, Y, X_err=LOWER).predict_proba(VALUES, X_err=LOWER)
    asked = model.predict_proba(1000 * VALUES * units.mm, X_err=1000 * LOWER * units.mm)
    # a conversion is rounded, which may decide a tie, and so change the answers of a few objects
    assert np.mean(np.abs(asked - expected) < 1e-6) > 0.9
    with pytest.raises(ValueError, match="X_err has the unit s, which can't be converted to m"):
        model.predict(VALUES * units.m, X_err=LOWER * units.s)
    with pytest.raises(ValueError, match="X_err has the unit s, but X has none"):
        forest().fit(VALUES, Y, X_err=LOWER * units.s)


@pytest.mark.usefixtures("astropy")
def test_masks_of_astropy_arrays_are_missing():
    from astropy import units
    from astropy.utils.masked import Masked

    mask = np.arange(3 * N).reshape(N, 3) % 10 == 0
    holes, unknown = np.where(mask, np.nan, VALUES), np.where(mask[::-1], np.nan, LOWER)
    expected = forest().fit(holes, Y, X_err=unknown).predict_proba(holes, X_err=unknown)
    X, X_err = Masked(VALUES, mask=mask), Masked(LOWER, mask=mask[::-1])
    np.testing.assert_array_equal(forest().fit(X, Y, X_err=X_err).predict_proba(X, X_err=X_err), expected)
    X, X_err = X * units.m, X_err * units.m
    np.testing.assert_array_equal(forest().fit(X, Y, X_err=X_err).predict_proba(X, X_err=X_err), expected)
    pair = np.ma.MaskedArray(np.stack([LOWER, UPPER], axis=2), mask=np.stack([mask, mask], axis=2))
    found = forest().fit(VALUES, Y, X_err=pair).median_errors_
    np.testing.assert_array_equal(found, np.nanmedian(np.where(mask, np.nan, np.stack([LOWER, UPPER])), axis=1))


@pytest.mark.usefixtures("astropy")
def test_units_of_samples():
    from astropy import uncertainty, units

    draws = VALUES[:, :, None] + np.random.default_rng(1).normal(size=(N, 3, 16))
    model = forest().fit(VALUES * units.m, Y, X_samples=draws * units.m)
    expected = model.predict_proba(VALUES * units.m, X_samples=draws * units.m)
    other = uncertainty.Distribution(1000 * draws * units.mm)
    np.testing.assert_allclose(model.predict_proba(VALUES * units.m, X_samples=other), expected, atol=0.05)
    with pytest.raises(ValueError, match="X_samples has the unit s, which can't be converted to m"):
        model.predict(VALUES * units.m, X_samples=draws * units.s)


@pytest.mark.usefixtures("astropy")
def test_units_that_have_nothing_to_be_compared_with_are_refused():
    from astropy import units
    from astropy.table import QTable

    plain = QTable({"a": VALUES[:, 0], "e_a": LOWER[:, 0]})
    with_unit = QTable({"a": VALUES[:, 0] * units.m, "e_a": LOWER[:, 0] * units.m})
    odd = QTable({"a": VALUES[:, 0], "e_a": LOWER[:, 0] * units.m})
    with pytest.raises(ValueError, match="column 'a' of X has the unit m, but there is none to compare it with"):
        forest(error_columns="auto").fit(plain, Y).predict(with_unit)
    with pytest.raises(ValueError, match="'e_a', the error of 'a', has the unit m, but 'a' has none"):
        forest(error_columns="auto").fit(odd, Y)
    forest(error_columns="auto").fit(with_unit, Y).predict(plain)  # taken as it is
    magnitudes = QTable({"a": (VALUES[:, 0] + 20) * units.ABmag, "e_a": LOWER[:, 0] * units.mag})
    found = forest(error_columns="auto").fit(magnitudes, Y).median_errors_
    np.testing.assert_allclose(found, np.median(LOWER[:, 0]))


@pytest.mark.usefixtures("astropy")
def test_columns_of_astropy_that_are_no_numbers():
    from astropy.table import QTable
    from astropy.time import Time

    table = QTable({"a": VALUES[:, 0], "t": Time(np.arange(N) + 5e4, format="mjd")})
    with pytest.raises(ValueError, match="X has a Time in column 't'; expected numbers"):
        forest().fit(table, Y)


@pytest.mark.usefixtures("astropy")
def test_sentinels_are_numbers_in_the_unit_of_their_table():
    from astropy import units
    from astropy.table import QTable

    table = QTable({"a": VALUES[:, 0] * units.m, "b": VALUES[:, 1] * units.m})
    model = forest(sentinels={"*": -9999}).fit(table, Y)
    asked = QTable({"a": [-9999.0, np.nan] * units.mm, "b": [1.0, 1.0] * units.mm})
    one, other = model.predict_proba(asked)
    np.testing.assert_array_equal(one, other)


def test_sentinels_of_single_precision_and_beside_limits():
    values = TRUTH.astype(np.float32)
    values[:20, 0] = 99.99
    expected = forest().fit(np.where(values == np.float32(99.99), np.nan, values), Y).predict_proba(TRUTH)
    np.testing.assert_array_equal(forest(sentinels={0: 99.99}).fit(values, Y).predict_proba(TRUTH), expected)
    table = make_table().assign(clim=-LIMIT[:, 2])
    kept = forest(error_columns="auto", sentinels={"*": -1}).fit(table, Y).predict_proba(table)
    np.testing.assert_array_equal(kept, forest(error_columns="auto").fit(table, Y).predict_proba(table))
    named = forest(sentinels={"a": 99}).fit(make_table(), Y)
    with pytest.warns(UserWarning, match="valid feature names"):
        named.predict_proba(make_table().to_numpy())


def test_what_changes_after_a_fit_is_noticed():
    table = make_table()
    with pytest.raises(ValueError, match="error_columns is not what it was in fit"):
        forest(error_columns="auto").fit(table, Y).set_params(error_columns=None).predict(table)
    with pytest.raises(ValueError, match="error_columns is not what it was in fit"):
        forest().fit(table, Y).set_params(error_columns="auto").predict(table)


def test_warm_start_keeps_the_layout_of_the_first_trees():
    table = make_table()
    model = forest(error_columns="auto", warm_start=True).fit(table, Y).set_params(n_estimators=12)
    with pytest.raises(ValueError, match="warm_start=True needs 9 features"):
        model.fit(table.drop(columns=["b", "e_b"]), Y)
    with pytest.raises(ValueError, match="X lacks the columns 'b', 'e_b'"):
        model.fit(table.rename(columns={"b": "z", "e_b": "e_z"}), Y)
    other = forest(warm_start=True).fit(np.exp(TRUTH), Y, X_err=0.1).set_params(n_estimators=12)
    with pytest.raises(ValueError, match="warm_start=True needs the distribution of before"):
        other.set_params(distribution="lognormal").fit(np.exp(TRUTH), Y, X_err=0.1)
    assert len(model.fit(table, Y).trees_) == 12


def test_warm_start_keeps_the_names_of_errors():
    pandas = pytest.importorskip("pandas")
    values = pandas.DataFrame(np.arange(20.0).reshape(10, 2), columns=["a", "b"])
    errors = pandas.DataFrame(np.ones((10, 2)), columns=["e_a", "e_b"])
    model = forest(warm_start=True).fit(values, np.arange(10) % 2, X_err=errors).set_params(n_estimators=12)
    model.fit(values, np.arange(10) % 2, X_err=errors.to_numpy())
    with pytest.raises(ValueError, match=r"X_err has the columns \['e_b', 'e_a'\], but in fit it had"):
        model.predict(values, X_err=errors[["e_b", "e_a"]])


@pytest.mark.usefixtures("astropy")
def test_warm_start_keeps_units():
    from astropy import units
    from astropy.table import QTable

    tables = [
        QTable({"a": 1000**k * VALUES[:, 0] * unit, "b": VALUES[:, 1]}) for k, unit in enumerate((units.m, units.mm))
    ]
    model = forest(warm_start=True).fit(tables[0], Y).set_params(n_estimators=12).fit(tables[1], Y)
    expected = forest(warm_start=True).fit(tables[0], Y).set_params(n_estimators=12).fit(tables[0], Y)
    np.testing.assert_allclose(model.predict_proba(tables[0]), expected.predict_proba(tables[0]), atol=0.2)
    with pytest.raises(ValueError, match=r"expecting 2 features|feature names should match"):
        model.set_params(n_estimators=14).fit(tables[0]["a",], Y)


def test_limits_in_another_order_are_refused():
    values, limit = pd.DataFrame(VALUES, columns=list("abc")), pd.DataFrame(LIMIT, columns=list("abc"))
    with pytest.raises(ValueError, match="X_limit has the columns of X in another order"):
        forest().fit(values, Y, X_limit=limit[["c", "b", "a"]])
    with pytest.raises(ValueError, match="X_limit is true or false"):
        forest().fit(values, Y, X_limit=LIMIT > 0)


def test_a_model_of_samples_warns_when_asked_without():
    draws = VALUES[:, :, None] + np.random.default_rng(1).normal(size=(N, 3, 16))
    with pytest.warns(UserWarning, match="fitted with X_err, but now X_err is not given"):
        forest().fit(VALUES, Y, X_samples=draws).predict(VALUES)


@pytest.mark.parametrize("bad", [pd.NA, "x"])
def test_objects_that_are_no_numbers_are_named(bad):
    table = pd.DataFrame(VALUES, columns=list("abc")).astype(object)
    table.loc[4, "b"] = bad
    with pytest.raises(ValueError, match="no number in column 'b'"):
        forest().fit(table, Y)


def test_ragged_errors_are_named():
    with pytest.raises(ValueError, match="X_err must hold numbers"):
        forest().fit(VALUES, Y, X_err=[[0.1, 0.2], [0.1]])
