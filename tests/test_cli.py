"""The command line, as it is typed: in processes of their own, on tables of every format; and its complaints."""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from html.parser import HTMLParser

import numpy as np
import pyarrow
import pyarrow.csv
import pyarrow.parquet
import pytest
from astropy import units as u
from astropy.table import Table

import probforest
from catalogue_files import as_arrow, make_catalogue, write_everywhere
from probforest.catalogues import open_catalogue
from probforest.cli import main

TABLE = make_catalogue()
TRAIN = ["--target", "kind", "--drop", "objid", "sure", "--set", "n_estimators=10"]


def run(*words, **options):
    """Run `probforest` in a process of its own."""
    command = [sys.executable, "-m", "probforest", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


def call(*words):
    """Run it in this process."""
    return main([*map(str, words)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    write_everywhere(TABLE, folder)
    assert call("train", folder / "t.fits", *TRAIN, "-o", folder / "with_units.prf") == 0
    assert call("train", folder / "t.csv", *TRAIN, "-o", folder / "without_units.prf") == 0
    return folder


def expected_probabilities(path):
    table = as_arrow(TABLE).to_pandas()
    model = probforest.load(path)
    return model.predict_proba(table[model._layout.names].astype(float))


# Every command, every format


@pytest.mark.parametrize("name", ["t.csv", "t.ecsv", "t.fits", "t.vot", "t.parquet", "t.arrow"])
def test_train_predict_and_evaluate_every_format(folder, tmp_path, name):
    model, table = tmp_path / "model.prf", folder / name
    trained = run("train", table, *TRAIN, "-o", model)
    assert trained.returncode == 0, trained.stderr
    for words in (
        "240 rows, 11 columns",
        "galaxy (",
        "g: ±e_g",
        "size: -size_err2 +size_err1",
        "without errors: visits, variable",
        "ignored (text): name",
        "ignored (--drop): objid, sure",
        "out-of-bag accuracy 0.",
        "95 % interval",
        "confusion matrix",
        "most important features",
        "saved ",
    ):
        assert words in trained.stdout
    np.testing.assert_array_equal(expected_probabilities(model), expected_probabilities(folder / "without_units.prf"))
    output = tmp_path / f"out{table.suffix}"
    predicted = run("predict", model, table, "--keep", "objid", "name", "g", "-o", output)
    assert predicted.returncode == 0, predicted.stderr
    with open_catalogue(output) as catalogue:
        answer = catalogue.whole()
        assert {key: str(unit) for key, unit in catalogue.units.items()} == (
            {"g": "mag"} if name in ("t.ecsv", "t.fits", "t.vot") else {}
        )
    assert answer.column_names == ["objid", "name", "g", "predicted_class", "proba_galaxy", "proba_star"]
    assert answer.column("objid").to_pylist() == TABLE["objid"].tolist()
    proba = np.column_stack([answer.column(f"proba_{kind}").to_numpy() for kind in ("galaxy", "star")])
    np.testing.assert_array_equal(proba, expected_probabilities(model))
    best = np.array(["galaxy", "star"])[proba.argmax(axis=1)]
    assert answer.column("predicted_class").to_pylist() == best.tolist()
    evaluated = run("evaluate", model, table, "--json")
    assert evaluated.returncode == 0, evaluated.stderr
    assert json.loads(evaluated.stdout)["accuracy"]["value"] == pytest.approx(np.mean(best == TABLE["kind"]))


def test_inspect(folder):
    text = run("inspect", folder / "with_units.prf")
    assert text.returncode == 0
    for words in ("classes: galaxy, star", "10 trees", "size: -size_err2 +size_err1", "g [mag]", "target kind"):
        assert words in text.stdout
    facts = json.loads(run("inspect", folder / "with_units.prf", "--json").stdout)
    assert facts["units"]["size"] == "arcsec"
    assert facts["errors"]["g"] == {"lower": "e_g", "upper": None, "limit": None}
    assert facts["about"]["table"] == "t.fits"
    assert facts["bytes"] == (folder / "with_units.prf").stat().st_size
    assert sum(facts["importances"]) == pytest.approx(1)


def test_json_is_all_that_standard_output_has(folder, tmp_path):
    trained = run("train", folder / "t.csv", *TRAIN, "-o", tmp_path / "m.prf", "--json")
    summary = json.loads(trained.stdout)
    assert summary["classes"] == ["galaxy", "star"]
    assert summary["ignored"] == {"objid": "--drop", "sure": "--drop", "name": "text"}
    assert summary["out_of_bag"]["n_objects"] + summary["out_of_bag"]["n_left_out"] == 240
    predicted = json.loads(
        run("predict", tmp_path / "m.prf", folder / "t.csv", "-o", tmp_path / "o.csv", "--json").stdout
    )
    assert predicted["rows"] == 240 == sum(predicted["predicted"].values())
    assert predicted["kept"] == ["objid", "name", "kind", "sure"]


class Page(HTMLParser):
    """What a page loads, and its text."""

    def __init__(self, text):
        super().__init__()
        self.sources, self.text = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.sources += [value for key, value in attributes if key in ("src", "href")]

    def handle_data(self, data):
        self.text += data


def test_report_and_plots(folder, tmp_path):
    made = run(
        "evaluate",
        folder / "without_units.prf",
        folder / "t.csv",
        "--report",
        tmp_path / "r.html",
        "--plots",
        tmp_path / "p",
    )
    assert made.returncode == 0, made.stderr
    assert "seems to have been trained on t.csv itself" in made.stderr
    page = Page((tmp_path / "r.html").read_text(encoding="utf-8"))
    assert len(page.sources) >= 5
    assert all(source.startswith("data:image/svg+xml;base64,") for source in page.sources)
    for words in ("Accuracy", "Can the probabilities be trusted?", "galaxy", "Size of the errors"):
        assert words in page.text
    again = ["evaluate", folder / "without_units.prf", folder / "t.csv", "--plots", tmp_path / "p"]
    assert call(*again) == 2
    assert call(*again, "--overwrite") == 0
    names = {path.name for path in (tmp_path / "p").iterdir()}
    assert {"confusion.png", "reliability.svg", "error_size.png", "importance.svg"} <= names


def test_demo_and_experiments(tmp_path, capsys):
    demo = run("demo", "--objects", "60", "--trees", "2", "--json")
    rows = json.loads(demo.stdout)
    assert len(rows) == 4
    assert 0 < rows[0]["probforest"]["accuracy"] <= 1
    assert call("experiments", "nothing") == 2
    assert "no experiment is called 'nothing'" in capsys.readouterr().err


# What people mean


def test_labels_with_probabilities_missing_classes_and_other_options(folder, tmp_path, capsys):
    table = TABLE.copy()
    kinds = table["kind"].tolist()
    kinds[3] = kinds[7] = ""
    table["kind"] = kinds
    table.write(tmp_path / "t.csv")
    (tmp_path / "map.toml").write_text('g = "e_g"\nsize = {lower = "size_err2", upper = "size_err1"}\n')
    command = ["train", tmp_path / "t.csv", "--target", "kind", "--label-proba", "sure", "--features", "g", "si*"]
    command += [
        "--errors",
        tmp_path / "map.toml",
        "--set",
        "n_estimators=5",
        "prior=none",
        "--set",
        "distribution={g='laplace'}",
    ]
    assert call(*command, "-o", tmp_path / "m.prf") == 0
    assert "left out: 2 rows without a class" in capsys.readouterr().out
    model = probforest.load(tmp_path / "m.prf")
    frame = table.to_pandas().drop(index=[3, 7])
    expected = probforest.ProbabilisticRandomForestClassifier(
        5,
        prior=None,
        distribution={"g": "laplace"},
        random_state=0,
        error_columns={"g": "e_g", "size": ("size_err2", "size_err1")},
    )
    columns = ["g", "size", "e_g", "size_err1", "size_err2"]
    expected.fit(frame[columns].astype(float), frame["kind"].astype(str), y_proba=frame["sure"])
    assert list(model.error_pairs_) == ["g", "size"]
    query = frame[model._layout.names].astype(float)
    np.testing.assert_array_equal(model.predict_proba(query), expected.predict_proba(frame[columns].astype(float)))


def test_without_errors_every_column_is_a_feature(folder, tmp_path, capsys):
    assert call("train", folder / "t.csv", *TRAIN, "--errors", "none", "-o", tmp_path / "m.prf") == 0
    assert probforest.load(tmp_path / "m.prf").n_features_in_ == 7
    assert "without errors: g, e_g, size" in capsys.readouterr().out


def test_default_columns_and_prefix(folder, tmp_path, capsys):
    model, output = str(folder / "without_units.prf"), tmp_path / "o.parquet"
    assert call("predict", model, folder / "t.csv", "-o", output) == 0
    first = pyarrow.parquet.read_table(output)
    assert first.column_names[:4] == ["objid", "name", "kind", "sure"]
    assert first.schema.field("objid").type == pyarrow.int64()
    again = tmp_path / "again.parquet"
    assert call("predict", model, folder / "t.csv", "--keep", "*", "-o", again) == 0
    assert pyarrow.parquet.read_table(again).column_names[: len(TABLE.colnames)] == TABLE.colnames
    twice = ["predict", model, str(again), "-o", str(tmp_path / "twice.parquet")]
    assert main(twice) == 2
    assert "'predicted_class' itself" in capsys.readouterr().err
    assert call(*twice, "--prefix", "new_") == 0
    assert call("predict", model, folder / "t.csv", "--keep", "-o", tmp_path / "bare.csv") == 0
    assert pyarrow.csv.read_csv(tmp_path / "bare.csv").column_names == ["predicted_class", "proba_galaxy", "proba_star"]


def test_units_are_converted_compared_or_said(folder, tmp_path, capsys):
    model = str(folder / "with_units.prf")
    changed = TABLE.copy()
    for name in ("size", "size_err1", "size_err2"):
        changed[name] = changed[name].to(u.arcmin)
    changed.write(tmp_path / "arcmin.fits")
    assert call("predict", model, tmp_path / "arcmin.fits", "-o", tmp_path / "a.parquet") == 0
    proba = pyarrow.parquet.read_table(tmp_path / "a.parquet").column("proba_star").to_numpy()
    np.testing.assert_allclose(proba, expected_probabilities(model)[:, 1], atol=1e-9)
    assert call("predict", model, folder / "t.csv", "-o", tmp_path / "b.parquet") == 0
    assert "has no units; those of the training are assumed: g [mag]" in capsys.readouterr().err
    assert call("predict", folder / "without_units.prf", folder / "t.fits", "-o", tmp_path / "c.csv") == 0
    assert "the model was trained without: they are not compared" in capsys.readouterr().err


def test_classes_may_be_numbers(tmp_path, capsys):
    random = np.random.default_rng(0)
    g = random.normal(size=60)
    Table({"g": g, "kind": (g > 0).astype(int)}).write(tmp_path / "int.fits")
    Table({"g": g, "kind": (g > 0).astype(float)}).write(tmp_path / "float.csv")
    model = str(tmp_path / "m.prf")
    assert call("train", tmp_path / "int.fits", "--target", "kind", "-o", model) == 0
    assert probforest.load(model).classes_.tolist() == [0, 1]
    capsys.readouterr()
    assert call("evaluate", model, tmp_path / "float.csv", "--json") == 0
    assert json.loads(capsys.readouterr().out)["accuracy"]["value"] > 0.9
    assert call("predict", model, tmp_path / "float.csv", "-o", tmp_path / "o.csv") == 0
    assert "proba_1" in pyarrow.csv.read_csv(tmp_path / "o.csv").column_names


def test_pieces_do_not_change_the_answer(folder, tmp_path, monkeypatch):
    import probforest.catalogues.catalogue as catalogue_module

    monkeypatch.setattr(catalogue_module, "MOST_ROWS", 17)
    monkeypatch.setattr(catalogue_module, "LEAST_ROWS", 1)
    model = folder / "without_units.prf"
    assert call("predict", model, folder / "t.arrow", "-o", tmp_path / "o.parquet") == 0
    table = pyarrow.parquet.read_table(tmp_path / "o.parquet")
    np.testing.assert_array_equal(table.column("proba_star").to_numpy(), expected_probabilities(model)[:, 1])


# What goes wrong


def write(path, text):
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind,g\nA,1\nB,2\n", "has no column 'e_g'"),
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


@pytest.fixture(scope="module")
def small_model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    rows = "".join(f"{'AB'[i % 2]},{i % 2 + i / 50},0.1\n" for i in range(40))
    write(folder / "t.csv", "kind,g,e_g\n" + rows)
    assert (
        main(
            ["train", str(folder / "t.csv"), "--target", "kind", "-o", str(folder / "m.prf"), "--set", "n_estimators=2"]
        )
        == 0
    )
    return folder / "m.prf"


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
        ("kind,g\nA,1\nB,2\n", ["--set", "max_depth=deep"], "max_depth must be an integer"),
        ("kind,g\nA,1\nB,2\n", ["--errors", "nothing.toml"], "there is no file nothing.toml"),
        ("kind,g\nA,1\nB,2\n", ["--errors", "wrong.csv"], "is no TOML"),
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
    assert "'size' of X has the unit mag, which can't be converted to arcsec" in capsys.readouterr().err


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


# Files are not lost


def test_nothing_is_overwritten_unasked(small_model, tmp_path, capsys):
    table = small_model.with_name("t.csv")
    output = write(tmp_path / "o.csv", "mine")
    assert call("predict", small_model, table, "-o", output) == 2
    assert "exists already" in capsys.readouterr().err
    assert output.read_text() == "mine"
    assert call("predict", small_model, table, "-o", output, "--overwrite") == 0
    before = table.read_text(), small_model.read_bytes()
    for same in (table, small_model):
        assert call("predict", small_model, table, "-o", same, "--overwrite") == 2
    assert call("train", table, "--target", "kind", "-o", table, "--overwrite") == 2
    assert call("predict", small_model, table, "-o", tmp_path / "no" / "o.csv") == 2
    assert "there is no folder" in capsys.readouterr().err
    assert (table.read_text(), small_model.read_bytes()) == before


def start(*words):
    command = [sys.executable, "-m", "probforest", *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for_part(folder, process):
    """Wait until the unfinished output is there."""
    for _ in range(1200):
        if any(".part" in name for name in os.listdir(folder)):
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    raise AssertionError("no output was begun")


@pytest.fixture(scope="module")
def long_job(tmp_path_factory):
    """A table and a model that keep both commands busy for a while."""
    folder = tmp_path_factory.mktemp("long")
    random = np.random.default_rng(0)
    X = random.normal(size=(60_000, 6))
    table = pyarrow.table({f"x{j}": X[:, j] for j in range(6)} | {f"e_x{j}": np.full(len(X), 0.3) for j in range(6)})
    table = table.append_column("kind", pyarrow.array((X.sum(axis=1) > 0).astype(int)))
    pyarrow.csv.write_csv(table, folder / "long.csv")
    pyarrow.csv.write_csv(table.slice(0, 2000), folder / "short.csv")
    assert call("train", folder / "short.csv", "--target", "kind", "-o", folder / "m.prf") == 0
    return folder


@pytest.mark.parametrize("command", ["predict", "train"])
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_killing_leaves_no_broken_file(long_job, tmp_path, command, how):
    table = long_job / "long.csv"
    before = table.stat().st_mtime_ns, table.stat().st_size
    output = write(tmp_path / ("o.csv" if command == "predict" else "o.prf"), "the old one")
    words = [long_job / "m.prf", table] if command == "predict" else [table, "--target", "kind"]
    process = start(command, *words, "-o", output, "--overwrite")
    wait_for_part(tmp_path, process)
    time.sleep(0.5)
    process.send_signal(how)
    _, errors = process.communicate(timeout=60)
    assert output.read_text() == "the old one"
    assert (table.stat().st_mtime_ns, table.stat().st_size) == before
    if how == signal.SIGKILL:
        assert process.returncode == -signal.SIGKILL
    else:
        assert process.returncode == 130
        assert errors.strip().splitlines()[-1] == "probforest: interrupted; no unfinished file is left."
        assert os.listdir(tmp_path) == [output.name]


@pytest.mark.parametrize("name", ["o.csv", "o.parquet", "o.fits", "o.csv.gz"])
def test_a_full_disk_is_said(long_job, tmp_path, name):
    """A limit for the size of files stands in for the disk."""

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    made = run("predict", long_job / "m.prf", long_job / "short.csv", "-o", tmp_path / name, preexec_fn=limit)
    assert made.returncode == 1
    assert made.stderr == f"probforest: error: {tmp_path / name}: File too large\n"
    assert os.listdir(tmp_path) == []


def test_a_full_disk_stops_a_training(long_job, tmp_path):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    made = run("train", long_job / "short.csv", "--target", "kind", "-o", tmp_path / "m.prf", preexec_fn=limit)
    assert made.returncode == 1
    assert made.stderr.splitlines()[-1] == f"probforest: error: {tmp_path / 'm.prf'}: File too large"
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("command", ["predict", "train", "evaluate"])
def test_a_folder_that_cannot_be_written_to_is_known_at_once(small_model, tmp_path, capsys, command):
    if os.geteuid() == 0:
        folder = "/proc"  # where not even root makes files
    else:
        folder = tmp_path
        folder.chmod(0o555)
    table = str(small_model.with_name("t.csv"))
    words = {
        "predict": [str(small_model), table, "-o", f"{folder}/o.csv"],
        "train": [table, "--target", "kind", "-o", f"{folder}/o.prf"],
        "evaluate": [str(small_model), table, "--report", f"{folder}/o.html"],
    }
    assert call(command, *words[command]) in (1, 2)  # Linux says of /proc that there is no such folder
    out, error = capsys.readouterr()
    assert re.fullmatch(rf"probforest: error: {folder}/o\.(csv|prf|html): can't be written: .*\n", error)
    assert out == ""


WITHOUT_EXTRAS = """
import sys

class Missing:
    def find_spec(self, name, *_):
        if name.split(".")[0] in ("pandas", "pyarrow", "astropy", "matplotlib", "tqdm", "polars"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
from probforest.cli import main
sys.exit(main(sys.argv[1:]))
"""


def test_a_bare_installation_says_what_is_missing(small_model, tmp_path):
    def bare(*words):
        command = [sys.executable, "-c", WITHOUT_EXTRAS, *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, timeout=120)

    assert bare("demo", "--objects", "30", "--trees", "1").returncode == 0
    assert bare("inspect", small_model).returncode == 0
    table = small_model.with_name("t.csv")
    trained = bare("train", table, "--target", "kind", "-o", tmp_path / "m.prf")
    assert trained.returncode == 2
    assert trained.stderr == (
        'probforest: error: CSV needs pyarrow, which is not installed: pip install "probforest[tables]"\n'
    )
    drawn = bare("evaluate", small_model, table, "--report", tmp_path / "r.html")
    assert drawn.returncode == 2
    assert 'pip install "probforest[plots]"' in drawn.stderr
    assert os.listdir(tmp_path) == []


def test_module_and_version():
    made = run("--version")
    assert made.stdout.strip() == "0.1.0"
    assert shutil.which("probforest", path=os.path.dirname(sys.executable))


def test_help_names_every_command_and_option(capsys):
    text = run("--help").stdout
    for command in ("train", "predict", "evaluate", "inspect", "demo", "experiments", "exit codes"):
        assert command in text
    for command in ("train", "predict", "evaluate", "inspect"):
        with pytest.raises(SystemExit):
            call(command, "--help")
        shown = capsys.readouterr().out
        assert "example" in shown
        assert "--json" in shown
        assert "--debug" in shown


def test_demo_prints_the_comparison(capsys):
    assert call("demo", "--objects", "300", "--trees", "5") == 0
    printed = capsys.readouterr().out.splitlines()
    rows = [row for row in printed if row.startswith(("exact", "errors", "an error", "4"))]
    assert len(rows) == 4
    for row in rows:
        numbers = [float(word) for word in row.split()[-8:]]
        assert all(0 < accuracy <= 1 for accuracy in numbers[:2])


def test_the_same_seed_prints_the_same_accuracies(capsys):
    def accuracies(*options):
        call("demo", "--objects", "200", "--trees", "3", *options)
        return [row.split()[-8:-4] for row in capsys.readouterr().out.splitlines()[3:]]

    assert accuracies("--seed", "1") == accuracies("--seed", "1", "--n-jobs", "2")
    assert accuracies("--seed", "1") != accuracies("--seed", "2")
