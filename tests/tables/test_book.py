"""The opening book of 7x6: consistent with itself, and with the search."""

import random

import pytest

from retro.games.connect4.rules import Connect4Board, Connect4Position
from retro.search import Solver
from tablebase.book import canonical, look_up, look_up_move, open_book
from tablebase.oracles import Oracle
from tablebase.perfect import PerfectPlayer


def test_the_book_is_consistent() -> None:
    """No answer to a book move is worth less to us; the best is worth exactly what it says."""
    book = open_book(Connect4Board(7, 6))
    complete = 0
    for position, entry in book.items():
        assert canonical(position) == position
        after = position.play(entry.column)
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
    assert look_up(Connect4Position(Connect4Board(7, 6))) == (3, 1, 41)


def test_a_move_is_known_by_the_best_move_or_by_where_it_leads() -> None:
    board = Connect4Board(7, 6)
    start, last = board.start(), board.position("4442")
    assert look_up_move(start, 3) == look_up(start)
    assert look_up_move(start, 6) == (6, -1, 40)
    assert look_up(last.play(3)) is None  # where the book ends its best move is known all the same
    assert look_up_move(last, 3) == look_up(last)
    assert look_up_move(last, 0) is None


def test_values_know_what_a_hint_knows() -> None:
    last = Connect4Board(7, 6).position("4442")
    player = PerfectPlayer(Oracle(last.board, memory="1M", time_limit=0.0))
    hint, (known, unknown) = player.advise(last), player.rate(last)
    assert [(move.number, move.value, move.plies) for move in known] == [hint[:3]]
    assert sorted(unknown) == ["1", "2", "3", "5", "6", "7"]


@pytest.mark.slow
def test_lines_of_the_book_are_true() -> None:
    book = open_book(Connect4Board(7, 6))
    solver = Solver("7x6")
    hard = [position for position in book if position.ply >= 5]
    for position in random.Random(6).sample(hard, 20):
        best = solver.best_move(position)
        assert (best.number, best.value, best.plies) == book[position]
