"""The referee: lets two players play, checks every move, and keeps the record.

    legal move         goes into the record with its time, nodes and remark
    illegal move       loses
    an exception       loses ("crash"), whatever it is
    too late           loses ("time-out"): the player says so itself, or the clock does after
                       the move; programs of one's own are stopped when their time is over

A player can lose a game, never bring a match down. `Leave` passes: a human who has had enough.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from retro.errors import BadTextError, IllegalPositionError, TimeLimitError
from retro.play.record import OTHER, Cost, GameRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from retro.games.game import Board, Position
    from retro.games.values import Player as Side
    from retro.play.player import Player
    from retro.play.record import Reason


class Leave(Exception):
    """A player leaves the room; the game is dropped."""


class Foul(Exception):
    """A player has lost by its own fault."""

    def __init__(self, reason: Reason, words: str) -> None:
        super().__init__(words)
        self.reason = reason


def referee(
    start: Board | Position,
    first: Player,
    second: Player,
    *,
    seconds: float | None = None,
    opening: tuple[str, ...] = (),
) -> GameRecord:
    """The record of a game between two players, after an opening that neither chose.

    >>> from random import Random
    >>> from retro.games.catalogue import make_board
    >>> from retro.play.players import RandomPlayer
    >>> a, b = RandomPlayer(Random(1)), RandomPlayer(Random(2))
    >>> referee(make_board("mnk", "3x3"), a, b, opening=("b2",)).is_over
    True
    """
    record = GameRecord.begin(start, (first.name, second.name))
    players: dict[Side, Player] = {"first": first, "second": second}
    record = _begin(record, players, opening)
    while not record.is_over:
        side = record.position.side_to_move
        try:
            move, cost = ask_move(players[side], record.position, seconds)
        except Foul as foul:
            record = record.end(OTHER[side], foul.reason, str(foul))
        else:
            record = _make(record, players, move, cost)
    return record.seated(first.name, second.name)  # a program may have told its name


def _begin(record: GameRecord, players: dict[Side, Player], opening: Sequence[str]) -> GameRecord:
    """Tell the players where they sit, and make the moves of the opening."""
    for side, player in players.items():
        try:
            _ask(lambda p=player, s=side: p.reset(record.board, s))  # type: ignore[misc]
        except Foul as foul:
            return record.end(OTHER[side], foul.reason, str(foul))
    for text in opening:
        if not record.is_over:
            move = record.position._number_of(text)
            record = _make(record, players, move, Cost(remark="opening"))
    return record


def ask_move(player: Player, position: Position, seconds: float | None = None) -> tuple[int, Cost]:
    """A legal move of a player and what it took; `Foul` if there is none within the time."""
    begin = time.monotonic()
    move = _ask(lambda: player.choose(position))
    spent = time.monotonic() - begin
    if seconds is not None and spent > seconds and not player.keeps_time:
        raise Foul("time-out", f"a move took {spent:.2f} s, {seconds:g} s are allowed")
    wrong = _objection(position, move)
    if wrong:
        raise Foul("illegal move", wrong)
    return int(move), Cost(spent, player.nodes, player.remark)  # type: ignore[call-overload]


def _make(record: GameRecord, players: dict[Side, Player], move: int, cost: Cost) -> GameRecord:
    """Tell both players of a legal move and make it."""
    position = record.position
    after = record.play(move, cost)
    for side, player in players.items():
        try:
            _ask(lambda p=player: p.observe(position, move))  # type: ignore[misc]
        except Foul as foul:
            return after if after.is_over else after.end(OTHER[side], foul.reason, str(foul))
    return after


def _ask(question: Callable[[], object]) -> object:
    """What a player answers; any fault of its own becomes a `Foul`."""
    try:
        return question()
    except Leave:
        raise
    except TimeLimitError as error:
        raise Foul("time-out", str(error)) from error
    except (BadTextError, IllegalPositionError) as error:  # an answer that cannot be read, say
        raise Foul("illegal move", str(error)) from error
    except Exception as error:
        raise Foul("crash", f"{type(error).__name__}: {error}") from error


def _objection(position: Position, move: object) -> str:
    """What is wrong with a move; "" if nothing is."""
    if isinstance(move, bool) or not hasattr(move, "__index__"):
        return f"answered {move!r:.60}, which is no move"
    number = move.__index__()
    if number in position._numbers():
        return ""
    try:
        position._play(number)
    except Exception as error:
        return f"answered {number}: {error}"
    return f"answered {number}, which is no legal move"
