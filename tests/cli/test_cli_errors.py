"""The error messages of the command line about tables, models and options."""

import os
import re

import numpy as np
import pytest
from astropy import units as u

import probforest
from command_line import TABLE, call, write
from probforest.cli.main import main


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind,e_g\nA,1\nB,2\n", "has no column 'g'"),
        ("kind,g\nA,1\nB,2\n", "has the features, but not their errors e_g. Add these columns"),
        ("kind,g,e_g\nA,1,0.1\nB,x,0.1\n", "'g' must hold numbers, but has 'x' in row 2"),
        ("kind,g,e_g\n", "has no rows"),
        ("", "is empty"),
        ("kind,g,g,e_g\nA,1,1,0.1\n", "two columns with the name 'g'"),
        ("kind,g,e_g\nA,1,0.1\nB,2,-0.1\n", "column 'e_g' is -0.1 at row 2; expected an error >= 0"),
        ("kind,g,e_g\nA,1,0.1\nB,inf,0.1\n", "column 'g' is infinity at row 2; expected a finite value"),
        ("kind,g,e_g\nA,1,0.1\nB,2\n", "line 3 has 2 fields"),
    ],
)
@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_wrong_tables(small_model, tmp_path, capsys, command, text, message):
    table = write(tmp_path / "wrong.csv", text)
    more = ["-o", str(tmp_path / "o.csv")] if command == "predict" else []
    assert call(command, small_model, table, *more) == 2
    error = capsys.readouterr().err
    assert error.startswith("probforest: error: ")
    assert error.count("\n") == 1
    assert message in error
    assert os.listdir(tmp_path) == ["wrong.csv"]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("kind,g,e_g\nA,1,0.1\nB,2,0.1\n", ["--target", "Kind"], "no column 'Kind'. Did you mean 'kind'?"),
        ("kind,g,e_g\nA,1,0.1\nA,2,0.1\n", [], "has only 'A'; expected two classes"),
        ("kind,g,e_g\n,1,0.1\n,2,0.1\n", [], "has nothing; expected two classes"),
        ("kind,g,e_r\nA,1,0.1\nB,2,0.1\n", [], "--errors auto: column 'e_r' looks like the error of 'r'"),
        (
            "kind,g,h\nA,1,0.1\nB,2,x\nA,3,4\n",
            [],
            "the column 'h' has text such as 'x' in row 2, and numbers elsewhere",
        ),
        ("kind,g,h\nA,1,y\nB,2,x\n", ["--features", "h"], "the column 'h' has text such as 'y' in row 1"),
        ("kind,g\nA,1\nB,2\n", ["--features", "zz*"], "--features zz*: the table has no such column"),
        ("kind,g\nA,1\nB,2\n", ["--drop", "zz"], "--drop zz: the table has no such column"),
        ("kind,g\nA,1\nB,2\n", ["--drop", "g"], "no column with numbers to train on"),
        ("kind,g\nA,1\nB,2\n", ["--set", "trees=5"], "--set trees: a forest has no such parameter"),
        ("kind,g\nA,1\nB,2\n", ["--set", "error_columns=auto"], "use --errors"),
        ("kind,g\nA,1\nB,2\n", ["--set", "random_state=1"], "--set random_state: use --seed"),
        ("kind,g\nA,1\nB,2\n", ["--set", "max_depth=deep"], "max_depth must be an integer"),
        ("kind,g\nA,1\nB,2\n", ["--errors", "nothing.toml"], "there is no file nothing.toml"),
        ("kind,g\nA,1\nB,2\n", ["--errors", "wrong.csv"], "is not a TOML file"),
        ("kind,g,p\nA,1,1.5\nB,2,1\n", ["--label-proba", "p"], "column 'p' is 1.5 at row 1; expected a probability"),
        ("kind,g,e_g\nA,1,0.1\n,1,-1\nB,2,-1\n", [], "column 'e_g' is -1.0 at row 3"),
        ("x,kind\n" + "".join(f"{i},{i}\n" for i in range(200)), [], "200 different values in 200 rows"),
    ],
)
def test_wrong_training_sets(tmp_path, monkeypatch, capsys, text, options, message):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "wrong.csv", text)
    target = [] if "--target" in options else ["--target", "kind"]
    assert call("train", "wrong.csv", *target, *options, "-o", "m.prf") == 2
    error = capsys.readouterr().err
    assert re.fullmatch(r"(probforest: note: .*\n)*probforest: error: .*\n", error)
    assert message in error
    assert os.listdir(tmp_path) == ["wrong.csv"]


def empties(tmp_path, **columns):
    """A table with two classes, a feature and columns of which some are empty."""
    rows = 40
    columns = {"kind": ["AB"[i % 2] for i in range(rows)], "g": [i % 2 + i / 50 for i in range(rows)], **columns}
    lines = [",".join(columns)]
    lines += [",".join(str(values[i] if len(values) else "") for values in columns.values()) for i in range(rows)]
    return write(tmp_path / "t.csv", "\n".join(lines) + "\n")


