"""An open table, of any game: the value of one position or of millions, and the best moves.

    with open_tablebase("5x4") as table:
        table.probe_wdl("443")           # 1: a win for the second player, who is to move

The file says what it holds; one of two readers knows how (`halves` for Connect Four,
`keys` for every other game), and all that is asked of a table is asked here. A value is
always for the side to move: +1 WIN, 0 DRAW, -1 LOSS. A table built with distances also says in
how many plies the game ends if the winner hurries and the loser delays; of any other that
question is refused by name (`NoDistancesError`). Positions are given as text, as the game's
own positions, or many at a time as arrays. `probe_x` raises when there is no answer, `get_x`
returns a default where the table does not reach; damage and bad input raise in both.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from retro.answers import Probe, RatedMove, order_moves
from retro.errors import (
    BadTextError,
    GameOverError,
    IllegalPositionError,
    MissingTableError,
    NotCoveredError,
    WrongBoardError,
)
from retro.games.catalogue import make_board
from retro.games.values import Value
from tablebase.answers import require_distances
from tablebase.files.atomic import Closing
from tablebase.files.places import SUFFIX, find_table
from tablebase.files.remote import is_url, open_remote
from tablebase.indexes import open_reader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from retro.games.game import Board, Position, States
    from retro.search.connect4.leaves import Leaves
    from tablebase.answers import Answers, Counts
    from tablebase.files.remote import Source
    from tablebase.indexes import Reader
    from tablebase.rows import Batch

TABLE_NAMES = (
    "batches", "board", "close", "counts", "digest", "export", "get", "get_wdl", "has_distances",
    "index", "is_counted", "items", "keys", "path", "plies", "positions", "positions_counted",
    "probe", "probe_many", "probe_plies", "probe_wdl", "record", "root", "sample", "size",
    "title", "to_arrow", "value",
)  # fmt: skip
DEFAULT_CACHE_BYTES = 256_000_000
Default = TypeVar("Default")


def open_tablebase(
    table: str | Path | Board,
    connect: int | None = None,
    *,
    folder: Path | str | None = None,
    root: object = None,
    cache_bytes: int = DEFAULT_CACHE_BYTES,
) -> Table:
    """Open a table by board (`"5x4"`, `"mnk 4x4 connect=4"`), path (`"shelf/x.h5"`) or URL.

    Of 7x6 the first plies come with the package; they are opened where there is no other table
    of it. A URL, such as `"https://host/connect4-6x5.h5"`, needs the extra `remote`.

    `root` asks for the table of what follows a position. Close it with `close()` or use
    it as a context manager.
    """
    if isinstance(table, Path) or (isinstance(table, str) and is_path(table)):
        if connect is not None or root is not None:
            raise BadTextError(f"{table} says itself what it holds: wanted no other options")
        is_elsewhere = isinstance(table, str) and is_url(table)
        source = open_remote(str(table)) if is_elsewhere else Path(table)
        return Table(open_reader(source, cache_bytes))
    board = make_board(table, **({} if connect is None else {"connect": connect}))
    start = board.start() if root is None else board.position(root)
    return open_checked(find_table(start, folder), start, cache_bytes)


def is_path(text: str) -> bool:
    """Whether text names a file rather than a board, whose options may have a slash.

    >>> is_path("shelf/x"), is_path("x.h5"), is_path("puissance-plus 3x2 values=121/232")
    (True, True, False)
    """
    return is_url(text) or text.endswith(SUFFIX) or "/" in text.partition("=")[0]


def open_checked(path: Path, root: Position, cache_bytes: int = DEFAULT_CACHE_BYTES) -> Table:
    """Open a file that must hold what follows a position."""
    table = Table(open_reader(path, cache_bytes))
    if (table.board, table.root) != (root.board, root):
        table.close()
        raise WrongBoardError(f"{path} holds {table.title}, not {title_of(root)}")
    return table


def title_of(root: Position) -> str:
    """What a table is of, for people."""
    text = root.root_text
    return root.board.name + (f" from {text}" if text else "")


def _open_again(path: str | Path, digest: str) -> Table:
    """The table that was pickled."""
    table = open_tablebase(path)
    if table.digest != digest:
        table.close()
        raise MissingTableError(
            f"{path} is not the table that was pickled: its digest is {table.digest[:12]}..., "
            f"not {digest[:12]}...; pickle a table that is open now"
        )
    return table


class Table(Closing, Mapping[object, Probe]):
    """An open table. Usable from several threads; keeps a bounded part of the file in memory.

    Who asks while another thread closes it gets the right answer or `StorageError`, which says
    that the table is closed. A table is pickled as its path and digest, and opened again where
    it is unpickled.

    >>> import tablebase as tb
    >>> table = tb.open_tablebase("7x6")       # its first plies come with the package
    >>> table.value, table.plies, table.has_distances, table.title
    (WIN, range(0, 13), True, 'connect4-7x6')
    >>> table.probe_wdl("44"), table.probe_plies("44"), table.probe("44").best
    (WIN, 39, [RatedMove('4', WIN in 39)])
    >>> table.get_wdl("4444441111112"), sum(1 for position, value in table.positions(2))
    (None, 49)
    >>> table.close()
    """

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.board, self.root, self.plies = reader.board, reader.root, reader.plies
        self._length: int | None = None

    def close(self) -> None:
        """Give the file back; a table that is asked later says that it is closed."""
        self.reader.close()

    def __reduce__(self) -> tuple[object, ...]:
        path = self.path.resolve() if isinstance(self.path, Path) else str(self.path)
        return _open_again, (path, self.digest)

    def __repr__(self) -> str:
        first, last = self.plies[0], self.plies[-1]
        text = self.root.root_text
        start = f" from {text}" if text else ""
        counted = f"{self.positions_counted:,} positions" if self.is_counted else "not counted"
        return f"<Table {self.board.title}{start}, plies {first}..{last}, {counted}>"

    def __dir__(self) -> list[str]:
        """What a user may use."""
        return [*TABLE_NAMES]

    def _repr_html_(self) -> str:
        """What a notebook shows: the counts, ply by ply."""
        from tablebase.pictures import counts_html

        return counts_html(self.title, self.counts if self.is_counted else [])

    @property
    def path(self) -> Source:
        return self.reader.path

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return self.reader.size

    @property
    def value(self) -> int:
        """The value of the position the table starts from, for its side to move."""
        return Value(self.reader.value)

    @property
    def digest(self) -> str:
        """SHA-256 over header, value and counts, the digests of all values among them."""
        return self.reader.digest

    @property
    def index(self) -> str:
        """How positions become places: `two-halves` or `sorted-keys`."""
        return self.reader.index

    @property
    def has_distances(self) -> bool:
        """Whether the table knows in how many plies a game ends, too."""
        return self.reader.has_distances

    @property
    def is_counted(self) -> bool:
        """Whether it knows how many positions there are: not if built with `--counts off`."""
        return self.reader.is_counted

    @property
    def title(self) -> str:
        """What the table is of: `connect4-5x4`, or `connect4-7x6 from 4444`."""
        return title_of(self.root)

    @property
    def counts(self) -> list[Counts]:
        """Legal positions per ply, and how many are won, drawn, lost and terminal.

        Zeros, but for the root, unless `is_counted`.
        """
        return self.reader.counts

    @property
    def positions_counted(self) -> int:
        """All legal positions, finished games included."""
        return sum(counts.positions for counts in self.counts)

    def record(self, ply: int) -> Counts:
        """The counts of one ply; `NotCoveredError` if the table does not have it."""
        first, last = self.counts[0].ply, self.counts[-1].ply
        if not first <= ply <= last:
            raise NotCoveredError(f"{self.path} counts plies {first} to {last}, not {ply}")
        return self.counts[ply - first]

    def probe_wdl(self, position: object) -> int:
        """The value for the side to move: +1, 0 or -1.

        Raises `GameOverError` for a finished game, `NotCoveredError` for a position that the
        table does not reach, and the other named errors for what is no position of this board.
        """
        return Value(self.reader.value_of(self._live(position)))

    def is_ready_for(self, position: Position) -> bool:
        """Whether a look for a position is quick.

        The first look of a process into a large table that has it is not: a tenth of a second.
        """
        return self.reader.is_ready_for(position)

    def probe_plies(self, position: object) -> int:
        """The plies to the end of the game, if the winner hurries and the loser delays.

        Raises what `probe_wdl` does, and `NoDistancesError` if the table has no distances.
        """
        require_distances(self)
        return self.reader.answer_of(self._live(position))[1]

    def _live(self, position: object) -> Position:
        found = self.board.position(position)
        if found.is_over():
            raise GameOverError(found.check().over_message())
        return found

    def get_wdl(self, position: object, default: Default = None) -> int | Default:  # type: ignore[assignment]
        """The value for the side to move, or `default` where the table does not reach."""
        try:
            return self.probe_wdl(position)
        except MissingTableError:
            return default

    def probe(self, position: object) -> Probe:
        """The value, and every legal move with its value for the mover, best first.

        With the plies to the end of the game, if the table has distances.
        """
        found = self._live(position)
        after = {move: found._play(move) for move in found._in_order()}
        (value, _), *replies = self._answers([found, *after.values()])
        moves = [
            RatedMove(found._text_of(move), move, -reply, None if plies is None else 1 + plies)
            for move, (reply, plies) in zip(after, replies, strict=True)
        ]
        return Probe(found, value, order_moves(moves))

    def _answers(self, positions: list[Position]) -> list[tuple[int, int | None]]:
        """Values, and plies if they are known, of a position and of its successors.

        Finished ones are answered by the rules.
        """
        if not self.reader.has_kernels:
            outcomes = ((position, position.outcome()) for position in positions)
            return [self._answer(p) if known is None else (known, 0) for p, known in outcomes]
        try:  # all in one call: 0.2 ms where one by one took 1.5
            states = self.board.states(positions)
            if self.has_distances:
                found = self.reader.answers(states)
                return [*zip(found.values.tolist(), found.plies.tolist(), strict=True)]
            over = (0 if position.is_over() else None for position in positions)
            return [*zip(self.reader.values(states).tolist(), over, strict=True)]
        except (IllegalPositionError, MissingTableError):
            self.probe_wdl(positions[0])  # says the same of one position, without its place
            raise

    def _answer(self, position: Position) -> tuple[int, int | None]:
        if self.has_distances:
            return self.reader.answer_of(position)
        return self.reader.value_of(position), None

    @overload
    def probe_many(
        self,
        states: States | ArrayLike,
        b: ArrayLike | None = None,
        *,
        distances: Literal[False] = False,
    ) -> NDArray[np.int8]: ...
    @overload
    def probe_many(
        self, states: States | ArrayLike, b: ArrayLike | None = None, *, distances: Literal[True]
    ) -> Answers: ...
    def probe_many(
        self, states: States | ArrayLike, b: ArrayLike | None = None, *, distances: bool = False
    ) -> NDArray[np.int8] | Answers:
        """The values of many positions: `board.states([...])`, or arrays of their words.

        The board has at most 64 cells: no other has tables or states.
        With `distances` also the plies to the end: `Answers`, or `NoDistancesError`.
        Finished games are answered as the counts have them: by the rules. A position that
        the rules cannot show raises `IllegalPositionError` with its place, one that the
        table does not hold `NotCoveredError`.
        """
        asked = self.board.checked_states(states, b)
        return self.reader.answers(asked) if distances else self.reader.values(asked)

    def positions(self, ply: int, *, canonical: bool = False) -> Iterator[tuple[Position, int]]:
        """Every unfinished legal position of a ply with its value, or one of each symmetry class.

        One of each class is the chosen state, unless that does not follow a Connect Four root.
        From a root of another game than Connect Four the symmetric images are listed, too,
        whether or not they follow the root: they are what the table counts.
        """
        board = self.board
        for states, values in self.reader.layer(ply):
            keep = self.reader.one_of_each(states) if canonical else slice(None)
            words = (array[keep].tolist() for array in (states.a, states.b, values))
            for a, b, value in zip(*words, strict=True):
                if canonical or self.reader.lists_images:
                    yield board.unpack(a, b), Value(value)
                else:
                    for image in sorted(board.images(a, b)):
                        yield board.unpack(*image), Value(value)

    # A read-only mapping: unfinished legal positions to what `probe` gives.

    def __iter__(self) -> Iterator[Position]:
        """The unfinished legal positions, ply by ply."""
        for batch in self.batches(moves=False):
            yield from batch.positions()

    def __len__(self) -> int:
        """How many there are: from the counts, or of Connect Four without counts in closed form."""
        from tablebase.rows import live_of

        if self._length is None:
            self._length = sum(live_of(self, ply) for ply in self.plies)
        return self._length

    def __getitem__(self, position: object) -> Probe:
        return self.probe(position)

    def __contains__(self, position: object) -> bool:
        """Whether a position is unfinished and the table has it; wrong text raises."""
        found = self.board.position(position)
        return not found.is_over() and self.get_wdl(found) is not None

    def __bool__(self) -> bool:
        return True

    __eq__, __hash__ = object.__eq__, object.__hash__  # two tables are equal if they are the same

    def batches(
        self,
        ply: int | Iterable[int] | None = None,
        *,
        moves: bool = True,
        canonical: bool = False,
    ) -> Iterator[Batch]:
        """The unfinished legal positions as arrays, a batch at a time (see `rows`).

        Of one ply, of some, or of all; with the values of all moves, by action; with `canonical`
        one position of each symmetry class.

        >>> import tablebase as tb
        >>> with tb.open_tablebase("7x6") as table:
        ...     batch = next(table.batches(3))
        >>> batch, batch.move_value.shape
        (Batch('connect4 7x6', ply 3, 238 positions), (238, 7))
        """
        from tablebase.rows import batches

        plies = self.plies if ply is None else [ply] if isinstance(ply, int) else ply
        return batches(self, plies, moves=moves, canonical=canonical)

    def sample(
        self, n: int, *, ply: int | None = None, value: object = None, seed: int | None = None
    ) -> list[Position]:
        """Unfinished legal positions by chance, each with the same; one may come twice.

        >>> import tablebase as tb
        >>> with tb.open_tablebase("7x6") as table:
        ...     found = table.sample(3, ply=8, value="draw", seed=1)
        >>> [position.ply for position in found]
        [8, 8, 8]
        """
        from tablebase.rows import draw_positions, read_wanted

        return draw_positions(self, n, read_wanted(self, ply, value), seed)

    def export(
        self,
        path: Path | str,
        *,
        moves: bool = False,
        canonical: bool = False,
        plies: Iterable[int] | None = None,
        sample: int | None = None,
        seed: int | None = None,
    ) -> int:
        """Write the positions to a Parquet, CSV or npz file, a data card beside it; how many.

        With the values of all `moves`; one of each symmetry class with `canonical`; of some
        `plies`; or a `sample` of so many by chance, that `seed` repeats.
        """
        from tablebase.exports import Which, write_export

        return write_export(self, Path(path), Which(moves, canonical, plies, sample, seed))

    def to_arrow(
        self, *, moves: bool = False, canonical: bool = False, plies: Iterable[int] | None = None
    ) -> Any:
        """The positions as a table of Arrow; needs the extra `arrow`."""
        from tablebase.exports import Which, to_arrow

        return to_arrow(self, Which(moves, canonical, plies))

    def random_position(self, rng: np.random.Generator, ply: int) -> Position:
        """An unfinished legal position of a ply."""
        return self.reader.random_position(rng, ply)

    def leaves(self, first_ply: int, max_bytes: int) -> Leaves | None:
        """Plies from `first_ply` on in memory, for a search that can use them; None if none can."""
        return self.reader.leaves(first_ply, max_bytes)
