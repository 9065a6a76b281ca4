"""The index of sorted keys behind the door that `tablebase.indexes` describes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tablebase.keys.file import KeysFile

if TYPE_CHECKING:
    from tablebase.answers import Level, Report, Verified
    from tablebase.files.remote import Source
    from tablebase.indexes import Reader


class SortedKeys:
    """Tables that list the canonical states of every ply, sorted."""

    def open_file(self, path: Source, cache_bytes: int) -> Reader:
        return KeysFile(path, cache_bytes)

    def check(
        self, reader: Reader, level: Level, seed: int, report: Report, *, counts: bool
    ) -> Verified:
        from tablebase.keys.check import check

        assert isinstance(reader, KeysFile)
        return check(reader, level, seed, report, counts=counts)

    def check_by_search(self, reader: Reader, seed: int, report: Report) -> int:
        from tablebase.keys.check import check_by_search

        assert isinstance(reader, KeysFile)
        return check_by_search(reader, seed, report)


INDEX = SortedKeys()
