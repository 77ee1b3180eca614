"""`probforest explain`."""

import json

import numpy as np
import pandas as pd
import pytest

import probforest
from command_line import call, said


@pytest.mark.parametrize("table", ["t.csv", "t.parquet", "t.fits"])
def test_rows_are_explained_in_words(folder, capsys, table):
    model = folder / ("with_units.prf" if table == "t.fits" else "without_units.prf")
    words = said(capsys, "explain", model, folder / table, "--rows", "3,1", "--most", "2").out
    assert words.index("row 3") < words.index("row 1\n")
    assert words.count("on average") == 2
    assert words.count("other features") <= 2


def test_the_numbers_are_those_of_python(folder, capsys):
    made = said(capsys, "explain", folder / "without_units.prf", folder / "t.csv", "--rows", "2,4-5", "--json").out
    rows = json.loads(made)["rows"]
    assert [row["row"] for row in rows] == [2, 4, 5]
    model = probforest.load(folder / "without_units.prf")
    table = pd.read_csv(folder / "t.csv")[model.feature_names_in_].iloc[[1, 3, 4]]
    why, value = model.contributions(table), model.value_of_measurement(table)
    for place, row in enumerate(rows):
        assert row["contributions"] == pytest.approx(dict(why.of(place)))
        assert list(row["gain_in_bits"].values()) == pytest.approx(value.gain[place].tolist())
        assert row["probability"] == pytest.approx(row["average"] + sum(row["contributions"].values()))


