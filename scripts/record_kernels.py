"""Write down which kernels a build calls with which types, for `retro.ahead`.

python scripts/record_kernels.py            # after a change of a kernel's arguments
python scripts/record_kernels.py --check    # say whether the record is out of date
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retro.ahead import IN_TASKS, SIGNATURES
from retro.kernel_cache import KernelCache, spell

if TYPE_CHECKING:
    from collections.abc import Callable

BOARD = (5, 4)  # takes no time, and calls every kernel
IN_STRIPS = (4, 4)  # smaller still: it is cut into hundreds of tasks
STRIPS = (2, 8)  # words of a group, so that giants are cut into strips


def noted(build: Callable[[], object]) -> list[str]:
    """The kernels that a build asks for, in the order of their first call in this process."""
    asked: list[str] = []
    load = KernelCache.load_overload

    def noting(self: KernelCache, sig: Any, target_context: Any) -> Any:
        asked.append(f"{self.name}: {'; '.join(map(spell, sig))}")
        return load(self, sig, target_context)

    KernelCache.load_overload = noting  # type: ignore[method-assign]
    build()
    KernelCache.load_overload = load  # type: ignore[method-assign]
    return list(dict.fromkeys(asked))


def records() -> dict[str, list[str]]:
    """What a build in memory calls; and what one with a limit calls, distances and all."""
    from retro.games.connect4.rules import Connect4Board
    from tablebase.building.build import build

    with tempfile.TemporaryDirectory() as folder:
        short = noted(lambda: build(Connect4Board(*BOARD), Path(folder) / "short.h5", threads=1))
        more = noted(lambda: build_in_tasks(Path(folder) / "tasks.h5"))
    return {"two-halves": short, f"two-halves{IN_TASKS}": list(dict.fromkeys(short + more))}


def build_in_tasks(path: Path) -> None:
    """Build a board as one that does not fit into memory, in strips, with distances."""
    from retro.games.connect4.rules import Connect4Board, Connect4Position
    from retro.walk.halves import layer
    from tablebase.building.driver import Driver
    from tablebase.building.halves.builder import HalvesBuild
    from tablebase.building.halves.plan import Detail, make_plan
    from tablebase.building.options import BuildOptions
    from tablebase.building.partial import Resume
    from tablebase.building.workers import Workers

    layer.GROUP_WORDS = STRIPS
    options = BuildOptions(threads=1, distances=True)
    plan = make_plan(Connect4Position(Connect4Board(*IN_STRIPS)), options)
    assert isinstance(plan.detail, Detail)
    work = {ply: of._replace(task_memory=10_000) for ply, of in plan.detail.work.items()}
    detail = plan.detail._replace(work=work, in_memory=False)
    plan = replace(plan, detail=detail)
    with Workers(plan, None) as workers:
        build = HalvesBuild(plan, path, path, workers, force=False)
        Driver(build, workers, lambda _: None, Resume()).run()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    for name, lines in records().items():
        path = SIGNATURES / f"{name}.txt"
        if not options.check:
            path.parent.mkdir(exist_ok=True)
            path.write_text("\n".join(lines) + "\n")
        elif sorted(path.read_text().splitlines()) != sorted(lines):
            sys.exit(f"{path} is out of date: run scripts/record_kernels.py")


if __name__ == "__main__":
    main()
