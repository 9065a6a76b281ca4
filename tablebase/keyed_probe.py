"""Questions to a table of any game: the value of a position, of its moves, a best line.

    with open_keyed("mnk", "3x3") as table:
        table.probe_wdl("b2 a1")             # 0: a draw

The twin of `probe`, which asks tables of Connect Four. A value is always for
the side to move: +1 WIN, 0 DRAW, -1 LOSS. Positions are given as text, as the
game reads it, or as the game's own positions.
"""

from __future__ import annotations

import json
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retro.errors import (
    GameOverError,
    IllegalPositionError,
    MissingTableError,
    WrongBoardError,
)
from retro.games.catalogue import find_game
from retro.games.keyed import canonical_of
from retro.games.rated import RatedMove, order_moves
from retro.walk import keyed_kernels as kernels
from tablebase.files import Closing
from tablebase.keyed_format import CHUNK_KEYS
from tablebase.keyed_store import KeyedTableFile
from tablebase.places import keyed_build_command, keyed_path, require_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from retro.games.catalogue import PlacementGame, Position
    from tablebase.keyed_format import KeyedHeader, KeyedRecord
    from tablebase.keyed_store import Page
    from tablebase.probe import Source


CACHED_LAYERS = 2  # for questions in bulk


class KeyedProbe(NamedTuple):
    """The value of a position for the side to move, and every legal move, best first."""

    position: Any
    value: int
    moves: list[RatedMove]
    source: Source = "table"

    @property
    def best(self) -> list[RatedMove]:
        """All moves that keep the value."""
        return [move for move in self.moves if move.value == self.value]


def open_keyed(game: str, board: str, folder: Path | None = None, **options: str) -> KeyedTable:
    """Open the table of a whole board: `open_keyed("mnk", "4x4", connect="4")`."""
    record = find_game(game)
    return open_rooted(record, record.start(record.parse(board, options)), folder)


def open_rooted(game: PlacementGame, root: Any, folder: Path | None = None) -> KeyedTable:
    """Open the table of all that follows a position."""
    path = keyed_path(game, root, folder)
    part = "" if game.root_text(root) else " (--from POSITION: only what follows a position)"
    require_table(path, keyed_build_command(game, root, folder) + part)
    table = open_keyed_file(path)
    if table.root != root:
        table.close()
        wanted = _title(game, root)
        raise WrongBoardError(f"{path} holds {_title(table.game, table.root)}, not {wanted}")
    return table


def _title(game: PlacementGame, root: Any) -> str:
    """What a table is of, for people."""
    text = game.root_text(root)
    return game.table_name(root.board) + (f" from {text!r}" if text else "")


def as_position(game: PlacementGame, board: Any, thing: Any) -> Any:
    """A position of a board, from text or as it is."""
    position = game.read_position(board, thing) if isinstance(thing, str) else thing
    if position.board != board:
        raise WrongBoardError(f"the position is on {position.board}, the table on {board}")
    return position


def rate_moves(
    game: PlacementGame, position: Any, solve: Callable[[Any], tuple[int, int | None]]
) -> list[RatedMove]:
    """Every legal move, best first; `solve` knows value and distance of an unfinished position."""
    rated = []
    for move in position.legal_moves():
        after = position.play(move)
        outcome = after.outcome()
        value, plies = solve(after) if outcome is None else (outcome, 0)
        name = game.write_move(position, move)
        rated.append(RatedMove(name, move, -value, None if plies is None else plies + 1))
    return order_moves(rated)


def open_keyed_file(path: Path) -> KeyedTable:
    """Open a table by its file; it says itself what it holds."""
    return KeyedTable(KeyedTableFile(path))


