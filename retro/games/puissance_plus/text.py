"""Puissance Plus boards and positions as text.

Values are given row by row, top row first: `121/232/121`, or as the same rows in a
file, or by the name of a pattern:

    ones      every cell 1
    diamond   3 in the middle, one less with every step away, 1 at least
    rings     1 on the rim, 2 on the next ring, 3 inside

Moves are cells, `b2`. A grid is the size, then X, O, and `.` or a digit where no stone lies.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from retro.errors import BadTextError, WrongBoardError
from retro.games import grid_text
from retro.games.cells import read_size
from retro.games.grid import GridPosition
from retro.games.puissance_plus.rules import MAX_SIDE, MIN_SIDE, USUAL_TARGET, PuissanceBoard

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MOST_CHARACTERS = 100_000  # of a file of values
DEFAULT_TARGET, DEFAULT_VALUES = str(USUAL_TARGET), "diamond"


def read_board(size: str, target: str, values: str) -> PuissanceBoard:
    """A board from text; `values` are rows, a file of rows, or the name of a pattern."""
    width, height = read_size(size)
    if not re.fullmatch(r"[0-9]{1,5}", target, re.ASCII):
        raise BadTextError(f"found target {target!r}, wanted a whole number")
    if not (MIN_SIDE <= width <= MAX_SIDE and MIN_SIDE <= height <= MAX_SIDE):
        raise BadTextError(f"found board {size}, wanted sides of {MIN_SIDE} to {MAX_SIDE}")
    rows = _rows(values, width, height)
    if [len(row) for row in rows] != [width] * height:
        raise BadTextError(f"found values {values!r}, wanted {height} rows of {width} digits")
    cells = tuple(int(digit) for row in reversed(rows) for digit in row)
    return PuissanceBoard(height, width, int(target), cells)


def values_text(board: PuissanceBoard) -> str:
    """The values row by row, top row first."""
    digits = "".join(map(str, board.values))
    rows = [digits[i : i + board.cols] for i in range(0, board.cells, board.cols)]
    return "/".join(reversed(rows))


def values_name(board: PuissanceBoard) -> str:
    """The values as briefly as `parse` reads them: nothing, a pattern's name, or all rows."""
    text = values_text(board)
    for name in (DEFAULT_VALUES, *PATTERNS):
        if "/".join(_rows(name, board.cols, board.rows)) == text:
            return "" if name == DEFAULT_VALUES else name
    return text


def _diamond(row: int, column: int, height: int, width: int) -> int:
    away = sum(
        max(abs(2 * place - side + 1) // 2, 0) for place, side in ((row, height), (column, width))
    )
    return max(1, 3 - away)


def _rings(row: int, column: int, height: int, width: int) -> int:
    return min(3, 1 + min(row, column, height - 1 - row, width - 1 - column))


PATTERNS: dict[str, Callable[[int, int, int, int], int]] = {
    "ones": lambda *_: 1,
    "diamond": _diamond,
    "rings": _rings,
}


def _rows(text: str, width: int, height: int) -> list[str]:
    """Rows of digits, top row first."""
    if text in PATTERNS:
        worth = PATTERNS[text]
        return [
            "".join(str(worth(row, column, height, width)) for column in range(width))
            for row in range(height)
        ]
    if re.fullmatch(r"[0-9]+(/[0-9]+)*", text, re.ASCII):
        return text.split("/")
    try:
        with Path(text).open(encoding="utf-8-sig") as file:
            content = file.read(MOST_CHARACTERS)  # more is no board: /dev/zero, say
    except (OSError, UnicodeDecodeError, ValueError):
        raise BadTextError(
            f"found values {text!r}, wanted rows such as 121/232/121, a file of rows, "
            f"or one of {', '.join(PATTERNS)}"
        ) from None
    lines = (re.sub(r"#.*", "", line) for line in content.splitlines())
    rows = ["".join(line.split()) for line in lines if line.split()]
    if not all(re.fullmatch(r"[0-9]+", row, re.ASCII) for row in rows):
        raise BadTextError(f"{text} is no file of values: wanted rows of digits")
    return rows


def parse(size: str, options: Mapping[str, str]) -> PuissanceBoard:
    """A board from its size and options."""
    return read_board(
        size, options.get("target", DEFAULT_TARGET), options.get("values", DEFAULT_VALUES)
    )


def describe(board: PuissanceBoard) -> tuple[str, dict[str, str]]:
    """What `parse` reads."""
    size = f"{board.cols}x{board.rows}"
    return size, {"target": str(board.target), "values": values_text(board)}


def read_position(board: PuissanceBoard, text: str) -> GridPosition:
    """Moves, or a grid: its size, then X, O, and `.` or a digit where no stone lies."""
    if not is_grid(board, text):
        return grid_text.read_moves(board, text)
    size, *rows = re.sub(r"#[^\n]*", " ", text).split() or [""]
    if read_size(size) != (board.cols, board.rows):
        raise WrongBoardError(f"the grid is {size}, wanted {board.cols}x{board.rows}")
    symbols = re.sub("[0-9]", ".", "".join(rows))
    first, second = grid_text.read_symbols(board, symbols)
    return GridPosition(board, first, second).check()


def is_grid(_: PuissanceBoard, text: str) -> bool:
    """Whether text begins as a grid does, with its size."""
    return re.match(r"\s*(#|[0-9]+[xX])", text) is not None


def legend(board: PuissanceBoard) -> str:
    """What the digits mean."""
    return f"digits: what an empty cell is worth; a straight run of cells worth {board.target} wins"


def draw(position: GridPosition) -> str:
    """The board for a terminal, with the worth of the empty cells."""
    board = position.board
    worth = board.worth if isinstance(board, PuissanceBoard) else {}
    return grid_text.draw(position, lambda bit: str(worth[bit]))
