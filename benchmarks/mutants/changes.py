"""All changes of a module: what `operators` can do at every place, less the places where a change says nothing."""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.mutants.operators import OPERATORS, Edit, Operator, Source, defaults, removals

PACKAGE = Path("src/veilset")
TARGETS = ("gate", "raw/cuts")
"""What is mutated, from the package: the gate, and what decides how much one transaction contributes."""

WORDING = frozenset({"__repr__", "__str__", "sentence", "after_reshaping", "on_chosen_items"})
"""Functions that put something in words."""
WORDING_CALLS = frozenset({"counted", "ordinal", "add_note", "cast"})
"""Calls that do, or that only type checkers read."""
OPTIONAL = frozenset({"side", "initial", "minlength", "default", "start", "reverse", "key", "prepend", "pay"})
"""Keywords of foreign functions that have a default."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one module.

    `text` is the whole new source. `lines` are those of the statement, or of the function whose default it is; tests
    that run one of them can notice. What stands outside of functions runs on import: then `name` is what it defines,
    and tests that run a line with that name can notice.
    """

    module: str
    scope: str
    line: int
    before: str
    after: str
    kind: str
    lines: tuple[int, int]
    name: str
    text: str
    number: int = 1

    @property
    def key(self) -> str:
        """A name that stays the same where other lines come and go; `number` tells equal changes of a scope apart."""
        again = f" ({self.number})" if self.number > 1 else ""
        return f"{self.module} | {self.scope} | {self.before} => {self.after}{again}"


def target_modules(root: Path) -> list[Path]:
    """The files that are mutated, from the root of a checkout."""
    return sorted(
        path.relative_to(root) for target in TARGETS for path in (root / PACKAGE / target).rglob("*.py")
    )


def all_changes(root: Path) -> list[Change]:
    """Every change of every target, in an order that depends on the sources alone."""
    return [
        change
        for path in target_modules(root)
        for change in changes_of(path, (root / path).read_text("utf-8"))
    ]


def changes_of(path: Path, text: str) -> list[Change]:
    """Every change of one module, each a module that Python can read, and none of them twice."""
    source = Source(text)
    finder = _Finder(source, path.relative_to(PACKAGE).as_posix())
    finder.look_at(source.tree)
    seen, numbers, changes = {text}, Counter[str](), []
    for change in sorted(finder.found, key=lambda each: (each.line, each.before, each.after)):
        if change.text not in seen and _is_a_program(change.text):
            seen.add(change.text)
            numbers[change.key] += 1
            changes.append(replace(change, number=numbers[change.key]))
    return changes


