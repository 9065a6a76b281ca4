"""How fast the explorer's service answers from a table: requests a second, and the slowest.

    python scripts/bench_service.py [--clients 32] [--seconds 5] [--workers 1]

Builds the table of 5x4 in a temporary folder, starts the service on a free port of this
machine and asks it from a second process: single positions over kept connections, then batches
of 1,000. Client and service share the cores, so a service with cores of its own does better.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import tablebase as tb
from retro.games.catalogue import make_board

BOARD, BATCH = "5x4", 1_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tb.build(BOARD, folder=Path(folder))
        command = [sys.executable, "-m", "tablebase", "serve", "--port", "0", "--dir", folder]
        service = subprocess.Popen(
            [*command, "--workers", str(options.workers)], stdout=subprocess.PIPE, text=True
        )
        try:
            assert service.stdout is not None
            found = re.search(r":([0-9]+)/", service.stdout.readline())
            assert found is not None
            _measure(int(found[1]), options.clients, options.seconds)
        finally:
            service.terminate()
            service.wait()


def _texts(count: int) -> list[str]:
    """Unfinished positions by lot, always the same."""
    rng = random.Random(1)
    texts: list[str] = []
    while len(texts) < count:
        position = make_board(BOARD).start()
        for _ in range(rng.randrange(16)):
            if not position.is_over():
                position = position._play(rng.choice(position._numbers()))
        if not position.is_over():
            texts.append(position.text)
    return texts


def _measure(port: int, clients: int, seconds: float) -> None:
    texts = _texts(BATCH)
    body = json.dumps({"board": BOARD, "positions": texts})
    kind = {"Content-Type": "application/json"}

    def single(connection: http.client.HTTPConnection, turn: int) -> None:
        text = texts[turn % len(texts)]
        connection.request("GET", f"/api/v1/position?board={BOARD}&position={text}")

    def batch(connection: http.client.HTTPConnection, _: int) -> None:
        connection.request("POST", "/api/v1/positions", body, kind)

    for name, ask, size in (("single", single, 1), (f"batch of {BATCH:,}", batch, BATCH)):
        _load(port, ask, clients, 1.0)  # warm
        times = sorted(_load(port, ask, clients, seconds))
        rate = len(times) / seconds
        print(
            f"{name:16} {rate:9,.0f} requests/s {rate * size:12,.0f} positions/s   "
            f"median {_at(times, 0.5):7.1f} ms   99% {_at(times, 0.99):7.1f} ms"
        )


def _at(times: list[float], share: float) -> float:
    return 1000 * times[min(int(share * len(times)), len(times) - 1)]


def _load(port, ask, clients: int, seconds: float) -> list[float]:  # type: ignore[no-untyped-def]
    """The seconds that each request took."""
    times: list[float] = []
    end = time.monotonic() + seconds

    def client(number: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        mine, turn = [], number * 31
        while time.monotonic() < end:
            begin = time.perf_counter()
            ask(connection, turn)
            response = connection.getresponse()
            response.read()
            assert response.status == 200, response.status
            mine.append(time.perf_counter() - begin)
            turn += 1
        connection.close()
        times.extend(mine)

    threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return times


if __name__ == "__main__":
    main()
