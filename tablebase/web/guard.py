"""Who is let in: the right host, the right origin, the token for builds.

A page elsewhere must not use a reader's browser to ask her own explorer. `Host` is checked
against DNS that points elsewhere's name at this machine; requests that change something must
come from the page itself (`Origin`) as JSON, which a foreign form cannot send. Errors are JSON,
as the commands print them, with a status each.
"""

from __future__ import annotations

import hmac
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from retro.errors import (
    BadTextError,
    DoesNotFitError,
    GameOverError,
    IllegalPositionError,
    MissingTableError,
    TablebaseError,
    TimeLimitError,
    WrongBoardError,
)
from tablebase.answers import error_json
from tablebase.web.http import HttpError, Response

if TYPE_CHECKING:
    from tablebase.answers import Json
    from tablebase.web.http import Request

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
    "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
SAFE_HEADERS = (
    ("Content-Security-Policy", POLICY),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
)
_STATUSES: tuple[tuple[type[TablebaseError], int], ...] = (
    (TimeLimitError, 503),
    (DoesNotFitError, 422),
    (MissingTableError, 404),
    (BadTextError, 400),
    (IllegalPositionError, 400),
    (GameOverError, 400),
    (WrongBoardError, 400),
)


class BusyError(TablebaseError):
    """All searches are taken, or the client has one already."""

    exit_code = 13


def status_of(error: TablebaseError) -> int:
    """The status of a named error: 400 illegal, 404 missing, 422 too large, 503 too slow.

    >>> status_of(IllegalPositionError()), status_of(MissingTableError())
    (400, 404)
    """
    if isinstance(error, BusyError):
        return 503
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), 500)


def json_response(
    content: Json, status: int = 200, headers: tuple[tuple[str, str], ...] = ()
) -> Response:
    """JSON; kept nowhere unless `headers` say otherwise."""
    body = json.dumps(content, separators=(",", ":")).encode() + b"\n"
    if not any(name == "Cache-Control" for name, _ in headers):
        headers = (*headers, ("Cache-Control", "no-store"))
    return Response(status, body, headers=(*headers, *SAFE_HEADERS))


def error_response(error: TablebaseError) -> Response:
    """A named error with its status."""
    status = status_of(error)
    retry = (("Retry-After", "2"),) if status == 503 else ()
    return json_response(error_json(error), status, retry)


def refusal(status: int, text: str) -> Response:
    """A request that never became a question."""
    content = {"error": text, "kind": "HttpError", "exit_code": 2}
    return json_response(content, status)


@dataclass(frozen=True)
class Guard:
    """The names of this service, the token of its builds, and whose pages may read answers."""

    hosts: frozenset[str]
    token: str
    origins: frozenset[str] = frozenset()  # "*": any

    def admit(self, request: Request) -> None:
        """Raise `HttpError` for a request that is not for this service."""
        host = request.headers["host"].lower()
        name = re.sub(r":[0-9]{1,5}\Z", "", host)
        if name not in self.hosts:
            raise HttpError(421, f"found host {name[:80]!r}, wanted one of {_listed(self.hosts)}")
        if request.method in ("GET", "HEAD"):
            return
        if request.method != "POST":
            raise HttpError(405, f"found method {request.method}, wanted GET, HEAD or POST")
        origin = request.headers.get("origin")
        if origin is not None and origin.lower().partition("://")[2] != host:
            raise HttpError(403, "found a request from another page")
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise HttpError(415, "wanted Content-Type: application/json")

    def may_read(self, origin: str) -> bool:
        """Whether a page from elsewhere may read answers."""
        return bool(origin) and not self.origins.isdisjoint((origin, "*"))

    def require_token(self, request: Request) -> None:
        """Only who was given the token printed at the start may build."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        given = token.strip().encode("latin-1", "replace")
        if scheme.lower() != "bearer" or not hmac.compare_digest(given, self.token.encode()):
            raise HttpError(401, "wanted Authorization: Bearer TOKEN, as printed at the start")


def _listed(names: frozenset[str]) -> str:
    return ", ".join(sorted(names))


def body_json(request: Request) -> Json:
    """The object that a request carries."""
    try:
        content = json.loads(request.body)
    except (ValueError, RecursionError):
        raise BadTextError("the body is no JSON") from None
    if not isinstance(content, dict):
        raise BadTextError("wanted a JSON object")
    return content
