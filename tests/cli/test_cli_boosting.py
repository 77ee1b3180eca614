"""Boosting on the command line: train, predict, evaluate and inspect."""

import json

import numpy as np
import pyarrow.parquet
import pytest

import probforest
from catalogue_files import as_arrow
from command_line import TABLE, call, said

TRAIN = ["--model", "boosting", "--target", "kind", "--drop", "objid", "sure", "--set", "max_iter=12"]


@pytest.fixture(scope="module")
def model(folder, tmp_path_factory):
    path = tmp_path_factory.mktemp("boosting") / "model.prf"
    assert call("train", folder / "t.csv", *TRAIN, "-o", path) == 0
    return path


def test_train_says_how_it_went(folder, tmp_path, capsys):
    path = tmp_path / "model.prf"
    printed = said(capsys, "train", folder / "t.csv", *TRAIN, "--set", "early_stopping=true", "-o", path).out
    for words in ("iterations, loss of the training set", "held out", "most important features", "trees, "):
        assert words in printed
    assert "out-of-bag accuracy" not in printed
    summary = json.loads(said(capsys, "train", folder / "t.csv", *TRAIN, "-o", path, "--overwrite", "--json").out)
    assert summary["out_of_bag"] is None
    assert summary["classes"] == ["galaxy", "star"]


def test_predict_and_evaluate(folder, model, tmp_path, capsys):
    output = tmp_path / "out.parquet"
    assert call("predict", model, folder / "t.csv", "--keep", "objid", "-o", output) == 0
    loaded, table = probforest.load(model), as_arrow(TABLE).to_pandas()
    expected = loaded.predict_proba(table[loaded.feature_model_.layout.names].astype(float))
    found = pyarrow.parquet.read_table(output)
    np.testing.assert_array_equal(found.column("proba_star").to_numpy(), expected[:, 1])
    evaluated = json.loads(said(capsys, "evaluate", model, folder / "t.csv", "--json").out)
    assert evaluated["accuracy"]["value"] > 0.7


def test_inspect(model, capsys):
    text = said(capsys, "inspect", model).out
    for words in ("ProbabilisticGradientBoostingClassifier", "12 trees", "max_iter=12", "prior: ", "importances"):
        assert words in text
    description = json.loads(said(capsys, "inspect", model, "--json").out)
    assert sum(description["importances"].values()) == pytest.approx(1)
    assert probforest.describe(model)["kind"] == "boosting"


def test_parameters_of_the_other_model_are_refused(folder, tmp_path, capsys):
    options = ["train", folder / "t.csv", "--target", "kind", "-o", tmp_path / "m.prf"]
    assert call(*options, "--model", "boosting", "--set", "n_estimators=5") == 2
    assert "boosting has no such parameter" in capsys.readouterr().err
    assert call(*options, "--set", "max_iter=5") == 2
    assert "a forest has no such parameter" in capsys.readouterr().err


NUMBERS = ["--model", "boosting", "--target", "g", "--task", "regression", "--drop", "objid", "sure", "e_g"]


def test_numbers(folder, tmp_path, capsys):
    path, output = tmp_path / "model.prf", tmp_path / "out.parquet"
    words = [*NUMBERS, "--set", "max_iter=12", "loss=absolute_error", "-o", path]
    printed = said(capsys, "train", folder / "t.csv", *words).out
    for words in ("iterations, loss of the training set", "most important features", "12 trees"):
        assert words in printed
    assert call("predict", path, folder / "t.csv", "--keep", "objid", "-o", output) == 0
    loaded, table = probforest.load(path), as_arrow(TABLE).to_pandas()
    expected = loaded.predict(table[loaded.feature_model_.layout.names].astype(float))
    np.testing.assert_array_equal(pyarrow.parquet.read_table(output).column("predicted").to_numpy(), expected)
    capsys.readouterr()
    evaluated = json.loads(said(capsys, "evaluate", path, folder / "t.csv", "--json").out)
    assert evaluated["crps"] is None
    assert np.isfinite(evaluated["rmse"])
    assert "ProbabilisticGradientBoostingRegressor" in said(capsys, "inspect", path).out
    assert call("predict", path, folder / "t.csv", "--quantiles", "0.5", "-o", tmp_path / "b.csv") == 2
    assert "predicts single numbers" in capsys.readouterr().err
