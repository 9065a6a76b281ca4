"""Questions to a table: every answer of 4x4 against naive, and larger tables against themselves."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from plain import connect4 as naive

from retro.answers import RatedMove, order_moves
from retro.errors import (
    BadTextError,
    GameOverError,
    IllegalPositionError,
    MissingTableError,
    NotCoveredError,
    WrongBoardError,
)
from retro.games.connect4.rules import Connect4Board, Connect4Position, find_moves
from retro.games.connect4.text import centre_first, read_moves, to_array, write_grid
from tablebase.building.build import build
from tablebase.halves.lookup import PLANE_BYTES
from tablebase.tables import open_tablebase

GAME = naive.Game(4, 4, 4)
BOARD = Connect4Board(4, 4)
FINISHED = "1212121"  # the first player has four in column 1
PAGE_BYTES = 2 * PLANE_BYTES  # of win and loss
# The second player is to move and fills the bottom row; it crosses the cut, so it has a rank.
LINE_OF_THE_MOVER = Connect4Position(BOARD, 0b00000_00110_00010_00110, 0b00001_00001_00001_00001)


@pytest.fixture
def table(built_4x4):
    with open_tablebase(built_4x4.path) as opened:
        yield opened


@pytest.fixture
def table_5x4(built_5x4):
    with open_tablebase(built_5x4.path) as opened:
        yield opened


@pytest.fixture(scope="module")
def truth():
    """(texts, first, second, values) of every reachable position of 4x4, finished ones included."""
    known = naive.values(GAME)
    texts = [text for layer in naive.layers(GAME) for text in sorted(layer)]
    stones = np.array([naive.bitboards(GAME, text) for text in texts], np.uint64)
    return texts, stones[:, 0], stones[:, 1], np.array([known[text] for text in texts])


def test_every_position_of_4x4_has_the_value_of_naive(table, truth):
    _, first, second, values = truth
    np.testing.assert_array_equal(table.probe_many(first, second), values)


def test_probe_wdl_answers_as_probe_many_does_and_refuses_finished_games(table, truth):
    texts, first, second, values = truth
    rng = np.random.default_rng(4)
    finished = 0
    for i in rng.choice(len(texts), 4000, replace=False):
        position = Connect4Position(BOARD, int(first[i]), int(second[i]))
        if naive.EMPTY not in texts[i] or naive.line_is_complete(GAME, texts[i]):
            finished += 1
            with pytest.raises(GameOverError, match="the game is over"):
                table.probe_wdl(position)
            with pytest.raises(GameOverError, match="the game is over"):
                table.get_wdl(position, default="none")
        else:
            assert table.probe_wdl(position) == values[i]
    assert 0 < finished < 4000


def test_moves_have_the_values_of_naive_for_the_player_who_makes_them(table, truth):
    texts, first, second, _ = truth
    known = naive.values(GAME)
    rng = np.random.default_rng(5)
    unfinished = [
        i for i, t in enumerate(texts) if naive.EMPTY in t and not naive.line_is_complete(GAME, t)
    ]
    for i in rng.choice(unfinished, 300, replace=False):
        probe = table.probe(table.board.unpack(int(first[i]), int(second[i])))
        after = naive.successors(GAME, texts[i])
        assert {m.number: m.value for m in probe.moves} == {c: -known[t] for c, t in after.items()}
        assert {m.number for m in probe.moves if m.plies == 1} == {
            c for c, t in after.items() if naive.EMPTY not in t or naive.line_is_complete(GAME, t)
        }
        assert probe.value == known[texts[i]] == max(m.value for m in probe.moves)
        assert {m.number for m in probe.best} == {
            c for c, t in after.items() if -known[t] == probe.value
        }
        assert [m.value for m in probe.moves] == sorted(m.value for m in probe.moves)[::-1]
        assert all(m.move == str(m.number + 1) for m in probe.moves)


def test_a_lost_position_has_only_losing_moves(table_5x4):
    lost = next(p for p, value in table_5x4.positions(4) if value == -1)
    probe = table_5x4.probe(lost)
    assert {m.value for m in probe.moves} == {-1}
    assert probe.best == probe.moves


def test_moves_are_ordered_wins_first_ends_first_centre_first():
    def move(column, value, plies=None):
        return RatedMove(str(column + 1), column, value, plies, loss=1 - value)

    ordered = [
        move(0, 1, 1), move(4, 1, 7), move(2, 1), move(1, 1), move(3, 1),
        move(2, 0, 1), move(0, 0), move(3, -1), move(2, -1, 8), move(1, -1, 2),
    ]  # fmt: skip
    columns = centre_first(Connect4Board(5, 4), list(range(5)))
    assert columns == [2, 1, 3, 0, 4]
    for shift in range(len(ordered)):
        shifted = ordered[shift:] + ordered[:shift]
        listed = sorted(shifted, key=lambda move: columns.index(move.number))
        assert order_moves(listed) == ordered


def test_equal_moves_stay_as_they_were_listed():
    listed = [RatedMove(name, 0, value, None) for value in (-1, 1, 0) for name in "cab"]
    found = [(move.value, move.move) for move in order_moves(listed)]
    assert found == [(value, name) for value in (1, 0, -1) for name in "cab"]


def test_a_move_that_ends_the_game_comes_first(table_5x4):
    # Three in column 1 for the first player, who can also win more slowly.
    probe = table_5x4.probe("121212")
    assert probe.moves[0] == RatedMove("1", 0, 1, plies=1)


@pytest.mark.parametrize("ply", [0, 1, 6, 11, 15, 16])
def test_positions_lists_exactly_the_unfinished_positions_of_naive(table, ply):
    live = naive.live_layers(GAME)[ply] if ply < BOARD.cells else []
    known = {naive.bitboards(GAME, t): naive.values(GAME)[t] for t in live}
    found = [((p.first, p.second), value) for p, value in table.positions(ply)]
    assert len(found) == len(known)
    assert dict(found) == known


def test_counts_are_those_of_naive(table):
    *before, last = [(c.ply, c.positions, c.win, c.draw, c.loss, c.terminal) for c in table.counts]
    *known, full = naive.counts(GAME)  # which calls a game terminal that ended with a line
    assert before == [tuple(c) for c in known]
    assert last == tuple(full._replace(terminal=full.positions))


@pytest.mark.parametrize("ply", [0, 1, 7, 14, 19])
def test_a_random_position_is_legal_and_of_its_ply(table_5x4, ply):
    rng = np.random.default_rng(6)
    for _ in range(5):
        position = table_5x4.random_position(rng, ply)
        assert position.check().ply == ply
        assert position.outcome() is None
        assert find_moves(position) is not None


def test_random_positions_are_spread_over_the_layer_and_leave_out_what_play_cannot_reach(table):
    # Ply 2 has 16 positions; 4 more have a rank, with the second player's stone underneath.
    rng = np.random.default_rng(7)
    drawn = [table.random_position(rng, 2) for _ in range(200)]
    expected = {naive.bitboards(GAME, text) for text in naive.live_layers(GAME)[2]}
    assert {(position.first, position.second) for position in drawn} == expected


@pytest.mark.parametrize("ply", [-1, 17])
def test_a_ply_that_the_board_does_not_have_is_refused(table, ply):
    with pytest.raises(NotCoveredError, match=f"holds plies 0 to 16, not {ply}"):
        table.random_position(np.random.default_rng(), ply)
    with pytest.raises(NotCoveredError, match=f"holds plies 0 to 16, not {ply}"):
        list(table.positions(ply))


def test_every_form_of_a_position_has_the_same_value(table_5x4):
    position = read_moves(table_5x4.board, "4433")
    forms = [
        "4433",
        position,
        write_grid(position),
        to_array(position),
        to_array(position).tolist(),
    ]
    values = [table_5x4.probe_wdl(form) for form in forms]
    assert values == [values[0]] * len(forms)
    for kind in (int, np.uint64):
        with pytest.warns(DeprecationWarning, match="words of a state"):
            assert table_5x4.probe_wdl((kind(position.first), kind(position.second))) == values[0]
    assert [table_5x4.probe(form).position for form in forms] == [position] * len(forms)
    assert values[0] == table_5x4.probe_many([position.first], [position.second])[0]


def test_a_mirrored_position_has_the_same_value(table_5x4):
    rng = np.random.default_rng(8)
    for ply in range(20):
        position = table_5x4.random_position(rng, ply)
        assert table_5x4.probe_wdl(position) == table_5x4.probe_wdl(position.mirror())


def test_a_value_is_the_best_over_its_successors_throughout_a_layer(table_5x4):
    for states, values in table_5x4.reader.layer(7):
        for ours, theirs, value in list(zip(states.a, states.b, values, strict=True))[::200]:
            position = Connect4Position(table_5x4.board, int(ours), int(theirs))
            after = [position._play(column) for column in position._numbers()]
            follow = table_5x4.probe_many([p.first for p in after], [p.second for p in after])
            assert value == max(-follow)


@pytest.mark.parametrize(
    ("question", "error"),
    [
        ("", None),
        (FINISHED, GameOverError),
        ("15", IllegalPositionError),
        ("1?", BadTextError),
        (Connect4Position(Connect4Board(5, 4)), WrongBoardError),
        ("5x4 " + "." * 20, WrongBoardError),
        (Connect4Position(BOARD, first=0b10), IllegalPositionError),
        (Connect4Position(BOARD, first=0b11), IllegalPositionError),
        (Connect4Position(BOARD, first=0b1, second=0b1), IllegalPositionError),
        (LINE_OF_THE_MOVER, IllegalPositionError),
    ],
)
def test_what_has_no_value_is_refused_by_name_and_gets_no_default(table, question, error):
    if error is None:
        assert table.get_wdl(question, default=99) == table.probe_wdl(question)
        return
    for ask in (table.probe_wdl, table.probe, table.get_wdl):
        with pytest.raises(error):
            ask(question)


def test_an_illegal_position_among_many_is_named_by_its_place(table):
    first, second = [0, 1, 0b10, 0b1], [0, 0, 0, 0b1]
    with pytest.raises(IllegalPositionError, match="position 2: a stone floats in column 1"):
        table.probe_many(first[:3], second[:3])
    with pytest.raises(IllegalPositionError, match="position 3: the words are no state of 4x4"):
        table.probe_many(first, second)
    assert table.probe_many(first[:2], second[:2]).tolist() == [0, 0]


@pytest.mark.parametrize("first", [[1, 2], [[1]], []])
def test_arrays_that_do_not_match_are_refused(table, first):
    with pytest.raises(IllegalPositionError, match="two arrays of words of one length"):
        table.probe_many(first, [0])


def test_no_positions_have_no_values(table):
    assert table.probe_many([], []).tolist() == []


@pytest.fixture(scope="module")
def sample_5x5(built_5x5):
    """Bitboards from all over 5x5 and beyond the ends of games, with values from a large cache."""
    rng = np.random.default_rng(9)
    seen = []
    for _ in range(1000):
        position = Connect4Position(Connect4Board(5, 5))
        for _ in range(rng.integers(26)):
            if position.is_over():
                break
            position = position._play(int(rng.choice(position._numbers())))
        seen.append((position.first, position.second))
    first, second = np.array(seen, np.uint64).T
    with open_tablebase(built_5x5.path) as table:
        return first, second, table.probe_many(first, second)


@pytest.mark.parametrize("slots", [0, 1, 3])
def test_a_small_cache_gives_the_same_answers(built_5x5, sample_5x5, slots):
    first, second, expected = sample_5x5
    with open_tablebase(built_5x5.path, cache_bytes=max(1, slots * PAGE_BYTES)) as table:
        for some in (slice(None), slice(0, 1000, 7), slice(None, None, -1)):
            found = table.probe_many(first[some], second[some])
            np.testing.assert_array_equal(found, expected[some])
        for i in range(0, 1000, 13):
            position = Connect4Position(table.board, int(first[i]), int(second[i]))
            if not position.is_over():
                assert table.probe_wdl(position) == expected[i]
        pages = table.reader._pages
        assert len(pages._page_in) == max(1, slots)
        # The questions need far more pages than there are slots, or nothing was tried here.
        assert len(pages._slot_of) > 10 * len(pages._page_in)
        assert (pages._slot_of >= 0).sum() <= len(pages._page_in)


def test_a_page_that_is_used_stays_and_the_one_used_longest_ago_goes(built_5x5):
    with open_tablebase(built_5x5.path, cache_bytes=2 * PAGE_BYTES) as table:
        pages, reads = table.reader._pages, []
        file = table.reader._file
        read = file.read
        file.read = lambda ply, begin, end: reads.append(ply) or read(ply, begin, end)
        for ply in (1, 2, 1, 3, 1, 2):
            pages.look_up(np.array([ply]), np.array([0]), np.ones(1, np.int8))
        assert reads == [1, 2, 3, 2]


def test_several_threads_may_ask_at_once(built_5x5, sample_5x5):
    first, second, expected = sample_5x5

    def is_right(seed):
        order = np.random.default_rng(seed).permutation(len(first))
        halves = np.array_split(order, 2)
        return all((table.probe_many(first[i], second[i]) == expected[i]).all() for i in halves)

    with (
        open_tablebase(built_5x5.path, cache_bytes=5 * PAGE_BYTES) as table,
        ThreadPoolExecutor(3) as pool,
    ):
        assert list(pool.map(is_right, range(3))) == [True] * 3


def test_a_table_is_found_by_board_in_the_folder_of_tables(built_4x4, table_folder, monkeypatch):
    monkeypatch.setenv("TABLEBASE_DIR", str(table_folder))
    for name in ("4x4", Connect4Board(4, 4), built_4x4.path, str(built_4x4.path)):
        with open_tablebase(name) as table:
            assert table.path == built_4x4.path
            assert table.value == naive.values(GAME)[naive.empty(GAME)]
            assert table.size == built_4x4.path.stat().st_size


@pytest.mark.parametrize(
    ("question", "command"),
    [
        (("6x5",), "build-tablebase 6x5$"),
        (("4x4", 3), "build-tablebase 4x4 --connect 3$"),
        ((Connect4Board(3, 3, 3),), "build-tablebase 3x3 --connect 3$"),
    ],
)
def test_a_missing_table_names_the_command_that_builds_it(
    built_4x4, table_folder, monkeypatch, question, command
):
    monkeypatch.setenv("TABLEBASE_DIR", str(table_folder))
    with pytest.raises(MissingTableError, match=command) as caught:
        open_tablebase(*question)
    assert isinstance(caught.value, KeyError)
    assert str(table_folder) in str(caught.value)


def test_a_missing_file_is_a_missing_table(tmp_path):
    with pytest.raises(MissingTableError, match="no table at"):
        open_tablebase(tmp_path / "no.h5")


def test_a_table_under_the_name_of_another_is_refused(tmp_path, monkeypatch):
    build(Connect4Board(2, 2, 2), tmp_path / "connect4-4x4.h5")
    monkeypatch.setenv("TABLEBASE_DIR", str(tmp_path))
    with pytest.raises(WrongBoardError, match="holds connect2-2x2, not connect4-4x4"):
        open_tablebase("4x4")


@pytest.mark.parametrize("game", [naive.Game(3, 3, 2), naive.Game(1, 6, 3), naive.Game(4, 2, 3)])
def test_boards_with_empty_layers_and_single_columns_answer_too(game, tmp_path):
    build(Connect4Board(*game), tmp_path / "table.h5")
    known = naive.values(game)
    stones = np.array([naive.bitboards(game, text) for text in known], np.uint64)
    with open_tablebase(tmp_path / "table.h5") as table:
        found = table.probe_many(stones[:, 0], stones[:, 1])
    assert found.tolist() == list(known.values())
