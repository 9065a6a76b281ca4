"""What `match` and `tournament` share: openings, kept games, and how results look.

A folder of kept games (`--save DIR`) is also what an interrupted contest goes on from:

    DIR/contest.json      board, players, seed, openings: what the games are games of
    DIR/0000.json ...     a record each; the number is that of the bout
"""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING

from retro.errors import BadTextError, MissingTableError, TablebaseError, WrongBoardError
from retro.play.contest import draw_openings, schedule
from retro.play.elo import elo
from retro.play.record_text import header, to_json
from tablebase import answers
from tablebase.cli.guard import say
from tablebase.cli.input import read_file
from tablebase.cli.options import MOST_GAMES
from tablebase.cli.saves import load_record, save_record
from tablebase.cli.show import print_columns
from tablebase.files.atomic import storage_errors, whole_file
from tablebase.units import counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from pathlib import Path

    from retro.games.game import Board, Position
    from retro.play.contest import Bout, Score, Tally, Value
    from retro.play.record import GameRecord
    from tablebase.answers import Json
    from tablebase.players import Players

OPENINGS = 50  # drawn, unless fewer games need fewer
ROLES = ("first", "second")
OUTCOMES = ("won", "drawn", "lost")


def add_contest_options(parser: argparse.ArgumentParser) -> None:
    """How many games, from which openings, kept where."""
    from pathlib import Path

    parser.add_argument(
        "--games",
        type=int,
        default=10,
        metavar="N",
        help="play N games between each two players (default: 10)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        metavar="S",
        help="set the seed of all random choices (default: 0)",
    )
    parser.add_argument(
        "--openings",
        metavar="PLIES|FILE",
        help="begin games after so many random plies, or after the lines of a file",
    )
    parser.add_argument("--save", type=Path, metavar="DIR", help="save the games in this folder")
    parser.add_argument(
        "--move-time",
        type=float,
        metavar="S",
        help="count a move that takes longer than S seconds as a loss",
    )


def asked_bouts(options: argparse.Namespace, board: Board, players: Sequence[str]) -> list[Bout]:
    """The games of a contest."""
    if options.games < 1:
        raise BadTextError(f"found {options.games} games, wanted at least 1")
    if options.games > MOST_GAMES:
        raise BadTextError(f"found {options.games} games, wanted at most {MOST_GAMES:,}")
    if len(set(players)) < len(players):
        raise BadTextError("found a player twice, wanted different ones")
    openings = _asked_openings(options, board)
    return schedule(board, players, options.games, seed=options.seed, openings=openings)


