"""A game shown again, move by move: with pauses, or from one Enter to the next."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tablebase.cli.colour import find_style
from tablebase.cli.console import picture, read_line

if TYPE_CHECKING:
    from retro.play.record import Entry, GameRecord
    from tablebase.cli.colour import Style


def replay(record: GameRecord, seconds: float | None) -> None:
    """Show a game from its start, moves that were taken back among them."""
    style, entries = find_style(), (*record.entries, *record.undone)
    ply = 0
    while True:
        _show(record, entries, ply, style)
        if ply == len(entries):
            break
        if seconds is not None:
            time.sleep(seconds)
            ply += 1
            continue
        answer = read_line(f"{ply} of {len(entries)}; Enter goes on, b back, q stops> ").lower()
        if answer == "q":
            return
        ply = max(0, ply - 1) if answer == "b" else ply + 1
    if record.result and not record.undone:
        print(record.result)


def _show(record: GameRecord, entries: tuple[Entry, ...], ply: int, style: Style) -> None:
    before = record.at(ply - 1) if ply else None
    if before is not None:
        print(f"{ply}. {before.mover_name} plays {_entry_text(entries[ply - 1])}")
    print(picture(record.at(ply), before, style), flush=True)


def _entry_text(entry: Entry) -> str:
    cost = entry.cost
    known = [f"{cost.seconds:.1f} s" if cost.seconds is not None else ""]
    known += [f"{cost.nodes:,} nodes" if cost.nodes else "", cost.remark]
    words = "; ".join(word for word in known if word)
    return f"{entry.text} ({words})" if words else entry.text
