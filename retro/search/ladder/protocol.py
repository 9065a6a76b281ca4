"""What the search must know of a game, and what a game may tell it besides.

`Game` is all that is needed. Knowledge enters only through hooks, each a
protocol of its own; a game has a hook when it has its methods, and each hook
belongs to one rung of the ladder, so that what it is worth can be measured.

    Game         moves, play, outcome, side_to_move, key, plies_left     required
    Symmetric    canonical_key, turn, turn_back                          rung symmetry
    Greying      grey                                                    rung dead_stones
    Centred      centre_distance                                         rung static_order
    Threatening  urgency                                                 rung threats
    Forcing      candidates                                              rung forced
    Bounded      bounds                                                  rung bounds
    Graded       worth                                                   rung graded

States never change: `play` returns another one, so nothing needs to be undone
and a table may keep what it likes. Values are always for the side to move.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

State = TypeVar("State")
Asked = TypeVar("Asked", contravariant=True)


class Game(Protocol[State]):
    """The rules. A move is a positive integer, as the game numbers its moves."""

    def start(self) -> State:
        """The state before the first move."""
        ...

    def moves(self, state: State) -> Sequence[int]:
        """The legal moves; the state is not terminal."""
        ...

    def play(self, state: State, move: int) -> State:
        """The successor after a legal move."""
        ...

    def outcome(self, state: State) -> int | None:
        """The value for the side to move if the rules alone decide it, else None."""
        ...

    def side_to_move(self, state: State) -> int:
        """+1 for the one player, -1 for the other; every move changes it. For minimax."""
        ...

    def key(self, state: State) -> int:
        """An integer that no state of another value has."""
        ...

    def plies_left(self, state: State) -> int:
        """No game goes on for more plies than this; equal keys have equal numbers."""
        ...


@runtime_checkable
class Symmetric(Protocol[Asked]):
    """Boards that look the same when turned or mirrored."""

    def canonical_key(self, state: Asked) -> tuple[int, int]:
        """The key of the canonical state, and the number of the symmetry that leads to it."""
        ...

    def turn(self, move: int, symmetry: int) -> int:
        """Where that symmetry takes a move."""
        ...

    def turn_back(self, move: int, symmetry: int) -> int:
        """The move that `turn` takes here."""
        ...


@runtime_checkable
class Greying(Protocol[State]):
    """Games with stones that no longer matter."""

    def grey(self, state: State) -> State:
        """The state with its dead stones in no player's colour; its value is the same."""
        ...


@runtime_checkable
class Centred(Protocol):
    """Games in which some moves are better than others on any day."""

    def centre_distance(self, move: int) -> int:
        """Smaller is tried first."""
        ...


@runtime_checkable
class Threatening(Protocol[Asked]):
    """Games in which a move can threaten to win."""

    def urgency(self, state: Asked, move: int) -> int:
        """Larger is tried first: wins, then blocks of a win, then threats."""
        ...


@runtime_checkable
class Forcing(Protocol[Asked]):
    """Games in which a look tells that some moves need no search."""

    def candidates(self, state: Asked) -> Sequence[int]:
        """Some of the legal moves, at least one, a best one among them."""
        ...


@runtime_checkable
class Bounded(Protocol[Asked]):
    """Games in which a look tells that some values are out of reach."""

    def bounds(self, state: Asked) -> tuple[int, int]:
        """(low, high) with low <= value <= high; the state is not terminal."""
        ...


@runtime_checkable
class Graded(Protocol[Asked]):
    """Games in which a look tells who stands better."""

    def worth(self, state: Asked) -> int:
        """A guess, good for the side to move when above 0; the state is not terminal.

        States that share a key of the table, turned or with dead stones grey, share it.
        """
        ...


class Probe(Protocol[Asked]):
    """A perfect leaf, such as a tablebase: the value of a state, or None when it has none."""

    def __call__(self, state: Asked, /) -> int | None: ...
