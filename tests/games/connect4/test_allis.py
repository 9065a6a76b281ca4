"""Allis' rules: against their plain definitions, the values of small boards and the thesis."""

import random
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from plain import allis as plain

from retro.errors import WrongBoardError
from retro.games.connect4.allis import Rule, problems_of, rules_of, squares_in
from retro.games.connect4.allis_proof import NAMES, combine, proof, unsolved
from retro.games.connect4.rules import Connect4Board, Connect4Position
from retro.search import Solver
from retro.walk.keys import layers as walks


def some_positions(board: Connect4Board, number: int, seed: int, least: int = 0):
    """Unfinished positions of random games; the first player is to move if `least` is even."""
    rng = random.Random(seed)
    found = []
    while len(found) < number:
        position = Connect4Position(board)
        for _ in range(rng.randrange(least, board.cells, 2)):
            if not position.is_over():
                position = position._play(rng.choice(position._numbers()))
        if not position.is_over() and position.ply >= least and (position.ply - least) % 2 == 0:
            found.append(position)
    return found


def as_plain(position: Connect4Position) -> plain.Game:
    board = position.board
    stones = dict.fromkeys(plain_squares(board, position.first), 1)
    stones |= dict.fromkeys(plain_squares(board, position.second), 2)
    return plain.Game(board.width, board.height, board.connect, stones)


