"""What only a crowd shows of the explorer's service: memory that stays, waiting, CPU.

    python scripts/crowd.py memory [--clients 200] [--seconds 60] [--rounds 2]
    python scripts/crowd.py waiting
    python scripts/crowd.py cpu

`memory` lets clients of every kind loose on a service of its own: kept connections, batches of
10,000 positions, readers that never read, streams that are left, JSON bombs, half-closed
connections, players that are left. It prints what the service holds before and after each round,
against one that has searched once in every game and looked into the shipped table. It fails if
more than 60 MB more stay, if the second round adds to them, or if an answer was wrong.

`waiting` asks single positions one after the other beside batches, looks of players and plans
whose clients have left or stay, and prints how long the slowest took. `cpu` prints the CPU that
the service spends on a request over a kept connection. Linux only; everything is on loopback.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import tablebase as tb

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

BOARD = "5x4"
MOST_MORE, MOST_AGAIN = 60e6, 10e6  # bytes that may stay after the first round, after another
SETTLE_SECONDS = 5.0
SEARCHES = (  # too large to be solved: each fills its memory
    "game=mnk&board=7x7&connect=5", "game=quarto", "game=puissance-plus",
    "game=domineering&board=8x8", "game=notakto&board=7x7", "board=8x7", "board=7x6&position=1",
)  # fmt: skip
TEXTS = ("", "4", "44", "443", "12", "3", "123")


class Service(NamedTuple):
    """A service that runs."""

    process: subprocess.Popen[str]
    port: int

    @property
    def memory(self) -> int:
        """Resident bytes."""
        fields = Path(f"/proc/{self.process.pid}/statm").read_text().split()
        return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")

    @property
    def cpu(self) -> float:
        """Seconds of CPU so far, of all threads."""
        text = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(text[11]) + int(text[12])) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def running(*options: str) -> Iterator[Service]:
    """A service with a table of 5x4, ended afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        tb.build(BOARD, folder=Path(folder))
        command = [sys.executable, "-m", "tablebase", "serve", "--port", "0", "--dir", folder]
        process = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            found = re.search(r":([0-9]+)/", process.stdout.readline())
            assert found is not None
            yield Service(process, int(found[1]))
        finally:
            process.terminate()
            process.wait()


def get(path: str, more: str = "") -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{more}\r\n".encode()