class KeyedTable(Closing):
    """An open table."""

    def __init__(self, file: KeyedTableFile) -> None:
        self._file = file
        self.game = find_game(file.header.game)
        self.board = self.game.parse(file.header.board, json.loads(file.header.options))
        self._solved = lru_cache(CACHED_LAYERS)(self._read_solved)
        self.root: Position = self.game.read_position(self.board, file.header.root)

    def close(self) -> None:
        self._file.close()

    @property
    def header(self) -> KeyedHeader:
        return self._file.header

    @property
    def name(self) -> str:
        return self.game.table_name(self.board)

    @property
    def path(self) -> Path:
        return self._file.path

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return self._file.size

    @property
    def plies(self) -> range:
        return self._file.plies

    @property
    def value(self) -> int:
        """The value of the root for its side to move."""
        return self._file.value

    @property
    def counts(self) -> list[KeyedRecord]:
        return self._file.records

    @cached_property
    def rules(self) -> Any:
        return self.game.rules(self.board)

    def layer(self, ply: int) -> Page:
        """Keys and values of a ply, checked against their digest."""
        return self._file.read_layer(ply)

    def as_position(self, thing: Any) -> Any:
        """A position of this board, from text or as it is."""
        return as_position(self.game, self.board, thing)

    def probe_wdl(self, position: Any) -> int:
        """The value for the side to move: +1, 0 or -1.

        Raises `GameOverError` for a finished game, `MissingTableError` for a
        position that does not follow the root of the table.
        """
        position = self.as_position(position)
        if position.is_over():
            raise GameOverError(position.over_message())
        value = self.get_state(position.ply, self.game.state(position))
        if value is None:
            if self.header.root:
                raise MissingTableError(
                    f"{self.path} covers only what follows {self.header.root!r}, not this position"
                )
            raise IllegalPositionError("no order of moves leads to this position")
        return value

    def probe(self, position: Any) -> KeyedProbe:
        """The value of a position and of every legal move, best first."""
        position = self.as_position(position)
        value = self.probe_wdl(position)
        moves = rate_moves(self.game, position, lambda after: (self.probe_wdl(after), None))
        return KeyedProbe(position, value, moves)

    def best_line(self, position: Any) -> list[RatedMove]:
        """A game with best play to its end, always the first of the best moves."""
        position = self.as_position(position)
        line: list[RatedMove] = []
        while not position.is_over() or not line:
            best = self.probe(position).moves[0]
            line.append(best)
            position = position.play(best.number)
        return line

    def get_state(self, ply: int, state: tuple[int, int]) -> int | None:
        """The value of an unfinished state of a ply, None if the table does not have it."""
        if ply not in self.plies:
            return None
        words = canonical_of(self.rules, np.uint64(state[0]), np.uint64(state[1]))
        key = int(words[0]), int(words[1])
        low, high = 0, -(-self._file.record(ply).keys // CHUNK_KEYS)
        while high - low > 1:  # the last page that does not begin after the key
            middle = (low + high) // 2
            if _key_at(self._file.page(ply, middle), 0) <= key:
                low = middle
            else:
                high = middle
        if high == 0:
            return None
        page = self._file.page(ply, low)
        first = int(np.searchsorted(page.keys.a, np.uint64(key[0])))
        if len(page.keys.b):
            last = int(np.searchsorted(page.keys.a, np.uint64(key[0]), "right"))
            first += int(np.searchsorted(page.keys.b[first:last], np.uint64(key[1])))
        found = first < page.keys.size and _key_at(page, first) == key
        return int(page.values[first]) if found else None

    def probe_many(
        self, ply: int, a: NDArray[np.uint64], b: NDArray[np.uint64] | None = None
    ) -> NDArray[np.int8]:
        """The values of many states of one ply, canonical or not, given as arrays of words.

        Finished games are answered by the rules. A state that is not in the
        table raises `MissingTableError` with its place.
        """
        low = np.ascontiguousarray(a, np.uint64)
        high = np.zeros(len(low), np.uint64) if b is None else np.ascontiguousarray(b, np.uint64)
        values = np.empty(len(low), np.int8)
        layer = self._solved(ply) if ply in self.plies else kernels.nothing(self.rules.words)
        missing = kernels.look_up(self.rules, layer, low, high, values)
        if missing != kernels.SOUND:
            raise MissingTableError(f"{self.path}: state {missing} is not in the table's ply {ply}")
        return values

    def _read_solved(self, ply: int) -> kernels.Solved:
        return kernels.solved(*self.layer(ply))

    def positions(self, ply: int) -> Iterator[tuple[Any, int]]:
        """One unfinished position of every symmetry class of a ply, with its value."""
        keys, values = self.layer(ply)
        b = keys.b if len(keys.b) else np.zeros(keys.size, np.uint64)
        for low, high, value in zip(keys.a.tolist(), b.tolist(), values.tolist(), strict=True):
            yield self.game.position(self.board, low, high), value


def _key_at(page: Page, place: int) -> tuple[int, int]:
    b = int(page.keys.b[place]) if len(page.keys.b) else 0
    return int(page.keys.a[place]), b