def plain_squares(board: Connect4Board, word: int) -> frozenset[plain.Square]:
    return frozenset((s // board.stride + 1, s % board.stride + 1) for s in squares_in(word))


def as_instance(board: Connect4Board, rule: Rule) -> plain.Instance:
    words = rule.squares, rule.claimed, rule.special
    squares, claimed, special = (plain_squares(board, word) for word in words)
    solved = frozenset(plain_squares(board, group) for group in rule.groups(board))
    return plain.Instance(rule.name, squares, solved, claimed, special)


@pytest.mark.parametrize(
    ("size", "number"),
    [((4, 4, 4), 60), ((5, 4, 3), 30), ((6, 6, 4), 20), ((7, 6, 4), 8)],
    ids=str,
)
def test_rules_are_those_of_the_definitions(size: tuple[int, int, int], number: int) -> None:
    board = Connect4Board(*size)
    names = set()
    for position in [Connect4Position(board), *some_positions(board, number, 3)]:
        rules = rules_of(position)
        found = [as_instance(board, rule) for rule in rules]
        assert len(set(found)) == len(found)
        assert set(found) == plain.instances(as_plain(position))
        names |= {rule.name for rule in rules}
    assert names == set(NAMES)


def test_rules_combine_as_the_table_says() -> None:
    board = Connect4Board(6, 6)
    pairs: dict[tuple[str, str], set[bool]] = {}
    rng = random.Random(4)
    for position in [Connect4Position(board), *some_positions(board, 12, 5)]:
        rules = rules_of(position)
        for one, two in rng.sample(list(combinations(rules, 2)), min(1500, len(rules))):
            fits = combine(board, one, two)
            assert fits == combine(board, two, one)
            assert fits == plain.combine(as_instance(board, one), as_instance(board, two))
            pairs.setdefault((one.name, two.name), set()).add(fits)
    assert sum(len(answers) == 2 for answers in pairs.values()) > 20


def test_a_proof_is_found_where_there_is_a_set() -> None:
    board = Connect4Board(4, 4)
    answers = set()
    for position in some_positions(board, 150, 6):
        look = plain.Look(as_plain(position))
        there_is = plain.covers(list(plain.instances(look.game)), look.problems)
        assert (proof(position) is not None) == there_is
        answers.add(there_is)
    assert answers == {False, True}


@pytest.mark.parametrize("size", [(6, 4), (6, 6), (7, 6)], ids=str)
def test_a_proof_holds_what_it_says(size: tuple[int, int]) -> None:
    """Its rules are of the position, solve all groups and can be combined, each with each."""
    board = Connect4Board(*size)
    proved = 0
    for position in some_positions(board, 60, 7, least=board.cells // 2 // 2 * 2):
        found = proof(position)
        if found is None:
            assert unsolved(position) > 0
            continue
        proved += 1
        solved = 0
        for rule in found.rules:
            solved |= rule.solved
        assert set(found.rules) <= set(rules_of(position))
        assert not problems_of(position) & ~solved
        assert all(combine(board, *pair) for pair in combinations(found.rules, 2))
        assert found.wins == any(rule.name == "aftereven" for rule in found.rules)
        assert found.text(board).startswith(f"{found.claim}: ")
    assert proved >= 5


def require_true(position: Connect4Position, value: int) -> bool:
    """Whether there is a proof; it agrees with the value for the first player, who is to move."""
    found = proof(position)
    assert found is None or value < 0 or (value == 0 and not found.wins), position.text
    return found is not None


def proved_of_all(board: Connect4Board) -> tuple[int, int]:
    """(proved, held) of all unfinished positions with the first player to move, up to mirroring."""
    proved = held = 0
    for layer in walks.solve(walks.prepare(board.rules))[::2]:
        words = zip(layer.keys.a.tolist(), layer.keys.b.tolist(), strict=True)
        for (a, b), value in zip(words, layer.values.tolist(), strict=True):
            proved += require_true(board.unpack(a, b), value)
            held += value <= 0
    return proved, held


def test_proofs_are_true_in_every_position_of_4x4() -> None:
    assert proved_of_all(Connect4Board(4, 4)) == (23_422, 23_608)


def test_the_script_leaves_out_only_what_cannot_be_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """`check_allis.py --doubtful`: elsewhere there is no proof, or none that claims too much."""
    monkeypatch.syspath_prepend(Path(__file__).parents[3] / "scripts")
    from check_allis import doubtful

    board, left_out, rng = Connect4Board(4, 4), 0, np.random.default_rng(3)
    for layer in walks.solve(walks.prepare(board.rules))[:14:2]:
        keys, values = layer.keys, layer.values
        asked = doubtful(board, keys.a, keys.b, values)
        for i in rng.choice(keys.size, min(100, keys.size), replace=False):
            position = board.unpack(int(keys.a[i]), int(keys.b[i]))
            wins = any(position._play(move).winner() for move in position._numbers())
            late = any(rule.name == "aftereven" for rule in rules_of(position))
            if not asked[i]:
                left_out += 1
                assert values[i] < 0 or wins or (values[i] == 0 and not late)
    assert left_out > 100


@pytest.mark.slow
def test_proofs_are_true_in_every_position_of_5x4() -> None:
    """6x4 has 17.7 million: `scripts/check_allis.py` goes through them."""
    proved, held = proved_of_all(Connect4Board(5, 4))
    assert proved > held * 0.8


@pytest.mark.parametrize(("size", "number"), [((6, 4), 600), ((5, 6), 150), ((7, 4), 150)], ids=str)
def test_proofs_are_true_by_lot(size: tuple[int, int], number: int) -> None:
    board = Connect4Board(*size)
    solver = Solver(board, memory="64M")
    positions = some_positions(board, number, 8)
    assert sum(require_true(p, solver.solve(p).value) for p in positions) > number / 10


def test_proofs_are_true_by_lot_on_7x6() -> None:
    board = Connect4Board(7, 6)
    solver = Solver(board, memory="64M")
    proved = [p for p in some_positions(board, 250, 9, least=24) if proof(p)]
    assert all(require_true(p, solver.solve(p).value) for p in proved)
    assert len(proved) > 15


@pytest.mark.parametrize("size", [(6, 4), (5, 4)], ids=str)
def test_with_the_second_player_to_move_a_proof_begins_with_a_move(size: tuple[int, int]) -> None:
    board = Connect4Board(*size)
    solver = Solver(board, memory="64M")
    proved = 0
    for position in some_positions(board, 150, 10, least=1):
        found = proof(position)
        if found is not None:
            assert found.move in position._numbers()
            value = solver.solve(position).value
            assert value > 0 if found.wins else value >= 0
            proved += 1
    assert proved > 30


@pytest.mark.parametrize("size", [(6, 2), (6, 4), (6, 6), (6, 8)], ids=str)
def test_the_thesis_on_six_columns(size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """The second player at least draws on every 6x2n; the rules prove it in some tens of steps."""
    monkeypatch.setattr("retro.games.connect4.allis_proof.MOST_STEPS", 100)
    assert proof(Connect4Position(Connect4Board(*size))) is not None


def test_the_thesis_on_seven_columns() -> None:
    """He does on 7x6, unless the first player begins in the middle; then he loses."""
    start = Connect4Position(Connect4Board(7, 6))
    assert proof(start) is None
    assert [proof(start._play(move)) is not None for move in range(4)] == [True] * 3 + [False]


@pytest.mark.parametrize("size", [(6, 4), (7, 6)], ids=str)
def test_a_proof_stays(size: tuple[int, int]) -> None:
    """Whatever the first player does, there is an answer that leads to a proof again."""
    board = Connect4Board(*size)
    answered = 0
    for position in some_positions(board, 40, 11, least=board.cells // 2 // 2 * 2):
        if proof(position):
            for move in position._numbers():
                assert proof(position._play(move)) is not None
                answered += 1
    assert answered > 5


@pytest.mark.parametrize(("size", "number"), [((4, 4, 4), 60), ((6, 4, 4), 40), ((7, 6, 4), 5)])
def test_groups_are_left_as_a_plain_greedy_choice_leaves_them(
    size: tuple[int, int, int], number: int
) -> None:
    board = Connect4Board(*size)
    counts = set()
    for position in some_positions(board, number, 13):
        groups = [board.lines[problem] for problem in squares_in(problems_of(position))]
        problems = [plain_squares(board, group) for group in groups]
        found = [as_instance(board, rule) for rule in rules_of(position)]
        counts.add(unsolved(position))
        assert unsolved(position) == plain.given_up(found, problems)
    assert len(counts) > 2


def test_where_a_proof_stops_no_group_is_left() -> None:
    """The count of groups left is 0 only with a proof, and is that of the lone hopeless one."""
    board = Connect4Board(6, 4)
    nothing = [p for p in some_positions(board, 200, 12) if unsolved(p) == 0]
    assert len(nothing) > 20
    assert all(map(proof, nothing))
    three = Connect4Position(board)._play_all([0, 5, 1, 5, 2, 4])
    assert unsolved(three) >= 1


def test_what_has_no_proof() -> None:
    board = Connect4Board(6, 4)
    three = Connect4Position(board)._play_all([0, 5, 1, 5, 2, 4])
    assert proof(three) is None  # the first player completes the row
    over = three._play(3)
    assert over.is_over()
    assert proof(over) is None
    with pytest.raises(WrongBoardError, match="found board 7x5, wanted an even height"):
        proof(Connect4Position(Connect4Board(7, 5)))
