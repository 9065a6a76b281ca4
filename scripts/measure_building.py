"""How much code a build takes: its statements, and the functions from `main` to the first kernel.

    python scripts/measure_building.py                   statements, of the files as they are
    python scripts/measure_building.py --at dd89246      ... as they were at a commit
    python scripts/measure_building.py --chain 5x4       functions on the way to the kernel

Statements are counted by `ast`, so neither lines nor comments nor docstrings matter. The way is
that of one call: the functions on the stack where a task is handed to a thread, then those of
the thread, without functions of other projects.
"""

from __future__ import annotations

import argparse
import ast
import os
import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from types import FrameType

ROOT = Path(__file__).parents[1]
# What does the same work had other names before there was one driver. Paths within the package.
GROUPS = {
    "builders": (
        "builds.py", "*/build.py", "*/work.py",
        "keys/cutting.py", "building/driver.py",
        "building/workers.py", "building/*build*.py",
        "building/*cutting.py", "building/*tasks.py",
    ),
    "stores": (
        "halves/groups.py", "halves/part*.py", "keys/pieces.py",
        "keys/join.py", "files/begun.py", "files/restart.py",
        "building/partial.py", "building/resume.py",
        "building/*join*.py", "building/*pieces*.py",
    ),
    "packers": (
        "files/packing.py", "files/chunks.py", "keys/frames.py",
        "files/frames.py", "halves/chunks.py",
    ),
    "plans": (
        "plans.py", "halves/plan.py", "halves/memory.py",
        "halves/rates.py", "keys/plan.py", "building/*.py",
    ),
}  # fmt: skip
NOT_COUNTED = ("*/cluster.py", "cli/*", "web/*", "*/__init__.py")


def statements(source: str) -> int:
    """The statements of a file, docstrings left out.

    >>> statements("def f(): 'says'; a = 1; return a")
    3
    """
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.stmt)]
    return sum(not _is_docstring(node) for node in nodes)


def _is_docstring(node: ast.stmt) -> bool:
    is_constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_constant and isinstance(node.value.value, str)  # type: ignore[attr-defined]


def sources(commit: str | None) -> dict[str, str]:
    """The sources of the package, by path."""
    if commit is None:
        paths = sorted((ROOT / "tablebase").rglob("*.py"))
        return {path.relative_to(ROOT).as_posix(): path.read_text() for path in paths}
    names = _git("ls-tree", "-r", "--name-only", commit, "tablebase").split()
    return {name: _git("show", f"{commit}:{name}") for name in names if name.endswith(".py")}


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


def print_statements(commit: str | None) -> None:
    """Each file once, in the first group that has a pattern for it."""
    found: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for name, source in sources(commit).items():
        path = name.removeprefix("tablebase/")
        groups = [g for g, patterns in GROUPS.items() if any(fnmatch(path, p) for p in patterns)]
        if groups and not any(fnmatch(path, pattern) for pattern in NOT_COUNTED):
            found[groups[0]].append((name, statements(source)))
    for group in GROUPS:
        for name, number in found[group]:
            print(f"{number:6}  {name}")
        print(f"{sum(n for _, n in found[group]):6}  {group}\n")
    work = sum(n for group in ("builders", "stores", "packers") for _, n in found[group])
    print(f"{work:6}  builders, stores and packers\n{sum(map(_size, found.values())):6}  all")


def _size(files: list[tuple[str, int]]) -> int:
    return sum(number for _, number in files)


# The way to the kernel.


def print_chain(words: list[str]) -> None:
    """Run a build up to its first kernel of a walk, and print the way; what plans is passed by."""
    from numba.core.dispatcher import Dispatcher

    stacks = _follow_threads()
    plain = Dispatcher.__call__

    def look(self: Any, *arguments: Any) -> Any:
        handed = stacks.get(threading.get_ident(), [])
        chain = [*handed, *_own(sys._getframe(1))]
        is_walk = self.py_func.__module__.startswith("retro.walk.")
        if is_walk and not any("plan" in name or "rates" in name for name in chain):
            _show([*chain, f"{self.py_func.__module__}.{self.py_func.__name__}"])
        return plain(self, *arguments)

    Dispatcher.__call__ = look  # type: ignore[method-assign,assignment]
    from tablebase.cli.build import main

    with tempfile.TemporaryDirectory() as folder:
        main([*words, "--out", f"{folder}/t.h5", "--threads", "1", "--quiet"])


def _follow_threads() -> dict[int, list[str]]:
    """Have threads of a pool know where their task was handed over."""
    from concurrent.futures import ThreadPoolExecutor

    submit, found = ThreadPoolExecutor.submit, dict[int, list[str]]()

    def follow(self: Any, function: Any, /, *arguments: Any, **named: Any) -> Any:
        here = [*found.get(threading.get_ident(), []), *_own(sys._getframe(1))]

        def run() -> Any:
            found[threading.get_ident()] = here
            return function(*arguments, **named)

        return submit(self, run)

    ThreadPoolExecutor.submit = follow  # type: ignore[method-assign]
    return found


def _own(frame: FrameType | None) -> list[str]:
    """The functions of this project on a stack, the outermost first."""
    found = []
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.partition(".")[0] in ("retro", "tablebase"):
            name = frame.f_code.co_qualname
            if not name.startswith("<module>"):
                found.append(f"{module}.{name}")
        frame = frame.f_back
    return found[::-1]


def _show(chain: list[str]) -> NoReturn:
    for number, name in enumerate(chain, 1):
        print(f"{number:3}  {name}")
    sys.stdout.flush()
    os._exit(0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--at", metavar="COMMIT", help="count the files of a commit")
    parser.add_argument("--chain", nargs="+", metavar="BOARD", help="print the way of a build")
    options = parser.parse_args()
    if options.chain:
        print_chain(options.chain)
    else:
        print_statements(options.at)


if __name__ == "__main__":
    main()
