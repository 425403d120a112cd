"""A text has one home, and nobody reads it to know what happened. `make lint` runs it.

Fails where a text of 20 characters or more stands in two modules of the package, and where a message is matched: what
happened is a value that is carried beside its text (docs/internals/architecture.md).

A text is a literal, or a piece of one between the holes of an f-string. Docstrings are none, nor are single words:
those are names of fields, gates, kinds and codes, which stand wherever they are needed. That a message is matched is
seen where it has the name of one (`.message`, `.reasons`, `reason.text`, the text of a caught error), or a variable
that was just set to one, and meets a literal, a constant or a pattern. Two messages may be compared, and tested for "".
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "dra_plan"
LONG = 20
WORD = re.compile(r"[\s\w-]?[\w-]+\s?", re.ASCII)
"""A name, perhaps with the space that parts it from what is before or behind."""

READ_LATER = {"page"}
"""Folders where messages may be matched: the page is made from printed tables until it is made from documents."""

METHODS = {
    "startswith",
    "endswith",
    "removeprefix",
    "removesuffix",
    "partition",
    "rpartition",
    "split",
    "rsplit",
    "find",
    "index",
    "count",
}
PATTERNS = {"match", "search", "fullmatch", "findall", "finditer"}
CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]+")

Function = ast.FunctionDef | ast.AsyncFunctionDef
LOOKED_AT = (
    ast.Assign,
    ast.NamedExpr,
    ast.For,
    ast.comprehension,
    ast.ExceptHandler,
    ast.Compare,
    ast.Call,
    ast.Match,
)
"""What sets a variable to a message, and what may match one."""


def modules(package: Path) -> list[tuple[Path, ast.Module]]:
    """The modules of a package, each with its path from beside the package."""
    paths = sorted(package.rglob("*.py"))
    return [(path.relative_to(package.parent), ast.parse(path.read_text(encoding="utf-8"))) for path in paths]


# -- texts that stand twice --------------------------------------------------------------------------------------------


def twice(package: Path = PACKAGE) -> dict[str, list[str]]:
    """The texts that stand in several modules, each with its places (FILE:LINE)."""
    places: dict[str, list[tuple[Path, int]]] = defaultdict(list)
    for path, tree in modules(package):
        for node in _texts(tree):
            places[node.value].append((path, node.lineno))
    return {
        text: [f"{path}:{line}" for path, line in found]
        for text, found in sorted(places.items())
        if len({path for path, _ in found}) > 1
    }


def _texts(tree: ast.Module) -> Iterator[ast.Constant]:
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in said:
            continue
        if len(node.value) >= LONG and not WORD.fullmatch(node.value):
            yield node


# -- messages that are matched -----------------------------------------------------------------------------------------


def matched(package: Path = PACKAGE) -> list[str]:
    """The places (FILE:LINE) where a message is matched."""
    return [
        f"{path}:{line}"
        for path, tree in modules(package)
        if not READ_LATER.intersection(path.parts)
        for line in sorted({node.lineno for scope in _scopes(tree) for node in _Messages(scope).matched()})
    ]


def _scopes(tree: ast.Module) -> list[ast.AST]:
    """The module, and its functions, each with those inside it."""
    return [tree, *_functions(tree)]


def _functions(of: ast.Module | ast.ClassDef) -> Iterator[ast.AST]:
    for node in of.body:
        if isinstance(node, Function):
            yield node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node)


class _Messages:
    """What of a scope is a message, and who matches it."""

    def __init__(self, scope: ast.AST) -> None:
        self._nodes = [node for node in ast.walk(scope) if isinstance(node, LOOKED_AT)]
        self._errors = {node.name for node in self._nodes if isinstance(node, ast.ExceptHandler) and _is_ours(node)}
        self._names: set[str] = set()
        if isinstance(scope, Function):
            self._names = {name for node in self._nodes for name in self._set_to_message(node)}

    def _set_to_message(self, node: ast.AST) -> Iterator[str]:
        """The names that a statement or a loop sets to messages."""
        match node:
            case ast.Assign(targets=targets, value=value) if self._is_message(value):
                yield from (target.id for target in targets if isinstance(target, ast.Name))
            case ast.NamedExpr(target=ast.Name(id=name), value=value) if self._is_message(value):
                yield name
            case ast.For(target=ast.Name(id=name), iter=ast.Attribute(attr="reasons")):
                yield name
            case ast.comprehension(target=ast.Name(id=name), iter=ast.Attribute(attr="reasons")):
                yield name

    def _is_message(self, node: ast.AST) -> bool:
        match node:
            case ast.Attribute(attr="message" | "reasons") | ast.Name(id="message"):
                return True
            case ast.Attribute(value=ast.Name(id="reason"), attr="text"):
                return True
            case ast.Name(id=name):
                return name in self._names
            case ast.Call(func=ast.Name(id="str"), args=[ast.Name(id=name)]):
                return name in self._errors
        return False

    def matched(self) -> Iterator[ast.expr]:
        """The expressions that match a message."""
        for node in self._nodes:
            match node:
                case ast.Compare(left=left, comparators=others):
                    sides = [left, *others]
                    if any(map(self._is_message, sides)) and any(map(_is_text, sides)):
                        yield node
                case ast.Call(func=ast.Attribute(value=value, attr=name), args=args) if args:
                    read = [value] if name in METHODS else args if name in PATTERNS else []
                    if any(map(self._is_message, read)):
                        yield node
                case ast.Match(subject=subject) if self._is_message(subject):
                    yield subject


def _is_ours(handler: ast.ExceptHandler) -> bool:
    """Whether it may catch an error of the package. A LIBRARY.Error has nothing but its text, which is an input."""
    return handler.type is None or not any(isinstance(node, ast.Attribute) for node in ast.walk(handler.type))


def _is_text(node: ast.expr) -> bool:
    """Whether it is a text that is written down, here or as a constant."""
    match node:
        case ast.Constant(value=str(value)):
            return value != ""
        case ast.JoinedStr():
            return True
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return CONSTANT.fullmatch(name) is not None
        case ast.Tuple(elts=parts) | ast.Set(elts=parts) | ast.List(elts=parts):
            return any(map(_is_text, parts))
    return False


def main() -> int:
    """Print the texts without one home and the places that match messages; the exit status is 1 if there is any."""
    several, places = twice(), matched()
    for text, homes in several.items():
        print(f"{text!r} stands in several modules: {', '.join(homes)}")
    for place in places:
        print(f"{place} matches a message")
    return 1 if several or places else 0


if __name__ == "__main__":
    sys.exit(main())
