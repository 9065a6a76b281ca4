"""Scenes and pictures of every game: whole, true to the position, and back from grids."""

import random
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import tablebase as tb
from retro.errors import TablebaseError
from retro.games.catalogue import NAMES, make_board
from retro.games.picture import Layout, draw
from retro.games.scene import grid_of, palette_of, scene_of, set_up
from retro.games.values import LOSS, WIN
from tablebase.cli import main

SMALL = {"connect4": "4x4", "quarto": "3x3", "puissance-plus": "4x4", "domineering": "4x4"}


def games(name: str) -> list:
    """Every position of a few games by lot."""
    rng, found = random.Random(name), []
    for _ in range(4):
        position = make_board(name, SMALL.get(name, "3x3")).start()
        found.append(position)
        while not position.is_over():
            position = position._play(rng.choice(position._numbers()))
            found.append(position)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_scenes_tell_what_the_rules_know(name: str) -> None:
    lines = 0
    for position in games(name):
        scene = scene_of(position)
        moves = [position._text_of(move) for move in position._numbers()]
        assert sorted(spot.move for spot in scene.spots) == sorted(moves)
        taken = [place for mark in scene.marks for place in mark.places]
        assert len(taken) == len(set(taken))
        for spot in scene.spots:
            assert not set(spot.covers) & set(taken)
        has_line = name != "domineering" and position.outcome() in (WIN, LOSS)
        lines += has_line
        assert bool(scene.line) == has_line
        assert not has_line or set(scene.last) <= set(scene.line) <= set(taken)
        if position.ply and name != "quarto":
            assert scene.last
        back = set_up(position.board, grid_of(position))
        assert back == position
    assert lines > 0 or name == "domineering"


def test_all_lines_that_end_a_game_are_framed() -> None:
    """The last cross completes a row and a column; five frames are drawn."""
    position = make_board("mnk", "3x3").position("a1 a2 b1 b2 c2 a3 c3 b3 c1")
    scene = scene_of(position)
    assert set(scene.line) == {(0, 0), (1, 0), (2, 0), (2, 1), (2, 2)}
    assert draw(Layout(scene)).count('class="line"') == 5


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("flip", [False, True])
def test_pictures_are_whole_and_inside(name: str, flip: bool) -> None:
    for position in games(name):
        layout = Layout(scene_of(position), flip)
        root = ET.fromstring(draw(layout, {}, "a <title>"))
        width, height = (float(n) for n in root.attrib["viewBox"].split()[2:])
        for element in root.iter():
            kind = element.tag.rpartition("}")[2]
            if kind in ("rect", "circle"):
                x = float(element.get("x") or element.attrib["cx"])
                y = float(element.get("y") or element.attrib["cy"])
                assert 0 <= x <= width
                assert 0 <= y <= height


def test_a_picture_of_quarto_says_what_to_do_with_pieces() -> None:
    for position in games("quarto"):
        picture = draw(Layout(scene_of(position)))
        assert ("in hand: to place now" in picture) == (position.hand is not None)
        assert ("choose one to give" in picture) == (position.ply == 0)


@pytest.mark.parametrize("name", NAMES)
def test_grids_that_are_none_are_named(name: str) -> None:
    board = make_board(name, SMALL.get(name, "3x3"))
    palette = palette_of(board)
    for grid in ("", "...", "/".join(["?" * palette.cols] * palette.rows)):
        with pytest.raises(TablebaseError):
            set_up(board, grid)


def test_a_notebook_shows_positions_probes_plans_and_tables(tmp_path: Path) -> None:
    board = tb.board("4x3")
    tb.build(board, folder=tmp_path)
    with tb.open_tablebase(board, folder=tmp_path) as table:
        assert table.probe("12")._repr_svg_().count('<g class="chip ') == 4
        assert table._repr_html_().count("<tr>") == 1 + len(table.counts)
    assert board.position("12")._repr_svg_().startswith("<svg")
    assert "<table>" in tb.plan(board)._repr_html_()


def test_draw_writes_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "board.svg"
    words = ["draw", "4x4", "12", "--rated", "--dir", str(tmp_path), "--memory", "16M"]
    assert main.main([*words, "--svg", str(path)]) == 0
    assert path.read_text().count('<g class="chip ') == 4
    assert main.main(["draw", "4x4"]) == 3
    pytest.importorskip("cairosvg", reason="the extra `picture` is not installed")
    assert main.main([*words, "--png", str(tmp_path / "board.png")]) == 0
    assert (tmp_path / "board.png").read_bytes().startswith(b"\x89PNG")
