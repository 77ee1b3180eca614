"""The command line, on tables of every format."""

import json
import os
import shutil
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.csv
import pyarrow.parquet
import pytest
from astropy import units as u
from astropy.table import Table

import probforest
from catalogue_files import as_arrow
from command_line import TABLE, TRAIN, call, run, said, write
from probforest.cli.main import main
from probforest.storage.catalogues import open_catalogue


def expected_probabilities(path):
    table = as_arrow(TABLE).to_pandas()
    model = probforest.load(path)
    return model.predict_proba(table[model.feature_model_.layout.names].astype(float))


# Every command, every format


@pytest.mark.parametrize("name", ["t.csv", "t.ecsv", "t.fits", "t.vot", "t.parquet", "t.arrow"])
def test_train_predict_and_evaluate_every_format(folder, tmp_path, capsys, name):
    model, table = tmp_path / "model.prf", folder / name
    trained = said(capsys, "train", table, *TRAIN, "-o", model)
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
        assert words in trained.out
    np.testing.assert_array_equal(expected_probabilities(model), expected_probabilities(folder / "without_units.prf"))
    output = tmp_path / f"out{table.suffix}"
    assert call("predict", model, table, "--keep", "objid", "name", "g", "-o", output) == 0
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
    evaluated = said(capsys, "evaluate", model, table, "--json")
    assert json.loads(evaluated.out)["accuracy"]["value"] == pytest.approx(np.mean(best == TABLE["kind"]))


def test_a_process_of_its_own_does_the_same(folder, tmp_path):
    model, output = tmp_path / "model.prf", tmp_path / "out.csv"
    trained = run("train", folder / "t.csv", *TRAIN, "-o", model)
    assert trained.returncode == 0, trained.stderr
    assert "out-of-bag accuracy 0." in trained.stdout
    assert model.read_bytes() == (folder / "without_units.prf").read_bytes()
    predicted = run("predict", model, folder / "t.csv", "-o", output, "--json")
    assert predicted.returncode == 0, predicted.stderr
    assert json.loads(predicted.stdout)["rows"] == 240
    proba = pyarrow.csv.read_csv(output).column("proba_star").to_numpy()
    np.testing.assert_array_equal(proba, expected_probabilities(model)[:, 1])


def test_inspect(folder, capsys):
    text = said(capsys, "inspect", folder / "with_units.prf").out
    for words in (
        "classes: galaxy, star",
        "10 trees",
        "size: -size_err2 +size_err1",
        "g [mag]",
        "target: kind",
        "prior: ",
        "missing values: ",
    ):
        assert words in text
    description = json.loads(said(capsys, "inspect", folder / "with_units.prf", "--json").out)
    assert description["units"]["size"] == "arcsec"
    assert description["prior"] in ("empirical", "joint", None)
    assert set(description["missing"]) == set(description["features"])
    assert description["errors"]["g"] == {"lower": "e_g", "upper": None, "limit": None}
    assert description["about"]["table"] == "t.fits"
    assert description["bytes"] == (folder / "with_units.prf").stat().st_size
    assert sum(description["importances"].values()) == pytest.approx(1)


def test_json_is_all_that_standard_output_has(folder, tmp_path, capfd):
    trained = said(capfd, "train", folder / "t.csv", *TRAIN, "-o", tmp_path / "m.prf", "--json")
    summary = json.loads(trained.out)
    assert summary["classes"] == ["galaxy", "star"]
    assert summary["ignored"] == {"objid": "--drop", "sure": "--drop", "name": "text"}
    assert summary["out_of_bag"]["n_objects"] + summary["out_of_bag"]["n_left_out"] == 240
    words = ["predict", tmp_path / "m.prf", folder / "t.csv", "-o", tmp_path / "o.csv", "--json"]
    predicted = json.loads(said(capfd, *words).out)
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


def assert_in_order(words, text):
    for each in words:
        _, found, text = text.partition(each)
        assert found, each


def test_report_and_plots(folder, tmp_path, capsys):
    words = ["evaluate", folder / "without_units.prf", folder / "t.csv"]
    made = said(capsys, *words, "--report", tmp_path / "r.html", "--plots", tmp_path / "p")
    assert "was trained on the objects in t.csv" in made.err
    page = Page((tmp_path / "r.html").read_text(encoding="utf-8"))
    assert len(page.sources) >= 5
    assert all(source.startswith(("data:image/svg+xml;base64,", "#")) for source in page.sources)
    in_this_order = ["without_units.prf on t.csv", "was trained on the objects in t.csv", "Accuracy", "In short"]
    in_this_order += ["galaxy", "Can the probabilities be trusted?", "Size of the errors", "What limits the accuracy"]
    assert_in_order(in_this_order, page.text)
    assert call(*words, "--plots", tmp_path / "p") == 2
    assert call(*words, "--plots", tmp_path / "p", "--overwrite") == 0
    names = {path.name for path in (tmp_path / "p").iterdir()}
    assert {
        "confusion.png",
        "roc.png",
        "reliability.svg",
        "error_size.png",
        "error_cost.svg",
        "importance.svg",
    } <= names


