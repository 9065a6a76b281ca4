"""Records of games: play, undo and redo equal the moves that remain; text and JSON read back."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retro.errors import (
    BadTextError,
    FormatVersionError,
    GameOverError,
    IllegalPositionError,
    TablebaseError,
    WrongBoardError,
)
from retro.games.catalogue import NAMES, find_game, make_board
from retro.play.record import Cost, GameRecord
from retro.play.record_text import from_json, read_record, to_json, write_text

SMALL = {"connect4": "5x4", "quarto": "3x3", "puissance-plus": "4x4", "domineering": "4x4"}


def board_of(name):
    return find_game(name).make(SMALL.get(name, "3x3"))


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_any_sequence_equals_the_moves_that_remain(name, data) -> None:
    """The plain twin: a list of moves and a place in it."""
    board = board_of(name)
    record, moves, place = GameRecord.begin(board), [], 0
    for _ in range(data.draw(st.integers(0, 25))):
        wish = data.draw(st.sampled_from(["play", "play", "play", "undo", "redo"]))
        legal = record.position._numbers()
        if wish == "play" and legal:
            move = data.draw(st.sampled_from(legal))
            record, moves = record.play(move), [*moves[:place], move]
            place += 1
        elif wish == "undo" and place:
            plies = data.draw(st.integers(1, place))
            record, place = record.undo(plies), place - plies
        elif wish == "redo" and place < len(moves):
            plies = data.draw(st.integers(1, len(moves) - place))
            record, place = record.redo(plies), place + plies
        assert list(record.moves) == moves[:place]
        assert [entry.move for entry in record.undone] == moves[place:]
        assert record.position == board.start()._play_all(moves[:place])
        assert record.at(len(moves)) == board.start()._play_all(moves)
    kept = read_record(write_text(record))
    assert (kept.moves, kept.position, kept.result) == (
        record.moves,
        record.position,
        record.result,
    )
    assert from_json(json.loads(json.dumps(to_json(record)))) == kept


def full_game(name, seed=1):
    """A random game with times, nodes and remarks."""
    rng = random.Random(seed)
    record = GameRecord.begin(board_of(name), ("human", "file.py:Mine"))
    while not record.is_over:
        cost = Cost(
            rng.random() * rng.choice((9, 0.001)),
            rng.randrange(10**6),
            "because; of this, 3 nodes # and that",
        )
        record = record.play(rng.choice(record.position._numbers()), cost)
    return record


@pytest.mark.parametrize("name", NAMES)
def test_all_that_is_known_reads_back(name) -> None:
    record = full_game(name)
    assert read_record(write_text(record)) == record
    assert read_record(json.dumps(to_json(record))) == record
    stopped = record.undo(2).end("second", "time-out", "no move within 1 s")
    kept = read_record(write_text(stopped))
    assert kept == read_record(json.dumps(to_json(stopped)))
    assert kept.result == stopped.result
    assert kept.entries == stopped.entries


@pytest.mark.parametrize("name", NAMES)
def test_a_game_from_a_position_that_was_set_up(name) -> None:
    board = board_of(name)
    root = board.start()
    for place in (0, -1, 1):
        root = root._play(root._numbers()[place])
    root = board.unpack(*root._state)  # nobody knows how it came about
    record = GameRecord.begin(root)
    record = record.play(root._numbers()[-1])
    for kept in (read_record(write_text(record)), read_record(json.dumps(to_json(record)))):
        assert (kept.root, kept.moves) == (root, record.moves)
        assert kept.undo().position == root


def test_games_of_earlier_programs_are_read() -> None:
    old = "connect4 5x4 connect=4\n4435\n"
    assert read_record(old).text == "4 4 3 5"
    assert read_record("quarto 4x4 attributes=4\n4 b3-b d4-a\n").text == "4 b3-b d4-a"
    assert read_record("mnk 3x3 connect=3\n\n").entries == ()
    values = "puissance-plus 3x3 target=5 values=121/232/121\nb2 a1\n"
    assert read_record(values).text == "b2 a1"
    assert read_record("domineering 3x3 starts=horizontal\na3 b1\n").text == "a3 b1"


def test_a_list_of_moves_alone_is_read() -> None:
    board = make_board("5x4")
    assert read_record("4435", board).moves == (3, 3, 2, 4)
    content = {**to_json(GameRecord.begin(board)), "moves": ["4", "4", "3"]}
    assert from_json(content).moves == (3, 3, 2)


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("connect4 5x4 connect=4\n4496", TablebaseError, "move 3 of"),
        ("connect4 5x4 connect=4\n11111", IllegalPositionError, "move 5 of"),
        ("mnk 3x3 connect=3\nb2 c9", IllegalPositionError, "'c9' is not on the board"),
        ("domineering 3x3\na1 a1", IllegalPositionError, "move 2 of"),
        ("quarto 4x4 attributes=4\n4 b3-4", IllegalPositionError, "action 2 of"),
        (
            "mnk 4x4 connect=4\nb2",
            WrongBoardError,
            "is on mnk 4x4 connect=4, not on mnk 3x3 connect=3",
        ),
        ("mnk 3x3 four\nb2", BadTextError, "wanted NAME=VALUE"),
        ("mnk 3x3 connect=3\nb2\n# version: 7", FormatVersionError, "version '7', wanted 1"),
        ("mnk 3x3 connect=3\nb2\n# result: first wins, win", IllegalPositionError, "is not over"),
        ("mnk 3x3 connect=3\nb2\n# result: me", BadTextError, "found result 'me'"),
        ("mnk 3x3 connect=3\nb2\n# move 1: 1.2.3 s", BadTextError, "seconds, wanted a number"),
        (f"mnk 3x3 connect=3\nb2\n# move 1: {'9' * 19} nodes", BadTextError, "wanted fewer"),
        ("{", BadTextError, "no JSON"),
        ("[" * 5000, TablebaseError, r"found '\[\["),
        ('{"a":' * 5000, BadTextError, "no JSON"),
        ('{"format": "other"}', BadTextError, "found other JSON"),
        ("x" * 1_000_001, BadTextError, "more than 1,000,000"),
        ("b2\0", BadTextError, "no text"),
    ],
)
def test_what_is_wrong_is_named(text, error, words) -> None:
    with pytest.raises(error, match=words):
        read_record(text, make_board("mnk", "3x3") if text[:1] not in "cdq" else None)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"version": 2}, "version 2, wanted 1"),
        ({"moves": [{"move": "b2"}, {"move": "b2"}]}, "move 2: row 2, column 2 is taken"),
        ({"moves": [{"move": "b2", "seconds": "1"}]}, "move 1: found '1'"),
        ({"moves": [{"move": "b2", "nodes": True}]}, "move 1: found True"),
        ({"moves": [7]}, "move 1: found 7"),
        ({"moves": "b2"}, "found moves 'b2', wanted list"),
        ({"first": 7}, "found first 7, wanted str"),
        ({"game": "chess"}, "no game is called 'chess'"),
        ({"result": {"winner": "third", "reason": "crash"}}, "found result 'third'"),
        ({"result": {"winner": "first", "reason": "win"}}, "is not over"),
    ],
)
def test_wrong_json_is_named(change, words) -> None:
    content = to_json(GameRecord.begin(make_board("mnk", "3x3")))
    with pytest.raises(TablebaseError, match=words):
        from_json({**content, **change})


def test_nothing_is_played_after_the_end() -> None:
    record = full_game("mnk")
    with pytest.raises(GameOverError):
        record.play(1)
    with pytest.raises(GameOverError):
        record.end("first", "resignation")
    given_up = GameRecord.begin(make_board("mnk", "3x3")).end("second", "resignation")
    with pytest.raises(GameOverError, match="second wins, resignation"):
        given_up.play(given_up.position._numbers()[0])
    assert not given_up.undo(0).is_over


def test_names_and_remarks_stay_on_their_line() -> None:
    board = make_board("mnk", "3x3")
    record = GameRecord.begin(board, ("a\nb" * 100, "\0")).play(1, Cost(remark="two\nlines" * 999))
    assert read_record(write_text(record)) == record
    assert len(write_text(record)) < 1000


def test_a_game_can_be_left_and_taken_up_again() -> None:
    record = full_game("connect4").undo(3)
    with pytest.raises(IllegalPositionError, match="no move to make again"):
        record.redo(4)
    with pytest.raises(IllegalPositionError, match="no move to take back"):
        record.undo(99)
    with pytest.raises(IllegalPositionError, match="found ply 99"):
        record.at(99)
    assert record.redo(3) == full_game("connect4")
