"""`probforest train --feature-model` and `probforest merge`."""

import json

import numpy as np
import pytest

from command_line import call, said, write
from probforest import load

SET = ["--target", "kind", "--set", "n_estimators=3"]


def table(seed, kinds="AB", n=60):
    random = np.random.default_rng(seed)
    rows = "".join(
        f"{kinds[i % len(kinds)]},{i % len(kinds) + random.normal() / 3:.4f},{random.random() / 5:.4f},{i}\n"
        for i in range(n)
    )
    return "kind,g,e_g,number\n" + rows


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    write(folder / "all.csv", table(0))
    assert call("train", folder / "all.csv", *SET, "--drop", "number", "-o", folder / "features.prf") == 0
    for seed in (1, 2):
        write(folder / f"{seed}.csv", table(seed))
        words = ["train", folder / f"{seed}.csv", *SET, "--feature-model", folder / "features.prf", "--seed", seed]
        assert call(*words, "-o", folder / f"{seed}.prf") == 0
    return folder


def test_parts_become_one_forest(parts, capsys):
    printed = said(capsys, "merge", parts / "1.prf", parts / "2.prf", "-o", parts / "both.prf", "--json").out
    assert json.loads(printed)["trees"] == 6
    both = load(parts / "both.prf")
    assert len(both.trees_) == 6
    about = json.loads(said(capsys, "inspect", parts / "both.prf", "--json").out)["about"]
    assert about == {"merged": ["1.prf", "2.prf"], "target": "kind", "rows": 120, "table": "1.csv, 2.csv"}
    assert call("evaluate", parts / "both.prf", parts / "all.csv") == 0


def test_other_columns_and_absent_classes_do_no_harm(parts):
    write(parts / "a.csv", table(3, kinds="A"))
    words = ["train", parts / "a.csv", *SET, "--feature-model", parts / "features.prf", "--seed", 3]
    assert call(*words, "-o", parts / "a.prf") == 0
    model = load(parts / "a.prf")
    assert model.classes_.tolist() == ["A", "B"]
    assert model.feature_names_.tolist() == ["g"]


def test_what_does_not_fit_together(parts, capsys):
    def refuses(text, *words):
        capsys.readouterr()
        assert call(*words, "-o", parts / "never.prf") == 2
        assert text in capsys.readouterr().err
        assert not (parts / "never.prf").exists()

    with_features = ["--feature-model", parts / "features.prf"]
    refuses("1.prf and", "merge", parts / "1.prf", parts / "1.prf")
    refuses("--drop and --feature-model", "train", parts / "1.csv", *SET, "--drop", "g", *with_features)
    refuses("--task regression", "train", parts / "1.csv", *SET, "--task", "regression", *with_features)
    settings = ["--target", "kind", "--set", "keep_proba=0.5", "max_bins=9"]
    refuses("can't be changed", "train", parts / "1.csv", *settings, *with_features)
    write(parts / "c.csv", table(4, kinds="AC"))
    refuses("the class 'C', which", "train", parts / "c.csv", *SET, *with_features)
    write(parts / "h.csv", "kind,h\nA,1\nB,2\n")
    refuses("has no column 'g'", "train", parts / "h.csv", *SET, *with_features)
    assert call("train", parts / "1.csv", *SET, "--drop", "number", "-o", parts / "own.prf") == 0
    refuses("--feature-model", "merge", parts / "1.prf", parts / "own.prf")
