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

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from retro.answers import Answers, Json, Line, Probe, RatedMove, Solution
from retro.errors import IllegalPositionError, NoDistancesError
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


def board_json(board: Board) -> Json:
    """Game, board and options.

    >>> from retro.games.catalogue import make_board
    >>> board_json(make_board("domineering", "3x4"))["size_order"]
    'ROWSxCOLS'
    """
    found: Json = {
        "game": board.game_name,
        "board": board.size_text,
        "size_order": board.game.size_order,
        "options": board.options,
    }
    if "connect" in board.options:  # as a number where it was before there were other options
        found["connect"] = int(board.options["connect"])
    return found


def position_text(position: Position) -> str | None:
    """Text that leads to a position, or None if none does."""
    try:
        return position.text
    except IllegalPositionError:
        return None


def position_json(position: Position) -> Json:
    """A position without its value.

    >>> from retro.games.catalogue import make_board
    >>> found = position_json(make_board("mnk", "3x3").position("b2 a1"))
    >>> found["position"], found["ply"], found["side_to_move"], found["over"]
    ('b2 a1', 2, 'first', False)
    """
    return {
        **board_json(position.board),
        "position": position_text(position),
        "ply": position.ply,
        "side_to_move": position.side_to_move,
        "over": position.is_over(),
    }


def probe_json(probe: Probe) -> Json:
    """A position, its value and that of every move."""
    return {
        **position_json(probe.position),
        **_value(probe.value, probe.plies, probe.source),
        "best": [move.move for move in probe.best],
        "moves": [_move(probe.position, move) for move in probe.moves],
    }


def _value(value: int, plies: int | None, source: str) -> Json:
    return {"value": VALUE_NAMES[value], "plies": plies, "source": source}


def _move(position: Position, move: RatedMove) -> Json:
    return {
        "move": move.move,
        "value": VALUE_NAMES[move.value],
        "plies": move.plies,
        "after": position_text(position._play(move.number)),
    }


def line_json(line: Line) -> Json:
    """A position, its value and best play to the end."""
    return {
        **position_json(line.position),
        **_value(line.value, line.plies, line.source),
        "line": [move.move for move in line.moves],
    }


def analysis_json(probe: Probe, line: Line) -> Json:
    """Every move with its distance, and best play."""
    return {**probe_json(probe), "line": [move.move for move in line.moves]}


def solution_json(position: Position, solution: Solution) -> Json:
    """A position, its value, and what it cost to know it."""
    return {**position_json(position), **_cost(solution)}


def _cost(solution: Solution) -> Json:
    found = _value(solution.value, solution.plies, solution.source)
    return {**found, "nodes": solution.nodes}


def class_json(board: Board, letter: str, starts: Mapping[str, Solution]) -> Json:
    """The class of a board on which either side may start."""
    classes = board.game.classes
    return {
        **board_json(board),
        "class": letter,
        "meaning": classes.meanings[letter] if classes else "",
        "starts": {name: _cost(solution) for name, solution in starts.items()},
    }


def stats_json(table: Described) -> Json:
    """What a table holds: its counts, ply by ply, if it has been counted, and its file."""
    counted = table.counts if table.is_counted else []
    return {**table_json(table), "plies": [_counts_json(counts) for counts in counted]}


def table_json(table: Described) -> Json:
    """What a table is of, and its file."""
    counts = table.counts
    classes = [of_ply.classes for of_ply in counts if of_ply.classes is not None]
    return {
        **board_json(table.board),
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


def _counts_json(counts: Counts) -> Json:
    names = ("ply", "positions", "win", "draw", "loss", "terminal", "classes")
    more = ("longest_win", "longest_loss")
    found: Json = {name: getattr(counts, name) for name in (*names, *more)}
    for name in DISTANCE_NAMES:
        counted = getattr(counts, name)
        numbers = enumerate(counted or ())
        found[name] = None if counted is None else {str(d): n for d, n in numbers if n}
    return found


def list_json(folder: Path, tables: Sequence[Json], errors: Sequence[Json]) -> Json:
    """The tables of a folder, and what is wrong with files that are none."""
    return {"folder": str(folder), "tables": tables, "errors": errors}


def plan_json(plan: Plan, path: Path, obstacle: str | None) -> Json:
    """What a build will take, and why it would be refused, if it would."""
    names = (
        "positions", "error", "exact_plies", "seconds", "memory", "least_memory", "disk",
        "disk_while_building",
    )  # fmt: skip
    return {
        **board_json(plan.root.board),
        "root": plan.root.root_text,
        "file": str(path),
        "fits": obstacle is None,
        "obstacle": obstacle,
        **{name: getattr(plan, name) for name in names},
        "labour": None if plan.labour is None else plan.labour._asdict(),
        "plies": [{"ply": ply, **of_ply._asdict()} for ply, of_ply in plan.plies.items()],
    }


def verified_json(table: Described, verified: Verified) -> Json:
    """What was checked of a sound table."""
    names = ("level", "plies", "counted", "positions", "searched", "solver", "seconds")
    found = {name: getattr(verified, name) for name in names}
    return {**board_json(table.board), "file": str(table.path), "sound": True, **found}


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
    return {**board_json(root.board), "root": root.root_text, "strategies": strategies}


def contest_json(
    board: Board,
    seed: int,
    players: Sequence[Json],
    points: list[list[float]],
    games: Sequence[Json],
) -> Json:
    """A match or a tournament: a row for each player, who scored what against whom, the games."""
    content = {"seed": seed, "players": players, "points": points, "games": games}
    return {**board_json(board), **content}


def error_json(error: TablebaseError, text: str = "") -> Json:
    """An error: what was found and wanted, its name, and the exit code of its cause."""
    kind = type(error).__name__
    return {"error": text or str(error), "kind": kind, "exit_code": error.exit_code}
