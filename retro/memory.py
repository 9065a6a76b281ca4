"""How much memory something may take: text such as `4G`, which a person writes, or bytes.

The one place where such text is read, for searches, builds and the service alike. A plain number
in text is refused: some would mean megabytes and others bytes. In Python an int is bytes.
"""

from __future__ import annotations

import re

from retro.errors import BadTextError

DEFAULT_MEMORY = "1G"  # of a search
MEGABYTE = 1_000_000

_FORM = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,3})?)([KMGT])B?", re.ASCII | re.IGNORECASE)


def memory_bytes(memory: str | int) -> int:
    """Bytes from text such as `4G` or `500M`, in powers of a thousand, or from a number of bytes.

    >>> memory_bytes("1G"), memory_bytes("1.5M"), memory_bytes(4096)
    (1000000000, 1500000, 4096)
    >>> memory_bytes("4")
    Traceback (most recent call last):
    retro.errors.BadTextError: memory '4' has no unit: write 4M for megabytes or 4G for gigabytes
    """
    if isinstance(memory, int):
        return memory
    text = memory.strip() if isinstance(memory, str) else repr(memory)  # type: ignore[redundant-expr]
    match = _FORM.fullmatch(text)
    if match is None and re.fullmatch(r"[0-9]{1,6}", text, re.ASCII):
        units = f"write {text}M for megabytes or {text}G for gigabytes"
        raise BadTextError(f"memory {text!r} has no unit: {units}")
    if match is None:
        raise BadTextError(f"memory {text[:40]!r} is not a size: write one such as 4M or 4G")
    return int(float(match[1]) * 1000 ** " KMGT".index(match[2].upper()))
