import numpy as np
import pytest

from probforest.cli import main as cli
from probforest.studies.experiments import figures
from probforest.studies.experiments.cases import missing_cells, noisy_features, noisy_labels
from probforest.studies.experiments.contenders import FEATURES, LABELS, MISSING, Setting, perturbed
from probforest.studies.experiments.report import distinct, mean, read_csv, select, table, write_csv
from probforest.studies.experiments.studies import STUDIES, Plan, meet

SETTING = Setting((1, 10), 0, 1)


def test_cases_of_the_two_recipes():
    for recipe in ("paper", "authors"):
        for experiment in ("constant", "objects", "groups", "transfer", "cells"):
            case = noisy_features(60, 2, experiment, recipe, 0)
            assert case.X.shape == case.X_test.shape == case.X_err.shape == case.X_err_test.shape == (60, 15)
            assert case.mean_noise > 0
    transfer = noisy_features(60, 2, "transfer", "authors", 0)
    assert set((transfer.X_err == 0).mean(axis=0)) == {0.0, 1.0}  # whole features are noisy, the others exact
    assert ((transfer.X_err[0] == 0) != (transfer.X_err_test[0] == 0)).any()


def test_only_training_labels_are_wrong():
    case, clean = noisy_labels(500, 0.4, "constant", "paper", 0), noisy_labels(500, 0.0, "constant", "paper", 0)
    assert (case.y != clean.y).mean() == pytest.approx(0.4, abs=0.06)
    np.testing.assert_array_equal(case.y_test, clean.y_test)
    np.testing.assert_array_equal(case.X, clean.X)


@pytest.mark.parametrize(
    ("contenders", "case"),
    [
        (FEATURES, noisy_features(300, 1, "objects", "paper", 0)),
        (LABELS, noisy_labels(600, 0.2, "clean", "paper", 0)),
        (MISSING, missing_cells(300, 0.1, "paper", 0)),
    ],
    ids=["features", "labels", "missing"],
)
def test_every_contender_answers_better_than_a_coin_and_better_with_more_trees(contenders, case):
    rows = list(meet(case, contenders, SETTING, noise="x", level=1))
    assert {row["contender"] for row in rows} == set(contenders)
    for name in contenders:
        few, many = (mean(select(rows, contender=name, trees=trees)) for trees in (1, 10))
        assert many > 0.6
        assert many >= few - 0.02


def test_contenders_that_can_not_take_part_stay_away():
    case = noisy_labels(200, 0.5, "constant", "paper", 0)  # labels that say nothing
    names = {row["contender"] for row in meet(case, {k: LABELS[k] for k in list(LABELS)[6:]}, SETTING)}
    assert names == {"regression forest on p"}


def test_first_trees_are_those_of_a_smaller_forest():
    case = noisy_features(200, 1, "objects", "paper", 0)
    for contender in FEATURES.values():
        if contender is perturbed:
            continue
        few, many = contender(case, Setting((3,), 0, 1)), contender(case, Setting((3, 9), 0, 1))
        np.testing.assert_allclose(few[3], many[3], atol=1e-12)


def test_rows_survive_a_file(tmp_path):
    rows = [
        {"noise": "a", "level": 0.5, "contender": "x, y", "trees": 10, "accuracy": 0.75},
        {"noise": "a", "level": 2, "contender": "z", "trees": 10, "accuracy": 0.5, "extra": 1},
    ]
    write_csv(rows, tmp_path / "rows.csv")
    assert read_csv(tmp_path / "rows.csv") == rows
    assert distinct(rows, "level") == [0.5, 2]
    assert table(rows).splitlines()[2:] == ["| a | 0.5 | 0.750 |  |", "| a | 2 |  | 0.500 |"]


@pytest.mark.filterwarnings("ignore:No split of the training set", "ignore:No tree can have a split")
@pytest.mark.parametrize("name", list(STUDIES))
def test_every_experiment_draws_its_figures(name, tmp_path, monkeypatch):
    monkeypatch.setattr(Plan, "n_train", 60)
    monkeypatch.setattr(Plan, "levels", lambda self, levels: levels[:2])
    rows = list(STUDIES[name](Plan(seeds=1, trees=(1, 2), quick=True)))
    assert rows
    assert all(0 <= row["accuracy"] <= 1 for row in rows)
    figures.draw(name, rows, tmp_path / name)
    pictures = list(tmp_path.glob("*.png"))
    assert pictures
    assert {path.stem for path in pictures} == {path.stem for path in tmp_path.glob("*.svg")}
    figures.pyplot().close("all")


def test_command(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(Plan, "n_train", 60)
    arguments = ["experiments", "missing", "--quick", "--trees", "2,1", "--out", str(tmp_path / "new"), "--no-figures"]
    assert cli.main(arguments) == 0
    assert 'PRF, missing="observed"' in capsys.readouterr().out
    rows = read_csv(tmp_path / "new" / "missing_paper.csv")
    assert set(distinct(rows, "trees")) == {1, 2}
    assert cli.main([*arguments, "--contenders", "forest", 'PRF, missing="auto"']) == 0
    rows = read_csv(tmp_path / "new" / "missing_paper.csv")
    assert set(distinct(rows, "contender")) == {"forest", 'PRF, missing="auto"'}
    assert cli.main([*arguments, "--contenders", "forrest"]) == 2
    assert "there is no 'forrest'. Did you mean 'forest'?" in capsys.readouterr().err
    assert cli.main(["experiments", "none", "--out", str(tmp_path)]) == 2
    assert "unknown experiment 'none'" in capsys.readouterr().err


def test_figures_without_matplotlib_say_what_to_install(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    assert cli.main(["experiments", "missing", "--out", str(tmp_path)]) == 2
    assert 'pip install "probforest[plots]"' in capsys.readouterr().err
