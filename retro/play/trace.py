"""How a search thinks: every node that minimax, negamax or alpha-beta visits, and what it cuts.

A node is *entered* with a window and *left* with a value and what became of the window:

    MAX            entered  alpha -inf  beta inf      left  value 3   alpha 3  beta inf
    |-- MIN        entered  alpha -inf  beta inf      left  value 3   alpha -inf  beta 3
    |   |-- 3  |-- 12  |-- 8
    `-- MIN        entered  alpha 3     beta inf      left  value 2   alpha 3  beta 2
        |-- 2      2 <= alpha: MAX has something better; the rest is *cut by alpha*
        x   4      cut: never visited
        x   6

Alpha is what MAX has for sure, beta what MIN has; a MIN node ends as soon as its value
is no more than alpha, a MAX node as soon as its value is no less than beta. Minimax and
negamax have no window. Negamax tells every value from the side that is to move, so it
knows one rule only; the other two tell it from MAX.

Positions of games are searched to a depth and judged by an evaluation there, scores as
`lookahead` has them; MAX is the side to move in the position asked about. The search always
runs to its end, so that what is shown is true; of large trees the plies next to the root
are shown, and each node says how many visited nodes beneath it are not.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Generic, Literal, NamedTuple, Protocol, TypeVar

from retro.errors import BadTextError, DoesNotFitError, GameOverError
from retro.play.lookahead import DECIDED
from retro.play.tree import Tree, number_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retro.answers import Json
    from retro.games.game import Position
    from retro.games.values import Player
    from retro.play.lookahead import Evaluation
    from retro.play.tree import Kind, Number

Bound = Literal["alpha", "beta"]
Algorithm = Literal["minimax", "negamax", "alpha-beta"]
ALGORITHMS: tuple[Algorithm, ...] = ("minimax", "negamax", "alpha-beta")
MOST_SHOWN = 300
LONGEST_GAME = 10_000  # plies; more than the largest board has cells
MOST_VISITED = 200_000  # of a search; some ten seconds

Node = TypeVar("Node")


class Window(NamedTuple):
    """What MAX has for sure and what MIN has, as seen by MAX."""

    alpha: Number
    beta: Number


@dataclass(frozen=True)
class TraceNode:
    """A node that was visited.

    `branch` names the way to it; `side` is +1 when MAX is to move, -1 when MIN is. `entered` and
    `left` are its window, None where the algorithm has none. `best` is the number of the branch
    that gave the value. `cut` names the branches that were not visited, `cut_by` the bound that
    saved them. `left_out` counts the visited nodes beneath that are not shown.
    """

    branch: str
    kind: Kind
    side: int
    value: Number
    entered: Window | None = None
    left: Window | None = None
    branches: tuple[TraceNode, ...] = ()
    best: int | None = None
    cut: tuple[str, ...] = ()
    cut_by: Bound | None = None
    left_out: int = 0

    def size(self) -> int:
        """The nodes shown from here on."""
        return 1 + sum(branch.size() for branch in self.branches)

    def as_dict(self) -> Json:
        """For JSON; a bound of None is no bound: alpha -inf, beta inf."""
        found: Json = {"branch": self.branch, "kind": self.kind}
        found |= {"side": self.side, "value": self.value}
        for name, window in (("entered", self.entered), ("left", self.left)):
            if window is not None:
                found[name] = {
                    bound: None if abs(number) == inf else number
                    for bound, number in window._asdict().items()
                }
        if self.best is not None:
            found["best"] = self.best
        if self.cut:
            found["cut"] = {"by": self.cut_by, "branches": list(self.cut)}
        if self.left_out:
            found["left_out"] = self.left_out
        if self.branches:
            found["branches"] = [branch.as_dict() for branch in self.branches]
        return found


@dataclass(frozen=True)
class Trace:
    """A whole search: `visited` nodes, of which `root.size()` are shown.

    `line` is the play that both sides prefer, `branches_cut` how often a branch was cut.
    """

    title: str
    algorithm: Algorithm
    root: TraceNode
    visited: int
    branches_cut: int
    line: tuple[str, ...]
    played: bool = False  # scores are those of `lookahead`

    def say(self, value: Number) -> str:
        """A value for people; of games that are decided W3 or L3: won, lost in 3 plies.

        >>> from retro.play.tree import read_tree
        >>> trace_tree(read_tree("max(1 2)")).say(3.5)
        '3.5'
        """
        plies = DECIDED - abs(value)
        if self.played and 0 <= plies < LONGEST_GAME:
            return f"{'W' if value > 0 else 'L'}{number_text(plies)}"
        return number_text(value)

    @property
    def value(self) -> Number:
        return self.root.value

    @property
    def left_out(self) -> int:
        """Nodes that were visited and are not shown."""
        return self.visited - self.root.size()

    def as_dict(self) -> Json:
        """For JSON: plain dictionaries, lists, texts and numbers."""
        return {
            "title": self.title,
            "algorithm": self.algorithm,
            "value": self.value,
            "says": self.say(self.value),
            "line": list(self.line),
            "visited": self.visited,
            "branches_cut": self.branches_cut,
            "shown": self.root.size(),
            "left_out": self.left_out,
            "root": self.root.as_dict(),
        }


class Looked(NamedTuple, Generic[Node]):
    """What the search sees at a node: MAX's worth of a leaf, else the branches."""

    kind: Kind
    side: int  # +1: MAX is to move, -1: MIN
    worth: Number
    branches: Sequence[tuple[str, Node]]


