"""The command line with numbers to predict."""

import csv
import json

import numpy as np
import pytest

from command_line import call, run, said, write
from probforest import load


def table_text(seed, n=300):
    random = np.random.default_rng(seed)
    g, r = random.normal(20, 1, n), random.normal(19, 1, n)
    z = 0.5 + 0.3 * (g - r) / 2 + 0.02 * random.normal(size=n)
    rows = [
        f"{i},{g[i] + 0.1 * random.normal():.4f},0.1,{r[i] + 0.05 * random.normal():.4f},0.05,{z[i]:.5f},{0.01 + i % 3}"
        for i in range(n)
    ]
    return "name,gmag,e_gmag,rmag,e_rmag,z,sigma_z\n" + "\n".join(f"s{row}" for row in rows) + "\n"


TRAIN = ["--target", "z", "--drop", "sigma_z", "--set", "n_estimators=20"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("numbers")
    write(folder / "train.csv", table_text(0))
    write(folder / "test.csv", table_text(1))
    assert call("train", folder / "train.csv", *TRAIN, "-o", folder / "z.prf") == 0
    return folder


def test_training_says_that_these_are_numbers(folder, capsys, tmp_path):
    out = said(capsys, "train", folder / "train.csv", *TRAIN, "-o", tmp_path / "z.prf").out
    assert "numbers in z: 300 rows" in out
    assert "regression; --task classification makes classes of them" in out
    assert "root mean square" in out
    assert "errors" in out
    result = json.loads(said(capsys, "train", folder / "train.csv", *TRAIN, "--json", "-o", tmp_path / "y.prf").out)
    assert (result["task"], result["classes"], result["rows_without_number"]) == ("regression", None, 0)
    assert result["out_of_bag"]["r2"] > 0.8


def test_errors_of_the_target(folder, capsys, tmp_path):
    words = ["--target", "z", "--target-err", "sigma_z", "--set", "n_estimators=5"]
    said(capsys, "train", folder / "train.csv", *words, "-o", tmp_path / "z.prf")
    model = load(tmp_path / "z.prf")
    assert model.target_scatter_ > 0
    assert model.feature_names_.tolist() == ["gmag", "rmag"]


def test_predictions_are_those_of_python(folder, capsys, tmp_path):
    pandas = pytest.importorskip("pandas")
    out = said(capsys, "predict", folder / "z.prf", folder / "test.csv", "-o", tmp_path / "out.csv").out
    assert "300 rows" in out
    frame = pandas.read_csv(tmp_path / "out.csv")
    added = ["predicted_mean", "predicted_std", "predicted_q16", "predicted_q50", "predicted_q84"]
    assert list(frame.columns) == ["name", "z", "sigma_z", *added]
    model, table = load(folder / "z.prf"), pandas.read_csv(folder / "test.csv")
    features = table[["gmag", "e_gmag", "rmag", "e_rmag"]]
    distribution = model.predict_distribution(features)
    np.testing.assert_allclose(frame["predicted_mean"], distribution.mean)
    np.testing.assert_allclose(frame["predicted_std"], distribution.std)
    np.testing.assert_allclose(frame["predicted_q84"], distribution.quantile(0.84))


def test_quantiles_and_prefix(folder, tmp_path):
    words = ["--quantiles", "0.025", "0.5", "--prefix", "p_", "--keep", "name"]
    assert call("predict", folder / "z.prf", folder / "test.csv", *words, "-o", tmp_path / "out.csv") == 0
    with open(tmp_path / "out.csv") as lines:
        header = next(csv.reader(lines))
    assert header == ["name", "p_predicted_mean", "p_predicted_std", "p_predicted_q2_5", "p_predicted_q50"]


def test_draws(folder, tmp_path, capsys):
    words = ["predict", folder / "z.prf", folder / "test.csv", "--keep", "name", "--draws", "40"]
    assert call(*words, "-o", tmp_path / "out.parquet") == 0
    assert call(*words, "-o", tmp_path / "again.parquet") == 0
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_parquet(tmp_path / "out.parquet")
    assert list(frame.columns)[:4] == ["name", "predicted_mean", "predicted_std", "predicted_draw1"]
    draws = frame.filter(like="draw").to_numpy()
    assert draws.shape == (300, 40)
    assert np.abs(draws.mean(axis=1) - frame["predicted_mean"]).max() < 1.2 * frame["predicted_std"].max()
    pandas.testing.assert_frame_equal(frame, pandas.read_parquet(tmp_path / "again.parquet"))
    assert call(*words, "--quantiles", "0.5", "-o", tmp_path / "no.csv") == 2
    assert "only one of them" in capsys.readouterr().err


def test_evaluation(folder, capsys):
    out = said(capsys, "evaluate", folder / "z.prf", folder / "test.csv").out
    for word in ("CRPS", "68% intervals", "95% intervals", "redshifts", "by size of the errors"):
        assert word in out
    result = json.loads(said(capsys, "evaluate", folder / "z.prf", folder / "test.csv", "--json").out)
    assert result["r2"] > 0.8
    assert 0.5 < result["coverage"]["0.68"] < 0.95
    assert result["redshift"]["sigma_nmad"] < 0.1
    assert not result["is_training_table"]
    seen = said(capsys, "evaluate", folder / "z.prf", folder / "train.csv")
    assert "too good" in seen.err


def test_reports_and_figures(folder, capsys, tmp_path):
    words = [
        "evaluate",
        folder / "z.prf",
        folder / "test.csv",
        "--report",
        tmp_path / "r.html",
        "--plots",
        tmp_path / "f",
    ]
    assert "written" in said(capsys, *words).out
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    for text in ("z.prf on test.csv", "Redshift outliers", "Bias", "What intervals contain", "Numbers in</dt><dd>z"):
        assert text in page
    assert page.count("<figure>") == 7
    assert len(list((tmp_path / "f").glob("*.png"))) == 7
    assert call(*words) == 2
    assert "--overwrite" in capsys.readouterr().err


def test_targets_with_many_digits_are_numbers(folder, tmp_path, capsys):
    lines = (folder / "test.csv").read_text().splitlines()
    long = [",".join([*line.split(",")[:5], f"{float(line.split(',')[5]):.18e}", "1"]) for line in lines[1:]]
    write(tmp_path / "long.csv", "\n".join([lines[0], *long]) + "\n")
    expected, found = (
        json.loads(said(capsys, "evaluate", folder / "z.prf", path, "--json").out)
        for path in (folder / "test.csv", tmp_path / "long.csv")
    )
    assert found["crps"] == pytest.approx(expected["crps"])


def test_inspection(folder, capsys):
    assert "predicts numbers" in said(capsys, "inspect", folder / "z.prf").out
    result = json.loads(said(capsys, "inspect", folder / "z.prf", "--json").out)
    assert result["kind"] == "ProbabilisticRandomForestRegressor"
    assert result["error_scale"] in (0.0, 0.25, 1.0)


def test_integers_and_the_task(tmp_path, capsys):
    ages = "x,age\n" + "".join(f"{i % 90 + 0.5},{i % 90}\n" for i in range(300))
    write(tmp_path / "ages.csv", ages)
    words = ["--target", "age", "--json", "--set", "n_estimators=3"]
    task = json.loads(said(capsys, "train", tmp_path / "ages.csv", *words, "-o", tmp_path / "a.prf").out)["task"]
    assert task == "classification"
    words += ["--task", "regression"]
    task = json.loads(said(capsys, "train", tmp_path / "ages.csv", *words, "-o", tmp_path / "b.prf").out)["task"]
    assert task == "regression"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--task", "regression", "--label-proba", "sigma_z"], "--label-proba is for classes"),
        (["--task", "classification", "--target-err", "sigma_z"], "--target-err is for numbers"),
        (["--task", "classification"], "add --task regression"),
        (["--set", "criterion=gini", "--task", "regression"], "criterion must be one of"),
        (["--set", "votin=soft"], "no such parameter"),
        (["--set", "calibrate=7"], "calibrate must be"),
        (["--target-err", "nothing"], "nothing"),
    ],
)
def test_contradictions_are_refused(words, message, folder, tmp_path, capsys):
    assert call("train", folder / "train.csv", "--target", "z", *words, "-o", tmp_path / "z.prf") == 2
    assert message in capsys.readouterr().err