@pytest.mark.parametrize("errors", ["auto", "map"])
def test_empty_error_columns_are_left_out_as_in_python(tmp_path, capsys, errors):
    known = [0.1] * 40
    table = empties(tmp_path, e_g=[], r=known, e_r=known, h=[], h_err1=known, h_err2=known)
    write(tmp_path / "map.toml", 'g = "e_g"\nr = "e_r"\nh = ["h_err2", "h_err1"]\n')
    how = ["--errors", "auto" if errors == "auto" else tmp_path / "map.toml"]
    options = ["--target", "kind", "--set", "n_estimators=2", *how, "-o", tmp_path / "m.prf"]
    assert call("train", table, *options) == 0
    said = capsys.readouterr().out
    assert "ignored (empty): h, e_g\n" in said
    assert "ignored (error of an empty column): h_err2, h_err1\n" in said
    model = probforest.load(tmp_path / "m.prf")
    assert {name: pair and pair.lower for name, pair in model.error_pairs_.items()} == {"g": None, "r": "e_r"}
    assert call("predict", tmp_path / "m.prf", table, "-o", tmp_path / "o.csv") == 0


def test_empty_limits_are_kept_and_half_empty_errors_refused(tmp_path, capsys):
    known = [0.1] * 40
    options = ["--target", "kind", "--set", "n_estimators=2", "-o", tmp_path / "m.prf"]
    table = empties(tmp_path, g_err1=known, g_err2=known, glim=[])
    assert call("train", table, *options) == 0
    assert probforest.load(tmp_path / "m.prf").error_pairs_["g"].limit == "glim"
    table = empties(tmp_path, g_err1=known, g_err2=[])
    assert call("train", table, *options, "--overwrite") == 2
    assert "'g_err2', the lower error of 'g', has no number beside a value" in capsys.readouterr().err


def test_unseen_classes_and_unknown_targets(small_model, tmp_path, capsys):
    table = write(tmp_path / "t.csv", "kind,sort,g,e_g\nA,A,1,0.1\nC,B,2,0.1\n")
    assert call("evaluate", small_model, table) == 2
    assert "has the class 'C' in row 2, which the model does not know; it knows A, B" in capsys.readouterr().err
    assert call("evaluate", small_model, table, "--target", "sort") == 0
    table = write(tmp_path / "t.csv", "g,e_g\n1,0.1\n")
    assert call("evaluate", small_model, table) == 2
    assert "no column 'kind'" in capsys.readouterr().err
    table = write(tmp_path / "t.csv", "kind,g,e_g\n,1,0.1\n")
    assert call("evaluate", small_model, table) == 2
    assert "no rows with a class" in capsys.readouterr().err


def test_units_that_cannot_be_converted(folder, tmp_path, capsys):
    changed = TABLE.copy()
    changed["size"].unit = u.mag
    changed.write(tmp_path / "t.fits")
    assert call("predict", folder / "with_units.prf", tmp_path / "t.fits", "-o", tmp_path / "o.csv") == 2
    assert "'size' has the unit mag, which can't be converted to arcsec" in capsys.readouterr().err


def test_models_that_cannot_be_asked_with_tables(tmp_path, capsys):
    X, y = np.random.default_rng(0).normal(size=(40, 1)), np.arange(40) % 2
    table = write(tmp_path / "t.csv", "g\n1\n")
    forest = probforest.ProbabilisticRandomForestClassifier(2)
    probforest.save(forest.fit(X, y), tmp_path / "arrays.prf")
    assert call("predict", tmp_path / "arrays.prf", table, "-o", tmp_path / "o.csv") == 2
    assert "was fitted on arrays" in capsys.readouterr().err
    import pandas

    probforest.save(forest.fit(pandas.DataFrame(X, columns=["g"]), y, X_err=0.1), tmp_path / "errors.prf")
    assert call("predict", tmp_path / "errors.prf", table, "-o", tmp_path / "o.csv") == 2
    assert "Fit it with error_columns" in capsys.readouterr().err
    assert call("predict", table, table, "-o", tmp_path / "o.csv") == 2
    assert "not a saved model" in capsys.readouterr().err
    assert call("inspect", tmp_path / "arrays.prf") == 0


@pytest.mark.parametrize(
    "words",
    [
        "",
        "demo --trees 0",
        "demo --objects 3",
        "demo --objects many",
        "demo --n-jobs 0",
        "demo --seed -1",
        "train",
        "bake",
        "train t.csv --target c -o m --set trees",
        "train t.csv --target c -o m --set 'a=[1'",
        "predict m.prf t.csv",
    ],
)
def test_wrong_words_exit_with_2_and_say_why(words, capsys):
    with pytest.raises(SystemExit) as stop:
        main(words.split())
    assert stop.value.code == 2
    assert "error:" in capsys.readouterr().err


def test_debug_shows_the_traceback(tmp_path, capsys):
    assert call("inspect", tmp_path / "nothing.prf") == 2
    assert "Traceback" not in capsys.readouterr().err
    assert call("inspect", tmp_path / "nothing.prf", "--debug") == 2
    assert "Traceback" in capsys.readouterr().err
