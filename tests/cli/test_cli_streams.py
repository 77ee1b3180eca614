"""The command line in pipes: tables that come through one, readers that go, full and closed streams, and signals."""

import gzip
import io
import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest

import probforest
from command_line import call, run, said, write
from probforest.cli import train
from probforest.cli.options.experiments import EXPERIMENTS, RECIPES
from probforest.studies.experiments.cases import RECIPES as CASE_RECIPES
from probforest.studies.experiments.studies import STUDIES

HAS_PIPES = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes of Unix")
HAS_FULL = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")


# Nobody reads what is printed


@contextmanager
def without_reader():
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w", closefd=False) as stream:
        yield stream
    os.close(writer)


@contextmanager
def full():
    with open("/dev/full", "w") as stream:
        yield stream


def commands(small_model, folder):
    table = small_model.with_name("t.csv")
    return {
        "train": ["train", table, "--target", "kind", "--set", "n_estimators=1", "-o", folder / "m.prf"],
        "predict": ["predict", small_model, table, "-o", folder / "o.csv"],
        "evaluate": ["evaluate", small_model, table, "--report", folder / "r.html"],
        "inspect": ["inspect", small_model],
    }


@pytest.mark.parametrize("more", [[], ["--json"]])
@pytest.mark.parametrize("command", ["train", "predict", "evaluate", "inspect"])
def test_a_reader_that_has_gone_costs_no_work(small_model, tmp_path, monkeypatch, command, more):
    with without_reader() as out, without_reader() as error:
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", error)
        assert call(*commands(small_model, tmp_path)[command], *more) == 0
    assert len(os.listdir(tmp_path)) == (command != "inspect")
    if command == "train":
        assert probforest.load(tmp_path / "m.prf").classes_.tolist() == ["A", "B"]


@HAS_FULL
@pytest.mark.parametrize("more", [[], ["--json"]])
@pytest.mark.parametrize("command", ["train", "predict", "evaluate", "inspect"])
def test_a_full_disk_under_standard_output_costs_no_work_and_is_said(
    small_model, tmp_path, monkeypatch, capsys, command, more
):
    with full() as out:
        monkeypatch.setattr(sys, "stdout", out)
        assert call(*commands(small_model, tmp_path)[command], *more) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert last == "probforest: error: standard output: No space left on device"
    assert len(os.listdir(tmp_path)) == (command != "inspect")


@HAS_FULL
def test_help_that_cannot_be_printed(monkeypatch, capsys):
    with full() as out:
        monkeypatch.setattr(sys, "stdout", out)
        assert call("--help") == 1
    assert "standard output: No space left" in capsys.readouterr().err
    with without_reader() as out:
        monkeypatch.setattr(sys, "stdout", out)
        with pytest.raises(SystemExit) as stop:
            call("--help")
    assert stop.value.code == 0


def test_closed_streams(small_model, tmp_path):
    """What is written to a closed stream must not get into the file that is opened next, nor into another stream."""
    words = commands(small_model, tmp_path)
    closed = run(*words["train"], preexec_fn=lambda: os.close(1))
    assert (closed.returncode, closed.stdout) == (0, "")
    assert probforest.load(tmp_path / "m.prf").classes_.tolist() == ["A", "B"]
    closed = run("evaluate", small_model, small_model.with_name("t.csv"), "--json", preexec_fn=lambda: os.close(2))
    assert closed.returncode == 0
    assert json.loads(closed.stdout)["n_objects"] == 40


# Tables from pipes


@contextmanager
def pipe_with(content, path):
    """A named pipe through which something comes once."""
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(content,), daemon=True)
    writer.start()
    yield path
    writer.join(timeout=30)
    assert not writer.is_alive()


@HAS_PIPES
@pytest.mark.parametrize("name", ["t.csv", "t.fits", "t.parquet", "t.vot", "stream.arrows"])
@pytest.mark.parametrize("is_compressed", [False, True])
def test_tables_come_through_pipes(folder, tmp_path, monkeypatch, name, is_compressed):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    content = (folder / name).read_bytes()
    with pipe_with(gzip.compress(content) if is_compressed else content, tmp_path / "pipe") as pipe:
        assert call("predict", folder / "without_units.prf", pipe, "-o", tmp_path / "through.csv") == 0
    assert call("predict", folder / "without_units.prf", folder / name, "-o", tmp_path / "direct.csv") == 0
    assert (tmp_path / "through.csv").read_bytes() == (tmp_path / "direct.csv").read_bytes()
    assert os.listdir(tmp_path / "temporary") == []


