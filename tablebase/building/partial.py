"""What a build keeps until its table is finished, in a folder beside its place, or in memory.

    tables/mnk-4x4-connect4.h5.partial/
        table.txt                          the rule: version of this program, how layers are cut;
                                           the header of the table
        backward-07-00000-00312.part       what the task of groups 0 to 311 of ply 7 has left
        ply-07.part                        a finished ply, packed as the table will have it
    tables/mnk-4x4-connect4.h5             at the end joined, synced, renamed

A part is a file of frames (`files.frames`), written aside under a name that no other writer has
and renamed, so it is whole or not there, whoever else writes it; its name is the mark that its task
is done. What a power cut leaves is found out when it is read: `LostGroupError` names the task,
and it is done again. A build that dies at any moment goes on from what is there, with any number of
workers. A short build keeps the same parts in memory: nothing touches the disk but the table.

One run makes of what an earlier one has left whatever can be made of it, and says so (`Resume`):

    resuming: 12 of 21 plies are finished
    rebuilding: .../walk-07-00003-00004.group is damaged: its list of frames is not there
    rebuilt: 31 files that were damaged or missing
    starting over: .../ply-12.part is damaged: ...

Parts of different rules do not go together. Who builds goes on from parts of the same table and
rule; who works for a build elsewhere has the same rule and sees the same folder, or is refused.
"""

from __future__ import annotations

import contextlib
import re
import shutil
from io import BytesIO
from typing import TYPE_CHECKING, Any

from retro.errors import (
    ChecksumError,
    DamagedFileError,
    FormatVersionError,
    LostGroupError,
    StorageError,
)
from retro.walk.task import Task
from tablebase.files.atomic import parts_folder, storage_errors, whole_file, write_whole
from tablebase.files.frames import FrameReader, FrameWriter
from tablebase.files.opening import reading
from tablebase.files.seal import ply_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from _typeshed import DataclassInstance

    from retro.walk.task import Walk

NAME = re.compile(r"[a-z]+-(\d+)-(\d+)-(\d+)\.[a-z]+")
RULE_FILE = "table.txt"


def part_name(task: Task, kind: str = "part") -> str:
    """The name of what a task leaves.

    >>> part_name(Task("walk", 7, 0, 312))
    'walk-07-00000-00312.part'
    """
    return f"{task.walk}-{task.ply:02d}-{task.first:05d}-{task.last:05d}.{kind}"


def ply_part(ply: int) -> str:
    """The name of a finished ply."""
    return f"{ply_name(ply)}.part"


class Partial:
    """The parts of a build. Holds no open file between calls; can be sent to other processes."""

    def __init__(
        self, path: Path, header: DataclassInstance, rule: str, beside: Path | None = None
    ) -> None:
        self.path, self.header, self.rule = path, header, rule
        self.beside = beside or path
        self.folder = parts_folder(self.beside).absolute()  # workers may be anywhere

    def __eq__(self, other: object) -> bool:
        """Whether both are the same build; a worker gets a new object with every task."""
        return isinstance(other, Partial) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(self.folder)

    # The folder.

    def open(self) -> str:
        """Make the folder, or throw away what a build with other options has left in it: why.

        What another rule has left may be the work of days: refused, not thrown away.
        """
        why = ""
        mark, wanted = self._mark
        with storage_errors(self.folder):
            if self.has_files() and (found := _read(mark)) != wanted:
                rule, _, header = found.decode(errors="replace").partition("\n")
                if header == repr(self.header):
                    raise FormatVersionError(
                        f"{self.folder} was started by {rule}, this is {self.rule}; "
                        "finish it with that, or say --force"
                    )
                why = f"{self.folder} is of another build, or does not say of which"
                self.discard()
            self.folder.mkdir(parents=True, exist_ok=True)
            for left in self.folder.glob("*.tmp"):  # by a build that was killed
                left.unlink(missing_ok=True)
            if not mark.exists():
                write_whole(mark, wanted)
        return why

    @property
    def _mark(self) -> tuple[Path, bytes]:
        return self.folder / RULE_FILE, f"{self.rule}\n{self.header!r}".encode()

    def has_files(self) -> bool:
        """Whether an earlier run has left anything."""
        return self.folder.exists() and any(self.folder.iterdir())

    def require_worker(self, rule: str) -> None:
        """Refuse to work here, on another machine perhaps, by another rule or without the files."""
        if self.rule != rule:
            raise FormatVersionError(f"it has {rule}; the plan is of {self.rule}")
        mark, wanted = self._mark
        try:
            found = mark.read_bytes()
        except OSError as error:
            reason = f"cannot read {mark}: {error.strerror}"
            raise StorageError(f"{reason}; wanted a work folder that all workers share") from None
        if found != wanted:
            raise StorageError(f"{mark} is of another table")

    def discard(self) -> None:
        """All is thrown away."""
        shutil.rmtree(self.folder, ignore_errors=True)

    # Parts.

    @contextlib.contextmanager
    def write(self, name: str, *, synced: bool = False) -> Iterator[FrameWriter]:
        """A part to write: when all is done it is there, whole; else it is not."""
        with (
            storage_errors(self.folder),
            whole_file(self.folder / name, synced=synced, alone=False) as aside,
            aside.open("w+b") as file,
        ):
            yield FrameWriter(file, self._says(name))

    @contextlib.contextmanager
    def read(self, name: str) -> Iterator[FrameReader]:
        """A part to read; `ChecksumError` if it is damaged or missing."""
        path = self.folder / name
        try:
            with reading(path), path.open("rb") as file:
                yield FrameReader(file, self._says(name))
        except ChecksumError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                raise ChecksumError(f"{path} is missing") from None
            raise

    def _says(self, name: str) -> str:
        """What a part of this table says that it is: exchanged ones are not taken."""
        return f"{name} of {self.rule}\n{self.header!r}"

    def names(self, pattern: str) -> list[str]:
        """The names of the parts that are there."""
        return [path.name for path in self.folder.glob(pattern)]

    def remove(self, name: str) -> None:
        (self.folder / name).unlink(missing_ok=True)

    # What tasks leave.

    @contextlib.contextmanager
    def read_task(self, task: Task, kind: str = "part") -> Iterator[FrameReader]:
        """What a task has left; `LostGroupError` if it is damaged, then removed, or missing."""
        name = part_name(task, kind)
        try:
            with self.read(name) as reader:
                yield reader
        except ChecksumError as error:
            self.remove(name)
            raise LostGroupError(str(error), *task[:3]) from None

    def done(self, walk: Walk, ply: int, kind: str = "part") -> list[Task]:
        """The tasks of a ply that have left a part, in order; no group is in two of them."""
        matches = (NAME.fullmatch(name) for name in self.names(f"{walk}-{ply:02d}-*.{kind}"))
        found = [Task(walk, ply, int(name[2]), int(name[3])) for name in matches if name]
        found.sort(key=lambda task: (task.first, -task.last))
        kept: list[Task] = []
        for task in found:
            if not kept or task.first >= kept[-1].last:
                kept.append(task)
        return kept

    def all_done(self, whole: Task) -> list[Task]:
        """The same of all groups of a task, by one look: another process may remove a part."""
        there = self.done(whole.walk, whole.ply)
        for gap in gaps(whole, there):
            missing = self.folder / part_name(gap)
            raise LostGroupError(f"{missing} is damaged or missing: no such file", *gap[:3])
        return there

    def forget(self, walk: Walk, plies: Iterable[int], kind: str = "part") -> None:
        """What the tasks of these plies have left is not read any more."""
        for ply in plies:
            for name in self.names(f"{walk}-{ply:02d}-*.{kind}"):
                self.remove(name)

    def check(self, name: str) -> dict[str, Any]:
        """Read all of a part; what it tells. `ChecksumError` if it is not whole."""
        with self.read(name) as reader:
            reader.check()
            return reader.said

    def sweep(self) -> list[str]:
        """Remove what tasks have left that is not whole; returns what was wrong with each."""
        wrong = []
        for name in sorted(self.names("*-*-*-*.part")):
            try:
                self.check(name)
            except DamagedFileError as error:
                self.remove(name)
                wrong.append(str(error))
        return wrong


