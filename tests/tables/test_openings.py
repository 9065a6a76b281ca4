"""The openings of 7x6: consistent with themselves, with the search, and the same at every door."""

import random

import pytest

import tablebase as tb
from retro.answers import RatedMove
from retro.games.connect4.rules import Connect4Board, Connect4Position
from retro.search import Solver
from tablebase.openings import canonical, look_up, look_up_move, open_openings, probe_openings
from tablebase.perfect import PerfectPlayer

BOARD = Connect4Board(7, 6)


def test_the_openings_are_consistent() -> None:
    """No answer to a best move is worth less to us; the best is worth exactly what it says."""
    complete = 0
    for position, entry in open_openings(BOARD).items():
        assert canonical(position) == position
        if entry.best is None:
            continue
        after = position.play(entry.best)
        replies = [p for p in (after.play(c) for c in after.legal_columns()) if not p.is_over()]
        found = [look_up(reply) for reply in replies]
        ranks = [(e.value, -e.value * (e.plies + 2)) for e in found if e is not None]
        expected = (entry.value, -entry.value * entry.plies)
        assert min(ranks, default=expected) >= expected
        if None not in found:
            assert min(ranks) == expected
            complete += 1
    assert complete >= 5
    # Allis and Allen, 1988
    assert look_up(Connect4Position(BOARD)) == (3, 1, 41, True)


def test_the_first_plies_are_whole_and_follow_from_each_other() -> None:
    """Every position of these plies is there, and worth what the best of its moves is."""
    layer = {Connect4Position(BOARD)}
    for ply in range(3):
        assert len(layer) == (1, 4, 25)[ply]
        for position in layer:
            probe, entry = probe_openings(position), look_up(position)
            assert probe is not None
            assert entry is not None
            assert (entry.column, entry.value) == (probe.moves[0].number, probe.value)
            assert entry.plies == probe.plies
        layer = {canonical(p.play(column)) for p in layer for column in p.legal_columns()}


def test_a_mirror_image_is_answered_in_its_own_columns() -> None:
    asked = 0
    for position, entry in open_openings(BOARD).items():
        image, own = look_up(position.mirror()), look_up(position)
        assert own is not None
        assert own[:3] == entry[:3]
        assert image is not None
        assert image[1:3] == entry[1:3]
        if position.mirror() == position or entry.best is None:
            continue
        if entry.mirrored is None:
            assert (image.column, image.is_first) == (BOARD.width - 1 - entry.best, False)
            asked += 1
        else:
            assert (image.column, image.is_first) == (entry.mirrored, True)
    assert asked > 300


def test_a_move_is_known_by_the_best_move_or_by_where_it_leads() -> None:
    start, last = BOARD.start(), BOARD.position("4442")
    assert look_up_move(start, 3) == RatedMove("4", 3, 1, 41)
    assert look_up_move(start, 6) == RatedMove("7", 6, -1, 40)
    assert look_up(last.play(3)) is None  # where the list ends its best move is known all the same
    best = look_up(last)
    assert best is not None
    assert look_up_move(last, 3) == RatedMove("4", *best[:3])
    assert look_up_move(last, 0) is None


def test_values_know_what_a_hint_knows() -> None:
    last = BOARD.position("4442")
    player = PerfectPlayer(tb.Oracle(last.board, memory="1M", time_limit=0.0))
    hint, (known, unknown) = player.advise(last), player.rate(last)
    assert [(move.number, move.value, move.plies) for move in known] == [hint[:3]]
    assert sorted(unknown) == ["1", "2", "3", "5", "6", "7"]


def test_the_oracle_answers_from_them_at_once() -> None:
    """With no time to search, the empty board has seven exact distances."""
    with tb.oracle("7x6", memory="1M", time_limit=0) as oracle:
        found = oracle.analyse("")
        # The solver's own figures, which agree with those published by Tromp for values.
        assert [(move.move, move.value) for move in found.moves] == [
            ("4", 1), ("3", 0), ("5", 0), ("2", -1), ("6", -1), ("1", -1), ("7", -1),
        ]  # fmt: skip
        assert (found.plies, found.source) == (41, "openings")
        assert oracle.probe("") == found
        assert oracle.best_move("") == found.moves[0]
        assert oracle.solve("7", strong=True).plies == 39
        assert oracle.solve("7").plies is None
        assert oracle.value("7") == 1


def test_the_main_line_is_known_to_its_end_as_the_search_finds_it() -> None:
    """Also where it goes through mirror images, whose first of equal moves may be another."""
    with tb.oracle("7x6", memory="16M") as oracle:
        line = oracle.best_line("")
        assert (line.plies, line.source) == (41, "openings")
        late = line.position.play_all([move.number for move in line.moves[:17]])
        searched = Solver("7x6", memory="16M").best_line(late)
        assert [move.move for move in searched] == [move.move for move in line.moves[17:]]


def test_other_boards_have_none() -> None:
    for text in ("6x6", "7x6 connect=3", "mnk 3x3", "quarto 2x2 attributes=2"):
        start = tb.board(text).start()
        assert look_up(start) is None
        assert probe_openings(start) is None


@pytest.mark.slow
def test_openings_are_true() -> None:
    openings = open_openings(BOARD)
    solver = Solver("7x6")
    hard = [position for position in openings if position.ply >= 5]
    for position in random.Random(6).sample(hard, 20):
        best = solver.best_move(position)
        assert (best.number, best.value, best.plies) == openings[position][:3]
