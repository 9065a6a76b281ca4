"""Traces: the nodes, windows and cuts of the plain search, on given trees and in every game."""

import json
import random
import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain import trees

from retro.errors import BadTextError, DoesNotFitError, GameOverError
from retro.games.catalogue import NAMES, find_game
from retro.play import trace as trace_module
from retro.play.evaluations import find_evaluation
from retro.play.lookahead import alpha_beta, minimax
from retro.play.trace import ALGORITHMS, Look, Trace, TraceNode, trace_position, trace_tree
from retro.play.trace_svg import MOST_DOWNWARD, trace_svg
from retro.play.trace_text import trace_text
from retro.play.tree import Tree, read_tree, write_tree

NESTED = st.recursive(
    st.integers(-9, 9), lambda inner: st.lists(inner, min_size=1, max_size=4), max_leaves=25
)
BOARDS = {
    "connect4": ("4x4", {}),
    "mnk": ("3x3", {}),
    "puissance-plus": ("3x3", {"target": "5"}),
    "domineering": ("4x4", {}),
    "notakto": ("3x3", {}),
    "quarto": ("2x2", {"attributes": "2"}),
}


def tree_of(nested: trees.Nested, maximise: bool = True) -> Tree:
    if not isinstance(nested, list):
        return Tree("leaf", value=nested)
    branches = tuple(tree_of(branch, not maximise) for branch in nested)
    return Tree("max" if maximise else "min", branches)


def visits(node: TraceNode, path: tuple = ()):
    """As the plain twin lists them."""
    for number, branch in enumerate(node.branches):
        yield from visits(branch, (*path, number))
    yield (path, *node.entered, *node.left, node.value)


def cuts(node: TraceNode, path: tuple = ()) -> set[tuple]:
    seen = len(node.branches)
    found = {(*path, number) for number in range(seen, seen + len(node.cut))}
    for number, branch in enumerate(node.branches):
        found |= cuts(branch, (*path, number))
    return found


@given(NESTED)
def test_alpha_beta_is_traced_as_the_plain_one_walks(nested: trees.Nested) -> None:
    found = trace_tree(tree_of(nested), most=10_000)
    value, walked, cut = trees.alpha_beta(nested)
    assert list(visits(found.root)) == walked
    assert cuts(found.root) == cut
    assert (found.value, found.visited, found.branches_cut) == (value, len(walked), len(cut))
    assert found.value == trees.minimax(nested)


@given(NESTED)
def test_minimax_and_negamax_visit_all(nested: trees.Nested) -> None:
    tree = tree_of(nested)
    one, other = trace_tree(tree, "minimax"), trace_tree(tree, "negamax")
    assert one.value == other.value == trees.minimax(nested)
    assert one.visited == other.visited == _size(nested) >= trace_tree(tree).visited
    assert one.branches_cut == other.branches_cut == 0

    def check(plain: TraceNode, turned: TraceNode, side: int) -> None:
        assert (plain.side, turned.value) == (side, side * plain.value)
        assert plain.entered is plain.left is turned.entered is None
        for before, after in zip(plain.branches, turned.branches, strict=True):
            check(before, after, -side)

    check(one.root, other.root, 1)


def _size(nested: trees.Nested) -> int:
    return 1 + sum(map(_size, nested)) if isinstance(nested, list) else 1


@given(NESTED, st.randoms(use_true_random=False))
def test_what_is_cut_never_changes_the_value(nested: trees.Nested, rng: random.Random) -> None:
    value, _, cut = trees.alpha_beta(nested)

    def changed(tree: trees.Nested, path: tuple = (), below: bool = False) -> trees.Nested:
        below = below or path in cut
        if not isinstance(tree, list):
            return rng.randint(-99, 99) if below else tree
        return [changed(branch, (*path, i), below) for i, branch in enumerate(tree)]

    other = changed(nested)
    assert trees.minimax(other) == value
    assert cuts(trace_tree(tree_of(other), most=10_000).root) == cut


