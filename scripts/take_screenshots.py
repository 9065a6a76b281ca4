"""The four pictures of the page in docs/, taken anew from a running service.

    python scripts/take_screenshots.py [FOLDER]

Builds three small tables in a temporary folder, starts the service on a free port and looks at it
with Chromium (`pip install -e ".[browser]"`). Each picture is taken once all its distances are
known, so the same page gives the same pictures:

    explorer-connect4.png      a blunder and its price
    explorer-domineering.png   a domino before it is laid, at night
    explorer-tables.png        the tables that are there
    explorer-phone.png         a piece of Quarto to place, on a telephone
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

import tablebase as tb

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ViewportSize

DOCS = Path(__file__).parents[1] / "docs"
BOARDS = ("5x4", "domineering 4x4", "mnk 3x3")
CHROMIUM = ("chromium-headless-shell", "chromium", "google-chrome")
DESK: ViewportSize = {"width": 1240, "height": 920}
PHONE: ViewportSize = {"width": 412, "height": 915}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=DOCS)
    folder = parser.parse_args().folder
    chromium = next((path for name in CHROMIUM if (path := shutil.which(name))), None)
    if chromium is None:
        raise SystemExit(f"no Chromium: wanted one of {', '.join(CHROMIUM)}")
    with tempfile.TemporaryDirectory() as tables, sync_playwright() as playwright:
        for board in BOARDS:
            tb.build(board, folder=Path(tables))
        command = [sys.executable, "-m", "tablebase", "serve", "--port", "0", "--dir", tables]
        service = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert service.stdout is not None
            address = re.search(r"http://\S+", service.stdout.readline())
            assert address is not None
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            take(browser, address[0], folder)
        finally:
            service.terminate()
            service.wait()
    return 0


def take(browser: Browser, address: str, folder: Path) -> None:
    """All pictures."""
    desk = browser.new_page(viewport=DESK)
    desk.goto(f"{address}?board=5x4&moves=443")
    desk.wait_for_selector('#verdict:has-text("win in 17 plies")')
    desk.wait_for_selector("#history .blunder")
    desk.screenshot(path=folder / "explorer-connect4.png")
    desk.goto(f"{address}tables")
    desk.wait_for_selector("body[data-ready]")
    desk.screenshot(path=folder / "explorer-tables.png")

    night = browser.new_page(viewport=DESK, color_scheme="dark")
    night.goto(f"{address}?game=domineering&board=4x4&moves=b1+c4")
    night.wait_for_selector('#verdict:has-text("win in 5 plies")')
    night.wait_for_selector("#graph .point:nth-of-type(3)")
    box = night.locator('#board .target[data-move="c2"] .ghost').bounding_box()
    assert box is not None
    night.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    night.screenshot(path=folder / "explorer-domineering.png", full_page=True)

    phone = browser.new_page(viewport=PHONE, has_touch=True)
    phone.goto(f"{address}?game=quarto&moves=f+b2-3+c3-0+c2-9+a1-6+d4-c+a4-5+d1-8")
    phone.wait_for_selector("#verdict .chip")
    phone.screenshot(path=folder / "explorer-phone.png")


if __name__ == "__main__":
    sys.exit(main())
