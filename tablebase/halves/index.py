"""Connect Four's index behind the door that `tablebase.indexes` describes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tablebase.halves.reader import HalvesReader

if TYPE_CHECKING:
    from tablebase.answers import Level, Report, Verified
    from tablebase.files.remote import Source
    from tablebase.indexes import Reader


class Halves:
    """Tables whose ranks are computed from two halves of the board."""

    def open_file(self, path: Source, cache_bytes: int) -> Reader:
        return HalvesReader(path, cache_bytes)

    def check(
        self, reader: Reader, level: Level, seed: int, report: Report, *, counts: bool
    ) -> Verified:
        from tablebase.halves.check import check

        assert isinstance(reader, HalvesReader)
        return check(reader, level, seed, report, counts=counts)

    def check_by_search(self, reader: Reader, seed: int, report: Report) -> int:
        from tablebase.halves.cross_check import cross_check

        assert isinstance(reader, HalvesReader)
        return cross_check(reader, seed, report)


INDEX = Halves()
