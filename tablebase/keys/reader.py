"""An open table of sorted keys: from positions to places among the keys of their ply.

One question is answered by plain Python: the canonical state by the board itself, then a
binary search over chunks and within one. Questions in bulk go through kernels, a whole
layer in memory.
"""

from __future__ import annotations

from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from retro.errors import IllegalPositionError, NotCoveredError
from retro.games.game import States
from retro.walk.keys.scores import DECIDED, plies_of, values_of
from tablebase.answers import Answers, Counts, require_distances
from tablebase.files.atomic import Closing
from tablebase.keys.format import CHUNK_KEYS, INDEX
from tablebase.keys.store import KeysFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from retro.games.game import Position
    from retro.walk.keys.kernels import Solved
    from tablebase.files.remote import Source
    from tablebase.keys.format import Header, PlyRecord
    from tablebase.keys.store import Page

CACHED_LAYERS = 2  # at least, for questions in bulk: a position's and its successors'
PLAIN_ANSWERS = 100  # whoever asks more is better served by kernels, though they take a while


class KeysReader(Closing):
    """What `Table` asks of an open file of this index."""

    index = INDEX
    lists_images = False

    def __init__(self, path: Source, cache_bytes: int) -> None:
        self._file = KeysFile(path, cache_bytes)
        self.path = path
        self.board, self.root = self._file.board, self._file.root
        self.value, self.digest, self.plies = self._file.value, self._file.digest, self._file.plies
        self._asked = 0
        self._cache_bytes = cache_bytes
        self._layers: dict[int, Solved] = {}  # the last used ones last
        self._lock = Lock()  # of the layers

    def close(self) -> None:
        self._file.close()

    def require_open(self) -> None:
        self._file.require_open()

    @property
    def header(self) -> Header:
        return self._file.header

    @property
    def size(self) -> int:
        return self._file.size

    @cached_property
    def counts(self) -> list[Counts]:
        return [
            Counts(
                r.ply, r.positions, r.win, r.draw, r.loss, r.terminal, r.canonical_positions,
                r.sha256, *((r.win_in, r.draw_in, r.loss_in) if self.has_distances else ()),
            )
            for r in self._file.records
        ]  # fmt: skip

    @property
    def has_distances(self) -> bool:
        return bool(self.header.distances)

    @property
    def is_counted(self) -> bool:
        return True  # the walk that finds the keys counts them

    @property
    def records(self) -> list[PlyRecord]:
        """What the file says of every ply, kept or not, from that of the root."""
        return self._file.records

    def record(self, ply: int) -> PlyRecord:
        return self._file.record(ply)

    @property
    def counted_plies(self) -> range:
        """The plies of `records`."""
        return self._file.counted_plies

    def stored(self, ply: int) -> Page:
        """Keys and values of a ply, checked against their digest."""
        return self._file.read_layer(ply)

    @property
    def has_kernels(self) -> bool:
        """After many questions."""
        return self._asked > PLAIN_ANSWERS

    def is_ready_for(self, position: Position) -> bool:
        return True  # nothing is made for the first look

    def value_of(self, position: Position) -> int:
        """The value of an unfinished position; `NotCoveredError` if the table does not have it."""
        value = self.find(position.ply, position._state)
        if value is None:
            self._refuse(position.check())
        return value

    def _refuse(self, position: Position) -> NoReturn:
        """Say why the table does not have a position."""
        self._require_kept(position.ply)
        if self.header.root:
            raise NotCoveredError(
                f"{self.path} holds what follows {self.header.root}; this does not"
            )
        raise IllegalPositionError("no order of moves leads to this position")

    def _require_kept(self, ply: int) -> None:
        if ply not in self.plies:
            first, last = self.plies[0], self.plies[-1]
            raise NotCoveredError(f"{self.path} holds plies {first} to {last}, not {ply}")

    def answer_of(self, position: Position) -> tuple[int, int]:
        """Value and plies to the end of the same."""
        require_distances(self)
        score = self.find_score(position.ply, position._state)
        if score is None:
            self._refuse(position.check())
        plies = DECIDED - abs(score) if score else self.board.last_ply - position.ply
        return (score > 0) - (score < 0), plies

    def find(self, ply: int, state: tuple[int, int]) -> int | None:
        """The value of an unfinished state of a ply, None if the table does not have it."""
        score = self.find_score(ply, state)
        return None if score is None else (score > 0) - (score < 0)

    def find_score(self, ply: int, state: tuple[int, int]) -> int | None:
        """The same as a score, if the table has distances, else as a value."""
        if ply not in self.plies:
            return None
        key = self._canonical(state)
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

    def _canonical(self, state: tuple[int, int]) -> tuple[int, int]:
        """The key of a state: by the plain rules, if not many are asked for."""
        self._asked += 1
        if not self.has_kernels:
            return self.board._canonical(*state)
        from retro.games.kernels import canonical_of

        a, b = canonical_of(self.board.rules, np.uint64(state[0]), np.uint64(state[1]))
        return int(a), int(b)

    def values(self, states: States) -> NDArray[np.int8]:
        """The values of many states; finished games are answered by the rules."""
        return values_of(self._scores(states))

    def answers(self, states: States) -> Answers:
        """The same with the plies to the end of the game."""
        require_distances(self)
        scores = self._scores(states)
        left = self.board.last_ply - states.ply
        plies = np.where(scores == 0, left, plies_of(scores)).astype(np.int16)
        plies[np.abs(scores) == 1] = 0  # by the rules: a value, and far from every score
        return Answers(values_of(scores), plies)

    def _scores(self, states: States) -> NDArray[np.int8]:
        """Values, or scores if the table has distances; of finished games the values."""
        from retro.walk.keys import kernels

        self.require_open()
        values = np.empty(states.size, np.int8)
        for ply in np.unique(states.ply).tolist():
            places = np.flatnonzero(states.ply == ply)
            a, b = (np.ascontiguousarray(words[places]) for words in (states.a, states.b))
            found = np.empty(len(places), np.int8)
            is_there = ply in self.plies
            layer = self._solved(ply) if is_there else kernels.nothing(self.board.rules.words)
            missing = kernels.look_up(self.board.rules, layer, a, b, found)
            if missing != kernels.SOUND:
                self._name_missing(states, int(places[missing]))
            values[places] = found
        return values

    def _name_missing(self, states: States, where: int) -> NoReturn:
        place = "" if states.size == 1 else f"position {where}: "
        try:
            self._refuse(self.board.unpack(int(states.a[where]), int(states.b[where])).check())
        except (IllegalPositionError, NotCoveredError) as error:
            raise type(error)(f"{place}{error}") from None

    def _solved(self, ply: int) -> Solved:
        """A ply ready to be looked up; two stay, and others while all fit in the cache."""
        from retro.walk.keys import kernels

        with self._lock:
            found = self._layers.pop(ply, None)
        if found is None:
            found = kernels.solved(*self.stored(ply))
        with self._lock:
            self._layers[ply] = found
            held = sum(map(_bytes_of, self._layers.values()))
            for old in [*self._layers][:-CACHED_LAYERS]:
                if held > self._cache_bytes:
                    held -= _bytes_of(self._layers.pop(old))
        return found

    def leaves(self, first_ply: int, max_bytes: int) -> None:
        """No engine searches with these tables as leaves."""

    def layer(self, ply: int) -> Iterator[tuple[States, NDArray[np.int8]]]:
        """One unfinished position of every symmetry class of a ply, with its value."""
        (states,) = self.listing(ply)
        yield states, values_of(self.stored(ply)[1])

    def listing(self, ply: int) -> Iterator[States]:
        """One unfinished position of every symmetry class of a ply."""
        self._require_kept(ply)
        keys, _ = self.stored(ply)
        b = keys.b if len(keys.b) else np.zeros(keys.size, np.uint64)
        yield States(keys.a, b, np.full(keys.size, ply, np.int64))

    def count_live(self, ply: int) -> int:
        """How many unfinished legal positions a ply has."""
        record = self.counts[ply - self.counts[0].ply]
        return record.positions - record.terminal

    def draw(self, rng: np.random.Generator, ply: int, number: int) -> list[Position]:
        """Unfinished legal positions of a ply by chance, each with the same, images too."""
        from retro.games.row_kernels import fill_orbits

        (states,) = self.listing(ply)
        orbits = np.empty(states.size, np.int64)
        fill_orbits(self.board.rules, states.a, states.b, orbits)
        ends = np.cumsum(orbits)
        found = []
        for place in rng.integers(ends[-1], size=number):
            which = int(np.searchsorted(ends, place, side="right"))
            images = sorted(self.board.images(int(states.a[which]), int(states.b[which])))
            found.append(self.board.unpack(*images[int(ends[which] - 1 - place)]))
        return found

    def one_of_each(self, states: States) -> NDArray[np.bool_]:
        """Of each class the file has one position."""
        return np.ones(states.size, np.bool_)

    def random_position(self, rng: np.random.Generator, ply: int) -> Position:
        """An unfinished position of a ply, every symmetry class with the same chance."""
        ((states, _),) = self.layer(ply)
        if not states.size:
            raise IllegalPositionError(f"{self.board.name} has no unfinished position on ply {ply}")
        place = int(rng.integers(states.size))
        return self.board.unpack(int(states.a[place]), int(states.b[place]))


def _bytes_of(layer: Solved) -> int:
    return layer.a.nbytes + layer.b.nbytes + layer.starts.nbytes + layer.values.nbytes


def _key_at(page: Page, place: int) -> tuple[int, int]:
    b = int(page.keys.b[place]) if len(page.keys.b) else 0
    return int(page.keys.a[place]), b
