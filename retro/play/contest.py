"""Contests: who plays whom, on all cores, and what came out.

    schedule(players, games)      all pairings, sides alternate, openings by lot
    run(bouts, play, cores)       their records in the order of the schedule, as they come
    Tally(players).add(record)    points, costs and mistakes of each player

A bout says all that its game depends on: board, players, opening, seed. It is played by one
function in whatever process, with players made for it alone; so the same seed gives the
same games for any number of cores, unless a player goes by the clock.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import sys
from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations
from multiprocessing import connection
from random import Random
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.errors import BadTextError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from retro.games.game import Board, Position
    from retro.play.record import GameRecord

    Play = Callable[["Bout"], GameRecord]
    Value = Callable[[Position], int | None]  # for the side to move, if it is known

TRIES = 1000
STOP_SECONDS = 2.0  # for a process to close what it has opened


@dataclass(frozen=True)
class Bout:
    """One game of a contest."""

    number: int
    board: Board
    first: str
    second: str
    opening: tuple[str, ...]
    seed: str

    def rngs(self) -> tuple[Random, Random]:
        """The lots of the two players."""
        return Random(f"{self.seed} first"), Random(f"{self.seed} second")


def schedule(
    board: Board,
    players: Sequence[str],
    games: int,
    *,
    seed: int = 0,
    openings: Sequence[tuple[str, ...]] = ((),),
) -> list[Bout]:
    """`games` of every pair; each opening is played twice, with sides changed.

    >>> from retro.games.catalogue import make_board
    >>> bouts = schedule(make_board("mnk", "3x3"), ["a", "b"], 3)
    >>> [(bout.first, bout.second) for bout in bouts]
    [('a', 'b'), ('b', 'a'), ('a', 'b')]
    """
    bouts: list[Bout] = []
    for pair in combinations(players, 2):
        for number in range(games):
            first, second = pair if number % 2 == 0 else pair[::-1]
            opening = openings[number // 2 % len(openings)]
            name = f"{seed} {pair[0]} {pair[1]} {number}"
            bouts.append(Bout(len(bouts), board, first, second, opening, name))
    return bouts


def draw_openings(board: Board, plies: int, number: int, seed: int) -> list[tuple[str, ...]]:
    """Openings of so many random plies, all different and none of them over; fewer if there are.

    >>> from retro.games.catalogue import make_board
    >>> draw_openings(make_board("mnk", "3x3"), 1, 2, seed=1)
    [('a2',), ('c3',)]
    """
    rng = Random(f"openings {seed}")
    found: dict[tuple[str, ...], None] = {}
    for _ in range(TRIES * number):
        position = board.start()
        words: list[str] = []
        while len(words) < plies and not position.is_over():
            move = rng.choice(position._numbers())
            words.append(position._text_of(move))
            position = position._play(move)
        if not position.is_over():
            found[tuple(words)] = None
        if len(found) == number:
            break
    if not found:
        raise BadTextError(f"no game of {board} is open after {plies} plies")
    return list(found)


def run(bouts: Sequence[Bout], play: Play, cores: int = 1) -> Iterator[tuple[Bout, GameRecord]]:
    """Play all bouts; each comes with its record as soon as it is over.

    With one core everything happens here; with more in processes of their own, `play` must
    then be something that can be sent there. Whoever stops asking stops the contest.
    """
    if cores == 1 or len(bouts) < 2:
        for bout in bouts:
            yield bout, play(bout)
        return
    team = [_Worker(play) for _ in range(min(cores, len(bouts)))]
    try:
        waiting = iter(bouts)
        busy = {worker.pipe: worker for worker in team if worker.take(next(waiting, None))}
        while busy:
            for pipe in connection.wait(list(busy)):
                worker = busy[pipe]  # type: ignore[index]
                yield worker.result()
                if not worker.take(next(waiting, None)):
                    del busy[worker.pipe]
    finally:
        for worker in team:
            worker.process.terminate()
        for worker in team:
            worker.stop()


class _Worker:
    """A process that plays bouts, with a pipe of its own: nothing is shared that could hang."""

    def __init__(self, play: Play) -> None:
        # Not forked: a child would share the state of our threads.
        context = multiprocessing.get_context("spawn")
        self.pipe, end = context.Pipe()
        self.process = context.Process(target=_work, args=(end, play), daemon=True)
        self.process.start()
        end.close()
        self._bout: Bout | None = None

    def take(self, bout: Bout | None) -> bool:
        """Begin a bout; False if there is none."""
        self._bout = bout
        if bout is not None:
            self.pipe.send(bout)
        return bout is not None

    def result(self) -> tuple[Bout, GameRecord]:
        """The bout that is over; what went wrong with it, should something have, is raised."""
        assert self._bout is not None, "it has a bout"
        try:
            answer = self.pipe.recv()
        except (EOFError, ConnectionResetError):  # the latter when it died with the bout unread
            code = self.process.exitcode
            raise RuntimeError(f"the process of game {self._bout.number} died ({code})") from None
        if isinstance(answer, BaseException):
            raise answer
        return self._bout, answer

    def stop(self) -> None:
        self.process.join(STOP_SECONDS)
        self.process.kill()
        self.process.join()
        self.pipe.close()


def _work(pipe: connection.Connection, play: Play) -> None:
    """Play bout after bout. Ctrl-C is for the process that has started us, which will stop us."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # players' programs are closed on the way
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            bout = pipe.recv()
            try:
                answer: object = play(bout)
            except Exception as error:
                answer = error
            pipe.send(answer)


