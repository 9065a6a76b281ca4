"""A position for the page: what every answer says of it, and its picture.

    {..."position"..., "grid", "history": [...], "mover", "players", "message", "winner",
     "icons": [svg of the first player's stones, of the second's],
     "picture": {"svg", "width", "height", "ghost": what a move puts down, by itself,
                 "spots": [{"move", "box", "click": [box, ...], "gives"}],
                 "stock": [{"piece", "box", "name", "icon"}]}}

A box is [x, y, width, height] in the units of the picture. The page puts buttons over the boxes
and values on them; it knows no game and no geometry.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from retro.games.picture import Layout, draw, icon
from retro.games.scene import grid_of, next_mark, one_mark, palette_of, scene_of
from retro.games.values import VALUE_NAMES
from tablebase.web.questions import read_grid_moves

if TYPE_CHECKING:
    from retro.games.game import Board, Position
    from retro.games.picture import Box
    from retro.games.scene import Mark, Scene, Symbol
    from tablebase.answers import Json
    from tablebase.web.questions import Question


def scene_json(question: Question, flip: bool) -> Json:
    """A position with its picture."""
    position = question.position
    layout = Layout(_scene(question), flip)
    outcome = position.outcome()
    return {
        **position.to_dict(),
        "value": None if outcome is None else VALUE_NAMES[outcome],
        "from": question.grid,
        "grid": grid_of(position),
        "history": list(question.moves),
        "players": list(position.board.players),
        "mover": layout.scene.mover or position.mover_name,
        "message": position.over_message() if outcome is not None else "",
        "winner": winner_of(position),
        "icons": icons_of(position.board),
        "picture": picture_json(layout, next_mark(position)),
    }


def winner_of(position: Position) -> str | None:
    """Who has won a finished game; None while it goes on, and for a draw."""
    outcome, side = position.outcome(), position.side_to_move
    if not outcome:
        return None
    return side if outcome > 0 else "second" if side == "first" else "first"


def _scene(question: Question) -> Scene:
    """The scene; after a set-up position the game itself does not know its last move."""
    scene = scene_of(question.position)
    if scene.last or not question.grid or not question.moves:
        return scene
    before = read_grid_moves(question.board, question.grid, question.moves[:-1])
    spots = {spot.move: spot.covers for spot in scene_of(before).spots}
    return replace(scene, last=spots.get(question.moves[-1], ()))


@lru_cache(maxsize=32)
def first_positions(board: Board) -> tuple[Position, Position]:
    """Two positions, one with each player to move; on a board without moves the same twice."""
    start = board.start()
    return start, start if start.is_over() else start._play(start._numbers()[0])


@lru_cache(maxsize=32)
def icons_of(board: Board) -> list[str | None]:
    """How the stones of the first and of the second player look; None where nobody owns any."""
    marks = [next_mark(one) for one in first_positions(board)]
    return [None if mark is None or mark.owner is None else icon(mark) for mark in marks]


def picture_json(layout: Layout, ghost: Mark | None) -> Json:
    """The picture, and where its moves are."""
    scene = layout.scene
    spots = [
        {
            "move": spot.move,
            "box": _numbers(layout.boxes(spot.covers)) if spot.covers else None,
            "click": [_numbers(layout.box(place)) for place in spot.click],
            "gives": spot.gives,
        }
        for spot in scene.spots
    ]
    stock = [
        {
            "piece": piece.number,
            "box": _numbers(layout.stock_box(piece)),
            "name": piece.words,
            "icon": icon(one_mark("piece", piece=piece)),
        }
        for piece in scene.stock
    ]
    return {
        "svg": draw(layout),
        "width": layout.width,
        "height": layout.height,
        "ghost": None if ghost is None else icon(ghost),
        "falls": scene.falls,
        "spots": spots,
        "stock": stock,
    }


def _numbers(box: Box) -> list[float]:
    return [round(number, 1) for number in box]


def palette_json(board: Board) -> Json:
    """What the editor offers."""
    palette, preset = palette_of(board), board.game.preset_for(board)
    return {
        **board.to_dict(),
        "cols": palette.cols,
        "rows": palette.rows,
        "falls": scene_of(board.start()).falls,
        "cells": [_symbol_json(symbol) for symbol in palette.cells],
        "extra_name": palette.extra_name,
        "extra": [_symbol_json(symbol) for symbol in palette.extra],
        "preset": None if preset is None else preset._asdict(),
    }


def _symbol_json(symbol: Symbol) -> Json:
    picture = None if symbol.mark is None else icon(symbol.mark)
    return {"text": symbol.text, "name": symbol.name, "icon": picture}