class Source(Protocol[Node]):
    """Where nodes come from."""

    def look(self, node: Node) -> Looked[Node]: ...


def trace_tree(tree: Tree, algorithm: Algorithm = "alpha-beta", most: int = MOST_SHOWN) -> Trace:
    """Trace a search of a tree; every leaf must have a number. Strokes are not looked at.

    >>> from retro.play.tree import read_tree
    >>> found = trace_tree(read_tree("max(min(3 12 8) min(2 4 6) min(14 5 2))"))
    >>> found.value, found.visited, found.branches_cut
    (3, 11, 2)
    >>> found.root.branches[1].cut, found.root.branches[1].cut_by
    (('4', '6'), 'alpha')
    """
    if any(leaf.value is None for leaf in tree.leaves()):
        raise BadTextError("found a leaf without a number (?), a search needs them all")
    return _trace(_Given(), (tree, 1), "tree", _algorithm(algorithm), most)


class Look(NamedTuple):
    """How a position is looked at; `ordered` tries promising successors first, as players do."""

    depth: int
    evaluate: Evaluation
    algorithm: Algorithm = "alpha-beta"
    ordered: bool = False


def trace_position(position: Position, look: Look, most: int = MOST_SHOWN) -> Trace:
    """Trace a search of an unfinished position.

    >>> from retro.games.catalogue import make_board
    >>> from retro.play.evaluations import find_evaluation
    >>> position = make_board("mnk", "3x3").position("a1 b2 c1")
    >>> found = trace_position(position, Look(2, find_evaluation("mnk")))
    >>> found.line, found.visited < 1 + 6 + 6 * 5
    (('b1', 'b3'), True)
    """
    if position.is_over():
        raise GameOverError(f"{position.over_message()}; there is nothing to search")
    if look.depth < 1:
        raise BadTextError(f"found depth {look.depth}, wanted at least 1")
    title = f"{position.board}, {position.text or 'start'}, depth {look.depth}"
    source = _Played(look, position.side_to_move)
    found = _trace(source, (position, look.depth), title, _algorithm(look.algorithm), most)
    return replace(found, played=True)


def _algorithm(name: str) -> Algorithm:
    for known in ALGORITHMS:
        if name == known:
            return known
    raise BadTextError(f"found algorithm {name!r}, wanted one of {', '.join(ALGORITHMS)}")


class _Given:
    """A tree from text; beside each node whose turn it would be."""

    def look(self, node: tuple[Tree, int]) -> Looked[tuple[Tree, int]]:
        tree, side = node
        if tree.kind == "leaf":
            assert tree.value is not None, "leaves have numbers"
            return Looked("leaf", side, tree.value, ())
        side = 1 if tree.kind == "max" else -1
        # A leaf is judged by who would move next.
        branches = [(_name(b, i), (b, -side)) for i, b in enumerate(tree.branches, start=1)]
        return Looked(tree.kind, side, 0, branches)


def _name(tree: Tree, number: int) -> str:
    """What a branch is called: its name, else the number of its leaf, else its place."""
    if tree.name:
        return tree.name
    return number_text(tree.value) if tree.value is not None else f"#{number}"


