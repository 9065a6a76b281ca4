"""Which path asks what. Everything under /api/v1 is JSON, but for pictures and event streams.

GET  /api/v1/games          the games, their options and players       no question
GET  /api/v1/tables         the tables that are there, ply by ply
GET  /api/v1/position       value of a position and of every move
GET  /api/v1/position/events    the same, values first, then distances
GET  /api/v1/line           best play
GET  /api/v1/stats          one table
GET  /api/v1/move           a computer's move
GET  /api/v1/random         a position of a table by lot
GET  /api/v1/board.svg      a picture
GET  /api/v1/scene          a position with its picture, for the page
GET  /api/v1/palette        what the editor offers
GET  /api/v1/plan           what a build would take
GET  /api/v1/builds         builds and how far they are
GET  /solve?pos=4453        scores of 7x6, as a well-known page answers
POST /api/v1/positions      up to 10,000 values
POST /api/v1/save, load     a game to a file and back
POST /api/v1/build, pause   with the token
"""

from __future__ import annotations

import asyncio
import logging
import mimetypes
import sys
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from retro.errors import BadTextError, TablebaseError
from retro.games.catalogue import NAMES, find_game
from retro.version import VERSION
from tablebase.web import games, questions, scenes, seats
from tablebase.web.asks import MOST_AT_ONCE, Asks
from tablebase.web.guard import (
    SAFE_HEADERS,
    body_json,
    error_response,
    json_response,
    refusal,
)
from tablebase.web.http import HttpError, Response
from tablebase.web.searches import client_of
from tablebase.web.stream import position_events

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tablebase.answers import Json
    from tablebase.oracles import Oracle
    from tablebase.web.guard import Guard
    from tablebase.web.http import Request
    from tablebase.web.searches import Errand, Searches
    from tablebase.web.shelf import Shelf
    from tablebase.web.works import Works

    Answerer = Callable[[Request], Awaitable[Response]]

LOG = logging.getLogger(__name__)
API, SCORES = "/api/v1/", "/solve"
PAGES = {"/": "index.html", "/tables": "tables.html"}
KINDS = {".js": "text/javascript", ".svg": "image/svg+xml", ".webmanifest": "application/json"}


@cache
def _page_files() -> dict[str, tuple[bytes, str, str]]:
    """{name: (content, kind, tag)} of the page: read once, so that no path leads to the disk."""
    found = {}
    for file in files("tablebase.web").joinpath("page").iterdir():
        if file.is_file():
            content, suffix = file.read_bytes(), "." + file.name.rpartition(".")[2]
            kind = KINDS.get(suffix) or mimetypes.types_map.get(suffix, "application/octet-stream")
            text = "" if kind.startswith("image/png") else "; charset=utf-8"
            found[file.name] = content, kind + text, f'"{sha256(content).hexdigest()[:16]}"'
    return found


