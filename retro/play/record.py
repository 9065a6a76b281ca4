"""The record of a game: board, who sat where, the moves with what they cost, the result and why.

    record = GameRecord.begin(board, ("human", "easy"))
    record = record.play(move, Cost(seconds=0.4, nodes=1_200))     frozen: another record
    record.undo().redo() == record
    record.at(3)                                                   the position after 3 moves

Taken-back moves are kept until another one is played in their place. As text and as JSON
(`record_text`) the same record is read at the terminal, from a file and on the page.

    entries   b2  a1  c3 | b1  a2     undone, the next to redo first
                         ^ position
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from retro.errors import GameOverError, IllegalPositionError

if TYPE_CHECKING:
    from retro.games.game import Board, Position
    from retro.games.values import Player as Side

# The rules end a game by a win or a draw; the rest is the referee's word.
Reason = Literal["win", "draw", "resignation", "illegal move", "time-out", "crash"]
REASONS: tuple[Reason, ...] = get_args(Reason)
RULES: tuple[Reason, ...] = ("win", "draw")
LONGEST_NAME, LONGEST_REMARK = 100, 500
OTHER: dict[Side, Side] = {"first": "second", "second": "first"}


class Cost(NamedTuple):
    """What a move took, as far as it is known, and what its player had to say about it."""

    seconds: float | None = None
    nodes: int | None = None
    remark: str = ""


UNKNOWN = Cost()


class Entry(NamedTuple):
    """A move of a game."""

    move: int
    text: str
    cost: Cost


class Result(NamedTuple):
    """Who won (None: nobody), by what, and that in words."""

    winner: Side | None
    reason: Reason
    words: str = ""

    def __str__(self) -> str:
        whose = f"{self.winner} wins" if self.winner else "nobody wins"
        return f"{whose}, {self.reason}" + (f": {self.words}" if self.words else "")


@dataclass(frozen=True)
class GameRecord:
    """A game as it was played, finished or not.

    >>> from retro.games.catalogue import make_board
    >>> record = GameRecord.begin(make_board("mnk", "3x3"), ("human", "easy"))
    >>> for text in ("a1", "b1", "a2", "b2", "a3"):
    ...     record = record.play(record.position._number_of(text))
    >>> record.result
    Result(winner='first', reason='win', words='the first player has 3 in a line')
    >>> record.undo(2).text, record.undo(2).redo() == record.undo(1)
    ('a1 b1 a2', True)
    """

    root: Position  # where the game began
    seats: tuple[str, str]
    position: Position
    entries: tuple[Entry, ...] = ()
    undone: tuple[Entry, ...] = ()
    verdict: Result | None = None  # of the referee, who ended the game before the rules did

    @classmethod
    def begin(cls, start: Board | Position, seats: tuple[str, str] = ("", "")) -> GameRecord:
        """The record of a game that begins now, on a board or from a position."""
        from retro.games.game import Board

        root = start.start() if isinstance(start, Board) else start
        first, second = (one_line(name, LONGEST_NAME) for name in seats)
        return cls(root, (first, second), root)

    @property
    def board(self) -> Board:
        return self.root.board

    @property
    def moves(self) -> tuple[int, ...]:
        return tuple(entry.move for entry in self.entries)

    @property
    def text(self) -> str:
        """The moves as people write them."""
        return " ".join(entry.text for entry in self.entries)

    @property
    def result(self) -> Result | None:
        """How the game ended; None while it goes on."""
        return self.verdict or rules_result(self.position)

    @property
    def is_over(self) -> bool:
        return self.result is not None

    def at(self, ply: int) -> Position:
        """The position after so many moves of this record, taken-back ones among them."""
        moves = [entry.move for entry in (*self.entries, *self.undone)]
        if not 0 <= ply <= len(moves):
            raise IllegalPositionError(f"found ply {ply}, the record has 0 to {len(moves)}")
        return self.root._play_all(moves[:ply])

    def play(self, move: int, cost: Cost = UNKNOWN) -> GameRecord:
        """The record after one more move; moves that were taken back are forgotten."""
        if self.verdict:
            raise GameOverError(f"the game is over: {self.verdict}")
        text = self.position._text_of(move) if move in self.position._numbers() else ""
        position = self.position._play(move)
        entry = Entry(move, text, _tidy(cost))
        return replace(self, position=position, entries=(*self.entries, entry), undone=())

    def end(self, winner: Side | None, reason: Reason, words: str = "") -> GameRecord:
        """The record of a game that the referee, or a player who resigns, has ended."""
        if self.result is not None:
            raise GameOverError(f"the game is over: {self.result}")
        result = Result(winner, reason, one_line(words, LONGEST_REMARK))
        return replace(self, verdict=result, undone=())

    def undo(self, plies: int = 1) -> GameRecord:
        """The record with its last moves taken back, and what the referee said."""
        if not 0 <= plies <= len(self.entries):
            raise IllegalPositionError("there is no move to take back")
        kept = len(self.entries) - plies
        undone = (*self.entries[kept:], *self.undone)
        position = self.root._play_all(self.moves[:kept])
        return replace(
            self, position=position, entries=self.entries[:kept], undone=undone, verdict=None
        )

    def redo(self, plies: int = 1) -> GameRecord:
        """The record with moves that were taken back made again."""
        if not 0 <= plies <= len(self.undone):
            raise IllegalPositionError("there is no move to make again")
        again, undone = self.undone[:plies], self.undone[plies:]
        position = self.position._play_all([entry.move for entry in again])
        return replace(self, position=position, entries=(*self.entries, *again), undone=undone)

    def seated(self, first: str, second: str) -> GameRecord:
        """The same game with other names at the seats."""
        names = (one_line(first, LONGEST_NAME), one_line(second, LONGEST_NAME))
        return replace(self, seats=names)


def rules_result(position: Position) -> Result | None:
    """How the rules ended a game; None if they have not."""
    outcome = position.outcome()
    if outcome is None:
        return None
    words = position.over_message().removeprefix("the game is over: ")
    if outcome == 0:
        return Result(None, "draw", words)
    side = position.side_to_move
    return Result(side if outcome > 0 else OTHER[side], "win", words)


def one_line(text: str, longest: int) -> str:
    """Text without line ends, of bounded length.

    >>> one_line(" two\\nlines ", 20)
    'two lines'
    """
    return "".join(c if c.isprintable() else " " for c in text)[: 4 * longest].strip()[:longest]


def _tidy(cost: Cost) -> Cost:
    """As it is written: milliseconds, microseconds of what took less than a second; one line."""
    seconds = cost.seconds
    if seconds is not None:
        seconds = round(seconds, 3 if seconds >= 1 else 6)
    return Cost(seconds, cost.nodes, one_line(cost.remark, LONGEST_REMARK))
