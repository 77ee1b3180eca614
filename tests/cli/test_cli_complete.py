"""`probforest complete`, and `train --unlabelled`."""

import json

import numpy as np
import pandas as pd
import pytest

import probforest
from command_line import call, said
from probforest import ProbabilisticRandomForestClassifier


def noisy_table(n=400, seed=0):
    """Three columns that depend on one hidden number, with errors and holes; an exact one; an identifier; a word."""
    random = np.random.default_rng(seed)
    hidden = random.normal(size=n)
    table = pd.DataFrame({"id": np.arange(10, 10 + n), "word": ["ab", "cd"] * (n // 2), "exact": hidden.round(3)})
    for name in ("a", "b"):
        error = random.gamma(1, 0.4, n).round(3)
        values = (hidden + 0.1 * random.normal(size=n) + error * random.normal(size=n)).round(3)
        table[name] = np.where(random.random(n) < 0.2, np.nan, values)
        table[f"{name}_err"] = error
    table["c"] = np.where(random.random(n) < 0.3, np.nan, (2 * hidden).round(3))
    return table


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("complete")
    noisy_table().to_csv(folder / "t.csv", index=False)
    return folder


def test_values_and_errors_are_those_of_the_posterior(place, capsys):
    about = json.loads(said(capsys, "complete", place / "t.csv", "-o", place / "o.csv", "--json").out)
    given, made = pd.read_csv(place / "t.csv"), pd.read_csv(place / "o.csv")
    new = [f"{name}{suffix}" for name in "abc" for suffix in ("", "_err1", "_err2")]
    assert about["columns"] == list(made.columns) == ["id", "word", "exact", *new]
    assert about["replaced"] == ["a", "b", "c"]
    assert about["filled"] == given[["a", "b", "c"]].isna().sum().to_dict()
    pd.testing.assert_frame_equal(made[["id", "word", "exact"]], given[["id", "word", "exact"]])
    assert made.notna().all(axis=None)
    forest = ProbabilisticRandomForestClassifier(1, prior="joint", missing="observed")
    X, X_err = given[["exact", "a", "b", "c"]], given.assign(zero=0.0)[["zero", "a_err", "b_err", "zero"]]
    found = forest.fit(X, given["word"], X_err=X_err.to_numpy()).posterior(X, X_err=X_err.to_numpy())
    np.testing.assert_allclose(made[["a", "b", "c"]], found.center[:, 1:], rtol=1e-6)
    np.testing.assert_allclose(made[["a_err1", "b_err1", "c_err1"]], found.upper[:, 1:], rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(made[["a_err2", "b_err2", "c_err2"]], -found.lower[:, 1:], rtol=1e-6, atol=1e-12)


def test_the_output_is_closer_to_the_truth_and_knows_how_close(place):
    assert call("complete", place / "t.csv", "-o", place / "o2.csv") == 0
    given, made = pd.read_csv(place / "t.csv"), pd.read_csv(place / "o2.csv")
    truth = given["exact"]
    hole = given["c"].isna()
    off = made["c"] - 2 * truth
    assert off[hole].std() < 0.3  # c has a scatter of 2
    assert (off[~hole] == (given["c"] - 2 * truth)[~hole]).all()
    pull = (made["a"] - truth) / np.hypot((made["a_err1"] - made["a_err2"]) / 2, 0.1)
    assert 0.5 < pull.std() < 1.5
    assert (made["a"] - truth).abs().mean() < 0.5 * (given["a"] - truth).abs().mean()


def test_it_can_be_read_again_with_its_errors(place, capsys):
    assert call("complete", place / "t.csv", "-o", place / "o3.parquet") == 0
    words = said(
        capsys, "train", place / "o3.parquet", "--target", "word", "--set", "n_estimators=2", "-o", place / "m.prf"
    )
    assert "a: -a_err2 +a_err1" in words.out


def test_columns_can_be_chosen_and_named(place, capsys):
    options = ["--features", "a", "b", "--keep", "a", "id", "--prefix", "best_", "--prior", "empirical"]
    words = said(capsys, "complete", place / "t.csv", *options, "-o", place / "o4.csv").out
    made = pd.read_csv(place / "o4.csv")
    assert list(made.columns) == [
        "id",
        "a",
        "best_a",
        "best_a_err1",
        "best_a_err2",
        "best_b",
        "best_b_err1",
        "best_b_err2",
    ]
    assert made["best_a"].isna().sum() == made["a"].isna().sum() > 0  # the empirical prior fills no holes
    assert "still missing: a " in words


def test_sentinels_are_missing_values(place):
    table = noisy_table()
    table.fillna({"c": -99}).to_csv(place / "s.csv", index=False)
    assert call("complete", place / "s.csv", "--sentinels", "-99", "-o", place / "o5.csv") == 0
    assert call("complete", place / "t.csv", "-o", place / "o6.csv") == 0
    pd.testing.assert_frame_equal(pd.read_csv(place / "o5.csv"), pd.read_csv(place / "o6.csv"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--features", "d"], "--features d: the table has no such column"),
        (["--keep", "a"], "two columns 'a'"),
        (["--features", "exact"], "no value has an error or is missing"),
        (["--errors", "nowhere.toml"], "there is no file nowhere.toml"),
    ],
)
def test_what_can_not_be_done_is_said(place, capsys, options, message):
    assert call("complete", place / "t.csv", *options, "-o", place / "no.csv") == 2
    assert message in capsys.readouterr().err
    assert not (place / "no.csv").exists()


def test_wrong_values_have_a_row(place, capsys):
    table = noisy_table()
    table.loc[6, "a_err"] = -1
    table.to_csv(place / "w.csv", index=False)
    assert call("complete", place / "w.csv", "-o", place / "no.csv") == 2
    assert "column 'a_err' is -1.0 at row 7" in capsys.readouterr().err


def test_training_takes_objects_without_classes(place, capsys):
    noisy_table(2000, 1).drop(columns="word").to_csv(place / "survey.csv", index=False)
    noisy_table(60, 2).to_csv(place / "few.csv", index=False)
    base = ["train", place / "few.csv", "--target", "word", "--drop", "id", "--set", "n_estimators=2", "prior=joint"]
    assert call(*base, "-o", place / "few.prf") == 0
    assert call(*base, "--unlabelled", place / "survey.csv", "-o", place / "both.prf") == 0
    few, both = (probforest.load(place / name).feature_model_ for name in ("few.prf", "both.prf"))
    assert not np.array_equal(few.priors[1].mass, both.priors[1].mass)
    capsys.readouterr()
    noisy_table(100, 3).drop(columns=["b", "b_err"]).to_csv(place / "less.csv", index=False)
    assert call(*base, "--unlabelled", place / "less.csv", "-o", place / "no.prf") == 2
    assert "less.csv has no column 'b'" in capsys.readouterr().err
    noisy_table(100, 3).assign(a_err=-1.0).to_csv(place / "wrong.csv", index=False)
    assert call(*base, "--unlabelled", place / "wrong.csv", "-o", place / "no.prf") == 2
    assert "wrong.csv: column 'a_err' is -1.0; " in capsys.readouterr().err
