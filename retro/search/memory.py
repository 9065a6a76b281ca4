"""How much memory a solver may take: bytes, or text such as `1G`.

A transposition table has a power of two of buckets, so units are powers of 1024 here:
of a thousand million bytes nearly half would stay unused.
"""

from __future__ import annotations

import re

from retro.errors import BadTextError

DEFAULT_MEMORY = 1 << 30


def memory_bytes(memory: str | int | None = None, memory_mb: int | None = None) -> int:
    """Bytes from whichever of the two was given; neither: `DEFAULT_MEMORY`.

    >>> memory_bytes("64M"), memory_bytes(1000), memory_bytes(memory_mb=2)
    (67108864, 1000, 2097152)
    """
    if memory_mb is not None:
        return memory_mb << 20 if memory_mb > 0 else 0
    if memory is None:
        return DEFAULT_MEMORY
    if isinstance(memory, int):
        return memory
    form = r"([0-9]{1,15}(?:\.[0-9]{1,3})?)([kKMGT]?)i?B?"
    found = re.fullmatch(form, memory.strip(), re.ASCII) if isinstance(memory, str) else None  # type: ignore[redundant-expr]
    if found is None:
        raise BadTextError(f"found memory {memory!r}, wanted a size such as 1G or 64M")
    return int(float(found[1]) * 1024 ** " KMGT".index(found[2].upper() or " "))
