"""A Dask scheduler and workers as processes of their own, on loopback and free ports, for tests.

A worker can be told to die, or to work by another rule: `dask worker --preload` runs some lines
in its process before it begins.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
PATIENCE = 240  # seconds: for a machine that does much else

# The first worker that commits a task of the backward walk of this ply dies: before or after that.
DIE = """
import os, signal
from pathlib import Path
from tablebase.building.halves.tasks import HalvesTasks

do = getattr(HalvesTasks, "plain_do", HalvesTasks.do)  # Dask may run this twice
HalvesTasks.plain_do = do

def die_once(self, task):
    if (task.walk, task.ply) == ("walk", {ply}):
        try:
            Path({mark!r}).open("x").close()
        except FileExistsError:
            return do(self, task)
        if {after}:
            do(self, task)
        os.kill(os.getpid(), signal.SIGKILL)
    do(self, task)

HalvesTasks.do = die_once
"""

# Every task fails for a reason that nobody has thought of.
FAIL = """
from tablebase.building.halves.tasks import HalvesTasks

def fail(self, task):
    raise RecursionError("deep")

HalvesTasks.do = fail
"""

OTHER_RULE = """
from retro.walk.halves import layer

layer.GROUP_WORDS = (4_096, 1 << 20)
"""


class Machines:
    """A scheduler, and workers that come and go."""

    def __init__(self, folder):
        self._folder = folder
        self.workers = []
        file = folder / "scheduler.json"
        options = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show")
        self.scheduler = self._start("scheduler", *options, "--scheduler-file", file)
        self.address = self._read_address(file)

    def _start(self, kind, *options):
        words = [sys.executable, "-m", "dask", kind, *map(str, options)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        with (self._folder / f"{kind}.log").open("ab") as log:
            return subprocess.Popen(
                words, cwd=self._folder, env=environment, stdout=log, stderr=log
            )

    def _read_address(self, file):
        for _ in range(10 * PATIENCE):
            with contextlib.suppress(OSError, ValueError, KeyError):
                return json.loads(file.read_text())["address"]
            assert self.scheduler.poll() is None, (self._folder / "scheduler.log").read_text()
            time.sleep(0.1)
        raise AssertionError("the scheduler does not come up")

    def add_worker(self, *, preload=None, memory="2GB"):
        """Start a worker of one thread; it is there some seconds later."""
        options = ["--nthreads", 1, "--memory-limit", memory, "--no-nanny", "--no-dashboard"]
        if preload is not None:
            script = self._folder / f"preload{len(self.workers)}.py"
            script.write_text(preload)
            options += ["--preload", script]
        options += ["--local-directory", self._folder, "--host", "127.0.0.1"]
        options += ["--death-timeout", PATIENCE]  # should nobody be left to end it
        worker = self._start("worker", self.address, *options)
        self.workers.append(worker)
        return worker

    def wait_for(self, number):
        """Wait until so many workers have come."""
        from distributed import Client

        with Client(self.address, timeout=PATIENCE, set_as_default=False) as client:
            client.wait_for_workers(number, timeout=PATIENCE)

    def close(self):
        for process in (*self.workers, self.scheduler):
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGKILL)
            process.wait()


@contextlib.contextmanager
def machines(folder, workers=2, **options):
    """A scheduler with so many workers."""
    found = Machines(folder)
    try:
        for _ in range(workers):
            found.add_worker(**options)
        found.wait_for(workers)
        yield found
    finally:
        found.close()
