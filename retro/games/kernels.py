"""What kernels must know of a placement game: pure jitted functions on a state of two words.

A state is `(a, b)`, two unsigned 64-bit words that say all about a position:
what stands where and, where the ply does not tell, who is to move. A game
whose states fit in one word leaves `b` at 0 and says `words = 1`; its tables
are half as large. Every move adds one to the ply.

A game is a NamedTuple of rules (numbers and a few small arrays; a field
`words` of 1 or 2 is required) and functions marked `@inner`:

    start(rules)             -> a, b           the empty board
    move_limit(rules)        -> int            moves are numbered 0 .. move_limit - 1
    play(rules, a, b, move)  -> legal, a, b    the successor, if the move is legal; the
                                               state is one that `outcome` leaves UNDECIDED
    outcome(rules, a, b)     -> int            +1, 0, -1 for the side to move when the rules
                                               alone decide, else UNDECIDED
    canonical(rules, a, b)   -> a, b           the chosen one of its symmetry class
    orbit(rules, a, b)       -> int            how many states its symmetry class has
    bounds(rules, a, b)      -> low, high      low <= value <= high     (default -1, 1)
    priority(rules, a, b, move) -> int         larger is searched first (default 0)

For layers too large for memory (`retro.index.keys.groups`) a game may say what is *counted*
of its states, and for quick walks how its symmetries act, if they only move bits about:

    cells(rules)             -> a, b           bits that every symmetry permutes among
                                               themselves, and moves only add (default none)
    change(rules, a, b, move) -> a, b          bits that a legal move flips, of `cells` at
                                               least; the same for all states of a ply
    symmetries(rules)        -> int            how many there are; with them (default 0)
                                               a move flips `change` and nothing else, and the
                                               canonical state is the least image
    images(rules, a, b, found_a, found_b)      fills in the images of a state, or of any bits,
                                               under every symmetry, the identity first
    open_moves(rules, a, b)  -> word           the legal moves as a set of bits

An UNDECIDED state has a legal move. So a game in which a player who cannot move
loses says so in `outcome`, a move of two halves (place this, give that) is one
number, and neither the walk nor the search has a special case.

`register` makes them known. Kernels call the functions of this module with any
rules; numba picks the game by the *type* of the rules when it compiles, so the
choice costs nothing and compiled kernels are kept on disk:

    class Rules(NamedTuple):
        words: int
        ...

    @inner
    def _play(rules, a, b, move): ...

    register(Rules, GameKernels(start=_start, move_limit=..., play=_play, ...))

Reading the arrays of a small NamedTuple costs nothing here: numba prunes the
reference counts (measured with two arrays; 16 plays and 8 images of a state
take 0.6 us with or without the tuple).
"""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba.core.errors import TypingError
from numba.extending import overload

from retro.jit import entry, inner

if TYPE_CHECKING:
    from collections.abc import Callable

    from retro.games.game import Rules

    Kernel = Callable[..., object]

UNDECIDED = 2
U0 = np.uint64(0)

_GAMES: dict[type, GameKernels] = {}


@inner
def _any_value(rules, a, b):
    return -1, 1


@inner
def _any_order(rules, a, b, move):
    return 0


@inner
def _none(rules):
    return U0, U0


@inner
def _no_change(rules, a, b, move):
    return U0, U0


@inner
def _unknown(rules):
    return 0


@inner
def _itself(rules, a, b, found_a, found_b):
    found_a[0], found_b[0] = a, b


@inner
def _no_moves(rules, a, b):
    return U0


class GameKernels(NamedTuple):
    """A game as kernels know it; all functions are `@inner`."""

    start: Kernel
    move_limit: Kernel
    play: Kernel
    outcome: Kernel
    canonical: Kernel
    orbit: Kernel
    bounds: Kernel = _any_value
    priority: Kernel = _any_order
    cells: Kernel = _none
    change: Kernel = _no_change
    symmetries: Kernel = _unknown
    images: Kernel = _itself
    open_moves: Kernel = _no_moves


def register(rules_class: type, game: GameKernels) -> None:
    """Make a game known to kernels."""
    _GAMES[rules_class] = game


