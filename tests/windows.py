"""What Windows lacks, taken away: the code that runs there is run here.

    fcntl, resource            no such modules; `msvcrt` locks instead
    fork, killpg, setitimer    not there, nor sched_getaffinity, sysconf, SIGALRM
    os.open of a folder        refused; fsync only of what may be written
    an open file               can be neither removed nor replaced

It cannot stand for a real Windows: paths, consoles and the memory call are those of this system.
"""

import errno
import fcntl
import os
import shutil
import signal
import sys
import types
from pathlib import Path

import pytest

LACKING = [
    (os, "fork"), (os, "killpg"), (os, "sched_getaffinity"), (os, "sysconf"),
    (signal, "setitimer"), (signal, "SIGALRM"), (signal, "pthread_kill"),
]  # fmt: skip


def open_files() -> set[str]:
    """The paths of all files that this process has open."""
    found = set()
    for entry in Path("/proc/self/fd").iterdir():
        try:
            found.add(str(entry.readlink()))
        except OSError:
            continue
    return found


def refuse(number: int, path: object = None) -> None:
    raise OSError(number, os.strerror(number), path)


def take_away_posix(patch: pytest.MonkeyPatch) -> None:
    """Make this process like one on Windows, as far as the project can tell."""
    for module, name in LACKING:
        patch.delattr(module, name, raising=False)
    for name in ("fcntl", "resource"):
        patch.setitem(sys.modules, name, None)
    patch.setitem(sys.modules, "msvcrt", _msvcrt())
    patch.setattr(shutil, "_use_fd_functions", False)
    really_open, really_sync = os.open, os.fsync

    def open_(path, flags, *rest, **more):
        if Path(os.fsdecode(path)).is_dir():
            refuse(errno.EACCES, path)
        return really_open(path, flags, *rest, **more)

    def fsync(descriptor):
        number = descriptor if isinstance(descriptor, int) else descriptor.fileno()
        if fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            refuse(errno.EBADF)
        really_sync(descriptor)

    patch.setattr(os, "open", open_)
    patch.setattr(os, "fsync", fsync)
    for name in ("unlink", "remove", "replace", "rename"):
        patch.setattr(os, name, _refusing_open_files(getattr(os, name)))


def _refusing_open_files(really):
    def careful(*paths, **more):
        names = {os.path.realpath(os.fsdecode(path)) for path in paths}
        if names & open_files():
            refuse(errno.EACCES, paths[0])
        return really(*paths, **more)

    return careful


def _msvcrt() -> types.ModuleType:
    module = types.ModuleType("msvcrt")

    def locking(descriptor: int, mode: int, _: int) -> None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            refuse(errno.EACCES)

    module.locking, module.LK_NBLCK = locking, 2
    return module
