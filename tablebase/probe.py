"""Questions to a table: the value of one position or of millions, the best moves, a best line.

    with open_tablebase("5x4") as table:
        table.probe_wdl("443")           # 1: a win for the second player, who is to move

A value is always for the side to move: +1 WIN, 0 DRAW, -1 LOSS. Positions may
be given as move strings, `Position`, grid text, arrays or pairs of bitboards
(`retro.games.connect_text` describes them). `probe_x` raises when there is no
answer, `get_x` returns a default.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import numpy as np

from retro.errors import (
    BadTextError,
    GameOverError,
    IllegalPositionError,
    NotCoveredError,
    TablebaseError,
)
from retro.games.connect import DEFAULT_CONNECT, Board, Position
from retro.games.connect_bits import geometry, is_reachable
from retro.games.connect_text import as_position, column_text
from retro.games.rated import RatedMove, centre_first, order_moves
from retro.index.enumerate import marked_positions
from retro.index.layout import Layout, make_layout
from retro.index.ranking import NO_RANK, Place, rank_many, unrank_position
from tablebase.files import Closing
from tablebase.lookup import ILLEGAL, OPEN, PageCache, check_many, settle_many
from tablebase.places import build_command, require_table, table_path
from tablebase.store import TableFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

    from retro.search.engine_leaves import Leaves
    from tablebase.format import Header, PlyRecord

DEFAULT_CACHE_BYTES = 256_000_000
Default = TypeVar("Default")
Source = Literal["table", "search"]


class Probe(NamedTuple):
    """The value of a position for the side to move, and every legal move, best first."""

    position: Position
    value: int
    moves: list[RatedMove]
    source: Source = "table"

    @property
    def best(self) -> list[RatedMove]:
        """All moves that keep the value."""
        return [move for move in self.moves if move.value == self.value]


def open_tablebase(
    table: str | Path | Board,
    connect: int = DEFAULT_CONNECT,
    *,
    cache_bytes: int = DEFAULT_CACHE_BYTES,
) -> Tablebase:
    """Open a table by board (`"5x4"`, in the folder of tables) or by path (`"shelf/x.h5"`).

    Close it with `close()` or use it as a context manager.
    """
    if isinstance(table, str) and not table.endswith(".h5") and "/" not in table:
        table = Board.parse(table, connect)
    if isinstance(table, Board):
        path = table_path(table)
        require_table(path, build_command(table))
        return Tablebase(TableFile(path, table), cache_bytes)
    return Tablebase(TableFile(Path(table)), cache_bytes)


class Tablebase(Closing):
    """An open table. Usable from several threads; keeps at most `cache_bytes` in memory."""

    def __init__(self, file: TableFile, cache_bytes: int = DEFAULT_CACHE_BYTES) -> None:
        self._file = file
        self._cache_bytes = cache_bytes

    def close(self) -> None:
        self._file.close()

    @property
    def header(self) -> Header:
        return self._file.header

    @property
    def path(self) -> Path:
        return self._file.path

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return self._file.size

    @cached_property
    def board(self) -> Board:
        return self.header.board

    @cached_property
    def root(self) -> Position:
        """The position that the table starts from."""
        return self.header.root_position

    @property
    def value(self) -> int:
        """The value of the position the table starts from, for its side to move."""
        return self._file.value

    @property
    def counts(self) -> list[PlyRecord]:
        """Legal positions per ply, and how many are won, drawn, lost and terminal."""
        return self._file.records

    def record(self, ply: int) -> PlyRecord:
        """The counts of one ply."""
        return self._file.record(ply)

    @cached_property
    def layout(self) -> Layout:
        return make_layout(self.board, self.header.left_columns, self.root)

    @cached_property
    def _pages(self) -> PageCache:
        kept = np.zeros_like(self.layout.stored_words)
        plies = slice(self.header.first_ply, self.header.last_ply + 1)
        kept[plies] = self.layout.stored_words[plies]
        return PageCache(self._file, kept, self._cache_bytes)

    def read_checked(self, ply: int) -> NDArray[np.uint64]:
        """The whole planes of a ply, [2, words], checked against their digest."""
        return self._file.read_checked(ply)

    def leaves(self, first_ply: int, max_bytes: int) -> Leaves | None:
        """The plies from `first_ply` on that fit in `max_bytes`, for `Solver` to search with."""
        from tablebase.leaves import load_leaves  # the engine takes a while to import

        return load_leaves(self, first_ply, max_bytes)

    def probe_wdl(self, position: Any) -> int:
        """The value for the side to move: +1, 0 or -1.

        Raises `GameOverError` for a finished game and the other named errors
        for what is no position of this board.
        """
        return self._value(as_position(self.board, position))

    def get_wdl(self, position: Any, default: Default = None) -> int | Default:  # type: ignore[assignment]
        """The value for the side to move, or `default` where `probe_wdl` would raise."""
        try:
            return self.probe_wdl(position)
        except TablebaseError:
            return default

    def probe(self, position: Any) -> Probe:
        """The value, and every legal move with its value for the mover, best first."""
        position = as_position(self.board, position)
        value = self._value(position)
        moves = []
        for column in centre_first(position.legal_columns(), self.board.width):
            after = position.play(column)
            outcome = after.outcome()
            for_next = self._value(after) if outcome is None else outcome
            moves.append(
                RatedMove(column_text(column), column, -for_next, None if outcome is None else 1)
            )
        return Probe(position, value, order_moves(moves))

    def best_line(self, position: Any) -> list[RatedMove]:
        """One line of best play to the end of the game, always the first of the best moves."""
        position = as_position(self.board, position)
        line: list[RatedMove] = []
        while not position.is_over() or not line:
            best = self.probe(position).moves[0]
            line.append(best)
            position = position.play(best.number)
        return line

    def _value(self, position: Position) -> int:
        if position.outcome() is not None:
            position.check()
            raise GameOverError(position.over_message())
        return int(self.probe_many([position.first], [position.second])[0])

    def probe_many(self, first: ArrayLike, second: ArrayLike) -> NDArray[np.int8]:
        """The values of many positions, given as two arrays of bitboards of equal length.

        Finished games are answered as the counts have them: a completed line
        is a LOSS for the side to move, a full board a DRAW. A position that the
        rules cannot show raises `IllegalPositionError` with its place, one that
        the table does not hold `NotCoveredError`.
        """
        ours, theirs = (_as_words(words) for words in (first, second))
        if ours.shape != theirs.shape or ours.ndim != 1:
            raise IllegalPositionError(
                f"wanted two arrays of bitboards of one length, found {ours.shape}, {theirs.shape}"
            )
        geo = geometry(self.board)
        plies, states = np.empty(len(ours), np.int64), np.empty(len(ours), np.int8)
        check_many(geo, ours, theirs, plies, states)
        illegal = np.flatnonzero(states == ILLEGAL)
        if len(illegal):
            self._refuse(int(illegal[0]), ours, theirs)
        self._require_covered(plies)
        self._require_root(ours, theirs)
        values = np.empty(len(ours), np.int8)
        whole_ply = self.header.last_ply if self.header.last_is_whole else -1
        settle_many(geo, whole_ply, ours, theirs, plies, states, values)
        ranks = np.empty(len(ours), np.int64)
        rank_many(self.layout.shape, ours, theirs, ranks)
        ranks[states != OPEN] = NO_RANK
        self._pages.look_up(plies, ranks, values)
        return values

    def _refuse(self, where: int, ours: NDArray[np.uint64], theirs: NDArray[np.uint64]) -> None:
        """Name what is wrong with an illegal position."""
        position = Position(self.board, int(ours[where]), int(theirs[where]))
        try:
            position.check()
        except IllegalPositionError as error:
            alone = len(ours) == 1
            raise IllegalPositionError(
                str(error) if alone else f"position {where}: {error}"
            ) from None

    def _require_covered(self, plies: NDArray[np.int64]) -> None:
        header = self.header
        outside = np.flatnonzero((plies < header.first_ply) | (plies > header.last_ply))
        if len(outside):
            raise NotCoveredError(
                f"{self.path} holds plies {header.first_ply} to {header.last_ply}, "
                f"not {int(plies[outside[0]])}"
            )

    def layer_arrays(
        self, ply: int
    ) -> Iterator[tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int8]]]:
        """Every legal position of a ply without a line, in bulk: bitboards of both players, values.

        Comes in pieces of some thousand positions of one profile, each followed by
        its mirror image. Walks forward from the empty board to know which
        positions are legal, so the first piece takes as long as that.
        """
        from retro.walk.layers import forward, prepare  # a single question does without

        self._require_covered(np.array([ply]))
        prepared = prepare(self.board, self.header.left_columns, root=self.root)
        alive = next(layer.stored[0] for _, layer in forward(prepared) if layer.ply == ply)
        for listed in marked_positions(self.layout, ply, alive):
            values = self.probe_many(listed.first, listed.second)
            yield listed.first, listed.second, values
            image = [mirror_words(self.board, w) for w in (listed.first, listed.second)]
            if self.header.mirror and (image[0] | image[1])[0] != (listed.first | listed.second)[0]:
                yield image[0], image[1], values

    def positions(self, ply: int) -> Iterator[tuple[Position, int]]:
        """Every legal position of a ply without a line, with its value; order as `layer_arrays`."""
        for first, second, values in self.layer_arrays(ply):
            for ours, theirs, value in zip(first, second, values, strict=True):
                yield Position(self.board, int(ours), int(theirs)), int(value)

    def random_position(self, rng: np.random.Generator, ply: int) -> Position:
        """A legal position of a ply without a line, each with the same chance."""
        self._require_covered(np.array([ply]))
        record = self._file.record(ply)
        if record.positions == record.terminal:
            raise IllegalPositionError(
                f"{self.board.name} has no position without a line on ply {ply}"
            )
        geo, root = geometry(self.board), np.uint64(self.root.first | self.root.second)
        while True:
            place = Place(ply, int(rng.integers(64 * self.layout.stored_words[ply])))
            position = unrank_position(self.layout, place)
            if position is None or position.winner() is not None:
                continue
            if self.header.mirror and rng.integers(2):
                image = position.mirror()
                if image.first | image.second == position.first | position.second:
                    continue  # such a profile is stored whole, others stand for two
                position = image
            if is_reachable(geo, root, np.uint64(position.first), np.uint64(position.second)):
                return position

    def _require_root(self, ours: NDArray[np.uint64], theirs: NDArray[np.uint64]) -> None:
        if not self.header.root:
            return
        first, second = np.uint64(self.root.first), np.uint64(self.root.second)
        lacking = np.flatnonzero((ours & first != first) | (theirs & second != second))
        if len(lacking):
            place = "" if len(ours) == 1 else f"position {int(lacking[0])}: "
            raise NotCoveredError(
                f"{place}{self.path} holds what follows {self.header.root}; this does not"
            )


def mirror_words(board: Board, words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Many bitboards with their columns in reverse order."""
    stride, column = np.uint64(board.stride), np.uint64((1 << board.stride) - 1)
    image = np.zeros_like(words)
    for c in range(board.width):
        place, opposite = np.uint64(c) * stride, np.uint64(board.width - 1 - c) * stride
        image |= (words >> place & column) << opposite
    return image


def _as_words(words: ArrayLike) -> NDArray[np.uint64]:
    array = np.array(words)  # a copy, to play forced moves in
    if array.size and array.dtype.kind not in "iu":
        raise BadTextError(f"found bitboards of type {array.dtype}, wanted 64-bit integers")
    if array.size and array.min() < 0:
        raise IllegalPositionError("found a negative bitboard")
    return np.ascontiguousarray(array, np.uint64)
