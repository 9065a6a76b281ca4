"""Compiled kernels on disk, found again only while every source they were made of is the same.

Numba's own disk cache looks at the file of the function that Python calls. A kernel
here is made of functions of a dozen files, so an edit in another one, or a `git pull`,
would go unnoticed and old machine code would answer. So the place says it all:

    <cache folder>/retro-tablebase/<digest>/retro.walk.halves.backward.walk-1f0c....kernel
                                      |          the function           its argument types
                                      |
        all modules with kernels and what they import, the versions of Python, numba,
        llvmlite and numpy, the CPU, and the settings that change what is compiled

The cache folder is `NUMBA_CACHE_DIR`, else the user's own. Where a kernel is not there it is
looked for beside the sources, in `retro/__pycache__`: whoever installs for others who cannot
write puts them there (`NUMBA_CACHE_DIR=.../retro/__pycache__ build-tablebase 4x4`). Folders of
old digests go when a new one is begun, but for the `KEPT` that were used last. One file per
function and types, written whole or not at all, so that processes may share them.

A cache only saves time: where it cannot be written (a read-only home, a full disk) kernels
are compiled in memory, and one line on stderr says so.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import os
import pickle
import platform
import re
import shutil
import sys
import uuid
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import llvmlite
import numba
import numpy as np
from llvmlite import binding
from numba.core import config
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature
from numba.core.types import BaseTuple
from numba.misc.appdirs import AppDirs

if TYPE_CHECKING:
    from collections.abc import Callable

    from numba.core.types import Type

    Inner = Any  # of the inner rooms of numba, which have no types
    Arguments = tuple[Type, ...]
    Packed = tuple[object, ...]  # a compiled kernel as numba takes it apart

APPLICATION = "retro-tablebase"
ROOT = Path(__file__).parents[1]
ROOMS = ("retro", "tablebase")
BESIDE = ROOT / "retro" / "__pycache__" / APPLICATION
KEPT = 8  # digests: several checkouts may take turns
DIGEST_LETTERS = 20
# Settings of numba that change what it compiles, by their names in its config.
SETTINGS = (
    "BOUNDSCHECK", "CPU_FEATURES", "CPU_NAME", "DEBUGINFO_DEFAULT", "LOOP_VECTORIZE", "OPT",
    "SLP_VECTORIZE",
)  # fmt: skip

_IMPORT = re.compile(
    r"^(?:from[ ]([\w.]+)[ ]import[ ](\([^)]*\)|[^\n]*)|import[ ]([\w.]+))", re.MULTILINE
)
_BODY = ("\ndef ", "\nclass ", "\n@")  # imports come before; skipping the rest takes 2 ms, not 15


def imported(source: str) -> set[str]:
    """The modules that a source imports at its top: those named, and those that names may be.

    >>> sorted(imported("from retro.games import kernels as k, cells\\nimport numpy as np"))
    ['numpy', 'retro.games', 'retro.games.cells', 'retro.games.kernels']
    """
    found = set()
    ends = [end for word in _BODY if (end := source.find(word)) >= 0]
    for module, names, plain in _IMPORT.findall(source[: min(ends, default=None)]):
        found.add(plain or module)
        words = re.findall(r"(\w+)(?:[ ]as[ ]\w+)?[\s)]*(?:,|$)", names)
        found |= {f"{module}.{word}" for word in words}
    return found


def kernel_sources(root: Path = ROOT) -> dict[str, bytes]:
    """Every module that kernels are made of: those that compile, and what they import.

    Only imports at the top count. A kernel can use nothing that a function imported, or
    that was imported for types alone.
    """
    sources, imports = {}, {}
    for room in ROOMS:
        for folder, _, files in os.walk(root / room):
            package = os.path.relpath(folder, root).replace(os.sep, ".")
            for file in (file for file in files if file.endswith(".py")):
                name = package if file == "__init__.py" else f"{package}.{file[:-3]}"
                sources[name] = Path(folder, file).read_bytes()
                imports[name] = imported(sources[name].decode(errors="replace"))
    found: set[str] = set()
    reached = {n for n, names in imports.items() if any(_is_compiler(name) for name in names)}
    while reached:
        found |= reached
        reached = {name for n in reached for name in imports[n] if name in sources} - found
    return {name: sources[name] for name in sorted(found)}


def _is_compiler(name: str) -> bool:
    return name == "retro.jit" or name.partition(".")[0] in ("numba", "llvmlite")


def digest(root: Path = ROOT) -> str | None:
    """What compiled kernels depend on, in a word; None where there are no sources to look at."""
    sources = kernel_sources(root)
    if not sources:
        return None
    versions = (sys.version, numba.__version__, llvmlite.__version__, np.__version__)
    settings = [_setting(name) for name in SETTINGS]
    machine = (platform.machine(), binding.get_host_cpu_name())
    total = hashlib.sha256(repr((versions, settings, machine)).encode())
    for name, source in sources.items():
        total.update(f"\n{name} {len(source)}\n".encode())
        total.update(source)
    return total.hexdigest()[:DIGEST_LETTERS]


def _setting(name: str) -> int | str | None:
    """A setting of numba, from its environment variable or its file; None if it has none."""
    found: int | str | None = getattr(config, name, None)
    return found


def cache_folder() -> Path | None:
    """Where the digests' folders are: in `NUMBA_CACHE_DIR`, else in the user's cache, if any."""
    chosen = _setting("CACHE_DIR")
    if chosen:
        return Path(str(chosen)).absolute() / APPLICATION
    folder = Path(AppDirs(appname=APPLICATION, appauthor=False).user_cache_dir)
    return folder if folder.is_absolute() else None  # "~" of somebody without a home


class Shelf:
    """The folder of the sources as they were when this process began to import them."""

    def __init__(self) -> None:
        self.digest = digest()
        self._folder = cache_folder()
        self._has_failed = False
        self.partner: Partner | None = None
        if self.folder is not None:
            with contextlib.suppress(OSError):  # read-only, or not there yet
                os.utime(self.folder)  # the digests used last are kept

    @property
    def folder(self) -> Path | None:
        return self._folder / self.digest if self._folder and self.digest else None

    def _folders(self) -> list[Path]:
        """Where a kernel may be: in the cache, or beside the sources."""
        places = (self.folder, BESIDE / self.digest if self.digest else None)
        return [place for place in places if place is not None]

    def has(self, name: str) -> bool:
        """Whether something was written by this name."""
        return any((folder / name).exists() for folder in self._folders())

    def find(self, name: str) -> Packed | None:
        """As `read`; waits for a partner who is at work on it."""
        found = self.read(name)
        if found is None and self.partner is not None and self.partner.waits_for(self, name):
            found = self.read(name)
        return found

    def is_writable(self) -> bool:
        """Whether something can be kept; tries to make the folder, but complains of nothing."""
        if self.folder is None:
            return False
        try:
            self._make(self.folder)
        except OSError:
            return False
        return os.access(self.folder, os.W_OK)

    def read(self, name: str) -> Packed | None:
        """What was written by this name, or None. Whatever is wrong with it, it is as if absent."""
        for folder in self._folders():
            with contextlib.suppress(Exception):  # another hand's: unpickling may raise anything
                data = (folder / name).read_bytes()
                checksum, data = data[:32], data[32:]
                if hashlib.sha256(data).digest() == checksum:
                    found: Packed = pickle.loads(data)
                    return found
        return None

    def write(self, name: str, data: bytes) -> None:
        """Keep something, if that is possible and the sources are still those of this digest."""
        if self._has_failed or digest() != self.digest:
            return
        if self.folder is None:
            self._give_up("there is no folder for them")
            return
        part = self.folder / f"{name}.{uuid.uuid4().hex[:12]}.part"
        try:
            self._make(self.folder)
            part.write_bytes(hashlib.sha256(data).digest() + data)
            part.replace(self.folder / name)
        except OSError as error:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
            self._give_up(f"{self.folder}: {error.strerror or error}")

    def _give_up(self, reason: str) -> None:
        self._has_failed = True
        print(f"kernels are compiled in memory, not kept on disk: {reason}", file=sys.stderr)

    def _make(self, folder: Path) -> None:
        """Make the folder, and remove those of all digests but the few that were used last."""
        if folder.exists():
            return
        folder.mkdir(parents=True, exist_ok=True)
        pattern = re.compile(f"[0-9a-f]{{{DIGEST_LETTERS}}}")
        old = [path for path in folder.parent.iterdir() if pattern.fullmatch(path.name)]
        old.sort(key=lambda path: path.stat().st_mtime, reverse=True)
        for path in old[KEPT:]:
            shutil.rmtree(path, ignore_errors=True)


class Partner(Protocol):
    """Another process that compiles for the same shelf."""

    def waits_for(self, shelf: Shelf, file: str) -> bool:
        """Whether it was the other who compiled a kernel; False if it is ours to do."""
        ...


@cache
def shelf() -> Shelf:
    """The shelf of this process."""
    return Shelf()


class KernelCache(_Cache):
    """What numba asks for compiled versions of one function: a file of the shelf for each."""

    def __init__(self, function: Callable[..., object]) -> None:
        self._function = function
        self.name = f"{function.__module__}.{function.__qualname__}".replace("<locals>", "in")
        self._enabled = True

    @property
    def cache_path(self) -> str | None:
        folder = shelf().folder
        return str(folder) if folder else None

    def load_overload(self, sig: Arguments, target_context: Inner) -> CompileResult | None:
        rtsys.initialize(
            target_context
        )  # all that machine code needs; to compile takes more, 0.15 s
        if not self._enabled:
            return None
        found = shelf().find(self.file_of(sig, target_context.codegen()))
        return None if found is None else CompileResult._rebuild(target_context, *found)

    def save_overload(self, sig: Arguments, data: Inner) -> None:
        if self._enabled and not data.lifted and not data.library.has_dynamic_globals:
            shelf().write(self.file_of(sig, data.codegen), dumps(data._reduce()))

    def enable(self) -> None:
        self._enabled = True

    def disable(self) -> None:
        self._enabled = False

    def flush(self) -> None:
        """Nothing is held back."""

    def file_of(self, sig: Arguments, codegen: Inner) -> str:
        """The file of one signature; functions of other projects are told apart by their source."""
        arguments, _ = normalize_signature(sig)
        held = self._function.__closure__ or ()
        key = (
            [spell(kind) for kind in arguments],
            codegen.magic_tuple(),
            _source_of(inspect.getfile(self._function)),
            dumps(tuple(cell.cell_contents for cell in held)) if held else b"",
        )
        return f"{self.name}-{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.kernel"


def spell(kind: Type) -> str:
    """A numba type in full: its own text leaves out which of two classes of one name a tuple is."""
    if not isinstance(kind, BaseTuple):
        return str(kind)
    owner = getattr(kind, "instance_class", None)
    name = "tuple" if owner is None else f"{owner.__module__}.{owner.__qualname__}"
    return f"{name}({', '.join(map(spell, getattr(kind, 'types', ())))})"


@cache
def _source_of(path: str) -> str:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return path
