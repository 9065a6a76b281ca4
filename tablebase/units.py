"""Bytes and seconds as people read and write them."""

from __future__ import annotations


def size(number: int) -> str:
    """A number of bytes for people.

    >>> size(592447), size(3_400_000_000)
    ('592 kB', '3.4 GB')
    """
    amount = float(number)
    for unit in ("bytes", "kB", "MB", "GB", "TB", "PB"):
        if amount < 1000 or unit == "PB":
            break
        amount /= 1000
    return f"{amount:.3g} {unit}" if amount < 1000 else f"{amount:,.0f} {unit}"


def counted(number: int, one: str, many: str) -> str:
    """A number of things.

    >>> counted(1, "ply", "plies"), counted(1200, "ply", "plies")
    ('1 ply', '1,200 plies')
    """
    return f"{number:,} {one if number == 1 else many}"


def speed(rate: float) -> str:
    """So many a second, for people.

    >>> speed(2_340_000), speed(51_000_000), speed(512)
    ('2.3 million/s', '51 million/s', '512/s')
    """
    if rate < 100_000:
        return f"{rate:,.0f}/s"
    return f"{rate / 1e6:,.{1 if rate < 9_950_000 else 0}f} million/s"


def duration(seconds: float) -> str:
    """A time span for people.

    >>> duration(0.8), duration(75), duration(7300), duration(200_000)
    ('1 s', '1 min 15 s', '2 h 2 min', '2.3 days')
    """
    if seconds < 59.5:
        return f"{max(1, round(seconds))} s"
    if seconds < 3600:
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes} min {rest} s"
    if seconds < 48 * 3600:
        hours, rest = divmod(round(seconds / 60), 60)
        return f"{hours} h {rest} min"
    return f"{seconds / 86400:,.1f} days"
