"""The solver of any game: against dictionaries, the plain ladder, the walk and published values."""

import random
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from plain import domineering as naive_domineering
from plain import mnk as naive_mnk
from plain.mnk import MnkRules, bitboards
from search_cases import StateSolver
from strategies import published

from retro.errors import BadTextError, DoesNotFitError, TimeLimitError
from retro.games.catalogue import find_game
from retro.games.domineering.kernels import dominoes_rules
from retro.games.domineering.rules import DomineeringBoard, DomineeringPosition, outcome_class
from retro.games.grid import GridPosition
from retro.games.line_kernels import lines_rules
from retro.games.mnk.rules import MnkBoard, MnkPosition
from retro.search import Solver
from retro.search.generic import table as tables
from retro.search.generic.engine import NODES, OPEN, begin, make_stack, resume
from retro.search.generic.table import WON, make_table
from retro.search.ladder.domineering_game import DomineeringGame
from retro.search.ladder.ladder import search
from retro.search.ladder.mnk_game import MnkGame
from retro.walk.keys.layers import prepare, solve

CLASSES = {
    (row["rows"], row["cols"]): row["outcome"] for row in published("domineering_classes.csv")
}
VALUES = {"W": 1, "D": 0, "L": -1}


@pytest.mark.parametrize("game", [MnkRules(3, 3, 3), MnkRules(2, 4, 3), MnkRules(3, 3, 2)], ids=str)
def test_every_position_of_lines(game: MnkRules) -> None:
    board = MnkBoard(*game)
    solver = StateSolver(board, memory_mb=1)
    for text, value in naive_mnk.values(game).items():
        assert solver.solve(GridPosition(board, *bitboards(game, text))).value == value, text


@pytest.mark.parametrize("size", [(1, 6), (2, 5), (3, 3), (4, 3)], ids=str)
def test_every_set_of_cells_of_domineering(size: tuple[int, int]) -> None:
    size = naive_domineering.Size(*size)
    board = DomineeringBoard(*size)
    solver = StateSolver(board, memory_mb=1)
    sides = {"V": "vertical", "H": "horizontal"}
    for side, cells in islice(naive_domineering.every_position(size), 0, None, 3):
        position = DomineeringPosition(board, naive_domineering.covered_bits(cells), sides[side])
        expected = naive_domineering.value(size, (side, cells))
        assert solver.solve(position._state).value == expected, (side, cells)


@pytest.mark.parametrize(
    ("name", "size", "options"),
    [
        ("quarto", "2x2", {"attributes": "2"}),
        ("domineering", "4x4", {}),
        ("domineering", "4x5", {"starts": "horizontal"}),
        ("puissance-plus", "3x3", {"target": "5", "values": "121/232/121"}),
    ],
)
def test_every_position_of_the_walk(name: str, size: str, options: dict[str, str]) -> None:
    game = find_game(name)
    board = game.parse(size, options)
    solver = StateSolver(board, memory_mb=1)
    for layer in solve(prepare(board.rules)):
        second = layer.keys.b if len(layer.keys.b) else np.zeros(layer.keys.size, np.uint64)
        for a, b, value in zip(layer.keys.a, second, layer.values, strict=True):
            assert solver.solve((int(a), int(b))).value == value


@settings(max_examples=25)
@given(st.data())
def test_as_the_plain_ladder_on_domineering(data: st.DataObject) -> None:
    rows, cols = data.draw(st.sampled_from([(4, 4), (3, 6), (5, 4), (4, 5)]))
    board = DomineeringBoard(rows, cols)
    covered = data.draw(st.integers(0, board.full)) & data.draw(st.integers(0, board.full))
    position = DomineeringPosition(
        board, covered, data.draw(st.sampled_from(["vertical", "horizontal"]))
    )
    game = DomineeringGame(board)
    expected = search(game, game.state(position))
    assert StateSolver(board, memory_mb=1).solve(position._state).value == expected.value


