"""The plain truth: Allis' rules by their definitions, on sets of squares.

Shares nothing with the library: no words of bits. A square is (column, row), both counted
from 1; a group is a frozenset of squares. `stones` says who stands where, 1 or 2.
"""

from collections import defaultdict
from itertools import combinations, permutations, product
from typing import NamedTuple

Square = tuple[int, int]
Squares = frozenset[Square]


class Game(NamedTuple):
    width: int
    height: int
    connect: int
    stones: dict[Square, int]


class Instance(NamedTuple):
    name: str
    squares: Squares
    solved: frozenset[Squares]
    claimevens: frozenset[Square] = frozenset()  # their lower squares
    special: Squares = frozenset()


def groups(game: Game) -> list[Squares]:
    board = set(product(range(1, game.width + 1), range(1, game.height + 1)))
    found = []
    for column, row in board:
        for right, up in ((1, 0), (0, 1), (1, 1), (1, -1)):
            group = {(column + i * right, row + i * up) for i in range(game.connect)}
            if group <= board:
                found.append(frozenset(group))
    return found


def up(square: Square, rows: int = 1) -> Square:
    return square[0], square[1] + rows


def even(square: Square) -> bool:
    return square[1] % 2 == 0


class Look:
    def __init__(self, game: Game) -> None:
        self.game = game
        board = product(range(1, game.width + 1), range(1, game.height + 1))
        self.empty = {square for square in board if square not in game.stones}
        self.playable = {s for s in self.empty if s[1] == 1 or up(s, -1) not in self.empty}
        self.problems = [g for g in groups(game) if not any(game.stones.get(s) == 2 for s in g)]
        self.own = [g for g in groups(game) if not any(game.stones.get(s) == 1 for s in g)]

    def containing(self, *squares: Square) -> set[Squares]:
        return {group for group in self.problems if group >= set(squares)}


def instances(game: Game) -> set[Instance]:
    """All that solve something, and of those made of others all that solve something more."""
    look = Look(game)
    rules = (simple, inverses, baseclaims, afterevens, befores, specialbefores)
    return {found for rule in rules for found in rule(look) if found.solved}


def simple(look: Look):
    for lower in look.empty:
        upper = up(lower)
        if upper in look.empty and even(upper):
            solved = frozenset(look.containing(upper))
            yield Instance("claimeven", frozenset({lower, upper}), solved, frozenset({lower}))
        elif upper in look.empty:
            solved = frozenset(look.containing(lower, upper))
            yield Instance("vertical", frozenset({lower, upper}), solved)
    for pair in combinations(look.playable, 2):
        yield Instance("baseinverse", frozenset(pair), frozenset(look.containing(*pair)))


def inverses(look: Look):
    for one, two in combinations(look.empty, 2):
        if one[0] == two[0] or not even(one) or not even(two):
            continue
        low = {one, up(one), two, up(two)}
        if low <= look.empty and (main := look.containing(up(one), up(two))):
            parts = look.containing(one, up(one)) | look.containing(two, up(two))
            yield Instance("lowinverse", frozenset(low), frozenset(main | parts))
        high = low | {up(one, 2), up(two, 2)}
        if high <= look.empty:
            main = look.containing(up(one, 2), up(two, 2)) | look.containing(up(one), up(two))
            if one in look.playable:
                main |= look.containing(one, up(two, 2))
            if two in look.playable:
                main |= look.containing(two, up(one, 2))
            sides = look.containing(up(one), up(one, 2)) | look.containing(up(two), up(two, 2))
            if main:
                yield Instance("highinverse", frozenset(high), frozenset(main | sides))


def baseclaims(look: Look):
    for one, two, three in permutations(look.playable, 3):
        if even(up(two)) and up(two) in look.empty:
            claim, inverse = look.containing(one, up(two)), look.containing(two, three)
            if claim and inverse:
                squares = frozenset({one, two, three, up(two)})
                yield Instance("baseclaim", squares, frozenset(claim | inverse), frozenset({two}))


def afterevens(look: Look):
    for group in look.own:
        gaps = group & look.empty
        if gaps and all(even(gap) and up(gap, -1) in look.empty for gap in gaps):
            late = {
                problem
                for problem in look.problems
                if all(any(s[0] == gap[0] and s[1] > gap[1] for s in problem) for gap in gaps)
            }
            claimed = {problem for gap in gaps for problem in look.containing(gap)}
            lower = frozenset(up(gap, -1) for gap in gaps)
            yield Instance("aftereven", lower | gaps, frozenset(late | claimed), lower)


