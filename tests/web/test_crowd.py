"""Many clients, and some that leave, wait, ask for too much: everybody else is served on."""

import asyncio
import http.client
import json
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from web_cases import Running, start, stop

import tablebase as tb
from retro.games.values import VALUE_NAMES
from tablebase.web.http import CONTINUE, Connection, Response, Site

LONG = {
    "a look of Quarto": "move?game=quarto&player=alphabeta:4",
    "a look of a large board": "move?game=mnk&board=20x20&player=alphabeta:5",
    "playouts": "move?game=quarto&player=uct:99999",
    "a search": "position?board=8x7",
    "distances": "position?board=8x7&distances=on",
    "a search of a large board": "position?game=mnk&board=10x10&connect=5",
    "a line": "line?board=8x7",
    "events": "position/events?board=8x7",
    "a plan": "plan?board=9x6",
}


def leave(service: Running, path: str, seconds: float = 0.5) -> None:
    """Ask, and close the connection before there is an answer."""
    with hold(service, path):
        time.sleep(seconds)


def hold(service: Running, path: str, client: str = "") -> socket.socket:
    """Ask, and wait for nothing."""
    connection = socket.create_connection(("127.0.0.1", service.port), timeout=300)
    head = f"GET /api/v1/{path} HTTP/1.1\r\nHost: localhost\r\nX-Client: {client or path}\r\n\r\n"
    connection.sendall(head.encode())
    return connection


@pytest.fixture(scope="module")
def one_slot(web_folder: Path) -> Iterator[Running]:
    """A service that searches for one client at a time, for as long as is watched."""
    running = start(web_folder, "--searches", "1", "--time-limit", "600")
    yield running
    stop(running)


@pytest.mark.parametrize("path", LONG.values(), ids=LONG)
def test_what_nobody_waits_for_any_more_is_called_off(path: str, one_slot: Running) -> None:
    """The one slot is free again, long before the limit of ten minutes."""
    leave(one_slot, path)
    begin = time.monotonic()
    free = one_slot.ask("position", {"X-Client": "other"}, board="5x4", distances="on")
    while free.status == 503 and time.monotonic() < begin + 300:  # a kernel may be compiled
        free = one_slot.ask("position", {"X-Client": "other"}, board="5x4", distances="on")
    assert free.status == 200, free.body


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_ends_all_that_runs(how: signal.Signals, web_folder: Path) -> None:
    running = start(web_folder, "--time-limit", "600", "--searches", str(len(LONG)))
    held = [hold(running, path) for path in LONG.values()]
    time.sleep(2)
    begin = time.monotonic()
    running.process.send_signal(how)
    assert running.process.wait(60) == 0
    assert time.monotonic() - begin < 2
    for connection in held:
        connection.close()
    stop(running)


def test_all_workers_end_with_the_first_signal(web_folder: Path) -> None:
    running = start(web_folder, "--time-limit", "600", "--workers", "3")
    held = [hold(running, LONG["a look of Quarto"]) for _ in range(6)]
    time.sleep(1)
    begin = time.monotonic()
    running.process.send_signal(signal.SIGTERM)
    assert running.process.wait(60) == 0
    assert time.monotonic() - begin < 2
    for connection in held:
        connection.close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", running.port), timeout=5)
    stop(running)


def test_a_look_that_takes_too_long_is_503(web_folder: Path) -> None:
    running = start(web_folder, "--time-limit", "0.5")
    try:
        found = running.ask("move", game="quarto", player="alphabeta:4")
        assert (found.status, found.json["kind"]) == (503, "TimeLimitError")
    finally:
        stop(running)


# Clients that ask no more and still read.


def _half_closed(service: Running, path: str) -> bytes:
    """The answer to a client that closes its half of the connection, as `nc -N` does."""
    with hold(service, path) as connection:
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while more := connection.recv(65_536):
            answer += more
    while answer.startswith(CONTINUE):
        answer = answer.removeprefix(CONTINUE)
    return answer


@pytest.mark.parametrize(
    "path", ["games", "position?board=5x4&position=443", "position/events?board=5x4&position=443"]
)
def test_a_request_is_answered_although_nothing_will_follow_it(path: str, service: Running) -> None:
    for _ in range(20):
        answer = _half_closed(service, path)
        assert answer.startswith(b"HTTP/1.1 200 OK\r\n"), answer
        assert answer.endswith(b"}\n" if "events" not in path else b"event: end\ndata: {}\n\n")


def test_a_slow_answer_reaches_who_asks_no_more(web_folder: Path) -> None:
    running = start(web_folder, "--time-limit", "2")
    try:
        answer = _half_closed(running, "position?board=8x7")
    finally:
        stop(running)
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert b"TimeLimitError" in answer


# Transports of other loops.


class _Transport:
    """What uvloop hands out is no `asyncio.Transport`."""

    def __init__(self, closed: Callable[[], None]) -> None:
        self.written, self._closed = b"", closed

    def get_extra_info(self, _: str) -> None:
        return None

    def write(self, data: bytes) -> None:
        self.written += data

    def is_closing(self) -> bool:
        return False

    def close(self) -> None:
        self._closed()


