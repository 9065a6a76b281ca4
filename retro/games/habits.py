"""A position in whatever way people and programs write one.

    4453    4,4,5,3    4 4 5 3    d1 d2 e1    1. d1 d2 2. e1       moves, as text
    [4, 4, 5, 3]    ["b2", "a1"]    [Move, Move]                   moves, as a list
    . . .                                                          a grid, drawn with letters or
    . X .    ⚪🔴⚪                                                  with coloured discs
    O . .
    [[0, 0, 0], [0, 1, 0], [2, 0, 0]]                              an array of cells, top row first
    {"board": [0, 0, ...], "mark": 2}                              an observation of Kaggle's
    https://connect4.gamesolver.org/?pos=4453                      a link, also of the explorer

What can be read in two ways is refused, and the message says what to write instead. What is left
are the game's own texts: moves and grids with a header (its `text`).
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from retro.errors import BadTextError, IllegalPositionError, WrongBoardError
from retro.games.moves import Move, MoveNumber

if TYPE_CHECKING:
    from retro.games.game import Board
    from retro.games.position import Position

FIRST, SECOND, EMPTY = "X", "O", "."
_SIGNS = {
    **dict.fromkeys(("x", "X", "@", "1", "🔴", "❌", "✖"), FIRST),
    **dict.fromkeys(("o", "O", "0", "2", "-1", "🟡", "⭕", "🔵"), SECOND),
    **dict.fromkeys((".", "_", "-", "·", "", "⚪", "⚫", "⬜", "⬛"), EMPTY),
}
_NUMBERS = {0: EMPTY, 1: FIRST, 2: SECOND, -1: SECOND}
_EMOJI = "🔴❌✖🟡⭕🔵⚪⚫⬜⬛"
_LINK = re.compile(r"\s*(?:[a-z]+://\S*|[\w.:/-]*)\?\S+=\S*\s*", re.IGNORECASE)
_TURN = re.compile(r"(?<!\S)[0-9]{1,3}\.+(?=\s)", re.ASCII)
_CELL = re.compile(r"[a-z][0-9]", re.ASCII | re.IGNORECASE)
_CELLS = re.compile(r"([a-z][0-9]{1,2})+", re.ASCII | re.IGNORECASE)
LAST_DIGIT = 9  # columns after it have letters


def read_thing(board: Board, thing: object) -> Position:
    """The position of anything but one that is there already."""
    if isinstance(thing, str):
        return read_text(board, thing)
    if isinstance(thing, Mapping):
        return _read_observation(board, thing)
    if isinstance(thing, tuple) and len(thing) == 2 and all(map(_is_whole, thing)):
        return _read_words(board, thing)
    if isinstance(thing, np.ndarray) and thing.ndim == 2:
        return _read_rows(board, thing.tolist())
    if isinstance(thing, Sequence) and not isinstance(thing, bytes):
        if thing and all(isinstance(row, list | tuple | np.ndarray) for row in thing):
            return _read_rows(board, [list(row) for row in thing])
        if isinstance(thing, list):
            return _read_moves(board, thing)
        raise BadTextError(f"moves are a list, not a {type(thing).__name__}: {_shown(thing)}")
    if _is_whole(thing):
        raise BadTextError(
            f"the number {thing} is no position: write '{thing}', or the moves in a list"
        )
    raise BadTextError(
        f"{type(thing).__name__} is no position: write moves as text or in a list, a grid, "
        "or rows of cells"
    )


def _is_whole(thing: object) -> bool:
    return isinstance(thing, int | np.integer) and not isinstance(thing, bool)


def _shown(moves: Sequence[object]) -> str:
    return f"write {list(moves)!r:.60}"


def read_text(board: Board, text: str) -> Position:
    """Moves or a grid, in any habit of writing."""
    game = board.game
    if text.isdecimal():  # most texts are; nothing below is for them
        plain: Position = game.read_position(board, text)
        return plain
    if "=" in text and _LINK.fullmatch(text):
        return _read_link(board, text.strip())
    grid = _drawn(board, text)
    if grid is not None:
        return _set_up(board, grid)
    moves = _TURN.sub(" ", text)
    if moves != text and not re.search(r"[./,]", moves):
        text = moves
    words = [word for word in re.split(r"[\s,]+", text.strip()) if word]
    if game.columns:
        text = " ".join(_without_rows(board, words)) if _are_columns(words) else text
    elif "," in text and all(re.fullmatch(r"[A-Za-z][\w-]*|[0-9a-f]", word) for word in words):
        cells = any(_CELL.match(word) for word in words)  # without any, `2,2` is a cell itself
        text = " ".join(words) if cells else text
    position: Position = game.read_position(board, text)
    return position


def _are_columns(words: list[str]) -> bool:
    """Whether words are columns one by one, or cells; digits in one word are the game's own."""
    return all(len(word) == 1 for word in words) or all(_CELLS.fullmatch(word) for word in words)


