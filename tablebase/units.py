"""Bytes and seconds as people read them."""


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
