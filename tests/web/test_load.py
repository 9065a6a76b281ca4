"""Many clients at once: every answer right, memory bounded."""

import http.client
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from web_cases import Running

import tablebase as tb


def test_many_clients_at_once(service: Running) -> None:
    """No error but 503, and every answer right."""
    _load(service, clients=40, seconds=2)


@pytest.mark.slow
def test_200_clients_for_a_minute(service: Running) -> None:
    before = _memory(service)
    _load(service, clients=200, seconds=60)
    assert _memory(service) - before < 500_000_000


def _memory(service: Running) -> int:
    """Resident bytes of the service."""
    with open(f"/proc/{service.process.pid}/statm") as file:  # noqa: PTH123
        return int(file.read().split()[1]) * 4096


def _load(service: Running, clients: int, seconds: float) -> None:
    with tb.oracle("5x4", folder=service.folder) as oracle:
        texts = ["", "4", "44", "443", "12", "3", "123"]
        wanted = {t: {1: "WIN", 0: "DRAW", -1: "LOSS"}[oracle.value(t)] for t in texts}
    end = time.monotonic() + seconds
    wrong: list[str] = []
    answered = [0]
    lock = threading.Lock()

    def client(number: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
        turn = number
        while time.monotonic() < end:
            turn += 1
            text = texts[turn % len(texts)]
            searches = turn % 50 == 0
            more = "&distances=on" if searches else ""
            headers = {"X-Client": str(number)}
            connection.request(
                "GET", f"/api/v1/position?board=5x4&position={text}{more}", headers=headers
            )
            response = connection.getresponse()
            body = response.read()
            with lock:
                answered[0] += 1
                if response.status == 200 and json.loads(body)["value"] != wanted[text]:
                    wrong.append(f"{text}: {body!r}")
                if response.status not in (200, 503):
                    wrong.append(f"{response.status}: {body!r}")
        connection.close()

    with ThreadPoolExecutor(clients) as threads:
        list(threads.map(client, range(clients)))
    assert wrong == []
    assert answered[0] > clients