@settings(max_examples=25)
@given(st.data())
def test_as_the_plain_ladder_on_lines(data: st.DataObject) -> None:
    board = MnkBoard(*data.draw(st.sampled_from([(4, 4, 4), (4, 3, 3), (3, 5, 4)])))
    position = MnkPosition(board)
    for _ in range(data.draw(st.integers(board.cells - 10, board.cells))):
        if position.is_over():
            break
        position = position._play(data.draw(st.sampled_from(position._numbers())))
    game = MnkGame(board)
    expected = search(game, game.state(position))
    state = position._state
    assert StateSolver(board, memory_mb=1).solve(state).value == expected.value


def small_classes():
    return [size for size in CLASSES if size[0] * size[1] <= 30]


def outcome_of(rows: int, cols: int, memory_mb: int = 16) -> str:
    values = []
    for first in ("vertical", "horizontal"):
        board = DomineeringBoard(rows, cols, first)
        solver = StateSolver(board, memory_mb=memory_mb)
        values.append(solver.solve(DomineeringPosition.start(board)).value)
    return outcome_class(*values)


def test_published_classes_of_domineering() -> None:
    assert len(small_classes()) >= 70
    assert {size: outcome_of(*size) for size in small_classes()} == {
        size: CLASSES[size] for size in small_classes()
    }
    assert outcome_of(6, 6) == CLASSES[6, 6]


@pytest.mark.slow
@pytest.mark.parametrize("size", [(7, 7), (8, 8)])
def test_published_classes_of_large_boards(size: tuple[int, int]) -> None:
    assert outcome_of(*size, memory_mb=1024) == CLASSES[size]


def test_turned_boards_have_turned_classes() -> None:
    turned = {"V": "H", "H": "V", "N": "N", "P": "P"}
    for rows, cols in [(3, 7), (4, 6), (5, 6), (4, 7), (6, 7)]:
        assert outcome_of(cols, rows) == turned[outcome_of(rows, cols)]


def test_known_values_of_lines() -> None:
    for row in published("mnk_values.csv"):
        if row["rows"] * row["cols"] <= 12:
            board = MnkBoard(row["rows"], row["cols"], row["k"])
            assert StateSolver(board, memory_mb=8).solve((0, 0)).value == VALUES[row["value"]]


@pytest.mark.parametrize("size_bytes", [0, 1 << 10, 1 << 20])
@pytest.mark.parametrize("budget", [1, 7, 1 << 30])
def test_any_table_and_any_slices_give_the_same_value(size_bytes: int, budget: int) -> None:
    """A table of one bucket forgets nearly everything; slices change nothing at all."""
    for rules, goal, expected in (
        (dominoes_rules(DomineeringBoard(4, 5)), 1, 1),
        (dominoes_rules(DomineeringBoard(4, 4)), WON - 7, WON - 7),  # a win on the seventh ply
        (dominoes_rules(DomineeringBoard(4, 4)), WON - 6, WON - 7),
        (lines_rules(MnkBoard(3, 3, 3)), 1, 0),
        (lines_rules(MnkBoard(3, 3, 3)), 0, 0),
    ):
        table, stack = make_table(rules.words, size_bytes), make_stack(64)
        age = np.uint64(1)
        zero = np.uint64(0)
        value = begin(rules, table, stack, zero, zero, goal, age)
        while value == OPEN:
            value = resume(rules, table, stack, age, budget)
        assert value >= expected if value >= goal else value == expected
        whole = make_table(rules.words, size_bytes), make_stack(64)
        again = begin(rules, *whole, zero, zero, goal, age)
        if again == OPEN:
            again = resume(rules, *whole, age, 1 << 40)
        assert (again, whole[1].place[NODES]) == (value, stack.place[NODES])
        assert np.array_equal(whole[0].cells, table.cells)


@njit
def _put(table, a, b, low, high, age, nodes):  # type: ignore[no-untyped-def]
    tables.store(table, tables.hash_of(a, b), a, b, low, high, age, nodes)


@njit
def _get(table, a, b):  # type: ignore[no-untyped-def]
    return tables.fetch(table, tables.hash_of(a, b), a, b)


