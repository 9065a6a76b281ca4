"""An open table of sorted keys: from positions to places among the keys of their ply.

One question is answered by plain Python: the canonical state by the board itself, then a
binary search over chunks and within one. Questions in bulk go through kernels, a whole
layer in memory. `format` says what is in the file.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from retro.errors import ChecksumError, IllegalPositionError, NotCoveredError
from retro.games.game import States
from retro.index.keys.keys import Keys
from retro.walk.keys.scores import DECIDED, plies_of, values_of
from tablebase.answers import Answers, Counts, require_distances
from tablebase.files import hdf5
from tablebase.files.opening import (
    Wanted,
    opening,
    own_group,
    read_integer,
    read_text,
    require,
    require_arrays,
    require_counts,
    require_digest,
    require_size,
)
from tablebase.files.seal import ply_name
from tablebase.keys.format import (
    CHUNK_KEYS,
    DIGEST_BYTES,
    DIGESTS,
    INDEX,
    OF_SOME_PLIES,
    PlyRecord,
)
from tablebase.keys.store import (
    PAGE_BYTES,
    Packed,
    Page,
    board_of,
    digest_layer,
    page_digest,
    read_header,
    read_record,
    unpack_layer,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from retro.games.game import Position
    from retro.walk.keys.kernels import Solved
    from tablebase.files.remote import Source

CACHED_LAYERS = 2  # at least, for questions in bulk: a position's and its successors'
PLAIN_ANSWERS = 100  # whoever asks more is better served by kernels, though they take a while


class KeysFile(hdf5.OpenFile):
    """An open table, and what `Table` asks of it, from any thread. Use it as a context manager."""

    index = INDEX
    lists_images = False
    is_counted = True  # the walk that finds the keys counts them

    def __init__(self, path: Source, cache_bytes: int = 64 * PAGE_BYTES) -> None:
        super().__init__(path)
        self._asked, self._cache_bytes = 0, cache_bytes
        self._layers: dict[int, Solved] = {}  # the last used ones last
        self._lock = Lock()  # of the layers
        self._pages = lru_cache(max(1, cache_bytes // PAGE_BYTES))(self._read_page)
        try:
            with self.reading(), opening(path):
                self.header = read_header(self._file, path)
                root = dict(self._file.attrs)
                hdf5.require_attributes(path, root, ("value", "digest", "last_ply"))
                self.value = read_integer(root["value"])
                self.digest = read_text(root["digest"])
                self.board = board_of(self.header)
                self.root = self.board.position(self.header.root)
                self.counted_plies = self._require_plies(read_integer(root["last_ply"]))
                self.plies = self.header.kept(self.counted_plies[-1])
                groups = [own_group(path, self._file, ply_name(ply)) for ply in self.counted_plies]
                self.records = [
                    read_record(ply, group.attrs)
                    for ply, group in zip(self.counted_plies, groups, strict=True)
                ]
                hdf5.check_finished(path, root, self.header, self.records)
                self._require_header()
                self._require_counts()
                self._require_arrays()
        except BaseException:
            self.close()
            raise
        self._digests = lru_cache(len(self.records))(self._read_digests)

    def _require_plies(self, last: int) -> range:
        """The plies that have counts, those that are kept among them."""
        header, end = self.header, self.board.last_ply
        is_range = 0 <= header.first_ply <= last <= end
        require(self.path, is_range, f"plies {header.first_ply}..{last}")
        if header.format_version == OF_SOME_PLIES:
            first, kept = header.first_kept, header.last_kept
            is_kept = header.first_ply <= first <= min(kept, last) and kept <= end
            require(self.path, is_kept, f"plies {first}..{kept} are kept")
        return range(header.first_ply, last + 1)

    def _require_header(self) -> None:
        """The board is written as the board writes itself, the root begins it, the plies fit."""
        path, header, board, root = self.path, self.header, self.board, self.root
        is_ours = board.game.index == INDEX and board.size_text == header.board
        require(path, is_ours and header.words == board.words, f"its board is no {board}")
        is_root = root.ply == header.first_ply and not root.check().is_over()
        require(path, is_root, f"its root {header.root[:40]!r} is no unfinished game")

    def _require_counts(self) -> None:
        for record in self.records:
            require_counts(self.path, record.ply, record)
            require_counts(self.path, record.ply, record, "canonical_")
            if record.ply in self.plies:
                require_digest(self.path, record.ply, record.sha256)
            unfinished = record.canonical_positions - record.canonical_terminal
            is_sound = record.keys == unfinished and record.canonical_positions <= record.positions
            require(self.path, is_sound, f"ply {record.ply} has impossible counts")

    def _require_arrays(self) -> None:
        """Every kept ply has the arrays that its number of keys asks for; the root has a value."""
        nbytes = 0
        for record in map(self.record, self.plies):
            group, pages = self._file[ply_name(record.ply)], -(-record.keys // CHUNK_KEYS)
            arrays = [Wanted(n, "<u8", record.keys, CHUNK_KEYS) for n in self._words(record.ply)]
            arrays.append(Wanted("values", "|u1", -(-record.keys // 4), CHUNK_KEYS // 4))
            if self.header.distances:
                arrays.append(Wanted("plies", "|u1", record.keys, CHUNK_KEYS))
            if DIGESTS in group:
                arrays.append(Wanted(DIGESTS, "|u1", DIGEST_BYTES * pages, CHUNK_KEYS // 4))
            require_arrays(self.path, group, arrays)
            nbytes += sum(array.nbytes for array in arrays)
        require_size(self.path, self.size, f"the keys of {self.board}", nbytes)
        first, last = self.records[0], self.records[-1]
        value = first.canonical_win - first.canonical_loss
        is_value = first.canonical_positions == 1 and value == self.value
        require(self.path, is_value, "the root has no value")
        require(self.path, last.keys == 0, f"its last ply {last.ply} has unfinished games")

    def _words(self, ply: int) -> tuple[str, ...]:
        """The arrays of a ply's keys; a ply without keys has no second one."""
        return ("a", "b")[: self.header.words if self.record(ply).keys else 1]

    def record(self, ply: int) -> PlyRecord:
        return self.records[ply - self.counted_plies.start]

    def page(self, ply: int, number: int) -> Page:
        """A chunk of a ply, checked against its digest if the file has one."""
        self.require_open()
        return self._pages(ply, number)

    def _read_page(self, ply: int, number: int) -> Page:
        keys = self.record(ply).keys
        begin, end = number * CHUNK_KEYS, min((number + 1) * CHUNK_KEYS, keys)
        with self.reading():
            found, packed = self._read_arrays(ply, begin, end)
            digests = self._digests(ply)
            if digests is not None and self._digest(ply, number, found, packed) != digests[number]:
                raise ChecksumError(f"{self.path}: page {number} of ply {ply} has another digest")
            return self._checked(ply, found, packed)

    def _read_arrays(self, ply: int, begin: int, end: int) -> tuple[Keys, Packed]:
        group = self._file[ply_name(ply)]
        pages = range(begin, end, CHUNK_KEYS)
        self.fetch((group, name, page) for name in self._words(ply) for page in pages)
        self.fetch((group, "values", page // 4) for page in pages)
        arrays = {name: hdf5.read_array(group, name, begin, end) for name in self._words(ply)}
        keys = _keys(arrays)
        arrays["values"] = hdf5.read_array(group, "values", begin // 4, -(-end // 4))
        if self.header.distances:
            arrays["plies"] = hdf5.read_array(group, "plies", begin, end)
        return keys, _packed(arrays)

    def _digest(self, ply: int, number: int, keys: Keys, packed: Packed) -> bytes:
        """What `_read_digests` has of a page: of the only one of a ply the digest of the ply."""
        layer = digest_layer(keys, packed)
        if self.record(ply).keys <= CHUNK_KEYS:
            return bytes.fromhex(layer)
        return page_digest(self.header, ply, number, layer)

    def _read_digests(self, ply: int) -> list[bytes] | None:
        """The digests of a ply's pages; None if the file has none."""
        record, group = self.record(ply), self._file[ply_name(ply)]
        if record.keys <= CHUNK_KEYS:
            return [bytes.fromhex(record.sha256)]
        if DIGESTS not in group:
            return None  # written before 0.3.0
        found = hdf5.read_array(group, DIGESTS).tobytes()
        return [found[at : at + DIGEST_BYTES] for at in range(0, len(found), DIGEST_BYTES)]

    def stored(self, ply: int) -> Page:
        """All keys and values of a ply, checked against their digest."""
        with self.reading():
            keys, packed = self._read_arrays(ply, 0, self.record(ply).keys)
            if digest_layer(keys, packed) != self.record(ply).sha256:
                raise ChecksumError(f"{self.path}: the layer of ply {ply} does not have its digest")
            return self._checked(ply, keys, packed)

    def _checked(self, ply: int, keys: Keys, packed: Packed) -> Page:
        """Keys and values that kernels can be given: states of the ply, in order, with a value."""
        values = unpack_layer(packed, keys.size)
        b = keys.b if len(keys.b) else np.zeros(keys.size, np.uint64)
        is_state = self.board.is_state(keys.a, b) & (self.board.plies_of(keys.a, b) == ply)
        rises = (keys.a[1:] > keys.a[:-1]) | (keys.a[1:] == keys.a[:-1]) & (b[1:] > b[:-1])
        if not (is_state.all() and rises.all()):
            raise ChecksumError(f"{self.path}: ply {ply} has keys that are no states, or unsorted")
        if self.header.distances and (plies_of(values) > self.board.last_ply - ply).any():
            raise ChecksumError(f"{self.path}: ply {ply} has games that last longer than there is")
        return Page(keys, values)

    # Questions.

    @cached_property
    def counts(self) -> list[Counts]:
        return [
            Counts(
                r.ply, r.positions, r.win, r.draw, r.loss, r.terminal, r.canonical_positions,
                r.sha256, *((r.win_in, r.draw_in, r.loss_in) if self.has_distances else ()),
            )
            for r in self.records
        ]  # fmt: skip

    @property
    def has_distances(self) -> bool:
        return bool(self.header.distances)

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
        low, high = 0, -(-self.record(ply).keys // CHUNK_KEYS)
        while high - low > 1:  # the last page that does not begin after the key
            middle = (low + high) // 2
            if _key_at(self.page(ply, middle), 0) <= key:
                low = middle
            else:
                high = middle
        if high == 0:
            return None
        page = self.page(ply, low)
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
        self._require_kept(ply)
        keys, values = self.stored(ply)
        yield _states_of(ply, keys), values_of(values)

    def listing(self, ply: int) -> Iterator[States]:
        """One unfinished position of every symmetry class of a ply."""
        self._require_kept(ply)
        yield _states_of(ply, self.stored(ply)[0])

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


def _packed(arrays: dict[str, NDArray[Any]]) -> Packed:
    return Packed(arrays["values"], arrays.get("plies", np.empty(0, np.uint8)))


def _keys(arrays: dict[str, NDArray[Any]]) -> Keys:
    return Keys(arrays["a"], arrays.get("b", np.empty(0, np.uint64)))


def _states_of(ply: int, keys: Keys) -> States:
    b = keys.b if len(keys.b) else np.zeros(keys.size, np.uint64)
    return States(keys.a, b, np.full(keys.size, ply, np.int64))


def _bytes_of(layer: Solved) -> int:
    return layer.a.nbytes + layer.b.nbytes + layer.starts.nbytes + layer.values.nbytes


def _key_at(page: Page, place: int) -> tuple[int, int]:
    b = int(page.keys.b[place]) if len(page.keys.b) else 0
    return int(page.keys.a[place]), b