def _without_rows(board: Board, words: list[str]) -> list[str]:
    """Columns for cells such as `d1`, each of which must be where its stone falls.

    Boards that have columns with letters read moves as they always did.
    """
    if board.last_column > LAST_DIGIT or not all(_CELLS.fullmatch(word) for word in words):
        return words
    words = [cell for word in words for cell in re.findall(r"[A-Za-z][0-9]{1,2}", word)]
    heights: dict[str, int] = {}
    found = []
    for number, word in enumerate(words, start=1):
        letter, row = word[0].lower(), int(word[1:])
        heights[letter] = heights.get(letter, 0) + 1
        if row != heights[letter]:
            raise IllegalPositionError(
                f"move {number}: a stone in column {letter} falls on {letter}{heights[letter]}"
            )
        found.append(str(ord(letter) - ord("a") + 1))
    return found


def is_grid(board: Board, text: str) -> bool:
    """Whether text is a grid of whatever kind, rather than moves."""
    return board.game.is_grid(board, text) or _drawn(board, text) is not None


def _drawn(board: Board, text: str) -> str | None:
    """The grid that `set_up` reads, if the text is rows of signs; None if it is something else."""
    if len(text) < board.cells:
        return None
    rows = [re.sub(r"[\s|]", "", row) for row in re.split(r"[\n/]", text.strip())]
    rows = [row.replace("\ufe0f", "") for row in rows if row]
    rows_wanted, columns = board.game.arrays.shape(board)
    fits = len(rows) == rows_wanted and all(len(row) == columns for row in rows)
    is_drawn = any(sign in text for sign in ".XxOo" + _EMOJI)
    signs = {sign for row in rows for sign in row}
    if not fits or not is_drawn or not signs <= {*_SIGNS} or not board.game.draws_stones:
        return None
    return "/".join("".join(_SIGNS[sign] for sign in row) for row in rows)


def _set_up(board: Board, grid: str) -> Position:
    from retro.games.scene import set_up

    return set_up(board, grid)


def _read_rows(board: Board, rows: list[list[object]]) -> Position:
    """Rows of cells, the top one first: 0 empty, 1 the first player, 2 or -1 the second."""
    _require_stones(board)
    wanted = board.game.arrays.shape(board)
    if (len(rows), *{len(row) for row in rows}) != wanted:
        lengths = sorted({len(row) for row in rows})
        raise WrongBoardError(
            f"{len(rows)} rows of {' or '.join(map(str, lengths))} cells are not {board}: "
            f"it has {wanted[0]} rows of {wanted[1]}"
        )
    return _set_up(board, "/".join("".join(map(_sign, row)) for row in rows))


def _sign(cell: object) -> str:
    found = None
    if cell is None:
        found = EMPTY
    elif isinstance(cell, str):
        found = _SIGNS.get(cell.strip())
    elif isinstance(cell, float) or _is_whole(cell) or isinstance(cell, np.number):
        found = _NUMBERS.get(cell)  # type: ignore[call-overload]
    if found is None:
        raise BadTextError(f"{cell!r:.40} is no cell: 0 is empty, 1 the first player, 2 the second")
    return found


