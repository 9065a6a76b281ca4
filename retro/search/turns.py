"""One memory, asked by many threads: its questions take turns, slice by slice.

    thread 1   [slice]       [slice]       [slice] answer
    thread 2          [slice]       [slice] . . . . . . . .
                     ^ between two slices: progress, time limit, Ctrl-C, and whoever waits

A transposition table belongs to one slice at a time, and so do its growth and the plies of a
table that serve as leaves. All else that a search holds, where it is above all, is *scratch*
of its own question (`Spare`), so that a question goes on where it stopped whatever was asked
between two of its slices, and one that is called off leaves nothing but proofs.

Two other ways were measured (`docs/solver.md`). Whole questions in turn are as safe, but a short
one waits for the end of a long one. Slices at the same moment use more cores, but an entry of two
or three words can then be read half written: with a check in every entry a wrong hit is
improbable, where it is impossible now. Who has cores to spare makes a solver for each thread.
"""

from __future__ import annotations

import contextlib
from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from retro.search.engine import Watch

Scratch = TypeVar("Scratch")

LOOK_SECONDS = 0.5  # between two looks at the clock of a question that waits
WAITING = "waiting for another search"


class Turns:
    """Whose slice it is: nobody gets a second one while others wait.

    Who is next holds `_next` until the memory is free; who has just had it comes after that.
    """

    def __init__(self) -> None:
        self._next, self._busy = Lock(), Lock()

    @contextlib.contextmanager
    def take(self, watch: Watch, nodes: int = 0) -> Iterator[None]:
        """Wait for a turn, have it, and give it back.

        A question that waits reports so, after so many `nodes`, and may be called off or
        run out of time.
        """
        _acquire(self._next, watch, nodes)
        try:
            _acquire(self._busy, watch, nodes)
        finally:
            self._next.release()
        try:
            yield
        finally:
            self._busy.release()


def _acquire(lock: Lock, watch: Watch, nodes: int) -> None:
    while not lock.acquire(timeout=min(LOOK_SECONDS, watch.deadline.left)):
        watch.look(nodes, WAITING)


class Spare(Generic[Scratch]):
    """Scratch memory that nobody uses now; the last used first.

    So a thread that asks alone always gets the same, and goes on where it stopped.

    >>> spare = Spare(list)
    >>> with spare.take() as one, spare.take() as two:
    ...     one is two
    False
    >>> with spare.take() as three:
    ...     three is one
    True
    """

    def __init__(self, make: Callable[[], Scratch]) -> None:
        self._make = make
        self._idle: list[Scratch] = []

    @contextlib.contextmanager
    def take(self) -> Iterator[Scratch]:
        """Scratch for one question."""
        try:
            taken = self._idle.pop()
        except IndexError:
            taken = self._make()
        try:
            yield taken
        finally:
            self._idle.append(taken)

    def forget(self) -> None:
        """Drop what is not in use: what is needed next is new."""
        self._idle.clear()