class _Played:
    """Positions of a game, each with the plies left to look."""

    def __init__(self, look: Look, mover: Player) -> None:
        self._ask, self._mover = look, mover

    def look(self, node: tuple[Position, int]) -> Looked[tuple[Position, int]]:
        position, left = node
        side = 1 if position.side_to_move == self._mover else -1
        outcome = position.outcome()
        if outcome is not None:
            return Looked(
                "leaf", side, side * int(outcome) * (DECIDED - self._ask.depth + left), ()
            )
        if left == 0:
            return Looked("leaf", side, side * self._ask.evaluate(position), ())
        branches = [
            (position._text_of(move), (position._play(move), left - 1))
            for move in position._numbers()
        ]
        # As `lookahead` does it: not at the root, and not where it costs what it saves.
        if self._ask.ordered and 1 < left < self._ask.depth:
            branches.sort(key=lambda branch: self._promise(branch[1][0]))
        return Looked("max" if side > 0 else "min", side, 0, branches)

    def _promise(self, after: Position) -> int:
        outcome = after.outcome()
        return self._ask.evaluate(after) if outcome is None else int(outcome) * DECIDED


def _trace(source: Source[Node], root: Node, title: str, algorithm: Algorithm, most: int) -> Trace:
    search = _Search(source, cuts=algorithm == "alpha-beta")
    whole = search.visit("", root, Window(-inf, inf))
    shown = _told(_shown(whole, most), algorithm)
    return Trace(title, algorithm, shown, search.visited, search.branches_cut, _line(whole))


class _Search(Generic[Node]):
    """One search that writes down what it does, all of it as MAX sees it."""

    def __init__(self, source: Source[Node], cuts: bool) -> None:
        self._source, self._cuts = source, cuts
        self.visited = self.branches_cut = 0

    def visit(self, branch: str, node: Node, entered: Window) -> TraceNode:
        """Visit a node: its value if that is inside the window, else a bound on that side."""
        self.visited += 1
        if self.visited > MOST_VISITED:
            raise DoesNotFitError(
                f"found more than {MOST_VISITED:,} nodes, too many to trace; ask for less depth"
            )
        kind, side, value, branches = self._source.look(node)
        if kind == "leaf":
            return TraceNode(branch, kind, side, value, entered, entered)
        value, best, window = -side * inf, 0, entered
        visited: list[TraceNode] = []
        for number, (name, successor) in enumerate(branches):
            visited.append(self.visit(name, successor, window))
            if side * visited[-1].value > side * value:
                value, best = visited[-1].value, number
            if self._cuts:
                window = _narrowed(window, side, value)
                if window.alpha >= window.beta:
                    break
        cut = tuple(name for name, _ in branches[len(visited) :])
        self.branches_cut += len(cut)
        cut_by: Bound | None = ("beta" if side > 0 else "alpha") if cut else None
        return TraceNode(
            branch, kind, side, value, entered, window, tuple(visited), best, cut, cut_by
        )


def _narrowed(window: Window, side: int, value: Number) -> Window:
    """MAX raises alpha, MIN lowers beta; when they meet, nothing more can matter."""
    alpha, beta = window
    return Window(max(alpha, value), beta) if side > 0 else Window(alpha, min(beta, value))


def _shown(root: TraceNode, most: int) -> TraceNode:
    """The tree from the root down, families whole, while it has no more than `most` nodes."""
    families: set[int] = set()
    queue, shown = deque([root]), 1
    while queue:
        node = queue.popleft()
        if shown + len(node.branches) > most:
            continue
        shown += len(node.branches)
        families.add(id(node))
        queue.extend(node.branches)

    def trimmed(node: TraceNode) -> TraceNode:
        if id(node) in families:
            return replace(node, branches=tuple(map(trimmed, node.branches)))
        return replace(node, branches=(), left_out=node.size() - 1)

    return trimmed(root)


def _told(node: TraceNode, algorithm: Algorithm) -> TraceNode:
    """The node as its algorithm tells it: negamax from who is to move, no windows without cuts."""
    if algorithm == "alpha-beta":
        return node
    value = node.side * node.value if algorithm == "negamax" else node.value
    branches = tuple(_told(branch, algorithm) for branch in node.branches)
    return replace(node, value=value, entered=None, left=None, branches=branches)


def _line(node: TraceNode) -> tuple[str, ...]:
    """The branches that gave the values, from the root to a leaf."""
    line = []
    while node.best is not None:
        node = node.branches[node.best]
        line.append(node.branch)
    return tuple(line)