def _require_stones(board: Board) -> None:
    if not board.game.draws_stones:
        raise BadTextError(
            f"cells alone are no position of {board.game_name}: write text, moves or a grid"
        )


def _read_observation(board: Board, thing: Mapping[object, object]) -> Position:
    """A flat list of cells, the top row first, and who is to move."""
    cells = thing.get("board")
    if not isinstance(cells, Sequence | np.ndarray) or isinstance(cells, str):
        raise BadTextError('an observation has "board", a list of cells, and "mark", 1 or 2')
    _require_stones(board)
    rows, columns = board.game.arrays.shape(board)
    if len(cells) != rows * columns:
        raise WrongBoardError(f"the observation has {len(cells)} cells, {board} has {board.cells}")
    flat = list(cells)
    position = _read_rows(board, [flat[i * columns : (i + 1) * columns] for i in range(rows)])
    mark, mover = thing.get("mark"), 1 if position.side_to_move == "first" else 2
    if mark is not None and mark != mover:
        raise IllegalPositionError(f"by its stones player {mover} moves, not mark {mark!r:.20}")
    return position


def _read_moves(board: Board, moves: Sequence[object]) -> Position:
    """A list of moves from the start: texts, `Move`s, or columns counted from 1."""
    position = board.start()
    texts = [move for move in moves if isinstance(move, str)]
    if board.game.columns and len(texts) == len(moves):
        moves = _without_rows(board, texts)
    for place, move in enumerate(moves, start=1):
        if isinstance(move, str | Move | MoveNumber):
            one: str | Move | MoveNumber = move
        elif not _is_whole(move):
            raise BadTextError(f"move {place} is a {type(move).__name__}; moves are texts or Moves")
        elif not board.game.columns:
            such = [one.text for one in board.start().moves[:2]]
            raise BadTextError(
                f"move {place} is the number {move}: write texts such as {such!r}, "
                "or play(action=...) for each"
            )
        elif not 1 <= int(str(move)) <= board.last_column:
            wrong = f"column {move} is not on {board}: columns are 1 to {board.last_column}"
            also = "" if move else "; actions count from 0: play(action=0) is column 1"
            raise IllegalPositionError(f"move {place}: {wrong}{also}")
        else:
            one = board.game.write_move(position, int(str(move)) - 1)
        try:
            position = position.play(one)
        except (BadTextError, IllegalPositionError) as error:
            raise type(error)(f"move {place}: {error}") from None
    return position


def _read_words(board: Board, words: tuple[int, int]) -> Position:
    """The two words of a state, as older programs have them."""
    from retro.games.game import from_words

    warnings.warn(
        f"a tuple of two numbers is read as the words of a state, which is deprecated: for moves "
        f"write the list {list(words)}, for states board.states_of([{words[0]}], [{words[1]}])",
        DeprecationWarning,
        stacklevel=4,
    )
    return from_words(board, words)


def _read_link(board: Board, link: str) -> Position:
    """The position of a link: `pos` of the best known page, or what the explorer's have."""
    from urllib.parse import parse_qsl

    from retro.games.catalogue import make_board
    from retro.games.scene import set_up

    fields = dict(parse_qsl(link.partition("?")[2], keep_blank_values=True))
    options = {o.name: fields[o.name] for o in board.game.options if o.name in fields}
    if "game" in fields or "board" in fields:
        words = [word for word in (fields.get("game"), fields.get("board")) if word]
        named = make_board(*words, **options)
        if named != board:
            raise WrongBoardError(f"the link is of {named}, not of {board}")
    moves = next((fields[n] for n in ("pos", "position", "moves") if n in fields), "")
    if "from" not in fields:
        if not {"pos", "position", "moves"} & fields.keys():
            raise BadTextError(f"the link names no position: pos= or moves= do, in {link!r:.60}")
        return read_text(board, moves)
    position = set_up(board, fields["from"])
    for move in moves.split():
        position = position.play(move)
    return position