def test_figures(folder, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    words = [
        "explain",
        folder / "without_units.prf",
        folder / "t.csv",
        "--rows",
        "2,3",
        "--plots",
        tmp_path / "figures",
    ]
    assert "row_3.svg" in said(capsys, *words).out
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == [
        "row_2.png",
        "row_2.svg",
        "row_3.png",
        "row_3.svg",
    ]
    assert call(*words) == 2
    assert "figures is not empty" in capsys.readouterr().err
    assert call(*words, "--overwrite") == 0


@pytest.mark.parametrize(
    ("rows", "words"),
    [("0", "out of range"), ("5-3", "ends before it begins"), ("a", "invalid"), ("1,99999", "there is no row 99999")],
)
def test_wrong_rows(folder, capsys, rows, words):
    try:
        code = call("explain", folder / "without_units.prf", folder / "t.csv", "--rows", rows)
    except SystemExit as stop:
        code = stop.code
    assert code == 2
    assert words in capsys.readouterr().err


def test_a_row_that_is_not_there_has_no_name_either(folder, capsys):
    words = ["explain", folder / "without_units.prf", folder / "t.csv", "--rows", "99999", "--id-column", "objid"]
    assert call(*words) == 2
    assert "there is no row 99999" in capsys.readouterr().err


def test_errors_of_the_whole_table_decide_which_trees_are_explained(tmp_path, capsys):
    lines = [f"{'AB'[i % 2]},{i % 2 + i / 50},{0.1 + i % 2 / 10 + i / 1000}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["kind,g,e_g", *lines]) + "\n")
    train = ["train", tmp_path / "t.csv", "--target", "kind", "--set", "n_estimators=3", "--error-features"]
    assert call(*train, "-o", tmp_path / "m.prf") == 0
    made = said(capsys, "explain", tmp_path / "m.prf", tmp_path / "t.csv", "--rows", "1", "--json").out
    assert "error of g" in json.loads(made)["rows"][0]["contributions"]


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    """A model of numbers, and its table."""
    folder = tmp_path_factory.mktemp("numbers")
    lines = [f"obj{i},{i / 7},{i / 5 + i % 3},0.6" for i in range(150)]
    (folder / "t.csv").write_text("\n".join(["name,z,g,e_g", *lines]) + "\n")
    options = ["--task", "regression", "--drop", "name", "--set", "n_estimators=3", "--set", "error_scale=1.0"]
    assert call("train", folder / "t.csv", "--target", "z", *options, "-o", folder / "m.prf") == 0
    return folder


def test_models_that_predict_numbers(numbers, capsys):
    words = ["explain", numbers / "m.prf", numbers / "t.csv", "--id", "obj70"]
    text = said(capsys, *words).out
    assert text.startswith("row 71 (obj70)\n  mean of the target: ")
    (row,) = json.loads(said(capsys, *words, "--json").out)["rows"]
    model = probforest.load(numbers / "m.prf")
    table = pd.read_csv(numbers / "t.csv")[["g", "e_g"]].iloc[[70]]
    assert row["mean"] == pytest.approx(model.predict(table)[0])
    assert row["average"] + sum(row["contributions"].values()) == pytest.approx(row["mean"])
    assert row["gain_in_variance"]["g"] == pytest.approx(model.value_of_measurement(table).gain[0, 0])


def test_objects_are_found_by_name(folder, capsys, tmp_path):
    table = pd.read_csv(folder / "t.csv")
    names = [str(table["objid"][3]), str(table["objid"][1])]
    words = ["explain", folder / "without_units.prf", folder / "t.csv"]
    by_name = json.loads(said(capsys, *words, "--id", *names, "--json").out)["rows"]
    by_row = json.loads(said(capsys, *words, "--rows", "2,4", "--json").out)["rows"]
    assert by_name == by_row
    assert f"row 2 ({names[1]})" in said(capsys, *words, "--rows", "2", "--id-column", "objid").out
    assert call(*words, "--id", "nobody") == 2
    assert "--id nobody: no row of" in capsys.readouterr().err
    assert call(*words, "--id", names[0], "--id-column", "missing_column") == 2
    assert "has no column 'missing_column'" in capsys.readouterr().err
    both = table.assign(again=table["objid"])
    both.to_csv(tmp_path / "both.csv", index=False)
    assert call("explain", folder / "without_units.prf", tmp_path / "both.csv", "--id", names[0]) == 2
    assert "Say which column with --id-column" in capsys.readouterr().err


def test_the_best_measurements_of_a_survey(folder, capsys):
    words = ["explain", folder / "without_units.prf", folder / "t.csv", "--ranking", "4", "--json"]
    found = json.loads(said(capsys, *words).out)
    model = probforest.load(folder / "without_units.prf")
    table = pd.read_csv(folder / "t.csv")[model.feature_names_in_]
    expected = model.value_of_measurement(table).ranking(4, each_object_once=True)
    assert [(each["row"] - 1, each["feature"]) for each in found["ranking"]] == [
        (row, name) for row, name, _ in expected
    ]
    assert [each["gain"] for each in found["ranking"]] == pytest.approx([gain for *_, gain in expected])
    assert [row["row"] for row in found["rows"]] == [each["row"] for each in found["ranking"]]
    assert "worth measuring again" in said(capsys, *words[:-1], "--id-column", "objid").out


def test_a_ranking_of_numbers(numbers, capsys):
    found = json.loads(said(capsys, "explain", numbers / "m.prf", numbers / "t.csv", "--ranking", 2, "--json").out)
    model, table = probforest.load(numbers / "m.prf"), pd.read_csv(numbers / "t.csv")[["g", "e_g"]]
    expected = model.value_of_measurement(table).ranking(2)
    assert [(each["row"] - 1, each["feature"]) for each in found["ranking"]] == [
        (row, name) for row, name, _ in expected
    ]


def test_a_bad_value_has_its_row_in_the_file(numbers, tmp_path, capsys):
    table = pd.read_csv(numbers / "t.csv")
    table.loc[4, "e_g"] = -1
    table.to_csv(tmp_path / "bad.csv", index=False)
    assert call("explain", numbers / "m.prf", tmp_path / "bad.csv", "--ranking", 2) == 2
    assert "row 5" in capsys.readouterr().err


def test_nothing_is_worth_measuring(tmp_path, capsys):
    lines = [f"{'AB'[i % 2]},{i % 2 + i / 500}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["kind,g", *lines]) + "\n")
    train = ["train", tmp_path / "t.csv", "--target", "kind", "--set", "n_estimators=3", "-o", tmp_path / "m.prf"]
    assert call(*train) == 0
    assert (
        "no measurement is worth" in said(capsys, "explain", tmp_path / "m.prf", tmp_path / "t.csv", "--ranking", 3).out
    )


EVIL = "<script>document.title = 'hacked'</script>"


def test_a_page(tmp_path, capsys):
    """Names of columns, classes and objects stay text."""
    pytest.importorskip("matplotlib")
    table = pd.DataFrame(
        {
            "kind": [(EVIL, "$b_{")[i % 2] for i in range(60)],
            "id": [f"{EVIL}{i}" for i in range(60)],
            "<b>g</b>": [i % 2 + i / 50 for i in range(60)],
            "e_<b>g</b>": 0.4,
        }
    )
    table.to_csv(tmp_path / "t.csv", index=False)
    train = ["train", tmp_path / "t.csv", "--target", "kind", "--drop", "id", "--set", "n_estimators=3"]
    assert call(*train, "-o", tmp_path / "m.prf") == 0
    words = ["explain", tmp_path / "m.prf", tmp_path / "t.csv", "--html", tmp_path / "why.html"]
    assert "why.html" in said(capsys, *words, "--id", f"{EVIL}7", f"{EVIL}30").out
    page = (tmp_path / "why.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "<b>g</b>" not in page
    assert page.count("&lt;b&gt;g&lt;/b&gt;") >= 2
    assert page.count("<section") == page.count("<figure") == 2
    assert call(*words, "--rows", "1") == 2
    assert "why.html exists already" in capsys.readouterr().err
    assert call(*words, "--ranking", "2", "--overwrite") == 0
    assert "Worth measuring again" in (tmp_path / "why.html").read_text(encoding="utf-8")
    assert call(*words[:-1], tmp_path / "why.txt", "--rows", "1") == 2
    assert "must end in .html" in capsys.readouterr().err


def test_exactly_one_way_to_choose_rows(folder, capsys):
    for words in ([], ["--rows", "1", "--ranking", "2"]):
        with pytest.raises(SystemExit):
            call("explain", folder / "without_units.prf", folder / "t.csv", *words)
    assert "--rows --id --ranking is required" in capsys.readouterr().err


# predict --explain


def test_reasons_as_columns(folder, tmp_path, capsys):
    words = ["predict", folder / "without_units.prf", folder / "t.csv", "--explain", "--prefix", "p_"]
    made = said(capsys, *words, "-o", tmp_path / "out.csv", "--json").out
    assert json.loads(made)["columns"][-3:] == ["p_reasons", "p_limited_by", "p_limited_by_gain"]
    found = pd.read_csv(tmp_path / "out.csv", keep_default_na=False)
    model = probforest.load(folder / "without_units.prf")
    table = pd.read_csv(folder / "t.csv")[model.feature_names_in_]
    why, value = model.contributions(table), model.value_of_measurement(table)
    with np.errstate(divide="ignore", invalid="ignore"):
        doubt = -np.nansum(why.answers * np.log2(why.answers), axis=1)
    for row, is_doubtful in enumerate(doubt > 0.01):  # nothing limits what is sure
        assert found["p_reasons"][row] == why.brief(row)
        assert found["p_limited_by"][row] == (value.brief(row) if is_doubtful else "")
    limited = found["p_limited_by"] != ""
    assert limited.any()
    assert found["p_limited_by_gain"][limited].tolist() == pytest.approx(value.gain.max(axis=1)[limited].tolist())
    assert (found["p_limited_by_gain"][~limited] == 0).all()
    plain = ["predict", folder / "without_units.prf", folder / "t.csv", "--prefix", "p_", "-o", tmp_path / "plain.csv"]
    assert call(*plain) == 0
    without = pd.read_csv(tmp_path / "plain.csv")
    pd.testing.assert_frame_equal(without, pd.read_csv(tmp_path / "out.csv")[without.columns])


def test_reasons_in_other_formats(folder, tmp_path):
    for name in ("out.fits", "out.parquet"):
        assert call("predict", folder / "with_units.prf", folder / "t.fits", "--explain", "-o", tmp_path / name) == 0


def test_reasons_of_numbers(numbers, tmp_path):
    words = ["predict", numbers / "m.prf", numbers / "t.csv", "--explain", "-o", tmp_path / "out.csv"]
    assert call(*words) == 0
    found = pd.read_csv(tmp_path / "out.csv", keep_default_na=False)
    assert found["reasons"].str.startswith("g ").all()
    assert found["limited_by"].str.startswith("g: if it were exact, a standard deviation of ").sum() > 100
