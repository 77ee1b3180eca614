"""Kernels that kernels call: translated once, compiled with what is above them, and never called from Python."""

import ctypes
import gc
import pickle

import numba
import numpy as np
import pytest

from probforest.kernels import cache, parts
from probforest.kernels.jit import inlined, kernel


@kernel
def lowest(array):
    return array[0]


@inlined
def doubled(array):
    return 2 * lowest(array)


@kernel
def middle(array):
    return lowest(array) + doubled(array)


@kernel
def top(array):
    return middle(array) + lowest(array)


@ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)
def tripled(number):
    """A function whose address holds in this process only."""
    return 3 * number


@kernel
def outside(array):
    return tripled(array[0])


@kernel
def above(array):
    return outside(array) + lowest(array)


@kernel
def checked(array):
    """No kernel raises an error, but Numba may let one do so, with bounds checks."""
    if array[0] < 0:
        raise ValueError("below zero")
    return array[0]


@kernel
def above_checked(array):
    return checked(array)


def new(*kernels):
    """The same kernels, as a process sees them that has compiled nothing yet."""
    cache.store.cache_clear()
    made = {}
    for old in kernels:
        function = old.py_func
        copy = type(function)(function.__code__, {**function.__globals__, **made}, function.__name__)
        made[function.__name__] = (inlined if old is doubled else kernel)(copy)
    return made


def compiled(dispatcher):
    return sum(dispatcher.stats.cache_misses.values())


def names(folder):
    return sorted(path.name.rpartition("-")[0] for path in folder.rglob("*.bin"))


def remove_machine_code(folder):
    for path in folder.rglob("*-kernel-*.bin"):
        path.unlink()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache folder."""
    if numba.config.DISABLE_JIT:
        pytest.skip("nothing is compiled")
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    yield tmp_path
    cache.store.cache_clear()


FIVE = np.array([5.0])


def test_only_the_kernel_that_python_calls_has_machine_code(folder):
    made = new(lowest, doubled, middle, top)
    assert made["top"](FIVE) == 20
    assert names(folder) == ["test_parts.lowest-part", "test_parts.middle-part", "test_parts.top-kernel"]
    assert [len(made[name].overloads) for name in ("lowest", "middle", "top")] == [0, 0, 1]


def test_a_part_can_be_called_from_python(folder):
    made = new(lowest, doubled, middle, top)
    assert [made[name](FIVE) for name in ("top", "middle", "doubled", "lowest")] == [20, 15, 10, 5]
    assert [len(made[name].overloads) for name in ("lowest", "middle", "top")] == [1, 1, 1]


def test_parts_are_found_again_on_disk(folder):
    new(lowest, doubled, middle, top)["top"](FIVE)
    remove_machine_code(folder)
    made = new(lowest, doubled, middle, top)
    assert made["top"](FIVE) == 20
    assert [compiled(made["top"]), compiled(made["middle"].part), compiled(made["lowest"].part)] == [1, 0, 0]


def test_a_damaged_part_is_translated_again(folder):
    new(lowest, doubled, middle, top)["top"](FIVE)
    remove_machine_code(folder)
    for path in folder.rglob("*middle-part-*.bin"):
        path.write_bytes(path.read_bytes()[:-100])
    made = new(lowest, doubled, middle, top)
    assert made["top"](FIVE) == 20
    assert [compiled(made["middle"].part), compiled(made["lowest"].part)] == [1, 0]


def test_a_kernel_with_machine_code_needs_no_parts(folder):
    new(lowest, doubled, middle, top)["top"](FIVE)
    for path in folder.rglob("*-part-*.bin"):
        path.unlink()
    made = new(lowest, doubled, middle, top)
    assert made["top"](FIVE) == 20
    assert [compiled(each) for each in made.values()] == [0, 0, 0, 0]


def test_addresses_of_this_process_are_not_kept(folder):
    assert new(lowest, outside, above)["above"](FIVE) == 20
    assert names(folder) == ["test_parts.lowest-part"]


@pytest.mark.parametrize("removed", ["", "*-kernel-*.bin", "*-part-*.bin"])
def test_an_error_in_a_part_arrives_in_python(folder, removed):
    with pytest.raises(ValueError, match="below zero"):
        new(checked, above_checked)["above_checked"](-FIVE)
    for path in folder.rglob(removed) if removed else []:
        path.unlink()
    with pytest.raises(ValueError, match="below zero"):
        new(checked, above_checked)["above_checked"](-FIVE)


def test_a_part_itself_can_not_be_called_from_python(folder):
    made = new(lowest, doubled, middle, top)
    made["top"](FIVE)
    with pytest.raises(TypeError):
        made["lowest"].part(FIVE)


@pytest.mark.usefixtures("folder")
def test_a_kernel_can_be_pickled():
    assert pickle.loads(pickle.dumps(lowest)) is lowest
    states = lowest._reduce_states() | {"uuid": "of another process"}
    assert parts.Kernel._rebuild(**states)(FIVE) == 5


@pytest.mark.parametrize("what", ["a method is missing", "a newer version"])
def test_without_what_parts_need_kernels_are_functions_of_numba(folder, monkeypatch, what):
    if what == "a newer version":
        monkeypatch.setattr(parts, "NEWEST_KNOWN", (0, 1))
    else:
        monkeypatch.setitem(parts._USED, parts._CodeLibrary, ("no_such_method",))
    made = new(lowest, doubled, middle, top)
    assert made["top"](FIVE) == 20
    assert not isinstance(made["top"], parts.Kernel)
    assert names(folder) == ["test_parts.lowest-kernel", "test_parts.middle-kernel", "test_parts.top-kernel"]


@pytest.mark.parametrize("on", [True, False])
def test_garbage_collection_is_as_before_after_a_kernel_is_compiled(on):
    was_on = gc.isenabled()
    try:
        (gc.enable if on else gc.disable)()
        with parts.no_garbage_collection():
            assert not gc.isenabled()
        assert gc.isenabled() == on
        with pytest.raises(ZeroDivisionError), parts.no_garbage_collection():
            1 / 0  # noqa: B018
        assert gc.isenabled() == on
    finally:
        (gc.enable if was_on else gc.disable)()
