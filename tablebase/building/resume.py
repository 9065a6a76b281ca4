"""What a build says if an earlier run of it was stopped: it resumes, rebuilds, or starts over.

    resuming: 12 of 21 plies are finished
    rebuilding: .../backward-07-00003-00004.part is damaged: its list of frames is not there
    rebuilt: 31 files that were damaged or missing
    starting over: .../ply-12.part is damaged: ...

One run does whichever it is to the end: nobody has to repeat a command because of what a power
cut has left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


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
