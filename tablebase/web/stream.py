"""A position as server-sent events: values first, distances as they become known.

    event: move       {"move", "value", "plies"}      a move's value; again, with its distance
    event: progress   {"nodes", "seconds"}            while a search runs, about twice a second
    event: values     the position with all values    as `probe` prints it
    event: answer     with all distances, too
    event: error      as every error; what was told before stays true
    event: end        {}

The search ends when the client closes the stream.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import TYPE_CHECKING

from retro.answers import Probe, RatedMove, order_moves
from retro.errors import TablebaseError, TimeLimitError
from retro.games.values import VALUE_NAMES
from tablebase.answers import error_json
from tablebase.web.asks import finished_json

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from retro.answers import Source
    from retro.games.game import Position
    from tablebase.answers import Json
    from tablebase.oracles import Oracle
    from tablebase.web.http import Request
    from tablebase.web.searches import Errand, Searches
    from tablebase.web.shelf import Shelf

    Tell = Callable[[str, Json], None]

PROGRESS_SECONDS = 0.4
ROUNDS = (0.3, 3.0)  # seconds for a move before the next has its turn; then to the end


def _event(name: str, content: Json) -> bytes:
    return f"event: {name}\ndata: {json.dumps(content, separators=(',', ':'))}\n\n".encode()


async def position_events(
    position: Position, request: Request, shelf: Shelf, searches: Searches
) -> AsyncIterator[bytes]:
    """The events of a position."""
    outcome = position.outcome()
    if outcome is not None:
        yield _event("answer", finished_json(position, outcome))
        yield _event("end", {})
        return
    loop = asyncio.get_running_loop()
    told: asyncio.Queue[tuple[str, Json] | None] = asyncio.Queue()

    def tell(name: str, content: Json) -> None:
        loop.call_soon_threadsafe(told.put_nowait, (name, content))

    async def work() -> None:
        try:
            known = await shelf.probe(shelf.tables(position.board), position)
            if known is not None:
                tell("values", known.to_dict())
                if all(move.plies is not None for move in known.moves):
                    tell("answer", known.to_dict())
                    return
            question = _Question(position, known, tell)
            await searches.run(request, position.board, question.ask)
        except TablebaseError as error:
            tell("error", error_json(error))
        finally:
            loop.call_soon(told.put_nowait, None)

    task = loop.create_task(work())
    try:
        while (event := await told.get()) is not None:
            yield _event(*event)
        yield _event("end", {})
    finally:
        task.cancel()  # for nothing, but where the client has left
        with contextlib.suppress(asyncio.CancelledError):
            await task


class _Question:
    """What is known of a position so far, and whom to tell."""

    def __init__(self, position: Position, known: Probe | None, tell: Tell) -> None:
        self._position, self._known, self._tell = position, known, tell
        self._next_progress = 0.0

    def ask(self, oracle: Oracle, errand: Errand) -> None:
        """Search; runs in a thread."""

        def report(nodes: int, seconds: float, _: str) -> None:
            errand.check(f"{nodes:,} nodes searched")
            if errand.spent >= self._next_progress:
                self._next_progress = errand.spent + PROGRESS_SECONDS
                self._tell("progress", {"nodes": nodes, "seconds": round(errand.spent, 1)})

        oracle.report = report
        probe = self._known or self._values(oracle, errand)
        self._distances(oracle, errand, probe)

    def _values(self, oracle: Oracle, errand: Errand) -> Probe:
        moves = self._rate_all(oracle, errand, strong=False)
        probe = Probe(self._position, moves[0].value, moves, "search")
        self._tell("values", probe.to_dict())
        return probe

    def _distances(self, oracle: Oracle, errand: Errand, probe: Probe) -> None:
        moves = self._rate_all(oracle, errand, strong=True)
        source: Source = "search" if self._known is None else "both"
        self._tell("answer", Probe(self._position, probe.value, moves, source).to_dict())

    def _rate_all(self, oracle: Oracle, errand: Errand, strong: bool) -> list[RatedMove]:
        """Every move, the easy ones first: those that end the game, as the rules know; then each
        gets a moment, and those that are left more."""
        rated: dict[int, RatedMove] = {}
        numbers = self._position._in_order()
        moves = sorted(numbers, key=lambda move: not self._position._play(move).is_over())
        for seconds in ROUNDS:
            for move in moves:
                errand.check()
                if move not in rated:
                    with contextlib.suppress(TimeLimitError):
                        rated[move] = self._rate(oracle, errand.within(seconds), move, strong)
        for move in moves:
            if move not in rated:
                rated[move] = self._rate(oracle, errand, move, strong)
        return order_moves(rated[move] for move in numbers)

    def _rate(self, oracle: Oracle, errand: Errand, move: int, strong: bool) -> RatedMove:
        rated = oracle.rate_move(self._position, move, strong, clock=errand)
        content = {"move": rated.move, "value": VALUE_NAMES[rated.value], "plies": rated.plies}
        self._tell("move", content)
        return rated
