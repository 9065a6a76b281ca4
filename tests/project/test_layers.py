"""The rooms and which way their doors open: imports run downward only, inside rooms, too.

A room may import itself and what stands in its line below; the longest name that fits a module
is its room. `docs/architecture.md` draws the same.
"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from retro.games.catalogue import NAMES

ROOT = Path(__file__).parents[2]
GROUND = "retro.errors retro.jit retro.kernel_cache retro.version"
LOW = f"{GROUND} retro.cores retro.answers retro.bits retro.deadline retro.memory retro.once"
SHARED_GAMES = (
    "retro.games.arrays retro.games.catalogue retro.games.cells retro.games.game "
    "retro.games.grid retro.games.grid_arrays retro.games.grid_scene retro.games.grid_text "
    "retro.games.habits retro.games.kernels retro.games.line_kernels retro.games.moves "
    "retro.games.picture retro.games.position retro.games.scene "
    "retro.games.stones retro.games.symmetry retro.games.values"
)
TABLES_LOW = (
    "retro tablebase.units tablebase.machine tablebase.files tablebase.answers "
    "tablebase.building.plan tablebase.pictures"
)
TABLES = f"{TABLES_LOW} tablebase.indexes tablebase.tables"
# What a module of a room may import of this project, besides its own room.
ALLOWED = {
    "retro": "retro.version",
    "retro.errors": "",
    "retro.jit": "retro.kernel_cache retro.version",
    "retro.kernel_cache": "retro.version",
    "retro.version": "",
    "retro.bits": GROUND,
    "retro.cores": "",
    "retro.deadline": GROUND,
    "retro.memory": "retro.errors",
    "retro.once": "",
    "retro.answers": (
        f"{GROUND} retro.games.game retro.games.moves retro.games.picture retro.games.scene "
        "retro.games.values"
    ),
    "retro.games": f"{LOW} retro.games",
    **{f"retro.games.{name.replace('-', '_')}": f"{LOW} {SHARED_GAMES}" for name in NAMES},
    "retro.index.halves": f"{LOW} retro.games",
    "retro.index.keys": f"{LOW} retro.games",
    "retro.walk": f"{LOW} retro.games retro.index",
    "retro.walk.task": "",
    "retro.walk.halves": f"{LOW} retro.games retro.index.halves retro.walk.task",
    "retro.walk.keys": f"{LOW} retro.games retro.index.keys retro.walk.task",
    "retro.search": f"{LOW} retro.games",
    "retro.search.connect4": f"{LOW} retro.games retro.index.halves retro.search",
    "retro.search.generic": f"{LOW} retro.games retro.search",
    "retro.search.ladder": f"{LOW} retro.games retro.search",
    "retro.svg": "",
    "retro.play": f"{LOW} retro.svg retro.games retro.search",
    "tablebase": "retro",
    "tablebase.units": "retro",
    "tablebase.files": "retro tablebase.units",
    "tablebase.answers": "retro tablebase.units tablebase.building.plan tablebase.strategy",
    "tablebase.pictures": "retro tablebase.units tablebase.answers tablebase.building.plan",
    "tablebase.building.plan": (
        "retro tablebase.units tablebase.machine tablebase.files tablebase.pictures"
    ),
    "tablebase.indexes": TABLES_LOW,
    "tablebase.halves": f"{TABLES_LOW} tablebase.indexes",
    "tablebase.keys": f"{TABLES_LOW} tablebase.indexes",
    # A table offers its rows and files, which know it for types only.
    "tablebase.tables": f"{TABLES_LOW} tablebase.indexes tablebase.rows tablebase.exports",
    "tablebase.rows": "retro tablebase.tables",
    "tablebase.exports": "retro tablebase.files tablebase.rows tablebase.tables",
    "tablebase.known": "retro tablebase.answers",
    "tablebase.building": (
        f"{TABLES_LOW} tablebase.building tablebase.indexes tablebase.keys tablebase.halves "
        "tablebase.tables"
    ),
    "tablebase.strategy": "retro",
    "tablebase.checks": TABLES,
    "tablebase.oracles": TABLES,
    "tablebase.perfect": f"{TABLES} tablebase.oracles",
    "tablebase.players": f"{TABLES} tablebase.oracles tablebase.perfect",
    "tablebase.web": "retro tablebase",
    "tablebase.cli": "retro tablebase",
    "tablebase.__main__": "tablebase.cli",
}
# The face of the package names everything, for types only and by text.
FACES = {"tablebase/__init__.py", "retro/search/__init__.py"}
NOT_OF_ROOMS = {"tablebase.cli", "tablebase.web"}  # nobody but themselves knows them
PUBLIC = {"build", "plan"}
MODULES = sorted(
    path.relative_to(ROOT)
    for package in ("retro", "tablebase")
    for path in ROOT.glob(f"{package}/**/*.py")
)


def name_of(module: Path) -> str:
    """The dotted name of a module; that of a package is its folder's."""
    return ".".join(module.with_suffix("").parts).removesuffix(".__init__")


