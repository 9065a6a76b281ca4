"""Kernels of the Monte-Carlo tree search: one tree in arrays, for the rules of any game.

A node is a number; its columns are the arrays of `Tree`. The children of a node are
born together and lie side by side, so a node needs only where they begin and how many:

    number   0     1  2  3     4  5  ...        root 0 has children 1, 2, 3;
    first    1     4  0  0     0  0             1 has children 4, 5; 0: not expanded
    children 3     2  0  0     0  0

One playout is four steps, the same as in every text on UCT (Kocsis and Szepesvari, 2006):

    select    from the root down, the child with the greatest
                  mean + exploration * sqrt(ln(visits of parent) / visits of child),
              a child without visits first
    expand    a node that is visited for the second time gets its children
    play      random moves to the end of the game
    tell      every node on the way its result

A node's `total` is the sum of results for the player who moved *into* it, so that a
parent looks for the child with the largest mean. Results are +1, 0, -1; a node that the
rules have decided gives its own result and is never played out. When the arrays are full
nothing more is expanded, and the search goes on in the tree that stands.
"""

from __future__ import annotations

from math import log, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retro.games.kernels import UNDECIDED, move_limit, outcome, play
from retro.jit import entry, inner

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROOT = 0
LONGEST_GAME = 256  # plies; a state of two words cannot hold a longer one


class Tree(NamedTuple):
    """The columns of all nodes; then the lot, the number of nodes so far, and room for a path."""

    a: NDArray[np.uint64]
    b: NDArray[np.uint64]
    move: NDArray[np.int32]
    first: NDArray[np.int32]
    children: NDArray[np.int32]
    visits: NDArray[np.int32]
    total: NDArray[np.int32]
    decided: NDArray[np.int32]  # outcome for the side to move there, or UNDECIDED
    lot: NDArray[np.uint64]  # one number
    size: NDArray[np.int64]  # one number
    path: NDArray[np.int32]


def make_tree(nodes: int, seed: int) -> Tree:
    """Room for so many nodes; nothing in it yet."""
    return Tree(
        a=np.zeros(nodes, np.uint64),
        b=np.zeros(nodes, np.uint64),
        move=np.zeros(nodes, np.int32),
        first=np.zeros(nodes, np.int32),
        children=np.zeros(nodes, np.int32),
        visits=np.zeros(nodes, np.int32),
        total=np.zeros(nodes, np.int32),
        decided=np.zeros(nodes, np.int32),
        lot=np.array([seed & (1 << 64) - 1], np.uint64),
        size=np.zeros(1, np.int64),
        path=np.zeros(LONGEST_GAME, np.int32),
    )


@inner
def draw_below(lot, limit):
    """A number from 0 to limit - 1 by lot: splitmix64, its high bits scaled."""
    lot[0] += np.uint64(0x9E3779B97F4A7C15)
    word = lot[0]
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    word ^= word >> np.uint64(31)
    return np.int64(((word >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32))


@inner
def _playout(rules, lot, a, b):
    """The result of random moves from a state that is not decided, for the side to move.

    A number that is not a legal move is drawn again: the legal ones keep equal chances, and
    nobody has to list them (7x6: 1.3 draws a move, where a list would try all 7).
    """
    limit = move_limit(rules)
    sign = 1
    while True:
        legal, after_a, after_b = play(rules, a, b, draw_below(lot, limit))
        if not legal:
            continue
        a, b = after_a, after_b
        sign = -sign
        result = outcome(rules, a, b)
        if result != UNDECIDED:
            return sign * result


@inner
def _expand(rules, tree, node):
    """Give a node its children, in the order of their moves; False if there is no room."""
    limit = move_limit(rules)
    begin = tree.size[0]
    if begin + limit > len(tree.a):
        return False
    end = begin
    for move in range(limit):
        legal, a, b = play(rules, tree.a[node], tree.b[node], move)
        if legal:
            tree.a[end], tree.b[end] = a, b
            tree.move[end] = move
            tree.first[end] = tree.children[end] = tree.visits[end] = tree.total[end] = 0
            tree.decided[end] = outcome(rules, a, b)
            end += 1
    tree.first[node] = begin
    tree.children[node] = end - begin
    tree.size[0] = end
    return True


@inner
def _select(tree, node, exploration):
    """The child to visit: the first without a visit, else the one that promises most."""
    begin = tree.first[node]
    best, most = begin, -np.inf
    wide = exploration * sqrt(log(tree.visits[node]))
    for child in range(begin, begin + tree.children[node]):
        visits = tree.visits[child]
        if visits == 0:
            return child
        promise = tree.total[child] / visits + wide / sqrt(visits)
        if promise > most:
            best, most = child, promise
    return best


@entry
def plant(rules, tree, a, b):
    """Make the tree a root with its children; the state is not decided."""
    tree.a[ROOT], tree.b[ROOT] = a, b
    tree.decided[ROOT] = UNDECIDED
    tree.visits[ROOT] = tree.total[ROOT] = 0
    tree.size[0] = 1
    return _expand(rules, tree, ROOT)


@entry
def grow(rules, tree, exploration, playouts):
    """So many playouts more."""
    path = tree.path
    for _ in range(playouts):
        node, depth = ROOT, 0
        path[0] = ROOT
        while True:
            if tree.children[node] == 0:
                again = tree.visits[node] > 0 and tree.decided[node] == UNDECIDED
                if not again or not _expand(rules, tree, node):
                    break
            node = _select(tree, node, exploration)
            depth += 1
            path[depth] = node
        result = tree.decided[node]
        if result == UNDECIDED:
            result = _playout(rules, tree.lot, tree.a[node], tree.b[node])
        while depth >= 0:  # the result is for the side to move at the end of the path
            result = -result
            tree.visits[path[depth]] += 1
            tree.total[path[depth]] += result
            depth -= 1


@entry
def look_two_plies(rules, tree, grades):
    """Grade each move from the root: 2 wins at once, 0 lets the opponent win at once, else 1."""
    limit = move_limit(rules)
    for index in range(tree.children[ROOT]):
        child = tree.first[ROOT] + index
        grades[index] = 2 if tree.decided[child] == -1 else 1
        if tree.decided[child] != UNDECIDED:
            continue
        for reply in range(limit):
            legal, a, b = play(rules, tree.a[child], tree.b[child], reply)
            if legal and outcome(rules, a, b) == -1:
                grades[index] = 0
                break
