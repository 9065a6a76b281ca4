"""How fast a giant board is walked: its fullest layers, for some minutes, to back a forecast.

    python scripts/sample_blocks.py 7x6 --minutes 10 --memory 16G

Walks backward from the full board with the builder's own walk and packing, in
bounded memory, until the time is up; what it walked are real blocks with real
values. Prints per ply how many positions were walked, the time per position
and the bits per position of the planes as walked and as a table would keep
them, and from these what the whole board would take. Nothing is kept.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from figures import machine

from retro.games.connect import Board
from retro.walk.blank import blank_blocks, make_scratch
from retro.walk.layer import group_strips
from retro.walk.layers import Prepared, Tally, available_cores, backward, prepare
from tablebase.cli.common import memory_size
from tablebase.packing import PieceReader, pack, pack_group, pack_pieces
from tablebase.units import duration, size

if TYPE_CHECKING:
    from retro.walk.layer import Group


class TimeIsUpError(Exception):
    """Ends the walk from its keeper."""


class Sampler:
    """Keeps groups packed in a folder, and measures them."""

    def __init__(self, prepared: Prepared, folder: Path, minutes: float) -> None:
        self._prepared, self._layout, self._folder = prepared, prepared.layout, folder
        self._end = time.monotonic() + 60 * minutes
        self._lock = threading.Lock()
        self.walked: dict[int, int] = defaultdict(int)  # [ply] words
        self.spilled: dict[int, int] = defaultdict(int)  # [ply] bytes
        self.kept: dict[int, int] = defaultdict(int)

    def _path(self, ply: int, group: Group) -> Path:
        return self._folder / f"{ply}-{group.number}"

    def recall(self, ply: int, group: Group, values: np.ndarray) -> Tally | None:
        path = self._path(ply, group)
        if not path.exists():
            return None
        with path.open("rb") as file:
            reader = PieceReader(file, str(path))
            for plane in values:
                reader.fill(plane[group.begin : group.end])
            reader.end()
        return Tally(0, 0)

    def finish(self, ply: int, group: Group, values: np.ndarray, tally: Tally) -> None:
        with self._path(ply, group).open("wb") as file:
            pack_pieces(file, [plane[group.begin : group.end] for plane in values])
        kept = sum(
            self._packed(values, strip, group) for strip in group_strips(self._layout, group)
        )
        with self._lock:
            self.walked[ply] += group.end - group.begin
            self.spilled[ply] += self._path(ply, group).stat().st_size
            self.kept[ply] += kept
        if time.monotonic() > self._end:
            raise TimeIsUpError

    def _packed(self, values: np.ndarray, strip: tuple[int, int], group: Group) -> int:
        """How many bytes a strip would take in a table."""
        kept = np.empty((2, strip[1] - strip[0]), np.uint64)
        plan, blocks = self._prepared.plan, (group.left, group.right)
        scratch = make_scratch(self._layout, plan)
        blank_blocks(self._layout.shape, plan, scratch, values, kept, strip, blocks)
        chunks, fragments = pack_group(strip[0], kept)
        packed = sum(len(frame) for chunk in chunks for frame in chunk.frames)
        return packed + sum(len(pack(plane)) for part in fragments for plane in part.planes)

    def forget(self, ply: int) -> None:
        for path in self._folder.glob(f"{ply}-*"):
            path.unlink()


def measure(board: Board, minutes: float, memory: int, threads: int) -> dict[str, Any]:
    prepared = prepare(board, threads=threads)
    plies = []
    with tempfile.TemporaryDirectory() as folder:
        sampler = Sampler(prepared, Path(folder), minutes)
        begin = time.monotonic()
        try:
            for layer in backward(prepared, sampler, memory=memory):
                plies.append(row(sampler, layer.ply, time.monotonic() - begin))
                begin = time.monotonic()
                sampler.forget(layer.ply + 1)
        except TimeIsUpError:
            ply = min(sampler.walked)
            plies.append(row(sampler, ply, time.monotonic() - begin))
    bits = sum(ply["positions"] for ply in plies)
    seconds = sum(ply["seconds"] for ply in plies)
    whole = 64 * int(prepared.layout.stored_words.sum())
    share = whole / bits
    return {
        "board": str(board),
        "plies": plies,
        "positions": bits,
        "seconds": seconds,
        "stored_positions": whole,
        "share": bits / whole,
        "backward_seconds_of_the_whole": seconds * share,
        "file_bytes_of_the_whole": int(sum(sampler.kept.values()) * share),
        "peak_memory": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    }


def row(sampler: Sampler, ply: int, seconds: float) -> dict[str, Any]:
    positions = 64 * sampler.walked[ply]
    return {
        "ply": ply,
        "positions": positions,
        "seconds": seconds,
        "nanoseconds": 1e9 * seconds / positions,
        "bits_walked": 8 * sampler.spilled[ply] / positions,
        "bits_kept": 8 * sampler.kept[ply] / positions,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("board", metavar="WxH")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--memory", type=memory_size, default=memory_size("8G"), metavar="SIZE")
    parser.add_argument("--threads", type=int, default=available_cores())
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    board = Board.parse(options.board)
    found = measure(board, options.minutes, options.memory, options.threads)
    if options.json:
        print(json.dumps({"machine": machine(), **found}))
        return
    print(f"{machine()}; {options.threads} threads; layers in {size(options.memory)}")
    print("ply        positions   seconds  ns/position  bits walked  bits kept")
    for ply in found["plies"]:
        print(
            "{ply:>3} {positions:>16,} {seconds:>9.1f} {nanoseconds:>12.3f} {bits_walked:>12.3f}"
            " {bits_kept:>10.3f}".format(**ply)
        )
    print(f"walked {found['positions']:,} positions, {found['share']:.2%} of what is stored")
    whole = duration(found["backward_seconds_of_the_whole"])
    print(f"at this rate the backward walk of the whole board takes {whole}")
    print(f"and its file {size(found['file_bytes_of_the_whole'])}")
    print(f"peak memory {size(found['peak_memory'])}")


if __name__ == "__main__":
    main()
