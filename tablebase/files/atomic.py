"""Files that are whole or not there, whatever is in them.

A file is written aside, synced and renamed, so whoever finds it finds all of it:

    connect4-5x4.h5.partial/     parts of a table being built
    connect4-5x4.h5.lock         there while somebody builds it
    connect4-5x4.h5.tmp          the table being written
    connect4-5x4.h5              the table

Parts may be kept in another folder, such as one that other machines share: then they, and
one more lock, are beside the place that the table would have there.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import sys
import uuid
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from retro.errors import DamagedFileError, StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator


class Closing:
    """What has a `close` and is closed at the end of a `with`."""

    def close(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextlib.contextmanager
def storage_errors(path: Path, doing: str = "write") -> Iterator[None]:
    """Name what goes wrong when writing, or whatever else is done."""
    try:
        yield
    except (StorageError, DamagedFileError):
        raise
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error).splitlines()[0]
        hint = "; free some space and run the same command again" * (error.errno == errno.ENOSPC)
        raise StorageError(f"cannot {doing} {path}: {reason}{hint}") from error


@contextlib.contextmanager
def whole_file(path: Path, *, synced: bool = True, alone: bool = True) -> Iterator[Path]:
    """Where to write a file that is to be whole or not there; synced, even after a power cut.

    A writer who is not alone gets a name aside that no other has, so that they do not meet.
    """
    own = "" if alone else f".{uuid.uuid4().hex[:12]}"
    aside = _aside(path, own)
    try:
        yield aside
        if synced:
            sync(aside)
        replace(aside, path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    if synced:
        sync(path.parent)


def write_whole(path: Path, content: bytes, *, synced: bool = True) -> None:
    """Write a file that is whole or not there."""
    with whole_file(path, synced=synced) as aside:
        aside.write_bytes(content)


def parts_folder(path: Path) -> Path:
    """Where the parts of a table being built are."""
    return path.with_name(path.name + ".partial")


def parts_place(path: Path, work_dir: Path | str | None) -> Path:
    """The path beside which the parts of a table are kept: its own, or one in another folder."""
    return path if work_dir is None else Path(work_dir).absolute() / path.name


def parts_size(path: Path) -> int:
    """Bytes of all parts of a table."""
    return sum(part.stat().st_size for part in parts_folder(path).glob("*.*"))


def is_begun(path: Path) -> bool:
    """Whether a build of a table is at work, or was stopped and has left something."""
    return any(left.exists() for left in (parts_folder(path), _aside(path), _lock(path)))


def tidy_parts(path: Path) -> None:
    """Remove what a build left when it died after joining; not what a build at work needs."""
    if is_begun(path):
        with contextlib.suppress(StorageError), only_builder(path):
            shutil.rmtree(parts_folder(path), ignore_errors=True)
            with contextlib.suppress(OSError):
                _aside(path).unlink(missing_ok=True)


def _aside(path: Path, own: str = "") -> Path:
    return path.with_name(f"{path.name}{own}.tmp")


def _lock(path: Path) -> Path:
    return path.with_name(path.name + ".lock")


def require_room(path: Path, beside: Path) -> None:
    """Refuse to join the parts of a table where the disk has no room for it."""
    needed = parts_size(beside) + (1 << 20)
    free = shutil.disk_usage(path.parent).free
    if free < needed:
        raise StorageError(
            f"joining {path} needs {needed:,} bytes, {path.parent} has {free:,} free"
        )


def replace(aside: Path, path: Path) -> None:
    """Give a finished file its name. Windows refuses that while a program has the old file open."""
    try:
        aside.replace(path)
    except PermissionError:
        if not path.exists():
            raise
        raise StorageError(
            f"cannot replace {path}: another program has it open, or it is read-only. "
            "Close that program (a notebook, `tablebase serve`) and run the same command again."
        ) from None


def sync(path: Path) -> None:
    """Have a file or folder safe on disk.

    Windows opens no folders and looks after their entries itself, and syncs only what may be
    written; `F_FULLFSYNC` is what macOS calls a sync that reaches the disk.
    """
    is_folder = path.is_dir()
    try:
        descriptor = os.open(path, os.O_RDONLY if is_folder else os.O_RDWR)
    except PermissionError:
        if is_folder:
            return
        raise
    try:
        if sys.platform == "darwin":
            import fcntl

            with contextlib.suppress(OSError):  # a network file system may not know it
                fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
                return
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def only_builder(path: Path) -> Iterator[None]:
    """Keep a second build of the same table out; the lock dies with its process."""
    lock = _lock(path)
    with storage_errors(lock.parent):
        lock.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
    removed = True
    try:
        try:
            _hold(descriptor)
            # Its last owner may have removed it meanwhile: then a third one has a lock, too.
            if not os.path.samestat(os.fstat(descriptor), lock.stat()):
                raise BlockingIOError
        except (BlockingIOError, FileNotFoundError):
            raise StorageError(f"another process is building {path}") from None
        except OSError as error:
            reason = f"{lock} cannot be locked: {error.strerror}"
            raise StorageError(f"{reason}; wanted a disk with flock") from None
        try:
            yield
        finally:
            removed = _unlink(lock)
    finally:
        os.close(descriptor)
        if not removed:
            _unlink(lock)  # unless the next builder has opened it already


def _hold(descriptor: int) -> None:
    """Lock an open file for this process alone, or raise BlockingIOError."""
    try:
        import fcntl
    except ImportError:
        windows: Any = import_module("msvcrt")
        try:
            windows.locking(descriptor, windows.LK_NBLCK, 1)
        except PermissionError:  # what Windows calls a lock that somebody has
            raise BlockingIOError from None
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _unlink(path: Path) -> bool:
    """Whether a file could be removed: Windows refuses while somebody has it open."""
    try:
        path.unlink(missing_ok=True)
    except PermissionError:
        return False
    return True
