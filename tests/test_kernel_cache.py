"""Compiled kernels on disk: found again, never in the way, and never the wrong ones."""

import json
import logging
import os
import shutil
import subprocess
import sys
import types
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import pytest

import probforest
from command_line import call
from probforest.kernels import cache
from probforest.kernels.jit import kernel
from probforest.support.cache_folder import Store

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")


def double(array):
    return 2 * array[0]


def at(array, index):
    return array[index]


def grow_nodes(array):
    """Has the name of the kernel that takes long."""
    return 3 * array[0]


def in_a_new_process(function):
    """The kernel as a process sees it that has compiled nothing yet."""
    cache.store.cache_clear()
    return kernel(function)


def times_compiled(dispatcher):
    return sum(dispatcher.stats.cache_misses.values())


def kernel_files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache folder."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    yield tmp_path
    cache.store.cache_clear()


def test_a_kernel_is_found_again_in_a_folder_of_this_version(folder):
    assert in_a_new_process(double)(np.ones(1)) == 2
    (path,) = kernel_files(folder)
    assert path.parent.parent == folder / "probforest"
    assert path.parent.name.startswith(f"{probforest.__version__}-py")
    assert f"-numba{numba.__version__}-" in path.parent.name
    again = in_a_new_process(double)
    assert again(np.ones(1)) == 2
    assert times_compiled(again) == 0
    assert again.stats.cache_path == str(path.parent)


