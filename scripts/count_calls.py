"""The Python calls that one question to a table takes, in a process that answered one before.

    python scripts/count_calls.py                    tablebase probe 4x3 12
    python scripts/count_calls.py --by-file          ... how many in which file
    python scripts/count_calls.py --by-function      ... of which functions
    python scripts/count_calls.py --source DIR       ... of the sources in another folder

Every call into files of retro and tablebase counts, the bodies of modules that are imported on
the way included; a generator that goes on is a call, too.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

HERE = Path(__file__).resolve().parents[1]
BOARD, BEFORE, ASKED = "4x3", "4", "12"


def counted(source: Path, folder: str) -> Counter[tuple[str, str]]:
    """(file, function) -> calls."""
    from tablebase.cli.main import main

    def ask(moves: str) -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            status = main(["probe", BOARD, moves, "--dir", folder])
        if status:
            sys.exit(f"the command ended with {status}")

    found: Counter[tuple[str, str]] = Counter()

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            path = Path(frame.f_code.co_filename)
            if path.is_relative_to(source):
                name = path.relative_to(source).as_posix()
                if name.startswith(("retro/", "tablebase/")):
                    found[name, frame.f_code.co_qualname] += 1

    ask(BEFORE)
    sys.setprofile(note)
    try:
        ask(ASKED)
    finally:
        sys.setprofile(None)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=Path, default=HERE, metavar="DIR")
    parser.add_argument("--by-file", action="store_true")
    parser.add_argument("--by-function", action="store_true")
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    options = parser.parse_args()
    source = options.source.resolve()
    if options.folder is None:  # the same script, in a process that imports those sources
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "PYTHONPATH": str(source)}
            build = "from tablebase.cli.entry import build_tablebase; build_tablebase()"
            words = [BOARD, "--quiet", "--dir", folder]
            subprocess.run(
                [sys.executable, "-c", build, *words],
                env=environment, check=True, stdout=subprocess.DEVNULL,
            )  # fmt: skip
            again = [sys.executable, __file__, *sys.argv[1:], "--folder", folder]
            subprocess.run(again, env=environment, check=True)
        return
    found = counted(source, options.folder)
    files: Counter[str] = Counter()
    for (name, _), number in found.items():
        files[name] += number
    print(f"{found.total():,} calls of {len(found)} functions in {len(files)} files")
    for name, number in files.most_common() if options.by_file else ():
        print(f"{number:6}  {name}")
    for (name, function), number in found.most_common() if options.by_function else ():
        print(f"{number:6}  {name} {function}")


if __name__ == "__main__":
    main()
