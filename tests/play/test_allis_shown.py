"""Allis' rules shown: every instance and the proof, as the library finds them; for both sides."""

import random

import pytest

from retro.errors import GameOverError, WrongBoardError
from retro.games.catalogue import make_board
from retro.games.connect4.allis import rules_of
from retro.games.connect4.allis_proof import proof, proof_after
from retro.play.allis_shown import read_rules, rules_json, rules_text


def some_positions(number: int):
    board, rng = make_board("6x4"), random.Random(7)
    while number:
        position = board.start()
        for _ in range(rng.randrange(14)):
            if not position.is_over():
                position = position._play(rng.choice(position._numbers()))
        if not position.is_over():
            number -= 1
            yield position


def test_what_is_shown_is_what_was_found() -> None:
    proofs = 0
    for position in some_positions(40):
        readings = read_rules(position)
        if position.side_to_move == "first":
            (reading,) = readings
            assert (reading.move, reading.rules) == ("", rules_of(position))
            assert reading.proof == proof(position)
        else:
            moves = [position._number_of(reading.move) for reading in readings]
            assert sorted(moves) == position._numbers()
            assert [r.proof for r in readings] == [proof_after(position, m) for m in moves]
        for reading in readings:
            proofs += reading.proof is not None
            assert (reading.unsolved == 0) or reading.proof is None
        text, content = rules_text(position), rules_json(position)
        assert text.count("proof: ") == len(content) == len(readings)
        assert [len(c["instances"]) for c in content] == [len(r.rules) for r in readings]
    assert proofs > 10


def test_text_names_squares_and_says_what_it_leaves_out() -> None:
    lines = rules_text(make_board("7x6").start()).splitlines()
    assert lines[1] == "claimeven     21  a1 a2, a3 a4, a5 a6, b1 b2, b3 b4, b5 b6, 15 more"
    assert lines[-1] == "no proof: 4 groups of the first player are left unsolved"


@pytest.mark.parametrize(
    ("board", "moves", "error"),
    [
        ("mnk 3x3", "", WrongBoardError),
        ("7x5", "", WrongBoardError),
        ("4x4", "1212121", GameOverError),
    ],
)
def test_what_has_no_rules(board: str, moves: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        read_rules(make_board(board).position(moves))
