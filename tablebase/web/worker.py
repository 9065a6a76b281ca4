"""A plan or a build in a process of its own: an order on standard input, news on standard output.

    {"do": "build", "board": "mnk 4x4 connect=4", "folder": "tables", "memory": "1G"}
    -> {"plan": {...}}   {"progress": {...}} ...   {"built": {...}}   or   {"error": {...}}

A process, because a plan or a build cannot be called off from a thread, takes memory that should
be given back, and must not make readers wait. Whatever ends it, the same order goes on from there.
"""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from retro.errors import DoesNotFitError, TablebaseError
from retro.games.catalogue import find_game, make_board
from tablebase.answers import error_json, plan_json
from tablebase.building.build import build, plan
from tablebase.files.places import table_path

if TYPE_CHECKING:
    from retro.games.game import Board
    from tablebase.answers import Json
    from tablebase.building.plan import Progress

PLAN_CPU_SECONDS = 7  # 7x6 takes 1, 9x5 takes 5
PLAN_MEMORY = 2_000_000_000  # 9x5 takes 0.4 GB


def main() -> int:
    """Carry out the order."""
    order = json.loads(sys.stdin.readline())
    try:
        _carry_out(order)
    except TablebaseError as error:
        _tell("error", error_json(error))
        return error.exit_code
    except MemoryError:
        _tell("error", error_json(DoesNotFitError(f"{order['board']} takes too much memory")))
        return DoesNotFitError.exit_code
    except KeyboardInterrupt:
        return 130
    return 0


def _carry_out(order: Json) -> None:
    board, folder = make_board(order["board"]), Path(order["folder"])
    if order["do"] == "plan":
        _compile(board)
        _bound()
    planned = plan(board, memory=order["memory"])
    path = table_path(board.start(), folder)
    content = plan_json(planned, path, planned.obstacle(folder))
    _tell("plan", {**content, "file": path.name, "summary": planned.summary()})
    if order["do"] == "build":
        built = build(board, folder=folder, memory=order["memory"], threads=1, report=_report)
        _tell("built", {"file": built.path.name, "seconds": built.seconds})


def _compile(board: Board) -> None:
    """Plan a small board of the game: the first plan after an installation compiles kernels."""
    for size in ("3x3", "2x2"):
        with contextlib.suppress(TablebaseError):
            plan(find_game(board.game_name).make(size))
            return


def _bound() -> None:
    """From here on have the system end this process when it takes more than a plan may."""
    try:
        import resource
    except ImportError:  # Windows: who has started it waits for so long and no longer
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime) + PLAN_CPU_SECONDS
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (PLAN_MEMORY, PLAN_MEMORY))


def _report(progress: Progress) -> None:
    _tell("progress", progress._asdict())


def _tell(name: str, content: Json) -> None:
    sys.stdout.write(json.dumps({name: content}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
