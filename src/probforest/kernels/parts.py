"""Kernels that kernels call: parts of the machine code of others, without any of their own.

Numba optimises every function, makes machine code of it and an entry for Python, and copies the optimised code into
its callers, where all of this happens again. So the kernels at the bottom were compiled as often as there are levels
above them. Here a kernel has two sides. Called from Python, it is compiled as a whole, with all that it calls. Called
from a kernel, it is only translated: LLVM sees its code once, in the kernel at the top. A kernel that is called both
ways, as in tests, is compiled twice; a part is never called from Python, so that it needs no entry.

This uses parts of Numba that it does not promise to keep. In a Numba where they are missing, or that is newer than what
it was tested with, kernels are plain functions of Numba, which compile slowly and do the same.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import llvmlite.binding
import numba
from numba.core import codegen, compiler, registry

from .cache import NEWEST_KNOWN, KernelCache, addresses_of_kernels, keep_on_disk

_CodeLibrary: Any = getattr(codegen, "JITCodeLibrary", object)
_Dispatcher: Any = getattr(registry, "CPUDispatcher", object)
_USED = {
    _CodeLibrary: (
        "_optimize_functions",
        "_optimize_final_module",
        "_finalize_final_module",
        "_finalize_dynamic_globals",
    ),
    _Dispatcher: ("add_overload", "get_call_template", "get_overload"),
    compiler.CompileResult: ("_replace", "_find_referenced_environments"),
    compiler.Flags: ("no_compile", "no_cpython_wrapper"),
}

_STEPS_WITHOUT_USE = {
    "WithLifting",
    "InlineClosureLikes",
    "MakeFunctionToJitFunction",
    "FindLiterallyCalls",
    "LiteralUnroll",
    "LiteralPropagationSubPipelinePass",
    "NopythonRewrites",
}


def with_two_sides(compiled: Any) -> Any:
    """A kernel in place of a function that Numba compiles, if it has what that takes, kept on disk. Without JIT,
    `compiled` is a plain function."""
    as_expected = all(hasattr(owner, name) for owner, names in _USED.items() for name in names)
    is_known = numba.version_info[:2] <= NEWEST_KNOWN
    if as_expected and is_known and isinstance(compiled, _Dispatcher):
        compiled = Kernel(compiled.py_func, options=compiled.targetoptions)
        keep_on_disk(compiled.part, PartCache)
    keep_on_disk(compiled)
    return compiled


class WholeLibrary(_CodeLibrary):
    """The code of a kernel that Python calls."""

    def _optimize_functions(self, module: Any) -> None:
        """Functions are optimised when they are all together; to do it before as well takes time and gains nothing."""
        module.data_layout = self._codegen._data_layout


class PartLibrary(WholeLibrary):
    """The code of a kernel that is part of others."""

    _dynamic_globals: list[str]

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        """Without machine code."""
        self._finalize_dynamic_globals()
        self._finalized = True

    def _finalize_dynamic_globals(self) -> None:
        """List the addresses that hold in this process only, with which a part can't be kept on disk. Those of kernels
        are none: Numba reads them before a call and does not use them, and they are gone once the code is optimised."""
        super()._finalize_dynamic_globals()
        of_kernels = {f"numba.dynamic.globals.{address:x}" for address in addresses_of_kernels}
        names = self._dynamic_globals
        self._dynamic_globals = [name for name in names if ".".join(name.split(".")[:4]) not in of_kernels]


class _Compiler(compiler.Compiler):
    """Numba's compiler, without its steps for what kernels do not do: closures, `with`, arithmetic with arrays."""

    def define_pipelines(self) -> list[Any]:
        (pipeline,) = super().define_pipelines()
        pipeline.passes = [(step, why) for step, why in pipeline.passes if step.__name__ not in _STEPS_WITHOUT_USE]
        pipeline.finalize()
        return [pipeline]


class _WholeCompiler(_Compiler):
    def compile_extra(self, function: Any) -> Any:
        self.state.library = WholeLibrary(self.state.targetctx.codegen(), function.__qualname__)
        self.state.library.enable_object_caching()
        return super().compile_extra(function)


class _PartCompiler(_Compiler):
    def compile_extra(self, function: Any) -> Any:
        self.state.flags.no_compile = self.state.flags.no_cpython_wrapper = True
        self.state.library = PartLibrary(self.state.targetctx.codegen(), function.__qualname__)
        return super().compile_extra(function)


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """A compiler makes millions of objects that stay until it is done, and Python would look through them all again and
    again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class Kernel(_Dispatcher):
    """What Python calls. Kernels are led on to its `part`."""

    def __init__(self, function: Any, types_of_variables: Any = None, options: Any = None):
        """With the arguments of the class above, which makes copies with them."""
        super().__init__(function, types_of_variables or {}, options, _WholeCompiler)
        self.part = Part(function, types_of_variables or {}, options)

    def compile(self, signature: Any) -> Any:
        with no_garbage_collection():
            return super().compile(signature)

    def get_call_template(self, arguments: Any, keywords: Any) -> Any:
        return self.part.get_call_template(arguments, keywords)

    def get_overload(self, signature: Any) -> Any:
        return self.part.get_overload(signature)

    def add_overload(self, compiled: Any) -> None:
        super().add_overload(compiled)
        for environment in compiled._find_referenced_environments():  # of the parts, as they are in memory only now
            compiled.library.codegen.set_env(environment.env_name, environment)


class Part(_Dispatcher):
    """What kernels call."""

    def __init__(self, function: Any, types_of_variables: Any = None, options: Any = None):
        super().__init__(function, types_of_variables, options, _PartCompiler)

    def add_overload(self, compiled: Any) -> None:
        """Without telling the part of Numba that takes calls from Python."""
        if compiled.entry_point is None:  # callers know it by that
            compiled = compiled._replace(entry_point=object())
            self.targetctx.insert_user_function(compiled.entry_point, compiled.fndesc, [compiled.library])
        self.overloads[tuple(compiled.signature.args)] = compiled


class PartCache(KernelCache):
    """The cache of a part."""

    kind = "part"

    def _packed(self, compiled: Any) -> Any:
        compiled.fndesc.typemap = compiled.fndesc.calltypes = None  # as Numba does: large, and not needed any more
        code = compiled.library._get_module_for_linking().as_bitcode()
        environments = compiled._find_referenced_environments()
        return code, compiled.fndesc, compiled.environment, compiled.signature, environments

    def _unpacked(self, target: Any, packed: Any) -> Any:
        code, description, environment, signature, environments = packed
        library = PartLibrary(target.codegen(), description.qualname)
        library._shared_module = llvmlite.binding.parse_bitcode(code)
        library._finalized = True
        return compiler.compile_result(
            target_context=target,
            typing_context=target.typing_context,
            library=library,
            entry_point=object(),
            fndesc=description,
            environment=environment,
            signature=signature,
            objectmode=False,
            referenced_envs=environments,
        )
