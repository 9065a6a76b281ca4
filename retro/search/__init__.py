"""Forward search: exact answers where no table reaches.

`Solver` is what users want: one for every game, with three engines behind it.

    solver      positions and text in, values, distances, moves and lines out
    connect4    the engine of Connect Four; `engine` is its node loop
    generic     the engine of every game that kernels know
    ladder      a plain alpha-beta that does not know the game: the readable core, the
                subject of `scripts/study_search.py`, an oracle of the fast ones, and the
                engine of boards beyond 64 cells
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from retro.search.solver import Solver

__all__ = ["Solver"]


def __getattr__(name: str) -> Any:
    """Import on first use: whoever needs no search does without."""
    if name != "Solver":
        raise AttributeError(f"module 'retro.search' has no attribute {name!r}")
    from retro.search.solver import Solver

    return Solver
