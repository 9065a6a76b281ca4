"""A scene as SVG: the one drawing of a board, for the page, files and notebooks.

    +-----------------+      a cell is 100 units wide; `Layout` says where everything
    |  3  .  .  .     |      is, so that whoever puts things over the picture (the page:
    |  2  .  X  .     |      buttons and values) asks it and knows no geometry
    |  1  O  .  .     |
    |     a  b  c     |      pieces in hand and in stock stand below the board (Quarto)
    +-----------------+

Colours are attributes, so that a picture is whole by itself and any program draws it; each
thing has a class, too, by which a page gives it other colours (CSS wins over attributes). The
players are amber and blue, which everyone tells apart, and differ in shape, too: on a disc of
the first there is an X, on one of the second an O, as texts call them. Values are letters with
numbers, then colours.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from retro.games.scene import Mark, Piece, Place, Places, Scene

CELL = 100.0
MARGIN, LABELS = 16.0, 46.0
STOCK, STOCK_VALUE, STOCK_GAP = 50.0, 22.0, 26.0  # a piece in stock, its value below, a gap above
STOCK_COLUMNS = 8
BOARD, HOLE, GRID, INK, LINE = "#dbe4f0", "#ffffff", "#94a3b8", "#475569", "#111827"
FIRST, SECOND, NOBODY = "#f59e0b", "#2563eb", "#475569"
FIRST_DARK, SECOND_DARK = "#b45309", "#1e40af"
WORTH = {1: "#ffffff", 2: "#fdf3d7", 3: "#fbe3a6"}
RED_PIECE, BLUE_PIECE = "#ef7d6b", "#2348b8"  # apart in lightness, too
RED_RIM, BLUE_RIM = "#a3271b", "#131f52"
CHIPS = {"W": "#00725c", "D": "#5b6675", "L": "#a8326b"}


class Box(NamedTuple):
    """Where something is: its upper left corner and its size."""

    x: float
    y: float
    width: float
    height: float

    @property
    def centre(self) -> tuple[float, float]:
        return self.x + self.width / 2, self.y + self.height / 2


@dataclass(frozen=True)
class Layout:
    """Where the things of a scene are; `flip` exchanges left and right."""

    scene: Scene
    flip: bool = False

    @property
    def edge(self) -> float:
        """Where the leftmost thing begins."""
        return LABELS if self.scene.row_names else MARGIN

    @property
    def left(self) -> float:
        """Where the board begins: in the middle above a wider stock."""
        wider = self.has_stock * STOCK_COLUMNS * STOCK - self.scene.cols * CELL
        return self.edge + max(0.0, wider / 2)

    @property
    def board(self) -> Box:
        return Box(self.left, MARGIN, self.scene.cols * CELL, self.scene.rows * CELL)

    @property
    def has_stock(self) -> bool:
        return bool(self.scene.stock) or self.scene.hand is not None

    @property
    def width(self) -> float:
        board = self.board
        stock = self.edge + STOCK_COLUMNS * STOCK * self.has_stock
        return max(board.x + board.width, stock) + MARGIN

    @property
    def height(self) -> float:
        foot = self.board.y + self.board.height + LABELS
        if not self.has_stock:
            return foot
        seen = [*self.scene.stock, self.scene.hand, *(mark.piece for mark in self.scene.marks)]
        last = max(piece.number for piece in seen if piece is not None)
        rows = last // STOCK_COLUMNS + 1
        return foot + 2 * STOCK_GAP + CELL + rows * (STOCK + STOCK_VALUE) + MARGIN

    def box(self, place: Place) -> Box:
        """The box of a cell."""
        column, row = place
        column = self.scene.cols - 1 - column if self.flip else column
        from_top = self.scene.rows - 1 - row
        return Box(self.left + column * CELL, MARGIN + from_top * CELL, CELL, CELL)

    def boxes(self, places: Places) -> Box:
        """The box around some cells."""
        boxes = [self.box(place) for place in places]
        x, y = min(b.x for b in boxes), min(b.y for b in boxes)
        right, foot = max(b.x + b.width for b in boxes), max(b.y + b.height for b in boxes)
        return Box(x, y, right - x, foot - y)

    @property
    def hand_box(self) -> Box:
        top = self.board.y + self.board.height + LABELS + STOCK_GAP - 10
        return Box(self.edge, top, CELL, CELL)

    def stock_box(self, piece: Piece) -> Box:
        """The box of a piece in stock; each has its own, so that none moves when others go."""
        row, column = divmod(piece.number, STOCK_COLUMNS)
        top = self.hand_box.y + CELL + STOCK_GAP + row * (STOCK + STOCK_VALUE)
        return Box(self.edge + column * STOCK, top, STOCK, STOCK)


def draw(layout: Layout, chips: Mapping[str, str] | None = None, title: str = "") -> str:
    """The picture; `chips` are short texts such as `W 17` for moves.

    >>> from retro.games.catalogue import make_board
    >>> from retro.games.scene import scene_of
    >>> drawn = draw(Layout(scene_of(make_board("mnk", "3x3").position("b2"))), {"a1": "L 4"})
    >>> drawn.count("<rect"), "L 4" in drawn
    (12, True)
    """
    scene = layout.scene
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_n(layout.width)} '
        f'{_n(layout.height)}" width="{_n(layout.width)}" height="{_n(layout.height)}" role="img">'
    )
    parts = [head, f"<title>{escape(title)}</title>" if title else ""]
    parts += _ground(layout)
    for mark in scene.marks:
        parts.append(_mark(layout, mark))
    parts += _line(layout)
    parts += _labels(layout)
    parts += _pieces_besides(layout)
    for spot in scene.spots:
        if chips and spot.move in chips and spot.covers:
            parts.append(_chip(layout.boxes(spot.covers), chips[spot.move]))
    return "\n".join([*(part for part in parts if part), "</svg>"]) + "\n"


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _rect(box: Box, kind: str, fill: str, inset: float = 0.0, more: str = 'rx="0"') -> str:
    x, y, width, height = (
        box.x + inset, box.y + inset, box.width - 2 * inset, box.height - 2 * inset
    )  # fmt: skip
    return (
        f'<rect class="{kind}" x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" '
        f'height="{_n(height)}" fill="{fill}" {more}/>'
    )


def _circle(at: tuple[float, float], radius: float, kind: str, fill: str, more: str = "") -> str:
    x, y = at
    return (
        f'<circle class="{kind}" cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}" fill="{fill}"{more}/>'
    )


def _text(at: tuple[float, float], words: str, kind: str, size: float, fill: str = INK) -> str:
    x, y = at
    return (
        f'<text class="{kind}" x="{_n(x)}" y="{_n(y + size * 0.35)}" font-size="{_n(size)}" '
        f'font-family="system-ui, sans-serif" text-anchor="middle" fill="{fill}">'
        f"{escape(words)}</text>"
    )


def _ground(layout: Layout) -> Iterator[str]:
    """The board without anything on it."""
    scene = layout.scene
    yield _rect(layout.board, "board", BOARD, -6, 'rx="16"')
    for row in range(scene.rows):
        for column in range(scene.cols):
            box = layout.box((column, row))
            if scene.falls:
                yield _circle(box.centre, 41, "cell", HOLE)
                continue
            worth = scene.worth[row * scene.cols + column] if scene.worth else 1
            yield _rect(box, f"cell worth{worth}", WORTH[worth], 2.5, 'rx="8"')
            if scene.worth:
                corner = box.x + box.width - 12, box.y + 14  # clear of a cross
                yield _text(corner, str(worth), "worth", 16, "#7c5c10")


def _mark(layout: Layout, mark: Mark) -> str:
    """What lies on the board; beside a finished line everything else fades."""
    scene = layout.scene
    kind = f"mark {mark.owner or 'nobody'}"
    if mark.places == scene.last:
        kind += " last"
    fades = bool(scene.line) and not set(mark.places) & set(scene.line)
    more = ' opacity="0.4"' if fades else ""
    figure = _figure(layout.boxes(mark.places), mark)
    return f'<g class="{kind}"{more}>{figure}{_last(layout, mark)}</g>'


def _figure(box: Box, mark: Mark) -> str:
    """The shape of a mark."""
    fill = {"first": FIRST, "second": SECOND, None: NOBODY}[mark.owner]
    dark = {"first": FIRST_DARK, "second": SECOND_DARK, None: NOBODY}[mark.owner]
    if mark.piece is not None:
        return _piece(box, mark.piece)
    if mark.kind == "disc":
        letter = (
            _cross(box.centre, 14, "inner", dark, 7)
            if mark.owner == "first"
            else _ring(box.centre, 15, "inner", dark, 7)
        )
        return _circle(box.centre, 41, "disc", fill) + letter
    if mark.kind == "cross":
        return _cross(box.centre, 25, "cross", fill, 15)
    if mark.kind == "ring":
        return _ring(box.centre, 27, "ring", fill, 14)
    if mark.kind == "domino":
        return _domino(box, fill)
    return _rect(box, "covered", "#94a3b8", 8, 'rx="8"')


def _cross(at: tuple[float, float], arm: float, kind: str, colour: str, width: float) -> str:
    (x, y), reach = at, f"l{_n(2 * arm)} "
    return (
        f'<path class="{kind}" d="M{_n(x - arm)} {_n(y - arm)}{reach}{_n(2 * arm)}'
        f'M{_n(x - arm)} {_n(y + arm)}{reach}{_n(-2 * arm)}" fill="none" '
        f'stroke="{colour}" stroke-width="{_n(width)}" stroke-linecap="round"/>'
    )


def _ring(at: tuple[float, float], radius: float, kind: str, colour: str, width: float) -> str:
    return _circle(at, radius, kind, "none", f' stroke="{colour}" stroke-width="{_n(width)}"')


def icon(mark: Mark) -> str:
    """A mark by itself, as a small picture: what an editor offers, who is to move.

    >>> from retro.games.scene import one_mark
    >>> icon(one_mark("ring", "second"))[:64]
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100" ar'
    """
    columns, rows = ({place[axis] for place in mark.places} for axis in (0, 1))
    box = Box(0, 0, CELL * len(columns), CELL * len(rows))
    size = f"{_n(box.width)} {_n(box.height)}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" aria-hidden="true">'
        f'<g class="mark {mark.owner or "nobody"}">{_figure(box, mark)}</g></svg>'
    )


def _domino(box: Box, fill: str) -> str:
    """A domino with a dot on each cell."""
    x, y = box.centre
    across, up = (box.width - CELL) / 2, (box.height - CELL) / 2
    dots = (_circle(at, 8, "dot", "#ffffff") for at in ((x - across, y - up), (x + across, y + up)))
    return _rect(box, "domino", fill, 9, 'rx="18"') + "".join(dots)


def _last(layout: Layout, mark: Mark) -> str:
    """A frame around the last move."""
    scene = layout.scene
    if mark.places != scene.last or scene.line:
        return ""
    if scene.falls:
        more = f' stroke="{INK}" stroke-width="4"'
        return _circle(layout.box(mark.places[0]).centre, 45, "lastframe", "none", more)
    more = f'rx="10" stroke="{INK}" stroke-width="4"'
    return _rect(layout.boxes(mark.places), "lastframe", "none", 4, more)


def _line(layout: Layout) -> Iterator[str]:
    """Frames around the cells that ended the game."""
    more = f' stroke="{LINE}" stroke-width="7"'
    for place in layout.scene.line:
        box = layout.box(place)
        if layout.scene.falls:
            yield _circle(box.centre, 44, "line", "none", more)
        else:
            yield _rect(box, "line", "none", 5, f'rx="10"{more}')


def _labels(layout: Layout) -> Iterator[str]:
    scene, board = layout.scene, layout.board
    for column, name in enumerate(scene.column_names):
        x, _ = layout.box((column, 0)).centre
        yield _text((x, board.y + board.height + 27), name, "label", 22)
    for row, name in enumerate(scene.row_names):
        _, y = layout.box((0, row)).centre
        yield _text((board.x - 27, y), name, "label", 22)


def _pieces_besides(layout: Layout) -> Iterator[str]:
    """The piece in hand and the pieces in stock."""
    if not layout.has_stock:
        return
    hand = layout.hand_box
    yield _rect(hand, "handframe", HOLE, 3, f'rx="14" stroke="{GRID}" stroke-width="2"')
    words = _about_hand(layout.scene)
    yield (
        f'<text class="label" x="{_n(hand.x + CELL + 18)}" y="{_n(hand.y + CELL / 2 + 7)}" '
        f'font-size="22" font-family="system-ui, sans-serif" fill="{INK}">{words}</text>'
    )
    if layout.scene.hand is not None:
        yield f'<g class="hand">{_piece(hand, layout.scene.hand)}</g>'
    for piece in layout.scene.stock:
        yield f'<g class="stock">{_piece(layout.stock_box(piece), piece)}</g>'


def _about_hand(scene: Scene) -> str:
    """What is to be done with pieces; nothing once the game is over."""
    if scene.hand is not None:
        return "in hand: to place now"
    return "none in hand yet: choose one to give" if scene.spots else ""


def _piece(box: Box, piece: Piece) -> str:
    """A piece of Quarto: red or blue, small or large, with a hole or without, round or square."""
    x, y = box.centre
    half = box.width * (0.38 if piece.tall else 0.26)
    fill, rim = (BLUE_PIECE, BLUE_RIM) if piece.blue else (RED_PIECE, RED_RIM)
    kind = "piece blue" if piece.blue else "piece red"
    stroke = f'stroke="{rim}" stroke-width="{_n(box.width * 0.04)}"'
    if piece.square:
        around = Box(x - half, y - half, 2 * half, 2 * half)
        body = _rect(around, kind, fill, 0, f'rx="{_n(box.width * 0.05)}" {stroke}')
    else:
        body = _circle((x, y), half, kind, fill, f" {stroke}")
    if not piece.solid:
        body += _circle((x, y), box.width * 0.12, "piecehole", HOLE, f" {stroke}")
    return body


def _chip(box: Box, words: str) -> str:
    """A value on a move: `W 17` on a coloured ground."""
    x, y = box.centre
    width = max(46.0, 24 + 13.0 * len(words))
    ground = Box(x - width / 2, y - 18, width, 36)
    fill = CHIPS.get(words[:1], INK)
    return (
        f'<g class="chip {escape(words[:1])}">'
        + _rect(ground, "chipground", fill, 0, 'rx="18"')
        + _text((x, y), words, "chiptext", 22, "#ffffff")
        + "</g>"
    )


def chip_text(value: int, plies: int | None) -> str:
    """A value in as few letters as can be.

    >>> chip_text(1, 17), chip_text(0, None), chip_text(-1, None)
    ('W 17', 'D', 'L')
    """
    letter = {1: "W", 0: "D", -1: "L"}[value]
    return f"{letter} {plies}" if plies is not None and value else letter