def test_text_can_not_be_numbers(folder, tmp_path, capsys):
    words = ["--target", "name", "--task", "regression"]
    assert call("train", folder / "train.csv", *words, "-o", tmp_path / "z.prf") == 2
    assert "has no numbers" in capsys.readouterr().err


def test_questions_for_the_other_kind_are_refused(folder, small_model, tmp_path, capsys):
    assert call("evaluate", folder / "z.prf", folder / "test.csv", "--target", "name") == 2
    assert "has no numbers" in capsys.readouterr().err
    assert call("predict", folder / "z.prf", folder / "test.csv", "--quantiles", "2", "-o", tmp_path / "o.csv") == 2
    assert "--quantiles" in capsys.readouterr().err


def test_a_process_of_its_own(folder, tmp_path):
    done = run("predict", folder / "z.prf", folder / "test.csv", "-o", tmp_path / "out.parquet")
    assert done.returncode == 0, done.stderr


def test_the_error_of_the_target_has_an_option(folder, tmp_path, capsys):
    words = ["train", folder / "train.csv", "--target", "gmag", "--drop", "sigma_z", "name", "--set", "n_estimators=2"]
    assert call(*words, "-o", tmp_path / "g.prf") == 2
    assert "name it with --target-err" in capsys.readouterr().err
    assert call(*words, "--target-err", "e_gmag", "-o", tmp_path / "g.prf") == 0