def parts(look: Look, gaps, name: str, main: set[Squares], special: Squares = frozenset()):
    """Befores: each gap gets a vertical from it up or, if even, a claimeven of it."""
    for kinds in product("vc", repeat=len(gaps)):
        used, solved, lower = list(special), set(main), set()
        for gap, kind in zip(gaps, kinds, strict=True):
            pair = (gap, up(gap)) if kind == "v" else (up(gap, -1), gap)
            used += pair
            solved |= look.containing(*pair) if kind == "v" else look.containing(gap)
            if kind == "c":
                lower.add(pair[0])
                if not even(gap):
                    used.append(used[0])  # no claimeven: as wrong as a square used twice
        apart = len(used) == len(set(used)) and set(used) <= look.empty
        if apart and (name == "specialbefore" or "v" in kinds):
            yield Instance(name, frozenset(used), frozenset(solved), frozenset(lower), special)


def before_groups(look: Look):
    for group in look.own:
        gaps = sorted(group & look.empty)
        if gaps and all(gap[1] < look.game.height for gap in gaps):
            yield gaps, look.containing(*map(up, gaps))


def befores(look: Look):
    for gaps, main in before_groups(look):
        if main:
            yield from parts(look, gaps, "before", main)


def specialbefores(look: Look):
    for gaps, above in before_groups(look):
        for own, other in permutations(look.playable, 2):
            main = {group for group in above if other in group}
            if own in gaps and other not in gaps and main:
                rest = [gap for gap in gaps if gap != own]
                solved = main | look.containing(own, other)
                yield from parts(look, rest, "specialbefore", solved, frozenset({own, other}))


def by_column(squares) -> dict[int, set[int]]:
    found = defaultdict(set)
    for column, row in squares:
        found[column].add(row)
    return found


ASKED = {
    ("claimeven", "lowinverse"): "2",
    ("claimeven", "highinverse"): "2",
    ("aftereven", "aftereven"): "3",
    ("aftereven", "lowinverse"): "12",
    ("aftereven", "highinverse"): "12",
    ("aftereven", "before"): "3",
    ("aftereven", "specialbefore"): "3",
    ("lowinverse", "lowinverse"): "4",
    ("lowinverse", "highinverse"): "4",
    ("highinverse", "highinverse"): "4",
    ("lowinverse", "baseclaim"): "12",
    ("highinverse", "baseclaim"): "12",
    ("lowinverse", "before"): "23",
    ("lowinverse", "specialbefore"): "23",
    ("highinverse", "before"): "12",
    ("highinverse", "specialbefore"): "12",
    ("before", "before"): "3",
    ("before", "specialbefore"): "3",
    ("specialbefore", "specialbefore"): "3",
}  # every other pair: "1"


def combine(one: Instance, two: Instance) -> bool:
    """The table of chapter 7."""
    asked = ASKED.get((one.name, two.name)) or ASKED.get((two.name, one.name)) or "1"
    columns = by_column(one.squares), by_column(two.squares)
    shared = set(columns[0]) & set(columns[1])
    disjoint = not one.squares & two.squares
    fine = {
        "1": disjoint,
        "2": all(
            low[1] > max(by_column(inverse.squares)[low[0]], default=0)
            for inverse, other in ((one, two), (two, one))
            if inverse.name.endswith("inverse") and inverse.name != "baseinverse"
            for low in other.claimevens
        ),
        "3": not one.squares & two.squares & (one.special | two.special)
        and all(
            columns[0][c] == columns[1][c] or not columns[0][c] & columns[1][c] for c in shared
        ),
        "4": disjoint and (not shared or set(columns[0]) == set(columns[1])),
    }
    return all(fine[digit] for digit in asked)


def given_up(found: list[Instance], problems: list[Squares]) -> int:
    """How many groups are left by choosing one instance after the other, none taken back.

    Each time the group that the fewest can solve gets the one that solves most of what is left.
    Of equals the first is taken.
    """
    left, allowed, hopeless = list(problems), list(found), 0
    while left:
        hardest = min(left, key=lambda problem: sum(problem in one.solved for one in allowed))
        solvers = [one for one in allowed if hardest in one.solved]
        if solvers:
            best = max(solvers, key=lambda one: sum(problem in one.solved for problem in left))
            left = [problem for problem in left if problem not in best.solved]
            allowed = [one for one in allowed if combine(one, best)]
        else:
            left.remove(hardest)
            hopeless += 1
    return hopeless


def covers(found: list[Instance], problems: list[Squares]) -> bool:
    """Whether some of the instances can be combined and solve all problems: try them all."""
    if not problems:
        return True
    return any(
        covers(
            [other for other in found if combine(one, other)],
            [problem for problem in problems if problem not in one.solved],
        )
        for one in found
        if problems[0] in one.solved
    )
