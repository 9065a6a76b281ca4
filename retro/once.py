"""A property that is made once, however many threads ask for it at the same moment.

    thread 1   asks ---- makes it ---------> has it
    thread 2      asks -- waits for the lock -> has the same

`functools.cached_property` no longer does that from Python 3.12 on: each thread would make one,
and what takes a gigabyte would take two. Where making it twice is cheap, that one will do.
"""

from __future__ import annotations

from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

Made = TypeVar("Made")


class once(cached_property[Made], Generic[Made]):
    """Use it as `cached_property`; all objects of a class share one lock."""

    def __init__(self, make: Callable[[Any], Made]) -> None:
        super().__init__(make)
        self._making = RLock()

    def __get__(self, owner: object, kind: type | None = None) -> Made:  # type: ignore[override]
        if owner is None:
            return cast("Made", self)
        with self._making:
            return super().__get__(owner, kind)
