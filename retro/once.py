"""A property that is made once, however many threads ask for it at the same moment.

    thread 1   asks ---- makes it ---------> has it
    thread 2      asks -- waits for the lock -> has the same

`functools.cached_property` no longer does that from Python 3.12 on: each thread would make one,
and what takes a gigabyte would take two. Where making it twice is cheap, that one will do.
"""

from __future__ import annotations

from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Generic, TypeVar, cast

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

Made = TypeVar("Made")


class once(cached_property[Made], Generic[Made]):
    """Use it as `cached_property`; an object does not wait for what another one makes."""

    def __get__(self, owner: object, kind: type | None = None) -> Made:  # type: ignore[override]
        if owner is None:
            return cast("Made", self)
        making: AbstractContextManager[object] = vars(owner).setdefault(
            f"_making {self.attrname}", RLock()
        )
        with making:
            return super().__get__(owner, kind)
