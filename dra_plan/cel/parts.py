"""The parts of an expression that can be shown or changed: the operands of `&&`, and the names that it reads.

Each part has its position in the text, so that the rest can stay as it is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

from dra_plan.releases import NEWEST

from . import ast
from .ast import Expr, children, nodes, with_room
from .environment import environment
from .lexer import END, Token, tokenize
from .parse import parse

_OPENERS, _CLOSERS = frozenset("([{"), frozenset(")]}")

NamedKind: TypeAlias = Literal["attribute", "capacity", "domain", "driver"]
Use: TypeAlias = Literal["read", "optional", "test"]
"""The use of a name in an expression: read, read as optional, or only tested for existence."""

_TABLES: dict[str, NamedKind] = {"attributes": "attribute", "capacity": "capacity"}


class TextSpan(NamedTuple):
    """A part of a text, from `start` up to but not including `end`."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """Return this part of the text."""
        return text[self.start : self.end]


class Reference(NamedTuple):
    """A value of a device that an expression names, with the domain as it is written.

    A reference to a domain (`"d" in device.attributes`) has no name, and a reference to the driver has no domain.
    """

    kind: NamedKind
    domain: str
    name: str

    @property
    def label(self) -> str:
        """The name in messages: DOMAIN/NAME, DOMAIN or `driver`."""
        return "driver" if self.kind == "driver" else f"{self.domain}/{self.name}" if self.name else self.domain


class Mention(NamedTuple):
    """One occurrence of a reference in an expression: its use, and the positions of its domain and name."""

    reference: Reference
    use: Use
    domain: TextSpan | None
    name: TextSpan


class Parsed:
    """An expression with its syntax tree and tokens. `root` is None if the text does not parse."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.root, _ = with_room(lambda: parse(text, environment(NEWEST).macros))
        tokens, _ = tokenize(text)
        self.tokens = [token for token in tokens if token.kind != END]
        self._at = {token.offset: position for position, token in enumerate(self.tokens)}

    def token(self, offset: int, after: int = 0) -> Token:
        """Return the token at an offset, or the one `after` tokens later."""
        return self.tokens[self._at[offset] + after]

    def span(self, offset: int) -> TextSpan:
        """Return the span of the token at an offset. For a minus sign, it includes the number after the sign."""
        token = self.token(offset)
        return TextSpan(offset, self._end(self._at[offset] + (token.kind == "-")))

    def whole(self) -> TextSpan:
        """Return the span of the expression, without spaces and comments around it."""
        return self._span_of(0, len(self.tokens)) if self.tokens else TextSpan(0, 0)

    def is_operator(self, expr: Expr, *signs: str) -> bool:
        """Return whether the expression is written with one of these operators, rather than created by a macro."""
        return isinstance(expr, ast.Call) and expr.offset in self._at and self.token(expr.offset).kind in signs

    def clauses(self) -> tuple[TextSpan, ...]:
        """Return the parts of the expression that must all be true, in text order.

        If no parts are joined by `&&`, return the whole expression. Parentheses around several parts belong to none of
        them.
        """
        signs = [] if self.root is None else sorted(self._at[offset] for offset in _chain(self.root))
        if not signs:
            return (self.whole(),)
        starts, ends = [0, *(sign + 1 for sign in signs)], [*signs, len(self.tokens)]
        return tuple(self._ungrouped(start, end) for start, end in zip(starts, ends, strict=True))

    def is_enclosed(self) -> bool:
        """Return whether the whole expression is in one pair of parentheses."""
        return bool(self.tokens) and self.tokens[0].kind == "(" and self._closer(0) == len(self.tokens) - 1

    def mentions(self) -> tuple[Mention, ...]:
        """Return all mentions of values of the device, in text order."""
        if self.root is None:
            return ()
        root = self.root
        found = with_room(lambda: dict.fromkeys(_Mentions(self).of(root, {})))
        return tuple(sorted(found, key=lambda mention: mention.name))

    def _ungrouped(self, start: int, end: int) -> TextSpan:
        """Return the tokens from start up to end, without brackets at the edges that are closed or opened outside."""
        unclosed: list[int] = []
        for position in range(start, end):
            kind = self.tokens[position].kind
            if kind in _OPENERS:
                unclosed.append(position)
            elif kind in _CLOSERS:
                if not unclosed:
                    end = position
                    break
                unclosed.pop()
        return self._span_of(unclosed[-1] + 1 if unclosed else start, end)

    def _closer(self, position: int) -> int:
        """Return the position of the bracket that closes the one at a position."""
        depth = 0
        for at in range(position, len(self.tokens)):
            kind = self.tokens[at].kind
            depth += (kind in _OPENERS) - (kind in _CLOSERS)
            if depth == 0:
                return at
        return len(self.tokens)

    def tested_name(self, expr: ast.Select) -> TextSpan:
        """Return the span of the name that `has(...)` tests: the last name in the parentheses."""
        position = self._closer(self._at[expr.offset]) - 1
        while self.tokens[position].kind == ")":
            position -= 1
        return self._span_of(position, position + 1)

    def _span_of(self, start: int, end: int) -> TextSpan:
        return TextSpan(self.tokens[start].offset, self._end(end - 1))

    def _end(self, position: int) -> int:
        token = self.tokens[position]
        return token.offset + len(token.text)


