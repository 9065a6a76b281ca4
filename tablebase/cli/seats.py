"""Who plays: from `--first alphabeta:4 --second human` to players at a board.

The human types a move or one of

    undo          takes back her last move, and the answer to it
    hint          asks for the best move
    save FILE     keeps the game
    load FILE     goes on with a game that was kept
    quit          leaves, as does the end of the input

What cannot be read or played gets one line, and she is asked again. In a match nothing
is taken back, and stdout is for the score: she reads stderr.
"""

from __future__ import annotations

import contextlib
import sys
from functools import cached_property
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Self

from retro.errors import BadTextError, StorageError, TablebaseError, WrongBoardError
from retro.games.values import VALUE_NAMES
from retro.search.plain_solver import MOST_CELLS, needs_plain_search
from retro.search.players import FILTERS, PLAUSIBLE, make_player
from tablebase.cli.common import (
    add_folder,
    add_search,
    check_memory,
    open_keyed_tables,
    open_tables,
    read_text,
    say_search,
)
from tablebase.cli.games import DEFAULT_GAME, add_game
from tablebase.cli.progress import SearchProgress
from tablebase.units import counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from retro.games.catalogue import PlacementGame
    from retro.search.players import Player, Spec
    from tablebase.perfect import Adviser

HUMAN = "human"
PLAYERS = (
    "human, perfect (or computer), random, greedy, minimax:DEPTH, alphabeta:DEPTH; "
    "then :EVALUATION, :plausible"
)
LARGE_OPPONENT = "alphabeta:2"
PLAIN_SECONDS = 30.0  # for an answer of the perfect player on a large board
HELP = "wanted a move, or one of: undo, hint, save FILE, load FILE, quit"


def default_opponent(game: PlacementGame, board: Any) -> str:
    """Who plays against a human unless she says: the perfect player, where there can be one."""
    if not is_large(board):
        return "perfect"
    return LARGE_OPPONENT + (f":{PLAUSIBLE}" if game.name in FILTERS else "")


def is_large(board: Any) -> bool:
    """Whether a board has more cells than a solver that is worth playing against takes."""
    return getattr(board, "cells", 0) > MOST_CELLS


def add_seats(parser: argparse.ArgumentParser) -> None:
    """The options about the game and what its perfect player may use."""
    add_game(parser)
    add_folder(parser)
    add_search(parser, memory_mb=64)


class Quit(Exception):
    """The human has had enough."""


class GoTo(Exception):
    """The human wants the game to go on from another position."""

    def __init__(self, position: Any) -> None:
        super().__init__()
        self.position = position


class Seats:
    """Makes the players that texts name; a context manager that closes what they opened."""

    def __init__(
        self,
        options: argparse.Namespace,
        game: PlacementGame,
        board: Any,
        human: type[Human] | None = None,
    ) -> None:
        check_memory(options.memory)
        self._options, self._game, self._board = options, game, board
        self._human = human or Human
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def seat(self, spec: Spec, rng: Random) -> Player:
        """A player; the perfect one is the same on both sides and keeps what it has proved."""
        if spec.kind == "perfect":
            return self.perfect
        if spec.kind == HUMAN:
            return self._human(self._game, self._board, self)
        return make_player(spec, self._game, rng)

    def seat_both(self, specs: Sequence[Spec], seed: object) -> tuple[Player, Player]:
        """Two players, each with lots of its own."""
        first, second = (self.seat(spec, Random(f"{seed} {i}")) for i, spec in enumerate(specs))
        return first, second

    @cached_property
    def perfect(self) -> Adviser:
        """The perfect player of the game, with the tables of its board that are there."""
        game, board, options = self._game, self._board, self._options
        limit = options.time_limit
        limits = {"memory_mb": options.memory, "time_limit": limit}
        if game.name == DEFAULT_GAME:
            from tablebase.perfect import PerfectPlayer

            tables = open_tables(board, options.dir, self._stack)
            return PerfectPlayer(board, tables, report=SearchProgress().report, **limits)
        from tablebase.keyed_oracle import KeyedOracle
        from tablebase.keyed_perfect import KeyedPerfectPlayer

        if needs_plain_search(board):
            limits["time_limit"] = PLAIN_SECONDS if limit is None else limit
        elif is_large(board):
            game.rules(board)  # complains before anybody has moved
        oracle = KeyedOracle(
            game,
            game.start(board),
            open_keyed_tables(game, board, options.dir, self._stack),
            before_search=lambda: say_search(board),
            report=SearchProgress().report,
            **limits,
        )
        return KeyedPerfectPlayer(oracle)


