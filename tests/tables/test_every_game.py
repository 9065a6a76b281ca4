"""Every game of the catalogue has the same table: planned, built, asked and checked alike.

The small board of each game is held against plain recursion over its rules, position by
position. A new game is tried here without a line of test code, see `catalogue_cases`.
"""

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from catalogue_cases import impossible, small_board
from plain.recursion import every_position, layer

import tablebase as tb
from retro.errors import (
    BadTextError,
    GameOverError,
    IllegalPositionError,
    NotCoveredError,
    WrongBoardError,
)
from retro.games.catalogue import NAMES
from retro.games.game import Board, Position
from tablebase.files.places import build_command, table_path


def unfinished(board: Board) -> list[tuple[Position, int]]:
    return [(k.position, k.value) for k in every_position(board.start()).values() if not k.is_over]


def finished(board: Board) -> list[tuple[Position, int]]:
    return [(k.position, k.value) for k in every_position(board.start()).values() if k.is_over]


def test_what_no_board_can_show_is_refused(
    small: Board, small_table: tb.Table, small_folder: Path, tmp_path: Path
) -> None:
    """By a table, and by oracles with and without one; of one position and of many."""
    with (
        tb.oracle(small, folder=small_folder, memory="1M") as oracle,
        tb.oracle(small, folder=tmp_path, memory="1M") as searching,
    ):
        asks = [small_table.probe_wdl, small_table.probe, oracle.value, oracle.probe]
        asks += [searching.value, searching.probe, searching.analyse]
        asks.append(lambda position: small_table.probe_many(small.states([position])))
        for wrong, position in impossible(small).items():
            for number, ask in enumerate(asks):
                with pytest.raises((IllegalPositionError, NotCoveredError)):
                    pytest.fail(f"{wrong}, {number}: {ask(position)}")


# What a table says of itself.


@pytest.mark.smoke
def test_a_table_says_what_it_is(small: Board, small_table: tb.Table, small_folder: Path) -> None:
    table = small_table
    known = every_position(small.start())
    assert small.title == f"{small.game_name} {str(small).removeprefix(small.game_name).strip()}"
    assert repr(table) == (
        f"<Table {small.title}, plies 0..{table.plies[-1]}, {len(known):,} positions>"
    )
    assert (table.board, table.root, table.title) == (small, small.start(), small.name)
    assert table.value == known[small.start()._state].value
    assert table.path == table_path(small.start(), small_folder)
    assert table.size == table.path.stat().st_size
    assert re.fullmatch("[0-9a-f]{64}", table.digest)
    assert table.index == small.game.index


def test_counts_are_those_of_recursion(small: Board, small_table: tb.Table) -> None:
    known = every_position(small.start())
    assert [counts.ply for counts in small_table.counts] == list(small_table.plies)
    for counts in small_table.counts:
        here = {s: k for s, k in known.items() if k.position.ply == counts.ply}
        values = [this.value for this in here.values()]
        found = (counts.positions, counts.win, counts.draw, counts.loss)
        assert found == (len(here), values.count(1), values.count(0), values.count(-1))
        assert counts.terminal == sum(this.is_over for this in here.values())
        if counts.classes is not None:
            assert counts.classes == len({small._canonical(*state) for state in here})
        assert re.fullmatch("[0-9a-f]{64}", counts.sha256)
        assert small_table.record(counts.ply) == counts
    assert small_table.positions_counted == len(known)


