"""What no table covers is searched: the same answers, and both say who gave them.

`test_every_game` asks the oracle of every game; here are 5x4, parts of tables and roots.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import tablebase as tb
from retro.errors import (
    DamagedFileError,
    GameOverError,
    IllegalPositionError,
    NotCoveredError,
    TimeLimitError,
    VerificationError,
    WrongBoardError,
)
from retro.index.halves import one

BOARD = tb.board("5x4")
POSITIONS = ("", "4", "443", "12", "332", "1212", "11223", "3331115", "1231231")


@pytest.fixture
def table(built_5x4: tb.Built) -> Iterator[tb.Table]:
    with tb.open_tablebase(built_5x4.path) as opened:
        yield opened


@pytest.fixture(scope="module")
def searching() -> tb.Oracle:
    return tb.Oracle(BOARD, memory="16M")


@pytest.mark.parametrize("moves", POSITIONS)
def test_table_and_search_answer_alike(table: tb.Table, searching: tb.Oracle, moves: str) -> None:
    by_table = tb.Oracle(BOARD, [table]).probe(moves)
    by_search = searching.probe(moves)
    assert by_search == by_table._replace(source="search")
    assert (by_table.source, by_search.source) == ("table", "search")


@pytest.mark.parametrize("moves", POSITIONS)
def test_both_lines_keep_the_value_to_the_end(
    table: tb.Table, searching: tb.Oracle, moves: str
) -> None:
    both = tb.Oracle(BOARD, [table], memory="16M")
    by_table, by_search = both.best_line(moves), searching.best_line(moves)
    assert (by_table.source, by_search.source) == ("both", "search")
    assert by_table.moves == by_search.moves
    for line in (by_table, by_search):
        position, value = BOARD.position(moves), table.probe_wdl(moves)
        assert line.value == value
        for move in line.moves:
            assert table.probe_wdl(position) == value == move.value
            position, value = position._play(move.number), -value
        assert position.is_over()
        assert position == line.end
        assert line.plies == searching.solve(moves, strong=True).plies


def test_a_line_is_as_long_as_the_analysis_says(table: tb.Table) -> None:
    oracle = tb.Oracle(BOARD, [table], memory="16M")
    assert (oracle.analyse("443").plies, oracle.best_line("443").plies) == (17, 17)


@pytest.mark.parametrize("ask", ["probe", "analyse", "best_line", "best_move"])
def test_a_finished_game_has_no_moves(table: tb.Table, searching: tb.Oracle, ask: str) -> None:
    for oracle in (tb.Oracle(BOARD, [table]), searching):
        with pytest.raises(GameOverError):
            getattr(oracle, ask)("1212121")
        assert (oracle.value("1212121"), oracle.solve("1212121").source) == (-1, "rules")


def test_a_table_of_some_plies_answers_those(table: tb.Table, tmp_path: Path) -> None:
    tb.build(BOARD, folder=tmp_path, plies=range(6, BOARD.cells + 1))
    searches: list[str] = []
    with tb.oracle(BOARD, folder=tmp_path, memory="16M", before_search=searches.append) as oracle:
        (part,) = oracle.tables
        assert oracle.probe("333111").source == "table"
        assert oracle.value("333111") == table.probe_wdl("333111")
        assert searches == []
        assert oracle.probe("33311") == table.probe("33311")._replace(source="search")
        assert oracle.best_line("33311").source == "search"
        assert oracle.best_line("333111").source == "both"
        assert searches == ["no table covers all that is asked"]
        with pytest.raises(NotCoveredError):
            part.probe("33311")


@pytest.mark.parametrize("board", ["5x4", "mnk 3x3", "quarto 2x2 attributes=2"])
def test_tables_from_roots_answer_what_follows_them(board: str, tmp_path: Path) -> None:
    """As long as there is no table of the whole board."""
    start = tb.board(board).start()
    roots = [start._play(move) for move in start._numbers()[:2]]
    for root in roots:
        tb.build(board, folder=tmp_path, root=root)
    with tb.oracle(board, folder=tmp_path, memory="1M") as oracle:
        assert len(oracle.tables) == 2
        for root in roots:
            found = oracle.probe(root)
            assert found.source == "table"
            assert oracle.analyse(root).source == "both"
        assert oracle.probe(start).source == "search"
        assert oracle.probe(start).value == oracle.solve(start, strong=True).value
    tb.build(board, folder=tmp_path)
    with tb.oracle(board, folder=tmp_path) as oracle:
        assert [table.root for table in oracle.tables] == [start]


@pytest.mark.parametrize("distances", [False, True])
def test_many_positions_are_answered_as_each_alone(tmp_path: Path, *, distances: bool) -> None:
    """Some by a table of some plies with distances, some by search, wherever they stand."""
    tb.build(BOARD, folder=tmp_path, plies=range(4, 8), distances=True)
    asked = ["443", "4433", "", "44331", "3331115", "1212121", "123123123"]
    with tb.oracle(BOARD, folder=tmp_path, memory="16M") as oracle:
        each = [oracle.solve(moves, strong=True) for moves in asked]
        assert {found.source for found in each} == {"table", "search", "rules"}
        states = BOARD.states(asked)
        if distances:
            found = oracle.probe_many(states, distances=True)
            assert found.plies.tolist() == [one.plies for one in each]
            assert found.values.tolist() == [one.value for one in each]
        else:
            assert oracle.probe_many(states).tolist() == [one.value for one in each]
        floating = BOARD.position("443")._state
        words = np.array([*zip(states.a, states.b, strict=True), floating], np.uint64)
        words[-1, 1] = np.uint64(BOARD.bit(0, 2))
        with pytest.raises(IllegalPositionError, match="position 7: "):
            oracle.probe_many(*words.T, distances=distances)


def test_a_board_that_a_table_does_not_have_is_searched_in_bulk_too(tmp_path: Path) -> None:
    board = tb.board("domineering 3x3")
    tb.build(board, folder=tmp_path)
    holes = board.position("3x3 V X.. ... ..X")
    with tb.oracle(board, folder=tmp_path, memory="1M") as oracle:
        alone = oracle.solve(holes, strong=True)
        assert alone.source == "search"
        assert oracle.probe_many(board.states([holes, ""])).tolist() == [alone.value, 1]


def test_a_position_whose_moves_no_table_has_is_known_by_both(tmp_path: Path) -> None:
    tb.build(BOARD, folder=tmp_path, plies=range(5))
    with tb.oracle(BOARD, folder=tmp_path, memory="16M") as oracle:
        assert oracle.solve("4433").source == "table"
        assert (oracle.probe("4433").source, oracle.analyse("4433").source) == ("both", "both")
        assert oracle.probe("44331").source == "search"


@pytest.mark.parametrize("board", ["6x6", "mnk 6x6 connect=5", "quarto 4x4", "domineering 8x8"])
def test_a_time_limit_ends_the_question(board: str, tmp_path: Path) -> None:
    with tb.oracle(board, folder=tmp_path, memory="1M", time_limit=0) as oracle:
        for ask in (oracle.probe, oracle.value, oracle.best_line, oracle.analyse):
            with pytest.raises(TimeLimitError, match=r"not (answered|solved) within 0 s"):
                ask("")


@pytest.mark.parametrize("board", ["5x4", "mnk 3x3"])
def test_a_damaged_table_is_an_error_not_a_reason_to_search(board: str, tmp_path: Path) -> None:
    (tmp_path / f"{tb.board(board).name}.h5").write_text("no table")
    with pytest.raises(DamagedFileError):
        tb.oracle(board, folder=tmp_path)


@pytest.mark.parametrize(
    ("board", "root", "name"),
    [("mnk 3x3", "b2", "mnk-4x3-connect3-from-b2"), ("4x4", "2", "connect4-5x4-from-2")],
)
def test_rooted_tables_of_another_board_are_refused(
    board: str, root: str, name: str, tmp_path: Path
) -> None:
    path = tmp_path / f"{name}.h5"
    tb.build(board, path, root=root)
    other = tb.board("mnk 4x3" if board.startswith("mnk") else "5x4")
    held = f"{path} holds {tb.board(board).name} from {root}, not {other.name}"
    with pytest.raises(WrongBoardError, match=held):
        tb.oracle(other, folder=tmp_path)


@pytest.mark.parametrize("ask", ["analyse", "best_line", "best_move"])
@pytest.mark.parametrize("moves", POSITIONS)
def test_what_is_searched_in_a_moment_is_looked_up_once_at_most(
    table: tb.Table, monkeypatch: pytest.MonkeyPatch, ask: str, moves: str
) -> None:
    """A look into a large table takes as long as such a search, and the first one far longer."""
    looks = []
    value_of = type(table.reader).value_of

    def counted(reader: object, position: object) -> int:
        looks.append(position)
        return value_of(reader, position)

    monkeypatch.setattr(type(table.reader), "value_of", counted)
    getattr(tb.Oracle(BOARD, [table], memory="16M"), ask)(moves)
    assert len(looks) <= 1


@pytest.mark.parametrize("ask", ["analyse", "best_line"])
def test_nobody_looks_into_a_large_table_for_the_first_time_to_compare(
    table: tb.Table, monkeypatch: pytest.MonkeyPatch, ask: str
) -> None:
    """What is searched in a moment is; that the table has the value is known without a look."""
    looks: list[object] = []
    value_of = type(table.reader).value_of

    def counted(reader: object, position: object) -> int:
        looks.append(position)
        return value_of(reader, position)

    monkeypatch.setattr(type(table.reader), "value_of", counted)
    monkeypatch.setattr(one, "MOST_PROFILES", 1)  # any table is large
    oracle = tb.Oracle(BOARD, [table], memory="16M")
    assert getattr(oracle, ask)("443").source == "both"
    assert not looks
    assert not table.is_ready_for(BOARD.position("443"))
    table.probe_wdl("443")
    assert table.is_ready_for(BOARD.position("443"))
    assert len(looks) == 1
    assert getattr(oracle, ask)("443").source == "both"
    assert len(looks) == 2


def test_a_root_that_a_table_has_wrong_is_named(
    table: tb.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = table.probe_wdl("443")
    monkeypatch.setattr(type(table.reader), "value_of", lambda *_: -1 if value == 1 else value + 1)
    for ask in ("analyse", "best_line"):
        with pytest.raises(VerificationError, match="contradicts the rules"):
            getattr(tb.Oracle(BOARD, [table], memory="16M"), ask)("443")
