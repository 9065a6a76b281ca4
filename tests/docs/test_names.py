"""Files that pages and docstrings name are there: a house is moved, its signposts go along."""

import re
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
ROOMS = "retro|tablebase|tests|scripts|docs"
# `retro/walk/task.py`, or as part of a path: tablebase/data/connect4_built.csv
FILE = re.compile(
    rf"(?<![\w./<-])((?:{ROOMS})/[\w./-]*\w\.(?:py|md|csv|json|h5|txt|svg|png|ipynb))\b"
)
MODULE = re.compile(r"`((?:retro|tablebase)(?:\.[a-z_]\w*)+)`")
PAGES = sorted([*TOP.glob("*.md"), *TOP.glob("docs/**/*.md")])
SOURCES = [p for room in ROOMS.split("|") for p in sorted(TOP.glob(f"{room}/**/*.py"))]


def is_there(dotted: str) -> bool:
    """Whether a dotted name begins with a module or package and goes on with a name in it."""
    path = TOP.joinpath(*dotted.split("."))
    if path.is_dir() or path.with_suffix(".py").exists():
        return True
    *module, name = dotted.split(".")
    for file in (TOP.joinpath(*module).with_suffix(".py"), TOP.joinpath(*module, "__init__.py")):
        if file.exists() and re.search(rf"\b{name}\b", file.read_text()):
            return True
    return False


@pytest.mark.parametrize(
    "path", [p for p in PAGES if p.name != "CHANGELOG.md"], ids=lambda p: str(p.relative_to(TOP))
)
def test_what_a_page_names_is_there(path: Path) -> None:
    text = path.read_text()
    missing = [name for name in FILE.findall(text) if not (TOP / name).exists()]
    assert missing == []
    assert [name for name in MODULE.findall(text) if not is_there(name)] == []


def test_what_the_sources_name_is_there() -> None:
    missing = []
    for path in SOURCES:
        if path == Path(__file__):
            continue  # it names some that are not there
        text = path.read_text()
        files = [name for name in FILE.findall(text) if not (TOP / name).exists()]
        names = [name for name in MODULE.findall(text) if not is_there(name)]
        missing += [(str(path.relative_to(TOP)), name) for name in files + names]
    assert missing == []


def test_names_that_are_not_there_are_found() -> None:
    assert FILE.findall("see `retro/walk/mirror.py`, (tests/data/none.csv)") == [
        "retro/walk/mirror.py",
        "tests/data/none.csv",
    ]
    assert not is_there("retro.walk.mirror")
    assert not is_there("retro.walk.task.NoSuchName")
    assert is_there("retro.walk.task.Task")