def _is_a_program(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


class _Finder:
    """Walks through a module and keeps where it is: in which function, statement and lines."""

    def __init__(self, source: Source, module: str) -> None:
        self.found: list[Change] = []
        self._source, self._module = source, module
        self._operators: tuple[Operator, ...] = (*OPERATORS, defaults(OPTIONAL | _with_defaults(source.tree)))
        self._scope: tuple[str, ...] = ()
        self._in_function = False
        self._lines, self._name = (1, 1), ""

    def look_at(self, node: ast.AST) -> None:
        """Collect the changes of a node and of all that it is made of."""
        if _says_nothing(node, in_function=self._in_function):
            return
        kept = self._scope, self._in_function, self._lines, self._name
        if isinstance(node, ast.stmt):
            self._enter(node)
        for operator in self._operators:
            if not (operator is removals and self._makes_an_object(node)):
                self.found.extend(self._change(edit) for edit in operator(node, self._source))
        for part in _parts(node):
            self.look_at(part)
        self._scope, self._in_function, self._lines, self._name = kept

    def _enter(self, node: ast.stmt) -> None:
        """Where a statement is, and for a function or class where its parts are."""
        last = node.end_lineno or node.lineno
        match node:
            case ast.FunctionDef(name=name):
                self._scope, self._in_function = (*self._scope, name), True
                self._lines, self._name = (node.lineno, last), ""
            case ast.ClassDef(name=name):
                self._scope, self._name = (*self._scope, name), name
            case ast.If() | ast.While() | ast.For() | ast.With() | ast.Try():
                self._lines = (node.lineno, max(node.lineno, node.body[0].lineno - 1))
            case _:
                self._lines = (node.lineno, last)
                if not self._in_function and not self._scope:
                    self._name = _defined(node)

    def _makes_an_object(self, node: ast.AST) -> bool:
        """Whether an attribute gets its first value: without it nothing works, which every test would notice."""
        return isinstance(node, ast.Assign) and self._scope[-1:] == ("__init__",)

    def _change(self, edit: Edit) -> Change:
        raw = self._source.bytes
        begin = raw.rfind(b"\n", 0, edit.start) + 1
        end = raw.find(b"\n", edit.end)
        end = len(raw) if end < 0 else end
        new = raw[: edit.start] + edit.text.encode() + raw[edit.end :]
        return Change(
            module=self._module,
            scope=".".join(self._scope) or "module",
            line=self._source.line_of(edit.start),
            before=_in_one_line(raw[begin:end]),
            after=_in_one_line(raw[begin : edit.start] + edit.text.encode() + raw[edit.end : end]),
            kind=edit.kind,
            lines=self._lines,
            name="" if self._in_function else self._name,
            text=new.decode(),
        )


def _in_one_line(text: bytes) -> str:
    """Code with single spaces and without a comment at its end."""
    lines = [re.sub(r"\s+# .*$", "", line) for line in text.decode().splitlines()]
    return " ".join(" ".join(lines).split())


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """What a node is made of, less annotations, decorators and what `raise` raises."""
    match node:
        case ast.Raise():
            return
        case ast.FunctionDef(args=args, body=body):
            yield from (each for each in (*args.defaults, *args.kw_defaults) if each is not None)
            yield from body
        case ast.ClassDef(body=body):
            yield from body
        case ast.AnnAssign(value=value):
            if value is not None:
                yield value
        case ast.Lambda(body=inner):
            yield inner
        case _:
            yield from ast.iter_child_nodes(node)


def _says_nothing(node: ast.AST, *, in_function: bool) -> bool:
    """Texts, names of types, imports: what no change of behaviour can come from, or one of wording only."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.JoinedStr() | ast.Expr(value=ast.Constant()):
            return True
        case ast.If(test=ast.Name(id=name)):
            return name == "TYPE_CHECKING"
        case ast.FunctionDef(name=name):
            return name in WORDING
        case (
            ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name))
            | ast.Expr(value=ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)))
        ):
            return name in WORDING_CALLS
        case ast.Assign(targets=[ast.Name(id=name)]) if not in_function:
            return name == "__all__" or bool(re.fullmatch(r"[A-Z]+[a-z]\w*", name))  # a name for a type
    return False


def _defined(node: ast.stmt) -> str:
    """The first name that a statement outside of functions defines."""
    return next((each.id for each in ast.walk(node) if isinstance(each, ast.Name)), "")


def _with_defaults(tree: ast.Module) -> frozenset[str]:
    """The parameters and fields of a module that have a default."""
    return frozenset(name for node in ast.walk(tree) for name in _defaults_of(node))


def _defaults_of(node: ast.AST) -> Sequence[str]:
    match node:
        case ast.FunctionDef(args=args):
            plain = [each.arg for each in args.args[len(args.args) - len(args.defaults) :]]
            named = zip(args.kwonlyargs, args.kw_defaults, strict=True)
            return [*plain, *(each.arg for each, default in named if default is not None)]
        case ast.ClassDef(body=body):
            return [
                each.target.id
                for each in body
                if isinstance(each, ast.AnnAssign)
                and isinstance(each.target, ast.Name)
                and each.value is not None
            ]
    return ()
