"""Plant faults in a copy of the project, one at a time, and say which of them no test notices.

    python scripts/mutants.py --seed 1 --count 60 --jobs 2
    python scripts/mutants.py --seed 1 --count 15 --under retro/search --near

A fault is a comparison, a condition, a constant, an argument or a statement changed, drawn by
lot (`mutating/faults.py`). The tests that are nearest to its module run first, then all others,
until one fails. A test that fails without the fault as well does not count. Kernels that the
fault may have changed are compiled again, those of every game that has registered any among
them; all others are used as they are.

`--out` keeps what was found, one line of JSON for a fault; the same command goes on from there.
The exit code is 1 if a fault lived.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

from mutating.faults import Fault, drawn
from mutating.nearest import imports_of, kept_kernels, module_of, nearest_tests, read_sources

from retro import kernel_cache

ROOT = Path(__file__).parents[1]
PACKAGES = ("retro", "tablebase")
NEAREST = 6  # test files
PYTEST = ("-n", "0", "-q", "-x", "--no-header", "--tb=no", "-p", "no:cacheprovider")


class Result(NamedTuple):
    """What became of a fault: `noticed` by a test, `lives`, or `out of time`."""

    fault: str
    state: str
    by: str
    seconds: int


class Copy:
    """A copy of the project with a cache of kernels of its own."""

    def __init__(self, folder: Path) -> None:
        self.root, self._cache = folder / "project", folder / "kernels"
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
        )
        for name in filter(None, listed.stdout.split("\0")):
            if (ROOT / name).is_file():
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, self.root / name)
        self._clock, self._whole = int(time.time()), ""
        self._run: subprocess.Popen[str] | None = None
        self._is_stopped = False
        mine, shelf = self._kernels(), kernel_cache.shelf().folder
        if shelf is not None and shelf.name == mine.name and shelf.is_dir():
            shutil.copytree(shelf, mine)
        self._environment = {
            **os.environ, "PYTHONPATH": str(self.root), "NUMBA_CACHE_DIR": str(self._cache),
        }  # fmt: skip

    def _kernels(self) -> Path:
        return self._cache / kernel_cache.APPLICATION / str(kernel_cache.digest(self.root))

    def plant(self, fault: Fault) -> None:
        """Change the source, and keep the kernels that are not made of it."""
        self._whole, before = (self.root / fault.path).read_text(), self._kernels()
        self._write(fault.path, fault.planted(self._whole))
        self._keep_kernels(fault, before, self._kernels())

    def restore(self, fault: Fault) -> None:
        """Undo `plant`; what was compiled meanwhile and is not made of the fault is kept."""
        changed = self._kernels()
        self._write(fault.path, self._whole)
        if changed != self._kernels():
            self._keep_kernels(fault, changed, self._kernels())
            shutil.rmtree(changed, ignore_errors=True)

    def _keep_kernels(self, fault: Fault, before: Path, after: Path) -> None:
        if before == after or not before.is_dir():
            return
        after.mkdir(exist_ok=True)
        names = [path.name for path in before.iterdir() if not (after / path.name).exists()]
        sources = read_sources(self.root, *PACKAGES)
        for name in kept_kernels(names, module_of(fault.path), sources):
            os.link(before / name, after / name)

    def _write(self, path: str, source: str) -> None:
        (self.root / path).write_text(source)
        self._clock += 2  # bytecode is told apart by whole seconds
        os.utime(self.root / path, (self._clock, self._clock))

    def failing(self, tests: list[str], seconds: float) -> str | None:
        """The first test that fails, "" if none does, None if they are not done in time."""
        run = subprocess.Popen(
            [sys.executable, "-m", "pytest", *PYTEST, *tests],
            cwd=self.root, env=self._environment, start_new_session=True, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        self._run = run
        try:
            said, _ = run.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            self._kill()
        if self._is_stopped:
            raise InterruptedError
        if run.returncode in (0, 5):  # 5: nothing was to be run
            return ""
        named = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", said, re.MULTILINE)
        return named[1] if named else f"pytest: exit code {run.returncode}"

    def stop(self) -> None:
        """End the tests that run, and let no others begin."""
        self._is_stopped = True
        self._kill()

    def _kill(self) -> None:
        if self._run is not None and self._run.poll() is None:
            os.killpg(self._run.pid, signal.SIGKILL)
            self._run.wait()


class Judge:
    """Tries faults; knows which tests fail without any."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._seconds, self._is_near = options.seconds, options.near
        self.sources = read_sources(ROOT, *PACKAGES)
        self._graph = imports_of(self.sources)
        files = read_sources(ROOT, "tests")
        self._tests = {p: text for p, text in files.items() if Path(p).name.startswith("test_")}
        self._broken: set[str] = set()
        self._sound: set[str] = set()

    def tried(self, copy: Copy, fault: Fault) -> Result:
        """Plant a fault, run the tests, take it back."""
        begin = time.monotonic()
        tests = nearest_tests(module_of(fault.path), self._tests, self._graph)
        near = [fault.path, *tests[:NEAREST]]
        rounds = [near] if self._is_near else [near, [*tests[NEAREST:], *PACKAGES]]
        state, by = "lives", None
        for chosen in rounds:
            by = self._noticed(copy, fault, chosen)
            if by:
                state = "noticed"
                break
            if by is None:
                state = "out of time"
        return Result(str(fault), state, by or "", round(time.monotonic() - begin))

    def _noticed(self, copy: Copy, fault: Fault, tests: list[str]) -> str | None:
        """The test that fails because of a fault, "" if none does, None if time is up."""
        end = time.monotonic() + self._seconds
        while True:
            without = [
                f"--{'deselect' if '::' in test else 'ignore'}={test}" for test in self._broken
            ]
            copy.plant(fault)
            try:
                by = copy.failing([*tests, *without], end - time.monotonic())
            finally:
                copy.restore(fault)
            if not by or by in self._sound:
                return by
            is_named = not by.startswith("pytest: ")
            if not copy.failing([by] if is_named else [*tests, *without], self._seconds):
                self._sound.add(by)
                return by
            if not is_named:
                raise RuntimeError(f"the tests cannot be run without a fault: {by}")
            self._broken.add(by)
            there = by.partition("::")[0]  # those before it have passed
            tests = tests[tests.index(there) :] if there in tests else tests


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=60, metavar="N")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="faults tried at once")
    parser.add_argument("--under", default="", metavar="PATH", help="plant them there only")
    parser.add_argument("--near", action="store_true", help="run the nearest tests only")
    parser.add_argument(
        "--seconds", type=float, default=1_200, metavar="S", help="for each of both rounds of tests"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="default: build/mutants-SEED.jsonl"
    )
    options = parser.parse_args(words)
    judge = Judge(options)
    chosen = {p: text for p, text in judge.sources.items() if p.startswith(options.under)}
    faults = drawn(chosen, random.Random(options.seed), options.count)
    out = options.out or ROOT / "build" / f"mutants-{options.seed}.jsonl"
    out.parent.mkdir(parents=True, exist_ok=True)
    done = _read(out)
    lock = threading.Lock()
    with tempfile.TemporaryDirectory() as folder:
        all_copies = [Copy(Path(folder, str(number))) for number in range(options.jobs)]
        copies: SimpleQueue[Copy] = SimpleQueue()
        for copy in all_copies:
            copies.put(copy)

        def judged(fault: Fault) -> Result:
            copy = copies.get()
            try:
                result = judge.tried(copy, fault)
            finally:
                copies.put(copy)
            with lock, out.open("a") as file:
                file.write(json.dumps(result._asdict()) + "\n")
                print(f"{result.state:11s} {result.seconds:5d} s  {result.fault}", flush=True)
            return result

        with ThreadPoolExecutor(options.jobs) as pool:
            try:
                for result in pool.map(judged, [f for f in faults if str(f) not in done]):
                    done[result.fault] = result
            except KeyboardInterrupt:
                pool.shutdown(wait=False, cancel_futures=True)
                for copy in all_copies:
                    copy.stop()
                return 130
    return _told([done[str(fault)] for fault in faults])


def _read(path: Path) -> dict[str, Result]:
    """What an earlier run has found."""
    lines = path.read_text().splitlines() if path.exists() else []
    results = [Result(**json.loads(line)) for line in lines]
    return {result.fault: result for result in results}


def _told(results: list[Result]) -> int:
    """Print the sum, and what lives."""
    lives = [result for result in results if result.state != "noticed"]
    print(f"{len(results)} faults, {len(results) - len(lives)} noticed")
    for result in lives:
        print(f"{result.state}: {result.fault}")
    return 1 if lives else 0


if __name__ == "__main__":
    sys.exit(main())