@HAS_PIPES
def test_a_damaged_table_from_a_pipe_is_named_as_the_user_does(small_model, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    for content in (gzip.compress(b"kind,g,e_g\nA,1,0.1\n" * 99)[:40], b"kind,g\n1,2,3\n"):
        with pipe_with(content, tmp_path / "pipe") as pipe:
            assert call("predict", small_model, pipe, "-o", tmp_path / "o.csv") == 2
        error = capsys.readouterr().err
        assert error.startswith(f"probforest: error: {pipe}")
        assert "temporary" not in error
        pipe.unlink()
    assert sorted(os.listdir(tmp_path)) == ["temporary"]
    assert os.listdir(tmp_path / "temporary") == []


@contextmanager
def standard_input(file):
    """Another file as standard input, for a while."""
    before = os.dup(0)
    os.dup2(file.fileno(), 0)
    try:
        yield
    finally:
        os.dup2(before, 0)
        os.close(before)


@HAS_PIPES
def test_standard_input(small_model, tmp_path, capsys):
    table = small_model.with_name("t.csv")
    reader, writer = os.pipe()
    os.write(writer, table.read_bytes())  # less than a pipe holds
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe, standard_input(pipe):
        made = said(capsys, "train", "-", "--target", "kind", "-o", tmp_path / "m.prf")
    assert "/dev/stdin: CSV, 40 rows" in made.out
    with table.open("rb") as file, standard_input(file):
        made = said(capsys, "evaluate", tmp_path / "m.prf", "/dev/stdin", "--json")
    assert json.loads(made.out)["n_objects"] == 40
    assert "was trained on the objects in stdin" in made.err


def test_devices_and_links_to_nothing(small_model, tmp_path, capsys):
    link = tmp_path / "link.csv"
    link.symlink_to("nowhere.csv")
    for name, message in (("/dev/zero", "is a device"), (link, "is a link to nowhere.csv, which does not exist")):
        assert call("predict", small_model, name, "-o", tmp_path / "o.csv") == 2
        assert f"probforest: error: {name} {message}" in capsys.readouterr().err
    assert call("predict", link, small_model.with_name("t.csv"), "-o", tmp_path / "o.csv") == 2
    assert f"probforest: error: {link} is a link to nowhere.csv, which does not exist" in capsys.readouterr().err


# Outputs that are not files, or appear during the work


@HAS_PIPES
def test_outputs_that_are_no_files(small_model, tmp_path, capsys):
    os.mkfifo(tmp_path / "pipe.csv")
    table = small_model.with_name("t.csv")
    for more in ([], ["--overwrite"]):
        assert call("predict", small_model, table, "-o", tmp_path / "pipe.csv", *more) == 2
        assert "pipe.csv is a pipe or a device" in capsys.readouterr().err
        assert call("train", table, "--target", "kind", "-o", "/dev/stdout", *more) == 2
        assert "/dev/stdout is a pipe or a device" in capsys.readouterr().err
    assert call("predict", small_model, table, "-o", "/dev/stdout") == 2
    assert "the name of the output must end in .csv" in capsys.readouterr().err
    assert call("train", table, "--target", "kind", "-o", "-") == 2
    assert os.listdir(tmp_path) == ["pipe.csv"]


def test_a_link_to_a_folder_that_is_not_there(small_model, tmp_path, capsys):
    (tmp_path / "link.csv").symlink_to(tmp_path / "no" / "o.csv")
    assert call("predict", small_model, small_model.with_name("t.csv"), "-o", tmp_path / "link.csv") == 2
    assert f"link.csv: there is no folder {tmp_path / 'no'}. Create it first." in capsys.readouterr().err


def test_two_runs_to_the_same_output(small_model, tmp_path, monkeypatch, capsys):
    output = tmp_path / "m.prf"
    original = train.class_evaluation

    def meanwhile(*words):
        write(output, "theirs")
        return original(*words)

    monkeypatch.setattr(train, "class_evaluation", meanwhile)
    words = ["train", small_model.with_name("t.csv"), "--target", "kind", "--set", "n_estimators=1", "-o", output]
    assert call(*words) == 2
    assert "m.prf was created by another program in the meantime" in capsys.readouterr().err
    assert output.read_text() == "theirs"
    assert sorted(os.listdir(tmp_path)) == ["m-2.prf", "m.prf"]
    assert probforest.load(tmp_path / "m-2.prf").classes_.tolist() == ["A", "B"]
    assert call(*words, "--overwrite") == 0
    assert probforest.load(output).classes_.tolist() == ["A", "B"]


# Names that are not text


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names of files are text")
def test_names_of_files_that_are_no_utf_8(small_model, tmp_path, capsys, monkeypatch):
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    table = folder / os.fsdecode(b"t\xe9.csv")
    table.write_bytes(small_model.with_name("t.csv").read_bytes())
    for more in ([], ["--json", "--overwrite"]):
        assert call("train", table, "--target", "kind", "-o", folder / "m.prf", *more) == 0
        assert call("predict", folder / "m.prf", table, "-o", folder / "o.csv", *more) == 0
        assert call("inspect", folder / "m.prf", *more[:1]) == 0
        capsys.readouterr()
        assert call("evaluate", folder / "m.prf", table, "--report", folder / "r.html", *more) == 0
    assert json.loads(capsys.readouterr().out)["table"] == str(table)
    assert "t\\udce9.csv" in (folder / "r.html").read_text(encoding="utf-8")
    with io.TextIOWrapper(io.BytesIO(), encoding="ascii") as out:
        monkeypatch.setattr(sys, "stdout", out)
        assert call("inspect", folder / "m.prf") == 0
        assert call("inspect", folder / "m.prf", "--json") == 0


# Stopping, and starting

INTERRUPTED_IMPORT = """
import os, sys

number = int(sys.argv.pop())

class Signal:
    def find_spec(self, name, *_):
        if name == "numba":
            os.kill(os.getpid(), number)

sys.meta_path.insert(0, Signal())
from probforest.cli.main import main
sys.exit(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
@pytest.mark.parametrize("how", ["SIGINT", "SIGTERM"])
def test_an_interruption_while_libraries_are_imported(how):
    command = [sys.executable, "-c", INTERRUPTED_IMPORT, "inspect", __file__, str(int(getattr(signal, how)))]
    made = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (made.returncode, made.stdout) == (130, "")
    assert made.stderr == "probforest: interrupted; no unfinished file is left.\n"


def test_an_ignored_signal_stays_ignored():
    command = [sys.executable, "-c", INTERRUPTED_IMPORT, "inspect", __file__, str(int(signal.SIGHUP))]
    ignore = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)  # noqa: E731 (as `nohup` does)
    made = subprocess.run(command, capture_output=True, text=True, timeout=60, preexec_fn=ignore)
    assert made.returncode == 2
    assert "is not a saved model of probforest" in made.stderr


WITHOUT_HEAVY_LIBRARIES = """
import sys
from probforest.cli.main import main
lines = ["--help", "--version", "bake", "", "train --help", "experiments --help", "train t.csv --nonsense", "predict",
         "train nowhere.csv --target a -o m.prf", "inspect nowhere.prf"]
for line in lines:
    try:
        assert main(line.split()) != 0
    except SystemExit:
        pass
assert not {"numba", "sklearn", "scipy", "numpy", "pyarrow"} & set(sys.modules), sorted(sys.modules)
"""


def test_help_needs_no_library():
    made = subprocess.run([sys.executable, "-c", WITHOUT_HEAVY_LIBRARIES], capture_output=True, text=True, timeout=60)
    assert made.returncode == 0, made.stderr
    assert made.stdout.count("evaluate a saved forest") == 1
    assert "invalid choice: 'bake'" in made.stderr
    assert "the following arguments are required: --target" in made.stderr
    assert "nowhere.csv: No such file" in made.stderr
    assert "nowhere.prf: No such file" in made.stderr


def test_experiments_are_those_that_help_names():
    assert tuple(STUDIES) == EXPERIMENTS
    assert CASE_RECIPES == RECIPES


def test_names_of_the_package():
    assert set(probforest.__all__) <= set(dir(probforest))
    assert all(getattr(probforest, name).__name__ == name for name in probforest.__all__)
    assert probforest.__version__ == "0.2.0"
    with pytest.raises(AttributeError, match="no attribute 'forests'"):
        _ = probforest.forests