@pytest.mark.parametrize("name", NAMES)
def test_every_game_is_traced_as_players_look(name: str) -> None:
    """Minimax has the players' nodes and score; so has alpha-beta with their order of moves."""
    game, evaluate, rng = find_game(name), find_evaluation(name), random.Random(3)
    start = game.start(game.parse(*BOARDS[name]))
    for depth in (1, 2, 3):
        position = start._play(rng.choice(start._numbers()))
        plain = minimax(position, depth, evaluate)
        for algorithm in ("minimax", "negamax"):
            slow = trace_position(position, Look(depth, evaluate, algorithm))
            assert (slow.value, slow.visited) == (plain.score, plain.nodes)
            assert slow.line[0] == game.write_move(position, plain.move)
        fast = trace_position(position, Look(depth, evaluate, ordered=True))
        looked = alpha_beta(position, depth, evaluate)
        assert (fast.value, fast.visited) == (looked.score, looked.nodes)
        unordered = trace_position(position, Look(depth, evaluate))
        assert unordered.value == plain.score
        assert unordered.visited <= plain.nodes
        assert unordered.root.kind == "max"


def test_only_the_plies_next_to_the_root_are_shown() -> None:
    game = find_game("connect4")
    start = game.start(game.parse("7x6", {}))
    look = Look(4, find_evaluation("connect4"), "minimax")
    whole, part = (trace_position(start, look, most) for most in (10_000, 60))
    assert (whole.left_out, whole.root.size()) == (0, whole.visited)
    assert (part.value, part.line, part.visited) == (whole.value, whole.line, whole.visited)
    assert part.root.size() == 1 + 7 + 49
    assert part.left_out == whole.visited - 57 == 49 * (7 + 49)
    assert _left_out(part.root) == part.left_out

    def shows(node: TraceNode, true: TraceNode) -> None:
        assert (node.value, node.best) == (true.value, true.best)
        if node.branches:
            for one, other in zip(node.branches, true.branches, strict=True):
                shows(one, other)
        else:
            assert node.left_out == true.size() - 1

    shows(part.root, whole.root)


def _left_out(node: TraceNode) -> int:
    return node.left_out + sum(map(_left_out, node.branches))


def test_too_much_to_trace_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    game = find_game("connect4")
    start = game.start(game.parse("7x6", {}))
    monkeypatch.setattr(trace_module, "MOST_VISITED", 100)
    with pytest.raises(DoesNotFitError, match="more than 100 nodes, too many to trace"):
        trace_position(start, Look(4, find_evaluation("connect4"), "minimax"))


def test_wrong_questions_get_one_line() -> None:
    game = find_game("mnk")
    board = game.parse("3x3", {})
    look = Look(2, find_evaluation("mnk"))
    with pytest.raises(GameOverError, match="nothing to search"):
        trace_position(game.read_position(board, "a1 a2 b1 b2 c1"), look)
    with pytest.raises(BadTextError, match="found depth 0, wanted at least 1"):
        trace_position(game.start(board), look._replace(depth=0))
    with pytest.raises(BadTextError, match="wanted one of minimax, negamax, alpha-beta"):
        trace_tree(read_tree("max(1 2)"), "scout")  # type: ignore[arg-type]
    with pytest.raises(BadTextError, match="leaf without a number"):
        trace_tree(read_tree("max(1 ?)"))


@given(NESTED)
def test_trees_read_back(nested: trees.Nested) -> None:
    tree = tree_of(nested)
    assert read_tree(str(tree)) == read_tree(write_tree(tree)) == tree


def test_trees_as_people_write_them() -> None:
    tree = read_tree("""
        # a comment, (with brackets
        Max( a: MIN(-3, 1.5,
                    /?)   # MAX(
             /b:min(2)  +4 )""")
    assert str(tree) == "MAX(a:MIN(-3 1.5 /?) /b:MIN(2) 4)"
    assert str(read_tree("7")) == "7"
    # MAX may follow MAX.
    assert trace_tree(read_tree("max(max(1 2) min(5 3))"), "negamax").value == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "found the end of the tree"),
        ("max(1\n min(2", "found the end of the tree"),
        ("max(1\n foo)", "found 'foo' in line 2 of the tree, wanted MAX"),
        ("max(1)\n2", "found '2' in line 2 of the tree, wanted the end"),
        ("max()", r"found MAX\(\) in line 1, wanted a branch"),
        ("/max(1)", "found a stroke before the root"),
        ("max(1x)", "found '1x' in line 1"),
        ("max(" * 70, "more than 60 plies"),
        (")", r"found '\)' in line 1 of the tree"),
    ],
)
def test_bad_trees_get_one_line(text: str, message: str) -> None:
    with pytest.raises(BadTextError, match=message) as caught:
        read_tree(text)
    assert "\n" not in str(caught.value)


