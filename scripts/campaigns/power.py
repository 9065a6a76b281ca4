"""Power cuts at every file operation of a build, and what one run makes of them.

A build is run once and watched: before every operation that a disk would see (a file written,
synced, renamed, removed) the folder is kept as it is. What a power cut then leaves is up to the
disk, so every moment is kept in three ways:

    all       everything written so far is there
    synced    what was not synced is empty: the name is there, the content never was
    torn      what was not synced ends in the middle, in bytes of something else

From each of them one run of the same build must make the same table, and leave nothing else.
"""

from __future__ import annotations

import os
import random
import shutil
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tablebase as tb
from campaigns.common import Campaign, Case, scratch
from retro.errors import TablebaseError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BUILDS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("4x4", {"threads": 1}), ("mnk 3x3", {}), ("domineering 3x3", {}),
)  # fmt: skip
WAYS = ("all", "synced", "torn")


def cases(campaign: Campaign) -> Iterator[Case]:
    """Every moment of every build in every way; with `--tries` some of them, in random order."""
    with scratch() as folder:
        moments = []
        for number, (board, options) in enumerate(BUILDS):
            place = folder / str(number)
            digest, count = watch(board, options, place)
            campaign.note(f"operations of {board}", count)
            moments += [(number, digest, at, way) for at in range(count) for way in WAYS]
        random.Random(campaign.seed).shuffle(moments)
        for number, digest, at, way in moments:
            board, options = BUILDS[number]
            kept = folder / str(number) / f"{at}-{way}"
            attempt = partial(_attempt, kept, board, options, digest)
            yield Case(f"{board}, operation {at}, {way}", attempt, partial(_copy, kept))


def watch(board: str, options: dict[str, Any], place: Path) -> tuple[str, int]:
    """Build a table and keep its folder before every operation; its digest, and how many."""
    folder = place / "build"
    path = folder / "table.h5"
    (folder / "table.h5.partial").mkdir(parents=True)  # with parts, short as it is
    synced: dict[Path, bytes] = {}
    count = 0

    def keep() -> None:
        nonlocal count
        for way in WAYS:
            _keep(folder, place / f"{count}-{way}", synced, way)
        count += 1

    def before(name: str, arguments: tuple[Any, ...]) -> None:
        keep()
        if name == "fsync":
            held = Path(f"/proc/self/fd/{arguments[0]}").resolve()
            if held.is_file():
                synced[held] = held.read_bytes()
        elif name == "replace":
            source, target = (Path(argument).resolve() for argument in arguments)
            if source in synced:
                synced[target] = synced.pop(source)

    with _watched(folder, before):
        tb.build(board, path, **options)
    keep()
    with tb.open_tablebase(path) as table:
        return table.digest, count


def _keep(folder: Path, to: Path, synced: dict[Path, bytes], way: str) -> None:
    """The folder as a power cut would leave it."""
    shutil.copytree(folder, to)
    if way == "all":
        return
    for copy in (path for path in to.rglob("*") if path.is_file()):
        original = (folder / copy.relative_to(to)).resolve()
        content = copy.read_bytes()
        if synced.get(original) != content:
            half = len(content) // 2
            copy.write_bytes(b"" if way == "synced" else content[:half] + bytes(half))


@contextmanager
def _watched(folder: Path, before: Callable[[str, tuple[Any, ...]], None]) -> Iterator[None]:
    """Call `before` ahead of every operation on files of a folder that goes through `os`."""
    names = ("fsync", "replace", "rename", "unlink", "remove", "mkdir", "rmdir")
    real = {name: getattr(os, name) for name in names}

    def wrap(name: str) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            if name == "fsync" or str(folder) in str(arguments[0]):
                before(name, arguments)
            return real[name](*arguments, **options)

        return call

    for name in names:
        setattr(os, name, wrap(name))
    try:
        yield
    finally:
        for name in names:
            setattr(os, name, real[name])


def _attempt(kept: Path, board: str, options: dict[str, Any], digest: str) -> str | None:
    """One run makes the table."""
    there = kept.with_name(f"{kept.name}-run")
    shutil.copytree(kept, there)
    path = there / "table.h5"
    try:
        tb.build(board, path, **options)
        with tb.open_tablebase(path) as table:
            if table.digest != digest:
                return "another table"
            tb.verify(table, "full")
    except TablebaseError as error:
        return f"{type(error).__name__}: {error}"
    except Exception as error:
        return f"raised {type(error).__name__}: {error}"
    left = sorted(str(found.relative_to(there)) for found in there.rglob("*") if found != path)
    shutil.rmtree(there)
    return f"left {left}" if left else None


def _copy(kept: Path, out: Path) -> None:
    shutil.copytree(kept, out / kept.name)
