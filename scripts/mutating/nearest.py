"""Which tests and which compiled kernels a change of a module may touch, by what imports what."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from retro.kernel_cache import imported

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

Graph = dict[str, set[str]]  # {module: the modules that it imports}
DISPATCH = "retro.games.kernels"  # its kernels call those that every game registers
GAMES = "retro.games."
FAR = 1_000


def module_of(path: str) -> str:
    """The module of a file.

    >>> module_of("retro/games/game.py"), module_of("tablebase/__init__.py")
    ('retro.games.game', 'tablebase')
    """
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def imports_of(sources: dict[str, str]) -> Graph:
    """What the modules of {path: source} import, anywhere in them."""
    modules = {module_of(path) for path in sources}
    return {module_of(path): _imported(source) & modules for path, source in sources.items()}


def _imported(source: str) -> set[str]:
    found = set(re.findall(r"\b((?:retro|tablebase)(?:\.\w+)+)", source))  # texts name them, too
    found |= {text.rpartition(".")[0] for text in found}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
    return found


def nearest_tests(changed: str, tests: dict[str, str], graph: Graph) -> list[str]:
    """The test files of {path: source}, those first that are nearest to a changed module.

    Near is a test that is named as the module, then one that imports it, then one that imports
    what imports it; of equals the one whose path has more words of the module's.
    """
    steps = _steps_to(changed, graph)
    words = set(re.split(r"[._]", changed)) - {"retro", "tablebase"}

    def distance(path: str) -> tuple[int, int, str]:
        of_path = set(re.split(r"[/_.]", path)) - {"tests", "test", "py"}
        is_named = path.endswith(f"/test_{changed.rpartition('.')[2]}.py")
        steps_there = [steps.get(name, FAR) for name in _imported(tests[path])]
        return -1 if is_named else min(steps_there, default=FAR), -len(words & of_path), path

    return sorted(tests, key=distance)


def _steps_to(changed: str, graph: Graph) -> dict[str, int]:
    """How many imports lead from each module to the changed one."""
    steps, reached = {changed: 0}, {changed}
    while reached:
        step = 1 + max(steps.values())
        reached = {name for name, names in graph.items() if names & reached} - set(steps)
        steps |= dict.fromkeys(reached, step)
    return steps


def kept_kernels(files: Iterable[str], changed: str, sources: dict[str, str]) -> list[str]:
    """The files of compiled kernels that a change of a module leaves as they are.

    A kernel is made of its module and of what that imports at its top. Kernels of any game call
    those that games have registered, which nobody imports: they are made of all games.
    """
    top = {module_of(path): imported(source) & {*map(module_of, sources)}
           for path, source in sources.items()}  # fmt: skip
    made_of: Graph = {}
    for module in top:
        made_of[module] = _closure({module}, top)
        if DISPATCH in made_of[module]:
            games = {name for name in top if name.startswith(GAMES)}
            made_of[module] = _closure({module, *games}, top)
    return [file for file in files if changed not in made_of.get(_owner(file, top), {changed})]


def _owner(file: str, modules: Iterable[str]) -> str:
    """The module of a kernel's file: `retro.walk.halves.backward.walk_group-8a07.kernel`."""
    return max((m for m in modules if file.startswith(f"{m}.")), key=len, default="")


def _closure(names: set[str], graph: Graph) -> set[str]:
    found: set[str] = set()
    reached = set(names)
    while reached:
        found |= reached
        reached = {there for name in reached for there in graph.get(name, ())} - found
    return found


def read_sources(root: Path, *folders: str) -> dict[str, str]:
    """{path below the root: source} of the Python files of some folders."""
    paths = sorted(path for folder in folders for path in (root / folder).rglob("*.py"))
    return {path.relative_to(root).as_posix(): path.read_text() for path in paths}