def test_the_worst_mistakes_are_explained(folder, tmp_path, capsys):
    """Rows without a class are left out, but rows are still counted as they are in the file."""
    table = pd.read_csv(folder / "t.csv", dtype={"kind": object})
    table.loc[:9, "kind"] = None
    table.loc[10:30, "kind"] = table["kind"].dropna().iloc[::-1].to_numpy()[:21]  # some wrong labels
    table.to_csv(tmp_path / "t.csv", index=False)
    words = ["evaluate", folder / "without_units.prf", tmp_path / "t.csv", "--report", tmp_path / "r.html", "--json"]
    mistakes = json.loads(said(capsys, *words).out)["mistakes"]
    assert mistakes
    model = probforest.load(folder / "without_units.prf")
    for mistake in mistakes:
        row = table.iloc[[mistake["row"] - 1]]
        proba = model.predict_proba(row[list(model.feature_names_in_)])[0]
        assert row["kind"].item() == mistake["truth"]
        assert proba.max() == pytest.approx(mistake["proba_of_answer"])
        assert proba[list(model.classes_).index(mistake["truth"])] == pytest.approx(mistake["proba_of_truth"])
    text = Page((tmp_path / "r.html").read_text(encoding="utf-8")).text
    worst = table.iloc[[mistakes[0]["row"] - 1]][list(model.feature_names_in_)]
    assert_in_order(["The worst mistakes", model.contributions(worst).brief(0)], text)
    assert "out of bag 0." in text


