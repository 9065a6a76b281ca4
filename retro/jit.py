"""How this project compiles: two decorators, so that kernels load and compile quickly.

`entry`   called from Python: compiled once per machine, then loaded from disk.
`inner`   called from other kernels only: no Python wrapper, no disk cache of its own.

A wrapper unpacks every array of every argument; kernels here take tuples of
dozens of arrays. Leaving out the wrappers that nobody calls cut the first
compilation of everything from 18 s to 10.6 s (2.8 GHz Xeon, numba 0.68).

Both release the GIL, so plain Python threads run kernels side by side.
"""

from typing import Any

from numba import njit

_ENTRY: dict[str, Any] = {"cache": True, "nogil": True, "no_cfunc_wrapper": True}
_INNER: dict[str, Any] = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}

entry = njit(**_ENTRY)
inner = njit(**_INNER)
