"""Serving: one process, or several that share a port, until Ctrl-C.

    tablebase serve                     one process: page, service, builds in the background
    tablebase serve --workers 4         four, each with its own searches; the kernel hands out
                                        connections, tables are shared by the page cache

Only this machine is listened to, unless another address is asked for. The first signal ends it
within two seconds, whatever its threads are doing: what they search for is called off, and what
cannot be called off (a kernel that is compiled, say) ends with the process.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import secrets
import signal
import socket
import sys
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from retro.errors import BadTextError, StorageError
from tablebase.web.guard import LOOPBACK, Guard, refusal
from tablebase.web.http import Connection, Site
from tablebase.web.routes import Routes
from tablebase.web.searches import Limits, Searches
from tablebase.web.shelf import Shelf
from tablebase.web.works import Works

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

BACKLOG = 512
SWITCH_SECONDS = 0.0005  # the loop has its turn so soon, whatever threads compute in Python
M_MMAP_THRESHOLD, M_ARENA_MAX = -3, -8  # of malloc.h
LARGE_BYTES, MOST_ARENAS = 1 << 17, 2
STOP_SECONDS = 1.0  # for an end in good order
LOOPBACK_ADDRESSES = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True)
class Service:
    """How to serve."""

    folder: Path | None = None
    host: str = "127.0.0.1"
    port: int = 8000
    names: tuple[str, ...] = ()  # more hosts by which clients may call it
    origins: tuple[str, ...] = ()  # of pages elsewhere that may read answers; "*": any
    workers: int = 1
    limits: Limits = field(default_factory=Limits)
    build_memory: str | int = "1G"
    max_connections: int = 1_000
    token: str = field(default_factory=lambda: secrets.token_urlsafe(18))

    @property
    def is_local(self) -> bool:
        return self.host in LOOPBACK_ADDRESSES


def listen(service: Service) -> socket.socket:
    """The socket of a service; port 0 takes any that is free."""
    family = socket.AF_INET6 if ":" in service.host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":  # on Windows it would let another program take the port over
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((service.host, service.port))
        found.listen(BACKLOG)
    except OSError as error:
        found.close()
        where = f"{service.host}:{service.port}"
        raise StorageError(f"cannot listen at {where}: {error.strerror}; try --port") from None
    found.setblocking(False)
    return found


def serve(service: Service, listener: socket.socket, ready: Callable[[], None]) -> None:
    """Serve until a signal says stop. `ready` is called once connections are taken."""
    if service.workers > 1 and not hasattr(os, "fork"):
        raise BadTextError(
            "--workers needs a system that can fork, Linux or macOS. Use one worker."
        )
    children = _fork(service.workers - 1)
    if children is None:  # a child
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(_serve(service, listener, lambda: None, []))
        os._exit(0)
    try:
        asyncio.run(_serve(service, listener, ready, children))
    except KeyboardInterrupt:
        pass
    finally:
        _stop(children)
        for child in children:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(child, 0)


def _fork(count: int) -> list[int] | None:
    """The ids of the workers; None in a worker. Before any thread is started."""
    children = []
    for _ in range(count):
        child = os.fork()
        if child == 0:
            return None
        children.append(child)
    return children


async def _serve(
    service: Service, listener: socket.socket, ready: Callable[[], None], children: list[int]
) -> None:
    loop = asyncio.get_running_loop()
    sys.setswitchinterval(SWITCH_SECONDS)
    _give_memory_back()
    stop = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError, ValueError, RuntimeError):
            loop.add_signal_handler(name, stop.set)
    async with running(service, listener):
        ready()
        await stop.wait()
        _stop(children)
        _end_soon()


def _give_memory_back() -> None:
    """Have glibc map what is large by itself, so that it goes back to the system when it is freed.

    Otherwise it learns from the first batch to keep such pieces among small ones that stay.
    """
    with contextlib.suppress(OSError, AttributeError, TypeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(M_MMAP_THRESHOLD, LARGE_BYTES)
        mallopt(M_ARENA_MAX, MOST_ARENAS)


def _stop(children: list[int]) -> None:
    for child in children:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGTERM)


def _end_soon() -> None:
    """End the process, in good order or not: Python itself waits for threads that search."""

    def end() -> None:
        sys.stdout.flush()
        os._exit(0)

    timer = threading.Timer(STOP_SECONDS, end)
    timer.daemon = True
    timer.start()


@contextlib.asynccontextmanager
async def running(service: Service, listener: socket.socket) -> AsyncIterator[Routes]:
    """A service that takes connections, closed afterwards; tests use it, too."""
    shelf = Shelf(service.folder)
    searches = Searches(shelf, service.limits)
    works = Works(shelf.folder, service.build_memory) if service.workers == 1 else None
    hosts = frozenset({*LOOPBACK, _host_name(service.host), *map(str.lower, service.names)})
    guard = Guard(hosts, service.token, frozenset(service.origins))
    routes = Routes(guard, shelf, searches, works)
    site = Site(routes.handle, refusal, service.max_connections)
    server = await asyncio.get_running_loop().create_server(lambda: Connection(site), sock=listener)
    try:
        yield routes
    finally:
        server.close()
        for connection in tuple(site.open):
            connection.close()
        searches.close()
        if works is not None:
            await works.close()


def _host_name(host: str) -> str:
    return f"[{host}]" if ":" in host else host.lower()
