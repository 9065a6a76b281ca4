"""The player by Allis' rules: at once what must be, a proof where there is one, and why."""

import random

import pytest

from retro.errors import WrongBoardError
from retro.games.catalogue import make_board
from retro.games.connect4.allis_proof import proof
from retro.play.allis import AllisPlayer
from retro.play.players import make_player, read_spec
from retro.play.referee import referee


def player(seed: int = 1) -> AllisPlayer:
    return AllisPlayer(random.Random(seed))


def test_it_wins_at_once_and_never_lets_the_opponent() -> None:
    board = make_board("7x6")
    for seed in range(5):
        allis = player(seed)
        assert allis.choose(board.position("121212")) == 0
        assert allis.remark == "completes a line"
        assert allis.choose(board.position("1212123")) == 1
        assert allis.choose(board.position("12131")) == 0
        assert allis.remark == "every other move lets the opponent complete a line"


def test_as_second_player_it_stays_with_its_proofs() -> None:
    """6x4 is proved from the start: whoever begins, it never loses, and wins what it says."""
    board = make_board("6x4")
    for seed in range(6):
        opponents = ("random", "greedy", "alphabeta:2")
        other = make_player(read_spec(opponents[seed % 3]), board, random.Random(seed))
        allis, position, promised = player(seed), board.start(), False
        while not position.is_over():
            mine = position.side_to_move == "second"
            move = (allis if mine else other).choose(position)
            if mine:
                at_once = allis.remark.startswith(("completes", "every other"))
                assert at_once or allis.proof is not None
                promised = promised or (allis.proof is not None and allis.proof.wins)
            position = position._play(move)
        winner = {-1: "second" if position.side_to_move == "first" else "first", 0: None}
        assert winner[position.outcome()] != "first"
        assert not promised or winner[position.outcome()] == "second"


def test_it_says_which_rules_it_follows() -> None:
    position = make_board("6x4").position("3")
    allis = player()
    move = allis.choose(position)
    assert allis.proof is not None
    assert allis.proof.move == move
    assert allis.remark == allis.proof.text(position.board)
    assert allis.remark.startswith("the second player at least draws: ")
    assert "claimeven a" in allis.remark


def test_as_first_player_it_leaves_no_proof() -> None:
    """7x6: the middle is the only first move without one, and the only one that wins."""
    start = make_board("7x6").start()
    allis = player()
    assert allis.choose(start) == 3
    assert allis.remark.startswith("no answer has a proof; each leaves ")
    hopeless = make_board("6x4").start()
    move = allis.choose(hopeless)
    assert proof(hopeless._play(move)) is not None
    assert allis.remark.startswith("cannot prevent it: the second player at least draws: ")


def test_without_a_proof_it_counts_groups() -> None:
    allis = player()
    allis.choose(make_board("7x6").position("4"))
    assert allis.proof is None
    assert allis.remark.startswith("no proof; the rules leave ")


def test_it_beats_random_play() -> None:
    start = make_board("6x4").start()
    for seed in range(3):
        random_player = make_player(read_spec("random"), start.board, random.Random(seed))
        assert referee(start, random_player, player(seed)).result.winner == "second"
        assert referee(start, player(seed), random_player).result.winner == "first"


def test_seeds_decide() -> None:
    start = make_board("4x4").start()
    moves = [referee(start, player(s), player(s)).moves for s in (1, 1, 2, 3, 4)]
    assert moves[0] == moves[1]
    assert len(set(moves)) > 1


def test_what_it_does_not_play() -> None:
    with pytest.raises(WrongBoardError, match="found board 7x5, wanted an even height"):
        player().choose(make_board("7x5").start())
    with pytest.raises(WrongBoardError, match="found mnk 3x3, wanted a board of Connect Four"):
        player().choose(make_board("mnk 3x3").start())
