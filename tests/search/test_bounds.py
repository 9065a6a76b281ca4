"""Every piece of knowledge the search uses is sound: one test each that would fail if it were not.

The truth here is a solver of its own, by dictionary and recursion over any
coloured or grey stones, so that positions with odd counts have values too.
"""

import random
from collections import defaultdict
from functools import cache
from itertools import product

import pytest
from plain import connect4 as naive
from plain import mnk as naive_mnk
from search_cases import connect_states, mnk_states

from retro.games.connect4.rules import Connect4Board
from retro.games.mnk.rules import MnkBoard
from retro.games.stones import bits_of
from retro.search.ladder.connect4_game import ConnectGame
from retro.search.ladder.ladder import search
from retro.search.ladder.lines import LineGame, Stones
from retro.search.ladder.mnk_game import MnkGame
from retro.search.ladder.rungs import Rungs

CONNECT_BOARDS = [(3, 3, 3), (4, 3, 3), (3, 4, 3), (5, 2, 3), (2, 5, 3), (4, 4, 4), (4, 4, 3)]
SMALL_CONNECT = [(3, 3, 3), (4, 3, 3), (3, 4, 3), (5, 2, 3)]
MNK_BOARDS = [(3, 3, 3), (2, 4, 3), (3, 3, 2)]
Game = ConnectGame | MnkGame


@cache
def cases(game: Game) -> list[tuple[Stones, int]]:
    """(state, true value) of every legal position that is not terminal."""
    board = game.board
    if isinstance(board, Connect4Board):
        states = connect_states(naive.Game(board.width, board.height, board.connect))
    else:
        states = mnk_states(naive_mnk.MnkRules(board.rows, board.cols, board.k))
    return [(state, value) for state, value in states if game.outcome(state) is None]


