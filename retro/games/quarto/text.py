"""Quarto positions as text, both ways.

A piece is a hexadecimal digit, one bit per attribute. A cell is a coordinate, a
letter for the column and a number for the row, `a1` the bottom left. Actions:

    f          give piece f (the first action of a game)
    b2-3       place the piece in hand on b2 and give piece 3
    b2 3       the same in two halves
    d4         place, give nothing (the action that ends the game)

White space parts actions: `f b2-3 a1-c`. The empty board is `` or `-`. Where one action is
read a piece may be named, `b2-blue tall hollow round`; see `piece_name`.

A grid is the cells, top row first (`.` empty; white space and `/` are only for
the eye), then a comma and the piece in hand, if there is one:

    ..../..../.f../c...,3          after f b2-c a1-3
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from retro.errors import BadTextError, GameOverError, IllegalPositionError
from retro.games.quarto.rules import Action, QuartoBoard, QuartoPosition, find_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

EMPTY_TEXT = "-"
EMPTY = "."
# The values of each attribute, bit 0 first: colour, height, top, shape.
WORDS = (("red", "blue"), ("short", "tall"), ("hollow", "solid"), ("round", "square"))
_ACTION = re.compile(r"(?P<cell>[a-z][0-9])?-?(?P<piece>[0-9a-f])?", re.ASCII | re.IGNORECASE)


def cell_text(board: QuartoBoard, cell: int) -> str:
    """A cell as text.

    >>> cell_text(QuartoBoard(4), 6)
    'c2'
    """
    row, column = divmod(cell, board.side)
    return f"{chr(ord('a') + column)}{row + 1}"


def piece_name(board: QuartoBoard, piece: int) -> str:
    """A piece in words: its colour, height, top and shape, as many as it has.

    >>> [piece_name(QuartoBoard(4), piece) for piece in (15, 1)]
    ['blue tall solid square', 'blue short hollow round']
    """
    return " ".join(WORDS[bit][piece >> bit & 1] for bit in range(board.attributes))


def legend(board: QuartoBoard) -> str:
    """What the digits of pieces mean.

    >>> print(legend(QuartoBoard(2, 2)))
    pieces:
      0 red short     1 blue short
      2 red tall      3 blue tall
    """
    names = [f"{piece:x} {piece_name(board, piece)}" for piece in range(board.pieces)]
    width = max(map(len, names))
    rows = [names[i : i + 2] for i in range(0, len(names), 2)]  # fits 80 columns
    return "\n".join(
        ["pieces:", *("  " + "    ".join(n.ljust(width) for n in row).rstrip() for row in rows)]
    )


def _without_names(board: QuartoBoard, text: str) -> str:
    """An action whose piece is named, with the digit in its place."""
    words = text.lower().replace("-", " ").split()
    known = {name: piece for piece in range(board.pieces) for name in [piece_name(board, piece)]}
    cell, name = (words[:1], words[1:]) if len(words) == board.attributes + 1 else ([], words)
    piece = known.get(" ".join(name))
    return text if piece is None else "-".join([*cell, f"{piece:x}"])


def action_text(board: QuartoBoard, action: Action) -> str:
    """An action as text.

    >>> board = QuartoBoard(4)
    >>> [action_text(board, a) for a in (Action(None, 15), Action(5, 3), Action(0, None))]
    ['f', 'b2-3', 'a1']
    """
    halves = []
    if action.cell is not None:
        halves.append(cell_text(board, action.cell))
    if action.piece is not None:
        halves.append(f"{action.piece:x}")
    return "-".join(halves)


def move_text(board: QuartoBoard, move: int) -> str:
    """The action of a number as text."""
    return action_text(board, board.action(move))


def moves_text(board: QuartoBoard, moves: Iterable[int]) -> str:
    return " ".join(move_text(board, move) for move in moves)


def read_action(board: QuartoBoard, text: str) -> Action:
    """Read one action.

    >>> read_action(QuartoBoard(4), "b2-3")
    Action(cell=5, piece=3)
    >>> read_action(QuartoBoard(4), "b2-blue tall hollow round")
    Action(cell=5, piece=3)
    """
    text = _without_names(board, text)
    match = _ACTION.fullmatch(text.strip())
    both = match is not None and match["cell"] is not None and match["piece"] is not None
    if match is None or not match[0] or ("-" in text) != both:
        raise BadTextError(f"found {text!r}, wanted an action such as f, b2-3 or b2")
    cell = None if match["cell"] is None else _read_cell(board, match["cell"])
    return Action(cell, None if match["piece"] is None else _read_piece(board, match["piece"]))


def _read_cell(board: QuartoBoard, text: str) -> int:
    row, column = int(text[1:]) - 1, ord(text[0].lower()) - ord("a")
    if not (0 <= row < board.side and 0 <= column < board.side):
        last = cell_text(board, board.cells - 1)
        raise IllegalPositionError(f"{text!r} is not on the board {board}; cells are a1 to {last}")
    return row * board.side + column


def _read_piece(board: QuartoBoard, text: str) -> int:
    piece = int(text, 16)
    if piece >= board.pieces:
        raise IllegalPositionError(
            f"there is no piece {text!r} with {board.attributes} attributes; "
            f"pieces are 0 to {board.pieces - 1:x}"
        )
    return piece


def read_moves(board: QuartoBoard, text: str) -> QuartoPosition:
    """Play actions from the empty board.

    >>> board = QuartoBoard(4)
    >>> read_moves(board, "f b2-3 a1-c") == read_moves(board, "f b2 3 a1 c")
    True
    """
    position = QuartoPosition(board)
    if text.strip() == EMPTY_TEXT:
        return position
    words = [read_action(board, word) for word in text.split()]
    for number, action in enumerate(_joined(words), start=1):
        try:
            position = position._play(board.move(action))
        except (GameOverError, IllegalPositionError) as error:
            raise type(error)(f"action {number} of {text!r}: {error}") from None
    return position


def _joined(words: list[Action]) -> list[Action]:
    """Halves put together: a place and the give that follows it are one action."""
    actions: list[Action] = []
    for word in words:
        placed = actions[-1] if actions else Action(None, None)
        if word.cell is None and placed.cell is not None and placed.piece is None:
            actions[-1] = Action(placed.cell, word.piece)
        else:
            actions.append(word)
    return actions


def write_moves(position: QuartoPosition) -> str:
    """Actions that lead to the position: its own history, or some that are found.

    >>> write_moves(read_grid(QuartoBoard(4), "..../..../.f../c...,3"))
    'c a1-f b2-3'
    """
    moves = position.history if position.history is not None else find_order(position)
    if moves is None:
        raise IllegalPositionError("no order of moves leads to this position")
    return moves_text(position.board, moves)


def read_grid(board: QuartoBoard, text: str) -> QuartoPosition:
    """Read a grid, with or without a piece in hand.

    >>> read_grid(QuartoBoard(2, 2), "0. .3,1").ply
    3
    """
    body = re.sub(r"#[^\n]*", " ", text)
    grid, comma, hand = body.partition(",")
    symbols = re.sub(r"[\s/]", "", grid)
    if comma and not re.fullmatch(r"[0-9a-fA-F]", hand.strip(), re.ASCII):
        raise BadTextError(f"found {hand.strip()!r} in hand, wanted one piece, 0 to f")
    strange = next((s for s in symbols if not re.fullmatch(r"[0-9a-fA-F.]", s, re.ASCII)), None)
    if strange is not None:
        raise BadTextError(f"found {strange!r} in a grid, wanted '.' or a piece, 0 to f")
    if len(symbols) != board.cells:
        raise BadTextError(f"a {board} grid has {board.cells} symbols, found {len(symbols)}")
    cells: list[int | None] = [None] * board.cells
    for place, symbol in enumerate(symbols):
        row_from_top, column = divmod(place, board.side)
        if symbol != EMPTY:
            cell = (board.side - 1 - row_from_top) * board.side + column
            cells[cell] = _read_piece(board, symbol)
    in_hand = _read_piece(board, hand.strip()) if comma else None
    return QuartoPosition(board, tuple(cells), in_hand).check()


def write_grid(position: QuartoPosition) -> str:
    """The grid of a position, in one line.

    >>> write_grid(read_moves(QuartoBoard(3, 3), "7 b2-4"))
    '.../.7./...,4'
    """
    size = position.board.side
    symbols = [EMPTY if piece is None else f"{piece:x}" for piece in position.cells]
    rows = ["".join(symbols[row * size : row * size + size]) for row in reversed(range(size))]
    return "/".join(rows) + ("" if position.hand is None else f",{position.hand:x}")


def read_position(board: QuartoBoard, text: str) -> QuartoPosition:
    """Read actions or a grid: only a grid has dots, slashes, commas or rows of its length.

    >>> read_position(QuartoBoard(2, 2), "0 a1-3") == read_position(QuartoBoard(2, 2), "../0.,3")
    True
    """
    return read_grid(board, text) if is_grid(board, text) else read_moves(board, text)


def is_grid(board: QuartoBoard, text: str) -> bool:
    """Whether text has what only grids have: dots, slashes, commas, a row of symbols a line."""
    rows = ["".join(re.sub(r"#.*", "", line).split()) for line in text.splitlines()]
    lengths = {len(row) for row in rows if row}
    return re.search(r"[./,]", text) is not None or ("\n" in text and lengths == {board.side})


def write_position(position: QuartoPosition) -> str:
    """The actions that led here when they are known, else a grid."""
    return write_grid(position) if position.history is None else write_moves(position)


def draw(position: QuartoPosition) -> str:
    """The board for a terminal, the piece in hand and what can be given.

    >>> print(draw(read_moves(QuartoBoard(2, 2), "0 a1-3")))
      2  . .
      1  0 .
         a b
    in hand: 3 (blue tall)    to give: 1 2
    """
    board = position.board
    symbols = [EMPTY if piece is None else f"{piece:x}" for piece in position.cells]
    rows = [
        f"{row + 1:>3}  " + " ".join(symbols[row * board.side : (row + 1) * board.side])
        for row in reversed(range(board.side))
    ]
    letters = "     " + " ".join(chr(ord("a") + column) for column in range(board.side))
    hand = "nothing"
    if position.hand is not None:
        hand = f"{position.hand:x} ({piece_name(board, position.hand)})"
    stock = " ".join(f"{piece:x}" for piece in position.remaining()) or "nothing"
    return "\n".join([*rows, letters, f"in hand: {hand}    to give: {stock}"])


def parse(size: str, options: Mapping[str, str]) -> QuartoBoard:
    """A board from its size and options."""
    match = re.fullmatch(r"\s*([0-9]{1,3})[xX]([0-9]{1,3})\s*", size, re.ASCII)
    if match is None or int(match[1]) != int(match[2]):
        raise BadTextError(f"found board {size!r}, wanted 2x2, 3x3 or 4x4")
    attributes = options.get("attributes", "4")
    if not re.fullmatch(r"[0-9]{1,3}", attributes, re.ASCII):
        raise BadTextError(f"found {attributes!r} attributes, wanted 1 to 4")
    squares = options.get("squares", "off")
    if squares not in ("on", "off"):
        raise BadTextError(f"found squares {squares!r}, wanted on or off")
    return QuartoBoard(int(match[1]), int(attributes), squares == "on")


def describe(board: QuartoBoard) -> tuple[str, dict[str, str]]:
    """What `parse` reads."""
    options = {"attributes": str(board.attributes)}
    return f"{board.side}x{board.side}", options | ({"squares": "on"} if board.squares else {})
