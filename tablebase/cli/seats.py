"""Who sits at the board: at either side the human, or a computer by name.

    seats = Seats((human, easy), means, seed)
    seats.sit_down(board)          new players, whatever the game; those who sat there leave
    seats.player("second")         None: the human moves
    seats.names                    as the record keeps them

A game that was kept says who sat there (`recorded_seats`), and whoever takes it up again finds
the same opponent. Programs of one's own are never started because a file names them.
"""

from __future__ import annotations

import contextlib
from random import Random
from typing import TYPE_CHECKING

from retro.errors import BadTextError
from retro.play.players import OWN, read_spec
from tablebase.players import Players

if TYPE_CHECKING:
    from collections.abc import Callable

    from retro.games.game import Board, Position
    from retro.games.values import Player as Side
    from retro.play.player import Player
    from retro.play.players import Spec
    from retro.play.record import GameRecord
    from tablebase.players import Means

HUMAN = "human"
SIDES: tuple[Side, Side] = ("first", "second")


class Seats:
    """Two seats, and the players that sit there; a context manager that sends them away."""

    def __init__(self, specs: tuple[Spec, Spec], means: Means, seed: int = 0) -> None:
        self.specs = specs
        self._means, self._seed, self._games = means, seed, 0
        self._players: dict[Side, Player | None] = dict.fromkeys(SIDES)
        self._makers: Players | None = None

    def __enter__(self) -> Seats:
        return self

    def __exit__(self, *_: object) -> None:
        if self._makers is not None:
            self._makers.__exit__()

    def sit_down(self, board: Board, specs: tuple[Spec, Spec] | None = None) -> None:
        """Make the players of both seats; if one cannot be made, everybody stays."""
        wanted = specs or self.specs
        makers = Players(board, self._means)
        made: dict[Side, Player | None] = {}
        with contextlib.ExitStack() as stack:
            stack.enter_context(makers)
            for side, spec in zip(SIDES, wanted, strict=True):
                lot = Random(f"{self._seed} {self._games + 1} {side}")
                made[side] = None if spec.kind == HUMAN else makers.make(spec, lot)
            stack.pop_all()
        self.__exit__()
        self._makers, self._players, self.specs = makers, made, wanted
        self._games += 1
        self.start_again(board)

    def start_again(self, board: Board) -> None:
        """Tell the computers that a game begins, or goes on elsewhere."""
        for side, player in self._players.items():
            if player is not None:
                player.reset(board, side)

    def player(self, side: Side) -> Player | None:
        return self._players[side]

    def is_human(self, side: Side) -> bool:
        return self._players[side] is None

    @property
    def humans(self) -> int:
        return sum(map(self.is_human, SIDES))

    @property
    def names(self) -> tuple[str, str]:
        """What sits where, by the names that the players give themselves."""
        first, second = (HUMAN if p is None else p.name for p in self._players.values())
        return first, second

    def name(self, side: Side) -> str:
        return self.names[SIDES.index(side)]

    def tell(self, position: Position, move: int) -> None:
        """Tell the computers of a move."""
        for side, player in self._players.items():
            if player is not None:
                try:
                    player.observe(position, move)
                except Exception:  # it will be asked, and fail, in its turn
                    player.reset(position.board, side)

    def watch(self, report: Callable[[int, float, str], None]) -> None:
        """Where the search of a perfect player reports to."""
        assert self._makers is not None, "somebody sits here"
        self._makers.report = report

    def with_computer(self, spec: Spec) -> tuple[Spec, Spec]:
        """The seats with another computer at those that have one."""
        if self.humans == len(SIDES) or spec.kind == HUMAN:
            raise BadTextError("two humans play; wanted new FIRST SECOND to seat a computer")
        first, second = (old if old.kind == HUMAN else spec for old in self.specs)
        return first, second


def recorded_seats(record: GameRecord) -> tuple[Spec, Spec] | None:
    """Who sat there, if a human did and the other one is known by name."""
    try:
        first, second = (read_spec(name) for name in record.seats)
    except BadTextError:
        return None
    kinds = {first.kind, second.kind}
    return (first, second) if HUMAN in kinds and OWN not in kinds else None