def some_of(game: Game, most: int) -> list[tuple[Stones, int]]:
    """All cases of a small game, about so many of a larger one, spread over all plies."""
    return cases(game)[:: 1 + len(cases(game)) // most]


SOME = pytest.mark.parametrize("most", [10_000, pytest.param(10**9, marks=pytest.mark.slow)])
CONNECT_GAMES = [ConnectGame(Connect4Board(*sizes)) for sizes in CONNECT_BOARDS]
SMALL_GAMES: list[Game] = [
    *(ConnectGame(Connect4Board(*sizes)) for sizes in SMALL_CONNECT),
    *(MnkGame(MnkBoard(*sizes)) for sizes in MNK_BOARDS),
]


def game_name(game: Game) -> str:
    return game.board.name


def solver(game: Game):  # type: ignore[no-untyped-def]
    """The value of any state, grey stones and odd counts included, with no knowledge at all."""

    @cache
    def value(state: Stones) -> int:
        known = game.outcome(state)
        if known is not None:
            return known
        return max(-value(game.play(state, move)) for move in game.moves(state))

    return value


@SOME
@pytest.mark.parametrize("game", CONNECT_GAMES, ids=game_name)
def test_claim_even_is_never_below_the_true_value(game: ConnectGame, most: int) -> None:
    fired = 0
    for state, value in some_of(game, most):
        if not game.claim_even_leaves_a_win(state):
            assert value <= 0, state
            fired += 1
    assert fired > 10


@SOME
@pytest.mark.parametrize("game", [*CONNECT_GAMES, *SMALL_GAMES[-3:-1]], ids=game_name)
def test_bounds_hold_the_true_value(game: Game, most: int) -> None:
    narrowed = 0
    for state, value in some_of(game, most):
        low, high = game.bounds(state)
        assert low <= value <= high, state
        narrowed += (low, high) != (-1, 1)
    assert narrowed > 10


@pytest.mark.parametrize("sizes", [(3, 3, 3), (4, 2, 3), (2, 4, 3)], ids=str)
def test_claim_even_holds_whatever_the_counts(sizes: tuple[int, int, int]) -> None:
    """Any gravity-legal grid, any number of stones of either colour."""
    game = ConnectGame(Connect4Board(*sizes))
    value = solver(game)
    for state in any_grid(game.board):
        if game.outcome(state) is None and not game.lines.complete(state.mine):
            low, high = game.bounds(state)
            assert low <= value(state) <= high, state


def any_grid(board: Connect4Board) -> list[Stones]:
    """Every filling of the columns from below, colours as they please."""
    columns = [
        "".join(colours)
        for height in range(board.height + 1)
        for colours in product("mt", repeat=height)
    ]
    found = []
    for filling in product(columns, repeat=board.width):
        sets = {"m": 0, "t": 0}
        for column, colours in enumerate(filling):
            for row, colour in enumerate(colours):
                sets[colour] |= board.bit(column, row)
        found.append(Stones(sets["m"], sets["t"]))
    return found


@pytest.mark.parametrize("game", SMALL_GAMES, ids=game_name)
def test_greying_keeps_the_value(game: Game) -> None:
    """The greyed state is a state of its own: played on from there, it has the same value."""
    value = solver(game)
    greyed = 0
    for state, true in cases(game):
        grey = game.grey(state)
        assert value(grey) == true, state
        assert game.grey(grey) == grey
        assert game.empty(grey) == game.empty(state)
        greyed += grey.grey != 0
    assert greyed > 10 or game.board.name == "mnk-3x3-connect2"


@pytest.mark.parametrize("sizes", [(3, 3, 3), (4, 2, 3)], ids=str)
def test_recolouring_a_dead_stone_never_changes_the_value(sizes: tuple[int, int, int]) -> None:
    """All grids of any counts: equal greyed forms, equal values; so for single stones."""
    game = ConnectGame(Connect4Board(*sizes))
    value = solver(game)
    recoloured = 0
    for state in any_grid(game.board):
        if game.outcome(state) is not None or game.lines.complete(state.mine):
            continue
        for bit in bits_of(game.grey(state).grey):
            other = Stones(state.mine ^ bit, state.theirs ^ bit)
            if dead_in_either_colour(game, state, bit):
                assert value(other) == value(state), f"{state} {bit}"
                recoloured += 1
    assert recoloured > 100


def dead_in_either_colour(game: LineGame, state: Stones, bit: int) -> bool:
    """A stone that stays dead when recoloured.

    A dead stone may still be what keeps the opponent's line from being
    complete; such a one may turn grey, but not the opponent's colour.
    """
    other = Stones(state.mine ^ bit, state.theirs ^ bit)
    return bool(game.grey(state).grey & bit and game.grey(other).grey & bit)


@pytest.mark.parametrize("sizes", [(3, 3, 3), (4, 2, 3)], ids=str)
def test_equal_greyed_keys_have_equal_values(sizes: tuple[int, int, int]) -> None:
    game = ConnectGame(Connect4Board(*sizes))
    value = solver(game)
    values = defaultdict(set)
    count = 0
    for state in any_grid(game.board):
        if game.outcome(state) is None and not game.lines.complete(state.mine):
            values[game.key(game.grey(state))].add(value(state))
            count += 1
    assert all(len(found) == 1 for found in values.values())
    assert len(values) < count


@pytest.mark.parametrize("game", SMALL_GAMES, ids=game_name)
def test_a_best_move_is_among_the_candidates(game: Game) -> None:
    value = solver(game)
    left_out = 0
    for state, true in cases(game):
        moves, legal = game.candidates(state), game.moves(state)
        assert set(moves) <= set(legal)
        assert max(-value(game.play(state, move)) for move in moves) == true, state
        left_out += len(legal) - len(moves)
    assert left_out > 10


@pytest.mark.parametrize("game", SMALL_GAMES, ids=game_name)
def test_symmetry_leaves_values_alone(game: Game) -> None:
    values, keys = defaultdict(set), set()
    for state, true in cases(game):
        key, symmetry = game.canonical_key(state)
        values[key].add(true)
        keys.add(game.key(state))
        for move in game.moves(state):
            assert game.turn_back(game.turn(move, symmetry), symmetry) == move
            # The turned move leads from the canonical state to the turned successor.
            after, _ = game.canonical_key(game.play(state, move))
            turned = _split(game, key)
            again, _ = game.canonical_key(game.play(turned, game.turn(move, symmetry)))
            assert after == again
    assert all(len(found) == 1 for found in values.values())
    assert len(keys) > len(values)
    assert len(keys) == len(cases(game))


def _split(game: Game, key: int) -> Stones:
    """The state of a key: three sets of cells side by side."""
    width = game.empty(Stones()).bit_length()
    mask = (1 << width) - 1
    return Stones(key & mask, key >> width & mask, key >> 2 * width)


def test_keys_tell_mine_theirs_and_grey_apart() -> None:
    for game in SMALL_GAMES:
        bit = game.moves(game.start())[0]
        states = [Stones(bit), Stones(0, bit), Stones(0, 0, bit), Stones()]
        assert len({game.key(state) for state in states}) == 4


@pytest.mark.parametrize("replacement", ["newest", "costliest", "two-tier"])
@pytest.mark.parametrize("slots", [1, 2, 5, 64, 1 << 12])
def test_replacement_never_changes_values(replacement: str, slots: int) -> None:
    game = ConnectGame(Connect4Board(4, 3, 3))
    for state, true in random.Random(slots).sample(cases(game), 40):
        for deepening in (False, True):
            rungs = Rungs(slots=slots, replacement=replacement, deepening=deepening)  # type: ignore[arg-type]
            assert search(game, state, rungs).value == true


def test_urgency_prefers_wins_then_blocks_then_threats() -> None:
    game = MnkGame(MnkBoard(3, 3, 3))
    bit = game.board.bit
    # X to move:   . X .      c3 blocks a line of O;
    #              . . O      b2 threatens two lines (c3, b1),
    #              X . O      a2 threatens one (a3).
    state = Stones(bit(0, 0) | bit(2, 1), bit(0, 2) | bit(1, 2))
    block, two, one = (game.urgency(state, bit(*place)) for place in ((2, 2), (1, 1), (1, 0)))
    assert block > two > one > 0
    assert game.candidates(state) == [bit(2, 2)]
    # With b2 as well, b1 wins at once.
    winning = Stones(state.mine | bit(1, 1), state.theirs)
    assert game.urgency(winning, bit(0, 1)) > block
