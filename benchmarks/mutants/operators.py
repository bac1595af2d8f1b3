"""Which small changes a piece of code can have: one function for each kind, from a node to replacements of text.

Texts are replaced, not trees: a change reads as somebody would have typed it, and all other lines stay as they are.
"""

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Edit:
    """Bytes `start` to `end` of a source become `text`."""

    start: int
    end: int
    text: str
    kind: str


class Source:
    """A module's text, and where the nodes of its tree stand in it; places are in bytes, as Python counts columns."""

    def __init__(self, text: str) -> None:
        self.bytes = text.encode()
        self.tree = ast.parse(text)
        self._starts = [0]
        for line in self.bytes.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def span(self, node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
        """From the first byte of a node up to, not including, the first one behind it."""
        last, column = node.end_lineno or node.lineno, node.end_col_offset or 0
        return self._starts[node.lineno - 1] + node.col_offset, self._starts[last - 1] + column

    def of(self, node: ast.expr | ast.stmt) -> str:
        """The text of a node."""
        start, end = self.span(node)
        return self.bytes[start:end].decode()

    def operand(self, node: ast.expr) -> str:
        """The text of a node where it takes the place of a larger expression."""
        plain = isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.Constant)
        return self.of(node) if plain else f"({self.of(node)})"

    def line_of(self, place: int) -> int:
        """The number of the line, from 1 up, of a byte."""
        return self.bytes[:place].count(b"\n") + 1

    def token(self, before: ast.expr, after: ast.expr, pattern: str) -> tuple[int, int] | None:
        """Where an operator stands between two nodes."""
        start, end = self.span(before)[1], self.span(after)[0]
        found = re.search(pattern, self.bytes[start:end].decode())
        return None if found is None else (start + found.start(), start + found.end())


Operator = Callable[[ast.AST, Source], Iterator[Edit]]

_COMPARISONS: dict[type[ast.cmpop], tuple[str, tuple[str, ...]]] = {
    ast.Lt: (r"<", ("<=", ">=")),
    ast.LtE: (r"<=", ("<", ">")),
    ast.Gt: (r">", (">=", "<=")),
    ast.GtE: (r">=", (">", "<")),
    ast.Eq: (r"==", ("!=",)),
    ast.NotEq: (r"!=", ("==",)),
    ast.Is: (r"\bis\b", ("is not",)),
    ast.IsNot: (r"\bis\s+not\b", ("is",)),
    ast.In: (r"\bin\b", ("not in",)),
    ast.NotIn: (r"\bnot\s+in\b", ("in",)),
}
"""How a comparison is written, and what stands in its place: the other side of the boundary, and the opposite."""

_ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: (r"\+", "-"),
    ast.Sub: (r"-", "+"),
    ast.Mult: (r"\*", "//"),
    ast.Div: (r"/", "*"),
    ast.FloorDiv: (r"//", "*"),
    ast.Mod: (r"%", "//"),
    ast.Pow: (r"\*\*", "*"),
    ast.LShift: (r"<<", ">>"),
    ast.RShift: (r">>", "<<"),
    ast.BitAnd: (r"&", "|"),
    ast.BitOr: (r"\|", "&"),
}
_BOTH_SIDES = ast.Mult
_ONE_SIDE = ast.Div | ast.FloorDiv | ast.Pow | ast.Mod | ast.Add | ast.Sub | ast.LShift | ast.RShift

_OPPOSITES = {
    word: other
    for pair in (
        ("min", "max"),
        ("minimum", "maximum"),
        ("any", "all"),
        ("floor", "ceil"),
        ("argmin", "argmax"),
        ("bisect_left", "bisect_right"),
    )
    for word, other in (pair, pair[::-1])
}
_CLAMPS = frozenset({"min", "max", "minimum", "maximum"})
_SHAPERS = frozenset(
    {"abs", "sort", "sorted", "unique", "cumsum", "round", "rint", "floor", "ceil", "diff", "isqrt"}
)
"""Functions that return something of the kind of their first argument."""
LARGE = 16
"""Integers above this are halved; one more or less would hardly show."""


def comparisons(node: ast.AST, source: Source) -> Iterator[Edit]:
    """Boundaries moved by one, and opposites."""
    if not isinstance(node, ast.Compare):
        return
    sides = [node.left, *node.comparators]
    for op, before, after in zip(node.ops, sides, sides[1:], strict=False):
        pattern, others = _COMPARISONS[type(op)]
        place = source.token(before, after, pattern)
        if place is not None:
            yield from (Edit(*place, other, "comparison") for other in others)


def arithmetic(node: ast.AST, source: Source) -> Iterator[Edit]:
    """Another operator, or one of the two operands alone."""
    if not isinstance(node, ast.BinOp) or type(node.op) not in _ARITHMETIC:
        return
    pattern, other = _ARITHMETIC[type(node.op)]
    place = source.token(node.left, node.right, pattern)
    if place is not None:
        yield Edit(*place, other, "arithmetic")
    small = isinstance(node.op, ast.Add | ast.Sub) and isinstance(node.right, ast.Constant)
    if isinstance(node.op, _BOTH_SIDES) or (isinstance(node.op, _ONE_SIDE) and not small):
        yield Edit(*source.span(node), source.operand(node.left), "dropped factor or term")
    if isinstance(node.op, _BOTH_SIDES):
        yield Edit(*source.span(node), source.operand(node.right), "dropped factor or term")