DAMAGES = {
    "empty": lambda content: b"",
    "cut": lambda content: content[: len(content) // 2],
    "garbage": lambda content: b"\x80\x05garbage" * 100,
    "one bit": lambda content: content[:-200] + bytes([content[-200] ^ 1]) + content[-199:],
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_is_compiled_again_in_silence_and_replaced(folder, damage, capfd):
    assert in_a_new_process(double)(np.ones(1)) == 2
    for path in kernel_files(folder):
        path.write_bytes(damage(path.read_bytes()))
    again = in_a_new_process(double)
    assert again(np.ones(1)) == 2
    assert times_compiled(again) == 1
    third = in_a_new_process(double)
    assert third(np.ones(1)) == 2
    assert times_compiled(third) == 0
    assert capfd.readouterr() == ("", "")


def test_a_file_that_is_whole_but_can_not_be_loaded_is_compiled_again(folder):
    assert in_a_new_process(double)(np.ones(1)) == 2
    (path,) = kernel_files(folder)
    cache.store().write(path.name, b"cno_such_module\nno_such_class\n.")  # a pickle of a class that has gone
    again = in_a_new_process(double)
    assert again(np.ones(1)) == 2
    assert times_compiled(again) == 1


def test_code_of_another_signature_is_never_run(folder):
    """Processes that write Numba's own index at once can leave code under the wrong name."""
    for number in (np.float64(1), np.int8(100)):
        in_a_new_process(double)(np.full(1, number))
    first, second = kernel_files(folder)
    contents = first.read_bytes(), second.read_bytes()
    first.write_bytes(contents[1])
    second.write_bytes(contents[0])
    again = in_a_new_process(double)
    assert again(np.full(1, 3.5)) == 7
    assert again(np.full(1, 100, dtype=np.int8)) == 200


def test_a_bundle_that_no_longer_exists_does_no_harm(folder, monkeypatch):
    """An upgrade may remove a NamedTuple from kernels/layout.py."""
    layout = types.ModuleType("old_layout")
    monkeypatch.setitem(sys.modules, "old_layout", layout)

    class Gone(NamedTuple):
        number: np.float64

    Gone.__module__, Gone.__qualname__, layout.Gone = "old_layout", "Gone", Gone
    assert in_a_new_process(double)(Gone(1.0)) == 2
    del layout.Gone
    assert in_a_new_process(double)(np.ones(1)) == 2


def test_code_without_bounds_checks_is_not_taken_for_code_with_them(folder, monkeypatch):
    assert in_a_new_process(at)(np.ones(1), 0) == 1
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", 1)
    with pytest.raises(IndexError):
        in_a_new_process(at)(np.ones(1), 1)


def test_an_edit_of_any_kernel_file_makes_a_new_folder(tmp_path, monkeypatch):
    shutil.copytree(Path(cache.__file__).parent, tmp_path / "copy", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(cache, "files", lambda package: tmp_path / "copy")
    before = cache._edition()
    assert cache.source_digest() == cache._SOURCE
    with (tmp_path / "copy" / "cdf.py").open("a") as file:
        file.write("# an edit\n")
    assert cache._edition() == before  # what this process compiles is the old source
    monkeypatch.setattr(cache, "_SOURCE", cache.source_digest())  # as the next process does
    assert cache._edition() != before


def test_a_kernel_whose_file_can_not_be_written_works(folder, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("probforest.support.atomic._write_through", fail)
    monkeypatch.setattr(cache, "not_kept", [])
    assert in_a_new_process(double)(np.ones(1)) == 2
    assert kernel_files(folder) == []
    assert [problem.errno for problem in cache.not_kept] == [28]


@pytest.mark.parametrize("missing", ["_reduce", "_rebuild"])
def test_numba_keeps_kernels_itself_if_it_is_not_as_expected(folder, monkeypatch, missing):
    monkeypatch.delattr(cache._CompileResult, missing)
    compiled = in_a_new_process(double)
    assert type(compiled._cache) is numba.core.caching.FunctionCache


# What is said


@pytest.fixture
def nothing_said(monkeypatch):
    monkeypatch.setattr(cache, "_announced", False)
    monkeypatch.delenv("PROBFOREST_QUIET", raising=False)


@pytest.mark.usefixtures("nothing_said")
def test_a_long_compilation_is_announced_once_and_only_if_it_takes_place(folder, caplog):
    in_a_new_process(double)(np.ones(1))
    assert caplog.messages == []
    in_a_new_process(grow_nodes)(np.ones(1))
    in_a_new_process(grow_nodes)(np.ones(1, dtype=int))
    assert caplog.messages == ["probforest: compiling, about 15 s, once (PROBFOREST_QUIET=1 hides this message)"]
    cache._announced = False
    in_a_new_process(grow_nodes)(np.ones(1))
    assert len(caplog.messages) == 1


@pytest.mark.usefixtures("nothing_said")
def test_the_announcement_can_be_silenced(folder, caplog, monkeypatch):
    with caplog.at_level(logging.ERROR, logger="probforest"):
        in_a_new_process(grow_nodes)(np.ones(1))
    monkeypatch.setattr(cache, "_announced", False)
    monkeypatch.setenv("PROBFOREST_QUIET", "1")
    in_a_new_process(grow_nodes)(np.ones(1, dtype=int))
    assert caplog.messages == []


@pytest.mark.parametrize("name", cache._SECONDS)
def test_announced_kernels_exist(name):
    from probforest.kernels import best_first, grow, route

    assert any(hasattr(module, name) for module in (best_first, grow, route))


# Processes of their own

NOWHERE = """
import tempfile
tempfile.tempdir = "/dev/null/nowhere"
import numpy as np, probforest
from probforest.kernels.jit import kernel
def grow_nodes(array): return array[0]
print(kernel(grow_nodes)(np.ones(3)))
"""


def test_the_package_works_where_nothing_can_be_written(tmp_path):
    package = Path(probforest.__file__).parent
    shutil.copytree(package, tmp_path / "probforest", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "probforest" / "kernels" / "__pycache__").write_text("a file, so that there can be no such folder")
    unset = ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "PROBFOREST_QUIET")
    environment = {key: value for key, value in os.environ.items() if key not in unset}
    environment |= {"HOME": "/dev/null", "PYTHONPATH": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", NOWHERE], env=environment, capture_output=True, text=True)
    assert run.stdout == "1.0\n"
    assert run.stderr.startswith("probforest: compiling, about 15 s, in every process: no folder can be written to")
    assert run.stderr.count("\n") == 1


LOADING = """
import sys
import numpy as np
from probforest.kernels.running_sums import running_sums

numbers = np.arange(5.0)
print(running_sums(numbers), numbers.tolist(), sum(running_sums.stats.cache_misses.values()))
print("ready to compile:", "numba.cpython.setobj" in sys.modules)
print(running_sums(np.arange(5, dtype=np.float32)))  # with another kind of numbers, it is compiled
"""


def test_a_kernel_that_is_found_is_loaded_without_getting_ready_to_compile(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}

    def said():
        run = subprocess.run([sys.executable, "-c", LOADING], env=environment, capture_output=True, text=True)
        return run.stdout.splitlines()

    answer = "10.0 [0.0, 1.0, 3.0, 6.0, 10.0]"
    assert said() == [f"{answer} 1", "ready to compile: True", "10.0"]
    _, other = sorted(kernel_files(tmp_path), key=lambda path: path.stat().st_mtime_ns)
    other.unlink()  # so that one kernel is loaded, and another one is compiled afterwards
    at_once = numba.version_info[:2] <= cache.NEWEST_KNOWN
    assert said() == [f"{answer} 0", f"ready to compile: {not at_once}", "10.0"]


AT_ONCE = """
import json
from multiprocessing import get_context
import numpy as np
from probforest.kernels.layout import GINI
from probforest.kernels.statistic import weight_of

fork = get_context("fork")
kinds = [np.float64, np.float32, np.int64, np.int8]
all_ready, answers = fork.Barrier(8), fork.Queue()

def use(first):
    all_ready.wait()
    numbers = {kind.__name__: np.arange(100).astype(kind) for kind in kinds[first:] + kinds[:first]}
    answers.put({name: float(weight_of(array, GINI)) for name, array in numbers.items()})

processes = [fork.Process(target=use, args=[number % 4]) for number in range(8)]
for process in processes:
    process.start()
print(json.dumps([answers.get(timeout=60) for _ in processes]))
"""


@pytest.mark.skipif(os.name == "nt", reason="there is no fork, which is how the processes start at once")
def test_processes_that_compile_at_once_do_not_disturb_each_other(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", AT_ONCE], env=environment, capture_output=True, text=True, timeout=120)
    answers = json.loads(run.stdout)
    assert len(answers) == 8
    assert all(answer == {"float64": 4950, "float32": 4950, "int64": 4950, "int8": 4950} for answer in answers)
    assert len(kernel_files(tmp_path)) == 4
    assert {path.suffix for path in kernel_files(tmp_path)} == {".bin"}


@pytest.mark.parametrize("kept", [Store([], None), Store([], Path("/tmp"), temporary=True)])
def test_precompile_fails_if_the_kernels_can_not_be_kept(monkeypatch, capsys, kept):
    monkeypatch.setattr("probforest.cli.precompile.store", lambda: kept)
    assert call("precompile") == 1
    assert "the cache folder can't be written to; set NUMBA_CACHE_DIR to one that can." in capsys.readouterr().err


def test_precompile_fails_if_a_kernel_was_not_kept(folder, monkeypatch, capsys):
    cache.store.cache_clear()
    monkeypatch.setattr("probforest.cli.precompile.not_kept", [OSError(28, "No space left on device")])
    monkeypatch.setattr("probforest.cli.precompile.compile_kernels", lambda rare: None)
    assert call("precompile") == 1
    assert "No space left on device" in capsys.readouterr().err


def test_a_package_whose_source_can_not_be_read_works(folder, monkeypatch):
    monkeypatch.setattr(cache, "files", lambda package: folder / "not there")
    monkeypatch.setattr(cache, "_SOURCE", cache.source_digest())
    assert in_a_new_process(double)(np.ones(1)) == 2
    assert cache.store().writable is None
