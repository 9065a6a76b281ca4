"""The games by name: what the commands, the players and the table files know of each.

One frozen record per game, kept by the game's own module as `GAME` and found
here by name; nothing is imported before it is asked for.

    game = find_game("mnk")
    board = game.parse("3x3", {"connect": "3"})      WIDTHxHEIGHT, but Domineering ROWSxCOLS
    position = game.read_position(board, "b2 a1")    moves; most games read grids, too
    position.play(game.read_move(position, "c3"))
    game.rules(board), game.state(position)          for kernels, see `keyed`

Who uses what:

    tables    `describe` names a file and stands in its header, `parse` reads it back;
              `rules` and `state` lead to the stored value of a position
    search    `rules`, `state`, `position`; the plain `Position` protocol as its oracle
    players   `Position` for the referee, `read_move`, `write_move`, `draw` for people

A position never changes: `play` and `undo` return another one.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self

from retro.errors import BadTextError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Player = Literal["first", "second"]
Board = Any  # each game has its own; frozen, hashable, `str` shows it


class Position(Protocol):
    """What positions of all games have in common. Moves are integers, as the game likes them."""

    @property
    def board(self) -> Board: ...
    @property
    def ply(self) -> int:
        """Moves made so far."""
        ...

    @property
    def history(self) -> tuple[int, ...] | None:
        """The moves that led here; None when nobody knows."""
        ...

    @property
    def side_to_move(self) -> Player: ...

    def legal_moves(self) -> list[int]:
        """None once the game is over."""
        ...

    def play(self, move: int, /) -> Self:
        """The successor; `IllegalPositionError` or `GameOverError` name what is wrong."""
        ...

    def undo(self) -> Self:
        """The position before the last move; `IllegalPositionError` when it is not known."""
        ...

    def outcome(self) -> int | None:
        """The value for the side to move if the rules alone decide it, else None."""
        ...

    def is_over(self) -> bool: ...
    def over_message(self) -> str:
        """One clause that says how the game ended (call it only when it has)."""
        ...


@dataclass(frozen=True)
class Option:
    """A parameter of a game besides the size of its board: `--name METAVAR`."""

    name: str
    metavar: str
    help: str
    default: str = ""


@dataclass(frozen=True)
class PlacementGame:
    """A game for people, files and kernels. Text that is wrong raises a named error."""

    name: str
    about: str  # one line: how to win
    options: tuple[Option, ...]
    players: tuple[str, str]  # what the first and the second player are called
    parse: Callable[[str, Mapping[str, str]], Board]  # "4x4", {"connect": "4"}; absent: default
    describe: Callable[[Board], tuple[str, dict[str, str]]]  # what `parse` reads
    start: Callable[[Board], Any]
    read_move: Callable[[Any, str], int]  # (position, text); need not be legal there
    write_move: Callable[[Any, int], str]  # (position before the move, move)
    read_position: Callable[[Board, str], Any]
    write_position: Callable[[Any], str]  # what `read_position` reads; moves if they are known
    draw: Callable[[Any], str]  # several lines for a terminal
    rules: Callable[[Board], Any]  # `keyed` rules; `DoesNotFitError` when two words are too few
    state: Callable[[Any], tuple[int, int]]
    position: Callable[[Board, int, int], Any]  # of a state; its history is not known

    def table_name(self, board: Board) -> str:
        """The name of a table of the whole board: game, size and options in one word.

        >>> game = find_game("mnk")
        >>> game.table_name(game.parse("4x3", {"connect": "3"}))
        'mnk-4x3-connect3'
        """
        size, options = self.describe(board)
        words = [f"{name}{text.replace('/', '.')}" for name, text in sorted(options.items())]
        return "-".join([self.name, size, *words])

    def root_text(self, root: Any) -> str:
        """The position that a table starts from as text; "" is the start of its board."""
        return "" if root == self.start(root.board) else self.write_position(root)


_HOMES = {
    "connect4": "retro.games.connect_text",
    "mnk": "retro.games.mnk_text",
    "domineering": "retro.games.domineering_text",
    "notakto": "retro.games.notakto",
    "puissance-plus": "retro.games.puissance",
    "quarto": "retro.games.quarto_text",
}
NAMES = tuple(_HOMES)


def find_game(name: str) -> PlacementGame:
    """The record of a game.

    >>> find_game("mnk").players
    ('X', 'O')
    """
    if name not in _HOMES:
        raise BadTextError(f"found game {name!r}, wanted one of {', '.join(NAMES)}")
    game: PlacementGame = import_module(_HOMES[name]).GAME
    return game
