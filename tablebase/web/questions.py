"""Boards and positions from a request: bounded, and without a way to the file system.

    game=mnk  board=4x4  connect=4        the board, as the commands take it
    position=b2 a1                        a position, as the commands read it
    from=.X./O..  moves=c3 a3             or a grid (`retro.games.scene`), and moves after it

Values of options must look as the game says (`Option.form`): none of these can name a file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from retro.errors import BadTextError, GameOverError, IllegalPositionError
from retro.games.catalogue import DEFAULT_GAME, find_game
from retro.games.scene import set_up

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retro.games.game import Board, Position

MOST_CELLS = 400
LONGEST_TEXT = 4_000  # of a position
LONGEST_OPTION = 1_000
BOARD_NAMES = ("game", "board")
POSITION_NAMES = ("position", "from", "moves")


@dataclass(frozen=True)
class Question:
    """A position, the grid it was set up from ("" for the start), and the moves since."""

    position: Position
    grid: str
    moves: tuple[str, ...]

    @property
    def board(self) -> Board:
        return self.position.board


def read_board(fields: Mapping[str, object]) -> Board:
    """The board that a request names; what is left out is the usual.

    >>> str(read_board({"game": "mnk", "board": "4x4", "connect": "4"}))
    'mnk 4x4 connect=4'
    """
    name = _text(fields, "game", 40) or DEFAULT_GAME
    options = [_text(fields, option.name, LONGEST_OPTION) for option in find_game(name).options]
    return _board(name, _text(fields, "board", 20), *options)


@lru_cache(maxsize=256)
def _board(name: str, size: str, *texts: str) -> Board:
    """The board of a game, a size and the texts of its options, "" for what is usual."""
    game = find_game(name)
    if size and not re.fullmatch(r"[0-9]{1,3}[xX][0-9]{1,3}", size, re.ASCII):
        raise BadTextError(f"found board {size!r}, wanted {game.size_order} such as {game.usual}")
    options: dict[str, object] = {}
    for option, text in zip(game.options, texts, strict=True):
        if not text:
            continue
        if not re.fullmatch(option.form, text, re.ASCII):
            raise BadTextError(f"found {option.name} {text[:60]!r}, wanted {option.help}")
        options[option.name] = text
    board: Board = game.make(size, **options)
    if board.cells > MOST_CELLS:
        raise BadTextError(
            f"found a board of {board.cells} cells, wanted at most {MOST_CELLS} here"
        )
    return board


def read_question(fields: Mapping[str, object]) -> Question:
    """The position that a request names; by default the start."""
    board = read_board(fields)
    text, grid, moves = (_text(fields, name, LONGEST_TEXT) for name in POSITION_NAMES)
    if text and (grid or moves):
        raise BadTextError("found position with from or moves, wanted one of the two")
    if grid:
        return _play(set_up(board, grid), grid, moves.split())
    position = board.position(text or moves)
    if position.history is None or (position.ply and not position.history):
        return Question(position, "", ())  # a grid of the game's own
    return Question(position, "", history_texts(position))


def history_texts(position: Position) -> tuple[str, ...]:
    """The moves of a position that was played from the start."""
    now, found = position.board.start(), []
    for move in position.history or ():
        found.append(now._text_of(move))
        now = now._play(move)
    return tuple(found)


def read_grid_moves(board: Board, grid: str, words: Sequence[str]) -> Position:
    """The position after moves from a grid."""
    return _play(set_up(board, grid), grid, words).position


def _play(root: Position, grid: str, words: Sequence[str]) -> Question:
    position, found = root, []
    for number, word in enumerate(words, start=1):
        try:
            move = position._number_of(word)
            after = position._play(move)
        except (BadTextError, GameOverError, IllegalPositionError) as error:
            raise type(error)(f"move {number}, {word[:20]!r}: {error}") from None
        found.append(position._text_of(move))
        position = after
    return Question(position, grid, tuple(found))


def _text(fields: Mapping[str, object], name: str, longest: int) -> str:
    text = fields.get(name, "")
    if not isinstance(text, str):
        raise BadTextError(f"found {name} {text!r:.40}, wanted text")
    if len(text) > longest:
        raise BadTextError(f"found {name} of {len(text):,} characters, wanted at most {longest:,}")
    return text.strip()


def read_flag(fields: Mapping[str, object], name: str) -> bool:
    """Whether something is wanted: `on` or `off`."""
    text = _text(fields, name, 10) or "off"
    if text not in ("on", "off"):
        raise BadTextError(f"found {name} {text!r}, wanted on or off")
    return text == "on"


def read_number(fields: Mapping[str, object], name: str, default: int, most: int) -> int:
    """A whole number from 0 on."""
    text = _text(fields, name, 20) or str(default)
    if not re.fullmatch(r"[0-9]{1,10}", text, re.ASCII) or int(text) > most:
        raise BadTextError(f"found {name} {text!r}, wanted a whole number of at most {most:,}")
    return int(text)


def require_known(fields: Mapping[str, object], *names: str) -> None:
    """Refuse a field that nobody reads: a misspelt option must not go unnoticed."""
    game = find_game(_text(fields, "game", 40) or DEFAULT_GAME)
    known = [*BOARD_NAMES, *(option.name for option in game.options), *names]
    strange = next((name for name in fields if name not in known), None)
    if strange is not None:
        raise BadTextError(f"found field {strange[:40]!r}, wanted some of {', '.join(known)}")
