"""Pictures without a plotting library: a few SVG elements and one kind of plot.

Everything is text made from numbers, so the same input gives the same bytes. Colours are
named once, as classes; a reader with a dark page gets a second set. They hold within a
picture of class `retro` alone, since a notebook puts many pictures into one page. The
background stays transparent.

    picture(Size(200, 100), [line((0, 0), (200, 100), "axis"), text((100, 50), "hello")])

    y ^                 plot(Plot("title", "depth", "nodes", [Series("minimax", points)]))
      |      .--*
      | *---'           one line with marks for each series, a legend, round numbers at the
      +----------> x    axes; `log` makes equal steps of y equal factors
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

STYLE = """
.retro text { font: 12px system-ui, sans-serif; fill: #222; }
.retro .small { font-size: 10px; fill: #555; }
.retro .title { font-size: 14px; font-weight: 600; }
.retro .faint { fill: #888; }
.retro .axis, .retro .edge { stroke: #777; fill: none; }
.retro .grid { stroke: #ccc; }
.retro .best { stroke: #0a6ebd; stroke-width: 2.5; fill: none; }
.retro .cut { stroke: #c0392b; fill: none; }
.retro .cuttext { fill: #c0392b; }
.retro .node { fill: #fff; stroke: #555; }
.retro .max { fill: #d6e9f8; stroke: #2471a3; }
.retro .min { fill: #fbe3d6; stroke: #ba4a00; }
.retro .s0 { stroke: #0a6ebd; fill: #0a6ebd; }
.retro .s1 { stroke: #ca6f1e; fill: #ca6f1e; }
.retro .s2 { stroke: #1e8449; fill: #1e8449; }
.retro .s3 { stroke: #884ea0; fill: #884ea0; }
.retro .won { stroke: #00725c; fill: #00725c; }
.retro .even { stroke: #5b6675; fill: #5b6675; }
.retro .lost { stroke: #a8326b; fill: #a8326b; }
.retro .curve { fill: none; stroke-width: 2; }
@media (prefers-color-scheme: dark) {
.retro text { fill: #ddd; }
.retro .small { fill: #aaa; }
.retro .axis, .retro .edge { stroke: #999; }
.retro .grid { stroke: #444; }
.retro .best { stroke: #5dade2; }
.retro .cut { stroke: #ec7063; }
.retro .cuttext { fill: #ec7063; }
.retro .node { fill: #222; stroke: #aaa; }
.retro .max { fill: #154360; stroke: #5dade2; }
.retro .min { fill: #6e2c00; stroke: #e59866; }
.retro .won { stroke: #2fbf9f; fill: #2fbf9f; }
.retro .even { stroke: #93a1b5; fill: #93a1b5; }
.retro .lost { stroke: #ef7fb2; fill: #ef7fb2; }
.retro .curve { fill: none; }
}"""
COLOURS = 4


class Size(NamedTuple):
    width: float
    height: float


Point = tuple[float, float]


def number(value: float) -> str:
    """A coordinate: at most one digit after the point, none when it is 0.

    >>> number(3.0), number(2.25), number(-0.01)
    ('3', '2.2', '0')
    """
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def picture(size: Size, parts: Iterable[str], title: str = "") -> str:
    """A whole SVG file."""
    width, height = number(size.width), number(size.height)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" class="retro">'
    )
    named = [f"<title>{escape(title)}</title>"] if title else []
    return "\n".join([head, *named, f"<style>{STYLE}</style>", *parts, "</svg>"]) + "\n"


def line(start: Point, end: Point, kind: str = "edge") -> str:
    (x1, y1), (x2, y2) = (tuple(map(number, point)) for point in (start, end))
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" class="{kind}"/>'


def polygon(points: Iterable[Point], kind: str) -> str:
    return f'<polygon points="{_points(points)}" class="{kind}"/>'


def polyline(points: Iterable[Point], kind: str) -> str:
    return f'<polyline points="{_points(points)}" class="{kind}"/>'


def circle(centre: Point, radius: float, kind: str) -> str:
    x, y = map(number, centre)
    return f'<circle cx="{x}" cy="{y}" r="{number(radius)}" class="{kind}"/>'


def rectangle(corner: Point, size: Size, kind: str) -> str:
    x, y, width, height = map(number, (*corner, *size))
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="3" class="{kind}"/>'


def text(at: Point, words: str, kind: str = "", anchor: str = "middle") -> str:
    """Words on a line: `anchor` is the part of them that stands at the point."""
    x, y = map(number, at)
    extra = f' class="{kind}"' if kind else ""
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}"{extra}>{escape(words)}</text>'


def _points(points: Iterable[Point]) -> str:
    return " ".join(f"{number(x)},{number(y)}" for x, y in points)


PLOT_SIZE = Size(560, 360)


class Series(NamedTuple):
    """A line of a plot; `kind` is the class of its colour, by default one after the other."""

    name: str
    points: Sequence[Point]
    kind: str = ""


@dataclass(frozen=True)
class Plot:
    """Lines over common axes; with `log` every y is above 0."""

    title: str
    x_label: str
    y_label: str
    series: Sequence[Series]
    log: bool = False
    size: Size = PLOT_SIZE


LEFT, RIGHT, TOP, BOTTOM = 70.0, 20.0, 52.0, 50.0  # margins
LETTER = 6.5  # about the width of one
TICKS = 6  # about so many numbers at an axis


class _Axis(NamedTuple):
    """How numbers become places: `begin` and `end` in numbers, `at_begin` and `at_end` on paper."""

    begin: float
    end: float
    at_begin: float
    at_end: float
    log: bool = False
    whole: bool = False  # only whole numbers stand at it

    def place(self, value: float) -> float:
        value = log10(value) if self.log else value
        share = (value - self.begin) / (self.end - self.begin)
        return self.at_begin + share * (self.at_end - self.at_begin)

    def ticks(self) -> list[float]:
        if not self.log:
            step = round_step((self.end - self.begin) / TICKS)
            step = max(step, 1.0) if self.whole else step
            return [step * i for i in range(ceil(self.begin / step), floor(self.end / step) + 1)]
        every = max(1, ceil((self.end - self.begin) / TICKS))
        return [10.0**i for i in range(int(self.begin), int(self.end) + 1, every)]


def round_step(least: float) -> float:
    """The next of 1, 2, 5, 10, 20 ... that is no less.

    >>> [round_step(x) for x in (0.3, 1, 3, 6, 13)]
    [0.5, 1.0, 5.0, 10.0, 20.0]
    """
    power = 10.0 ** floor(log10(least))
    return next(power * nice for nice in (1, 2, 5, 10) if power * nice >= least * (1 - 1e-9))


def plot(data: Plot) -> str:
    """The SVG of a plot; series without points are only named.

    >>> drawn = plot(Plot("t", "x", "y", [Series("a & b", [(1, 10), (2, 1000)])], log=True))
    >>> "a &amp; b" in drawn, drawn.count("<circle")
    (True, 2)
    """
    across, up = _axes(data)
    parts = [
        text((data.size.width / 2, 20), data.title, "title"),
        *_frame(data, across, up),
        *_legend(data),
    ]
    for number_, series in enumerate(data.series):
        places = [(across.place(x), up.place(y)) for x, y in series.points]
        colour = series.kind or f"s{number_ % COLOURS}"
        parts.append(polyline(places, f"curve {colour}"))
        parts += [circle(place, 3, colour) for place in places]
    return picture(data.size, parts, data.title)


def _axes(data: Plot) -> tuple[_Axis, _Axis]:
    xs = [x for series in data.series for x, _ in series.points] or [0.0, 1.0]
    ys = [y for series in data.series for _, y in series.points] or [1.0]
    x_from, x_to = min(xs), max(xs)
    x_to = x_to if x_to > x_from else x_from + 1
    whole = all(x == int(x) for x in xs)
    across = _Axis(x_from, x_to, LEFT, data.size.width - RIGHT, whole=whole)
    foot, head = data.size.height - BOTTOM, TOP
    if data.log:
        low, high = floor(log10(min(ys))), ceil(log10(max(ys)))
        return across, _Axis(low, max(high, low + 1), foot, head, log=True)
    whole = all(y == int(y) for y in ys)
    return across, _Axis(min(0.0, *ys), max(*ys, 1e-9), foot, head, whole=whole)


def _frame(data: Plot, across: _Axis, up: _Axis) -> Iterable[str]:
    """Axes, their numbers and their names."""
    foot, right = up.at_begin, across.at_end
    for value in up.ticks():
        y = up.place(value)
        yield line((LEFT, y), (right, y), "grid")
        yield text((LEFT - 6, y + 4), _tick(value), "small", "end")
    for value in across.ticks():
        yield text((across.place(value), foot + 16), _tick(value), "small")
    yield line((LEFT, foot), (right, foot), "axis")
    yield line((LEFT, foot), (LEFT, TOP), "axis")
    yield text(((LEFT + right) / 2, data.size.height - 12), data.x_label)
    yield text((LEFT - 6, TOP - 8), data.y_label, anchor="middle")


def _legend(data: Plot) -> Iterable[str]:
    """The names of the series, in a row above the lines."""
    x, y = LEFT + 40, TOP - 8
    for number_, series in enumerate(data.series):
        colour = series.kind or f"s{number_ % COLOURS}"
        yield line((x, y - 4), (x + 18, y - 4), f"curve {colour}")
        yield text((x + 23, y), series.name, anchor="start")
        x += 40 + LETTER * len(series.name)


def _tick(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:g}"