def test_any_transport_serves() -> None:
    async def ask() -> bytes:
        done = asyncio.Event()
        transport = _Transport(done.set)

        async def handle(_: object) -> Response:
            return Response(200, b"{}")

        connection = Connection(Site(handle, lambda *_: Response(500, b""), 10))
        connection.connection_made(transport)  # type: ignore[arg-type]
        connection.data_received(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        await asyncio.wait_for(done.wait(), 10)
        return transport.written

    found: list[bytes] = []
    thread = threading.Thread(target=lambda: found.append(asyncio.run(ask())))
    thread.start()  # this thread may have a loop already, a browser's
    thread.join()
    assert found[0].startswith(b"HTTP/1.1 200 OK")


# Plans.


def test_what_can_never_fit_is_422(service: Running) -> None:
    found = service.ask("plan", game="mnk", board="20x20")
    assert (found.status, found.json["kind"]) == (422, "DoesNotFitError")


def test_a_plan_that_takes_too_long_is_422_and_remembered(service: Running) -> None:
    board, begin = "21x2", time.monotonic()
    found = service.ask("plan", board=board)
    while found.status == 503 and time.monotonic() < begin + 200:  # a busy machine
        found = service.ask("plan", board=board)
    assert (found.status, found.json["kind"]) == (422, "DoesNotFitError")
    begin = time.monotonic()
    assert service.ask("plan", board=board).body == found.body
    assert time.monotonic() - begin < 1


def test_one_visitor_leaves_room_for_the_plans_of_others(service: Running) -> None:
    """She plans one board at a time, and others are planned beside it."""
    with hold(service, "plan?board=10x5", "one"), hold(service, "plan?board=12x4", "one"):
        time.sleep(0.5)
        assert service.ask("plan", {"X-Client": "other"}, board="4x3").status == 200
        assert service.ask("plan", {"X-Client": "other"}, board="4x3").status == 200


# Batches.


def _slow_batch() -> dict[str, object]:
    """Positions of 40 moves on 20x20: half a minute to read them all."""
    cells = [f"{column}{row}" for row in range(1, 5) for column in "abcdefghijklmnopqrst"]
    return {
        "game": "mnk",
        "board": "20x20",
        "connect": "20",
        "positions": [" ".join(cells[::2])] * 9_800,
    }


def _post(service: Running, content: object) -> socket.socket:
    """Send a batch, and wait for nothing."""
    body = json.dumps(content).encode()
    connection = socket.create_connection(("127.0.0.1", service.port), timeout=300)
    head = (
        "POST /api/v1/positions HTTP/1.1\r\nHost: localhost\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    connection.sendall(head.encode() + body)
    return connection


def _slowest(service: Running, count: int) -> float:
    """The seconds that the slowest of some single probes took."""
    times = []
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
    for _ in range(count):
        begin = time.perf_counter()
        connection.request("GET", "/api/v1/position?board=5x4&position=443")
        assert connection.getresponse().read().startswith(b'{"game"')
        times.append(time.perf_counter() - begin)
    connection.close()
    return max(times)


def test_batches_of_clients_that_have_left_delay_nobody(service: Running) -> None:
    _slowest(service, 200)  # by kernels
    alone = _slowest(service, 50)
    batches = [_post(service, _slow_batch()) for _ in range(8)]
    for batch in batches:
        batch.close()
    time.sleep(1)
    assert _slowest(service, 50) < 0.2 + 5 * alone


def test_single_probes_are_quick_beside_batches(service: Running) -> None:
    _slowest(service, 200)
    alone = _slowest(service, 50)
    batches = [_post(service, _slow_batch()) for _ in range(8)]
    time.sleep(0.5)
    assert _slowest(service, 50) < 0.1 + 5 * alone
    for batch in batches:
        batch.close()


def test_a_batch_that_takes_too_long_is_503(web_folder: Path) -> None:
    running = start(web_folder, "--time-limit", "0.5")
    try:
        found = running.tell("positions", _slow_batch())
        assert (found.status, found.json["kind"]) == (503, "TimeLimitError")
        assert "of 9,800 positions read" in found.json["error"]
    finally:
        stop(running)


def test_the_texts_of_a_batch_are_bounded(service: Running) -> None:
    found = service.tell("positions", {"board": "5x4", "positions": ["", " " * 4_001]})
    assert (found.status, found.json["kind"]) == (400, "BadTextError")


@pytest.mark.parametrize("board", ["5x4", "4x3 connect=3"])
def test_a_batch_in_pieces_has_the_values_of_single_questions(board: str, service: Running) -> None:
    """By a table and by search."""
    size, _, option = board.partition(" connect=")
    fields = {"board": size, "connect": option} if option else {"board": size}
    texts = [str(1 + number % 4) * (number % 4) for number in range(1_300)]
    found = service.tell("positions", {**fields, "positions": texts})
    assert found.json["source"] == ("search" if option else "table")
    with tb.oracle(board, folder=service.folder, memory="1M") as oracle:
        wanted = {text: VALUE_NAMES[oracle.value(text)] for text in set(texts)}
    assert found.json["values"] == [wanted[text] for text in texts]