def augmented(node: ast.AST, source: Source) -> Iterator[Edit]:
    """Another operator in `x += y` and its like."""
    if isinstance(node, ast.AugAssign) and type(node.op) in _ARITHMETIC:
        pattern, other = _ARITHMETIC[type(node.op)]
        place = source.token(node.target, node.value, pattern)
        if place is not None:
            yield Edit(*place, other, "arithmetic")


def constants(node: ast.AST, source: Source) -> Iterator[Edit]:
    """Flags flipped, small integers one up and one down, large ones halved, floats doubled."""
    if not isinstance(node, ast.Constant):
        return
    value, span = node.value, source.span(node)
    if isinstance(value, bool):
        yield Edit(*span, str(not value), "flag")
    elif isinstance(value, int):
        others = [value + 1, value - 1] if abs(value) <= LARGE else [value // 2]
        yield from (Edit(*span, str(other), "integer") for other in others)
    elif isinstance(value, float):
        yield Edit(*span, repr(2 * value), "float")


def logic(node: ast.AST, source: Source) -> Iterator[Edit]:
    """`and` for `or`, no `not`, no minus."""
    if isinstance(node, ast.BoolOp):
        word, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for before, after in zip(node.values, node.values[1:], strict=False):
            place = source.token(before, after, rf"\b{word}\b")
            if place is not None:
                yield Edit(*place, other, "and, or, not")
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        kind = "and, or, not" if isinstance(node.op, ast.Not) else "sign"
        yield Edit(*source.span(node), source.operand(node.operand), kind)


def conditions(node: ast.AST, source: Source) -> Iterator[Edit]:
    """The opposite of a condition that is neither one comparison nor a `not`, which have opposites of their own."""
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        tests = [node.test]
    elif isinstance(node, ast.comprehension):
        tests = node.ifs
    else:
        return
    for test in tests:
        own = isinstance(test, ast.UnaryOp | ast.Constant) or (
            isinstance(test, ast.Compare) and len(test.ops) == 1
        )
        if not own:
            yield Edit(*source.span(test), f"not ({source.of(test)})", "condition")


def opposites(node: ast.AST, source: Source) -> Iterator[Edit]:
    """`max` for `min`, `ceil` for `floor`, the left side for the right one, and so on."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
        word = _called(node)
        if word in _OPPOSITES:
            end = source.span(node.func)[1]
            yield Edit(end - len(word), end, _OPPOSITES[word], "opposite function")
    elif isinstance(node, ast.keyword) and node.arg == "side":
        left = isinstance(node.value, ast.Constant) and node.value.value == "left"
        yield Edit(*source.span(node.value), '"right"' if left else '"left"', "opposite function")


def arguments(node: ast.AST, source: Source) -> Iterator[Edit]:
    """A bound that is not there, and a function that leaves its argument as it is."""
    if not isinstance(node, ast.Call) or any(isinstance(each, ast.Starred) for each in node.args):
        return
    word, span = _called(node), source.span(node)
    if word in _CLAMPS and len(node.args) > 1:
        yield from (Edit(*span, source.operand(each), "dropped bound") for each in node.args)
    elif word in _SHAPERS and node.args:
        yield Edit(*span, source.operand(node.args[0]), "argument returned")


def _called(node: ast.Call) -> str:
    """The last name of what is called."""
    match node.func:
        case ast.Name(id=word) | ast.Attribute(attr=word):
            return word
    return ""


def slices(node: ast.AST, source: Source) -> Iterator[Edit]:
    """A slice without its beginning, and without its end."""
    if isinstance(node, ast.Slice):
        yield from (
            Edit(*source.span(end), "", "slice") for end in (node.lower, node.upper) if end is not None
        )


def removals(node: ast.AST, source: Source) -> Iterator[Edit]:
    """Statements that are not there: `raise`, a call for its effect, a change of an attribute or of a place."""
    effect = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    stored = isinstance(node, ast.Assign) and any(
        isinstance(each, ast.Attribute | ast.Subscript) for each in node.targets
    )
    if isinstance(node, ast.Raise | ast.AugAssign) or (
        isinstance(node, ast.Expr | ast.Assign) and (effect or stored)
    ):
        yield Edit(*source.span(node), "pass", "removed statement")


def defaults(optional: frozenset[str]) -> Operator:
    """An argument that is not passed on, so that the default holds: for keywords that are known to have one."""

    def drop(node: ast.AST, source: Source) -> Iterator[Edit]:
        if isinstance(node, ast.keyword) and node.arg in optional:
            start, end = source.span(node)
            before = source.bytes[:start].rstrip()
            if before.endswith(b","):
                yield Edit(len(before) - 1, end, "", "default")
            else:
                comma = re.match(rb"\s*,?\s*", source.bytes[end:])
                yield Edit(start, end + (comma.end() if comma else 0), "", "default")

    return drop


OPERATORS: tuple[Operator, ...] = (
    comparisons,
    arithmetic,
    augmented,
    constants,
    logic,
    conditions,
    opposites,
    arguments,
    slices,
    removals,
)
