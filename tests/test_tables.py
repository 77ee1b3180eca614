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

from probforest import Errors, ProbabilisticDecisionTreeClassifier, ProbabilisticRandomForestClassifier
from probforest.importance import permutation_importance

N = 120
RANDOM = np.random.default_rng(0)
TRUTH = RANDOM.normal(size=(N, 3))
Y = np.where(TRUTH[:, 0] + 0.3 * TRUTH[:, 1] > 0, "planet", "star")
LOWER, UPPER = RANDOM.gamma(2, 0.2, (2, N, 3))
VALUES = TRUTH + 0.3 * RANDOM.normal(size=TRUTH.shape)
LIMIT = (RANDOM.random((N, 3)) < 0.1).astype(float)
PAIR_MAP = {
    "a": ("a_err2", "a_err1"),
    "b": "e_b",
    "c": Errors(lower="cerr2", upper="cerr1", limit="clim"),
}


def make_table():
    """Three features: one with two errors, one with one, one with two errors and limits."""
    return pd.DataFrame(
        {
            "a": VALUES[:, 0],
            "a_err1": UPPER[:, 0],
            "a_err2": -LOWER[:, 0],
            "b": VALUES[:, 1],
            "e_b": LOWER[:, 1],
            "c": VALUES[:, 2],
            "cerr1": UPPER[:, 2],
            "cerr2": -LOWER[:, 2],
            "clim": LIMIT[:, 2],
        }
    )


def forest(**options):
    return ProbabilisticRandomForestClassifier(8, random_state=0, **options)


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
        ({"error_columns": "auto"}, lambda t: t.assign(name="x"), "text in column 'name'"),
        ({"error_columns": "auto"}, lambda t: t.assign(clim=2.0), r"X_limit is 2.0 at row 0, column 2; expected \+1"),
        ({"error_columns": "auto"}, lambda t: t.assign(e_b=-1.0), "X_err.* is -1.0 at row 0, column 1"),
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


def test_columns_of_a_prediction_must_be_those_of_the_fit():
    table = make_table()
    model = forest(error_columns="auto").fit(table, Y)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(table[table.columns[::-1]])
    with pytest.raises(ValueError, match="e_b"):
        model.predict(table.drop(columns="e_b"))


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
        model = forest(error_columns=error_columns).fit(table, Y)
        np.testing.assert_array_equal(model.predict_proba(table), expected)
    with pytest.raises(ValueError, match="give them as X_samples"):
        forest().fit(distribution, Y)


@pytest.mark.usefixtures("astropy")
def test_quantities_as_arrays():
    from astropy import units

    model = forest().fit(VALUES * units.m, Y, X_err=100 * LOWER * units.cm)
    expected = forest().fit(VALUES, Y, X_err=LOWER).predict_proba(VALUES, X_err=LOWER)
    asked = model.predict_proba(1000 * VALUES * units.mm, X_err=1000 * LOWER * units.mm)
    np.testing.assert_allclose(asked, expected, atol=0.05)  # a conversion is rounded, which may decide a tie
    with pytest.raises(ValueError, match="X_err has the unit s, which can't be converted to m"):
        model.predict(VALUES * units.m, X_err=LOWER * units.s)
    with pytest.raises(ValueError, match="X_err has the unit s, but X has none"):
        forest().fit(VALUES, Y, X_err=LOWER * units.s)
