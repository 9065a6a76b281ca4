"""Strategy graphs: counted in bulk, and once more by sets of strings and plain recursion."""

import json
from pathlib import Path

import naive
import pytest

from retro.games.connect import Board
from retro.games.connect_text import read_moves
from tablebase.cli import main
from tablebase.oracle import Oracle
from tablebase.probe import open_tablebase
from tablebase.strategy import count_strategies

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
    board = Board(*game)
    oracle = Oracle(board, [], memory_mb=1)
    value = naive.values(game)[naive.empty(game)]
    players = {1: ["first"], -1: ["second"], 0: ["first", "second"]}[value]
    found = count_strategies(board, oracle.probe_many)
    assert [strategy.player for strategy in found] == players
    for strategy in found:
        sign = naive.FIRST if strategy.player == "first" else naive.SECOND
        assert [tuple(count) for count in strategy.plies] == graph(game, sign)
        assert strategy.value == abs(value)


def test_table_and_search_count_the_same(built_4x4: object, table_folder: Path) -> None:
    board = Board(4, 4)
    with open_tablebase(table_folder / f"{board.name}.h5") as table:
        by_table = count_strategies(board, Oracle(board, [table]).probe_many)
    assert by_table == count_strategies(board, Oracle(board, [], memory_mb=1).probe_many)


def test_the_command_counts_5x4(
    capsys: pytest.CaptureFixture[str], built_5x4: object, table_folder: Path
) -> None:
    arguments = ["strategy", "5x4", "--dir", str(table_folder)]
    assert main.main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["strategies"]
    assert [(s["player"], s["value"]) for s in found] == [("first", "DRAW"), ("second", "DRAW")]
    for strategy in found:
        for name in ("decide", "answer", "finished"):
            assert strategy[name] == sum(ply[name] for ply in strategy["plies"])
        parts = [strategy[name] for name in ("decide", "answer", "finished")]
        assert strategy["positions"] == sum(parts)
    # The centre is the first of the best moves, and all five answers to it are different.
    with open_tablebase(table_folder / "connect4-5x4.h5") as table:
        assert table.probe(read_moves(table.board, "")).moves[0].move == "3"
    assert [ply["decide"] + ply["answer"] for ply in found[0]["plies"][:3]] == [1, 1, 5]
    assert main.main(arguments) == 0
    out = capsys.readouterr().out
    assert f"positions: {found[0]['positions']:,}" in out
    assert "a strategy that draws for the second player" in out
