"""What a picture of a position needs, told once by the game: its scene.

The page, SVG files, notebooks and the terminal all draw from a scene, so none of them knows
a game. Places are (column, row), counted from 0, (0, 0) the bottom left:

    2   . X .       marks  what lies on the board: a stone, a cross, a domino, a piece
    1   O . .       spots  the legal moves, the places each covers and where it is clicked
        a b c       line   the places that ended the game;  last  those of the last move

Each game's folder has a `scene.py` with three functions, found by name:

    scene(position)            the scene
    palette(board)             what an editor can put on a cell, and say besides
    set_up(board, grid)        the position of a grid; raises what is impossible about it

A grid is one text for every game: a symbol a cell, rows parted by `/`, the top row first, then
after a comma what the cells do not tell (who is to move, the piece in hand):

    .X./O..            X of the first player on b2, O of the second on a1
    ..../..../.f../c...,3          Quarto, with piece 3 in hand
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from retro.errors import BadTextError
from retro.games.cells import column_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from retro.games.game import Board, Position
    from retro.games.values import Player

    Place = tuple[int, int]
    Places = tuple[Place, ...]

Kind = Literal["disc", "cross", "ring", "domino", "hole", "piece"]
EMPTY = "."
ATTRIBUTES = 4


class Piece(NamedTuple):
    """A piece of Quarto as it looks: four things that are so or not, and their words."""

    number: int
    words: str  # `blue short hollow square`
    blue: bool
    tall: bool
    solid: bool
    square: bool


def look_of(number: int, words: str = "") -> Piece:
    """The look of a piece: one bit an attribute.

    >>> look_of(0b1001, "blue short hollow square")[2:]
    (True, False, False, True)
    """
    return Piece(number, words, *(bool(number >> bit & 1) for bit in range(ATTRIBUTES)))


class Mark(NamedTuple):
    """What lies on one place, or on two."""

    kind: Kind
    places: Places
    owner: Player | None = None  # None: nobody's
    piece: Piece | None = None


class Spot(NamedTuple):
    """A legal move: the places it covers, those where it is clicked, the piece it gives."""

    move: str
    covers: Places
    click: Places
    gives: int | None = None


@dataclass(frozen=True)
class Scene:
    """Everything that is seen of a position."""

    cols: int
    rows: int
    column_names: tuple[str, ...]
    row_names: tuple[str, ...]  # from the bottom; empty where rows have no names
    marks: tuple[Mark, ...]
    spots: tuple[Spot, ...]
    line: Places = ()
    last: Places = ()
    worth: tuple[int, ...] = ()  # of the cells, row after row from the bottom
    stock: tuple[Piece, ...] = ()  # pieces that can be given
    hand: Piece | None = None
    falls: bool = False  # marks come from above
    extra: str = ""  # what the cells do not tell, as grids have it after the comma
    mover: str = ""  # what the side to move is called, where it is more than first or second


class Symbol(NamedTuple):
    """What an editor can put on a cell, or say besides the cells, and how that looks."""

    text: str
    name: str
    mark: Mark | None = None


@dataclass(frozen=True)
class Palette:
    """The symbols of a grid."""

    cols: int
    rows: int
    cells: tuple[Symbol, ...]
    extra_name: str = ""  # what stands after the comma, for people; "" if nothing does
    extra: tuple[Symbol, ...] = ()


class _Module(Protocol):
    """A game's `scene.py`."""

    def scene(self, position: Position) -> Scene: ...
    def palette(self, board: Board) -> Palette: ...
    def set_up(self, board: Board, grid: str) -> Position: ...


def _module(board: Board) -> _Module:
    found: _Module = import_module(f"retro.games.{board.game_name.replace('-', '_')}.scene")
    return found


def scene_of(position: Position) -> Scene:
    """The scene of a position of any game.

    >>> from retro.games.catalogue import make_board
    >>> found = scene_of(make_board("mnk", "3x3").position("b2 a1"))
    >>> [(mark.kind, mark.places) for mark in found.marks], found.last
    ([('ring', ((0, 0),)), ('cross', ((1, 1),))], ((0, 0),))
    """
    return _module(position.board).scene(position)


def next_mark(position: Position) -> Mark | None:
    """What the side to move puts down, wherever it moves; None where the first move puts nothing.

    >>> from retro.games.catalogue import make_board
    >>> next_mark(make_board("mnk", "3x3").position("b2"))
    Mark(kind='ring', places=((0, 0),), owner='second', piece=None)
    """
    if position.is_over():
        return None
    before = scene_of(position).marks
    after = scene_of(position._play(position._numbers()[0])).marks
    return next((mark for mark in after if mark not in before), None)