def _by_rules(generic: Kernel) -> Kernel:
    """Let kernels that call `generic` get the function of that name of their rules' game.

    Numba names machine code by the qualified name of a function, the types of its
    arguments and a number that begins anew in every process. Kernels loaded from disk
    meet those compiled here, so each function below needs a name of its own: with one
    name for all, a kernel that asked for `canonical` could be given `outcome`.
    """
    name = generic.__name__

    def chosen(rules: object) -> Kernel:
        game = _GAMES.get(getattr(rules, "instance_class", None))  # type: ignore[arg-type]
        if game is None:
            raise TypingError(f"wanted the rules of a registered game, found {rules}")
        found: Kernel = getattr(game, name)
        return found

    def named(implementation: Kernel) -> Kernel:
        implementation.__name__ = implementation.__qualname__ = f"{name}_by_rules"
        return implementation

    def of_rules(rules):
        function = chosen(rules)
        return named(lambda rules: function(rules))

    def of_state(rules, a, b):
        function = chosen(rules)
        return named(lambda rules, a, b: function(rules, a, b))

    def of_move(rules, a, b, move):
        function = chosen(rules)
        return named(lambda rules, a, b, move: function(rules, a, b, move))

    def of_images(rules, a, b, found_a, found_b):
        function = chosen(rules)
        return named(lambda rules, a, b, found_a, found_b: function(rules, a, b, found_a, found_b))

    by_count: dict[int, Kernel] = {1: of_rules, 3: of_state, 4: of_move, 5: of_images}
    overload(generic, jit_options={"nogil": True})(by_count[len(signature(generic).parameters)])
    return generic


def _kernels_only(name: str) -> TypeError:
    return TypeError(f"kernels.{name} is for kernels; from Python call kernels.{name}_of")


@_by_rules
def start(rules):
    """The state of the empty board."""
    raise _kernels_only("start")


@_by_rules
def move_limit(rules):
    """Moves are numbered from 0 to one less than this."""
    raise _kernels_only("move_limit")


@_by_rules
def play(rules, a, b, move):
    """(legal, a, b): the successor. The state is UNDECIDED."""
    raise _kernels_only("play")


@_by_rules
def outcome(rules, a, b):
    """+1, 0, -1 for the side to move when the rules alone decide, else UNDECIDED."""
    raise _kernels_only("outcome")


@_by_rules
def canonical(rules, a, b):
    """The chosen one of the state's symmetry class; it has the same value."""
    raise _kernels_only("canonical")


@_by_rules
def orbit(rules, a, b):
    """How many states the state's symmetry class has."""
    raise _kernels_only("orbit")


@_by_rules
def bounds(rules, a, b):
    """(low, high) with low <= value <= high; the state is UNDECIDED."""
    raise _kernels_only("bounds")


@_by_rules
def priority(rules, a, b, move):
    """Larger is searched first; the move is legal."""
    raise _kernels_only("priority")


@_by_rules
def cells(rules):
    """(a, b): the bits that are counted."""
    raise _kernels_only("cells")


@_by_rules
def change(rules, a, b, move):
    """(a, b): the bits that a move flips if it is legal."""
    raise _kernels_only("change")


@_by_rules
def symmetries(rules):
    """How many symmetries there are, 0 if they do more than move bits about."""
    raise _kernels_only("symmetries")


@_by_rules
def images(rules, a, b, found_a, found_b):
    """Fill in the images of a state under every symmetry."""
    raise _kernels_only("images")


@_by_rules
def open_moves(rules, a, b):
    """The legal moves as a set of bits; of games that know their symmetries."""
    raise _kernels_only("open_moves")


# The same questions from Python. States are pairs of np.uint64.


@entry
def start_of(rules):
    """The state of the empty board."""
    return start(rules)


@entry
def move_limit_of(rules):
    """Moves are numbered from 0 to one less than this."""
    return move_limit(rules)


@entry
def play_of(rules, a, b, move):
    """(legal, a, b): the successor. The state is UNDECIDED."""
    return play(rules, a, b, move)


@entry
def outcome_of(rules, a, b):
    """+1, 0, -1 for the side to move when the rules alone decide, else UNDECIDED."""
    return outcome(rules, a, b)


@entry
def canonical_of(rules, a, b):
    """The chosen one of the state's symmetry class."""
    return canonical(rules, a, b)


@entry
def orbit_of(rules, a, b):
    """How many states the state's symmetry class has."""
    return orbit(rules, a, b)


@entry
def bounds_of(rules, a, b):
    """(low, high) with low <= value <= high; the state is UNDECIDED."""
    return bounds(rules, a, b)


@entry
def cells_of(rules):
    """(a, b): the bits that are counted."""
    return cells(rules)


def successors_of(rules: Rules, a: int, b: int) -> dict[int, tuple[int, int]]:
    """{move: state after it} of a state, none when the rules have decided it."""
    words = np.uint64(a), np.uint64(b)
    if outcome_of(rules, *words) != UNDECIDED:
        return {}
    played = ((move, play_of(rules, *words, move)) for move in range(move_limit_of(rules)))
    return {move: (int(after[1]), int(after[2])) for move, after in played if after[0]}
