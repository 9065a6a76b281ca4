"""Cells of a grid as text, for every game that plays on one.

A letter for the column (`aa` follows `z`), a number for the row, `a1` the bottom
left; or `row,column` in numbers, `1,1` the bottom left. White space parts
cells; between letter-number cells it may be left out.

    b2 a1 c3     b2a1c3     2,2 1,1 3,3        three times the same cells

A board's size is `WIDTHxHEIGHT`: `4x3` has 4 columns and 3 rows. The length of a winning line is
text, too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol, TypeVar

from retro.errors import BadTextError, GameOverError, IllegalPositionError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from retro.games.game import Position

    Played = TypeVar("Played", bound=Position)

EMPTY_TEXT = "-"
LONGEST_LINE = 100  # stones: longer than any board
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_CELL = re.compile(
    r"(?P<letter>[a-zA-Z]{1,2})(?P<number>[0-9]{1,2})|(?P<row>[0-9]{1,2}),(?P<col>[0-9]{1,2})"
)


class Grid(Protocol):
    """A board whose cells have bits."""

    @property
    def rows(self) -> int: ...
    @property
    def cols(self) -> int: ...
    def bit(self, row: int, column: int) -> int: ...
    def place(self, bit: int) -> tuple[int, int]:
        """(row, column) of a cell's bit, both counted from 0."""
        ...


def read_size(text: str) -> tuple[int, int]:
    """(width, height) of `WIDTHxHEIGHT`.

    >>> read_size("4x3")
    (4, 3)
    """
    match = re.fullmatch(r"\s*([0-9]{1,3})[xX]([0-9]{1,3})\s*", text, re.ASCII)
    if match is None:
        raise BadTextError(f"found board {text!r}, wanted WIDTHxHEIGHT such as 3x3")
    return int(match[1]), int(match[2])


def column_text(column: int) -> str:
    """A column counted from 0.

    >>> column_text(2), column_text(26), column_text(53)
    ('c', 'aa', 'bb')
    """
    more, rest = divmod(column, len(_LETTERS))
    return _LETTERS[more - 1 : more] + _LETTERS[rest]


def _read_column(text: str) -> int:
    column = 0
    for letter in text.lower():
        column = len(_LETTERS) * column + _LETTERS.index(letter) + 1
    return column - 1


def cell_text(grid: Grid, bit: int) -> str:
    """A cell as text.

    >>> from retro.games.mnk.rules import MnkBoard
    >>> cell_text(MnkBoard(3, 3, 3), MnkBoard(3, 3, 3).bit(row=1, column=0))
    'a2'
    """
    row, column = grid.place(bit)
    return f"{column_text(column)}{row + 1}"


def cells_text(grid: Grid, bits: Iterable[int]) -> str:
    return " ".join(cell_text(grid, bit) for bit in bits)


def read_cells(grid: Grid, text: str) -> list[int]:
    """The bits of the cells that a text names.

    >>> from retro.games.mnk.rules import MnkBoard
    >>> read_cells(MnkBoard(3, 3, 3), "a1b1 1,3")
    [1, 2, 4]
    """
    if text.strip() == EMPTY_TEXT:
        return []
    bits = []
    for word in text.split():
        begin = 0
        while begin < len(word):
            match = _CELL.match(word, begin)
            # Numbers run together could be cut in several ways: only whole words.
            if match is None or (match["row"] and len(match[0]) < len(word)):
                raise BadTextError(
                    f"found {word[begin:]!r} in {text!r}, wanted cells such as b2 or 2,2"
                )
            bits.append(_bit(grid, match))
            begin = match.end()
    return bits


def read_cell(grid: Grid, text: str) -> int:
    """The bit of the one cell that a text names."""
    bits = read_cells(grid, text)
    if len(bits) != 1:
        raise BadTextError(f"found {text!r}, wanted one cell such as b2 or 2,2")
    return bits[0]


def _bit(grid: Grid, match: re.Match[str]) -> int:
    if match["letter"]:
        row, column = int(match["number"]) - 1, _read_column(match["letter"])
    else:
        row, column = int(match["row"]) - 1, int(match["col"]) - 1
    if not (0 <= row < grid.rows and 0 <= column < grid.cols):
        last = cell_text(grid, grid.bit(grid.rows - 1, grid.cols - 1))
        raise IllegalPositionError(
            f"{match[0]!r} is not on the board {grid}; cells are a1 to {last}"
        )
    return grid.bit(row, column)


def play_all(position: Played, moves: Iterable[int], text: str) -> Played:
    """Play moves one after the other; errors say which move of the text was wrong."""
    for number, move in enumerate(moves, start=1):
        try:
            position = position._play(move)
        except (GameOverError, IllegalPositionError) as error:
            raise type(error)(f"move {number} of {text!r}: {error}") from None
    return position


def read_line(text: str) -> int:
    """The length of a winning line; text may be of any length.

    >>> read_line("4")
    4
    """
    if not re.fullmatch(r"[0-9]{1,3}", text, re.ASCII):
        wanted = f"a whole number from 2 to {LONGEST_LINE}"
        raise BadTextError(f"found {text!r} stones in a line, wanted {wanted}")
    return int(text)


def require_line(stones: int) -> None:
    """Refuse the length of a winning line that no board has."""
    if stones < 2:
        raise BadTextError(f"a line has at least 2 stones, not {stones}")
    if stones > LONGEST_LINE:
        raise BadTextError(f"a line has at most {LONGEST_LINE} stones; found more")
