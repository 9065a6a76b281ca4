"""A property that is made once, however many threads ask for it at the same moment.

    thread 1   asks ---- makes it ---------> has it
    thread 2      asks -- waits for the lock -> has the same

`functools.cached_property` does not do that: from Python 3.12 on each thread makes one, and what
takes a gigabyte takes two; before, all objects of a class wait for what one of them makes. Where
making it twice is cheap, that one will do.
"""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

Made = TypeVar("Made")


class once(Generic[Made]):
    """Use it as `cached_property`; an object does not wait for what another one makes."""

    def __init__(self, make: Callable[[Any], Made]) -> None:
        self._make, self.__doc__ = make, make.__doc__

    def __set_name__(self, kind: type, name: str) -> None:
        self._name = name

    def __get__(self, owner: object, kind: type | None = None) -> Made:
        if owner is None:
            return cast("Made", self)
        held, lock = vars(owner), f"_making {self._name}"
        with held.setdefault(lock, RLock()):
            if self._name not in held:
                held[self._name] = self._make(owner)
            made: Made = held[self._name]
        held.pop(lock, None)  # nobody asks here again, and an object with a lock is not pickled
        return made