def post(path: str, body: bytes) -> bytes:
    head = (
        f"POST /api/v1/{path} HTTP/1.1\r\nHost: localhost\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def position(query: str) -> bytes:
    return get(f"/api/v1/position?{query}")


def slow_batch(count: int = 9_800) -> bytes:
    """Positions of 40 moves on 20x20: half a minute to read them all."""
    cells = [f"{column}{row}" for row in range(1, 5) for column in "abcdefghijklmnopqrst"]
    board = {"game": "mnk", "board": "20x20", "connect": "20"}
    return post(
        "positions", json.dumps({**board, "positions": [" ".join(cells[::2])] * count}).encode()
    )


async def exchange(
    streams: tuple[asyncio.StreamReader, asyncio.StreamWriter], request: bytes
) -> tuple[int, bytes]:
    """Ask over a kept connection: status and body."""
    reader, writer = streams
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(re.search(rb"Content-Length: ([0-9]+)", head)[1])  # type: ignore[index]
    return int(head.split(b" ", 2)[1]), await reader.readexactly(length)


async def once(port: int, request: bytes) -> tuple[int, bytes]:
    """Ask over a connection of its own."""
    streams = await asyncio.open_connection("127.0.0.1", port)
    try:
        return await exchange(streams, request)
    finally:
        streams[1].close()


# Clients; each does its thing once.


class Crowd:
    """Clients of every kind, and what was wrong."""

    def __init__(self, port: int, seed: int) -> None:
        self.port, self.rng = port, random.Random(seed)
        self.answered, self.wrong = 0, set[str]()
        with tb.oracle(BOARD, memory="16M") as oracle:
            names = {1: "WIN", 0: "DRAW", -1: "LOSS"}
            self.values = {text: names[oracle.value(text)] for text in TEXTS}
        texts = [str(self.rng.randrange(1, 6)) * (number % 4) for number in range(10_000)]
        self.batch = post("positions", json.dumps({"board": BOARD, "positions": texts}).encode())
        self.slow = slow_batch()
        self.bombs = [
            post(path, bomb)
            for path in ("positions", "load", "save")
            for bomb in (b"[" * 1_900_000, b"[" + b"[]," * 600_000 + b"[]]", b"9" * 1_900_000)
        ]

    async def keep(self) -> None:
        """Twenty questions over one connection; every answer right, or 503."""
        streams = await asyncio.open_connection("127.0.0.1", self.port)
        for number in range(20):
            text = self.rng.choice(TEXTS)
            more = "" if number % 10 else "&distances=on"
            status, body = await exchange(streams, position(f"board={BOARD}&position={text}{more}"))
            self.answered += 1
            if status not in (200, 503):
                self.wrong.add(f"status {status}: {body[:100]!r}")
            if status == 200 and json.loads(body)["value"] != self.values[text]:
                self.wrong.add(f"{text}: {body[:100]!r}")
        streams[1].close()

    async def ask_batch(self) -> None:
        status, body = await once(self.port, self.batch)
        if status not in (200, 503):
            self.wrong.add(f"batch: status {status}: {body[:100]!r}")

    async def bomb(self) -> None:
        status, body = await once(self.port, self.rng.choice(self.bombs))
        if status not in (400, 408, 503):  # 408: this machine was too busy to send it
            self.wrong.add(f"bomb: status {status}: {body[:100]!r}")

    async def leave(self, request: bytes) -> None:
        """Ask, read a little or nothing, go."""
        _, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(request)
        await asyncio.sleep(self.rng.random())
        writer.close()

    async def leave_stream(self) -> None:
        board = self.rng.choice(("8x7", "6x5", "7x6", "6x6"))
        await self.leave(get(f"/api/v1/position/events?board={board}&position=1", self.name()))

    async def leave_player(self) -> None:
        game = self.rng.choice(("game=quarto&player=alphabeta:4", "board=7x6&player=perfect"))
        await self.leave(get(f"/api/v1/move?{game}", self.name()))

    async def leave_batch(self) -> None:
        await self.leave(self.slow)

    async def never_read(self) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1)
        writer.write(get("/explorer.js") * 200)
        await asyncio.sleep(1 + 4 * self.rng.random())
        writer.close()
        del reader

    async def end_half(self) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(position(f"board={BOARD}&position=443"))
        writer.write_eof()
        if b'"value":"WIN"' not in await reader.read():
            self.wrong.add("a half-closed connection had no answer")
        writer.close()

    def name(self) -> str:
        return f"X-Client: {self.rng.randrange(10**6)}\r\n"

    async def run(self, clients: int, seconds: float) -> None:
        kinds = [self.keep] * 8 + [
            self.ask_batch, self.bomb, self.leave_stream, self.leave_stream, self.leave_player,
            self.leave_batch, self.never_read, self.end_half,
        ]  # fmt: skip
        end = time.monotonic() + seconds

        async def client(do: Callable[[], Awaitable[None]]) -> None:
            while time.monotonic() < end:
                try:
                    await do()
                except (ConnectionError, asyncio.IncompleteReadError) as error:
                    if do == self.keep:
                        self.wrong.add(f"a kept connection: {error!r}")

        await asyncio.gather(*(client(kinds[number % len(kinds)]) for number in range(clients)))


# What is measured.


async def _search(port: int, query: str) -> None:
    """Search in both slots at once, for values and distances."""
    for more in ("", "&distances=on"):
        heads = [get(f"/api/v1/position?{query}{more}", f"X-Client: {n}\r\n") for n in range(2)]
        for status, body in await asyncio.gather(*(once(port, head) for head in heads)):
            assert status in (200, 503), body


