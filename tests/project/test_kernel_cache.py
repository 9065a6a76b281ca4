"""Compiled kernels on disk: loaded by other processes, and never after their sources changed."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from retro import kernel_cache

ASK = """
import numpy as np
from retro.games import kernels
from retro.games.quarto.rules import QuartoBoard
from retro.games.quarto.kernels import quarto_rules
state = quarto_rules(QuartoBoard(4)), np.uint64(0), np.uint64(0x13_0000)
for question in {questions}:
    answer = getattr(kernels, question)(*state)
    print(question, [int(word) for word in answer] if isinstance(answer, tuple) else int(answer))
"""


ROOT = Path(__file__).parents[2]
CONSTANTS = "STEP = 1\n"
INNER = """
from retro.constants import STEP
from retro.jit import inner

@inner
def one_more(x):
    return x + STEP
"""
ENTRY = """
from retro.inner import one_more
from retro.jit import entry

@entry
def twice(x):
    return one_more(one_more(x))
"""
RUN = "from retro.entry import twice; print(twice(40), twice.stats.cache_hits)"


def ask(questions, folder):
    """The answers of a new process that keeps its kernels in a folder."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder)}
    command = [sys.executable, "-c", ASK.format(questions=questions)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_the_order_of_compilation_does_not_matter(tmp_path) -> None:
    """Numba names machine code by function and number; the numbers begin anew in every process."""
    assert ask(["canonical_of"], tmp_path) == ["canonical_of [0, 1048576]"]
    both = ["outcome_of 2", "canonical_of [0, 1048576]"]
    assert ask(["outcome_of", "canonical_of"], tmp_path) == both


@pytest.fixture
def tree(tmp_path):
    """This project's compiler with a kernel of three modules: entry, inner, constant."""
    room = tmp_path / "tree" / "retro"
    room.mkdir(parents=True)
    for name in ("__init__.py", "version.py", "jit.py", "kernel_cache.py"):
        shutil.copy(ROOT / "retro" / name, room)
    for name, text in (("constants", CONSTANTS), ("inner", INNER), ("entry", ENTRY)):
        (room / f"{name}.py").write_text(text)
    return room


def run(tree, folder, command=RUN, **environment):
    """(answer, loaded from disk) of a new process, and what it said on stderr."""
    told = {"PYTHONPATH": str(tree.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    environment = os.environ | told | {"NUMBA_CACHE_DIR": str(folder)} | environment
    done = subprocess.run(
        [sys.executable, "-c", command],
        env=environment, cwd=tree.parent, capture_output=True, text=True, check=True,
    )  # fmt: skip
    answer, hits = done.stdout.split(maxsplit=1)
    return int(answer), "1" in hits, done.stderr


def edit(path, before, after):
    """Change a file but neither its size nor its time."""
    stamp = path.stat()
    path.write_text(path.read_text().replace(before, after))
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))


def test_an_edit_in_another_module_is_noticed(tree, tmp_path) -> None:
    folder = tmp_path / "cache"
    assert run(tree, folder) == (42, False, "")
    assert run(tree, folder) == (42, True, "")
    edit(tree / "inner.py", "x + STEP", "x - STEP")
    assert run(tree, folder) == (38, False, "")
    edit(tree / "constants.py", "STEP = 1", "STEP = 2")
    assert run(tree, folder) == (36, False, "")
    edit(tree / "inner.py", "x - STEP", "x + STEP")
    edit(tree / "constants.py", "STEP = 2", "STEP = 1")
    assert run(tree, folder) == (42, True, "")  # the first of the four is still there


def test_a_kernel_from_disk_needs_no_compiler(tree, tmp_path) -> None:
    """What numba knows of types and of numpy takes longer to load than most questions."""
    seen = "; import sys; print('numba.core.typing.arraydecl' in sys.modules, file=sys.stderr)"
    assert run(tree, tmp_path / "cache", RUN + seen) == (42, False, "True\n")
    assert run(tree, tmp_path / "cache", RUN + seen) == (42, True, "False\n")
    late = RUN + "; print(twice(0.5), file=sys.stderr)"  # another type: it compiles after all
    assert run(tree, tmp_path / "cache", "import sys; " + late) == (42, True, "2.5\n")


def test_settings_that_change_the_code_have_kernels_of_their_own(tree, tmp_path) -> None:
    for setting in ("0", "1"):
        assert run(tree, tmp_path / "cache", NUMBA_BOUNDSCHECK=setting)[1] is False


def test_sources_that_change_under_a_process_are_not_kept_by_its_digest(tree, tmp_path) -> None:
    late = "from retro.entry import twice; from pathlib import Path; import retro.constants as c;"
    late += "Path(c.__file__).write_text('STEP = 5'); print(twice(40), twice.stats.cache_hits)"
    assert run(tree, tmp_path / "cache", late)[:2] == (42, False)
    assert not list((tmp_path / "cache").glob("**/*.kernel"))


def test_where_nothing_can_be_kept_kernels_still_run(tree, tmp_path) -> None:
    """A folder that cannot be made: a file is in its place. Said once, whatever compiles."""
    blocked = tmp_path / "file"
    blocked.write_text("")
    both = RUN.replace("print", "twice(0.5); print")
    answer, loaded, said = run(tree, blocked, both)
    assert (answer, loaded) == (42, False)
    assert len(said.splitlines()) == 1
    assert said.startswith("kernels are compiled in memory, not kept on disk: ")


def test_without_a_home_kernels_still_run(tree) -> None:
    homeless = (
        "import pathlib, retro.kernel_cache as k; k.AppDirs = lambda **_: "
        "type('', (), {'user_cache_dir': '~/.cache/x'}); " + RUN
    )
    answer, loaded, said = run(tree, "", homeless)
    assert (answer, loaded) == (42, False)
    assert "there is no folder for them" in said


def test_a_full_disk_fails_no_query(tree, tmp_path) -> None:
    full = """
import errno, pathlib
def write_bytes(self, data):
    raise OSError(errno.ENOSPC, "No space left on device")
pathlib.Path.write_bytes = write_bytes
"""
    answer, loaded, said = run(tree, tmp_path / "cache", full + RUN)
    assert (answer, loaded) == (42, False)
    assert "No space left on device" in said
    assert not [path for path in (tmp_path / "cache").glob("**/*") if path.is_file()]


def test_a_damaged_file_is_compiled_anew(tree, tmp_path) -> None:
    folder = tmp_path / "cache"
    run(tree, folder)
    for path in folder.glob("**/*.kernel"):
        path.write_bytes(path.read_bytes()[:-9])
    assert run(tree, folder) == (42, False, "")
    assert run(tree, folder) == (42, True, "")


def test_old_digests_go_but_the_ones_used_last(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(kernel_cache.config, "CACHE_DIR", str(tmp_path))
    folder = tmp_path / kernel_cache.APPLICATION
    for i in range(12):
        old = folder / f"{i:0{kernel_cache.DIGEST_LETTERS}x}"
        old.mkdir(parents=True)
        os.utime(old, (1000 + i, 1000 + i))
    (folder / "notes").mkdir()
    shelf = kernel_cache.Shelf()
    shelf.write("f.kernel", b"")
    left = sorted(path.name for path in folder.iterdir())
    kept = [f"{i:0{kernel_cache.DIGEST_LETTERS}x}" for i in range(13 - kernel_cache.KEPT, 12)]
    assert left == sorted([*kept, shelf.digest, "notes"])


COMPILERS = {"entry", "inner", "inlined", "njit", "intrinsic"}  # `overload` is also typing's


def decorators(path):
    """The names in all decorators of a module."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        for decorator in getattr(node, "decorator_list", ()):
            found |= {n.id for n in ast.walk(decorator) if isinstance(n, ast.Name)}
    return found


def test_every_module_with_kernels_is_looked_at() -> None:
    looked_at = kernel_cache.kernel_sources()
    paths = [path for room in kernel_cache.ROOMS for path in (ROOT / room).glob("**/*.py")]
    kernels = [path for path in paths if decorators(path) & COMPILERS]
    assert len(kernels) > 20
    for path in kernels:
        assert ".".join(path.relative_to(ROOT).with_suffix("").parts) in looked_at


COUNT = """
from numba.core.codegen import JITCodeLibrary
names, optimize = set(), JITCodeLibrary._optimize_final_module
def noted(library):
    names.add(library.name)
    optimize(library)
JITCodeLibrary._optimize_final_module = noted
from retro.entry import twice
print(twice(40), *names)
"""


def test_only_what_python_calls_is_optimized_in_full(tree, tmp_path) -> None:
    told = {"PYTHONPATH": str(tree.parent), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", COUNT],
        env=os.environ | told, cwd=tree.parent, capture_output=True, text=True, check=True,
    )  # fmt: skip
    answer, *names = done.stdout.split()
    assert (answer, "twice" in names, "one_more" in names) == ("42", True, False)
