"""`probforest explain`."""

import json

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


def test_errors_of_the_whole_table_decide_which_trees_are_explained(tmp_path, capsys):
    lines = [f"{'AB'[i % 2]},{i % 2 + i / 50},{0.1 + i % 2 / 10 + i / 1000}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["kind,g,e_g", *lines]) + "\n")
    train = ["train", tmp_path / "t.csv", "--target", "kind", "--set", "n_estimators=3", "--error-features"]
    assert call(*train, "-o", tmp_path / "m.prf") == 0
    made = said(capsys, "explain", tmp_path / "m.prf", tmp_path / "t.csv", "--rows", "1", "--json").out
    assert "error of g" in json.loads(made)["rows"][0]["contributions"]


def test_models_that_predict_numbers_are_refused(tmp_path, capsys):
    lines = [f"{i / 7},{i / 5 + i % 3},0.1" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["z,g,e_g", *lines]) + "\n")
    train = ["train", tmp_path / "t.csv", "--target", "z", "--task", "regression", "--set", "n_estimators=3"]
    assert call(*train, "-o", tmp_path / "m.prf") == 0
    assert call("explain", tmp_path / "m.prf", tmp_path / "t.csv", "--rows", "1") == 2
    assert "can't be explained: only forests and trees that predict classes" in capsys.readouterr().err
