"""Forests of tables in files, of which only pieces are in memory."""

import json
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import dataset, parquet
from sklearn.base import clone

from command_line import call, said
from pieces import same_trees
from probforest import ProbabilisticRandomForestClassifier, ProbabilisticRandomForestRegressor, load
from probforest.estimators import memory_plan
from probforest.estimators.memory_plan import bytes_of, plan_memory
from probforest.large import fit_tables
from problems import random_problem

N = 300
PROBLEM = random_problem(4, n=N, d=3, k=2, missing=0.05)
FOREST = ProbabilisticRandomForestClassifier(3, random_state=0, prior="empirical", error_columns="auto")
KIND = np.array(["quasar", "star"])[PROBLEM.pmf.argmax(axis=1)].astype(object)
KIND[5] = None
COLUMNS = {name: PROBLEM.values[:, j] for j, name in enumerate("gri")} | {
    f"e_{name}": PROBLEM.errors[:, j] for j, name in enumerate("gri")
}
TABLE = pa.table(
    {
        **{name: pa.array(values, from_pandas=True) for name, values in COLUMNS.items()},
        "kind": pa.array(KIND),
        "sure": np.linspace(0.6, 1.0, N),
        "z": np.arange(N) / 10.0,
    }
)


def write(folder, table=TABLE, cuts=(0, 100, 100, 270, N)):
    folder.mkdir()
    for number, (first, last) in enumerate(pairwise(cuts)):
        parquet.write_table(table.slice(first, last - first), folder / f"{number}.parquet", row_group_size=40)
    return folder


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    return write(tmp_path_factory.mktemp("survey") / "parts")


def in_memory(model, *, target="kind", **columns):
    frame = TABLE.to_pandas()
    frame = frame[frame[target].notna()]
    arguments = {role: frame[name].to_numpy() for role, name in columns.items()}
    return clone(model).fit(frame[list(COLUMNS)], frame[target].to_numpy(), **arguments)


def test_files_give_the_forest_in_memory(survey, monkeypatch):
    expected = in_memory(FOREST)
    assert same_trees(fit_tables(clone(FOREST), survey, "kind", columns=list(COLUMNS)), expected)
    monkeypatch.setattr(memory_plan, "MOST_ROWS_OF_A_PIECE", 37)
    monkeypatch.setattr(memory_plan, "FEWEST_DRAWS", 10)
    assert same_trees(fit_tables(clone(FOREST), survey, "kind", columns=list(COLUMNS)), expected)
    sure = in_memory(FOREST, y_proba="sure")
    found = fit_tables(clone(FOREST), survey, "kind", columns=list(COLUMNS), label_proba="sure")
    assert same_trees(found, sure)


def test_datasets_of_pyarrow(survey):
    files = sorted(map(str, survey.iterdir()))
    found = fit_tables(clone(FOREST), dataset.dataset(files), "kind", columns=list(COLUMNS))
    assert same_trees(found, in_memory(FOREST))


def test_numbers_in_files(survey):
    model = ProbabilisticRandomForestRegressor(3, random_state=0, prior="empirical", error_columns="auto")
    found = fit_tables(clone(model), survey, "z", columns=list(COLUMNS), sample_weight="sure")
    assert same_trees(found, in_memory(model, target="z", sample_weight="sure"))


def test_all_columns_with_numbers_are_taken(survey):
    forest = fit_tables(clone(FOREST), survey, "kind", sample_weight="sure")
    assert forest.feature_names_.tolist() == ["g", "r", "i", "z"]


def test_bad_values_are_named_with_their_file(tmp_path):
    errors = np.where(np.arange(N) == 150, -1.0, PROBLEM.errors[:, 0])
    bad = write(tmp_path / "bad", TABLE.set_column(3, "e_g", pa.array(errors)))
    with pytest.raises(ValueError, match=r"2.parquet: column 'e_g' is -1.0 at row 51"):
        fit_tables(clone(FOREST), bad, "kind", columns=list(COLUMNS))
    with pytest.raises(ValueError, match="has no column 'kid'"):
        fit_tables(clone(FOREST), bad, "kid")
    with pytest.raises(ValueError, match="is too little"):
        fit_tables(clone(FOREST), bad, "kind", memory="100MB")


