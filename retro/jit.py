"""How this project compiles: three decorators, so that kernels load and compile quickly.

`entry`     called from Python: compiled once per machine, then loaded from disk (`kernel_cache`)
`inner`     called from other kernels only: no Python wrapper, no disk cache of its own
`inlined`   small functions of a hot loop, where a call would copy its tuples of arguments;
            they keep their Python wrapper, cheap for plain numbers, so that tests can call them

A wrapper unpacks every array of every argument; kernels here take tuples of
dozens of arrays. Leaving out the wrappers that nobody calls cut the first
compilation of everything from 18 s to 10.6 s (2.8 GHz Xeon, numba 0.68).

Numba links the code of a kernel into every kernel that calls it, and optimizes all of it
again there. So what is called by kernels alone is only made small (`_Linked`), and the entry,
where all of it meets, is optimized twice (`_Whole`): what is inlined in the first round is
simplified in the second.

    threads -> settle -> _generate -> _search -> ask -> _narrow -> _batch     7 times, now once

All release the GIL, so plain Python threads run kernels side by side.
"""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

from numba import njit
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

from retro.kernel_cache import KernelCache, shelf

if TYPE_CHECKING:
    from collections.abc import Callable


class _Linked(JITCodeLibrary):
    """The code of a kernel that others call, made small."""

    def _optimize_final_module(self) -> None:
        level = self._codegen._opt_level
        passes, builder = self._codegen._module_pass_manager(
            loop_vectorize=False, slp_vectorize=False, opt=level, cost="cheap"
        )
        passes.run(self._final_module, builder)


class _Inner(_Linked):
    """The same where only others call: it never becomes machine code of its own."""

    @property
    def codegen(self) -> _Inner:
        """Who is told of an environment, the objects that interpreted code refers to."""
        return self

    def set_env(self, name: str, environment: object) -> None:
        """There is no code that would look at it."""

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class _Whole(JITCodeLibrary):
    """The code of an entry, with all that it calls."""

    def _optimize_final_module(self) -> None:
        super()._optimize_final_module()
        super()._optimize_final_module()


def _compiler(library: type[JITCodeLibrary]) -> type[Compiler]:
    """Numba's compiler, with a library of our own for the code."""

    class OurCompiler(Compiler):
        def define_pipelines(self) -> Any:
            state = self.state
            state.library = library(state.targetctx.codegen(), state.func_id.func_qualname)
            state.library.enable_object_caching()
            return super().define_pipelines()

    return OurCompiler


# `Any`: numba's types do not know the options without wrappers.
_COMMON: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True}
_ENTRY: dict[str, Any] = {**_COMMON, "pipeline_class": _compiler(_Whole)}
_INNER: dict[str, Any] = {
    **_COMMON,
    "no_cpython_wrapper": True,
    "pipeline_class": _compiler(_Inner),
}
_INLINED: dict[str, Any] = {
    **_COMMON,
    "forceinline": True,
    "pipeline_class": _compiler(_Linked),
}

shelf()  # looks at the sources now, before the kernels' modules are imported


def entry(function: Callable[..., object]) -> Any:
    """Compile a kernel that Python calls, and keep it on disk."""
    kernel: Any = njit(**_ENTRY)(function)
    if not isinstance(kernel, FunctionType):  # NUMBA_DISABLE_JIT leaves it as it is
        kernel._cache = KernelCache(function)
    return kernel


inner = njit(**_INNER)
inlined = njit(**_INLINED)
