"""A running service and somebody who visits it, for the tests of the explorer."""

import asyncio
import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from tablebase.web import server

ROOT = Path(__file__).parents[2]
PATIENCE = 60_000  # milliseconds: states are waited for, however busy the machine is


class Answer(NamedTuple):
    """What the service said."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Running(NamedTuple):
    """A service that runs: its address, its token, its process and its tables."""

    address: str
    token: str
    process: subprocess.Popen[str]
    folder: Path

    @property
    def port(self) -> int:
        return int(self.address.rsplit(":", 1)[1].strip("/"))

    def ask(self, path: str, headers: dict[str, str] | None = None, **fields: str) -> Answer:
        """GET a question."""
        query = f"?{urlencode(fields)}" if fields else ""
        url = f"{self.address}api/v1/{path}{query}"
        return send(urllib.request.Request(url, headers=headers or {}))

    def tell(self, path: str, content: Any, headers: dict[str, str] | None = None) -> Answer:
        """POST an object."""
        kind = {"Content-Type": "application/json", **(headers or {})}
        body = json.dumps(content).encode()
        return send(urllib.request.Request(f"{self.address}api/v1/{path}", body, kind))


def send(request: urllib.request.Request) -> Answer:
    try:
        with urllib.request.urlopen(request, timeout=120) as response:
            return Answer(response.status, dict(response.headers), response.read())
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, dict(error.headers), error.read())


def start(folder: Path, *options: str) -> Running:
    """Start a service on a free port; `stop` ends it."""
    command = [sys.executable, "-m", "tablebase", "serve", "--port", "0", "--dir", str(folder)]
    process = subprocess.Popen(
        [*command, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        bufsize=1,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    told = ""
    wanted = 1 if "--workers" in options else 2
    while told.count("\n") < wanted:
        line = process.stdout.readline()
        assert line, told
        told += line
    address = re.search(r"at (http://\S+)", told)
    token = re.search(r"tables: (\S+)", told)
    assert address is not None, told
    return Running(address[1], token[1] if token else "", process, folder)


def answers_of(service: server.Service, *requests: str) -> list[tuple[str, Any]]:
    """Status lines and JSON of a service in this process, which takes one request a connection.

    Each is what comes before the headers: `GET /api/v1/games`; a POST has an empty object.
    """

    async def ask_all() -> list[tuple[str, Any]]:
        listener, found = server.listen(service), []
        async with server.running(service, listener):
            for request in requests:
                reader, writer = await asyncio.open_connection(*listener.getsockname())
                headers = (
                    f"{request} HTTP/1.1", "Host: localhost", "Connection: close",
                    f"Authorization: Bearer {service.token}",
                    "Content-Type: application/json", "Content-Length: 2",
                )  # fmt: skip
                writer.write("\r\n".join([*headers, "", "{}"]).encode())
                head, _, body = (await reader.read()).partition(b"\r\n\r\n")
                found.append((head.decode().partition("\r\n")[0], json.loads(body)))
                writer.close()
        return found

    with ThreadPoolExecutor(1) as pool:  # this thread may have a loop already, a browser's
        return pool.submit(lambda: asyncio.run(ask_all())).result()


def stop(running: Running) -> None:
    running.process.terminate()
    running.process.wait(30)
    assert running.process.stdout is not None
    running.process.stdout.close()


class Visitor:
    """Somebody at the page: opens addresses, clicks, types; hears every complaint."""

    def __init__(self, service: Running, page: Any) -> None:
        self.service, self.page = service, page
        self.complaints: list[str] = []
        self.may_fail = False  # whether refused requests are part of the test
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self._hear)

    def _hear(self, message: Any) -> None:
        refused = self.may_fail and "Failed to load resource" in message.text
        if message.type in ("error", "warning") and not refused:
            self.complaints.append(message.text)

    def open(self, path: str = "/", **fields: str) -> None:
        query = f"?{urlencode(fields)}" if fields else ""
        self.page.goto(f"{self.service.address.rstrip('/')}{path}{query}")
        self.page.wait_for_selector("body[data-ready]")

    def wait(self, shown: str) -> None:
        """Wait for a number of moves: `2/3` is after 2 of 3."""
        self.page.wait_for_selector(f'body[data-shown="{shown}"]')

    @property
    def turn(self) -> str:
        return str(self.page.inner_text("#turn"))

    @property
    def is_over(self) -> bool:
        return bool(self.page.get_attribute("body", "data-over") == "yes")

    def targets(self) -> Any:
        return self.page.locator("#board .target")
