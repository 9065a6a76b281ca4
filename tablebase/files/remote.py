"""Tables elsewhere: a file at a URL, read by ranges. No other module imports fsspec.

    https://host/connect4-6x5.h5     any URL that fsspec reads: s3://, gs://, ...
     |   pages of 64 kB     |  |  |  |     |  |
     | contents of the file |  chunks, both planes of one side by side

HDF5 reads a file's contents in hundreds of small pieces, so whole pages are fetched and the
last ones kept, up to `CACHE_BYTES`. A table as it is written now has all its contents at
its beginning, where a few requests fetch them; what was written before 0.3.0 has them
among its chunks. Who knows which chunks it will read next says so (`fetch`): then their
pages come together, each run of them by one request, all at once.
"""

from __future__ import annotations

import contextlib
import gc
import re
import threading
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retro.errors import (
    BadTextError,
    MissingTableError,
    StorageError,
    TablebaseError,
    UnreachableError,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

PAGE = 1 << 16  # bytes
FIRST_BYTES = 4 * PAGE  # fetched when a file is opened
CACHE_BYTES = 64_000_000
SKIPPED_PAGES = 2  # are fetched, too, rather than asking twice
SECONDS = 60  # for an answer

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(::|://)")


def is_url(text: str) -> bool:
    """Whether text names a file by its URL.

    >>> is_url("https://host/x.h5"), is_url("shelf/x.h5"), is_url("5x4")
    (True, False, False)
    """
    return _URL.match(text) is not None


def open_remote(url: str) -> RemoteFile:
    """The file at a URL, which must answer."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        needed = "pip install 'retro-tablebase[remote]'"
        raise BadTextError(f"a table at a URL needs fsspec: {needed}") from None
    options: dict[str, Any] = {}
    if url.startswith("http"):
        try:
            from aiohttp import ClientTimeout
        except ImportError:
            needed = "pip install 'retro-tablebase[remote]'"
            raise BadTextError(f"a table at {url} needs aiohttp: {needed}") from None
        options = {"client_kwargs": {"timeout": ClientTimeout(total=SECONDS)}}
    try:
        system, path = url_to_fs(url, **options)
        size = system.info(path)["size"]
    except (ImportError, ValueError) as error:
        raise BadTextError(f"cannot read {url}: {_line(error)}") from None
    except Exception as error:
        raise _named(url, error) from None
    if size is None:
        raise UnreachableError(f"cannot read {url}: its server does not tell its size")
    return RemoteFile(url, system, path, int(size))


class RemoteFile:
    """A file at a URL, as HDF5 wants a file to be. Usable from several threads."""

    def __init__(self, url: str, system: Any, path: str, size: int) -> None:
        self.url, self.size = url, size
        self._system, self._path = system, path
        self._pages: OrderedDict[int, bytes] = OrderedDict()  # the last used ones last
        self._at = 0
        self._lock = threading.Lock()
        self.fetch([(0, min(FIRST_BYTES, size))])

    def __str__(self) -> str:
        return self.url

    @property
    def name(self) -> str:
        """The last part of the URL."""
        return self.url.rstrip("/").rpartition("/")[2]

    # What h5py calls, one thread at a time.

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = offset + (0, self._at, self.size)[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, length: int) -> bytes:
        with _no_collection():
            found = self.read_at(self._at, min(self._at + length, self.size))
        self._at += len(found)
        return found

    def readinto(self, buffer: memoryview) -> int:
        found = self.read(len(buffer))
        buffer[: len(found)] = found
        return len(found)

    def flush(self) -> None:
        """Nothing is written."""

    # Pages.

    def read_at(self, begin: int, end: int) -> bytes:
        """Some bytes of the file."""
        if begin >= end:
            return b""
        with self._lock:
            pages = self._have(begin, end)
        first = begin // PAGE * PAGE
        return b"".join(pages)[begin - first : end - first]

    def fetch(self, ranges: Iterable[tuple[int, int]]) -> None:
        """Have the pages of some ranges at hand, (first byte, byte after the last) each.

        If they are more than are kept, the first of them.
        """
        # Who finds the ranges may read the file for it: not while it is locked.
        wanted = {number for begin, end in ranges for number in _numbers(begin, end)}
        with self._lock:
            first = sorted(wanted)[: CACHE_BYTES // PAGE]
            self._load([number for number in first if number not in self._pages])
            self._forget()

    def _have(self, begin: int, end: int) -> list[bytes]:
        numbers = _numbers(begin, end)
        self._load([number for number in numbers if number not in self._pages])
        found = []
        for number in numbers:
            self._pages.move_to_end(number)
            found.append(self._pages[number])
        self._forget()
        return found

    def _forget(self) -> None:
        while len(self._pages) * PAGE > CACHE_BYTES:
            self._pages.popitem(last=False)

    def _load(self, missing: Sequence[int]) -> None:
        """Fetch pages: one request for each run of them, all runs at once."""
        runs: list[list[int]] = []
        for number in missing:
            if runs and number - runs[-1][1] <= SKIPPED_PAGES:
                runs[-1][1] = number + 1
            else:
                runs.append([number, number + 1])
        if not runs:
            return
        begins = [begin * PAGE for begin, _ in runs]
        ends = [min(end * PAGE, self.size) for _, end in runs]
        paths = [self._path] * len(runs)
        try:
            contents = self._system.cat_ranges(paths, begins, ends, on_error="return")
        except Exception as error:
            raise _named(self.url, error) from None
        for begin, end, content in zip(begins, ends, contents, strict=True):
            self._keep(begin, end, content)

    def _keep(self, begin: int, end: int, content: object) -> None:
        if isinstance(content, BaseException):
            raise _named(self.url, content) from None
        assert isinstance(content, bytes)
        if len(content) != end - begin:
            reason = f"asked for {end - begin:,} bytes, got {len(content):,}"
            raise UnreachableError(f"cannot read {self.url}: {reason}; its server needs ranges")
        for at in range(begin, end, PAGE):
            self._pages[at // PAGE] = content[at - begin : at - begin + PAGE]


Source = Path | RemoteFile  # where a table is


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Collect no garbage while HDF5 waits for bytes.

    HDF5's lock is held meanwhile, and an h5py object that is collected wants it: the thread that
    fetches the bytes would wait for us for ever, and our own would enter HDF5 a second time.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _numbers(begin: int, end: int) -> range:
    """The pages of a range of bytes."""
    return range(begin // PAGE, -(-end // PAGE))


def _named(url: str, error: BaseException) -> TablebaseError:
    """An error of a server or of the way to it."""
    cause = error.__cause__ or error
    status = getattr(cause, "status", None)
    if isinstance(cause, TablebaseError):
        return cause
    if isinstance(cause, FileNotFoundError) or status in (404, 410):
        return MissingTableError(f"no table at {url}")
    if isinstance(cause, PermissionError) or status in (401, 403):
        return StorageError(f"cannot read {url}: it is not allowed")
    reason = f"{status} {getattr(cause, 'message', '')}".strip() if status else _line(cause)
    return UnreachableError(f"cannot read {url}: {reason}")


def _line(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    return text[0] if text else type(error).__name__