def palette_of(board: Board) -> Palette:
    """What an editor of a board's positions offers."""
    return _module(board).palette(board)


def set_up(board: Board, grid: str) -> Position:
    """The position of a grid; the named errors say what is impossible about it.

    >>> from retro.games.catalogue import make_board
    >>> set_up(make_board("connect4", "3x2"), "X../.O.")
    Traceback (most recent call last):
    retro.errors.IllegalPositionError: a stone floats in column 1
    """
    return _module(board).set_up(board, grid)


def grid_of(position: Position) -> str:
    """The grid of a position: what `set_up` reads.

    >>> from retro.games.catalogue import make_board
    >>> grid_of(make_board("5x4").position("443"))
    '...../...../...O./..XX.'
    """
    found = scene_of(position)
    symbols = {place: _symbol(mark) for mark in found.marks for place in mark.places}
    rows = (
        "".join(symbols.get((column, row), EMPTY) for column in range(found.cols))
        for row in reversed(range(found.rows))
    )
    grid = "/".join(rows)
    return f"{grid},{found.extra}" if found.extra else grid


def _symbol(mark: Mark) -> str:
    if mark.piece is not None:
        return f"{mark.piece.number:x}"
    if mark.kind in ("domino", "hole") or mark.owner is None:
        return "X"
    return "X" if mark.owner == "first" else "O"


def read_grid(palette: Palette, grid: str) -> tuple[dict[Place, str], str]:
    """The symbols of the cells that are not empty, and what stands after the comma.

    >>> read_grid(Palette(2, 1, (Symbol("X", "a cross"),)), ".x")
    ({(1, 0): 'X'}, '')
    """
    cells, comma, extra = "".join(grid.split()).partition(",")
    rows = cells.split("/")
    if [len(row) for row in rows] != [palette.cols] * palette.rows:
        raise BadTextError(
            f"found a grid {cells!r}, wanted {palette.rows} rows of {palette.cols} symbols"
        )
    known = {symbol.text.upper(): symbol.text for symbol in palette.cells}
    found = {}
    for from_top, row in enumerate(rows):
        for column, text in enumerate(row):
            if text == EMPTY:
                continue
            if text.upper() not in known:
                wanted = ", ".join([EMPTY, *(symbol.text for symbol in palette.cells)])
                raise BadTextError(f"found {text!r} in a grid, wanted one of {wanted}")
            found[column, palette.rows - 1 - from_top] = known[text.upper()]
    besides = {symbol.text.upper(): symbol.text for symbol in palette.extra}
    if comma and extra.upper() not in besides:
        wanted = ", ".join(besides.values()) or "nothing"
        raise BadTextError(f"found {extra!r} after the comma of a grid, wanted {wanted}")
    return found, besides.get(extra.upper(), "")


# Parts that the games share.


def letters(cols: int) -> tuple[str, ...]:
    """The names of columns that have letters."""
    return tuple(column_text(column) for column in range(cols))


def numbers(count: int) -> tuple[str, ...]:
    """The names of rows: 1 and up."""
    return tuple(str(number + 1) for number in range(count))


def ending_places(position: Position) -> Places:
    """The places of every line that ended the game, row after row: what a picture frames."""
    return tuple((column, row) for row, column in sorted(position.ending_cells()))


def marks_of(kinds: Mapping[Player | None, tuple[Kind, Iterable[Place]]]) -> tuple[Mark, ...]:
    """Marks of one cell each, row after row from the bottom."""
    found = [
        Mark(kind, (place,), owner) for owner, (kind, places) in kinds.items() for place in places
    ]
    return tuple(sorted(found, key=lambda mark: (mark.places[0][1], mark.places[0][0])))


def one_mark(kind: Kind, owner: Player | None = None, piece: Piece | None = None) -> Mark:
    """A mark of one cell, wherever it lies: how a symbol looks."""
    return Mark(kind, ((0, 0),), owner, piece)


def is_grid(text: str) -> bool:
    """Whether text is a grid as this module writes them, of any size.

    >>> is_grid("..X/O.."), is_grid("b2 a1"), is_grid("443")
    (True, False, False)
    """
    return re.fullmatch(
        r"[.0-9A-Za-z]+(/[.0-9A-Za-z]+)*(,[0-9A-Za-z]?)?", text.strip()
    ) is not None and ("." in text or "/" in text)
