"""What a build says if an earlier run of it was stopped: it goes on, it mends, or it starts over.

    going on: 12 of 21 plies are finished
    mending: .../walk-07-0003.zst is damaged: its list of frames is not there; it is made again
    mended: 31 files that were damaged or missing
    starting over: .../ply-12.part is damaged: ...

One run does whichever it is to the end: nobody has to repeat a command because of what a power
cut has left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Restart:
    """Tells what becomes of what an earlier run has left. Used by whoever drives the build."""

    def __init__(self, announce: Callable[[str], None] = lambda _: None) -> None:
        self._announce = announce
        self._mended = 0

    def goes_on(self, what: str) -> None:
        """Something is there to go on from."""
        self._announce(f"going on: {what}")

    def starts_over(self, why: str) -> None:
        """What was there is of no use."""
        self._announce(f"starting over: {why}")

    def mends(self, what: str) -> None:
        """A file is damaged or missing and will be made again; the first one is named."""
        if not self._mended:
            self._announce(f"mending: {what}; it is made again")
        self._mended += 1

    def end(self) -> None:
        """The build is done."""
        if self._mended:
            files = "1 file that was" if self._mended == 1 else f"{self._mended:,} files that were"
            self._announce(f"mended: {files} damaged or missing")
