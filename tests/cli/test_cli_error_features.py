"""Error features on the command line: train, predict, evaluate, inspect."""

import json

import numpy as np
import pandas as pd
import pytest

import probforest
from command_line import call, said
from probforest.cli.predictions import evenly_sampled
from probforest.storage.catalogues import catalogue as catalogue_module

FALLS_BACK = "those that look at the values alone answer"


def make_table(seed, n=400):
    """The errors tell the classes apart, and the objects are sorted by them, as in a table sorted by brightness."""
    random = np.random.default_rng(seed)
    is_star = random.random(n) < 0.5
    table = pd.DataFrame({"kind": np.where(is_star, "star", "galaxy")})
    for name in ("g", "r"):
        error = 10.0 ** (random.normal(-1, 0.2, n) + 0.5 * is_star)
        table[name], table[f"e_{name}"] = random.normal(0.5 * is_star, error), error
    return table.sort_values("e_g", ignore_index=True)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("errors")
    make_table(0).to_csv(folder / "known.csv", index=False)
    test = make_table(1)
    test.to_csv(folder / "test.csv", index=False)
    test.assign(e_g=np.sqrt(5) * test.e_g, e_r=np.sqrt(5) * test.e_r).to_csv(folder / "worse.csv", index=False)
    test.assign(e_g=60 * test.e_g).to_csv(folder / "minutes.csv", index=False)
    train = ["train", folder / "known.csv", "--target", "kind", "--set", "n_estimators=10", "-o"]
    assert call(*train, folder / "errors.prf", "--error-features") == 0
    assert call(*train, folder / "plain.prf") == 0
    return folder


def proba_of(path):
    return pd.read_csv(path)["proba_star"].to_numpy()


def test_train(tables, tmp_path, capsys):
    words = ["train", tables / "known.csv", "--target", "kind", "--set", "n_estimators=3", "--error-features"]
    assert "3 trees and 3 without error features" in said(capsys, *words, "-o", tmp_path / "m.prf").out
    summary = json.loads(said(capsys, *words, "-o", tmp_path / "m2.prf", "--json").out)
    assert list(summary["importances"]) == ["g", "r", "error of g", "error of r"]
    assert call(*words, "--errors", "none", "-o", tmp_path / "m3.prf") == 2
    assert "no known error of a value" in capsys.readouterr().err
    assert call(*words[:4], "--set", "error_features=true", "-o", tmp_path / "m4.prf") == 2
    assert "use --error-features" in capsys.readouterr().err


def test_predict_a_table_with_the_errors_of_the_training_set(tables, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(catalogue_module, "LEAST_ROWS", 50)
    monkeypatch.setattr(catalogue_module, "MOST_ROWS", 50)
    words = ["predict", tables / "errors.prf", tables / "test.csv", "-o", tmp_path / "out.csv", "--json"]
    result = said(capsys, *words)
    assert (json.loads(result.out)["error_shifts"], json.loads(result.out)["uses_fallback_trees"]) == ([], False)
    assert "errors of this table" not in result.err
    model = probforest.load(tables / "errors.prf")
    expected = model.predict_proba(pd.read_csv(tables / "test.csv").drop(columns="kind"))
    np.testing.assert_array_equal(proba_of(tmp_path / "out.csv"), expected[:, 1])


def test_predict_a_table_with_others(tables, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(catalogue_module, "LEAST_ROWS", 50)
    monkeypatch.setattr(catalogue_module, "MOST_ROWS", 50)
    for name in ("errors", "plain"):
        words = ["predict", tables / f"{name}.prf", tables / "worse.csv", "-o", tmp_path / f"{name}.csv", "--json"]
        result = said(capsys, *words)
        assert result.err.count(FALLS_BACK) == (name == "errors")
        assert json.loads(result.out)["uses_fallback_trees"] == (name == "errors")
    found = [shift["name"] for shift in json.loads(said(capsys, *again(tables, tmp_path)).out)["error_shifts"]]
    assert sorted(found) == ["error of g", "error of r"]
    np.testing.assert_array_equal(proba_of(tmp_path / "errors.csv"), proba_of(tmp_path / "plain.csv"))


def again(tables, tmp_path):
    return ["predict", tables / "errors.prf", tables / "worse.csv", "-o", tmp_path / "again.csv", "--json"]


def test_a_plain_model_notes_errors_far_outside_once(tables, tmp_path, capsys):
    said_ = said(capsys, "predict", tables / "plain.prf", tables / "minutes.csv", "-o", tmp_path / "out.csv")
    assert said_.err.count("error of g: ") == 1
    assert "Check their units" in said_.err
    assert "error of r" not in said_.err


def test_evaluate(tables, tmp_path, capsys):
    words = ["evaluate", tables / "errors.prf", tables / "worse.csv"]
    made = said(capsys, *words, "--report", tmp_path / "r.html")
    assert "Errors that are not like those of the training set\n  error of " in made.out
    assert made.err.count(FALLS_BACK) == 1
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<h2>Errors that are not like those of the training set</h2>" in page
    assert FALLS_BACK in page
    result = json.loads(said(capsys, *words, "--json").out)
    assert any(FALLS_BACK in note for note in result["notes"])
    assert result["uses_fallback_trees"]
    assert all(1.5 < shift["ratio"] < 3 for shift in result["error_shifts"])
    plain = json.loads(said(capsys, "evaluate", tables / "plain.prf", tables / "worse.csv", "--json").out)
    assert result["accuracy"] == plain["accuracy"]
    good = said(
        capsys, "evaluate", tables / "errors.prf", tables / "test.csv", "--json", "--report", tmp_path / "g.html"
    )
    assert json.loads(good.out)["accuracy"]["value"] > plain["accuracy"]["value"] + 0.04
    assert "not like those" not in (tmp_path / "g.html").read_text(encoding="utf-8")


def test_inspect(tables, capsys):
    text = said(capsys, "inspect", tables / "errors.prf").out
    for words in ("10 trees, ", "without error features: 10 trees, ", "error_features=True", "error of g  0."):
        assert words in text
    assert json.loads(said(capsys, "inspect", tables / "errors.prf", "--json").out)["fallback_trees"]["n_trees"] == 10
    assert "without error features" not in said(capsys, "inspect", tables / "plain.prf").out


def test_a_wrong_value_is_named_with_its_row(tables, tmp_path, capsys):
    table = pd.read_csv(tables / "test.csv")
    table.loc[123, "e_r"] = -1.0
    table.to_csv(tmp_path / "wrong.csv", index=False)
    for model in ("errors.prf", "plain.prf"):
        assert call("predict", tables / model, tmp_path / "wrong.csv", "-o", tmp_path / "out.csv") == 2
        assert "column 'e_r' is -1.0 at row 124" in capsys.readouterr().err


@pytest.mark.parametrize("sizes", [[10], [3, 4, 5], [100, 1, 1, 60], [], [1] * 70])
def test_rows_are_sampled_evenly(sizes, monkeypatch):
    pyarrow = pytest.importorskip("pyarrow")
    monkeypatch.setattr("probforest.cli.predictions._MOST_SAMPLED", 16)
    ends = np.cumsum([0, *sizes]).tolist()
    pieces = (pyarrow.table({"a": range(ends[i], ends[i + 1])}) for i in range(len(sizes)))
    sample = evenly_sampled(pieces)
    if not sizes:
        assert sample is None
        return
    rows = sample.column("a").to_numpy()
    step = next(step for step in (1, 2, 4, 8, 16) if -(-ends[-1] // step) <= 16)
    np.testing.assert_array_equal(rows, np.arange(0, ends[-1], step))
