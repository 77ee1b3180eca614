"""Compiled kernels on disk, in place of Numba's own cache.

Numba's cache has an index per function. It can't be read after an upgrade that removes one of our bundles; it does not
notice an edit of a kernel that is called, nor bounds checks; and two processes that write at once can leave the code of
one signature (or processor) under the name of another. Here a kernel with a signature is one file; its name stands for
all that the machine code depends on. A file that can't be loaded is compiled and written again. Nothing here raises: a
cache that can't be used costs time, not answers.

This uses parts of Numba that it does not promise to keep: a dispatcher's `_cache`, `CompileResult._reduce` and
`_rebuild`, `magic_tuple`. In a Numba where they are missing, its own cache is used, or none.
"""

import logging
import os
import pickle
import sys
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

import llvmlite.binding
import numba
from numba.core import caching, compiler, cpu, serialize

from ..support.cache_folder import Store, open_store
from ..support.version import VERSION

_config: Any = numba.config
_CompileResult: Any = compiler.CompileResult
_NullCache: Any = getattr(caching, "NullCache", type("NullCache", (), {}))
NEWEST_KNOWN = (0, 68)  # version of Numba that all of this was tested with
# Machine code needs nothing that Numba gets ready for compiling, which takes as long as loading all kernels twice. That
# is known of code without reference counts, and of versions that were tried.
_LOADS_AT_ONCE = numba.version_info[:2] <= NEWEST_KNOWN and hasattr(cpu.CPUTargetOptions, "_nrt")


def source_digest() -> str:
    """A digest of all kernel files; empty if they can't be read."""
    digest = sha256()
    try:
        for file in sorted(files(__package__).iterdir(), key=lambda file: file.name):
            if file.name.endswith(".py"):
                digest.update(file.read_bytes() + b"\0")
    except OSError:
        return ""
    return digest.hexdigest()


_SOURCE = source_digest()  # when it is imported: an edit while the process runs is not what is compiled
# Settings of Numba that change the machine code.
_SETTINGS = (
    "BOUNDSCHECK",
    "OPT",
    "LOOP_VECTORIZE",
    "SLP_VECTORIZE",
    "DEBUGINFO_DEFAULT",
    "USING_SVML",
    "ENABLE_PROFILING",
)
# Kernels that take long enough to compile, together with what they call, that users should know.
_SECONDS = {"grow_nodes": 15, "grow_best_first": 15, "add_waves": 3}

# Unless somebody has configured logging, warnings go to standard error, in notebooks as well.
_log = logging.getLogger("probforest")
_announced = False
not_kept: list[Exception] = []  # why kernels of this process could not be saved
addresses_of_kernels: set[int] = set()


def keep_on_disk(compiled: Any, kept: "type[KernelCache] | None" = None) -> None:
    """Load a kernel from the cache when it is called, or save it there. Without JIT, `compiled` is a plain function."""
    addresses_of_kernels.add(id(compiled))
    as_expected = hasattr(_CompileResult, "_reduce") and hasattr(_CompileResult, "_rebuild")
    if as_expected and isinstance(getattr(compiled, "_cache", None), _NullCache):
        compiled._cache = (kept or KernelCache)(compiled.py_func)
    else:
        with suppress(Exception):
            compiled.enable_caching()


class KernelCache(_NullCache):
    """The cache of one kernel, as a dispatcher calls it."""

    kind = "kernel"

    def __init__(self, function: Any):
        self._function = function

    @property
    def cache_path(self) -> str | None:
        folder = store().writable
        return None if folder is None else str(folder)

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The compiled kernel; None if it has to be compiled."""
        found = None
        with suppress(Exception):
            if not _LOADS_AT_ONCE:
                target.refresh()
            content = store().read(self._file_name(signature, target.codegen()))
            if content is not None:
                found = self._unpacked(target, pickle.loads(content))
        if found is None:
            announce(self._function.__name__)
        return found

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep the compiled kernel, if that is possible."""
        try:
            if not compiled.library.has_dynamic_globals:  # addresses, which are of no use in another process
                store().write(self._file_name(signature, compiled.codegen), serialize.dumps(self._packed(compiled)))
        except Exception as problem:
            not_kept.append(problem)

    def _packed(self, compiled: Any) -> Any:
        return compiled._replace(type_annotation="")._reduce()  # the source with types, for people

    def _unpacked(self, target: Any, packed: Any) -> Any:
        return _CompileResult._rebuild(target, *packed)

    def _file_name(self, signature: Any, codegen: Any) -> str:
        """The name of a file. The processor is part of it: clusters have several kinds that share a disk."""
        function = self._function
        name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
        parts = (self.kind, function.__qualname__, function.__code__.co_code, repr(signature), codegen.magic_tuple())
        return f"{name}-{self.kind}-{sha256(repr(parts).encode()).hexdigest()[:32]}.bin"


@cache
def store() -> Store:
    """The files of this edition of the kernels."""
    return open_store(_edition(), _config.CACHE_DIR) if _SOURCE else Store([], None)


def compiler_is_off() -> bool:
    """Whether kernels run as plain Python."""
    return bool(_config.DISABLE_JIT)


def processor() -> str:
    """The kind of processor that kernels are compiled for."""
    return _config.CPU_NAME or llvmlite.binding.get_host_cpu_name()


def _edition() -> str:
    """A name for the versions, the source of all kernels and the settings that machine code depends on."""
    settings = [getattr(_config, name, None) for name in _SETTINGS]
    rest = repr((_SOURCE, sys.version, sys.platform, llvmlite.__version__, settings))
    python = f"{sys.version_info.major}{sys.version_info.minor}"
    return f"{VERSION}-py{python}-numba{numba.__version__}-{sha256(rest.encode()).hexdigest()[:16]}"


def announce(name: str) -> None:
    """Tell users why a first run takes long, once in a process."""
    global _announced
    if _announced or name not in _SECONDS or os.environ.get("PROBFOREST_QUIET", "0") not in ("", "0"):
        return
    _announced = True
    if store().writable is None:
        how_often = "in every process: no folder can be written to (NUMBA_CACHE_DIR chooses one)"
    else:
        how_often = "once (PROBFOREST_QUIET=1 hides this message)"
    _log.warning("probforest: compiling, about %d s, %s", _SECONDS[name], how_often)
