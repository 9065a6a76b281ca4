"""Keys of one or two words, many at a time: two arrays side by side.

    a   b        one key a row, sorted by `a`, then by `b`, where somebody sorted them
    3   0
    3   7        of keys of one word `b` is empty
    9   1

Apart from `sorting`, so that whoever looks up one key need not load numba.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]


class Keys(NamedTuple):
    """Keys in two arrays of words; `b` is empty when one word is enough."""

    a: Words
    b: Words

    @property
    def size(self) -> int:
        return len(self.a)

    @property
    def nbytes(self) -> int:
        return self.a.nbytes + self.b.nbytes

    def part(self, begin: int, end: int) -> Keys:
        """The keys from `begin` to before `end`; shares their memory."""
        return Keys(self.a[begin:end], self.b[begin:end])
