"""Forward search: exact answers where no table reaches.

`Solver` (Connect Four; its engine's parts are in the `engine` modules) and
`KeyedSolver` (every other game) are what users want.
`ladder` is a plain alpha-beta that does not know the game: the readable core,
the subject of `scripts/study_search.py`, and an oracle of the fast ones.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from retro.search.keyed_search import KeyedSolver
    from retro.search.solver import Solver

__all__ = ["KeyedSolver", "Solver"]
_HOMES = {"KeyedSolver": "retro.search.keyed_search", "Solver": "retro.search.solver"}


def __getattr__(name: str) -> Any:
    """Import on first use: the engines bring numba with them."""
    if name not in _HOMES:
        raise AttributeError(f"module 'retro.search' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
