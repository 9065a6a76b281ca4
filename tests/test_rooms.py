"""The rooms and which way their doors open: imports run downward only."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# What a module of a room may import of this project, besides its own room.
ALLOWED = {
    "retro/__init__.py": {"retro.version"},
    "retro/errors.py": set(),
    "retro/jit.py": set(),
    "retro/version.py": set(),
    "retro/games": {"retro.errors", "retro.jit"},
    "retro/index": {"retro.errors", "retro.jit", "retro.games"},
    "retro/walk": {"retro.errors", "retro.jit", "retro.games", "retro.index"},
    "retro/search": {"retro.errors", "retro.jit", "retro.games", "retro.index"},
    "tablebase/cli": {"retro", "tablebase"},
    "tablebase": {"retro", "tablebase"},
}
KNOWS_H5PY = "tablebase/store_hdf5.py"
MODULES = sorted(
    path.relative_to(ROOT)
    for room in ("retro", "tablebase")
    for path in ROOT.glob(f"{room}/**/*.py")
)


def imports(module: Path) -> set[str]:
    """Every module that is imported anywhere in a file, lazily or for types only, too."""
    found = set()
    for node in ast.walk(ast.parse((ROOT / module).read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def room_of(module: Path) -> str:
    name = module.as_posix()
    return max((room for room in ALLOWED if name == room or name.startswith(f"{room}/")), key=len)


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_imports_run_downward(module: Path) -> None:
    room = room_of(module)
    own = room.removesuffix(".py").replace("/", ".")
    for name in imports(module):
        if name.split(".")[0] in ("retro", "tablebase"):
            allowed = {own, *ALLOWED[room]}
            assert any(name == a or name.startswith(f"{a}.") for a in allowed), f"{module}: {name}"


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_one_module_knows_h5py(module: Path) -> None:
    names = {name.split(".")[0] for name in imports(module)}
    assert not names & {"h5py", "hdf5plugin"} or module.as_posix() == KNOWS_H5PY


@pytest.mark.parametrize("module", [m for m in MODULES if room_of(m) != "tablebase/cli"], ids=str)
def test_only_the_commands_know_the_commands(module: Path) -> None:
    assert module.name == "__main__.py" or not any("cli" in n.split(".") for n in imports(module))


def test_every_room_is_on_the_readmes_map() -> None:
    readme = (ROOT / "README.md").read_text()
    for module in MODULES:
        if module.name not in ("__init__.py", "__main__.py", "version.py"):
            assert module.name in readme, f"{module} is not on the map"


def test_files_stay_readable() -> None:
    for module in MODULES:
        assert len((ROOT / module).read_text().splitlines()) <= 500, module