class Mistake(NamedTuple):
    """A move that changed the value of the position for the worse."""

    ply: int
    move: str
    before: int
    after: int  # both for the player who moved


def mistakes(record: GameRecord, value: Value) -> dict[str, list[Mistake]]:
    """{"first": [...], "second": [...]}: the moves of a game that gave something away.

    Moves of an opening are nobody's; positions whose value is not known count for nothing.
    """
    found: dict[str, list[Mistake]] = {"first": [], "second": []}
    position = record.root
    before = value(position)
    for entry in record.entries:
        after = position._play(entry.move)
        outcome = after.outcome()
        reply = value(after) if outcome is None else outcome
        is_known = before is not None and reply is not None
        if is_known and entry.cost.remark != "opening" and -reply != before:  # type: ignore[operator]
            mistake = Mistake(position.ply, entry.text, before, -reply)  # type: ignore[arg-type, operator]
            found[position.side_to_move].append(mistake)
        position, before = after, reply
    return found


@dataclass
class Score:
    """What one player did in a contest."""

    games: Counter[str] = field(default_factory=Counter)  # won, drawn, lost by role: "first won"
    reasons: Counter[str] = field(default_factory=Counter)  # why games were lost
    moves: int = 0
    seconds: float = 0.0
    nodes: int = 0
    counted_seconds: float = 0.0  # of moves whose nodes are known
    longest: float = 0.0
    mistakes: Counter[int] = field(default_factory=Counter)  # by ply
    judged: int = 0  # games in which mistakes were counted

    @property
    def points(self) -> float:
        wins = sum(n for name, n in self.games.items() if name.endswith("won"))
        draws = sum(n for name, n in self.games.items() if name.endswith("drawn"))
        return wins + draws / 2

    @property
    def played(self) -> int:
        return self.games.total()


@dataclass
class Tally:
    """What came out of a contest; `add` game after game, in any order."""

    players: Sequence[str]
    points: NDArray[np.float64] = field(init=False)
    scores: dict[str, Score] = field(init=False)

    def __post_init__(self) -> None:
        self.points = np.zeros((len(self.players), len(self.players)))
        self.scores = {name: Score() for name in self.players}

    def add(self, bout: Bout, record: GameRecord, value: Value | None = None) -> None:
        """Count a game."""
        result = record.result
        assert result is not None, "the referee ends every game"
        found = None if value is None else mistakes(record, value)
        seats = {"first": bout.first, "second": bout.second}
        for side, name in seats.items():
            score = self.scores[name]
            outcome = (
                "drawn" if result.winner is None else "won" if result.winner == side else "lost"
            )
            score.games[f"{side} {outcome}"] += 1
            if outcome == "lost":
                score.reasons[result.reason] += 1
            if found is not None:
                score.judged += 1
                score.mistakes.update(mistake.ply for mistake in found[side])
        self._add_costs(seats, record)
        half = {None: 0.5, "first": 1.0, "second": 0.0}[result.winner]
        i, j = self.players.index(bout.first), self.players.index(bout.second)
        self.points[i, j] += half
        self.points[j, i] += 1 - half

    def _add_costs(self, seats: dict[str, str], record: GameRecord) -> None:
        position = record.root
        for entry in record.entries:
            score, cost = self.scores[seats[position.side_to_move]], entry.cost
            position = position._play(entry.move)
            if cost.seconds is None:
                continue
            score.moves += 1
            score.seconds += cost.seconds
            score.longest = max(score.longest, cost.seconds)
            if cost.nodes is not None:
                score.nodes += cost.nodes
                score.counted_seconds += cost.seconds
