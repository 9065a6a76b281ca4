"""HTTP/1.1 as far as the explorer needs it, on asyncio: strict, bounded, without surprises.

    client ---- bytes ----> Connection (asyncio.Protocol)
                              head   read_head: request line and headers, 16 kB, 10 s
                              body   Content-Length only, 2 MB, 10 s
                              handle(request) -> Response      whole, or a stream of chunks
                            <---- bytes, then the next request of the same connection

What is not understood is refused, never guessed: no chunked requests, no folded headers, one
Content-Length, one Host. When a client leaves, what is done for it is cancelled.

A client may say that it asks no more (it closes its half of the connection, as `nc -N` does)
and still read the answer. That looks as if it had left, until something is sent to it: so while
its answer takes long it is sent `100 Continue` now and then, which means nothing to a reader.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, cast
from urllib.parse import parse_qsl, unquote

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    Handler = Callable[["Request"], Awaitable["Response"]]

MAX_HEAD, MAX_BODY = 16_384, 2_000_000
HEAD_SECONDS, BODY_SECONDS, IDLE_SECONDS, WRITE_SECONDS = 10.0, 10.0, 75.0, 30.0
KNOCK_SECONDS = 0.3  # between two looks whether a client that asks no more is still there
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
MAX_FIELDS = 60  # of a query
REASONS = {
    200: "OK", 202: "Accepted", 204: "No Content", 304: "Not Modified", 400: "Bad Request",
    401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
    408: "Request Timeout", 409: "Conflict", 411: "Length Required", 413: "Content Too Large",
    415: "Unsupported Media Type", 421: "Misdirected Request", 422: "Unprocessable Content",
    431: "Request Header Fields Too Large", 500: "Internal Server Error",
    501: "Not Implemented", 503: "Service Unavailable", 505: "HTTP Version Not Supported",
}  # fmt: skip
_LINE = re.compile(r"([A-Z]{1,10}) (/[\x21-\x7e]{0,8000}) HTTP/(1\.[01])")
_FIELD = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}):[ \t]*([\x20-\x7e\x80-\xff\t]*?)[ \t]*")


class HttpError(Exception):
    """A request that is answered with a status and one line of text."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status, self.text = status, text


