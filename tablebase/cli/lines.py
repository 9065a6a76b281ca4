"""`tablebase solve --lines` and `analyse --lines`: one position a line, one answer a line.

    4453                  moves, as the game writes them; `-` is the empty board
    2252576253462244 -1   moves and a score, as test sets of Connect Four have them
    # a comment           and empty lines are left out

Answers come in the order of the lines, as they are known. Tables answer a few thousand lines at
once; what they do not have is searched, by as many processes as `--jobs` says.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from retro.answers import Solution
from retro.errors import BadTextError, TablebaseError
from retro.games.game import MOST_STATE_CELLS
from retro.games.values import VALUE_NAMES
from tablebase.cli.guard import say
from tablebase.cli.input import open_lines
from tablebase.cli.options import at_most
from tablebase.oracles import oracle

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from retro.games.game import Board, Position
    from tablebase.cli.grammar import Asked
    from tablebase.oracles import Oracle

FORMATS = ("text", "tsv", "jsonl")
AT_ONCE = 4_096  # lines of one process, which tables answer together
MOST_JOBS = 64
JOB_LINES = 16  # of one task, where several processes search
_SCORED = re.compile(r"(\S+)\s+[+-]?[0-9]{1,2}", re.ASCII)


@dataclass(frozen=True)
class Task:
    """What is asked about each line."""

    board: Board
    is_analysis: bool
    strong: bool
    folder: Path | None
    memory: int
    time_limit: float | None
    threads: int | None


class Row(NamedTuple):
    """The answer to a line, or what is wrong with it."""

    line: int
    text: str
    solution: Solution | None
    moves: tuple[tuple[str, int, int | None], ...] = ()
    error: TablebaseError | None = None


def add_lines(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("many positions")
    group.add_argument(
        "--lines",
        nargs="?",
        const="-",
        metavar="FILE",
        help="answer one position a line, of a file or of standard input",
    )
    group.add_argument("--format", choices=FORMATS, default="text", help="default: text")
    group.add_argument(
        "--jobs", type=at_most(MOST_JOBS), default=1, metavar="N", help="processes that search"
    )
    group.add_argument(
        "--keep-going", action="store_true", help="go on after a line that cannot be answered"
    )


def lines_command(asked: Asked, *, is_analysis: bool) -> int:
    """Answer line after line; the status is that of the first line that was wrong."""
    options = asked.options
    if asked.position is not None or options.grid is not None:
        raise BadTextError("--lines reads positions from lines: leave out the other position")
    task = Task(
        asked.board(), is_analysis, is_analysis or options.strong, options.dir, options.memory,
        options.time_limit, options.threads or (1 if options.jobs > 1 else None),
    )  # fmt: skip
    status = 0
    with open_lines(options.lines) as lines:
        if options.format == "tsv":
            print("\t".join(("position", "value", "plies", *["moves"] * is_analysis)))
        for row in _answered(task, _numbered(lines), options.jobs):
            if row.error is not None:
                where = f"{options.lines if options.lines != '-' else 'standard input'}"
                if not options.keep_going:
                    raise type(row.error)(f"{where}, line {row.line}: {row.error}")
                say(f"{where}, line {row.line}: {row.error}")
                status = status or row.error.exit_code
            print(_shown(task, row, "jsonl" if options.json else options.format))
    sys.stdout.flush()
    return status


def _numbered(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """The lines that name a position, with their numbers."""
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if text and not text.startswith("#"):
            yield number, text


def _answered(task: Task, lines: Iterator[tuple[int, str]], jobs: int) -> Iterator[Row]:
    if jobs == 1:
        while some := list(islice(lines, AT_ONCE)):
            yield from answer(task, some)
        return
    from concurrent.futures import ProcessPoolExecutor  # not for every command: 15 ms
    from multiprocessing import get_context

    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        waiting = []
        while some := list(islice(lines, JOB_LINES)):
            waiting.append(pool.submit(answer, task, some))
            if len(waiting) > 2 * jobs:
                yield from waiting.pop(0).result()
        for future in waiting:
            yield from future.result()


@lru_cache(maxsize=1)
def _oracle_of(task: Task) -> Oracle:
    """The oracle of this process, kept from one task to the next."""
    return oracle(
        task.board,
        folder=task.folder,
        memory=task.memory,
        time_limit=task.time_limit,
        threads=task.threads,
    )


def answer(task: Task, lines: list[tuple[int, str]]) -> list[Row]:
    """The answers to some lines, in their order."""
    asked, rows, read = _oracle_of(task), {}, {}
    for number, text in lines:
        try:
            read[number] = task.board.position(moves_of(task.board, text))
        except TablebaseError as error:
            rows[number] = Row(number, text, None, error=error)
    known = None if task.is_analysis else _in_bulk(task, asked, list(read.values()))
    texts = dict(lines)
    for place, (number, position) in enumerate(read.items()):
        text = texts[number]
        try:
            if known is not None:
                rows[number] = Row(number, text, known[place])
            elif task.is_analysis and not position.is_over():
                found = asked.analyse(position)
                moves = tuple((one.move, int(one.value), one.plies) for one in found.moves)
                solution = Solution(found.value, found.plies, 0, found.source)
                rows[number] = Row(number, text, solution, moves)
            else:
                rows[number] = Row(number, text, asked.solve(position, task.strong))
        except TablebaseError as error:
            rows[number] = Row(number, text, None, error=error)
    return [rows[number] for number, _ in lines]


def moves_of(board: Board, text: str) -> str:
    """The position of a line, without the score that test sets put behind it.

    >>> from retro.games.catalogue import make_board
    >>> moves_of(make_board("7x6"), "4453 -2"), moves_of(make_board("mnk 3x3"), "b2 a1")
    ('4453', 'b2 a1')
    """
    scored = _SCORED.fullmatch(text) if board.game.columns else None
    return scored[1] if scored else text


def _in_bulk(task: Task, asked: Oracle, positions: list[Position]) -> list[Solution] | None:
    """The values of many positions by the tables; None if one of them must be searched."""
    if task.board.cells > MOST_STATE_CELLS or not positions:
        return None
    states = task.board.states(positions)
    for table in asked.tables:
        if task.strong and not table.has_distances:
            continue
        with contextlib.suppress(TablebaseError):
            if task.strong:
                found = table.probe_many(states, distances=True)
                pairs = zip(found.values.tolist(), found.plies.tolist(), strict=True)
                return [Solution(value, plies, 0, "table") for value, plies in pairs]
            return [Solution(v, None, 0, "table") for v in table.probe_many(states).tolist()]
    return None


def _shown(task: Task, row: Row, how: str) -> str:
    """A line of the answer."""
    solution = row.solution
    if how == "jsonl":
        content: dict[str, object] = {"line": row.line, "position": row.text}
        if row.error is not None:
            content |= {"error": str(row.error), "kind": type(row.error).__name__}
        elif solution is not None:
            content |= solution.to_dict()
            if task.is_analysis:
                content["moves"] = [
                    {"move": move, "value": VALUE_NAMES[value], "plies": plies}
                    for move, value, plies in row.moves
                ]
        return json.dumps(content)
    if solution is None:
        return f"{row.text}\terror\t" + "\t" * task.is_analysis if how == "tsv" else "error"
    name, plies = VALUE_NAMES[solution.value], "" if solution.plies is None else solution.plies
    moves = " ".join(f"{move}={VALUE_NAMES[value]}/{left}" for move, value, left in row.moves)
    if how == "tsv":
        return "\t".join((row.text, name, str(plies), *[moves] * task.is_analysis))
    return " ".join(str(part) for part in (name, plies, moves) if part != "")