class Resume:
    """Tells what becomes of what an earlier run has left. Used by whoever drives the build."""

    def __init__(self, announce: Callable[[str], None] = lambda _: None) -> None:
        self._announce = announce
        self._rebuilt = 0

    def resumes(self, what: str) -> None:
        """Something is there to go on from."""
        self._announce(f"resuming: {what}")

    def starts_over(self, why: str) -> None:
        """What was there is of no use."""
        self._announce(f"starting over: {why}")

    def rebuilds(self, what: str) -> None:
        """A file is damaged or missing and will be made again; the first one is named."""
        if not self._rebuilt:
            self._announce(f"rebuilding: {what}")
        self._rebuilt += 1

    def end(self) -> None:
        """The build is done."""
        if self._rebuilt:
            one = self._rebuilt == 1
            files = "1 file that was" if one else f"{self._rebuilt:,} files that were"
            self._announce(f"rebuilt: {files} damaged or missing")


def gaps(whole: Task, done: Iterable[Task]) -> list[Task]:
    """The stretches of groups of a task that others, in order, have not done.

    >>> [gap[2:4] for gap in gaps(Task("walk", 7, 0, 9), [Task("walk", 7, 2, 5)])]
    [(0, 2), (5, 9)]
    """
    found, at = [], whole.first
    for task in done:
        found.append(whole._replace(first=at, last=task.first))
        at = task.last
    found.append(whole._replace(first=at))
    return [gap for gap in found if gap.first < gap.last]


def new_partial(partial: Partial, *, force: bool, in_memory: bool) -> Partial:
    """The same in memory, unless a folder is there to go on from; `force` removes that first."""
    if force:
        partial.discard()
    if in_memory and not partial.folder.exists():
        return InMemory(partial.path, partial.header, partial.rule)
    return partial


def rule_there(path: Path) -> str:
    """The rule of an earlier run whose parts are beside a path; nothing without one."""
    return _read(parts_folder(path) / RULE_FILE).decode(errors="replace").partition("\n")[0]


def _read(mark: Path) -> bytes:
    return mark.read_bytes() if mark.exists() else b""


class InMemory(Partial):
    """The parts of a short build, in memory. Only threads of one process use it."""

    def __init__(self, path: Path, header: DataclassInstance, rule: str) -> None:
        super().__init__(path, header, rule)
        self._parts: dict[str, bytes] = {}

    def open(self) -> str:
        return ""

    def has_files(self) -> bool:
        return False

    def discard(self) -> None:
        self._parts.clear()

    @contextlib.contextmanager
    def write(self, name: str, *, synced: bool = False) -> Iterator[FrameWriter]:
        file = BytesIO()
        yield FrameWriter(file, self._says(name), packs=False)
        self._parts[name] = file.getvalue()

    @contextlib.contextmanager
    def read(self, name: str) -> Iterator[FrameReader]:
        yield FrameReader(BytesIO(self._parts[name]), self._says(name))

    def names(self, pattern: str) -> list[str]:
        begin, _, end = pattern.partition("*")  # of patterns with one star at most
        return [n for n in list(self._parts) if n.startswith(begin) and n.endswith(end)]

    def remove(self, name: str) -> None:
        self._parts.pop(name, None)
