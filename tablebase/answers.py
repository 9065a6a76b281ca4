"""Every answer about tables, one type each, and the JSON of every answer, once.

Those about positions are in `retro.answers`. The JSON is the same at every door:

    position    {"game", "board", "options", "position", "ply", "side_to_move", "over"}
    an answer   the position, then {"value", "plies", "source"}
    probe       an answer, then {"best": [move, ...], "moves": [a move, ...]}
    a move      {"move", "value", "plies", "after"}
    line        an answer, then {"line": [move, ...]}
    analyse     probe and line together
    solve       an answer, then {"nodes"}
    error       {"error", "kind", "exit_code"}

Values are "WIN", "DRAW" or "LOSS" for the side to move, those of moves for the player who makes
them; `plies` count to the end of the game under best play and are null where nobody knows
them; `position` is text that every command reads, or null if no moves lead there.
`answers.schema.json` beside this file says all of it precisely (JSON Schema, 2020-12), one
definition a command.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from retro.answers import Answers, Json, Line, Probe, RatedMove, Solution
from retro.errors import NoDistancesError
from retro.games.values import VALUE_NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from retro.errors import TablebaseError
    from retro.games.game import Board, Position
    from tablebase.building.plan import Plan
    from tablebase.strategy import Strategy

__all__ = [
    "Answers",
    "Counts",
    "Json",
    "Level",
    "Line",
    "Probe",
    "RatedMove",
    "Solution",
    "Verified",
]

Level = Literal["spot", "quick", "sample", "full"]
LEVELS: tuple[Level, ...] = ("spot", "quick", "sample", "full")
COUNT_NAMES = ("positions", "win", "draw", "loss", "terminal")
DISTANCE_NAMES = ("win_in", "draw_in", "loss_in")


class PlyPositions(NamedTuple):
    """The legal positions of one ply, and how many of these are finished games."""

    ply: int
    positions: int
    terminal: int


@dataclass(frozen=True)
class Counts:
    """The legal positions of a ply, finished games included; values are for the side to move."""

    ply: int
    positions: int
    win: int
    draw: int
    loss: int
    terminal: int  # of these, decided by the rules alone
    classes: int | None  # positions up to symmetry, if the table counts them
    sha256: str  # of the values of the ply; "" if the table has none of it
    # With distances: [plies] how many are won, drawn, lost in exactly so many; finished ones in 0.
    win_in: tuple[int, ...] | None = None
    draw_in: tuple[int, ...] | None = None
    loss_in: tuple[int, ...] | None = None

    @property
    def longest_win(self) -> int | None:
        """The plies of the longest win; None if there is none, or nobody knows."""
        return _longest(self.win_in)

    @property
    def longest_loss(self) -> int | None:
        return _longest(self.loss_in)

    def to_dict(self) -> Json:
        """Plain values, for JSON: a ply of what `tablebase stats --json` prints."""
        names = ("ply", "positions", "win", "draw", "loss", "terminal", "classes")
        more = ("longest_win", "longest_loss")
        found: Json = {name: getattr(self, name) for name in (*names, *more)}
        for name in DISTANCE_NAMES:
            counted = getattr(self, name)
            numbers = enumerate(counted or ())
            found[name] = None if counted is None else {str(d): n for d, n in numbers if n}
        return found


def _longest(counted: tuple[int, ...] | None) -> int | None:
    return max((plies for plies, number in enumerate(counted or ()) if number), default=None)


class Report(Protocol):
    """Told what is being checked, the ply, and which share of that is done, if it is known."""

    def __call__(self, what: str, ply: int, share: float = 0.0, /) -> None: ...


@dataclass(frozen=True)
class Verified:
    """What was checked; that it exists means that no fault was found."""

    level: Level
    plies: int  # with checked digests
    counted: int  # of these, plies whose legal positions were counted anew
    positions: int  # positions whose value was checked against the rules
    searched: int  # of these, positions that a plain search confirmed
    solver: int  # positions that the solver confirmed
    seconds: float

    def to_dict(self) -> Json:
        """Plain values, for JSON."""
        return asdict(self)


class Described(Protocol):
    """What a table file says of itself, open in whatever way."""

    @property
    def board(self) -> Board: ...
    @property
    def root(self) -> Position: ...
    @property
    def plies(self) -> range: ...
    @property
    def counts(self) -> list[Counts]: ...
    @property
    def value(self) -> int: ...
    @property
    def index(self) -> str: ...
    @property
    def digest(self) -> str: ...
    @property
    def has_distances(self) -> bool: ...
    @property
    def is_counted(self) -> bool: ...  # whether it knows more counts than that of its root
    @property
    def path(self) -> object: ...  # text that names it
    @property
    def size(self) -> int: ...


def require_distances(table: Described) -> None:
    """Refuse to tell distances that a table does not have."""
    if not table.has_distances:
        raise NoDistancesError(
            f"{table.path} knows values, not distances; a table built with --distances has both"
        )


def analysis_json(probe: Probe, line: Line) -> Json:
    """Every move with its distance, and best play."""
    return {**probe.to_dict(), "line": [move.move for move in line.moves]}


def solution_json(position: Position, solution: Solution) -> Json:
    """A position, its value, and what it cost to know it."""
    return {**position.to_dict(), **solution.to_dict()}


def class_json(board: Board, letter: str, starts: Mapping[str, Solution]) -> Json:
    """The class of a board on which either side may start."""
    classes = board.game.classes
    return {
        **board.to_dict(),
        "class": letter,
        "meaning": classes.meanings[letter] if classes else "",
        "starts": {name: solution.to_dict() for name, solution in starts.items()},
    }


def stats_json(table: Described) -> Json:
    """What a table holds: its counts, ply by ply, if it has been counted, and its file."""
    counted = table.counts if table.is_counted else []
    return {**table_json(table), "plies": [counts.to_dict() for counts in counted]}


def count_json(root: Position, counted: Sequence[PlyPositions]) -> Json:
    """Positions and finished games ply by ply, of no table."""
    return {
        **root.board.to_dict(),
        "root": root.root_text,
        "plies": [one._asdict() for one in counted],
        "positions": sum(one.positions for one in counted),
        "terminal": sum(one.terminal for one in counted),
    }


def table_json(table: Described) -> Json:
    """What a table is of, and its file."""
    counts = table.counts
    classes = [of_ply.classes for of_ply in counts if of_ply.classes is not None]
    return {
        **table.board.to_dict(),
        "root": table.root.root_text,
        "side_to_move": table.root.side_to_move,
        "value": VALUE_NAMES[table.value],
        "first_ply": table.plies[0],
        "last_ply": table.plies[-1],
        "positions": sum(of_ply.positions for of_ply in counts) if table.is_counted else None,
        "classes": sum(classes) if classes else None,
        "index": table.index,
        "distances": table.has_distances,
        "digest": table.digest,
        "file": str(table.path),
        "size": table.size,
    }


def list_json(folder: Path, tables: Sequence[Json], errors: Sequence[Json]) -> Json:
    """The tables of a folder, and what is wrong with files that are none."""
    return {"folder": str(folder), "tables": tables, "errors": errors}


def plan_json(plan: Plan, path: Path, obstacle: str | None) -> Json:
    """What a build will take, and why it would be refused, if it would."""
    about = {"file": str(path), "fits": obstacle is None, "obstacle": obstacle}
    return {**plan.to_dict(), **about}


def verified_json(table: Described, verified: Verified) -> Json:
    """What was checked of a sound table."""
    return {**table.board.to_dict(), "file": str(table.path), "sound": True, **verified.to_dict()}


def strategy_json(root: Position, found: Sequence[Strategy]) -> Json:
    """Strategy graphs; `value` is what the strategist is sure of."""
    strategies = [
        {
            "player": strategy.player,
            "value": VALUE_NAMES[strategy.value],
            **{name: getattr(strategy.total, name) for name in ("decide", "answer", "finished")},
            "positions": strategy.positions,
            "plies": [count._asdict() for count in strategy.plies],
        }
        for strategy in found
    ]
    return {**root.board.to_dict(), "root": root.root_text, "strategies": strategies}


def contest_json(
    board: Board,
    seed: int,
    players: Sequence[Json],
    points: list[list[float]],
    games: Sequence[Json],
) -> Json:
    """A match or a tournament: a row for each player, who scored what against whom, the games."""
    content = {"seed": seed, "players": players, "points": points, "games": games}
    return {**board.to_dict(), **content}


def error_json(error: TablebaseError, text: str = "") -> Json:
    """An error: what was found and wanted, its name, and the exit code of its cause."""
    kind = type(error).__name__
    return {"error": text or str(error), "kind": kind, "exit_code": error.exit_code}