def _asked_openings(options: argparse.Namespace, board: Board) -> list[tuple[str, ...]]:
    text = options.openings
    if text is None:
        return [()]
    if text.isascii() and text.isdigit():
        wanted = min(OPENINGS, (options.games + 1) // 2)
        return draw_openings(board, int(text[:4]), wanted, options.seed)
    found = []
    for number, line in enumerate(read_file(text).text.splitlines(), start=1):
        moves = line.partition("#")[0].strip()
        if moves:
            found.append(_read_opening(board, moves, f"{text}, line {number}"))
    if not found:
        raise BadTextError(f"{text} has no openings, wanted a line of moves for each")
    return found


def _read_opening(board: Board, moves: str, where: str) -> tuple[str, ...]:
    try:
        position = board.position(moves)
    except TablebaseError as error:
        raise type(error)(f"{where}: {error}") from None
    if position.history is None or position.is_over():
        raise BadTextError(f"{where}: found {moves!r:.60}, wanted moves of a game that goes on")
    words, at = [], board.start()
    for move in position.history:
        words.append(at._text_of(move))
        at = at._play(move)
    return tuple(words)


class Shelf:
    """The folder of kept games; without a folder nothing is kept."""

    def __init__(self, folder: Path | None, board: Board, bouts: Sequence[Bout], seed: int) -> None:
        self._folder = folder
        if folder is None:
            return
        contest = {
            "board": header(board),
            "seed": seed,
            "bouts": [[b.first, b.second, " ".join(b.opening)] for b in bouts],
        }
        path = folder / "contest.json"
        folder.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            with storage_errors(path), whole_file(path, synced=False) as aside:
                aside.write_text(json.dumps(contest), encoding="utf-8")
        elif _read_json(path) != contest:
            raise WrongBoardError(f"{folder} holds the games of another contest")

    def kept(self, bouts: Sequence[Bout]) -> dict[int, GameRecord]:
        """The games that were played before."""
        found = {}
        for bout in bouts:
            path = self._path(bout)
            if path is not None and path.exists():
                found[bout.number] = load_record(str(path), bout.board)
        return found

    def keep(self, bout: Bout, record: GameRecord) -> None:
        path = self._path(bout)
        if path is not None:
            save_record(record, str(path))

    def _path(self, bout: Bout) -> Path | None:
        return None if self._folder is None else self._folder / f"{bout.number:04}.json"


def _read_json(path: Path) -> object:
    try:
        found: object = json.loads(read_file(path).text)
    except ValueError:
        return None
    return found


def table_value(players: Players) -> Value | None:
    """What the tables at hand say of positions; None if there are none."""
    tables = players.oracle.tables
    if not tables:
        return None

    def value(position: Position) -> int | None:
        for table in tables:
            with contextlib.suppress(MissingTableError):
                return table.probe_wdl(position)
        return None

    return value


def story(bout: Bout, record: GameRecord) -> str:
    """A game in one line."""
    result = record.result
    assert result is not None, "the referee ends every game"
    verb = {"first": "beats", "second": "loses to", None: "draws with"}[result.winner]
    plies = counted(len(record.entries), "ply", "plies")
    why = "" if result.reason in ("win", "draw") else f" ({result.reason}: {result.words})"
    return f"{bout.first} (first) {verb} {bout.second} in {plies}{why}"


def contest_json(board: Board, seed: int, tally: Tally, games: Sequence[GameRecord]) -> Json:
    """Everything that came out of a contest."""
    rows = []
    for name, rating in zip(tally.players, elo(tally.points), strict=True):
        score = tally.scores[name]
        by_role = {
            role: {"games": sum(score.games[f"{role} {o}"] for o in OUTCOMES)}
            | {outcome: score.games[f"{role} {outcome}"] for outcome in OUTCOMES}
            for role in ROLES
        }
        row: Json = {"player": name, **by_role, "points": score.points}
        row |= {"elo": round(rating.elo, 1), "elo_error": round(rating.error, 1)}
        row |= {"moves": score.moves, "seconds": round(score.seconds, 3), "nodes": score.nodes}
        row |= {"longest": round(score.longest, 3), "lost_by": dict(score.reasons)}
        judged = dict(sorted(score.mistakes.items())) if score.judged else None
        rows.append({**row, "mistakes": judged})
    content = [_game_json(record) for record in games]
    return answers.contest_json(board, seed, rows, tally.points.tolist(), content)


def _game_json(record: GameRecord) -> Json:
    content = to_json(record)
    winner = content["result"]["winner"] if content["result"] else None
    return {**content, "winner": winner, "plies": len(record.entries)}


def print_costs(tally: Tally) -> None:
    """Moves, nodes, speed and time of each player, and mistakes where a table could judge."""
    is_judged = any(score.judged for score in tally.scores.values())
    names = ("player", "moves", "nodes a move", "nodes a second", "s a move", "longest")
    rows: list[tuple[str, ...]] = [(*names, "mistakes") if is_judged else names]
    for name, score in tally.scores.items():
        moves = max(score.moves, 1)
        per_move = f"{score.nodes / moves:,.0f}" if score.nodes else "-"
        speed = f"{score.nodes / score.counted_seconds:,.0f}" if score.counted_seconds else "-"
        times = (f"{score.seconds / moves:.3f}", f"{score.longest:.3f}")
        row = (name, f"{score.moves:,}", per_move, speed if score.nodes else "-", *times)
        rows.append((*row, _mistakes(score)) if is_judged else row)
    print_columns(rows)


def _mistakes(score: Score) -> str:
    """How many, and at which plies."""
    plies = [f"{ply}: {n}" for ply, n in sorted(score.mistakes.items())]
    return f"{score.mistakes.total()}" + (f" (ply {', '.join(plies)})" if plies else "")


def print_faults(tally: Tally) -> None:
    """Games that were lost by something else than play."""
    for name, score in tally.scores.items():
        for reason, number in sorted(score.reasons.items()):
            if reason != "win":
                print(f"{name} lost {counted(number, 'game', 'games')} by {reason}")


def say_progress(done: int, total: int, bout: Bout, record: GameRecord) -> None:
    say(f"game {done} of {total}: {story(bout, record)}")
