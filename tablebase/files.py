"""Files that are whole or not there, and HDF5's failures by name: what every store needs.

A file is written aside, synced and renamed, so whoever finds it finds all of
it. Damaged bytes make HDF5 fail in many ways; `reading` gives them one name.
"""

from __future__ import annotations

import contextlib
import errno
import os
from typing import TYPE_CHECKING, Any

import h5py

from retro.errors import (
    ChecksumError,
    DamagedFileError,
    MissingTableError,
    StorageError,
    TablebaseError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LIBRARY_VERSIONS = ("v110", "v110")  # checksummed and smaller metadata; read by HDF5 1.10 and later


def attribute_text(attribute: Any) -> str:
    """A text attribute: fixed-length ASCII as we write it, or a string as others may."""
    return attribute if isinstance(attribute, str) else bytes(attribute).decode("ascii")


@contextlib.contextmanager
def reading(path: Path) -> Iterator[None]:
    """Give HDF5's many ways to fail on damaged bytes one name."""
    try:
        yield
    except TablebaseError:
        raise
    except (OSError, LookupError, RuntimeError, ValueError, TypeError, AttributeError) as error:
        reason = str(error).strip("'\"").splitlines()[0] if str(error) else type(error).__name__
        raise ChecksumError(f"{path} is damaged: {reason}") from error


def open_file(path: Path) -> h5py.File:
    """Open a file to read; what is wrong with it gets its name."""
    try:
        return h5py.File(path, "r")
    except FileNotFoundError:
        raise MissingTableError(f"no table at {path}") from None
    except PermissionError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from None
    except OSError as error:
        reason = str(error).splitlines()[0]
        raise DamagedFileError(f"{path} is damaged or no table: {reason}") from error


@contextlib.contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Name what goes wrong when writing."""
    try:
        yield
    except (StorageError, DamagedFileError):
        raise
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error).splitlines()[0]
        hint = "; free some space and run the same command again" * (error.errno == errno.ENOSPC)
        raise StorageError(f"cannot write {path}: {reason}{hint}") from error


def write_whole(path: Path, content: bytes, *, synced: bool = True) -> None:
    """Write a file aside and rename it: whole or not there; synced, even after a power cut."""
    aside = path.with_name(path.name + ".tmp")
    try:
        with aside.open("wb") as file:
            file.write(content)
            if synced:
                file.flush()
                os.fsync(file.fileno())
        aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    if synced:
        sync(path.parent)


def sync(path: Path) -> None:
    """Have a file or folder safe on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def only_builder(path: Path) -> Iterator[None]:
    """Keep a second build of the same table out; the lock dies with its process."""
    try:
        import fcntl
    except ImportError:  # not a POSIX system: two builds at once would only waste time
        yield
        return
    lock = path.with_name(path.name + ".lock")
    with storage_errors(lock.parent):
        lock.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise StorageError(f"another process is building {path}") from None
        yield
        lock.unlink(missing_ok=True)
    finally:
        os.close(descriptor)
