"""A running service with a few small tables, and a browser that looks at it."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from web_cases import Running, Visitor, start, stop

import tablebase as tb

BOARDS = ("4x4", "5x4", "mnk 3x3", "domineering 3x3", "notakto 3x3", "quarto 2x2")
CHROMIUM = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.fixture(scope="session")
def web_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small tables for the service."""
    folder = tmp_path_factory.mktemp("web")
    for board in BOARDS:
        tb.build(board, folder=folder)
    return folder


@pytest.fixture(scope="session")
def service(web_folder: Path) -> Iterator[Running]:
    """A service; its kernels are warm."""
    running = start(web_folder, "--time-limit", "60")
    for fields in ({"board": "4x4"}, {"game": "mnk"}, {"game": "quarto", "board": "2x2"}):
        assert running.ask("position", distances="on", **fields).status == 200
    yield running
    stop(running)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A browser; skipped with a reason where there is none."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = next((path for name in CHROMIUM if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"no Chromium: wanted one of {', '.join(CHROMIUM)}")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield browser
        browser.close()


def _visitor(chromium: Any, service: Running, **how: Any) -> Iterator[Visitor]:
    context = chromium.new_context(
        viewport=how.pop("viewport", {"width": 1200, "height": 900}), accept_downloads=True, **how
    )
    visitor = Visitor(service, context.new_page())
    yield visitor
    context.close()
    assert visitor.complaints == []


@pytest.fixture
def visitor(chromium: Any, service: Running) -> Iterator[Visitor]:
    """Somebody at a desk."""
    yield from _visitor(chromium, service)


@pytest.fixture(params=["light", "dark"])
def phone(chromium: Any, service: Running, request: pytest.FixtureRequest) -> Iterator[Visitor]:
    """Somebody with a telephone, by day and by night."""
    size = {"width": 390, "height": 844}
    yield from _visitor(
        chromium, service, viewport=size, color_scheme=request.param, has_touch=True
    )
