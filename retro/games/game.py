"""What a game is to everything else: three nouns, the same for every game.

    game      the rules by name: how boards and moves are written, what players are called
    board     a game with its size and options; frozen, hashable, text makes it
    position  a board with stones on it; frozen; `play` and `undo` return another one

A game keeps two of these types in its folder and one `Game` in its `__init__`;
`catalogue` finds them by name. Whoever works with any game needs the base
classes here and nothing else:

    board = make_board("mnk", "3x3")                 `catalogue`
    position = board.position("b2 a1")               moves; most games read grids, too
    position = position._play(position._number_of("c3"))
    print(position)                                  draws it
    position._state                                   two 64-bit words, for kernels and tables
    board.rules                                      for kernels, see `kernels`

A value is always for the side to move. A move is an integer, as the game likes it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    NamedTuple,
    Protocol,
    TypeVar,
)

import numpy as np

from retro.errors import (
    BadTextError,
    DoesNotFitError,
    IllegalPositionError,
    WrongBoardError,
)
from retro.games.arrays import read_planes
from retro.games.position import Position as Position
from retro.games.position import deprecated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from retro.games.arrays import Arrays

    State = tuple[int, int]

BOARD_NAMES = (
    "cells", "game_name", "last_ply", "name", "num_actions", "options", "plane_names", "planes",
    "players", "position", "positions", "size_text", "start", "states", "states_from_cells",
    "states_of", "title", "to_dict",
)  # fmt: skip
MOST_STATE_CELLS = 64  # of a board whose states are two words
WORD_BITS = 64
B = TypeVar("B", bound="Board")
P = TypeVar("P", bound="Position")


class States(NamedTuple):
    """Many positions of one board as kernels take them; `Board.states` makes them.

    >>> from retro.games.catalogue import make_board
    >>> states = make_board("mnk", "3x3").states(["", "b2", "b2 a1"])
    >>> states.size, states.ply.tolist()
    (3, [0, 1, 2])
    """

    a: NDArray[np.uint64]
    b: NDArray[np.uint64]
    ply: NDArray[np.int64]

    @property
    def size(self) -> int:
        return len(self.a)


@dataclass(frozen=True)
class Option:
    """A parameter of a game besides the size of its board: `--name METAVAR`."""

    name: str
    metavar: str
    help: str
    default: str
    form: str = r"[A-Za-z0-9]{1,20}"  # a regular expression of the values that name no file
    choices: tuple[str, ...] = ()  # what people choose from, where that can be said


@dataclass(frozen=True)
class Classes(Generic[B]):
    """For games in which either side may start: what the values of both starts come to."""

    option: str  # says who starts; whoever gives it asks for one value
    starts: Callable[[B], dict[str, B]]  # the same board for every start, by who starts
    letter: Callable[[Mapping[str, int]], str]  # the class, from the values for whoever starts
    meanings: Mapping[str, str]  # of the letters


class Preset(NamedTuple):
    """A board to play on where the usual one is hardly a game, and why it is not."""

    why: str
    size: str
    options: Mapping[str, str]


@dataclass(frozen=True)
class Game(Generic[B, P]):
    """A game for people, files and kernels. Text that is wrong raises a named error."""

    name: str
    about: str  # one line: how to win
    options: tuple[Option, ...]
    players: tuple[str, str]  # what the first and the second player are called
    usual: str  # the size of board the game is known for
    parse: Callable[[str, Mapping[str, str]], B]  # "4x4", {"connect": "4"}; absent: default
    describe: Callable[[B], tuple[str, dict[str, str]]]  # what `parse` reads
    start: Callable[[B], P]
    read_move: Callable[[P, str], int]  # need not be legal there
    write_move: Callable[[P, int], str]
    read_position: Callable[[B, str], P]
    write_position: Callable[[P], str]  # what `read_position` reads; moves if they are known
    draw: Callable[[P], str]  # several lines for a terminal
    arrays: Arrays  # moves as numbers and positions as arrays, for programs
    # Whether text is a grid, as this game writes them, rather than moves.
    is_grid: Callable[[B, str], bool] = lambda _, __: False
    classes: Classes[B] | None = None  # if a board alone, without who starts, has a class
    columns: bool = False  # whether a move is a column, which people count from 1
    draws_stones: bool = True  # whether signs for two players, or one, say all about a position
    legend: Callable[[B], str] = lambda _: ""  # what the signs of a drawing mean, if that is news
    move_help: str = ""  # how a move is typed
    size_order: str = "WIDTHxHEIGHT"
    index: str = "sorted-keys"  # how its tables find positions; Connect Four: "two-halves"
    in_order: Callable[[B, list[int]], list[int]] = lambda _, moves: moves  # as people list moves
    search: str = "retro.search.generic.search"  # the module whose `make_search` solves boards
    search_large: str = ""  # the same for boards that are too large for kernels, if there is one
    # What an unfinished position looks worth to the side to move, by name, the best one first.
    evaluations: Mapping[str, Callable[[P], int]] = field(default_factory=dict)
    # Moves worth a look, at least one of an unfinished position, by name.
    filters: Mapping[str, Callable[[P], list[int]]] = field(default_factory=dict)
    preset: Preset | None = None

    def make(self, size: str = "", **options: object) -> B:
        """A board from text; an option that the game does not have is refused.

        >>> from retro.games.catalogue import find_game
        >>> find_game("mnk").make("4x3", connect=4).options
        {'connect': '4'}
        """
        known = [option.name for option in self.options]
        strange = sorted(set(options) - set(known))
        if strange:
            wanted = f"wanted {', '.join(known)}" if known else "it has none"
            raise BadTextError(f"{self.name} has no option {strange[0]!r}; {wanted}")
        return self.parse(size or self.usual, {name: str(text) for name, text in options.items()})

    def preset_for(self, board: B) -> Preset | None:
        """What to play on instead of a board, if it is the usual one and hardly a game.

        >>> from retro.games.catalogue import find_game
        >>> game = find_game("puissance-plus")
        >>> game.preset_for(game.make()).options
        {'target': '12', 'values': 'rings'}
        """
        return self.preset if self.preset is not None and board == self.make() else None


AnyGame = Game[Any, Any]  # of which it is not known which boards and positions it has


class Rules(Protocol):
    """The rules of a board for kernels: a NamedTuple, otherwise as the game likes it."""

    @property
    def words(self) -> int:
        """How many words a state takes: 1 or 2."""


class Board(ABC):
    """A game with its size and options. Boards are equal when those are.

    >>> from retro.games.catalogue import make_board
    >>> board = make_board("mnk 4x3")
    >>> board, board.cells, board.last_ply, board.options, board.players
    (Board('mnk 4x3'), 12, 12, {'connect': '3'}, ('X', 'O'))
    >>> board.start(), str(board), board.name
    (Position('', mnk 4x3, X to move), 'mnk 4x3', 'mnk-4x3-connect3')
    """

    game_name: ClassVar[str]

    @property
    def game(self) -> AnyGame:
        """The record of the game, which reads and writes its text."""
        from retro.games.catalogue import find_game

        return find_game(self.game_name)

    @property
    @abstractmethod
    def cells(self) -> int: ...

    @property
    @abstractmethod
    def last_ply(self) -> int:
        """No game has more plies."""

    @property
    def words(self) -> int:
        """How many words a state takes; the other one is 0. As the kernels' rules say it."""
        return 2

    @abstractmethod
    def pack(self, position: Any) -> State:
        """The two words that say all about a position."""

    @abstractmethod
    def unpack(self, a: int, b: int) -> Position:
        """The position of a state; its history is not known. Undoes `pack`."""

    @abstractmethod
    def images(self, a: int, b: int) -> set[State]:
        """All states of the symmetry class of a state, itself among them."""

    def _canonical(self, a: int, b: int) -> State:
        """The chosen state of the symmetry class, plainly: the key of the position in tables."""
        return min(self.images(a, b))

    def canonical(self, a: int, b: int) -> State:
        """Deprecated: `position.canonical()`."""
        deprecated("board.canonical(a, b)", "position.canonical()")
        return self._canonical(a, b)

    @abstractmethod
    def plies_of(self, a: NDArray[np.uint64], b: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The plies of many states."""

    @abstractmethod
    def is_state(self, a: NDArray[np.uint64], b: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Which words are states at all: nothing off the board, no cell twice taken."""

    @abstractmethod
    def make_rules(self) -> Rules:
        """The rules for kernels, a NamedTuple as `kernels` wants it; imports numba."""

    @cached_property
    def rules(self) -> Rules:
        """The rules for kernels; `DoesNotFitError` when two words are too few."""
        return self.make_rules()

    @property
    def size_text(self) -> str:
        """The size as `parse` reads it: `5x4`."""
        return self.game.describe(self)[0]

    @property
    def options(self) -> dict[str, str]:
        """What else makes the board: {"connect": "4"}."""
        return self.game.describe(self)[1]

    @property
    def name(self) -> str:
        """Game, size and options in one word, as tables are called.

        >>> from retro.games.catalogue import make_board
        >>> make_board("mnk", "4x3").name
        'mnk-4x3-connect3'
        """
        words = [f"{name}{text.replace('/', '.')}" for name, text in sorted(self.options.items())]
        return "-".join([self.game_name, self.size_text, *words])

    def __str__(self) -> str:
        """Text that `make_board` reads: `mnk 4x4 connect=4`; what is usual is left out.

        >>> from retro.games.catalogue import make_board
        >>> str(make_board("mnk", "4x4", connect=4)), str(make_board("5x4"))
        ('mnk 4x4 connect=4', '5x4')
        """
        from retro.games.catalogue import DEFAULT_GAME

        return self.title.removeprefix(f"{DEFAULT_GAME} ")

    @property
    def title(self) -> str:
        """What `str` says, the game always in front: `connect4 5x4`."""
        usual = {option.name: option.default for option in self.game.options}
        words = [f"{name}={text}" for name, text in self.options.items() if text != usual[name]]
        return " ".join([self.game_name, self.size_text, *words])

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON: game, size and options.

        >>> from retro.games.catalogue import make_board
        >>> make_board("domineering", "3x4").to_dict()
        {'game': 'domineering', 'board': '3x4', 'size_order': 'ROWSxCOLS', 'options': {}}
        """
        found: dict[str, Any] = {
            "game": self.game_name,
            "board": self.size_text,
            "size_order": self.game.size_order,
            "options": self.options,
        }
        if "connect" in self.options:  # as a number where it was before there were other options
            found["connect"] = int(self.options["connect"])
        return found

    def __repr__(self) -> str:
        return f"Board({self.title!r})"

    def __dir__(self) -> list[str]:
        """What a user may use; what games and kernels share among themselves is left out."""
        return [*BOARD_NAMES]

    @property
    def players(self) -> tuple[str, str]:
        """What the first and the second player are called here."""
        return self.game.players

    def start(self) -> Position:
        """The position before the first move."""
        position: Position = self.game.start(self)
        return position

    @property
    def num_actions(self) -> int:
        """How many moves there are on this board, in all positions together.

        >>> from retro.games.catalogue import make_board
        >>> make_board("7x6").num_actions, make_board("domineering", "8x8").num_actions
        (7, 112)
        """
        return self.game.arrays.count(self)

    def planes(self, states: States) -> NDArray[np.uint8]:
        """Positions as arrays of 0 and 1, [n, planes, rows, columns], the top row first.

        `plane_names` says what the planes show; the side to move comes first.

        >>> from retro.games.catalogue import make_board
        >>> board = make_board("mnk", "3x3")
        >>> board.planes(board.states(["b2 a1"]))[0].tolist()
        [[[0, 0, 0], [0, 1, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 0], [1, 0, 0]]]
        """
        return self.game.arrays.planes(self, self.checked_states(states))

    @property
    def plane_names(self) -> tuple[str, ...]:
        """What each of `planes` shows.

        >>> from retro.games.catalogue import make_board
        >>> make_board("7x6").plane_names
        ('stones of the side to move', 'stones of the other side')
        """
        return self.game.arrays.names(self)

    def states_from_cells(self, array: ArrayLike) -> States:
        """The states of arrays as `planes` makes them.

        >>> from retro.games.catalogue import make_board
        >>> board = make_board("5x4")
        >>> states = board.states(["443", ""])
        >>> board.states_from_cells(board.planes(states)).a.tolist() == states.a.tolist()
        True
        """
        self._require_words()
        arrays = self.game.arrays
        return self.states_of(*arrays.words(self, read_planes(arrays, self, array)))

    def position(self, thing: object = "") -> Position:
        """A position in any way that people and programs write one (see `habits`).

        Text of moves or of a grid, a list of moves, rows of cells, an observation, a link; or a
        position of this board, which is given back.

        >>> from retro.games.catalogue import make_board
        >>> board = make_board("7x6")
        >>> same = ["4453", "4,4,5,3", "d1 d2 e1 c1", "1. d1 d2 2. e1 c1", [4, 4, 5, 3]]
        >>> {board.position(thing).text for thing in same}
        {'4453'}
        >>> make_board("tictactoe").position([["", "", ""], ["", "X", ""], ["O", "", ""]]).text
        'b2 a1'
        """
        from retro.games.habits import read_thing

        if isinstance(thing, Position):
            if thing.board != self:
                raise WrongBoardError(f"the position is on {thing.board}, wanted one on {self}")
            if not thing.history:
                self._require_state(thing)
            return thing
        return read_thing(self, thing)

    def positions(self, things: Iterable[object]) -> list[Position]:
        """Many positions, each in any form that `position` takes.

        >>> from retro.games.catalogue import make_board
        >>> [position.ply for position in make_board("5x4").positions(["", "443"])]
        [0, 3]
        """
        return [self.position(thing) for thing in things]

    @property
    def last_column(self) -> int:
        """The number of the last column, counted from 1."""
        return self.game.arrays.shape(self)[1]

    def _require_state(self, position: Position) -> None:
        """Refuse what was put together by hand if no state can hold it: stones off the board."""
        a, b = self.pack(position)
        is_state = self.unpack(a, b) == position
        if is_state and self.cells <= WORD_BITS:
            is_state = min(a, b) >= 0 and max(a, b) < 1 << WORD_BITS
            is_state = is_state and bool(self.is_state(_words([a]), _words([b]))[0])
        if not is_state:
            position.check()  # says what is wrong, as far as the game knows
            raise IllegalPositionError(f"no play on {self} leads to these stones")

    def states(self, things: Iterable[object]) -> States:
        """Many positions, in any form that `position` takes, for questions in bulk.

        The board has at most 64 cells, here and for all questions in bulk.

        >>> from retro.games.catalogue import make_board
        >>> make_board("mnk", "3x3").states(["", "b2"]).a
        array([ 0, 16], dtype=uint64)
        """
        self._require_words()
        pairs = [self.position(thing)._state for thing in things]
        words = np.array(pairs, np.uint64).reshape(-1, 2)
        return self.states_of(words[:, 0], words[:, 1])

    def checked_states(self, states: States | ArrayLike, b: ArrayLike | None = None) -> States:
        """What is asked for in bulk: states, or arrays of their words; checked, whoever made them.

        Kernels index by these words and plies, so no other arrays get to them.
        """
        if not isinstance(states, States):
            if b is None and isinstance(states, list | tuple) and any(map(_is_one, states)):
                return self.states(states)
            return self.states_of(states, b)
        if b is not None:
            raise BadTextError("found states and another array of words, wanted one of them")
        return self.states_of(states.a, states.b)

    def states_of(self, a: ArrayLike, b: ArrayLike | None = None) -> States:
        """States from arrays of words, checked: integers, of one length, on the board."""
        self._require_words()
        first = _words(a)
        second = np.zeros_like(first) if b is None else _words(b)
        if first.shape != second.shape or first.ndim != 1:
            raise IllegalPositionError(
                f"wanted two arrays of words of one length, found {first.shape}, {second.shape}"
            )
        wrong = np.flatnonzero(~self.is_state(first, second))
        if len(wrong):
            where = "" if len(first) == 1 else f"position {int(wrong[0])}: "
            raise IllegalPositionError(f"{where}the words are no state of {self}")
        return States(first, second, self.plies_of(first, second))

    def _require_words(self) -> None:
        """Refuse a board whose positions are more than two words can say."""
        if self.cells > MOST_STATE_CELLS:
            raise DoesNotFitError(
                f"{self} has {self.cells} cells, and states have at most {MOST_STATE_CELLS}: "
                "ask about one position at a time, by its moves or its grid"
            )


def _is_one(thing: object) -> bool:
    """Whether a thing in a list is a position of its own, rather than a word."""
    return isinstance(thing, str | Position | list | dict)


def from_words(board: Board, words: State) -> Position:
    """The position of the two words of a state, checked."""
    board.states_of(words[:1], words[1:])
    return board.unpack(int(words[0]), int(words[1])).check()


def _words(words: ArrayLike) -> NDArray[np.uint64]:
    array = np.asarray(words)
    if not array.size:
        return np.empty(array.shape, np.uint64)  # numpy gives nothing the type of a float
    if array.dtype.kind not in "iu":
        raise BadTextError(f"found words of type {array.dtype}, wanted 64-bit integers")
    if array.min() < 0:
        raise IllegalPositionError("found a negative word")
    return np.ascontiguousarray(array, np.uint64)
