"""What all games share: the values of positions, the names of the players.

A value is always for the side to move: +1 WIN, 0 DRAW, -1 LOSS. Moves negate it:
what is worth +1 to the player who moves next is worth -1 to the one who has just moved.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Literal

WIN, DRAW, LOSS = 1, 0, -1  # for kernels and arrays
VALUE_NAMES = {WIN: "WIN", DRAW: "DRAW", LOSS: "LOSS"}


class Value(IntEnum):
    """The value of a position for the side to move, or of a move for who makes it.

    >>> Value.WIN, str(Value.LOSS), -Value.WIN == Value.LOSS, Value.DRAW == 0
    (WIN, 'LOSS', True, True)
    """

    WIN = 1
    DRAW = 0
    LOSS = -1

    def __repr__(self) -> str:
        return self.name

    __str__ = __repr__


Player = Literal["first", "second"]
