"""The questions of the service, each answered by tables where they reach, else by search.

Answers are those of `tablebase.answers`. What tables alone have answered never changes, so it
says so to caches (`ETag`, `Cache-Control`).
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import time
from typing import TYPE_CHECKING

import numpy as np

from retro.errors import BadTextError, GameOverError, MissingTableError
from retro.games.game import MOST_STATE_CELLS
from retro.games.picture import Layout, chip_text, draw
from retro.games.scene import scene_of
from retro.games.values import VALUE_NAMES
from tablebase.files.places import build_command
from tablebase.oracles import NOT_IN_TABLE
from tablebase.web.guard import SAFE_HEADERS, body_json, json_response
from tablebase.web.http import Response
from tablebase.web.questions import (
    LONGEST_TEXT,
    POSITION_NAMES,
    read_board,
    read_flag,
    read_number,
    read_question,
    require_known,
)
from tablebase.web.shelf import table_stats

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from retro.answers import Line, Probe, RatedMove
    from retro.deadline import Deadline
    from retro.games.game import Board, Position
    from tablebase.answers import Json
    from tablebase.oracles import Oracle
    from tablebase.tables import Table
    from tablebase.web.http import Request
    from tablebase.web.searches import Errand, Searches
    from tablebase.web.shelf import Shelf

MOST_AT_ONCE = 10_000
FULL_COLUMN = 100
PIECE, PIECE_SECONDS = 500, 0.005  # of a batch, between two looks at everybody else
KEPT = "public, max-age=86400"


def finished_json(position: Position, outcome: int) -> Json:
    """A finished game, as `solve` prints it: the rules say what it is worth."""
    return {
        **position.check().to_dict(),
        "value": VALUE_NAMES[outcome],
        "plies": 0,
        "source": "rules",
        "nodes": 0,
    }


def column_scores(position: Position, moves: Sequence[RatedMove]) -> list[int]:
    """A score for every column of 7x6: 22 less the stones that the winner will have put down.

    Below 0 if that is the opponent; 0 for a draw, 100 for a column that is full.

    >>> from retro.answers import RatedMove
    >>> from retro.games.catalogue import make_board
    >>> column_scores(make_board("7x6").position("112233"), [RatedMove("4", 3, 1, 1)])
    [100, 100, 100, 18, 100, 100, 100]
    """
    scores, most = [FULL_COLUMN] * 7, position.board.cells // 2 + 1
    for move in moves:
        assert move.plies is not None
        stones = (position.ply + move.plies + 1) // 2
        scores[move.number] = move.value * (most - stones)
    return scores


async def _read_texts(board: Board, texts: object, clock: Deadline) -> list[Position]:
    """The positions of a batch, read in pieces: others are served between two of them."""
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise BadTextError('wanted "positions", a list of texts')
    if len(texts) > MOST_AT_ONCE:
        raise BadTextError(f"found {len(texts):,} positions, wanted at most {MOST_AT_ONCE:,}")
    waiting = iter(texts)
    found: list[Position] = []

    def read_some() -> bool:
        """Read for a moment; whether some are left."""
        end = time.perf_counter() + PIECE_SECONDS
        for text in waiting:
            if len(text) > LONGEST_TEXT:
                raise BadTextError(
                    f"a position has {len(text):,} characters; it may have {LONGEST_TEXT:,}"
                )
            found.append(board.position(text))
            if time.perf_counter() > end:
                return True
        return False

    while await asyncio.to_thread(read_some):
        clock.check(f"{len(found):,} of {len(texts):,} positions read")
    return found


async def _by_table(table: Table, positions: list[Position], clock: Deadline) -> list[str]:
    """What a table says of a batch, asked in pieces: far apart in a large table they take long."""
    values: list[str] = []
    for begin in range(0, len(positions), PIECE):
        clock.check(f"{begin:,} of {len(positions):,} positions looked up")
        piece = positions[begin : begin + PIECE]
        found = await asyncio.to_thread(
            lambda some: table.probe_many(table.board.states(some)), piece
        )
        values += [VALUE_NAMES[value] for value in found.tolist()]
    return values


class Asks:
    """Answers requests; `shelf` has the tables, `searches` the solvers."""

    def __init__(self, shelf: Shelf, searches: Searches) -> None:
        self._shelf, self._searches = shelf, searches

    async def scores(self, request: Request) -> Response:
        """The scores of the columns, asked and answered as at connect4.gamesolver.org."""
        for name in request.query:
            if name != "pos":
                raise BadTextError(f"found field {name[:40]!r}, wanted pos")
        position = read_question({"position": request.query.get("pos", "")}).position
        moves: list[RatedMove] = []
        if not position.is_over():
            moves = (await self._rated(request, position, strong=True))[0].moves
        content = {"pos": request.query.get("pos", ""), "score": column_scores(position, moves)}
        return json_response(content)

    async def position(self, request: Request) -> Response:
        """A position, its value and that of every move; with `distances=on` also how far."""
        require_known(request.query, *POSITION_NAMES, "distances")
        position = read_question(request.query).position
        strong = read_flag(request.query, "distances")
        outcome = position.outcome()
        if outcome is not None:
            return self._kept(request, finished_json(position, outcome), [])
        probe, tables = await self._rated(request, position, strong=strong)
        content = probe.to_dict()
        return self._kept(request, content, tables) if tables else json_response(content)

    async def _rated(
        self, request: Request, position: Position, *, strong: bool
    ) -> tuple[Probe, list[Table]]:
        """The value of every move, and the tables if these alone have said so."""
        tables = self._shelf.tables(position.board)
        known = await self._shelf.probe(tables, position, distances=strong)
        if known is not None:
            return known, tables

        def ask(oracle: Oracle, errand: Errand) -> Probe:
            how: Callable[..., Probe] = oracle.analyse if strong else oracle.probe
            return how(position, clock=errand)

        return await self._searches.run(request, position.board, ask), []

    async def line(self, request: Request) -> Response:
        """Best play to the end of the game."""
        require_known(request.query, *POSITION_NAMES)
        position = read_question(request.query).position
        if position.is_over():
            raise GameOverError(position.check().over_message())

        def ask(oracle: Oracle, errand: Errand) -> Line:
            return oracle.best_line(position, clock=errand)

        line = await self._searches.run(request, position.board, ask)
        return json_response(line.to_dict())

    async def stats(self, request: Request) -> Response:
        """What a table holds, ply by ply."""
        require_known(request.query, *POSITION_NAMES)
        root = read_question(request.query).position
        table = self._table(root)
        return self._kept(request, table_stats(table), [table])

    async def random(self, request: Request) -> Response:
        """A position of a table by lot, with its values: of a ply, or of any; `seed` repeats it."""
        require_known(request.query, "ply", "seed")
        board = read_board(request.query)
        table = self._table(board.start())
        seed = request.query.get("seed", "")
        rng = np.random.default_rng(read_number(request.query, "seed", 0, 10**9) if seed else None)
        # Every move is rated: the plies whose successors are there, too.
        live = [c.ply for c in table.counts if c.positions > c.terminal or not table.is_counted]
        plies = [ply for ply in live if {ply, ply + 1} <= set(table.plies)]
        if not plies:
            raise MissingTableError(f"the table of {board.name} has no position with all its moves")
        ply = read_number(request.query, "ply", int(rng.choice(plies)), board.last_ply)
        if ply not in plies:
            raise MissingTableError(
                f"the table of {board.name} has no unfinished position of ply {ply} with its moves"
            )
        probe = await asyncio.to_thread(lambda: table.probe(table.random_position(rng, ply)))
        return json_response(probe.to_dict())

    async def picture(self, request: Request) -> Response:
        """The board as SVG; with `rated=on` the values of the moves, if a table has them."""
        require_known(request.query, *POSITION_NAMES, "rated", "flip")
        position = read_question(request.query).position
        chips: dict[str, str] = {}
        if read_flag(request.query, "rated") and not position.is_over():
            probe = await self._shelf.probe(self._shelf.tables(position.board), position)
            if probe is None:
                raise MissingTableError(f"no table of {position.board} covers this position")
            chips = {move.move: chip_text(move.value, move.plies) for move in probe.moves}
        layout = Layout(scene_of(position), read_flag(request.query, "flip"))
        svg = draw(layout, chips, f"{position.board}: {position._text_or_none() or 'set up'}")
        headers = (("Cache-Control", "public, max-age=3600"), *SAFE_HEADERS)
        return Response(200, svg.encode(), "image/svg+xml; charset=utf-8", headers)

    async def many(self, request: Request) -> Response:
        """The values of up to 10,000 positions of one board."""
        async with self._searches.batch() as errand:
            content = body_json(request)
            fields = {name: value for name, value in content.items() if name != "positions"}
            require_known(fields)
            board = read_board(fields)
            positions = await _read_texts(board, content.get("positions"), errand)
            values, source = await self._many(request, board, positions, errand)
        content = {"source": source, "count": len(values), "values": values}
        return json_response({**board.to_dict(), **content})

    async def _many(
        self, request: Request, board: Board, positions: list[Position], errand: Errand
    ) -> tuple[list[str], str]:
        """Values by the first table that has them all, else by search."""
        if board.cells <= MOST_STATE_CELLS:  # larger ones have neither states nor tables
            for table in self._shelf.tables(board):
                with contextlib.suppress(*NOT_IN_TABLE):
                    return await _by_table(table, positions, errand), "table"

        def ask(oracle: Oracle, errand: Errand) -> list[str]:
            found: list[str] = []
            for position in positions:
                errand.check(f"{len(found):,} of {len(positions):,} positions solved")
                found.append(VALUE_NAMES[oracle.value(position, clock=errand)])
            return found

        return await self._searches.run(request, board, ask), "search"

    def _table(self, root: Position) -> Table:
        """The table from a position; the longer one, if one of its first plies is shipped."""
        tables = [table for table in self._shelf.tables(root.board) if table.root == root]
        if not tables:
            raise MissingTableError(
                f"no table of {root.board} is here; build it with: {build_command(root)}"
            )
        return max(tables, key=lambda table: len(table.plies))

    def _kept(self, request: Request, content: Json, tables: Sequence[Table]) -> Response:
        """An answer that never changes."""
        seed = request.target + "".join(table.digest for table in tables)
        tag = f'"{hashlib.sha256(seed.encode()).hexdigest()[:24]}"'
        headers = (("ETag", tag), ("Cache-Control", KEPT))
        asked = request.headers.get("if-none-match", "")
        if asked == "*" or tag in [word.strip().removeprefix("W/") for word in asked.split(",")]:
            return Response(304, b"", headers=(*headers, *SAFE_HEADERS))
        return json_response(content, headers=headers)
