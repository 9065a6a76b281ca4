"""Game trees as text: MAX and MIN nodes, leaves with numbers, branches marked to be cut.

The picture of a textbook, in a small file:

    # whose turn it is, then what it can choose from
    MAX(
      MIN(3 12 8)
      MIN(2 /4 /6)          a stroke: alpha-beta shall leave this branch out
      b: MIN(14 5 ?)        a node may have a name; ? is a leaf without a number
    )

    node  =  [/] [NAME:] MAX( node ... )  |  [/] [NAME:] MIN( node ... )
          |  [/] [NAME:] NUMBER           |  [/] [NAME:] ?

Blanks, commas and line ends only separate; # starts a comment; large or small
letters. MAX and MIN usually take turns, but need not. Strokes are what an
exercise asks for (`exercise`); a trace (`trace`) finds its own cuts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from retro.errors import BadTextError

if TYPE_CHECKING:
    from collections.abc import Iterator

Number = int | float
Kind = Literal["max", "min", "leaf"]
DEEPEST = 60  # plies of a tree that text may describe
LONGEST_LINE = 60  # a subtree that is no longer is written on one line
_TOKEN = re.compile(
    r"(?P<skip>[\s,]+|\#[^\n]*)|(?P<cut>/)|(?P<name>[a-z_]\w*)\s*:|(?P<kind>max|min)\s*\("
    r"|(?P<close>\))|(?P<number>[+-]?[0-9]+(?:\.[0-9]+)?)(?![\w.])|(?P<open>\?)",
    re.ASCII | re.IGNORECASE,
)
WANTED = "MAX(, MIN(, a number or ?"


@dataclass(frozen=True)
class Tree:
    """A node with all that hangs from it.

    `value` is that of a leaf, None for `?`; `cut` marks the branch that leads here.
    """

    kind: Kind
    branches: tuple[Tree, ...] = ()
    value: Number | None = None
    name: str = ""
    cut: bool = False

    def __str__(self) -> str:
        mark, name = "/" if self.cut else "", f"{self.name}:" if self.name else ""
        if self.kind == "leaf":
            return mark + name + ("?" if self.value is None else number_text(self.value))
        return f"{mark}{name}{self.kind.upper()}({' '.join(map(str, self.branches))})"

    def leaves(self) -> Iterator[Tree]:
        """The leaves from left to right.

        >>> [leaf.value for leaf in read_tree("max(min(3 12) 8)").leaves()]
        [3, 12, 8]
        """
        if self.kind == "leaf":
            yield self
        for branch in self.branches:
            yield from branch.leaves()

    def with_values(self, values: Iterator[Number]) -> Tree:
        """The same tree with other numbers at its leaves, from left to right."""
        if self.kind == "leaf":
            return replace(self, value=next(values))
        return replace(self, branches=tuple(b.with_values(values) for b in self.branches))


def number_text(number: Number) -> str:
    """A number as people write it; whole ones without a point, no bound as inf."""
    return str(int(number)) if number == number // 1 and abs(number) < 1e15 else f"{number:g}"


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


def read_tree(text: str) -> Tree:
    """Read a tree.

    >>> print(read_tree("max( min(3, 12, 8)  min(2 /4 /?) )"))
    MAX(MIN(3 12 8) MIN(2 /4 /?))
    """
    tokens = list(_tokens(text))
    tree, end = _read(tokens, 0, 0)
    if end < len(tokens):
        raise _wrong(tokens, end, "the end: a file holds one tree")
    if tree.cut:
        raise BadTextError("found a stroke before the root; no branch leads there")
    return tree


def write_tree(tree: Tree, indent: int = 0) -> str:
    """The text of a tree, what is short on one line.

    >>> print(write_tree(read_tree("max(" + "min(100 200 300 400) " * 3 + ")")))
    MAX(
      MIN(100 200 300 400)
      MIN(100 200 300 400)
      MIN(100 200 300 400)
    )
    """
    flat = " " * indent + str(tree)
    if tree.kind == "leaf" or len(flat) <= LONGEST_LINE:
        return flat
    head = str(replace(tree, branches=())).removesuffix(")")
    inner = [write_tree(branch, indent + 2) for branch in tree.branches]
    return "\n".join([" " * indent + head, *inner, " " * indent + ")"])


def _tokens(text: str) -> Iterator[_Token]:
    place = 0
    while place < len(text):
        line = text.count("\n", 0, place) + 1
        match = _TOKEN.match(text, place)
        if match is None:
            word = re.split(r"[\s(),]", text[place:], maxsplit=1)[0] or text[place]
            raise BadTextError(f"found {word!r} in line {line} of the tree, wanted {WANTED}")
        kind = match.lastgroup or "skip"
        if kind != "skip":
            yield _Token(kind, match[kind], line)
        place = match.end()


def _read(tokens: list[_Token], place: int, depth: int) -> tuple[Tree, int]:
    """The node that begins at a token, and the place after it."""
    cut, name = False, ""
    if place < len(tokens) and tokens[place].kind == "cut":
        cut, place = True, place + 1
    if place < len(tokens) and tokens[place].kind == "name":
        name, place = tokens[place].text, place + 1
    if place == len(tokens) or tokens[place].kind not in ("kind", "number", "open"):
        raise _wrong(tokens, place, WANTED)
    kind, text, line = tokens[place]
    if kind == "open":
        return Tree("leaf", name=name, cut=cut), place + 1
    if kind == "number":
        value = float(text) if "." in text else int(text)
        return Tree("leaf", value=value, name=name, cut=cut), place + 1
    if depth == DEEPEST:
        raise BadTextError(f"found more than {DEEPEST} plies in line {line} of the tree")
    branches, place = [], place + 1
    while place == len(tokens) or tokens[place].kind != "close":
        branch, place = _read(tokens, place, depth + 1)
        branches.append(branch)
    if not branches:
        raise BadTextError(f"found {text.upper()}() in line {line}, wanted a branch at least")
    inner: Kind = "max" if text.lower() == "max" else "min"
    return Tree(inner, tuple(branches), name=name, cut=cut), place + 1


def _wrong(tokens: list[_Token], place: int, wanted: str) -> BadTextError:
    if place == len(tokens):
        return BadTextError(f"found the end of the tree, wanted {wanted} or a bracket closed")
    found, line = tokens[place].text, tokens[place].line
    return BadTextError(f"found {found!r} in line {line} of the tree, wanted {wanted}")