@cache
def nodes(module: Path) -> list[ast.AST]:
    """The syntax of a file, read once for all that is asked of it."""
    return list(ast.walk(ast.parse((ROOT / module).read_text())))


@cache
def imports(module: Path) -> frozenset[str]:
    """Every module that is imported anywhere in a file, lazily or for types only, too."""
    found: set[str] = set()
    for node in nodes(module):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            modules = {name for name in names if is_module(name)}
            found |= modules or {node.module}
    return frozenset(found)


def is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


def is_within(name: str, room: str) -> bool:
    return name == room or name.startswith(f"{room}.")


def room_of(name: str) -> str:
    return max((room for room in ALLOWED if is_within(name, room)), key=len)


def modules_of(*rooms: str) -> list[Path]:
    """The modules of some rooms, those of rooms inside them, too."""
    return [m for m in MODULES if any(is_within(name_of(m), room) for room in rooms)]


def importers(*packages: str) -> set[Path]:
    """The modules that import something of a package."""
    return {m for m in MODULES if any(is_within(n, p) for n in imports(m) for p in packages)}


@pytest.mark.parametrize("room", ALLOWED)
def test_imports_run_downward(room: str) -> None:
    allowed = {room, *ALLOWED[room].split()}
    if room == "retro.games":
        allowed = {*ALLOWED[room].split(), *SHARED_GAMES.split()} - {room}
    upward = [
        f"{module} imports {name}"
        for module in modules_of(room)
        if room_of(name_of(module)) == room and str(module) not in FACES
        for name in imports(module) - {"retro.games"}  # the catalogue lists its own folder
        if is_within(name, "retro") or is_within(name, "tablebase")
        if not any(is_within(name, one) for one in allowed)
    ]
    assert upward == []


def test_one_room_knows_h5py() -> None:
    assert importers("h5py", "hdf5plugin") <= set(modules_of("tablebase.files"))


def test_one_module_knows_dask() -> None:
    assert importers("dask", "distributed") <= {Path("tablebase/building/cluster.py")}


def test_only_doors_know_the_doors() -> None:
    assert importers(*NOT_OF_ROOMS) <= set(modules_of(*NOT_OF_ROOMS, "tablebase.__main__"))


def test_a_game_is_known_in_its_own_folder_only() -> None:
    """No list of games by name: what differs between games stands in their records."""
    for module in set(MODULES) - set(modules_of("retro.games")):
        texts = {node.value for node in nodes(module) if isinstance(node, ast.Constant)}
        assert not texts & set(NAMES), module


def test_every_room_is_on_the_map() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    for room in ALLOWED:
        *_, last = room.split(".")
        if last not in ("version", "units", "__main__") and not room.startswith("retro.games."):
            assert re.search(rf"\b{last}\b", page), f"{room} is not on the map"


def test_files_stay_readable() -> None:
    for module in [*MODULES, *ROOT.glob("tests/**/*.py"), *ROOT.glob("scripts/**/*.py")]:
        assert len((ROOT / module).read_text().splitlines()) <= 500, module


def parameters_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """The names of a function's parameters, those of any number, too."""
    given = node.args
    several = [one for one in (given.vararg, given.kwarg) if one is not None]
    names = [one.arg for one in [*given.posonlyargs, *given.args, *given.kwonlyargs, *several]]
    return [name for name in names if name not in ("self", "cls")]


def test_functions_take_few_parameters() -> None:
    """What travels together is a record."""
    for module in MODULES:
        for node in nodes(module):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                names = parameters_of(node)
                if node.name in PUBLIC:  # people give one or two of them, by name
                    continue
                assert len(names) <= 8, f"{module}: {node.name} takes {', '.join(names)}"
