"""How this project compiles: three decorators, so that kernels load and compile quickly.

`entry`     called from Python: compiled once per machine, then loaded from disk (`kernel_cache`)
`inner`     called from other kernels only: no Python wrapper, no disk cache of its own
`inlined`   small functions of a hot loop, where a call would copy its tuples of arguments;
            they keep their Python wrapper, cheap for plain numbers, so that tests can call them

A wrapper unpacks every array of every argument; kernels here take tuples of
dozens of arrays. Leaving out the wrappers that nobody calls cut the first
compilation of everything from 18 s to 10.6 s (2.8 GHz Xeon, numba 0.68).

All release the GIL, so plain Python threads run kernels side by side.
"""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

from numba import njit

from retro.kernel_cache import KernelCache, shelf

if TYPE_CHECKING:
    from collections.abc import Callable

# `Any`: numba's types do not know the options without wrappers.
_ENTRY: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True}
_INNER: dict[str, Any] = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_INLINED: dict[str, Any] = {"nogil": True, "forceinline": True, "no_cfunc_wrapper": True}

shelf()  # looks at the sources now, before the kernels' modules are imported


def entry(function: Callable[..., object]) -> Any:
    """Compile a kernel that Python calls, and keep it on disk."""
    kernel: Any = njit(**_ENTRY)(function)
    if not isinstance(kernel, FunctionType):  # NUMBA_DISABLE_JIT leaves it as it is
        kernel._cache = KernelCache(function)
    return kernel


inner = njit(**_INNER)
inlined = njit(**_INLINED)