def measure_memory(options: argparse.Namespace) -> int:
    with running("--time-limit", "5") as service:
        begin = service.memory
        for query in SEARCHES:
            asyncio.run(_search(service.port, query))
        for _ in range(50):  # looks into the table of 7x6 that is shipped, by its lists
            asyncio.run(once(service.port, position("board=7x6&position=1")))
        searched = service.memory
        print(f"fresh {begin / 1e6:.0f} MB; after one search of each game {searched / 1e6:.0f} MB")
        last, bad = searched, False
        for number in range(options.rounds):
            crowd = Crowd(service.port, number)
            asyncio.run(crowd.run(options.clients, options.seconds))
            time.sleep(SETTLE_SECONDS)
            now = service.memory
            print(
                f"round {number + 1}: {crowd.answered:,} answers; {(now - searched) / 1e6:+.0f} MB "
                f"against the searches, {(now - last) / 1e6:+.0f} MB against the round before"
            )
            bad |= bool(crowd.wrong) or now - searched > MOST_MORE
            bad |= number > 0 and now - last > MOST_AGAIN
            print("\n".join(sorted(crowd.wrong)[:10]), end="\n" if crowd.wrong else "")
            last = now
    return int(bad)


async def _time_probes(port: int, count: int) -> list[float]:
    """The sorted seconds of single probes over one connection."""
    streams = await asyncio.open_connection("127.0.0.1", port)
    times = []
    for number in range(count):
        begin = time.perf_counter()
        text = TEXTS[number % len(TEXTS)]
        status, body = await exchange(streams, position(f"board={BOARD}&position={text}"))
        assert status == 200, body
        times.append(time.perf_counter() - begin)
    streams[1].close()
    return sorted(times)


async def _waiting(port: int, request: bytes, count: int, *, stays: bool) -> list[float]:
    """The same beside so many requests, whose clients stay or have left."""
    writers = []
    for _ in range(count):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request)
        await writer.drain()
        writers.append(writer)
    await asyncio.sleep(0.3)
    if not stays:
        for writer in writers:
            writer.close()
    times = await _time_probes(port, 100)
    for writer in writers:
        writer.close()
    await asyncio.sleep(2)
    return times


def measure_waiting(_: argparse.Namespace) -> int:
    look = "/api/v1/move?game={}&player=alphabeta:{}"
    beside = {
        "nothing": (get("/"), 0),
        "8 batches of 9,800 slow positions": (slow_batch(), 8),
        "2 looks of Quarto": (get(look.format("quarto", 4)), 2),
        "2 looks of mnk 20x20": (get(look.format("mnk&board=20x20", 5)), 2),
        "a plan of 9x6": (get("/api/v1/plan?board=9x6"), 1),
    }
    with running() as service:
        asyncio.run(_time_probes(service.port, 300))  # warm
        print(f"{'single probes beside':36} {'clients':8} {'median':>8} {'99 %':>8} {'slowest':>8}")
        for name, (request, count) in beside.items():
            for stays in (True, False):
                times = asyncio.run(_waiting(service.port, request, count, stays=stays))
                facts = (times[len(times) // 2], times[-2], times[-1])
                shown = " ".join(f"{1000 * wait:5.1f} ms" for wait in facts)
                print(f"{name:36} {'stay' if stays else 'left':8} {shown}")
    return 0


def measure_cpu(options: argparse.Namespace) -> int:
    with running() as service:
        asyncio.run(_time_probes(service.port, 1_000))  # warm
        spent = []
        for _ in range(20):
            begin = service.cpu
            asyncio.run(_time_probes(service.port, 500))
            spent.append(1e6 * (service.cpu - begin) / 500)
        spent.sort()
        print(f"{spent[0]:.0f} us of CPU a request at least, {spent[10]:.0f} half of the time")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = {"memory": measure_memory, "waiting": measure_waiting, "cpu": measure_cpu}
    parser.add_argument("what", choices=what)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    return what[options.what](options)


if __name__ == "__main__":
    sys.exit(main())