class Human:
    """Whoever sits at the terminal."""

    name = HUMAN

    def __init__(self, game: PlacementGame, board: Any, seats: Seats) -> None:
        self._game, self._board, self._seats = game, board, seats

    def told(self, position: Any, move: int) -> None:
        """Sees the board."""

    def choose(self, position: Any) -> int:
        """The move that is typed in; `Quit` or `GoTo` when she wants something else."""
        while True:
            line = self._read(position)
            word, _, rest = line.partition(" ")
            try:
                if word == "quit":
                    raise Quit
                if word == "undo":
                    raise GoTo(_before_last_turn(position))
                if word == "load":
                    raise GoTo(load_game(self._game, self._board, rest.strip()))
                if word == "save":
                    save_game(self._game, position, rest.strip())
                    self._print(f"saved in {rest.strip()}")
                elif word == "hint":
                    self._hint(position)
                elif word:
                    return self._legal(position, line)
            except TablebaseError as error:
                self._print(str(error))

    def _print(self, text: str, end: str = "\n") -> None:
        print(text, end=end, flush=True)

    def _sign(self, position: Any) -> str:
        """What the side to move is called."""
        return self._game.players[0 if position.side_to_move == "first" else 1]

    def _read(self, position: Any) -> str:
        self._print(f"{self._sign(position)}> ", end="")
        line = sys.stdin.readline()
        if not line:
            self._print("")
            raise Quit
        return line.strip()

    def _legal(self, position: Any, text: str) -> int:
        try:
            move = self._game.read_move(position, text)
        except BadTextError:
            raise BadTextError(f"found {text!r}, {HELP}") from None
        position.play(move)  # complains about what is against the rules
        return move

    def _hint(self, position: Any) -> None:
        advice = self._seats.perfect.advise(position)
        end = f", over in {counted(advice.plies, 'ply', 'plies')}" if advice.plies else ""
        move = self._game.write_move(position, advice.move)
        self._print(f"hint: {move} ({VALUE_NAMES[advice.value]} for you{end}, by {advice.source})")


class Contestant(Human):
    """A human in a match: sees board and moves on stderr, and takes nothing back."""

    _mine: Any = None  # the position of her last move

    def told(self, position: Any, move: int) -> None:
        if position is not self._mine:
            text = self._game.write_move(position, move)
            self._print(f"{self._sign(position)} plays {text}")

    def choose(self, position: Any) -> int:
        self._mine = position
        self._print(self._game.draw(position))
        while True:
            try:
                return super().choose(position)
            except GoTo:
                self._print("no move is taken back in a match")

    def _print(self, text: str, end: str = "\n") -> None:
        print(text, end=end, file=sys.stderr, flush=True)


def _before_last_turn(position: Any) -> Any:
    """The position in which the side to move was to move before."""
    side, position = position.side_to_move, position.undo()
    while position.side_to_move != side:
        position = position.undo()
    return position


def _header(game: PlacementGame, board: Any) -> str:
    size, options = game.describe(board)
    return " ".join([game.name, size, *(f"{name}={text}" for name, text in options.items())])


def save_game(game: PlacementGame, position: Any, name: str) -> None:
    """Write a game: a line that names game and board, then the moves."""
    path = _path(name)
    text = f"{_header(game, position.board)}\n{game.write_position(position)}\n"
    if path.exists() and not read_text(path).startswith(f"{game.name} "):
        raise StorageError(f"{path} exists and is no game of {game.name}")
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}") from None


def load_game(game: PlacementGame, board: Any, name: str) -> Any:
    """The position that `save_game` wrote, on the same board."""
    path = _path(name)
    header, _, text = read_text(path).partition("\n")
    if header != _header(game, board):
        raise WrongBoardError(f"{path} begins with {header!r}, wanted {_header(game, board)!r}")
    return game.read_position(board, text.strip())


def _path(name: str) -> Path:
    if not name:
        raise BadTextError("wanted the name of a file")
    return Path(name)
