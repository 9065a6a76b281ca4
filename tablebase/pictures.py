"""Tables and plans as notebooks show them: HTML with numbers, SVG with lines.

    table                  in a notebook: its counts ply by ply, with a bar of won, drawn, lost
    counts_svg(table.counts)    the same as lines on a logarithmic axis
    values_svg([...])      how the value of a game went, move by move

Nothing to install: `retro.svg` draws.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from retro.svg import Plot, Series, plot
from tablebase.units import duration, size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tablebase.answers import Counts
    from tablebase.building.plan import Plan

BAR = 120.0  # the width of a bar
COLOURS = {"win": "#00725c", "draw": "#5b6675", "loss": "#a8326b"}


def counts_html(title: str, counts: Sequence[Counts]) -> str:
    """Counts as a table with bars."""
    names = ("ply", "positions", "win", "draw", "loss", "terminal")
    head = "".join(f"<th>{name}</th>" for name in names)
    rows = (
        "".join(f"<td>{getattr(one, name):,}</td>" for name in names) + f"<td>{_bar(one)}</td>"
        for one in counts
    )
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return (
        f"<table><caption>{escape(title)}</caption><thead><tr>{head}<th>share</th></tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )


def _bar(counts: Counts) -> str:
    x, parts = 0.0, []
    for name, colour in COLOURS.items():
        width = BAR * getattr(counts, name) / max(counts.positions, 1)
        parts.append(f'<rect x="{x:.1f}" width="{width:.1f}" height="12" fill="{colour}"/>')
        x += width
    return f'<svg width="{BAR:.0f}" height="12" role="img">{"".join(parts)}</svg>'


def plan_html(plan: Plan) -> str:
    """A plan as a table of its plies."""
    rows = "".join(
        f"<tr><td>{ply}</td><td>{of.positions:,}</td><td>{duration(of.seconds)}</td>"
        f"<td>{size(of.memory)}</td></tr>"
        for ply, of in plan.plies.items()
    )
    return (
        f"<p><b>{escape(plan.title)}</b>: {escape(plan.summary())}</p><table><thead><tr>"
        f"<th>ply</th><th>positions</th><th>time</th><th>memory</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>"
    )


def counts_svg(counts: Sequence[Counts], title: str = "positions per ply") -> str:
    """Won, drawn and lost positions per ply, on a logarithmic axis; none is left out.

    >>> from tablebase.answers import Counts
    >>> "won" in counts_svg([Counts(0, 1, 1, 0, 0, 0, None, "")])
    True
    """
    names = {"win": ("won", "won"), "draw": ("drawn", "even"), "loss": ("lost", "lost")}
    series = [
        Series(
            words,
            [(float(c.ply), float(getattr(c, name))) for c in counts if getattr(c, name)],
            kind,
        )
        for name, (words, kind) in names.items()
    ]
    return plot(Plot(title, "ply", "positions", series, log=True))


def values_svg(values: Sequence[int | None], title: str = "value for the first player") -> str:
    """The value of a game after every ply, for the first player; None where it is not known.

    >>> values_svg([0, 0, 1]).count("<circle")
    3
    """
    points = [(float(ply), float(value)) for ply, value in enumerate(values) if value is not None]
    return plot(Plot(title, "ply", "value", [Series("value", points)]))


def distances_svg(distances: Sequence[int | None], title: str = "plies to the end") -> str:
    """How far the end of a game was after every ply; None where it is not known."""
    points = [(float(ply), float(far)) for ply, far in enumerate(distances) if far is not None]
    return plot(Plot(title, "ply", "plies", [Series("plies to the end", points)]))
