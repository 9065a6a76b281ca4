"""Kernels of a build on two cores: a helper process compiles what will be needed last.

Numba compiles one kernel at a time in a process, and which types a kernel will be called with
is known only when it is called. So the types are written down once, kernel after kernel in
the order of their first call (`signatures/`), and two processes work towards each other:

    main     1  2     4  5 .            as the build calls them
    helper         3      . 6  7  8     one of the middle, then from the end, into the same cache

Whoever begins with a kernel claims it; the main process waits for what the helper has
claimed and loads it from disk. A record that is out of date does no harm: what the
helper compiled in vain is not called, what it did not compile the main process compiles.

Compiling takes more memory than most builds, and keeps it. A build that has a limit leaves it all
to the helper, of a longer record (`NAME-in-tasks`), and loads kernels when they are there.

    python -m retro.ahead NAME FOLDER       the helper; FOLDER is for claims
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from retro import kernel_cache

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numba.core.types import Type

SIGNATURES = Path(__file__).parent / "signatures"
IN_TASKS = "-in-tasks"  # the record of a build that has a limit
WORTH_A_PROCESS = 4  # kernels; starting one takes as long as compiling a small kernel
POLL_SECONDS = 0.02
# The main process has more to compile up to where they would meet: the helper first relieves it of
# this one, which is called late enough. A first build of 5x4 takes 13.4 s instead of 14.9.
RELIEF = "_list_ended"


class Wanted(NamedTuple):
    """A kernel and the types it will be called with."""

    module: str
    function: str
    types: tuple[str, ...]

    @property
    def kernel(self) -> Any:
        return getattr(import_module(self.module), self.function)

    @property
    def arguments(self) -> tuple[Type, ...]:
        return tuple(read_type(text) for text in self.types)

    @property
    def file(self) -> str:
        """The name of its file on the shelf."""
        kernel = self.kernel
        name: str = kernel._cache.file_of(self.arguments, kernel.targetctx.codegen())
        return name


def signatures(name: str) -> list[Wanted]:
    """The kernels of a record, in the order of their first call; none if there is no record."""
    path = SIGNATURES / f"{name}.txt"
    lines = path.read_text().splitlines() if path.exists() else []
    found = []
    for line in lines:
        where, _, types = line.partition(": ")
        module, _, function = where.rpartition(".")
        found.append(Wanted(module, function, tuple(types.split("; "))))
    return found


def read_type(text: str) -> Type:
    """A numba type from what `kernel_cache.spell` says of it.

    >>> read_type("array(uint64, 1d, C)"), read_type("tuple(int64, bool)")
    (Array(uint64, 1, 'C', False, aligned=True), Tuple((int64, bool)))
    """
    kind, rest = _read(text)
    if rest:
        raise ValueError(f"found {rest!r} after a type")
    return kind


def _read(text: str) -> tuple[Type, str]:
    """The type at the beginning of a text, and what follows it."""
    from numba import types

    array = re.match(r"array\((\w+), (\d)d, ([ACF])\)", text)
    if array:
        dtype, dimensions, layout = array.groups()
        kind: Type = types.Array(_scalar(dtype), int(dimensions), layout)  # type: ignore[arg-type]
        return kind, text[array.end() :]
    name = re.match(r"[\w.]+", text)
    if name is None:
        raise ValueError(f"found {text!r}, wanted a type")
    rest = text[name.end() :]
    if not rest.startswith("("):
        return _scalar(name[0]), rest
    items = []
    while not rest.startswith(")"):
        item, rest = _read(rest.removeprefix("(").removeprefix(", "))
        items.append(item)
    return types.BaseTuple.from_types(items, _named(name[0])), rest[1:]


def _scalar(name: str) -> Type:
    from numba import types

    return types.boolean if name == "bool" else getattr(types, name)


def _named(name: str) -> type | None:
    """The class of a named tuple; this machine's choice of bit instructions, not the recorder's."""
    if name == "tuple":
        return None
    module, _, owner = name.rpartition(".")
    if module == "retro.bits":
        from retro.bits import bit_instructions

        return type(bit_instructions())
    found: type = getattr(import_module(module), owner)
    return found


@contextlib.contextmanager
def compile_ahead(name: str, *, alone: bool = False) -> Iterator[None]:
    """While this lasts, a helper process compiles some kernels of a record, if many are missing.

    `alone`: all of them, and this process none.
    """
    shelf = kernel_cache.shelf()
    name = f"{name}{IN_TASKS}" if alone else name
    missing = sum(not shelf.has(one.file) for one in signatures(name))
    if missing < (1 if alone else WORTH_A_PROCESS) or not _can_help(shelf, alone=alone):
        yield
        return
    with contextlib.ExitStack() as stack:
        try:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
        except OSError:  # nowhere to write: this process compiles all
            yield
            return
        command = [sys.executable, "-m", "retro.ahead", name, folder]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        root = str(kernel_cache.ROOT)
        path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
        helper = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": path}, **quiet)  # type: ignore[call-overload]
        shelf.partner = Partner(helper, Path(folder), alone=alone)
        try:
            yield
        finally:
            shelf.partner = None
            helper.terminate()
            helper.wait()


def _can_help(shelf: kernel_cache.Shelf, *, alone: bool) -> bool:
    """Whether anything is compiled, there is a second core, and a place for what a helper makes.

    One that works alone needs no core of its own.
    """
    from numba.core import config

    if getattr(config, "DISABLE_JIT", False):
        return False
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return (alone or (cores or 1) > 1) and shelf.is_writable()


class Partner:
    """The helper as the main process sees it."""

    def __init__(
        self, process: subprocess.Popen[bytes], claims: Path, *, alone: bool = False
    ) -> None:
        self._process, self._claims, self._alone = process, claims, alone

    def waits_for(self, shelf: kernel_cache.Shelf, file: str) -> bool:
        """Claim a kernel that is not on the shelf, or wait for the helper, who has done so.

        One that works alone is waited for until it has the kernel, or has ended without it.
        """
        if not self._alone and claim(self._claims, file):
            return False
        while not shelf.has(file) and self._process.poll() is None:
            time.sleep(POLL_SECONDS)
        return True


def claim(folder: Path, file: str) -> bool:
    """Whether nobody else has claimed a kernel before."""
    try:
        (folder / file).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def helper_order(record: Sequence[Wanted]) -> list[Wanted]:
    """What the helper compiles first, second and so on, unless it is claimed or there."""
    backwards = list(record)[::-1]
    return sorted(backwards, key=lambda wanted: wanted.function != RELIEF)


def main() -> None:
    name, folder = sys.argv[1:]
    parent, shelf = os.getppid(), kernel_cache.shelf()
    for wanted in helper_order(signatures(name)):
        file = wanted.file
        if os.getppid() != parent or not Path(folder).exists():
            return  # nobody waits any more
        if not shelf.has(file) and claim(Path(folder), file):
            wanted.kernel.compile(wanted.arguments)


if __name__ == "__main__":
    main()
