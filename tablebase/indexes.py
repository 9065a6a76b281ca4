"""The two kinds of index behind one door.

    two-halves    Connect Four: ranks are computed, values are bits        `halves`
    sorted-keys   every other game: canonical states, sorted               `keys`

A board's game says which of them its tables have; a file says it in its root attribute
`index`. What is particular to an index stands behind two protocols: `Reader`, an
open file, and `Index`, how tables are planned, built and checked.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from retro.errors import FormatVersionError
from tablebase.answers import Described
from tablebase.files.hdf5 import index_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from retro.games.game import Board, Position, States
    from retro.search.connect4.leaves import Leaves
    from tablebase.answers import Answers, Level, Report, Verified
    from tablebase.files.remote import Source


class Reader(Described, Protocol):
    """An open table file. Everything in it has been checked against its digest."""

    @property
    def path(self) -> Source: ...
    @property
    def lists_images(self) -> bool:
        """Whether `layer` gives every position, not one of each symmetry class."""
        ...

    @property
    def has_kernels(self) -> bool:
        """Whether kernels answer by now: whoever asks little is quicker without them."""
        ...

    def is_ready_for(self, position: Position) -> bool:
        """Whether a look for a position is quick; the first one into a large table is not."""
        ...

    def value_of(self, position: Position) -> int:
        """The value of an unfinished position; `NotCoveredError` if the file does not have it."""
        ...

    def answer_of(self, position: Position) -> tuple[int, int]:
        """Value and plies to the end of the same; `NoDistancesError` if the file has none."""
        ...

    def values(self, states: States) -> NDArray[np.int8]:
        """The values of many positions, finished ones by the rules."""
        ...

    def answers(self, states: States) -> Answers:
        """Values and plies to the end of many positions; `NoDistancesError` as above."""
        ...

    def layer(self, ply: int) -> Iterator[tuple[States, NDArray[np.int8]]]:
        """The unfinished positions of a ply with their values, in pieces."""
        ...

    def listing(self, ply: int) -> Iterator[States]:
        """The unfinished positions of a ply, in pieces; of symmetric ones perhaps one."""
        ...

    def count_live(self, ply: int) -> int:
        """How many unfinished legal positions a ply has."""
        ...

    def draw(self, rng: np.random.Generator, ply: int, number: int) -> Sequence[Position]:
        """Unfinished legal positions of a ply by chance, each with the same."""
        ...

    def one_of_each(self, states: States) -> NDArray[np.bool_]:
        """Which of the positions that `listing` gives stand for their symmetry classes."""
        ...

    def random_position(self, rng: np.random.Generator, ply: int) -> Position: ...
    def leaves(self, first_ply: int, max_bytes: int) -> Leaves | None: ...
    def close(self) -> None: ...
    def require_open(self) -> None:
        """Refuse whoever asks after `close`."""
        ...


class Index(Protocol):
    """What the module of an index offers: `tablebase.halves.index`, `tablebase.keys.index`."""

    def open_file(self, path: Source, cache_bytes: int) -> Reader: ...
    def check(
        self, reader: Reader, level: Level, seed: int, report: Report, *, counts: bool
    ) -> Verified: ...
    def check_by_search(self, reader: Reader, seed: int, report: Report) -> int: ...


_HOMES = {"two-halves": "tablebase.halves.index", "sorted-keys": "tablebase.keys.index"}


def index_for(board: Board) -> Index:
    """The index of a board's tables."""
    return _find(board.game.index)


def _find(name: str) -> Index:
    found: Index = import_module(_HOMES[name]).INDEX
    return found


def open_reader(path: Source, cache_bytes: int) -> Reader:
    """Open a table file by what it says it is."""
    name = index_of(path)
    if name not in _HOMES:
        raise FormatVersionError(
            f"{path} has index {name!r}, wanted one of {', '.join(sorted(_HOMES))}"
        )
    return _find(name).open_file(path, cache_bytes)