def test_sizes_of_memory():
    assert bytes_of("1.5 GiB") == 3 * 2**29
    for wrong in ("much", "4XB", "-1GB", None):
        with pytest.raises(ValueError, match="memory must be"):
            bytes_of(wrong)
    small, large = (plan_memory(memory * 10**9, FOREST, 30, 15) for memory in (1, 100))
    assert small.most_draws < large.most_draws
    assert large.n_sample == 100_000
    threads = clone(FOREST).set_params(n_jobs=3)
    assert plan_memory(10**9, threads, 30, 15).most_draws < small.most_draws


def test_the_command_trains_on_folders(survey, tmp_path, capsys):
    words = ["--target", "kind", "--drop", "sure", "z", "--set", "n_estimators=3", "prior=empirical"]
    result = json.loads(said(capsys, "train", survey, *words, "-o", tmp_path / "f.prf", "--json").out)
    assert (result["rows"], result["rows_without_target"]) == (N - 1, 1)
    assert result["features"] == ["g", "r", "i"]
    assert same_trees(load(tmp_path / "f.prf"), in_memory(FOREST))
    evaluated = json.loads(said(capsys, "evaluate", tmp_path / "f.prf", survey, "--json").out)
    assert evaluated["is_training_table"]
    file = survey / "3.parquet"
    limits = ["--memory", "2GB", "--scratch", tmp_path]
    said(capsys, "train", file, *words, *limits, "-o", tmp_path / "g.prf")
    assert not list(tmp_path.glob("probforest-*"))
    parts = ["--target", "kind", "--feature-model", tmp_path / "f.prf", "--seed", 1, "--set", "n_estimators=3"]
    said(capsys, "train", file, *parts, *limits, "-o", tmp_path / "h.prf")
    said(capsys, "merge", tmp_path / "f.prf", tmp_path / "h.prf", "-o", tmp_path / "both.prf")
    assert call("train", survey, "--target", "g", "--task", "classification", "-o", tmp_path / "n.prf") == 2
    assert "expected classes of many rows each" in capsys.readouterr().err
    write(tmp_path / "one", TABLE.set_column(6, "kind", pa.array(["star"] * N)))
    assert call("train", tmp_path / "one", *words, "-o", tmp_path / "n.prf") == 2
    assert "has only 'star'; expected two classes" in capsys.readouterr().err
    boosting = ["train", file, *words[:5], "--model", "boosting", "--memory", "2GB", "-o", tmp_path / "b.prf"]
    assert call(*boosting) == 2
    assert "boosting needs the whole table" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing tells the largest memory of a process")
def test_a_limit_of_the_memory_is_kept(tmp_path):
    """A table that takes more than the limit in memory, and many times more while an ordinary fit learns from it."""
    random = np.random.default_rng(0)
    folder = tmp_path / "wide"
    folder.mkdir()
    for number in range(4):
        kind = random.integers(0, 2, 40_000)
        columns = {f"m{j}": (random.normal(size=40_000) + kind * (j < 3)).astype("f4") for j in range(10)}
        columns |= {f"e_m{j}": np.full(40_000, 0.5, dtype="f4") for j in range(10)}
        parquet.write_table(pa.table({**columns, "kind": kind}), folder / f"{number}.parquet")
    limit = 700 * 10**6
    words = ["--target", "kind", "--memory", str(limit), "--n-jobs", "1"]
    settings = ["--set", "n_estimators=3", "prior=empirical", "max_depth=8"]
    # getrusage would tell the memory of this process, from which the other one is forked, if that is larger.
    code = (
        "import sys; from probforest.cli.main import main; code = main(sys.argv[1:]); "
        "lines = open('/proc/self/status').read().splitlines(); "
        "print(next(line for line in lines if line.startswith('VmHWM')).split()[1], file=sys.stderr); sys.exit(code)"
    )
    command = [sys.executable, "-c", code, "train", folder, *words, *settings, "-o", tmp_path / "m.prf", "--json"]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert int(done.stderr.split()[-1]) * 1024 < limit
    result = json.loads(done.stdout)
    assert result["rows"] == 160_000
    assert result["draws"] < 160_000
