"""An open table of Connect Four: from positions to bits of its planes.

One question is answered by plain Python: forced moves are played, the place of the position
is computed by `retro.index.halves.one`, one chunk is unpacked. Questions in bulk go
through kernels and a page cache (`lookup`), and so do single ones when there are many, or
on boards whose halves are too large to count without kernels (8x7).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.errors import IllegalPositionError, NotCoveredError, VerificationError
from retro.games.connect4.rules import Connect4Position
from retro.games.game import States
from retro.games.values import WIN
from retro.index.halves import one
from retro.once import once
from tablebase.answers import Answers, Counts, require_distances
from tablebase.files.atomic import Closing
from tablebase.halves.format import INDEX
from tablebase.halves.settle import settle
from tablebase.halves.store import TableFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from retro.games.connect4.rules import Connect4Board
    from retro.games.game import Position
    from retro.index.halves.layout import Layout
    from retro.index.halves.sizes import Blocks
    from retro.search.connect4.leaves import Leaves
    from retro.walk.halves.prepared import Prepared
    from tablebase.files.remote import Source
    from tablebase.halves.format import Header, PlyRecord
    from tablebase.halves.lookup import PageCache

    Words = NDArray[np.uint64]

MOST_TRIES = 1_000_000  # to find an unfinished position that the counts say there is
# Whoever asks more is better served by kernels, though they take a while; on large boards so do
# the lists that they need: on 7x6 as long as some 700 answers, which may take 2.1 GB.
PLAIN_ANSWERS = 100
LISTED_PER_ANSWER = 3_000_000


class _Located(NamedTuple):
    """Many positions after their forced moves."""

    plies: NDArray[np.int64]
    kinds: NDArray[np.int8]  # as `lookup` has them
    ranks: NDArray[np.int64]  # NO_RANK where no bits are asked for
    values: NDArray[np.int8]  # or signs, see `lookup.settle_many`


class HalvesReader(Closing):
    """What `Table` asks of an open file of this index. Usable from several threads."""

    index = INDEX
    lists_images = True

    def __init__(self, path: Source, cache_bytes: int) -> None:
        self._file = TableFile(path)
        self._cache_bytes = cache_bytes
        self._asked = 0
        self._blocks: tuple[int, Blocks] | None = None
        self.path = path
        self.header: Header = self._file.header
        self.board: Connect4Board = self.header.board
        self.root: Connect4Position = self.header.root_position
        self.value, self.digest = self._file.value, self._file.digest

    def close(self) -> None:
        self._file.close()

    def require_open(self) -> None:
        self._file.require_open()

    @property
    def size(self) -> int:
        return self._file.size

    @property
    def plies(self) -> range:
        return self.header.plies

    @property
    def has_distances(self) -> bool:
        return bool(self.header.distances)

    @property
    def is_counted(self) -> bool:
        return bool(self.header.counts)

    @cached_property
    def counts(self) -> list[Counts]:
        """As in every game: a full board is decided by the rules, too, not only a line."""
        return [
            Counts(
                r.ply, r.positions, r.win, r.draw, r.loss,
                r.positions if r.ply == self.board.cells else r.terminal, None, r.sha256,
                *self._counted_distances(r),
            )
            for r in self._file.records
        ]  # fmt: skip

    def _counted_distances(self, r: PlyRecord) -> tuple[tuple[int, ...] | None, ...]:
        """How many are won, drawn and lost in so many plies, if that was counted."""
        if not r.distances:
            return (None, None, None)
        won = tuple(number * (plies % 2) for plies, number in enumerate(r.distances))
        lost = tuple(number * (1 - plies % 2) for plies, number in enumerate(r.distances))
        return won, (0,) * (self.board.cells - r.ply) + (r.draw,), lost

    def record(self, ply: int) -> PlyRecord:
        """What the file says of one ply."""
        return self._file.record(ply)

    @once
    def layout(self) -> Layout:
        from retro.index.halves.layout import make_layout  # numba: a single question does without

        layout = make_layout(*self.header.cut)
        self._file.require_words(layout.stored_words)
        return layout

    @once
    def kept_layout(self) -> Layout:
        """The layout of the plies that the file has: all that looking positions up takes.

        The first 13 plies of 7x6: 18 MB of lists instead of 392, a sixth of the time.
        """
        from retro.index.halves.layout import make_layout

        if self.header.last_ply == self.board.cells:
            return self.layout
        layout = make_layout(*self.header.cut, last_ply=self.header.last_ply)
        self._file.require_words(layout.stored_words)
        return layout

    def require_lengths(self) -> None:
        """Refuse planes of other lengths than the board's; making the layout does it."""
        self.layout  # noqa: B018

    @once
    def _pages(self) -> PageCache:
        from tablebase.halves.lookup import PageCache

        kept = np.zeros_like(self.kept_layout.stored_words)
        plies = slice(self.header.first_ply, self.header.last_ply + 1)
        kept[plies] = self.kept_layout.stored_words[plies]
        return PageCache(self._file, kept, self._cache_bytes)

    def read_checked(self, ply: int) -> Words:
        """The whole planes of a ply, [plane, word], checked against their digest."""
        self.require_lengths()
        return self._file.read_checked(ply)

    def chunks(self, ply: int) -> int:
        """The number of chunks of a ply."""
        return self._file.chunks(ply)

    def chunk_checked(self, ply: int, number: int) -> tuple[Words, bytes]:
        """A chunk and its digest; `require_digest` when all of a ply are there."""
        return self._file.chunk_checked(ply, number)

    def require_digest(self, ply: int, chunk_digests: Iterable[bytes]) -> None:
        """Refuse chunks whose digests are not together that of their ply."""
        self._file.require_digest(ply, chunk_digests)

    def leaves(self, first_ply: int, max_bytes: int) -> Leaves | None:
        """The plies from `first_ply` on that fit in `max_bytes`, for `Solver` to search with."""
        from tablebase.halves.leaves import load_leaves  # the engine takes a while to import

        return load_leaves(self, first_ply, max_bytes)

    @property
    def has_kernels(self) -> bool:
        """After many questions, and on boards that are too large to do without."""
        return self._asked > self._plain_answers

    @cached_property
    def _plain_answers(self) -> int:
        """So many questions are answered without kernels."""
        if not one.is_small(*self.header.cut):
            return -1
        if self.header.last_ply < self.board.cells:
            return PLAIN_ANSWERS  # such lists are short
        return PLAIN_ANSWERS + one.listed_bytes(*self.header.cut) // LISTED_PER_ANSWER

    def is_ready_for(self, position: Position) -> bool:
        """Whether a look is quick, as all but the first one that counts a large board's halves."""
        if self._asked or one.has_few_profiles(*self.header.cut):
            return True
        assert isinstance(position, Connect4Position)
        try:
            self._require_reached(position)
        except NotCoveredError:
            return True
        return False

    def value_of(self, position: Position) -> int:
        """The value of an unfinished position; `NotCoveredError` if the table does not have it."""
        settled, sign, value = self._settle(position)
        if value is not None:
            return sign * value
        self._asked += 1
        if self.has_kernels:
            return int(self.values(self.board.states_of(*([word] for word in position._state)))[0])
        win, loss, *_ = self._bits(settled)
        return sign * (win - loss)

    def answer_of(self, position: Position) -> tuple[int, int]:
        """Value and plies to the end of an unfinished position."""
        require_distances(self)
        settled, sign, value = self._settle(position)
        played = settled.ply - position.ply
        if value is not None:
            # Who can complete a line needs one stone; who cannot stop two of them loses after two.
            look = 0 if settled.is_over() else 1 if value == WIN else 2
            return sign * value, played + look
        self._asked += 1
        if self.has_kernels:
            found = self.answers(self.board.states_of(*([word] for word in position._state)))
            return int(found.values[0]), int(found.plies[0])
        win, loss, *digits = self._bits(settled)
        number = sum(digit << place for place, digit in enumerate(digits))
        empty = self.board.cells - settled.ply
        plies = 2 * number + win if win or loss else empty
        return sign * (win - loss), played + plies

    def _settle(self, position: Position) -> tuple[Connect4Position, int, int | None]:
        """As `settle`, of a position that the table must have."""
        assert isinstance(position, Connect4Position)
        self._file.require_open()
        position.check()
        self._require_reached(position)
        return settle(position, self._whole_ply)

    def _require_reached(self, position: Connect4Position) -> None:
        is_covered = self.header.first_ply <= position.ply <= self.header.last_ply
        lacking = self.root.first & ~position.first | self.root.second & ~position.second
        if not is_covered or lacking:  # say so as of many
            self._require_covered(np.array([position.ply]))
            self._require_root(*(np.array([word], np.uint64) for word in position._state))

    def _bits(self, settled: Connect4Position) -> list[int]:
        """The bits that the planes have of a position that is not blank."""
        rank = one.rank(*self.header.cut, settled)
        if rank is None:
            raise AssertionError("a live position without a line has a rank")
        self._file.require_length(settled.ply, one.layer_words(*self.header.cut, settled.ply))
        planes = self._file.read(settled.ply, rank // 64, rank // 64 + 1)
        return [int(word) >> rank % 64 & 1 for word in planes[:, 0]]

    @property
    def _whole_ply(self) -> int:
        return self.header.last_ply if self.header.last_is_whole else -1

    def values(self, states: States) -> NDArray[np.int8]:
        """The values of many positions; finished games are answered as the counts have them."""
        found = self._locate(states)
        self._pages.look_up(found.plies, found.ranks, found.values)
        return found.values

    def answers(self, states: States) -> Answers:
        """The same with the plies to the end of the game."""
        from tablebase.halves.lookup import FINISHED, SETTLED, gather_numbers

        require_distances(self)
        found = self._locate(states)
        self._pages.look_up(found.plies, found.ranks, found.values)
        numbers = np.zeros(len(found.plies), np.int16)
        self._pages.look_up(found.plies, found.ranks, numbers, gather_numbers)
        played = found.plies - states.ply
        here = found.values * (1 - 2 * (played & 1))  # for the side to move there
        plies = np.where(here == 0, self.board.cells - found.plies, 2 * numbers + (here > 0))
        plies[found.kinds == SETTLED] = np.where(here > 0, 1, 2)[found.kinds == SETTLED]
        plies[found.kinds == FINISHED] = 0
        return Answers(found.values, (played + plies).astype(np.int16))

    def _locate(self, states: States) -> _Located:
        """Check many positions, play their forced moves and find their places."""
        from retro.games.connect4.bits import geometry
        from retro.index.halves.ranking import NO_RANK, rank_many
        from tablebase.halves.lookup import ILLEGAL, OPEN, check_many, settle_many

        self.require_open()
        ours, theirs = states.a.copy(), states.b.copy()  # to play forced moves in
        geo = geometry(self.board)
        plies, found = np.empty(len(ours), np.int64), np.empty(len(ours), np.int8)
        check_many(geo, ours, theirs, plies, found)
        illegal = np.flatnonzero(found == ILLEGAL)
        if len(illegal):
            self._refuse(int(illegal[0]), ours, theirs)
        self._require_covered(plies)
        self._require_root(ours, theirs)
        values = np.empty(len(ours), np.int8)
        settle_many(geo, self._whole_ply, ours, theirs, plies, found, values)
        ranks = np.empty(len(ours), np.int64)
        rank_many(self.kept_layout.shape, ours, theirs, ranks)
        ranks[found != OPEN] = NO_RANK
        return _Located(plies, found, ranks, values)

    def _refuse(self, where: int, ours: Words, theirs: Words) -> None:
        """Name what is wrong with an illegal position."""
        position = Connect4Position(self.board, int(ours[where]), int(theirs[where]))
        try:
            position.check()
        except IllegalPositionError as error:
            place = "" if len(ours) == 1 else f"position {where}: "
            raise IllegalPositionError(f"{place}{error}") from None

    def _require_covered(self, plies: NDArray[np.int64]) -> None:
        header = self.header
        outside = np.flatnonzero((plies < header.first_ply) | (plies > header.last_ply))
        if len(outside):
            raise NotCoveredError(
                f"{self.path} holds plies {header.first_ply} to {header.last_ply}, "
                f"not {int(plies[outside[0]])}"
            )

    def _require_root(self, ours: Words, theirs: Words) -> None:
        if not self.header.root:
            return
        first, second = np.uint64(self.root.first), np.uint64(self.root.second)
        lacking = np.flatnonzero((ours & first != first) | (theirs & second != second))
        if len(lacking):
            place = "" if len(ours) == 1 else f"position {int(lacking[0])}: "
            raise NotCoveredError(
                f"{place}{self.path} holds what follows {self.header.root}; this does not"
            )

    def layer(self, ply: int) -> Iterator[tuple[States, NDArray[np.int8]]]:
        """Every unfinished legal position of a ply, in bulk, and its value."""
        for states in self.listing(ply):
            yield states, self.values(states)

    def listing(self, ply: int) -> Iterator[States]:
        """Every unfinished legal position of a ply, in bulk.

        Comes in pieces of some thousand positions of one profile, each followed by
        its mirror image.
        """
        from retro.index.halves.listing import marked_positions
        from retro.walk.halves.task import live_blocks

        for prepared in self._prepared_for(ply):
            pieces = ((group.begin, live) for group, live in live_blocks(prepared, ply))
            for listed in marked_positions(prepared.layout, ply, pieces):
                yield _states(ply, listed.first, listed.second)
                image = [mirror_words(self.board, w) for w in (listed.first, listed.second)]
                taken = (listed.first | listed.second)[0]
                if self.header.mirror and (image[0] | image[1])[0] != taken:
                    yield _states(ply, *image)

    def count_live(self, ply: int) -> int:
        """How many unfinished legal positions a ply has: from the counts, else in closed form."""
        from retro.index.halves.layout import layer_blocks
        from retro.walk.halves.prepared import block_weights
        from retro.walk.halves.task import live_blocks

        if self.is_counted:
            record = self.counts[ply - self.counts[0].ply]
            return record.positions - record.terminal
        found = 0
        for prepared in self._prepared_for(ply):
            offset = layer_blocks(prepared.layout, ply).offset
            for group, live in live_blocks(prepared, ply):
                first = int(np.searchsorted(offset, group.begin))
                ends = offset[first : first + len(group.left) + 1] - group.begin
                counted = np.concatenate(([0], np.cumsum(np.bitwise_count(live), dtype=np.int64)))
                weights = block_weights(prepared, group.left, group.right)
                found += int((np.diff(counted[ends]) * weights).sum())
        return found

    def _prepared_for(self, ply: int) -> Iterator[Prepared]:
        """What listing a ply takes; nothing for the last one, where no game goes on."""
        from retro.index.halves.layout import make_layout
        from retro.walk.halves.prepared import prepare_layout

        self.require_open()
        self._require_covered(np.array([ply]))
        if ply < self.board.cells:
            yield prepare_layout(make_layout(*self.header.cut, last_ply=ply))

    def draw(self, rng: np.random.Generator, ply: int, number: int) -> list[Connect4Position]:
        """Unfinished legal positions of a ply by chance, each with the same."""
        return [self.random_position(rng, ply) for _ in range(number)]

    def one_of_each(self, states: States) -> NDArray[np.bool_]:
        """Which positions stand for their classes: the chosen image, if it follows the root."""
        image = mirror_words(self.board, states.a), mirror_words(self.board, states.b)
        first, second = image
        chosen: NDArray[np.bool_] = (states.a < first) | (
            (states.a == first) & (states.b <= second)
        )
        if not self.header.mirror:
            for place in np.flatnonzero(~chosen):
                chosen[place] = not self._follows(int(first[place]), int(second[place]))
        return chosen

    def _follows(self, first: int, second: int) -> bool:
        """Whether stones follow the root in some order."""
        from retro.games.connect4.bits import geometry, is_reachable

        if self.root.first & ~first or self.root.second & ~second:
            return False
        root = np.uint64(self.root.first | self.root.second)
        return bool(is_reachable(geometry(self.board), root, np.uint64(first), np.uint64(second)))

    def random_positions(
        self, rng: np.random.Generator, ply: int, most: int
    ) -> list[Connect4Position]:
        """Random unfinished positions of a ply, at most so many and not more than there are."""
        record = self.record(ply)
        number = min(most, record.positions - record.terminal) if self.is_counted else most
        if not self.is_counted:  # perhaps there is none
            try:
                self.random_position(rng, ply)
            except IllegalPositionError:
                return []
        return [self.random_position(rng, ply) for _ in range(number)]

    def random_position(self, rng: np.random.Generator, ply: int) -> Connect4Position:
        """An unfinished legal position of a ply, each with the same chance.

        Nobody knows whether a table without counts has one: then some are tried.
        """
        from retro.games.connect4.bits import geometry, is_reachable
        from retro.index.halves.ranking import Place, unrank_position

        self.require_open()
        self._require_covered(np.array([ply]))
        record = self._file.record(ply)
        has_none = self.is_counted and record.positions == record.terminal
        none = IllegalPositionError(f"{self.board.name} has no unfinished position on ply {ply}")
        if has_none or ply == self.board.cells or not self._file.words(ply):
            raise none
        geo, root = geometry(self.board), np.uint64(self.root.first | self.root.second)
        blocks = self._blocks_of(ply)
        for _ in range(MOST_TRIES):
            place = Place(ply, int(rng.integers(64 * blocks.offset[-1])))
            position = unrank_position(self.kept_layout, place, blocks)
            if position is None or position.winner() is not None:
                continue
            if self.header.mirror and rng.integers(2):
                image = position.mirror()
                if image.first | image.second == position.first | position.second:
                    continue  # such a profile is stored whole, others stand for two
                position = image
            if is_reachable(geo, root, np.uint64(position.first), np.uint64(position.second)):
                return position
        if not self.is_counted:
            raise none
        raise VerificationError(
            f"{self.path}: ply {ply} counts unfinished positions, none was found"
        )

    def _blocks_of(self, ply: int) -> Blocks:
        """The blocks of a ply; of the last one asked for they are still there."""
        from retro.index.halves.layout import layer_blocks

        last, blocks = self._blocks or (None, None)
        if blocks is None or last != ply:
            blocks = layer_blocks(self.kept_layout, ply)
            self._blocks = ply, blocks
        return blocks


def _states(ply: int, first: Words, second: Words) -> States:
    return States(first, second, np.full(len(first), ply, np.int64))


def mirror_words(board: Connect4Board, words: Words) -> Words:
    """Many bitboards with their columns in reverse order."""
    stride, column = np.uint64(board.stride), np.uint64((1 << board.stride) - 1)
    image = np.zeros_like(words)
    for c in range(board.width):
        place, opposite = np.uint64(c) * stride, np.uint64(board.width - 1 - c) * stride
        image |= (words >> place & column) << opposite
    return image
