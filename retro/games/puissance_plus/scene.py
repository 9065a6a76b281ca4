"""Puissance Plus as it looks: crosses and rings on cells that show their worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retro.games.grid_scene import palette, set_up
from retro.games.grid_scene import scene as grid_scene
from retro.games.puissance_plus.rules import PuissanceBoard

if TYPE_CHECKING:
    from retro.games.grid import GridPosition
    from retro.games.scene import Scene

__all__ = ["palette", "scene", "set_up"]


def scene(position: GridPosition) -> Scene:
    """The scene of a grid, with what its cells count."""
    board = position.board
    return grid_scene(position, board.values if isinstance(board, PuissanceBoard) else ())
