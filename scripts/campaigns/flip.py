"""Every bit of three small tables turned over, one at a time: the same answers, or a named error.

A table whose bit was turned is asked for every position it holds. `--tries` takes the bits in a
random order; without it all are taken.
"""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import tablebase as tb
from campaigns.common import Campaign, Case, Guinea, scratch, told
from retro.errors import TablebaseError

if TYPE_CHECKING:
    from collections.abc import Iterator

BOARDS = ("2x2 connect=2", "mnk 2x2 connect=2", "domineering 2x2")
AT_ONCE = 64  # bits a question to the guinea


def cases(campaign: Campaign) -> Iterator[Case]:
    guinea = Guinea()
    with scratch() as folder:
        wholes = {board: _build(board, folder / f"{i}.h5") for i, board in enumerate(BOARDS)}
        bits = [(board, bit) for board in BOARDS for bit in range(8 * len(wholes[board]))]
        random.Random(campaign.seed).shuffle(bits)
        path = folder / "flipped.h5"
        try:
            for at in range(0, len(bits), AT_ONCE):
                some = bits[at : at + AT_ONCE]
                asked = [(board, wholes[board], bit) for board, bit in some]
                found = guinea.ask(ask_each, str(path), asked)
                if found[0] in ("died", "hung"):
                    found = [guinea.ask(ask_each, str(path), [one]) for one in asked]
                    found = [one if one[0] in ("died", "hung") else one[0] for one in found]
                for (board, bit), result in zip(some, found, strict=True):
                    key = str(result[0])
                    campaign.note(key)
                    is_well = key in ("same", "named")
                    what = None if is_well else f"{result}"
                    keep = partial(_keep, wholes[board], bit)
                    yield Case(f"bit {bit} of {board}", told(what), keep)
        finally:
            guinea.close()


def _build(board: str, path: Path) -> bytes:
    return tb.build(board, path, threads=1).path.read_bytes()


def _keep(whole: bytes, bit: int, out: Path) -> None:
    (out / "flipped.h5").write_bytes(_flip(whole, bit))


def _flip(whole: bytes, bit: int) -> bytes:
    content = bytearray(whole)
    content[bit // 8] ^= 1 << bit % 8
    return bytes(content)


_known: dict[str, dict[str, int]] = {}


def ask_each(text: str, asked: list[tuple[str, bytes, int]]) -> list[tuple[str, str]]:
    """What comes of each flip: "same" answers, a "named" error, "wrong" answers, or "raised"."""
    path, results = Path(text), []
    for board, whole, bit in asked:
        if board not in _known:
            path.write_bytes(whole)
            _known[board] = _answers(path)
        path.write_bytes(_flip(whole, bit))
        try:
            is_same = _answers(path) == _known[board]
            results.append(("same" if is_same else "wrong", ""))
        except TablebaseError as error:
            results.append(("named", str(error)))
        except BaseException as error:
            results.append(("raised", f"{type(error).__name__}: {error}"))
    return results


def _answers(path: Path) -> dict[str, int]:
    """Every position that the table holds and its value, by plain play from the root."""
    with tb.open_tablebase(path) as table:
        found = {"root": table.value, str(table.board): len(table.plies)}
        waiting = [table.root]
        while waiting:
            position = waiting.pop()
            if str(position._state) not in found and not position.is_over():
                found[str(position._state)] = table.probe_wdl(position)
                waiting += [position._play(move) for move in position._numbers()]
        return found
