"""The files of a table being built, in a folder beside its place.

    tables/connect4-5x4.h5.partial/
        table.txt                  which table, and which options
        walk-07-0003.zst           a group: the values of every position of it
        walk-07-0003-0008.part     what a task of groups 3 to 7 has left: chunks, its tally last
        ply-07.part                a finished ply: its counts, and the chunks between tasks
    tables/connect4-5x4.h5         at the end joined, synced, renamed

Each file is written aside, under a name that no other writer has, and renamed, so that it
is whole or not there, whoever else writes it. Table and parts are synced before they are
renamed; what a power cut leaves of the groups is checked before it is used, and made again.
A task counts as done when its part is there. Groups of two layers are kept, so that one
that is lost can be made again. A build that dies at any moment goes on from what is there,
with any number of workers. Joining copies packed chunks.
"""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import TYPE_CHECKING

from retro.errors import ChecksumError, DamagedFileError, LostGroupError
from retro.version import VERSION
from retro.walk.halves import layer
from retro.walk.task import Tally, Task
from tablebase.files.atomic import parts_folder, require_room, storage_errors, whole_file
from tablebase.files.begun import Begun
from tablebase.files.opening import reading
from tablebase.files.packing import FramedReader, write_framed
from tablebase.files.seal import ply_name
from tablebase.halves.format import PlyRecord, plane_digest
from tablebase.halves.groups import Committed, PlyContent
from tablebase.halves.parts import Part, PartWriter, read_part
from tablebase.halves.store import write_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from retro.walk.halves.layer import Group
    from retro.walk.halves.task import Stretch
    from tablebase.files.packing import Chunk
    from tablebase.halves.format import Header
    from tablebase.halves.groups import Recorder, TaskWriter

    Words = NDArray[np.uint64]

PART_NAME = re.compile(r"walk-(\d+)-(\d+)-(\d+)\.part")


def group_rule() -> str:
    """By which rule groups are cut and written: files of different rules do not go together."""
    least, most = layer.GROUP_WORDS
    groups = f"{layer.GROUPS_PER_LAYER} groups of {least:,} to {most:,} words"
    return f"retro-tablebase {VERSION}, {groups}, frames with CRC-32, counts with values"


