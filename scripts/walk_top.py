"""Walk the fullest layers of a board within a memory, and say what each took.

python scripts/walk_top.py 7x6 --memory 4G --plies 3 --dir /somewhere/with/room

Begins a build without counts, stops it after so many plies, and removes what it left.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

from retro.memory import memory_bytes
from tablebase.building.build import build, plan
from tablebase.files.atomic import parts_folder, parts_size
from tablebase.units import size

if TYPE_CHECKING:
    from tablebase.building.plan import Progress


class Enough(Exception):
    """So many plies were wanted."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("board")
    parser.add_argument("--memory", default="4G")
    parser.add_argument("--plies", type=int, default=3)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--dir", type=Path, default=Path())
    options = parser.parse_args()
    path = options.dir / f"top-{options.board}.h5"
    memory = memory_bytes(options.memory)
    found = plan(options.board, memory=memory, threads=options.threads, counts=False)
    print(found.summary())
    last = max(found.plies)
    print("ply      positions   seconds       CPU   ns a position   peak memory   on disk")
    before = (time.monotonic(), time.process_time())

    def report(progress: Progress) -> None:
        nonlocal before
        now = (time.monotonic(), time.process_time())
        seconds, cpu = (b - a for a, b in zip(before, now, strict=True))
        positions = found.plies[progress.ply].positions
        peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(
            f"{progress.ply:>3} {positions:>14,} {seconds:>9.1f} {cpu:>9.1f} "
            f"{cpu / positions * 1e9:>15.2f} {size(peak):>13} {size(parts_size(path)):>9}",
            flush=True,
        )
        before = now
        if progress.ply <= last + 1 - options.plies:
            raise Enough

    try:
        build(
            options.board, path, memory=memory, threads=options.threads,
            counts=False, force=True, report=report,
        )  # fmt: skip
    except Enough:
        pass
    finally:
        shutil.rmtree(parts_folder(path), ignore_errors=True)


if __name__ == "__main__":
    main()
