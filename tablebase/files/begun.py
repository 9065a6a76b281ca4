"""What says which table is being built in a folder, and by what rule its parts are cut.

    tables/connect4-5x4.h5.partial/
        table.txt       | the rule: version of this program, how layers are cut |
                        | the header of the table                               |

Parts of different rules do not go together. Who builds goes on from parts of the same table and
rule; who works for a build elsewhere has the same rule and sees the same folder, or is refused.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, NamedTuple

from retro.errors import FormatVersionError, StorageError
from tablebase.files.atomic import storage_errors, write_whole

if TYPE_CHECKING:
    from pathlib import Path

NAME = "table.txt"


class Begun(NamedTuple):
    """A folder of parts, the rule of whoever plans, and the header of the table as text."""

    folder: Path
    rule: str
    header: str

    @property
    def _mark(self) -> tuple[Path, bytes]:
        return self.folder / NAME, f"{self.rule}\n{self.header}".encode()

    def open(self) -> str:
        """Make the folder, or throw away what a build with other options has left in it.

        Returns why it was thrown away. What another rule has left may be the work of days:
        refused, not thrown away.
        """
        why = ""
        with storage_errors(self.folder):
            mark, wanted = self._mark
            if self.has_files() and (found := _read(mark)) != wanted:
                rule, _, header = found.decode(errors="replace").partition("\n")
                if header == self.header:
                    raise FormatVersionError(
                        f"{self.folder} was begun by {rule}, this is {self.rule}; "
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
        shutil.rmtree(self.folder, ignore_errors=True)


def rule_there(folder: Path) -> str:
    """The rule by which an earlier run has begun; nothing if there was none."""
    return _read(folder / NAME).decode(errors="replace").partition("\n")[0]


def _read(mark: Path) -> bytes:
    return mark.read_bytes() if mark.exists() else b""
