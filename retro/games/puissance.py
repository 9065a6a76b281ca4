"""Puissance Plus, plainly: stones in a straight run, worth as much as the cells they lie on.

Free placement on a grid whose cells are worth 1, 2 or 3. The first player with
a contiguous straight run of own stones (row, column or diagonal, at least two
stones) whose cells total at least the target wins; a full board is a draw. With
all cells worth 1 it is the m,n,k-game.

    1 2 1        target 5: the middle row's 2 3 wins, and so do the middle column's;
    2 3 2        a diagonal 1 3 1 wins with all three
    1 2 1

A run that wins contains a shortest one that wins, so the lines of the board are
the runs that win while neither end could be left out. Symmetries are those of
the grid that keep every cell's value.

Values are given row by row, top row first: `121/232/121`, or as the same rows in a
file, or by the name of a pattern:

    ones      every cell 1
    diamond   3 in the middle, one less with every step away, 1 at least
    rings     1 on the rim, 2 on the next ring, 3 inside
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from retro.errors import BadTextError, WrongBoardError
from retro.games import mnk_text
from retro.games.catalogue import Option, PlacementGame
from retro.games.cells import cell_text, read_cell, read_size
from retro.games.grid import GridBoard, GridPosition

if TYPE_CHECKING:
    from collections.abc import Callable

MIN_SIDE, MAX_SIDE = 2, 50
WORTH = (1, 2, 3)
SHORTEST_RUN = 2
MOST_SHOWN = 36  # values in the name of a board
DEFAULT_TARGET, DEFAULT_VALUES = "5", "diamond"


@dataclass(frozen=True)
class PuissanceBoard(GridBoard):
    """A board, what a run must total to win, and the worth of every cell from the bottom left.

    >>> board = read_board("3x3", "5", "121/232/121")
    >>> str(board), len(board.lines), len(board.symmetries)
    ('3x3 to 5 on 121/232/121', 6, 8)
    """

    target: int
    values: tuple[int, ...]  # row after row from the bottom, as `all_bits`

    def __post_init__(self) -> None:
        if not (MIN_SIDE <= self.rows <= MAX_SIDE and MIN_SIDE <= self.cols <= MAX_SIDE):
            raise BadTextError(
                f"found a board of {self.cols}x{self.rows}, "
                f"wanted sides of {MIN_SIDE} to {MAX_SIDE}"
            )
        if self.target < 1:
            raise BadTextError(f"found target {self.target}, wanted at least 1")
        if len(self.values) != self.cells:
            raise BadTextError(
                f"found {len(self.values)} values, a {self.cols}x{self.rows} board "
                f"has {self.cells} cells"
            )
        strange = next((value for value in self.values if value not in WORTH), None)
        if strange is not None:
            raise BadTextError(f"found a cell worth {strange}, wanted 1, 2 or 3")

    def __str__(self) -> str:
        on = f" on {values_text(self)}" if self.cells <= MOST_SHOWN else ""
        return f"{self.cols}x{self.rows} to {self.target}{on}"

    @property
    def goal(self) -> str:
        return f"a run worth {self.target}"

    @cached_property
    def worth(self) -> dict[int, int]:
        """{bit of a cell: its value}."""
        return dict(zip(self.all_bits, self.values, strict=True))

    @cached_property
    def lines(self) -> tuple[int, ...]:
        """The shortest runs that win: each as a set of cells."""
        found = []
        for ray in self.rays():
            total = 0
            for length, bit in enumerate(ray, start=1):
                total += self.worth[bit]
                if length >= SHORTEST_RUN and total >= self.target:
                    # Shortest at this end; at the other, too, unless the rest wins without it.
                    if length == SHORTEST_RUN or total - self.worth[ray[0]] < self.target:
                        found.append(sum(ray[:length]))
                    break
        return tuple(found)

    @cached_property
    def symmetries(self) -> tuple[dict[int, int], ...]:
        ways = super().symmetries
        return tuple(
            way for way in ways if all(self.worth[b] == self.worth[to] for b, to in way.items())
        )


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
        content = Path(text).read_text(encoding="ascii")
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


def plausible_moves(position: GridPosition) -> list[int]:
    """Legal moves on cells worth 2 or 3, or next to a stone; all of them when there are none.

    The filter of the classic program. It keeps every move that wins at once
    (the new stone lies next to another of the run), but not every move that
    keeps a won position won: `docs/puissance-plus.md` shows one that it drops.

    >>> board = read_board("4x4", "4", "1111/1111/1111/1121")
    >>> start = GridPosition(board)
    >>> [cell_text(board, move) for move in plausible_moves(start)]
    ['c1']
    """
    board = position.board
    worth = board.worth if isinstance(board, PuissanceBoard) else {}  # m,n,k: all cells count 1
    stones = position.first | position.second
    beside = stones << 1 | stones | stones >> 1  # what leaves a row falls on its guard bit
    near = beside << board.stride | beside | beside >> board.stride
    legal = position.legal_moves()
    return [bit for bit in legal if bit & near or worth.get(bit, 1) > 1] or legal


def _read_position(board: PuissanceBoard, text: str) -> GridPosition:
    """Moves, or a grid: its size, then X, O, and `.` or a digit where no stone lies."""
    if not re.match(r"\s*(#|[0-9]+[xX])", text):
        return mnk_text.read_moves(board, text)
    size, *rows = re.sub(r"#[^\n]*", " ", text).split() or [""]
    if read_size(size) != (board.cols, board.rows):
        raise WrongBoardError(f"the grid is {size}, wanted {board.cols}x{board.rows}")
    symbols = re.sub("[0-9]", ".", "".join(rows))
    first, second = mnk_text.read_symbols(board, symbols)
    return GridPosition(board, first, second).check()


GAME = PlacementGame(
    name="puissance-plus",
    about="free placement, a straight run of cells worth the target wins",
    options=(
        Option("target", "N", f"what a run must total (default {DEFAULT_TARGET})", DEFAULT_TARGET),
        Option(
            "values",
            "ROWS",
            f"121/232/121, a file, or {', '.join(PATTERNS)} (default {DEFAULT_VALUES})",
            DEFAULT_VALUES,
        ),
    ),
    players=("X", "O"),
    parse=lambda size, options: read_board(
        size, options.get("target", DEFAULT_TARGET), options.get("values", DEFAULT_VALUES)
    ),
    describe=lambda board: (
        f"{board.cols}x{board.rows}",
        {"target": str(board.target), "values": values_text(board)},
    ),
    start=GridPosition,
    read_move=lambda position, text: read_cell(position.board, text),
    write_move=lambda position, move: cell_text(position.board, move),
    read_position=_read_position,
    write_position=mnk_text.write_moves,
    draw=lambda position: mnk_text.draw(position, lambda bit: str(position.board.worth[bit])),
    rules=mnk_text.keyed_rules,
    state=mnk_text.keyed_state,
    position=mnk_text.keyed_position,
)