@lru_cache(maxsize=4096)
def parsed(text: str) -> Parsed:
    """Return the expression with its syntax tree and tokens. Results are cached."""
    return Parsed(text)


def clauses(text: str) -> tuple[str, ...]:
    """Return the parts of the text that must all be true, as they are written.

    If the text does not parse, return the whole text.
    """
    return tuple(span.of(text) for span in parsed(text).clauses())


@lru_cache(maxsize=4096)
def mentions(text: str) -> tuple[Mention, ...]:
    """Return all mentions of values of the device in the expression, in text order."""
    return parsed(text).mentions()


def references(text: str, *uses: Use) -> tuple[Reference, ...]:
    """Return the values of the device that the expression names, in text order.

    If `uses` are given, only values with one of these uses are returned. If a value is used in several ways, read takes
    precedence over optional, and optional over test.
    """
    found: dict[Reference, Use] = {}
    for mention in mentions(text):
        known = found.setdefault(mention.reference, mention.use)
        found[mention.reference] = min(known, mention.use, key=_FAILING.index)
    return tuple(reference for reference, use in found.items() if not uses or use in uses)


_FAILING: tuple[Use, ...] = ("read", "optional", "test")


def is_reference(text: str) -> bool:
    """Return whether the expression only names a value of the device."""
    root = parsed(text).root
    return root is not None and is_named(root)


def is_named(expr: Expr) -> bool:
    """Return whether the expression only names a value of the device."""
    return not _is_test(expr) and bool(_path(expr, {}, whole=True))


def calls(text: str, function: str) -> bool:
    """Return whether the expression calls the function."""
    root = parsed(text).root
    return root is not None and any(isinstance(n, ast.Call) and n.function == function for n in nodes(root))


def strings(text: str) -> frozenset[str]:
    """Return the string literals in the expression."""
    root = parsed(text).root
    found = () if root is None else nodes(root)
    return frozenset(n.value for n in found if isinstance(n, ast.Const) and isinstance(n.value, str))


def bounds(text: str) -> tuple[str, tuple[object, ...]] | None:
    """Return the operator (or `in`) and the constants with which an expression compares one value of the device.

    Quantities and versions are returned as text. The result is None for any other expression.
    """
    match parsed(text).root:
        case ast.Call(
            function=function,
            args=(ast.Call(target=ast.Select() as named, function="compareTo", args=(of,)), ast.Const(value=0)),
        ) if function in _OPERATORS:
            return _bounds(named, _OPERATORS[function], (of,))
        case ast.Call(target=ast.Select() as named, function="isGreaterThan" | "isLessThan" as function, args=(of,)):
            return _bounds(named, ">" if function == "isGreaterThan" else "<", (of,))
        case ast.Call(target=None, function="@in", args=(named, ast.List(elements=elements))):
            return _bounds(named, "in", elements)
        case ast.Call(target=None, function=function, args=(named, of)) if function in _OPERATORS:
            return _bounds(named, _OPERATORS[function], (of,))
    return None


_OPERATORS = {f"_{sign}_": sign for sign in ("==", "!=", "<", "<=", ">", ">=")}


def _bounds(named: Expr, sign: str, given: Sequence[Expr]) -> tuple[str, tuple[object, ...]] | None:
    made = [
        one.args[0] if isinstance(one, ast.Call) and one.function in ("quantity", "semver") else one for one in given
    ]
    constants = tuple(one.value for one in made if isinstance(one, ast.Const))
    return (sign, constants) if is_named(named) and constants and len(constants) == len(given) else None


def _chain(root: Expr) -> Iterator[int]:
    """Yield the offsets of the `&&` operators that join the whole expression."""
    waiting = [root]
    while waiting:
        expr = waiting.pop()
        if isinstance(expr, ast.Call) and expr.function == "_&&_":
            yield expr.offset
            waiting += expr.args


class _Key(NamedTuple):
    """A step from one part of the device to a nested one: the constant, its node, and whether it is optional."""

    text: str
    node: Expr
    optional: bool