def test_json_is_plain() -> None:
    found = trace_tree(read_tree("max(min(3 12 8) b:min(2 4 c:max(6 9)) min(14 5 2))"))
    told = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert (told["value"], told["visited"], told["shown"], told["left_out"]) == (3, 11, 11, 0)
    assert told["line"] == ["#1", "3"]
    second = told["root"]["branches"][1]
    assert second == {
        "branch": "b",
        "kind": "min",
        "side": -1,
        "value": 2,
        "entered": {"alpha": 3, "beta": None},
        "left": {"alpha": 3, "beta": 2},
        "best": 0,
        "cut": {"by": "alpha", "branches": ["4", "c"]},
        "branches": [
            {
                "branch": "2",
                "kind": "leaf",
                "side": 1,
                "value": 2,
                "entered": {"alpha": 3, "beta": None},
                "left": {"alpha": 3, "beta": None},
            }
        ],
    }


def some_trace(name: str, algorithm: str, depth: int = 3, most: int = 120) -> Trace:
    game = find_game(name)
    look = Look(depth, find_evaluation(name), algorithm)  # type: ignore[arg-type]
    return trace_position(game.start(game.parse(*BOARDS[name])), look, most)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("name", NAMES)
def test_text_and_pictures_show_each_node_once(name: str, algorithm: str) -> None:
    found = some_trace(name, algorithm)
    lines = trace_text(found).splitlines()
    shown = [line for line in lines[1:] if re.match(r" *(\S+ )?(MAX|MIN|leaf) ", line)]
    assert len(shown) == found.root.size() <= 120
    assert sum(" x cut by " in line for line in lines) == _with_cuts(found.root)
    assert (f"not shown: {found.left_out:,} of" in lines[-1]) == (found.left_out > 0)
    picture = ET.fromstring(trace_svg(found))
    for tag, kinds in (("polygon", {"max", "min"}), ("rect", {"leaf"})):
        drawn = picture.findall(f".//{{http://www.w3.org/2000/svg}}{tag}")
        assert len(drawn) == _of_kinds(found.root, kinds)
    assert len(picture.get("viewBox", "").split()) == 4
    assert trace_svg(found) == trace_svg(some_trace(name, algorithm))


def _with_cuts(node: TraceNode) -> int:
    return bool(node.cut) + sum(map(_with_cuts, node.branches))


def _of_kinds(node: TraceNode, kinds: set[str]) -> int:
    return (node.kind in kinds) + sum(_of_kinds(branch, kinds) for branch in node.branches)


def test_nothing_lies_on_top_of_another_in_pictures() -> None:
    small = trace_tree(read_tree("max(min(3 12 8) min(2 4 6) min(14 5 2))"))
    large = some_trace("connect4", "minimax", most=300)
    assert _of_kinds(large.root, {"leaf"}) > MOST_DOWNWARD
    for found in (small, large):
        width, height = map(float, re.findall(r'viewBox="0 0 (\S+) (\S+)"', trace_svg(found))[0])
        boxes = re.findall(r'<rect x="(\S+)" y="(\S+)"', trace_svg(found))
        places = [(float(x), float(y)) for x, y in boxes]
        assert all(0 <= x <= width - 24 and 0 <= y <= height - 20 for x, y in places)
        for i, (x1, y1) in enumerate(places):
            assert all(abs(x1 - x2) >= 24 or abs(y1 - y2) >= 20 for x2, y2 in places[:i])


def test_decided_games_are_told_in_plies() -> None:
    game = find_game("connect4")
    position = game.read_position(game.parse("7x6", {}), "121212")
    found = trace_position(position, Look(2, find_evaluation("connect4")))
    assert (found.say(found.value), found.line) == ("W1", ("1",))
    assert trace_tree(read_tree("max(999999)")).say(999999) == "999999"
    lost = game.read_position(game.parse("7x6", {}), "44556")  # 3 and 7 both threaten
    assert some_value(lost) == "L2"


def some_value(position) -> str:
    found = trace_position(position, Look(3, find_evaluation(position.board.game_name)))
    return found.say(found.value)
