"""The index of sorted keys behind the door that `tablebase.indexes` describes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retro.errors import BadTextError
from tablebase.keys.reader import KeysReader
from tablebase.plans import kept_plies

if TYPE_CHECKING:
    from pathlib import Path

    from retro.games.game import Position
    from tablebase.answers import Level, Report, Verified
    from tablebase.files.remote import Source
    from tablebase.indexes import Reader
    from tablebase.plans import How, Order, Plan


class SortedKeys:
    """Tables that list the canonical states of every ply, sorted."""

    def open_file(self, path: Source, cache_bytes: int) -> Reader:
        return KeysReader(path, cache_bytes)

    def plan(self, root: Position, plies: range | None, how: How) -> Plan:
        from tablebase.keys.plan import make_plan

        kept = kept_plies(root, plies)
        if not how.counts:
            game = root.board.game_name
            raise BadTextError(
                f"found no counts, wanted counts: the walk forward that counts also finds the keys "
                f"of {game}, so it cannot be left out"
            )
        return make_plan(root, how, kept)

    def build(self, plan: Plan, path: Path, order: Order) -> None:
        from tablebase.keys.build import run

        run(plan, path, order)

    def check(
        self, reader: Reader, level: Level, seed: int, report: Report, *, counts: bool
    ) -> Verified:
        from tablebase.keys.check import check

        assert isinstance(reader, KeysReader)
        return check(reader, level, seed, report, counts=counts)

    def check_by_search(self, reader: Reader, seed: int, report: Report) -> int:
        from tablebase.keys.check import check_by_search

        assert isinstance(reader, KeysReader)
        return check_by_search(reader, seed, report)


INDEX = SortedKeys()
