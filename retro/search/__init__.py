"""Forward search: exact answers where no table reaches.

`Solver` is what users want; its engine's parts are in the `engine` modules.
`ladder` is a plain alpha-beta that does not know the game: the readable core,
the subject of `scripts/study_search.py`, and an oracle of the fast one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from retro.search.solver import Solver

__all__ = ["Solver"]


def __getattr__(name: str) -> Any:
    """Import on first use: the engine brings numba with it."""
    if name != "Solver":
        raise AttributeError(f"module 'retro.search' has no attribute {name!r}")
    from retro.search.solver import Solver

    return Solver
