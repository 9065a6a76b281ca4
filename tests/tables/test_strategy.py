"""Strategy graphs: counted in bulk, and once more by sets of strings and plain recursion."""

from pathlib import Path

import pytest
from plain import connect4 as naive
from plain.recursion import every_position

import tablebase as tb
from retro.errors import DoesNotFitError
from retro.games.connect4.rules import Connect4Board
from retro.games.game import Board, Position
from tablebase.strategy import PlyCount, count_strategies

# Wins of the first player, of the second, draws; lines of 2, 3 and 4.
GAMES = [
    naive.Game(4, 3, 3),
    naive.Game(3, 3, 3),
    naive.Game(4, 4, 3),
    naive.Game(4, 4, 4),
    naive.Game(1, 4, 2),
    naive.Game(2, 2, 2),
    naive.Game(5, 3, 4),
    naive.Game(2, 3, 2),
]


def first_best(game: naive.Game, position: str) -> str:
    """The successor by the best move: a win at once, then any of that value, centre first."""
    known = naive.values(game)
    centre = (game.width - 1) / 2

    def rank(move: tuple[int, str]) -> tuple[float, ...]:
        column, after = move
        wins_at_once = naive.line_is_complete(game, after)
        return known[after], not wins_at_once, abs(column - centre), column

    return min(naive.successors(game, position).items(), key=rank)[1]


def graph(game: naive.Game, strategist: str) -> list[tuple[int, int, int, int]]:
    """(ply, decide, answer, finished) for every ply."""
    layer, counts = {naive.empty(game)}, []
    while layer:
        over = {p for p in layer if naive.line_is_complete(game, p) or naive.EMPTY not in p}
        decide = {p for p in layer - over if naive.mover(p) == strategist}
        answer = layer - over - decide
        counts.append((len(counts), len(decide), len(answer), len(over)))
        layer = {first_best(game, p) for p in decide}
        layer |= {after for p in answer for after in naive.successors(game, p).values()}
    return counts


@pytest.mark.parametrize("game", GAMES)
def test_counts_are_those_of_plain_sets(game: naive.Game) -> None:
    board = Connect4Board(*game)
    oracle = tb.Oracle(board, memory="1M")
    value = naive.values(game)[naive.empty(game)]
    players = {1: ["first"], -1: ["second"], 0: ["first", "second"]}[value]
    found = count_strategies(board.start(), oracle)
    assert [strategy.player for strategy in found] == players
    for strategy in found:
        sign = naive.FIRST if strategy.player == "first" else naive.SECOND
        assert [tuple(count) for count in strategy.plies] == graph(game, sign)
        assert strategy.value == abs(value)


def plain_graph(root: Position, table: tb.Table, strategist: str) -> list[PlyCount]:
    """The graph of any game by sets of positions, the table's first move for the strategist."""
    here, counts = {root}, []
    while here:
        over = {p for p in here if p.is_over()}
        decide = {p for p in here - over if p.side_to_move == strategist}
        answer = here - over - decide
        ply = root.ply + len(counts)
        counts.append(PlyCount(ply, len(decide), len(answer), len(over)))
        here = {p._play(table.probe(p).moves[0].number) for p in decide}
        here |= {p._play(move) for p in answer for move in p._numbers()}
    return counts


@pytest.mark.smoke
def test_every_game_is_counted_from_its_start(small: Board, small_table: tb.Table) -> None:
    value = small_table.value
    players = {1: ["first"], -1: ["second"], 0: ["first", "second"]}[value]
    found = count_strategies(small.start(), small_table)
    assert [(s.player, s.value) for s in found] == [(player, abs(value)) for player in players]
    for strategy in found:
        assert strategy.plies == plain_graph(small.start(), small_table, strategy.player)
        assert strategy.total.ply == strategy.plies[-1].ply
        assert strategy.positions == sum(sum(count[1:]) for count in strategy.plies)


def test_a_strategy_begins_at_its_root(small: Board, small_table: tb.Table, tmp_path: Path) -> None:
    known = every_position(small.start()).values()
    root = next(k.position for k in known if k.position.ply == 1 and not k.is_over)
    tb.build(small, folder=tmp_path, root=root)
    with tb.open_tablebase(small, folder=tmp_path, root=root) as table:
        found = count_strategies(table.root, table)
    assert found == count_strategies(root, small_table)
    for strategy in found:
        assert strategy.plies == plain_graph(root, small_table, strategy.player)
        assert sum(strategy.plies[0][1:]) == 1
        assert strategy.plies[0].ply == 1


def test_table_and_search_count_the_same(small: Board, small_table: tb.Table) -> None:
    by_table = count_strategies(small.start(), tb.Oracle(small, [small_table]))
    assert by_table == count_strategies(small.start(), tb.Oracle(small, memory="1M"))


def test_a_count_is_told_as_it_goes_and_can_be_bounded(small: Board, small_table: tb.Table) -> None:
    seen = []
    found = count_strategies(small.start(), small_table, report=lambda *said: seen.append(said))
    assert seen == [(s.player, count) for s in found for count in s.plies]
    most = max(count.decide + count.answer for s in found for count in s.plies)
    assert count_strategies(small.start(), small_table, most=most) == found
    if most > 1:
        with pytest.raises(DoesNotFitError, match=f"wanted at most {most - 1:,}"):
            count_strategies(small.start(), small_table, most=most - 1)
