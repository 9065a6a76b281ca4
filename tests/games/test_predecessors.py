"""Successors against predecessors, in every game: the one relation read in both directions.

A predecessor is found from below and by definition: take away any piece that whoever moved
last could have added, and keep what is a position in which the game was still going on.
"""

import random
from collections.abc import Iterator

import pytest

from retro.games.catalogue import find_game
from retro.games.domineering.rules import OTHER, DomineeringPosition
from retro.games.grid import GridPosition
from retro.games.kernels import successors_of
from retro.games.notakto.rules import NotaktoPosition
from retro.games.quarto.rules import QuartoPosition

LARGE = {
    "mnk": ("5x4", {"connect": "3"}),
    "puissance-plus": ("4x4", {"target": "7"}),
    "domineering": ("5x6", {}),
    "quarto": ("4x4", {"squares": "on"}),
    "notakto": ("5x5", {}),
}
TINY = {
    "mnk": ("3x3", {"connect": "3"}),
    "puissance-plus": ("3x2", {"target": "4", "values": "123/321"}),
    "domineering": ("4x4", {}),
    "quarto": ("2x2", {"attributes": "2"}),
    "notakto": ("3x3", {}),
}


def of_grid(position: GridPosition) -> Iterator[GridPosition]:
    """Without one stone of the side that is not to move."""
    for bit in position.board.all_bits:
        if position.opponent & bit:
            yield GridPosition(position.board, position.first & ~bit, position.second & ~bit)


def of_notakto(position: NotaktoPosition) -> Iterator[NotaktoPosition]:
    """Without one cross: all are everybody's."""
    for bit in position.board.all_bits:
        if position.crosses & bit:
            yield NotaktoPosition(position.board, position.crosses & ~bit, None)


def of_domineering(position: DomineeringPosition) -> Iterator[DomineeringPosition]:
    """Without two neighbouring covered cells, as the side that is not to move covers them."""
    side = OTHER[position.turn]
    for domino in position.board.dominoes[side]:
        if position.covered & domino == domino:
            yield DomineeringPosition(position.board, position.covered & ~domino, side)


def of_quarto(position: QuartoPosition) -> Iterator[QuartoPosition]:
    """The gift goes back to the stock, one piece from the board back into the hand."""
    board, cells = position.board, position.cells
    if position.placed == 0 and position.hand is not None:
        yield QuartoPosition(board)
    for cell, piece in enumerate(cells):
        if piece is not None:
            yield QuartoPosition(board, (*cells[:cell], None, *cells[cell + 1 :]), piece, None)


BEFORE = {
    "mnk": of_grid,
    "puissance-plus": of_grid,
    "domineering": of_domineering,
    "quarto": of_quarto,
    "notakto": of_notakto,
}


def predecessors(name: str, position) -> set:
    return {before for before in BEFORE[name](position) if not before.is_over()}


def successors(position) -> set:
    return {position._play(move) for move in position._numbers()}


def random_positions(name: str, games: int) -> Iterator:
    """Every position of some random games, their ends included."""
    game = find_game(name)
    rng = random.Random(name)
    for _ in range(games):
        position = game.start(game.parse(*LARGE[name]))
        yield position
        while not position.is_over():
            position = position._play(rng.choice(position._numbers()))
            yield position


@pytest.mark.parametrize("name", LARGE)
def test_successors_and_predecessors_are_inverse(name: str) -> None:
    rng = random.Random(1)
    game = find_game(name)
    rules = game.parse(*LARGE[name]).rules
    ended = 0
    for position in random_positions(name, 6):
        after, before = successors(position), predecessors(name, position)
        assert bool(before) == (position.ply > 0)
        assert bool(after) != position.is_over()
        ended += position.is_over()
        for each in rng.sample(sorted(after, key=str), min(8, len(after))):
            assert position in predecessors(name, each)
        for each in before:
            assert position in successors(each)
            # The jitted rules lead back as well.
            assert position._state in successors_of(rules, *each._state).values()
    assert ended == 6


@pytest.mark.parametrize("name", TINY)
def test_the_whole_graph_has_the_same_edges_from_above_and_from_below(name: str) -> None:
    game = find_game(name)
    layer = {game.start(game.parse(*TINY[name]))}
    assert predecessors(name, next(iter(layer))) == set()
    edges = 0
    while layer:
        downward = {(each, after) for each in layer for after in successors(each)}
        below = {after for _, after in downward}
        upward = {(before, each) for each in below for before in predecessors(name, each)}
        # Below may also lead up to what no play reaches: dominoes that were never put so.
        assert downward == {(before, each) for before, each in upward if before in layer}
        if name != "domineering":
            assert downward == upward
        edges += len(downward)
        layer = below
    assert edges > 50