class PartialTable:
    """A `GroupStore` of files. Holds no open file between calls; can be sent to other processes."""

    keeps_values = True

    def __init__(self, path: Path, header: Header, beside: Path | None = None) -> None:
        self.path = path
        self.header = header
        self._beside = beside or path
        self.folder = parts_folder(self._beside).absolute()  # workers may be anywhere
        self.rule = group_rule()  # of whoever plans: workers have theirs

    def __eq__(self, other: object) -> bool:
        """Whether both are the same build; a worker gets a new object with every task."""
        return isinstance(other, PartialTable) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(self.folder)

    @property
    def _begun(self) -> Begun:
        return Begun(self.folder, self.rule, repr(self.header))

    def open(self) -> str:
        """Make the folder, or throw away what a build with other options has left in it: why."""
        return self._begun.open()

    def has_files(self) -> bool:
        """Whether an earlier run has left anything."""
        return self._begun.has_files()

    def sweep(self) -> list[str]:
        """Remove what tasks have left that is not whole; returns what was wrong with each."""
        wrong = []
        for path in sorted(self.folder.glob("*-*-*.part")):
            try:
                self._own_part(path)
            except DamagedFileError as error:
                path.unlink(missing_ok=True)
                wrong.append(str(error))
        return wrong

    def require_worker(self) -> None:
        """Refuse to work here by another rule or without the files."""
        self._begun.require_worker(group_rule())

    def discard(self) -> None:
        self._begun.discard()

    # Groups.

    def _name(self, path: Path) -> str:
        """What a file of this table says that it is: exchanged ones are not taken."""
        return f"{path.name} of {self.header!r}"

    def group(self, ply: int, number: int) -> Path:
        return self.folder / f"walk-{ply:02d}-{number:04d}.zst"

    def write_group(self, ply: int, group: Group, planes: Words) -> None:
        with storage_errors(self.folder):
            path = self.group(ply, group.number)
            with whole_file(path, synced=False, alone=False) as aside, aside.open("wb") as file:
                write_framed(file, planes, self._name(path))

    def fetch(self, ply: int, group: Group, wanted: Sequence[Stretch], planes: Words) -> None:
        path = self.group(ply, group.number)
        try:
            with reading(path), path.open("rb") as file:
                shape = len(planes), group.end - group.begin
                reader = FramedReader(file, shape, str(path), self._name(path))
                inside = [(a - group.begin, b - group.begin, place) for a, b, place in wanted]
                for number, plane in enumerate(planes):
                    reader.fill(number, inside, plane)
        except ChecksumError as error:
            path.unlink(missing_ok=True)
            raise LostGroupError(str(error), "walk", ply, group.number) from None

    def forget_groups(self, plies: Iterable[int]) -> None:
        for ply in plies:
            for path in self.folder.glob(f"walk-{ply:02d}-*.zst"):
                path.unlink(missing_ok=True)

    # Tasks.

    def begin(self, task: Task) -> PartWriter:
        name = f"walk-{task.ply:02d}-{task.first:04d}-{task.last:04d}.part"
        return PartWriter(self.folder / name)

    def commit(self, task: Task, writer: TaskWriter, tally: Tally) -> None:
        assert isinstance(writer, PartWriter)
        writer.finish({"name": self._name(writer.path), "tally": list(tally)})

    def committed(self, ply: int) -> list[Committed]:
        found: list[Committed] = []
        for path in self.folder.glob(f"walk-{ply:02d}-*.part"):
            name = PART_NAME.fullmatch(path.name)
            if name is not None:
                try:
                    part = self._own_part(path)
                except DamagedFileError:
                    path.unlink(missing_ok=True)
                    continue
                task = Task("walk", ply, int(name[2]), int(name[3]))
                alive, terminal, won, lost, distances = part.said["tally"]
                tally = Tally(alive, terminal, won, lost, tuple(distances))
                found.append(Committed(task, tally, part))
        found.sort(key=lambda done: (done.task.first, -done.task.last))
        kept: list[Committed] = []
        for done in found:
            if not kept or done.task.first >= kept[-1].task.last:
                kept.append(done)
        return kept

    def _own_part(self, path: Path) -> Part:
        part = read_part(path)
        if part.said.get("name") != self._name(path):
            raise DamagedFileError(f"{path} is damaged: it is another part, or of another table")
        return part

    # Plies.

    def part(self, ply: int) -> Path:
        return self.folder / f"{ply_name(ply)}.part"

    def finished_plies(self) -> list[int]:
        """The plies that need no more work, the fullest first; they follow one another."""
        plies: list[int] = []
        for ply in reversed(self.header.counted_plies):
            if not self.part(ply).exists():
                break
            plies.append(ply)
        return plies

    def finish_ply(self, ply: int, words: int, joined: Iterable[Chunk], record: Recorder) -> None:
        done = self.committed(ply)
        names = [member.chunks.path.name for member in done if isinstance(member.chunks, Part)]
        writer = PartWriter(self.part(ply))
        digests: dict[int, bytes] = {}
        try:
            for chunk in joined:
                writer.add([chunk])
                digests[chunk.number] = chunk.digest
            said = {"name": self._name(writer.path), "words": words, "parts": names}
            writer.finish({**said, "record": asdict(record(digests))})
        except BaseException:
            writer.discard()
            raise

    def content(self, ply: int) -> PlyContent:
        joined = self._own_part(self.part(ply))
        said = joined.said["record"]
        record = PlyRecord(**{**said, "distances": tuple(said["distances"])})
        words = int(joined.said["words"])
        members = [self._own_part(self.folder / name) for name in joined.said["parts"]]
        return PlyContent(record, words, joined, list(members))

    def check_ply(self, ply: int) -> PlyRecord:
        """The counts of a finished ply; raises `DamagedFileError` if its chunks are not whole."""
        content = self.content(ply)
        digests: dict[int, bytes] = {}
        for part in (content.joined, *content.parts):
            assert isinstance(part, Part)
            part.check(content.words)
            digests.update(part.digests())
        whole = plane_digest(digests[number] for number in sorted(digests))
        if content.record.sha256 not in ("", whole):
            raise ChecksumError(f"{self.part(ply)}: chunks of the ply are missing")
        return content.record

    def join(self, words: int) -> None:
        """Join the parts, of so many words, to the finished table, and remove them."""
        require_room(self.path, self._beside)
        write_table(self.path, self.header, map(self.content, self.header.counted_plies), words)
        self.discard()
