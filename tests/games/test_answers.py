"""Values, answers and what they are shown as: short, plain for JSON, and pickled."""

import inspect
import json
import pickle
from pathlib import Path

import pytest
from catalogue_cases import build_small, small_board

import tablebase as tb
from retro.errors import BadTextError, IllegalPositionError
from retro.games.catalogue import NAMES

LONGEST_REPR = 120


def test_a_value_is_an_integer_with_a_name() -> None:
    assert [str(value) for value in sorted(tb.Value)] == ["LOSS", "DRAW", "WIN"]
    assert [repr(value) for value in tb.Value] == ["WIN", "DRAW", "LOSS"]
    assert f"{tb.Value.WIN}" == "WIN"
    assert (tb.Value.WIN, tb.Value(-1), -tb.Value.WIN) == (1, -1, tb.Value.LOSS)
    assert json.dumps([*tb.Value]) == "[1, 0, -1]"


@pytest.mark.parametrize("name", NAMES)
def test_every_answer_is_short_plain_and_pickled(name: str, small_folder: Path) -> None:
    board = build_small(name, small_folder)
    start = board.start()
    with tb.oracle(board, folder=small_folder, memory="1M") as oracle:
        table = oracle.tables[0]
        analysis = oracle.analyse(start)
        answers: list[object] = [
            board, start, start.play(start.moves[0]), start.moves[0], analysis, analysis.moves[0],
            oracle.best_line(start), oracle.solve(start, strong=True), table.probe(start),
            *table.counts, tb.plan(board), tb.verify(board, folder=small_folder),
        ]  # fmt: skip
        values = [
            analysis.value, analysis.moves[0].value, oracle.value(start), table.value,
            table.probe_wdl(start), table.get_wdl(start), oracle.best_line(start).value,
        ]  # fmt: skip
    assert {type(value) for value in values} == {tb.Value}
    assert len(set(values)) == 1
    for answer in answers:
        content = answer.to_dict()  # type: ignore[attr-defined]
        assert json.loads(json.dumps(content)) == json.loads(json.dumps(content))
        assert content
        assert "\n" not in repr(answer)
        if not isinstance(answer, tb.Plan | tb.Counts | tb.Verified):
            assert len(repr(answer)) <= LONGEST_REPR
        again = pickle.loads(pickle.dumps(answer))
        assert isinstance(answer, tb.Plan) or again == answer


@pytest.mark.parametrize("name", NAMES)
def test_a_rated_move_says_what_it_gives_away(name: str) -> None:
    board = small_board(name)
    for moves in (0, 1, 2):
        position = board.start()
        for _ in range(moves):
            position = position.play(position.moves[-1])
        if position.is_over():
            break
        analysis = tb.analyse(position)
        assert analysis.best[0].loss == 0
        for move in position.moves:
            rated = analysis.rated(move)
            assert rated == analysis.rated(move.text)
            assert rated.loss == analysis.value - rated.value
            after = tb.solve(position.play(move))
            assert rated.value == -after.value
            assert position.play(rated.number) == position.play(move)
        with pytest.raises((BadTextError, IllegalPositionError)):
            analysis.rated("z9")


def test_one_call_for_one_question(tmp_path: Path) -> None:
    text = "443"
    assert tb.analyze is tb.analyse
    assert tb.analyse(text, "5x4", folder=tmp_path).source == "search"
    assert tb.solve(text, "5x4", folder=tmp_path).value == tb.Value.WIN
    tb.build("5x4", folder=tmp_path)  # noticed by the next question
    assert tb.solve(text, "5x4", folder=tmp_path).source == "table"
    assert tb.analyse(tb.board("5x4").position(text)).position.board == tb.board("5x4")
    assert tb.analyse("", "tictactoe").value == tb.Value.DRAW
    assert tb.solve("1212121", "5x4", strong=True).source == "rules"


def test_only_what_a_user_may_use_is_listed(built_5x4: object, table_folder: Path) -> None:
    board = tb.board("5x4")
    position = board.position("443")
    with tb.open_tablebase(board, folder=table_folder) as table:
        for thing in (tb, board, position, table):
            names = dir(thing)
            assert names == sorted(names) or thing is tb
            for name in names:
                assert hasattr(type(thing), name) or hasattr(thing, name)
                assert name == "__version__" or not name.startswith("_")
                member = getattr(tb if thing is tb else type(thing), name, None)
                if thing is not tb and callable(member):
                    assert inspect.getdoc(member), (thing, name)
    assert {"legal_moves", "state", "pack", "rules"}.isdisjoint({*dir(board), *dir(position)})


def test_a_plan_is_a_small_table() -> None:
    lines = str(tb.plan("4x3")).splitlines()
    assert lines[0].startswith("connect4-4x3: ")
    assert len(lines) == 2 + 13
    assert max(map(len, lines[1:])) <= 60
    assert len(repr(tb.plan("6x6"))) <= 250
