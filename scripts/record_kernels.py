"""Write down which kernels a build calls with which types, for `retro.ahead`.

python scripts/record_kernels.py            # after a change of a kernel's arguments
python scripts/record_kernels.py --check    # say whether the record is out of date
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

from retro.ahead import SIGNATURES
from retro.kernel_cache import KernelCache, spell

RECORDS = {"two-halves": "5x4"}  # index: a board that takes no time, and calls every kernel


def record(board: str) -> list[str]:
    """The kernels that a build of a board asks for, in the order of their first call."""
    from tablebase.builds import build

    asked: list[str] = []
    load = KernelCache.load_overload

    def noting(self: KernelCache, sig: Any, target_context: Any) -> Any:
        asked.append(f"{self.name}: {'; '.join(map(spell, sig))}")
        return load(self, sig, target_context)

    KernelCache.load_overload = noting  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory() as folder:
        build(board, Path(folder) / "table.h5", threads=1)
    KernelCache.load_overload = load  # type: ignore[method-assign]
    return list(dict.fromkeys(asked))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    for name, board in RECORDS.items():
        path, lines = SIGNATURES / f"{name}.txt", record(board)
        if not options.check:
            path.parent.mkdir(exist_ok=True)
            path.write_text("\n".join(lines) + "\n")
        elif sorted(path.read_text().splitlines()) != sorted(lines):
            sys.exit(f"{path} is out of date: run scripts/record_kernels.py")


if __name__ == "__main__":
    main()
