"""Files are not lost: an old file stays until a complete new one takes its place."""

import os
import re
import resource
import signal
import time
from contextlib import contextmanager

import numpy as np
import pyarrow
import pyarrow.csv
import pyarrow.parquet
import pytest

from command_line import call, start, write


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
    # compiles all that a prediction needs, so that no kernel has to be stored on the full disk below
    assert call("predict", folder / "m.prf", folder / "short.csv", "-o", folder / "o.csv") == 0
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


@contextmanager
def full_disk():
    """A limit for the size of files stands in for the disk. Python ignores the signal that comes with it."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("name", ["o.csv", "o.parquet", "o.fits", "o.csv.gz"])
def test_a_full_disk_is_said(long_job, tmp_path, capsys, name):
    with full_disk():
        assert call("predict", long_job / "m.prf", long_job / "short.csv", "-o", tmp_path / name) == 1
    assert capsys.readouterr().err == f"probforest: error: {tmp_path / name}: File too large\n"
    assert os.listdir(tmp_path) == []


def test_a_full_disk_stops_a_training(long_job, tmp_path, capsys):
    with full_disk():
        assert call("train", long_job / "short.csv", "--target", "kind", "-o", tmp_path / "m.prf") == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert last == f"probforest: error: {tmp_path / 'm.prf'}: File too large"
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