@dataclass
class Request:
    """What a client asks."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]  # names in small letters
    body: bytes = b""
    peer: str = ""
    target: str = ""  # path and query as they came
    is_old: bool = False  # HTTP/1.0

    @property
    def keeps_alive(self) -> bool:
        return "close" not in self.headers.get("connection", "").lower()


class Response(NamedTuple):
    """What it is told: a whole body, or chunks as they come."""

    status: int
    body: bytes | AsyncIterator[bytes]
    kind: str = "application/json; charset=utf-8"
    headers: tuple[tuple[str, str], ...] = ()


def read_head(data: bytes) -> Request:
    """The request of a head, without the empty line that ends it.

    >>> read_head(b"GET /a%20b?x=1&y= HTTP/1.1\\r\\nHost: localhost").query
    {'x': '1', 'y': ''}
    """
    first, *rest = data.decode("latin-1").split("\r\n")
    match = _LINE.fullmatch(first)
    if match is None:
        version = first.rpartition(" ")[2]
        if version.startswith("HTTP/") and not version.startswith("HTTP/1."):
            raise HttpError(505, "wanted HTTP/1.1")
        raise HttpError(400, "found no request line")
    headers: dict[str, str] = {}
    for line in rest:
        field_ = _FIELD.fullmatch(line)
        if field_ is None:
            raise HttpError(400, "found a header that is none")
        name = field_[1].lower()
        if name in headers and name in ("host", "content-length", "authorization", "content-type"):
            raise HttpError(400, f"found {name} twice")
        headers[name] = f"{headers[name]}, {field_[2]}" if name in headers else field_[2]
    if "host" not in headers:
        raise HttpError(400, "wanted a Host header")
    if match[3] == "1.0":
        headers.setdefault("connection", "close")
    path, _, query = match[2].partition("?")
    is_old = match[3] == "1.0"
    return Request(match[1], _text(path), _query(query), headers, target=match[2], is_old=is_old)


def _text(path: str) -> str:
    try:
        text = unquote(path, errors="strict")
    except UnicodeDecodeError:
        raise HttpError(400, "found a path that is no UTF-8") from None
    if any(not c.isprintable() for c in text):
        raise HttpError(400, "found a path with control characters")
    return text


def _query(text: str) -> dict[str, str]:
    try:
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MAX_FIELDS)
    except ValueError:
        raise HttpError(400, f"found no query, or one of over {MAX_FIELDS} fields") from None
    found = dict(pairs)
    if len(found) < len(pairs):
        raise HttpError(400, "found a field of the query twice")
    return found


def body_length(request: Request) -> int:
    """How long the body is; refuses what is not plainly said."""
    if "transfer-encoding" in request.headers:
        raise HttpError(501, "wanted a body with Content-Length, not in chunks")
    text = request.headers.get("content-length", "0")
    if not re.fullmatch(r"[0-9]{1,12}", text, re.ASCII):
        raise HttpError(400, "found no Content-Length")
    if int(text) > MAX_BODY:
        raise HttpError(413, f"found a body of {text} bytes, wanted at most {MAX_BODY:,}")
    return int(text)


@dataclass
class Site:
    """What the connections of a server share."""

    handle: Handler
    refuse: Callable[[int, str], Response]  # an error that this module found
    max_connections: int
    open: set[Connection] = field(default_factory=set)


class Connection(asyncio.Protocol):
    """One client: reads its requests one after the other, and answers them."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._buffer = bytearray()
        self._more = asyncio.Event()  # bytes have come, or there will be none
        self._has_ended = False  # the client asks no more
        self._asked: Request | None = None  # what is being answered; nothing is sent yet
        self._writable = asyncio.Event()
        self._writable.set()

    # What asyncio tells.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # other loops have their own
        peer = transport.get_extra_info("peername")
        self._peer = str(peer[0]) if peer else ""
        self._site.open.add(self)
        self._loop = asyncio.get_running_loop()
        self._task = self._loop.create_task(self._run())

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if len(self._buffer) > MAX_HEAD + MAX_BODY:
            self._transport.abort()  # it sends requests without reading answers
        self._more.set()

    def eof_received(self) -> bool:
        self._has_ended = True
        self._more.set()
        self._loop.call_later(KNOCK_SECONDS, self._knock)
        return True  # answers can still be sent

    def _knock(self) -> None:
        """Write to a client that asks no more: the connection is lost if it has left."""
        if self._transport.is_closing():
            return
        if self._asked is not None:
            if self._asked.is_old:  # it knows no answers before the answer
                self._transport.abort()
                return
            self._transport.write(CONTINUE)
        self._loop.call_later(KNOCK_SECONDS, self._knock)

    def connection_lost(self, exc: Exception | None) -> None:
        self._site.open.discard(self)
        self._task.cancel()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def close(self) -> None:
        """End it now, and what is done for it: the server stops."""
        self._task.cancel()
        self._transport.abort()

    # What is done with it.

    async def _run(self) -> None:
        try:
            if len(self._site.open) > self._site.max_connections:
                await self._send(None, self._site.refuse(503, "too many connections"))
                return
            while await self._one():
                await asyncio.sleep(0)  # others have their turn, however much is asked here
        except (ConnectionError, TimeoutError, asyncio.CancelledError):
            pass  # a task that kept the last would keep this connection and its request
        finally:
            self._transport.close()

    async def _one(self) -> bool:
        """Read a request and answer it; whether the connection goes on."""
        try:
            request = await self._read()
            if request is None:
                return False
            self._asked = request
            response = await self._site.handle(request)
        except HttpError as error:
            refusal = self._site.refuse(error.status, error.text)
            await self._send(self._asked, refusal, last=True)
            return False
        return await self._send(request, response)

    async def _read(self) -> Request | None:
        """The next request; None when the client asks no more or says nothing for long."""
        idle = HEAD_SECONDS if self._buffer else IDLE_SECONDS
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(idle):
                while not self._buffer and not self._has_ended:
                    await self._wait()
        if not self._buffer:
            return None
        try:
            async with asyncio.timeout(HEAD_SECONDS):
                head = await self._until_empty_line()
        except TimeoutError:
            raise HttpError(408, f"wanted the headers within {HEAD_SECONDS:g} s") from None
        if head is None:
            return None
        request = read_head(head)
        request.peer = self._peer
        length = body_length(request)
        if request.headers.get("expect", "").lower() == "100-continue":
            self._transport.write(CONTINUE)
        try:
            async with asyncio.timeout(BODY_SECONDS):
                while len(self._buffer) < length:
                    if self._has_ended:
                        return None
                    await self._wait()
        except TimeoutError:
            raise HttpError(408, f"wanted the body within {BODY_SECONDS:g} s") from None
        request.body = bytes(self._buffer[:length])
        del self._buffer[:length]
        return request

    async def _until_empty_line(self) -> bytes | None:
        while True:
            end = self._buffer.find(b"\r\n\r\n", 0, MAX_HEAD)
            if end >= 0:
                head = bytes(self._buffer[:end])
                del self._buffer[: end + 4]
                return head
            if len(self._buffer) >= MAX_HEAD:
                raise HttpError(431, f"wanted headers of at most {MAX_HEAD:,} bytes")
            if self._has_ended:
                return None
            await self._wait()

    async def _wait(self) -> None:
        self._more.clear()
        await self._more.wait()

    async def _send(self, request: Request | None, response: Response, last: bool = False) -> bool:
        """Write an answer; whether the connection can go on."""
        self._asked = None
        whole = response.body if isinstance(response.body, bytes) else None
        keeps = request is not None and request.keeps_alive and not last and whole is not None
        lines = [f"HTTP/1.1 {response.status} {REASONS[response.status]}"]
        if response.status != 304:
            lines.append(f"Content-Type: {response.kind}")
        lines += [f"{name}: {value}" for name, value in response.headers]
        if whole is not None and response.status != 304:
            lines.append(f"Content-Length: {len(whole)}")
        if not keeps:
            lines.append("Connection: close")
        head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
        is_head = request is not None and request.method == "HEAD"
        if whole is not None:
            await self._write(head if is_head or response.status == 304 else head + whole)
            return keeps
        await self._write(head)
        assert not isinstance(response.body, bytes)
        async with contextlib.aclosing(response.body) as chunks:  # type: ignore[type-var]
            if not is_head:
                async for chunk in chunks:
                    await self._write(chunk)
        return False

    async def _write(self, data: bytes) -> None:
        if self._transport.is_closing():  # and nothing has been waited for since
            raise ConnectionResetError
        self._transport.write(data)
        async with asyncio.timeout(WRITE_SECONDS):
            await self._writable.wait()
