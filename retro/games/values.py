"""What all games share: the values of positions, the names of the players.

A value is always for the side to move: +1 WIN, 0 DRAW, -1 LOSS. Moves negate it:
what is worth +1 to the player who moves next is worth -1 to the one who has just moved.
"""

from __future__ import annotations

from typing import Literal

WIN, DRAW, LOSS = 1, 0, -1
VALUE_NAMES = {WIN: "WIN", DRAW: "DRAW", LOSS: "LOSS"}

Player = Literal["first", "second"]
