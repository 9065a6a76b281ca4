"""Players by name, the perfect one among them: the levels with tables and solver behind them.

    with Players(board, Means(folder)) as players:
        easy = players.make("easy", Random(1))
        best = players.make("perfect", Random(2))

`Means` is plain data, so that processes of a contest can each open what they need.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self

from retro.play.external import own_player
from retro.play.levels import EXACT_SECONDS, SECOND, make_level
from retro.play.players import OWN, PERFECT, make_player, read_spec
from retro.play.referee import referee
from tablebase.oracles import Oracle, open_tables
from tablebase.perfect import PerfectPlayer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from random import Random

    from retro.games.game import Board
    from retro.play.contest import Bout
    from retro.play.player import Player
    from retro.play.players import Spec
    from retro.play.record import GameRecord

MEMORY = "64M"
SLICE_NODES = 100_000  # of Connect Four: a twentieth of a second between looks at the clock


@dataclass(frozen=True)
class Means:
    """What players may use: tables, memory for a search, and seconds for a proof.

    Without `time_limit` the perfect player tries a proof for a part of its second, then plays
    what the rest of it finds; with one it tries so long.
    """

    folder: Path | str | None = None
    memory: str | int = MEMORY
    time_limit: float | None = None
    second: float = SECOND  # of the perfect player, where it has no proof
    move_time: float | None = None  # of programs of one's own; None: what they usually get


class Players:
    """Makes players for one board and closes what they opened; a context manager.

    >>> from random import Random
    >>> from retro.games.catalogue import make_board
    >>> board = make_board("mnk", "3x3")
    >>> with Players(board) as players:
    ...     perfect = players.make("perfect", Random(1))
    ...     board.start()._play_all([perfect.choose(board.position("a1 c3"))]).ply
    1
    """

    def __init__(self, board: Board, means: Means | None = None) -> None:
        self.board, self.means = board, means or Means()
        self.report: Callable[[int, float, str], None] = lambda *_: None
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def make(self, spec: Spec | str, rng: Random) -> Player:
        """A player by name; not `human`."""
        asked = read_spec(spec) if isinstance(spec, str) else spec
        if asked.kind == PERFECT:
            player = make_level(PERFECT, self.board, rng, self.adviser, self.means.second)
        elif asked.kind == OWN and self.means.move_time is not None:
            player = own_player(asked.text, self.means.move_time)
        else:
            player = make_player(asked, self.board, rng)
        self._stack.callback(player.close)
        return player

    @cached_property
    def adviser(self) -> PerfectPlayer:
        """Whoever knows values: the tables, the solver within its time."""
        return PerfectPlayer(self.oracle, seconds=self.means.time_limit or self.means.second)

    @cached_property
    def oracle(self) -> Oracle:
        """The tables that are there and the solver, made when they are first needed."""
        means = self.means
        share = EXACT_SECONDS / SECOND * means.second
        found = Oracle(
            self.board,
            open_tables(self.board, means.folder),
            memory=means.memory,
            time_limit=share if means.time_limit is None else means.time_limit,
            threads=1,
            slice_nodes=SLICE_NODES,
        )
        found.report = lambda *facts: self.report(*facts)
        return self._stack.enter_context(found)


@dataclass(frozen=True)
class Arena:
    """Plays the bouts of a contest, here or in another process."""

    means: Means

    def __call__(self, bout: Bout) -> GameRecord:
        return self.play(bout, Players.make)

    def play(self, bout: Bout, seat: Callable[[Players, str, Random], Player]) -> GameRecord:
        """The game, with players whom `seat` makes of their names."""
        with Players(bout.board, self.means) as players:
            names = (bout.first, bout.second)
            first, second = (
                seat(players, name, rng) for name, rng in zip(names, bout.rngs(), strict=True)
            )
            return referee(
                bout.board, first, second, seconds=self.means.move_time, opening=bout.opening
            )