@pytest.mark.smoke
def test_a_table_is_opened_by_its_board_its_text_and_its_path(
    small: Board, small_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = table_path(small.start(), small_folder)
    for name in (small, str(small), path, str(path)):
        folder = None if name in (path, str(path)) else small_folder
        with tb.open_tablebase(name, folder=folder) as table:
            assert (table.board, table.path) == (small, path)
    monkeypatch.setenv("TABLEBASE_DIR", str(small_folder))
    with tb.open_tablebase(small) as table:
        assert table.path == path
    with pytest.raises(BadTextError, match="says itself what it holds"):
        tb.open_tablebase(path, root="")


# Questions.


@pytest.mark.smoke
def test_every_position_has_the_value_of_recursion(small: Board, small_table: tb.Table) -> None:
    known = every_position(small.start())
    states = small.states(this.position for this in known.values())
    truth = [this.value for this in known.values()]
    assert small_table.probe_many(states).tolist() == truth
    assert small_table.probe_many(states.a, states.b).tolist() == truth
    assert small_table.probe_many(states).dtype == np.int8
    backwards = small_table.probe_many(states.a[::-1], states.b[::-1])
    assert backwards.tolist() == truth[::-1]
    if small.rules.words == 1:
        assert small_table.probe_many(states.a).tolist() == truth
    assert small_table.probe_many(small.states([])).tolist() == []


def test_one_question_is_answered_as_many_are(small: Board, small_table: tb.Table) -> None:
    """First by plain code, then, when there are many, by kernels."""
    for position, value in unfinished(small):
        assert small_table.probe_wdl(position) == value
        assert small_table.get_wdl(position, default="none") == value
        assert type(small_table.get_wdl(position)) is tb.Value
    position, value = unfinished(small)[-1]
    for form in (position, position.text, small.unpack(*position._state)):
        assert small_table.probe_wdl(form) == value


def test_moves_have_their_values(small: Board, small_table: tb.Table) -> None:
    known = every_position(small.start())
    for position, value in unfinished(small)[::3]:
        probe = small_table.probe(position)
        after = {move: position._play(move) for move in position._in_order()}
        assert (probe.position, probe.value, probe.source) == (position, value, "table")
        assert {m.number: m.value for m in probe.moves} == {
            move: -known[p._state].value for move, p in after.items()
        }
        assert {m.number for m in probe.moves if m.plies == 1} == {
            move for move, p in after.items() if p.is_over()
        }
        assert all(m.move == position._text_of(m.number) for m in probe.moves)
        assert [m.number for m in probe.best] == [m.number for m in probe.moves if m.value == value]
        assert probe.moves[0].value == value
        assert [m.value for m in probe.moves] == sorted(m.value for m in probe.moves)[::-1]
        # Equal ones stay as the game lists them.
        order = list(after)
        alike = [(m.value, m.plies, order.index(m.number)) for m in probe.moves]
        assert [m for m in alike if m[:2] == alike[0][:2]] == sorted(
            m for m in alike if m[:2] == alike[0][:2]
        )


def test_symmetric_positions_have_one_value(small: Board, small_table: tb.Table) -> None:
    for position, value in unfinished(small)[::5]:
        images = sorted(small.images(*position._state))
        found = small_table.probe_many([a for a, _ in images], [b for _, b in images])
        assert set(found.tolist()) == {value}


def test_every_position_of_a_ply_is_listed(small: Board, small_table: tb.Table) -> None:
    for ply in small_table.plies:
        truth = layer(small.start(), ply)
        listed = [(p._state, value) for p, value in small_table.positions(ply)]
        assert len(listed) == len(truth)
        assert dict(listed) == truth
        assert all(p.ply == ply and p.board == small for p, _ in small_table.positions(ply))
        chosen = [(p._state, value) for p, value in small_table.positions(ply, canonical=True)]
        keys = {small._canonical(*state) for state in truth}
        assert len(chosen) == len(keys)
        assert dict(chosen) == {key: truth[key] for key in keys}
    for ply in (-1, small_table.plies[-1] + 1, 1000):
        with pytest.raises(NotCoveredError, match=f"holds plies .*, not {ply}"):
            list(small_table.positions(ply))
        with pytest.raises(NotCoveredError, match=f"holds plies .*, not {ply}"):
            small_table.random_position(np.random.default_rng(1), ply)


# No answer.


def test_random_positions_are_unfinished_and_everywhere(
    small: Board, small_table: tb.Table
) -> None:
    rng = np.random.default_rng(2)
    for ply in small_table.plies:
        truth = layer(small.start(), ply)
        if not truth:
            with pytest.raises(IllegalPositionError, match=f"no .* position .*ply {ply}"):
                small_table.random_position(rng, ply)
            continue
        drawn = [small_table.random_position(rng, ply) for _ in range(30)]
        assert {p._state for p in drawn} <= set(truth)
        assert len(set(drawn)) > 1 or len({small._canonical(*s) for s in truth}) < 3


def test_a_finished_game_is_no_question_for_one_and_has_its_value_among_many(
    small: Board, small_table: tb.Table
) -> None:
    for position, value in finished(small)[::5]:
        for ask in (small_table.probe_wdl, small_table.get_wdl, small_table.probe):
            with pytest.raises(GameOverError, match="the game is over"):
                ask(position)
        assert small_table.probe_many(small.states([position])).tolist() == [value]


def test_what_is_no_position_of_the_board_raises_whatever_the_default(
    small: Board, small_table: tb.Table
) -> None:
    other = next(name for name in NAMES if name != small.game_name)
    for thing, error in (
        (small_board(other).start(), WrongBoardError),
        ("?", (BadTextError, IllegalPositionError)),
        ("a1 ?", (BadTextError, IllegalPositionError)),
    ):
        for ask in (small_table.probe_wdl, small_table.get_wdl, small_table.probe):
            with pytest.raises(error):
                ask(thing)


def test_states_that_play_cannot_reach_are_refused_with_their_place(
    small: Board, small_table: tb.Table
) -> None:
    """Words with one bit flipped are no states, other states, or ones that play cannot reach."""
    known = every_position(small.start())
    start = small.start()._state
    strange = set()
    for a, b in list(known)[::11]:
        for bit in range(64):
            strange |= {(a ^ 1 << bit, b), (a, b ^ 1 << bit)}
    refused = 0
    for state in sorted(strange - set(known)):
        words = [
            np.array([first, word], np.uint64) for first, word in zip(start, state, strict=True)
        ]
        if not small.is_state(words[0][1:], words[1][1:])[0]:
            continue
        # Connect Four's index has a rank, and a sound value, for some of these.
        try:
            assert small_table.probe_many(*words)[1] in (-1, 0, 1)
        except (IllegalPositionError, NotCoveredError):
            refused += 1
            with pytest.raises((IllegalPositionError, NotCoveredError), match=r"^position 1: "):
                small_table.probe_many(*words)
    assert refused > 10 or small.game_name in ("notakto", "domineering")


def test_arrays_that_are_no_states_are_refused(small: Board, small_table: tb.Table) -> None:
    a, b = small.start()._state
    for first, second in (([a, a], [b]), ([[a]], [[b]]), ([-1], [b]), ([a], [-1])):
        with pytest.raises(IllegalPositionError):
            small_table.probe_many(first, second)
    with pytest.raises(BadTextError, match="wanted 64-bit integers"):
        small_table.probe_many([0.5], [0])
    with pytest.raises(BadTextError, match="wanted 64-bit integers"):
        small_table.probe_many([1j], [0])
    for nothing in ([], np.zeros(0, np.complex128)):
        assert len(small_table.probe_many(nothing, nothing)) == 0
    full = np.array([2**64 - 1], np.uint64)
    with pytest.raises(IllegalPositionError, match="no state of"):
        small_table.probe_many(full, full)


# From a root.


@pytest.fixture
def root(small: Board) -> Position:
    """Two moves from the start, with a long game to come."""
    known = every_position(small.start())
    after = [k.position for k in known.values() if k.position.ply == 2 and not k.is_over]
    return max(after, key=lambda position: len(every_position(position)))


def test_a_rooted_table_answers_what_follows_its_root(
    small: Board, small_table: tb.Table, root: Position, tmp_path: Path
) -> None:
    built = tb.build(small, folder=tmp_path, root=root.text)
    assert built.path == table_path(root, tmp_path)
    known = every_position(root)
    with tb.open_tablebase(small, folder=tmp_path, root=root) as table:
        assert (table.root, table.value) == (root, known[root._state].value)
        # Other games than Connect Four count a class whole.
        assert table.plies[0] == 2
        assert table.counts[0].positions in (1, len(small.images(*root._state)))
        assert table.title == f"{small.name} from {root.root_text}"
        assert f" from {root.root_text}, plies 2..{table.plies[-1]}, " in repr(table)
        states = small.states(this.position for this in known.values())
        assert table.probe_many(states).tolist() == [this.value for this in known.values()]
        lacking = 0
        for position, value in unfinished(small):
            found = table.get_wdl(position, default="none")
            assert found in (value, "none")
            if position._state in known:
                assert found == value
            if found == "none":
                lacking += 1
                with pytest.raises(NotCoveredError):
                    table.probe_wdl(position)
                with pytest.raises(NotCoveredError):
                    table.probe(position)
                with pytest.raises(NotCoveredError, match=r"position 1: |holds plies"):
                    table.probe_many(small.states([root, position]))
        assert lacking > 1
        for level in ("quick", "sample", "full"):
            assert tb.verify(table, level).plies == len(table.plies)
        listed = {p._state for ply in table.plies for p, _ in table.positions(ply)}
        assert listed >= {state for state, this in known.items() if not this.is_over}
    assert tb.build(small, folder=tmp_path, root=root).was_there
    with pytest.raises(WrongBoardError, match=r"say --force"):
        tb.build(small, built.path)


def test_roots_that_nothing_grows_from_are_refused(small: Board, tmp_path: Path) -> None:
    other = next(name for name in NAMES if name != small.game_name)
    with pytest.raises(WrongBoardError):
        tb.build(small, folder=tmp_path, root=small_board(other).start())
    over = finished(small)[0][0]
    with pytest.raises(GameOverError, match="the game is over"):
        tb.build(small, folder=tmp_path, root=over)
    with pytest.raises(GameOverError, match="the game is over"):
        tb.plan(small, root=over)
    assert list(tmp_path.iterdir()) == []


# Checking.


@pytest.mark.parametrize("level", ["spot", "quick", "sample", "full"])
def test_a_sound_table_is_found_sound(
    small: Board, small_table: tb.Table, small_folder: Path, level: str
) -> None:
    seen: list[tuple[str, int]] = []
    done = tb.verify(small, level, folder=small_folder, report=lambda *said: seen.append(said[:2]))
    assert (done.level, done.plies) == (level, len(small_table.plies) * (level != "spot"))
    assert (done.positions > 0) == (level != "quick")
    assert done.solver == 0
    assert done.seconds > 0
    whats = {what for what, _ in seen}
    assert whats == {"sample"} if level == "spot" else whats >= {"quick", level}
    assert {ply for _, ply in seen} >= set(small_table.plies[:-1])
    for form in (small_table, small_table.path, str(small_table.path)):
        again = tb.verify(form, level)
        assert (again.level, again.plies, again.positions) == (level, done.plies, done.positions)


def test_the_solver_confirms_a_sound_table(small: Board, small_table: tb.Table) -> None:
    done = tb.verify(small_table, solver=True)
    classes = {small._canonical(*position._state) for position, _ in unfinished(small)}
    assert len(classes) <= done.solver <= len(unfinished(small))


# The solver and the oracle.


@pytest.mark.smoke
def test_table_and_search_agree_everywhere(small: Board, small_table: tb.Table) -> None:
    solver = tb.solver(small, memory="1M")
    positions = [this.position for this in every_position(small.start()).values()]
    states = small.states(positions)
    by_table = small_table.probe_many(states)
    assert solver.solve_many(states).values.tolist() == by_table.tolist()
    for position, value in list(zip(positions, by_table.tolist(), strict=True))[::9]:
        assert solver.solve(position).value == value


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("threads", 0, "found"),
        ("leaves", "maybe", "found"),
        ("memory", "much", "memory 'much' is not a size"),
        ("memory", 1.5, r"memory '1\.5' is not a size"),
        ("memory", "4", "memory '4' has no unit"),
        ("time_limit", -1, "found"),
        ("time_limit", float("nan"), "found"),
    ],
)
def test_searches_that_make_no_sense_are_refused(
    small: Board, small_folder: Path, option: str, value: object, said: str
) -> None:
    for ask in (tb.solver, partial(tb.oracle, folder=small_folder)):
        with pytest.raises(BadTextError, match=said):
            ask(small, **{option: value})


