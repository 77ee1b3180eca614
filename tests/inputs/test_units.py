"""Units of values, errors, limits and draws: the same question in other units has the same answer."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from command_line import call
from probforest import Errors, ProbabilisticGradientBoostingRegressor, ProbabilisticRandomForestClassifier

units = pytest.importorskip("astropy.units")
from astropy.table import QTable, Table  # noqa: E402

# Between bit and byte lies a factor of 8, which changes no digit: answers are the same bits.
BIT, BYTE = units.bit, units.byte
N = 100
RANDOM = np.random.default_rng(0)
VALUES = RANDOM.normal(10, 3, (N, 2))
Y = np.where(VALUES.sum(axis=1) + RANDOM.normal(size=N) > 20, "planet", "star")
LOWER, UPPER = RANDOM.gamma(4, 0.5, (2, N, 2))
PAIRS = {"a": ("a_err2", "a_err1"), "b": Errors("e_b", limit="b_lim")}
LIMIT = (RANDOM.random(N) < 0.1).astype(float)


def forest(**options):
    return ProbabilisticRandomForestClassifier(5, random_state=0, **options)


def table(value=None, error=None, limit=None, *, kind=Table):
    """The same measurements in any units. Without a unit, errors are in that of the value, and values in bits."""
    of_value, of_error = value or BIT, error or value or BIT
    numbers = {
        "a": (VALUES[:, 0], of_value, value),
        "a_err1": (UPPER[:, 0], of_error, error),
        "a_err2": (-LOWER[:, 0], of_error, error),
        "b": (VALUES[:, 1], of_value, value),
        "e_b": (LOWER[:, 1], of_error, error),
        "b_lim": (LIMIT, BIT, limit),
    }
    made = Table({name: BIT.to(unit, column) for name, (column, unit, _) in numbers.items()})
    for name, (_, _, unit) in numbers.items():
        made[name].unit = unit
    return kind(made)


def plain():
    return table().to_pandas()


EXPECTED = forest(error_columns=PAIRS).fit(plain(), Y).predict_proba(plain())


@pytest.mark.parametrize("kind", [Table, QTable])
@pytest.mark.parametrize("error_at_fit", [None, BIT, BYTE])
def test_an_error_without_a_unit_has_that_of_its_value(kind, error_at_fit):
    model = forest(error_columns=PAIRS).fit(table(BIT, error_at_fit, kind=kind), Y)
    for now in product([BIT, BYTE], [None, BIT, BYTE]):
        np.testing.assert_array_equal(model.predict_proba(table(*now, kind=kind)), EXPECTED, str(now))


def test_a_table_without_units_has_those_of_the_fit():
    model = forest(error_columns=PAIRS).fit(table(BIT, BYTE), Y)
    in_units_of_the_fit = table(BIT, BYTE).to_pandas()
    np.testing.assert_array_equal(model.predict_proba(in_units_of_the_fit), EXPECTED)
    errors_only = table(BIT, BIT)
    errors_only["a"].unit = errors_only["b"].unit = None
    np.testing.assert_array_equal(model.predict_proba(errors_only), EXPECTED)


@pytest.mark.parametrize("unit", [BIT, BYTE, units.one])
def test_a_limit_has_no_unit(unit):
    model = forest(error_columns=PAIRS).fit(table(BIT, BIT), Y)
    asked = table(BYTE, BYTE)
    asked["b_lim"] = LIMIT
    asked["b_lim"].unit = unit
    np.testing.assert_array_equal(model.predict_proba(asked), EXPECTED)


def test_samples_without_a_unit_have_that_of_the_values():
    draws = VALUES[:, :, None] + RANDOM.normal(size=(N, 2, 16))
    expected = forest().fit(VALUES, Y, X_samples=draws).predict_proba(VALUES, X_samples=draws)
    model = forest().fit(VALUES * BIT, Y, X_samples=draws)
    np.testing.assert_array_equal(model.predict_proba(VALUES / 8 * BYTE, X_samples=draws / 8), expected)
    of_table = forest().fit(QTable(VALUES * BIT, names=["a", "b"]), Y, X_samples=draws)
    asked = QTable({"a": VALUES[:, 0] / 8 * BYTE, "b": VALUES[:, 1] * BIT})
    np.testing.assert_array_equal(of_table.predict_proba(asked, X_samples=draws / [[8], [1]]), expected)


SHAPES = {
    "scalar": 0.5,
    "one per feature": np.array([0.5, 0.25]),
    "list": [0.5, 0.25],
    "one per value": LOWER,
    "masked": np.ma.MaskedArray(LOWER, mask=LOWER > 3),
    "frame": pd.DataFrame(LOWER, columns=["e_a", "e_b"]),
    "pair": (LOWER, UPPER),
    "pair of both shapes": (0.5, UPPER),
    "two in the last axis": np.stack([LOWER, UPPER], axis=2),
}


def in_bytes(X_err):
    if isinstance(X_err, tuple):
        return tuple(in_bytes(side) for side in X_err)
    return [error / 8 for error in X_err] if isinstance(X_err, list) else X_err / 8


@pytest.mark.parametrize("shape", SHAPES)
def test_errors_as_arrays_have_the_unit_of_the_values(shape):
    X_err = SHAPES[shape]
    expected = forest().fit(VALUES, Y, X_err=X_err).predict_proba(VALUES, X_err=X_err)
    model = forest().fit(VALUES * BIT, Y, X_err=X_err)
    np.testing.assert_array_equal(model.predict_proba(VALUES / 8 * BYTE, X_err=in_bytes(X_err)), expected)
    of_table = forest().fit(QTable(VALUES * BIT, names=["a", "b"]), Y, X_err=X_err)
    asked = QTable(VALUES / 8 * BYTE, names=["a", "b"])
    np.testing.assert_array_equal(of_table.predict_proba(asked, X_err=in_bytes(X_err)), expected)


@pytest.mark.filterwarnings("ignore:The errors of this table")
def test_every_column_has_its_own_factor():
    X_err = np.array([0.5, 0.25])
    model = forest().fit(QTable(VALUES * BIT, names=["a", "b"]), Y, X_err=X_err)
    asked = QTable({"a": VALUES[:, 0] / 8 * BYTE, "b": VALUES[:, 1] * BIT})
    for errors in (X_err, LOWER):
        expected = model.predict_proba(pd.DataFrame(VALUES, columns=["a", "b"]), X_err=errors)
        np.testing.assert_array_equal(model.predict_proba(asked, X_err=errors / [8, 1]), expected)


@pytest.mark.parametrize("error_now", [None, BIT, BYTE])
def test_errors_as_a_table(error_now):
    values, errors = QTable(VALUES * BIT, names=["a", "b"]), Table(LOWER, names=["e_a", "e_b"])
    model = forest().fit(values, Y, X_err=errors)
    expected = forest().fit(VALUES, Y, X_err=LOWER).predict_proba(VALUES, X_err=LOWER)
    asked = Table(BIT.to(error_now or BYTE, LOWER), names=["e_a", "e_b"])
    asked["e_a"].unit = asked["e_b"].unit = error_now
    found = model.predict_proba(QTable(VALUES / 8 * BYTE, names=["a", "b"]), X_err=asked)
    np.testing.assert_array_equal(found, expected)


def test_warm_start_in_other_units():
    model = forest(error_columns=PAIRS, warm_start=True).fit(table(BIT), Y)
    model.set_params(n_estimators=8).fit(table(BYTE), Y)
    expected = forest(error_columns=PAIRS, warm_start=True).fit(plain(), Y).set_params(n_estimators=8).fit(plain(), Y)
    np.testing.assert_array_equal(model.predict_proba(plain()), expected.predict_proba(plain()))


def test_sentinels_in_errors_are_numbers_in_the_unit_of_their_value():
    model = forest(error_columns=PAIRS, sentinels={"e_b": -9999}).fit(table(BIT), Y)
    asked = table(BYTE)
    asked["e_b"][:10] = -9999
    unknown = plain()
    unknown.loc[:9, "e_b"] = np.nan
    expected = model.predict_proba(unknown)
    np.testing.assert_array_equal(model.predict_proba(asked), expected)


# Units that are no factors


def magnitudes(value, error, mag=22.0, scale=1.0):
    numbers = {"a": mag + VALUES[:, 0], "e_a": scale * LOWER[:, 0]}
    made = Table(numbers)
    made["a"].unit, made["e_a"].unit = value, error
    return made


@pytest.mark.parametrize("error", [None, units.mag])
@pytest.mark.parametrize("error_now", [None, units.mag])
def test_magnitudes_have_errors_in_magnitudes(error, error_now):
    model = forest(error_columns="auto").fit(magnitudes(units.ABmag, error), Y)
    np.testing.assert_allclose(model.median_errors_, np.median(LOWER[:, 0]))
    expected = model.predict_proba(magnitudes(None, None).to_pandas())
    np.testing.assert_array_equal(model.predict_proba(magnitudes(units.ABmag, error_now)), expected)
    # an offset, which is no matter of the errors
    offset = float(units.ABmag.to(units.Unit("mag(Jy)"), 0.0))
    asked = magnitudes(units.Unit("mag(Jy)"), error_now, 22.0 + offset)
    np.testing.assert_allclose(model.predict_proba(asked), expected, atol=0.05)
    arrays = forest().fit((22 + VALUES[:, :1]) * units.ABmag, Y, X_err=LOWER[:, :1] * units.mag)
    asked_with = LOWER[:, :1] if error_now is None else LOWER[:, :1] * error_now
    found = arrays.predict_proba((22 + VALUES[:, :1]) * units.ABmag, X_err=asked_with)
    np.testing.assert_array_equal(found, expected)


def test_a_change_of_scale_that_is_no_factor_is_refused():
    model = forest(error_columns="auto").fit(magnitudes(units.ABmag, None), Y)
    flux = Table({"a": units.ABmag.to(units.Jy, 22 + VALUES[:, 0]), "e_a": 1e-6 * LOWER[:, 0]})
    flux["a"].unit = units.Jy
    message = r"column 'e_a', the error of 'a' \(without a unit, .*\), has the unit Jy, which can't be converted to mag"
    with pytest.raises(ValueError, match=message):
        model.predict(flux)
    flux["e_a"] = LOWER[:, 0] * units.mag  # says what it means
    np.testing.assert_allclose(
        model.predict_proba(flux), model.predict_proba(magnitudes(None, None).to_pandas()), atol=0.05
    )
    arrays = forest().fit((22 + VALUES) * units.ABmag, Y, X_err=LOWER)
    with pytest.raises(ValueError, match="X_err has the unit Jy, which can't be converted to mag"):
        arrays.predict(VALUES * units.Jy, X_err=LOWER)
    arrays.predict(VALUES * units.Jy, X_err=0)  # exact in any unit


def test_a_change_that_turns_values_round_is_refused_beside_sides_and_limits():
    """From mag to dex, large becomes small: an upper error would be a lower one, an upper limit a lower limit."""
    dex = units.dex(units.Jy)
    numbers = {"a": 22 + VALUES[:, 0], "a_err1": UPPER[:, 0], "a_err2": LOWER[:, 0], "b": VALUES[:, 1]}
    made = Table(numbers)
    made["a"].unit = units.Unit("mag(Jy)")
    asked = made.copy()
    asked["a"] = -0.4 * asked["a"].value
    asked["a"].unit = dex
    with pytest.raises(ValueError, match=r"column 'a' of X .* from dex\(Jy\) to mag\(Jy\) turns .* round"):
        forest(error_columns="auto").fit(made, Y).predict(asked)
    one_error = forest(error_columns={"a": "a_err1"}).fit(made, Y)
    found = one_error.predict_proba(asked["a", "a_err1", "a_err2", "b"])
    wider = made.copy()
    wider["a_err1"] *= 2.5
    np.testing.assert_allclose(found, one_error.predict_proba(wider), atol=0.05)
    arrays = forest().fit((22 + VALUES) * units.Unit("mag(Jy)"), Y, X_err=LOWER)
    for about in ({"X_err": (LOWER, UPPER)}, {"X_limit": np.ones((N, 2))}):
        with pytest.raises(ValueError, match=r"turns .* round"):
            arrays.predict(VALUES * dex, **about)


def test_temperatures_with_another_zero_are_not_converted():
    made = Table({"a": VALUES[:, 0], "e_a": LOWER[:, 0]})
    made["a"].unit = units.deg_C
    model = forest(error_columns="auto").fit(made, Y)
    made["a"].unit = units.K
    with pytest.raises(ValueError, match="column 'a' of X has the unit K, which can't be converted to deg_C"):
        model.predict(made)


# The command line


def test_the_command_line_converts_errors_with_their_values(tmp_path, capsys):
    model = tmp_path / "m.prf"
    for name, made in {"bit": table(BIT), "byte": table(BYTE), "byte_errors": table(BIT, BYTE)}.items():
        made["kind"] = Y
        made.write(tmp_path / f"{name}.ecsv")
    errors = tmp_path / "errors.toml"
    errors.write_text('a = ["a_err2", "a_err1"]\nb = {lower = "e_b", limit = "b_lim"}\n')
    train = ["train", tmp_path / "bit.ecsv", "--target", "kind", "--errors", errors, "--set", "n_estimators=5"]
    assert call(*train, "-o", model) == 0
    answers = {}
    for name in ("bit", "byte", "byte_errors"):
        capsys.readouterr()
        assert call("predict", model, tmp_path / f"{name}.ecsv", "-o", tmp_path / f"{name}.csv") == 0
        answers[name] = pd.read_csv(tmp_path / f"{name}.csv")["proba_star"]
        if name == "byte":
            assert "units to convert: a from byte to bit, b from byte to bit, a_err2" in capsys.readouterr().err
    np.testing.assert_array_equal(answers["byte"], answers["bit"])
    np.testing.assert_array_equal(answers["byte_errors"], answers["bit"])
    np.testing.assert_allclose(answers["bit"], EXPECTED[:, 1])


def test_errors_of_targets_are_in_the_unit_of_these():
    y, sigma = VALUES[:, 0], LOWER[:, 0]
    model = ProbabilisticGradientBoostingRegressor("squared_error", max_iter=5, random_state=0)
    expected = model.fit(VALUES, y, y_err=sigma).predict(VALUES)

    def found(y, y_err):
        return model.fit(VALUES, y, y_err=y_err).predict(VALUES)

    np.testing.assert_array_equal(found(y * BYTE, 8 * sigma * BIT), expected)
    np.testing.assert_allclose(found(y * BYTE, (8 * sigma * BIT, sigma)), expected, rtol=1e-13)
    table = Table({"y": y * BYTE, "e_y": 8 * sigma * BIT})
    np.testing.assert_array_equal(found(table["y"], table["e_y"]), expected)
    with pytest.raises(ValueError, match="y_err has the unit s, which can't be converted to byte"):
        found(y * BYTE, sigma * units.s)
    with pytest.raises(ValueError, match="y_err has the unit s, but y has none"):
        found(y, sigma * units.s)
