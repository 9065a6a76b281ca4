"""Threads share a solver: each gets the answers that one thread gets of a solver of its own.

Searches are called off in between, by their time and by who looks on. Afterwards one thread
asks the same solver everything again: nothing wrong may be left in its memory.
"""

from __future__ import annotations

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache, partial
from typing import TYPE_CHECKING

from campaigns.common import Campaign, Case
from retro.deadline import Deadline
from retro.errors import TimeLimitError
from retro.games.catalogue import make_board
from retro.search import Solver

if TYPE_CHECKING:
    from collections.abc import Iterator

    from retro.games.game import Board, Position

    Known = dict[Position, tuple[int, int | None]]

# Boards, and how many plies are played at random: some hundredths of a second for each answer.
BOARDS = (
    ("7x6", 22),
    ("domineering 6x6", 4),
    ("mnk 4x4 connect=4", 6),
    ("notakto 4x4", 4),
    ("puissance-plus 3x3 target=5 values=121/232/121", 2),
    ("quarto", 10),
    ("mnk 13x5 connect=5", 61),
)
THREADS = (2, 4, 8)
POSITIONS = 30
SHARE_LEFT = 0.2  # of the questions are called off
SLICE_NODES = 2_000


class LeftError(Exception):
    """Who asked has gone."""


def cases(campaign: Campaign) -> Iterator[Case]:
    """Rounds over all boards, each with every number of threads."""
    for number in range(10**9):
        for name, plies in BOARDS:
            threads = THREADS[number % len(THREADS)]
            attempt = partial(_attempt, campaign, name, plies, threads, number)
            yield Case(f"round {number}: {name}, {threads} threads", attempt)


def _attempt(campaign: Campaign, name: str, plies: int, threads: int, number: int) -> str | None:
    known = truth(name, plies, campaign.seed)
    here = threading.local()

    def report(*_: object) -> None:
        if getattr(here, "leaves", False):
            raise LeftError

    shared = Solver(make_board(name), memory="17M", slice_nodes=SLICE_NODES, report=report)

    def ask(thread: int) -> list[str]:
        rng = random.Random(f"{campaign.seed} {number} {thread}")
        positions, wrong = rng.sample([*known], len(known)), []
        for position in positions:
            if rng.random() < SHARE_LEFT:
                with suppress(LeftError, TimeLimitError):
                    here.leaves = rng.random() < 0.5
                    shared.solve(rng.choice(positions), True, clock=Deadline(rng.random() / 100))
                here.leaves = False
            wrong += _compare(shared, position, known)
        return wrong

    with ThreadPoolExecutor(threads) as pool:
        wrong = [text for texts in pool.map(ask, range(threads)) for text in texts]
    campaign.note(f"answers, {name}", (threads + 1) * len(known))
    wrong += [f"later {text}" for position in known for text in _compare(shared, position, known)]
    return f"{len(wrong)} wrong: {'; '.join(wrong[:5])}" if wrong else None


def _compare(solver: Solver, position: Position, known: Known) -> list[str]:
    found = solver.solve(position, strong=True)
    is_right = (found.value, found.plies) == known[position]
    return [] if is_right else [f"{position.text}: {found}, not {known[position]}"]


@cache
def truth(name: str, plies: int, seed: int) -> Known:
    """Some positions of a board with their values and distances, as one thread finds them."""
    board = make_board(name)
    rng, alone = random.Random(seed), Solver(board, memory="17M")
    known: Known = {}
    while len(known) < POSITIONS:
        position = _played(board, plies, rng)
        if not position.is_over() and position not in known:
            found = alone.solve(position, strong=True)
            known[position] = found.value, found.plies
    return known


def _played(board: Board, plies: int, rng: random.Random) -> Position:
    position = board.start()
    while position.ply < plies and not position.is_over():
        position = position.play(rng.choice(position.moves))
    return position