@pytest.mark.smoke
def test_a_solver_says_what_it_is_and_takes_positions_in_every_form(small: Board) -> None:
    solver = tb.solver(small, memory="1M")
    assert repr(solver) == f"<Solver {small.title}, 1,000,000 bytes of memory>"
    positions = [position for position, _ in unfinished(small)[:2]]
    states = small.states(positions)
    asked = (positions, tuple(positions), tuple(p.text for p in positions), states)
    for things in (*asked, (states.a, states.b), (states.a.tolist(), states.b.tolist())):
        assert (
            solver.solve_many(things).values.tolist()
            == [solver.solve(p).value for p in positions]
            == [solver.solve(p.text).value for p in positions]
        )


def test_an_oracle_answers_alike_by_table_and_by_search(small: Board, small_folder: Path) -> None:
    nowhere, why = small_folder / "nowhere", []
    with (
        tb.oracle(small, folder=small_folder, memory="1M") as by_table,
        tb.oracle(small, folder=nowhere, memory="1M", before_search=why.append) as by_search,
    ):
        assert (len(by_table.tables), len(by_search.tables)) == (1, 0)
        assert repr(by_search) == f"<Oracle {small.title}, 0 tables, then search>"
        for position, value in unfinished(small)[::17]:
            found = by_table.probe(position)
            assert (found.source, found.value) == ("table", value)
            assert by_search.probe(position) == found._replace(source="search")
            assert by_table.value(position) == by_search.value(position.text) == value
            analysed = [asked.analyse(position) for asked in (by_table, by_search)]
            assert analysed[0].moves == analysed[1].moves
            assert [probe.source for probe in analysed] == ["both", "search"]
            lines = [asked.best_line(position) for asked in (by_table, by_search)]
            assert lines[0].moves == lines[1].moves
            for line in lines:
                assert (line.value, line.plies) == (value, analysed[0].plies)
                assert line.end.is_over()
                assert line.end.outcome() == (value if line.plies % 2 == 0 else -value)
            strong = by_search.solve(position, strong=True)
            assert (strong.value, strong.plies) == (value, analysed[0].plies)
        command = build_command(small.start(), nowhere)
        where = table_path(small.start(), nowhere)
        assert why == [f"no table at {where}; build it with: {command}"]
        states = small.states(this.position for this in every_position(small.start()).values())
        assert by_table.probe_many(states).tolist() == by_search.probe_many(states).tolist()
        over, outcome = finished(small)[0]
        for asked in (by_table, by_search):
            assert (asked.value(over), asked.solve(over).source) == (outcome, "rules")
            for ask in (asked.probe, asked.analyse, asked.best_line, asked.best_move):
                with pytest.raises(GameOverError):
                    ask(over)
