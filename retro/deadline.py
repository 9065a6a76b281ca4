"""The one clock of a question, however many searches, tables and moves it takes to answer.

    deadline = Deadline(60)              begins to count; None: as long as it takes
    ...
    deadline.check("3,000 nodes")        TimeLimitError when it is over, never a guess
    deadline.within(0.7)                 the same clock, but over in 0.7 s at the latest

Whoever is asked makes a deadline and hands it down; whoever searches checks it
between slices.
"""

from __future__ import annotations

import time
from math import inf

from retro.errors import BadTextError, TimeLimitError

NOT_SOLVED = "not solved"


def check_seconds(seconds: float | None) -> float | None:
    """Return a time limit if it is one, else raise: not a number, or below 0.

    >>> check_seconds(60), check_seconds(None)
    (60, None)
    """
    if seconds is not None and not seconds >= 0:
        raise BadTextError(f"found a time limit of {seconds:g} s, wanted 0 or more")
    return seconds


class Deadline:
    """Seconds from now on.

    >>> Deadline(None).left
    inf
    >>> Deadline(0, "no move found").check("7 nodes searched")
    Traceback (most recent call last):
    retro.errors.TimeLimitError: no move found within 0 s (7 nodes searched)
    """

    def __init__(self, seconds: float | None = None, failure: str = NOT_SOLVED) -> None:
        self._seconds = inf if seconds is None else seconds
        self._failure = failure
        self._begin = time.monotonic()

    @property
    def spent(self) -> float:
        """Seconds since the question was asked."""
        return time.monotonic() - self._begin

    @property
    def left(self) -> float:
        """Seconds until it is over; not below 0."""
        return max(0.0, self._seconds - self.spent) if self._seconds < inf else inf

    def check(self, so_far: str = "") -> None:
        """Raise TimeLimitError when the time is over; `so_far` tells what was done in it."""
        if self._seconds < inf and self.spent >= self._seconds:
            done = f" ({so_far})" if so_far else ""
            raise TimeLimitError(f"{self._failure} within {self._seconds:g} s{done}")

    def within(self, seconds: float) -> Deadline:
        """A deadline of its own for a part of the question; the whole one still holds.

        >>> Deadline(5).within(9).left <= 5
        True
        """
        return Deadline(min(seconds, self.left), self._failure)