def test_the_page_about_other_tables_has_no_such_warning(small_model, tmp_path, capsys):
    rows = small_model.with_name("t.csv").read_text().splitlines()
    table = write(tmp_path / "half.csv", "\n".join([*rows[:21], ",1,1"]) + "\n")
    words = ["evaluate", small_model, table, "--report", tmp_path / "r.html"]
    assert call(*words) == 0
    text = Page((tmp_path / "r.html").read_text(encoding="utf-8")).text
    assert "was trained on the objects" not in text
    assert_in_order(["Rows without a class", "1"], text)
    capsys.readouterr()
    assert call("evaluate", small_model, table, "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["is_training_table"], result["notes"]) == (False, [])
    assert call("evaluate", small_model, small_model.with_name("t.csv"), "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert result["is_training_table"] is True
    assert "was trained on the objects in t.csv" in result["notes"][0]


def test_demo_and_experiments(tmp_path, capsys):
    rows = json.loads(said(capsys, "demo", "--objects", "60", "--trees", "2", "--json").out)
    assert len(rows) == 5
    assert all(0 < rows[0][model]["accuracy"] <= 1 for model in ("scikit-learn", "probforest", "probforest, boosting"))
    assert 0 < rows[4]["probforest"]["crps"] < rows[4]["probforest"]["rmse"]
    assert call("experiments", "nothing") == 2
    assert "unknown experiment 'nothing'" in capsys.readouterr().err


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
    query = frame[model.feature_model_.layout.names].astype(float)
    np.testing.assert_array_equal(model.predict_proba(query), expected.predict_proba(frame[columns].astype(float)))


def test_the_joint_prior(folder, tmp_path, capsys):
    model = tmp_path / "m.prf"
    command = ["train", folder / "t.csv", "--target", "kind", "--drop", "objid", "sure", "-o", model]
    said(capsys, *command, "--set", "n_estimators=5", "prior=joint")
    assert "prior: joint; " in said(capsys, "inspect", model).out
    described = json.loads(said(capsys, "inspect", model, "--json").out)
    assert described["prior"] == "joint"
    assert all(set(group["features"]) <= set(described["features"]) for group in described["joint_prior"])
    said(capsys, "predict", model, folder / "t.csv", "-o", tmp_path / "out.csv")
    said(capsys, *command, "--overwrite", "--set", "n_estimators=5", "prior=empirical")
    assert json.loads(said(capsys, "inspect", model, "--json").out)["joint_prior"] is None


def test_every_command_says_that_labels_were_doubtful(folder, tmp_path, capsys):
    model = tmp_path / "m.prf"
    command = ["train", folder / "t.csv", "--target", "kind", "--label-proba", "sure", "--drop", "objid"]
    expected = float(1 - TABLE["sure"].mean())
    line = f"trained on doubtful labels: the most probable class is expected to be wrong for {expected:.1%}"
    assert line in said(capsys, *command, "--set", "n_estimators=5", "-o", model).out
    assert line in said(capsys, "inspect", model).out
    assert line in said(capsys, "predict", model, folder / "t.csv", "-o", tmp_path / "out.csv").out
    assert line in said(capsys, "evaluate", model, folder / "t.csv").out
    described = json.loads(said(capsys, "inspect", model, "--json").out)
    evaluated = json.loads(said(capsys, "evaluate", model, folder / "t.csv", "--json").out)
    assert described["wrong_labels"] == evaluated["wrong_labels_in_training"] == pytest.approx(expected)
    assert "doubtful" not in said(capsys, "inspect", folder / "with_units.prf").out
    assert json.loads(said(capsys, "inspect", folder / "with_units.prf", "--json").out)["wrong_labels"] is None
    proba = pyarrow.csv.read_csv(tmp_path / "out.csv").column("proba_star").to_numpy()
    assert ((proba > 0) & (proba < 1)).all()


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
    assert "already has a column 'predicted_class'" in capsys.readouterr().err
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
    import probforest.storage.catalogues.catalogue as catalogue_module

    monkeypatch.setattr(catalogue_module, "MOST_ROWS", 17)
    monkeypatch.setattr(catalogue_module, "LEAST_ROWS", 1)
    model = folder / "without_units.prf"
    assert call("predict", model, folder / "t.arrow", "-o", tmp_path / "o.parquet") == 0
    table = pyarrow.parquet.read_table(tmp_path / "o.parquet")
    np.testing.assert_array_equal(table.column("proba_star").to_numpy(), expected_probabilities(model)[:, 1])


WITHOUT_EXTRAS = """
import contextlib, io, json, sys

class Missing:
    def find_spec(self, name, *_):
        if name.split(".")[0] in ("pandas", "pyarrow", "astropy", "matplotlib", "tqdm", "polars"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
from probforest.cli.main import main
results = []
for words in json.loads(sys.argv[1]):
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
        code = main(words)
    results.append((code, errors.getvalue()))
print(json.dumps(results))
"""


def test_a_bare_installation_says_what_is_missing(small_model, tmp_path):
    model, table = str(small_model), str(small_model.with_name("t.csv"))
    commands = [
        ["demo", "--objects", "30", "--trees", "1"],
        ["inspect", model],
        ["train", table, "--target", "kind", "-o", str(tmp_path / "m.prf")],
        ["evaluate", model, table, "--report", str(tmp_path / "r.html")],
    ]
    command = [sys.executable, "-c", WITHOUT_EXTRAS, json.dumps(commands)]
    made = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert made.returncode == 0, made.stderr
    demo, inspected, trained, drawn = json.loads(made.stdout)
    assert (demo[0], inspected[0]) == (0, 0)
    needs_pyarrow = 'CSV needs pyarrow, which is not installed: pip install "probforest[tables]"'
    assert trained == [2, f"probforest: error: {needs_pyarrow}\n"]
    assert drawn[0] == 2
    assert 'pip install "probforest[plots]"' in drawn[1]
    assert os.listdir(tmp_path) == []


def test_module_and_version():
    assert run("--version").stdout.strip() == "0.2.0"
    assert shutil.which("probforest", path=os.path.dirname(sys.executable))


def test_help_names_every_command_and_option(capsys):
    with pytest.raises(SystemExit):
        call("--help")
    text = capsys.readouterr().out
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
        numbers = [float(word) for word in row.split()[-12:]]
        assert all(0 < accuracy <= 1 for accuracy in numbers[:3])
    numbers = next(row for row in printed if row.startswith("numbers"))
    rmse = [float(word) for word in numbers.split()[-8:-6]]
    assert rmse[1] < rmse[0]


def test_the_same_seed_prints_the_same_accuracies(capsys):
    def accuracies(*options):
        call("demo", "--objects", "200", "--trees", "3", *options)
        return [row.split()[-12:-6] for row in capsys.readouterr().out.splitlines()[3:]]

    assert accuracies("--seed", "1") == accuracies("--seed", "1", "--n-jobs", "2")
    assert accuracies("--seed", "1") != accuracies("--seed", "2")


def test_words_for_missing_classes_and_large_numbers(tmp_path, capsys):
    rows = [f"{('a', 'b', 'NA')[i % 3]},{2**53 + i % 2},{i % 3 + i / 100}" for i in range(60)]
    (tmp_path / "t.csv").write_text("word,number,g\n" + "\n".join(rows) + "\n")
    model = tmp_path / "word.prf"
    assert call("train", tmp_path / "t.csv", "--target", "word", "--drop", "number", "-o", model) == 0
    assert "left out: 20 rows without a class" in capsys.readouterr().out
    assert probforest.load(model).classes_.tolist() == ["a", "b"]
    model = tmp_path / "number.prf"
    assert call("train", tmp_path / "t.csv", "--target", "number", "--drop", "word", "-o", model) == 0
    capsys.readouterr()
    assert call("evaluate", model, tmp_path / "t.csv", "--json") == 0
    assert json.loads(capsys.readouterr().out)["confusion"][1] != [0, 0]


def test_inspect_in_json_has_no_numbers_that_json_lacks(tmp_path, capsys):
    X = np.random.default_rng(0).normal(size=(40, 1))
    forest = probforest.ProbabilisticRandomForestClassifier(2, sentinels={"*": np.inf}).fit(X, X[:, 0] > 0)
    probforest.save(forest, tmp_path / "m.prf")
    assert call("inspect", tmp_path / "m.prf", "--json") == 0
    assert json.loads(capsys.readouterr().out)["parameters"]["sentinels"] == {"*": "inf"}