@dataclass(frozen=True)
class Routes:
    """Takes every request to who answers it."""

    guard: Guard
    shelf: Shelf
    searches: Searches
    works: Works | None  # None: this worker builds nothing

    @cached_property
    def _gets(self) -> dict[str, Answerer]:
        asks = Asks(self.shelf, self.searches)
        return {
            "games": self._games,
            "tables": self._tables,
            "position": asks.position,
            "position/events": self._events,
            "line": asks.line,
            "stats": asks.stats,
            "move": self._move,
            "random": asks.random,
            "board.svg": asks.picture,
            "scene": self._scene,
            "palette": self._palette,
            "plan": self._plan,
            "builds": self._builds,
            SCORES: asks.scores,
        }

    @cached_property
    def _posts(self) -> dict[str, Answerer]:
        asks = Asks(self.shelf, self.searches)
        return {
            "positions": asks.many,
            "save": self._save,
            "load": self._load,
            "build": self._build,
            "pause": self._pause,
        }

    async def handle(self, request: Request) -> Response:
        """The answer to any request, and which pages elsewhere may read it."""
        response = await self._answer(request)
        origin = request.headers.get("origin", "")
        if request.method == "POST" or not self.guard.may_read(origin):
            return response
        headers = (("Access-Control-Allow-Origin", origin), ("Vary", "Origin"))
        return response._replace(headers=(*response.headers, *headers))

    async def _answer(self, request: Request) -> Response:
        """The answer to any request; errors are answers, too."""
        try:
            self.guard.admit(request)
            if not request.path.startswith((API, SCORES)):
                return self._page(request)
            name = request.path.removeprefix(API)
            mine, other = self._gets, self._posts
            if request.method == "POST":
                mine, other = other, mine
            if name not in mine:
                if name in other:
                    raise HttpError(405, f"{request.path} wants the other of GET and POST")
                raise HttpError(404, f"found no {request.path[:80]!r}")
            return await mine[name](request)
        except HttpError as error:
            return refusal(error.status, error.text)
        except TablebaseError as error:
            return error_response(error)
        except RecursionError:
            return error_response(BadTextError("found too deep a question"))
        except Exception:  # a mistake of ours: told to both sides, and the service goes on
            LOG.exception("%s %s", request.method, request.path)
            return refusal(500, "the service made a mistake; its log says which")

    def _page(self, request: Request) -> Response:
        if request.method == "POST":
            raise HttpError(405, "pages are only read")
        name = PAGES.get(request.path, request.path.removeprefix("/"))
        found = _page_files().get(name)
        if found is None:
            raise HttpError(404, f"found no page {request.path[:80]!r}")
        content, kind, tag = found
        headers = (("ETag", tag), ("Cache-Control", "no-cache"), *SAFE_HEADERS)
        if request.headers.get("if-none-match") == tag:
            return Response(304, b"", headers=headers)
        return Response(200, content, kind, headers)

    async def _games(self, request: Request) -> Response:
        found = [_game_json(name) for name in NAMES]
        limits = {
            "cells": questions.MOST_CELLS,
            "positions": MOST_AT_ONCE,
            "search_seconds": self.searches.limits.seconds,
        }
        builds = self.works is not None
        return json_response(
            {"version": VERSION, "games": found, "limits": limits, "builds": builds}
        )

    async def _tables(self, request: Request) -> Response:
        return json_response(await asyncio.to_thread(self.shelf.listing))

    async def _events(self, request: Request) -> Response:
        questions.require_known(request.query, *questions.POSITION_NAMES)
        position = questions.read_question(request.query).position
        events = position_events(position, request, self.shelf, self.searches)
        headers = (("Cache-Control", "no-store"), *SAFE_HEADERS)
        return Response(200, events, "text/event-stream; charset=utf-8", headers)

    async def _scene(self, request: Request) -> Response:
        questions.require_known(request.query, *questions.POSITION_NAMES, "flip")
        question = questions.read_question(request.query)
        flip = questions.read_flag(request.query, "flip")
        found = await asyncio.to_thread(scenes.scene_json, question, flip)
        return json_response(found)

    async def _palette(self, request: Request) -> Response:
        questions.require_known(request.query)
        board = questions.read_board(request.query)
        players = await asyncio.to_thread(seats.seats_of, board)
        content = {**scenes.palette_json(board), "seats": players}
        return json_response(content)

    async def _move(self, request: Request) -> Response:
        questions.require_known(request.query, *questions.POSITION_NAMES, "player", "seed")
        name = seats.require_seat(request.query.get("player", seats.PERFECT))
        position = questions.read_question(request.query).position
        seed = questions.read_number(request.query, "seed", 0, 10**9)

        def ask(oracle: Oracle, errand: Errand) -> seats.Thought:
            return seats.think(name, position, seed, oracle, errand)

        solves = name == seats.PERFECT
        thought = await self.searches.run(request, position.board, ask, solves=solves)
        return json_response(seats.thought_json(name, position, thought))

    async def _save(self, request: Request) -> Response:
        text = games.save(body_json(request))
        headers = (("Cache-Control", "no-store"), *SAFE_HEADERS)
        return Response(200, text.encode(), "text/plain; charset=utf-8", headers)

    async def _load(self, request: Request) -> Response:
        return json_response(games.load(body_json(request)))

    # Builds.

    def _works(self) -> Works:
        if self.works is None:
            raise HttpError(409, "several workers share this service: none of them builds")
        return self.works

    async def _plan(self, request: Request) -> Response:
        questions.require_known(request.query)
        works, board = self._works(), questions.read_board(request.query)
        async with self.searches.turn(client_of(request)):
            return json_response(await works.plan(board))

    async def _builds(self, request: Request) -> Response:
        return json_response(self._works().list())

    async def _build(self, request: Request) -> Response:
        self.guard.require_token(request)
        content = body_json(request)
        questions.require_known(content)
        return json_response(await self._works().begin(questions.read_board(content)), 202)

    async def _pause(self, request: Request) -> Response:
        self.guard.require_token(request)
        content = body_json(request)
        questions.require_known(content)
        return json_response(await self._works().pause(questions.read_board(content)))


def _game_json(name: str) -> Json:
    game = find_game(name)
    options = [
        {
            "name": o.name,
            "metavar": o.metavar,
            "help": o.help,
            "default": o.default,
            "choices": list(o.choices),
        }
        for o in game.options
    ]
    return {
        "name": name,
        "title": _title(name),
        "about": game.about,
        "options": options,
        "players": list(game.players),
        "usual": game.usual,
        "size_order": game.size_order,
    }


def _title(name: str) -> str:
    """What a game is called: the first words of its module."""
    words = sys.modules[f"retro.games.{name.replace('-', '_')}"].__doc__ or name
    return words.partition(":")[0].removesuffix(" on any board")