@pytest.mark.parametrize("words", [1, 2])
def test_a_table_that_grows_loses_nothing(words: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was there is there, as it was; and what was not is not."""
    monkeypatch.setattr(tables, "FIRST_BYTES", 1 << 12)
    table = make_table(words, 1 << 16)
    assert not table.is_whole
    rng = random.Random(3)
    keys = [(rng.getrandbits(64), rng.getrandbits(64) if words == 2 else 0) for _ in range(600)]
    for a, b in keys:
        low = rng.randint(-WON, WON)
        high, age, nodes = rng.randint(low, WON), np.uint64(rng.randint(0, 255)), rng.randint(1, 99)
        _put(table, np.uint64(a), np.uint64(b), low, high, age, nodes)

    def known() -> list[tuple[int, int]]:
        return [_get(table, np.uint64(a), np.uint64(b)) for a, b in keys]

    before, used = known(), np.count_nonzero(table.cells)
    assert sum(found != (-WON, WON) for found in before) > 50
    sizes = []
    while not table.is_whole:
        sizes.append(table.buckets)
        table = tables.larger(table)
        assert known() == before
        assert np.count_nonzero(table.cells) == used
    assert len(sizes) == 4


@pytest.mark.parametrize("game", [DomineeringBoard(5, 5), MnkBoard(4, 4, 4)])
def test_a_search_lets_its_table_grow(
    game: DomineeringBoard | MnkBoard, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = game.start()._state
    expected = StateSolver(game, memory_mb=4).solve(state, strong=True)
    monkeypatch.setattr(tables, "FIRST_BYTES", 1 << 10)
    monkeypatch.setattr("retro.search.generic.search.NODES_PER_BUCKET", 2)
    monkeypatch.setattr("retro.search.generic.search.FIRST_SLICE", 50)
    grown: list[int] = []
    monkeypatch.setattr(
        "retro.search.generic.search.larger",
        lambda table: grown.append(table.buckets) or tables.larger(table),
    )
    found = StateSolver(game, memory_mb=4).solve(state, strong=True)
    assert (found.value, found.plies) == (expected.value, expected.plies)
    assert len(grown) > 2


def test_what_is_proved_is_kept() -> None:
    board = DomineeringBoard(5, 5)
    solver = StateSolver(board, memory_mb=4)
    state = DomineeringPosition.start(board)._state
    first, again = solver.solve(state), solver.solve(state)
    assert (first.value, first.is_helped) == (-1, False)
    assert first.nodes > 100
    assert (again.value, again.nodes) == (-1, 0)


def test_questions_of_many_ages_in_a_small_table() -> None:
    """The table is never cleared; entries of older questions answer and make room."""
    board = DomineeringBoard(4, 4)
    game = DomineeringGame(board)
    solver = StateSolver(board, memory_mb=1)
    draw = random.Random(3)
    for _ in range(300):
        covered = draw.getrandbits(16) & draw.getrandbits(16) & draw.getrandbits(16)
        position = DomineeringPosition(board, covered, draw.choice(["vertical", "horizontal"]))
        assert solver.solve(position).value == search(game, game.state(position)).value


def test_limits() -> None:
    reports: list[tuple[int, float]] = []
    solver = Solver(
        "domineering 8x8", memory="1M", time_limit=0.01, report=lambda *seen: reports.append(seen)
    )
    with pytest.raises(TimeLimitError, match=r"not solved within 0.01 s \([0-9,]+ nodes"):
        solver.solve("")
    assert 0 < reports[0][0] < 10_000  # soon, whatever a node costs
    with pytest.raises(BadTextError, match="needs at least"):
        Solver("domineering 8x8", memory_mb=0)
    with pytest.raises(DoesNotFitError, match="does not fit"):
        Solver("domineering 8x8", memory_mb=1 << 42)


class OnlyTheStart:
    """A table of one position."""

    def __init__(self, board) -> None:
        self.board, self.root = board, board.start()

    def is_ready_for(self, position):
        return True

    def get_wdl(self, position, default=None):
        return 0 if position == self.root else default


def test_a_table_answers_first() -> None:
    board = MnkBoard(3, 3, 3)
    solver = Solver(board, memory="1M", tables=[OnlyTheStart(board)])
    assert solver.solve("").source == "table"
    assert solver.solve("a1").source == "search"
    assert solver.solve("", strong=True).source == "both"
