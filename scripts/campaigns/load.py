"""Eight threads and four processes ask a table while it is replaced under them.

A table is replaced by rename, as a build does it: whoever has it open goes on with the old one,
whoever opens it finds the old or the new one, whole. Every answer must be the right one.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import tablebase as tb
from campaigns.common import Campaign, Case, scratch

if TYPE_CHECKING:
    from collections.abc import Iterator

THREADS, PROCESSES = 8, 4
SECONDS = 10.0  # a case
BOARDS = ("4x4", "mnk 4x3")
ASKER = """
import sys
sys.path.insert(0, {scripts!r})
from campaigns.load import ask
print(ask({path!r}, {board!r}, {seconds}, {seed}))
"""


def cases(campaign: Campaign) -> Iterator[Case]:
    with scratch() as folder:
        for number in range(10**9):
            board = BOARDS[number % len(BOARDS)]
            attempt = partial(_attempt, campaign, folder / "asked.h5", board, number)
            yield Case(f"round {number}: {board}", attempt)


def ask(text: str, board: str, seconds: float, seed: int) -> str:
    """Ask a table for some seconds: how many answers, or what was wrong."""
    from retro.search import Solver

    rng = np.random.default_rng(seed)
    made, end, asked = tb.board(board), time.monotonic() + seconds, 0
    solver = Solver(made, memory="4M")
    known: dict[str, int] = {}
    while time.monotonic() < end:
        with tb.open_tablebase(Path(text)) as table:
            for _ in range(20):
                position = made.start()
                while not position.is_over() and rng.random() < 0.9:
                    position = position._play(int(rng.choice(position._numbers())))
                if position.is_over():
                    continue
                key = str(position._state)
                if key not in known:
                    known[key] = solver.solve(position).value
                many = table.probe_many(made.states([position] * 3))
                if {table.probe_wdl(position), *many.tolist()} != {known[key]}:
                    return f"a wrong value of {position.text}"
                asked += 1
    return f"{asked} answers"


def _attempt(campaign: Campaign, path: Path, board: str, seed: int) -> str | None:
    tb.build(board, path, force=True)
    spare = path.with_name("spare.h5")
    found: list[str] = []

    def one(number: int) -> None:
        try:
            found.append(ask(str(path), board, SECONDS, number))
        except BaseException as error:
            found.append(f"{type(error).__name__}: {error}")

    threads = [threading.Thread(target=one, args=(seed * 100 + n,)) for n in range(THREADS)]
    scripts = str(Path(__file__).parents[1])
    codes = [
        ASKER.format(scripts=scripts, path=str(path), board=board, seconds=SECONDS, seed=n)
        for n in range(PROCESSES)
    ]
    processes = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        for code in codes
    ]
    for thread in threads:
        thread.start()
    replaced = 0
    while any(thread.is_alive() for thread in threads):
        shutil.copy(path, spare)
        spare.replace(path)
        replaced += 1
        time.sleep(0.01)
    found += [process.communicate()[0].strip() for process in processes]
    campaign.note("replaced", replaced)
    wrong = [text for text in found if not text.endswith(" answers")]
    answers = sum(int(text.split()[0]) for text in found if text.endswith(" answers"))
    campaign.note("answers", answers)
    return "; ".join(wrong)[:500] if wrong or len(found) != THREADS + PROCESSES else None
