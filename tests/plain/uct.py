"""The plain truth: UCT with objects and recursion, for the same random numbers as the kernels.

Shares nothing with the library: a node is an object, a game is three functions.
"""

from math import log, sqrt
from typing import Any, NamedTuple

WORD = 2**64


class Game(NamedTuple):
    """Moves are numbers below `limit`; `play` gives None for a number that is no legal move."""

    limit: int
    play: Any  # (position, number) -> position or None
    outcome: Any  # position -> +1, 0, -1 for the side to move, or None


class Lot:
    """splitmix64."""

    def __init__(self, seed: int) -> None:
        self.state = seed % WORD

    def below(self, limit: int) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) % WORD
        word = self.state
        word = (word ^ word // 2**30) * 0xBF58476D1CE4E5B9 % WORD
        word = (word ^ word // 2**27) * 0x94D049BB133111EB % WORD
        word ^= word // 2**31
        return word // 2**32 * limit // 2**32


class Node:
    def __init__(self, position: Any) -> None:
        self.position = position
        self.children: dict[int, Node] = {}
        self.visits = self.total = 0

    def mean(self) -> float:
        return self.total / self.visits


def expand(game: Game, node: Node) -> None:
    for number in range(game.limit):
        after = game.play(node.position, number)
        if after is not None:
            node.children[number] = Node(after)


def random_result(game: Game, lot: Lot, position: Any) -> int:
    """For the side to move in the position."""
    outcome = game.outcome(position)
    if outcome is not None:
        return outcome
    after = None
    while after is None:
        after = game.play(position, lot.below(game.limit))
    return -random_result(game, lot, after)


def playout(game: Game, lot: Lot, node: Node, exploration: float) -> int:
    """One more visit of a node; the result for the side to move there."""
    over = game.outcome(node.position) is not None
    if not node.children and node.visits and not over:
        expand(game, node)
    if node.children:
        children = list(node.children.values())
        fresh = [child for child in children if not child.visits]
        chosen = fresh[0] if fresh else None
        if chosen is None:
            wide = exploration * sqrt(log(node.visits))
            chosen = max(children, key=lambda child: child.mean() + wide / sqrt(child.visits))
        result = -playout(game, lot, chosen, exploration)
    else:
        result = random_result(game, lot, node.position)
    node.visits += 1
    node.total -= result
    return result


def search(game: Game, position: Any, seed: int, exploration: float, playouts: int) -> Node:
    """The root after so many playouts."""
    lot, root = Lot(seed), Node(position)
    expand(game, root)
    for _ in range(playouts):
        playout(game, lot, root, exploration)
    return root
