"""Small faults that a source may have: what could be wrong in one place, and the source with it.

    comparison   `a < b` becomes `a <= b`, `==` becomes `!=`
    condition    `if ready` becomes `if not ready`, `and` becomes `or`
    constant     5 becomes 6 or 4, True becomes False
    argument     one of a call is left out, or two change places; `+` becomes `-`
    statement    `total += 1`, `raise ...`, `close()` or `self.last = x` is left out

Only what runs is changed: no annotations, no texts, no assertions, nothing for type checkers.
"""

from __future__ import annotations

import ast
import copy
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Mapping

Kind = Literal["comparison", "condition", "constant", "argument", "statement"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
_LEFT_OUT = (ast.AugAssign, ast.Raise, ast.Continue)


class Fault(NamedTuple):
    """A change of one place of a source, by characters."""

    path: str
    line: int
    kind: Kind
    begin: int
    end: int
    before: str
    after: str

    def planted(self, source: str) -> str:
        """The source with the fault."""
        assert source[self.begin : self.end] == self.before
        return source[: self.begin] + self.after + source[self.end :]

    def __str__(self) -> str:
        before, after = (" ".join(text.split()) for text in (self.before, self.after))
        return f"{self.path}:{self.line}  {self.kind}  {before}  ->  {after}"


def faults_of(source: str, path: str = "") -> list[Fault]:
    """Every fault that can be planted in a source.

    >>> for fault in faults_of("if a < 3:\\n    b += 1\\n"):
    ...     print(fault)
    :1  comparison  a < 3  ->  (a <= 3)
    :1  constant  3  ->  4
    :1  constant  3  ->  2
    :2  statement  b += 1  ->  pass
    :2  constant  1  ->  2
    :2  constant  1  ->  0
    """
    lines = source.splitlines(keepends=True)
    begins = [0]
    for line in lines:
        begins.append(begins[-1] + len(line))

    def place(number: int, column: int) -> int:  # columns of the tree are bytes
        return begins[number - 1] + len(lines[number - 1].encode()[:column].decode())

    found = []
    for node, kind, after in _changes(ast.parse(source)):
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        begin = place(node.lineno, node.col_offset)
        end = place(node.end_lineno, node.end_col_offset)
        fault = Fault(path, node.lineno, kind, begin, end, source[begin:end], after)
        if after != fault.before:
            found.append(fault)
    return found


def _can_be_read(source: str) -> bool:
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


Change = tuple["ast.expr | ast.stmt", Kind, str]


def _changes(node: ast.AST) -> Iterator[Change]:
    """What can be changed in a tree, and how."""
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
        return
    if isinstance(node, ast.stmt):
        yield from _of_statement(node)
    elif isinstance(node, ast.expr):
        yield from _of_expression(node)
    for part in _parts(node):
        yield from _changes(part)


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node in which faults may lie."""
    if isinstance(node, ast.Assert | ast.JoinedStr | ast.Import | ast.ImportFrom):
        return
    skipped = {"annotation", "returns", "decorator_list", "bases"}
    for name, value in ast.iter_fields(node):
        if name not in skipped:
            parts = value if isinstance(value, list) else [value]
            yield from (part for part in parts if isinstance(part, ast.AST))


def _of_statement(node: ast.stmt) -> Iterator[Change]:
    is_call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    is_kept = isinstance(node, ast.Assign) and isinstance(
        node.targets[0], ast.Attribute | ast.Subscript
    )
    if is_call or is_kept or isinstance(node, _LEFT_OUT):
        yield node, "statement", "pass"
    if isinstance(node, ast.If | ast.While):
        yield from _negated(node.test)


def _negated(test: ast.expr) -> Iterator[Change]:
    """A condition that is no comparison itself."""
    if not isinstance(test, ast.Compare | ast.BoolOp | ast.Constant):
        is_not = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
        after = ast.unparse(test.operand if is_not else ast.UnaryOp(ast.Not(), test))  # type: ignore[attr-defined]
        yield test, "condition", f"({after})"


def _of_expression(node: ast.expr) -> Iterator[Change]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        yield node, "comparison", _written(node, ops=[_COMPARED[type(node.ops[0])]()])
    elif isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield node, "condition", _written(node, op=other)
    elif isinstance(node, ast.IfExp):
        yield from _negated(node.test)
    elif isinstance(node, ast.BinOp) and type(node.op) in _COMPUTED:
        yield node, "argument", _written(node, op=_COMPUTED[type(node.op)]())
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield node, "constant", str(not node.value)
        elif isinstance(node.value, int | float):
            yield node, "constant", str(node.value + 1)
            yield node, "constant", str(node.value - 1)
    elif isinstance(node, ast.Call):
        yield from _of_call(node)


def _of_call(node: ast.Call) -> Iterator[Change]:
    for number, keyword in enumerate(node.keywords):
        if keyword.arg is not None:
            rest = node.keywords[:number] + node.keywords[number + 1 :]
            yield node, "argument", _written(node, keywords=rest)
    for number in range(len(node.args) - 1):
        one, two = node.args[number : number + 2]
        if ast.dump(one) != ast.dump(two) and not isinstance(one, ast.Starred):
            args = [*node.args[:number], two, one, *node.args[number + 2 :]]
            yield node, "argument", _written(node, args=args)


def _written(node: ast.expr, **fields: object) -> str:
    """The text of an expression with some fields changed; whatever stands around it."""
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    text = ast.unparse(changed)
    return text if isinstance(node, ast.Call) else f"({text})"


def drawn(sources: Mapping[str, str], rng: random.Random, count: int) -> list[Fault]:
    """So many faults by lot, of each kind as many, each line once."""
    by_kind: dict[Kind, list[Fault]] = {kind: [] for kind in KINDS}
    for path, source in sorted(sources.items()):
        for fault in faults_of(source, path):
            by_kind[fault.kind].append(fault)
    for faults in by_kind.values():
        rng.shuffle(faults)
    found: list[Fault] = []
    while len(found) < count and any(by_kind.values()):
        for faults in by_kind.values():
            taken = {fault[:2] for fault in found}  # a line is changed once
            while faults and len(found) < count:
                fault = faults.pop()
                if fault[:2] not in taken and _can_be_read(fault.planted(sources[fault.path])):
                    found.append(fault)
                    break
    return found