_Path: TypeAlias = tuple[_Key, ...]
_Bound: TypeAlias = Mapping[str, "_Path | None"]
"""The enclosing comprehensions' variables, with the path that each stands for; None if it stands for anything else."""


def _path(expr: Expr, bound: _Bound, *, whole: bool = False) -> _Path | None:
    """Return the path from `device` to the expression, by constants.

    Return None for anything else, and, if `whole` is set, also for an incomplete path.
    """
    path = _way(expr, bound)
    return path if path is None or not whole or _kind(path) is not None else None


def _way(expr: Expr, bound: _Bound) -> _Path | None:
    if isinstance(expr, ast.Ident):
        return bound[expr.name] if expr.name in bound else () if expr.name.lstrip(".") == "device" else None
    if isinstance(expr, ast.Select):
        outer, key, optional = _way(expr.operand, bound), expr.field, False
    elif isinstance(expr, ast.Call) and expr.function in ("_[_]", "_[?_]", "_?._"):
        constant = expr.args[1]
        if not (isinstance(constant, ast.Const) and isinstance(constant.value, str)):
            return None
        outer, key, optional = _way(expr.args[0], bound), constant.value, expr.function != "_[_]"
    else:
        return None
    return None if outer is None or len(outer) == 3 else (*outer, _Key(key, expr, optional))


def _kind(path: _Path) -> NamedKind | None:
    """Return the kind of a complete path; None for one that continues."""
    if len(path) == 3:
        return _TABLES.get(path[0].text)
    return "driver" if len(path) == 1 and path[0].text == "driver" else None


def _is_test(expr: Expr) -> bool:
    return isinstance(expr, ast.Select) and expr.test_only


class _Mentions:
    """A finder of the mentions in an expression's tree."""

    def __init__(self, parsed: Parsed) -> None:
        self._parsed = parsed

    def of(self, expr: Expr, bound: _Bound) -> Iterator[Mention]:
        """Yield the mentions in a part; `bound` are the variables that it may use."""
        path = _path(expr, bound, whole=True)
        if path is not None:
            yield self._mention(path, "test" if _is_test(expr) else None)
        elif isinstance(expr, ast.Comprehension):
            yield from self._of_comprehension(expr, bound)
        else:
            if isinstance(expr, ast.Call) and expr.function == "@in":
                yield from self._of_membership(expr, bound)
            for part in children(expr):
                yield from self.of(part, bound)

    def _of_comprehension(self, expr: ast.Comprehension, bound: _Bound) -> Iterator[Mention]:
        yield from self.of(expr.iter_range, bound)
        yield from self.of(expr.accu_init, bound)
        outer = {**bound, expr.accu_var: _way(expr.accu_init, bound)}
        inner = {**outer, expr.iter_var: None, expr.iter_var2: None}
        for part in (expr.loop_condition, expr.loop_step):
            yield from self.of(part, inner)
        yield from self.of(expr.result, outer)

    def _of_membership(self, expr: ast.Call, bound: _Bound) -> Iterator[Mention]:
        """Yield the mentions in `"name" in device.attributes["domain"]`, or `"domain" in device.attributes`."""
        item, path = expr.args[0], _way(expr.args[1], bound)
        if (
            not path
            or path[0].text not in _TABLES
            or not isinstance(item, ast.Const)
            or not isinstance(item.value, str)
        ):
            return
        name = self._parsed.span(item.offset)
        if len(path) == 1:
            yield Mention(Reference("domain", item.value, ""), "test", name, name)
        elif len(path) == 2:
            reference = Reference(_TABLES[path[0].text], path[1].text, item.value)
            yield Mention(reference, "test", self._place(path[1]), name)

    def _mention(self, path: _Path, use: Use | None) -> Mention:
        use = use or ("optional" if any(key.optional for key in path) else "read")
        if len(path) == 1:
            return Mention(Reference("driver", "", "driver"), use, None, self._place(path[0]))
        _, domain, name = path
        reference = Reference(_TABLES[path[0].text], domain.text, name.text)
        return Mention(reference, use, self._place(domain), self._place(name))

    def _place(self, key: _Key) -> TextSpan:
        """Return the span of the key."""
        if isinstance(key.node, ast.Select):
            if key.node.test_only:
                return self._parsed.tested_name(key.node)
            token = self._parsed.token(key.node.offset, after=1)
            return TextSpan(token.offset, token.offset + len(token.text))
        assert isinstance(key.node, ast.Call)  # the key of an index or an optional selection is its constant
        return self._parsed.span(key.node.args[1].offset)
