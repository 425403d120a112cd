"""Write and change expressions without evaluating them.

In order: the text of an expression, with its macros; replacing names; replacing or removing parts, and adding guards;
replacing constants; and using `compareTo` for amounts, which do not support operators. Everything else in the text
stays as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from dra_plan.api.quantity import canonical
from dra_plan.api.semver import SemverError
from dra_plan.api.semver import parse as parse_version
from dra_plan.cel.library.conversions import double_to_string

from . import ast
from .ast import Expr, nodes
from .environment import Environment
from .infer import infer
from .lexer import END, Token, tokenize
from .parse import parse
from .parts import Reference, TextSpan, clauses, is_named, mentions, parsed
from .reads import is_bind
from .types import QUANTITY, SEMVER, Type, is_dyn

# -- expressions to text -----------------------------------------------------------------------------------------------

_BINARY = {
    "_||_": ("||", 2), "_&&_": ("&&", 3), "_==_": ("==", 4), "_!=_": ("!=", 4), "_<_": ("<", 4), "_<=_": ("<=", 4),
    "_>_": (">", 4), "_>=_": (">=", 4), "@in": ("in", 4), "_+_": ("+", 5), "_-_": ("-", 5), "_*_": ("*", 6),
    "_/_": ("/", 6), "_%_": ("%", 6),
}  # fmt: skip
_UNARY = {"!_": "!", "-_": "-"}
_TERNARY, _PREFIX, _MEMBER = 1, 7, 8
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_SHORT_VERSION = re.compile(r"\d{1,9}(\.\d{1,9})?", re.ASCII)
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def expression_text(expr: Expr) -> str:
    """Return the text of the expression, with as few parentheses as possible."""
    return _text(expr, 0)


def constant_text(value: bool | int | str) -> str:
    """Return a constant in CEL notation."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + "".join(_ESCAPES.get(character, character) for character in value) + '"'
    return str(value)


def is_identifier(text: str) -> bool:
    """Return whether the text can be used as a name."""
    return _IDENTIFIER.fullmatch(text) is not None


def _text(expr: Expr, outer: int) -> str:
    """Return the text, in parentheses if it binds less tightly than the surrounding expression."""
    text, binding = _written(expr)
    return f"({text})" if binding < outer else text


def _written(expr: Expr) -> tuple[str, int]:
    match expr:
        case ast.Const():
            text = _constant(expr)
            return text, _PREFIX if text.startswith("-") else _MEMBER
        case ast.Ident():
            return expr.name, _MEMBER
        case ast.Select():
            text = f"{_text(expr.operand, _MEMBER)}.{expr.field}"
            return (f"has({text})" if expr.test_only else text), _MEMBER
        case ast.Call():
            return _call(expr)
        case ast.List():
            elements = (
                f"{'?' * (index in expr.optional_indices)}{_text(element, 0)}"
                for index, element in enumerate(expr.elements)
            )
            return f"[{', '.join(elements)}]", _MEMBER
        case ast.Map():
            entries = (f"{'?' * e.optional}{_text(e.key, 0)}: {_text(e.value, 0)}" for e in expr.entries)
            return "{" + ", ".join(entries) + "}", _MEMBER
        case ast.Message():
            fields = (f"{'?' * field.optional}{field.field}: {_text(field.value, 0)}" for field in expr.fields)
            return expr.name + "{" + ", ".join(fields) + "}", _MEMBER
    return _fold(expr), _MEMBER


def _constant(expr: ast.Const) -> str:
    value = expr.value
    if value is None:
        return "null"
    if isinstance(value, bytes):
        return 'b"' + "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\x{b:02x}" for b in value) + '"'
    if isinstance(value, float):
        text = double_to_string(value)
        return text if set(text) & set(".eNI") else f"{text}.0"
    return f"{value}u" if expr.kind == "uint" else constant_text(value)


def _call(expr: ast.Call) -> tuple[str, int]:
    args = expr.args
    operator = _BINARY.get(expr.function)
    if operator is not None and len(args) == 2:
        sign, binding = operator
        # Operators on one level group to the left; the parser balances chains of && and ||, which does not change their
        # meaning.
        right = binding if binding <= _TERNARY + 2 else binding + 1
        return f"{_text(args[0], binding)} {sign} {_text(args[1], right)}", binding
    if expr.function in _UNARY:
        return f"{_UNARY[expr.function]}{_text(args[0], _MEMBER)}", _PREFIX
    if expr.function == "_?_:_":
        condition, then, otherwise = args
        mapped = _optional_map(condition, then)
        if mapped is not None:
            return mapped, _MEMBER
        return f"{_text(condition, 2)} ? {_text(then, 2)} : {_text(otherwise, 1)}", _TERNARY
    if expr.function in ("_[_]", "_[?_]"):
        optional = "?" * (expr.function == "_[?_]")
        return f"{_text(args[0], _MEMBER)}[{optional}{_text(args[1], 0)}]", _MEMBER
    if expr.function == "_?._" and isinstance(args[1], ast.Const):
        return f"{_text(args[0], _MEMBER)}.?{args[1].value!s}", _MEMBER
    listed = ", ".join(_text(arg, 0) for arg in args)
    target = "" if expr.target is None else f"{_text(expr.target, _MEMBER)}."
    return f"{target}{expr.function}({listed})", _MEMBER


def _optional_map(condition: Expr, then: Expr) -> str | None:
    """Return `x.optMap(v, ...)` or `x.optFlatMap(v, ...)` from their expansion."""
    if not (isinstance(condition, ast.Call) and condition.function == "hasValue" and condition.target is not None):
        return None
    flat = isinstance(then, ast.Comprehension)
    bound = then if flat or not isinstance(then, ast.Call) or then.function != "optional.of" else then.args[0]
    if not (isinstance(bound, ast.Comprehension) and is_bind(bound)):
        return None
    macro = "optFlatMap" if flat else "optMap"
    return f"{_text(condition.target, _MEMBER)}.{macro}({bound.accu_var}, {_text(bound.result, 0)})"


def _fold(expr: ast.Comprehension) -> str:
    if is_bind(expr):
        if is_identifier(expr.accu_var):
            return f"cel.bind({expr.accu_var}, {_text(expr.accu_init, 0)}, {_text(expr.result, 0)})"
        return _sort_by(expr)
    variables = [expr.iter_var, *([expr.iter_var2] if expr.iter_var2 else [])]
    macro, arguments = macro_of(expr)
    listed = ", ".join((*variables, *(_text(argument, 0) for argument in arguments)))
    return f"{_text(expr.iter_range, _MEMBER)}.{macro}({listed})"


def _sort_by(expr: ast.Comprehension) -> str:
    keys = sort_keys(expr)
    if keys is None:
        return _text(expr.result, 0)
    return f"{_text(expr.accu_init, _MEMBER)}.sortBy({keys.iter_var}, {_text(macro_of(keys)[1][-1], 0)})"


def sort_keys(expr: ast.Comprehension) -> ast.Comprehension | None:
    """Return the comprehension over the keys if this one is the expansion of sortBy, or None."""
    call = expr.result
    if not is_identifier(expr.accu_var) and isinstance(call, ast.Call) and call.args:
        return call.args[0] if isinstance(call.args[0], ast.Comprehension) else None
    return None


def macro_of(expr: ast.Comprehension) -> tuple[str, list[Expr]]:
    """Return the name of the macro that expands to this comprehension, and its arguments after the variables."""
    step = expr.loop_step
    if not isinstance(step, ast.Call):
        return "fold", [step]
    if step.function == "_&&_":
        return "all", [step.args[1]]
    if step.function == "_||_":
        return "exists", [step.args[1]]
    conditions: list[Expr] = []
    if step.function == "_?_:_":
        if isinstance(expr.result, ast.Call):
            return ("existsOne" if expr.iter_var2 else "exists_one"), [step.args[0]]
        conditions = [step.args[0]]
        grown = step.args[1]
        if not isinstance(grown, ast.Call):
            return "fold", [step]
        step = grown
    if step.function == "cel.@mapInsert":
        return ("transformMap" if len(step.args) == 3 else "transformMapEntry"), [*conditions, step.args[-1]]
    addition = step.args[-1]
    element = addition.elements[0] if isinstance(addition, ast.List) and addition.elements else addition
    if expr.iter_var2:
        return "transformList", [*conditions, element]
    if conditions and isinstance(element, ast.Ident) and element.name == expr.iter_var:
        return "filter", conditions
    return "map", [*conditions, element]


# -- names -------------------------------------------------------------------------------------------------------------

Plain = bool | int | str
"""A constant that may be the value of an attribute."""


def renamed(text: str, reference: Reference, name: str) -> str:
    """Return the expression with another name for the referenced value."""
    return _replaced(
        text, [(m.name, _as_written(text, m.name, name)) for m in mentions(text) if m.reference == reference]
    )


FIELDS = {"attribute": "attributes", "capacity": "capacity"}
"""The field of `device` for each kind of name."""


def of_kind(text: str, reference: Reference, kind: str) -> str:
    """Return the expression with the value read from another kind, such as from capacity instead of attributes."""
    field, places = FIELDS[reference.kind], []
    for mention in mentions(text):
        before = mention.domain or mention.name
        start = text.rfind(field, 0, before.start)
        if mention.reference == reference and start >= 0:
            places.append((TextSpan(start, start + len(field)), FIELDS[kind]))
    return _replaced(text, places)


def with_domain(text: str, domain: str, to: str) -> str:
    """Return the expression with a domain replaced by another one."""
    places = dict.fromkeys(m.domain for m in mentions(text) if m.reference.domain == domain and m.domain is not None)
    return _replaced(text, [(place, _as_written(text, place, to)) for place in places])


def _as_written(text: str, place: TextSpan, name: str) -> str:
    """Return the name in the form of the text that it replaces, which is bare after a dot and otherwise in quotes."""
    return name if is_identifier(place.of(text)) else constant_text(name)


def _replaced(text: str, changes: Iterable[tuple[TextSpan, str]]) -> str:
    for place, new in sorted(changes, reverse=True):
        text = f"{text[: place.start]}{new}{text[place.end :]}"
    return text


# -- parts and guards --------------------------------------------------------------------------------------------------


def with_clause(text: str, clause: str, new: str) -> str:
    """Return the expression with a part replaced, or unchanged if it does not have the part."""
    return _replaced(text, [(place, new) for place in parsed(text).clauses() if place.of(text) == clause])


def without_clause(text: str, clause: str) -> str | None:
    """Return the expression without a part, or None if the part is missing or the only one."""
    parts = clauses(text)
    kept = [part for part in parts if part != clause]
    return " && ".join(kept) if kept and len(kept) < len(parts) else None


def presence(reference: Reference) -> str:
    """Return an expression that tests whether the device has the value: `"NAME" in device.attributes["DOMAIN"]`."""
    return f"{constant_text(reference.name)} in {_table(reference)}"


def access(reference: Reference) -> str:
    """Return an expression that reads the value: `device.attributes["DOMAIN"].NAME`."""
    return f"{_table(reference)}.{reference.name}"


def _table(reference: Reference) -> str:
    table = "attributes" if reference.kind == "attribute" else "capacity"
    return f"device.{table}[{constant_text(reference.domain)}]"


def guarded(text: str, lacking: Iterable[Reference]) -> str | None:
    """Return the expression after tests for values that the device may lack, or None if no test is missing."""
    known = clauses(text)
    guards = [guard for reference in lacking if (guard := presence(reference)) not in known]
    return " && ".join([*guards, grouped(text)]) if guards else None


def for_driver(text: str, driver: str) -> str:
    """Return the expression restricted to devices of one driver."""
    return f"device.driver == {constant_text(driver)} && {grouped(text)}"


def grouped(text: str) -> str:
    """Return the expression, in parentheses if it needs them after `&&`."""
    found = parsed(text)
    whole = found.whole().of(text)
    loose = found.root is not None and found.is_operator(found.root, "||", "?") and not found.is_enclosed()
    return f"({whole})" if loose else whole


# -- constants ---------------------------------------------------------------------------------------------------------


class Comparison(NamedTuple):
    """A comparison with a constant, whose position is `place`.

    `is_plain` is true if the other side only names a value of the device.
    """

    text: str
    place: TextSpan
    value: Plain
    is_equal: bool
    is_plain: bool

    @property
    def type(self) -> str:
        """The type of the constant."""
        return {bool: "bool", int: "int", str: "string"}[type(self.value)]

    def with_value(self, value: Plain) -> str:
        """Return the comparison with another constant."""
        return _replaced(self.text, [(self.place, constant_text(value))])

    def retyped(self, published: str) -> str | None:
        """Return the comparison with its constant in the published type, or None if the conversion is not obvious."""
        new = _constant_of(published, self.value)
        return None if new is None else _replaced(self.text, [(self.place, new)])


def comparison(clause: str) -> Comparison | None:
    """Return the comparison if the clause compares with a string, int or bool by `==` or `!=`, or None."""
    found = parsed(clause)
    root = found.root
    if not (isinstance(root, ast.Call) and root.function in ("_==_", "_!=_")):
        return None
    compared, constant = root.args
    value = constant.value if isinstance(constant, ast.Const) and constant.kind in ("bool", "int", "string") else None
    if not isinstance(value, bool | int | str):
        return None
    return Comparison(clause, found.span(constant.offset), value, root.function == "_==_", is_named(compared))


def ordered_with(clause: str) -> tuple[str, TextSpan] | None:
    """Return the type and position of the constant in an ordering comparison, or None if there is none."""
    found = parsed(clause)
    root = found.root
    for node in nodes(root) if root is not None else ():
        if isinstance(node, ast.Call) and (node.function in _SIGNS or node.function in _ORDERS):
            constant = node.args[-1] if node.args else None
            if isinstance(constant, ast.Const) and constant.kind in ("bool", "int", "string") and constant.value != 0:
                return constant.kind, found.span(constant.offset)
    return None


def ordered_as(clause: str, published: str) -> str | None:
    """Return the comparison with its constant in the published type, or None if the conversion is not obvious."""
    if published == "version":
        return with_compare_to(clause, versions=True)
    found = parsed(clause)
    match found.root:
        case ast.Call(function=sign, args=(_, ast.Const() as constant)) if sign in _SIGNS:
            value = constant.value if constant.kind in ("bool", "int", "string") else None
            new = _constant_of(published, value) if isinstance(value, bool | int | str) else None
            return None if new is None else _replaced(clause, [(found.span(constant.offset), new)])
    return None


def _constant_of(published: str, value: Plain) -> str | None:
    """Return the constant as a value in a type that devices publish."""
    if published == "string" and not isinstance(value, str):
        return constant_text(constant_text(value))
    if not isinstance(value, str):
        return None
    if published == "version":
        version = _version(value)
        return None if version is None else f"semver({constant_text(version)})"
    is_meant = value in ("true", "false") if published == "bool" else published == "int" and _is_integer(value)
    return value if is_meant else None


def _is_integer(text: str) -> bool:
    return text.removeprefix("-").isdecimal() and text.isascii()


def _version(text: str) -> str | None:
    """Return the text as a version, with zeros for the numbers that it omits; None if it is not a version."""
    text = text.removeprefix("v")
    if _SHORT_VERSION.fullmatch(text):
        text += ".0" * (2 - text.count("."))
    try:
        parse_version(text)
    except SemverError:
        return None
    return text


def with_amount(clause: str, amount: str) -> str | None:
    """Return `X.compareTo(quantity(AMOUNT)) >= 0` (or `== 0`) with another amount, or None for any other clause."""
    found = parsed(clause)
    match found.root:
        case ast.Call(
            function="_>=_" | "_==_",
            args=(
                ast.Call(
                    function="compareTo", args=(ast.Call(function="quantity", args=(ast.Const(kind="string") as old,)),)
                ),
                ast.Const(value=0, kind="int"),
            ),
        ):
            return _replaced(clause, [(found.span(old.offset), constant_text(amount))])
    return None


# -- amounts compared with operators -----------------------------------------------------------------------------------
# First-time authors often compare amounts with `<` and `>=` in selectors.

_SIGNS = {"_<_": "<", "_<=_": "<=", "_>_": ">", "_>=_": ">="}
_JOINING = frozenset({"_&&_", "_||_", "!_", "_?_:_"})
_ORDERS = frozenset({"compareTo", "isGreaterThan", "isLessThan"})
_MADE = frozenset({"quantity", "semver"})
_OPENING, _CLOSING = ("(", "[", "{"), (")", "]", "}")
_LOOSER = ("&&", "||", "?", ":", ",", "<", "<=", ">", ">=", "==", "!=", "in")
"""The tokens that end an operand of a comparison."""


def with_compare_to(text: str, *, versions: bool = False) -> str | None:
    """Return the expression with `compareTo` for all operators that compare amounts, or None if there are none.

    With `versions`, a string that is compared with a value of the device counts as a version if it is one.
    """
    whole = text
    for place in parsed(text).clauses():
        clause = place.of(text)
        root = parsed(clause).root
        changed = root and _changed(root, versions=versions)
        if changed is not None and changed is not root:
            whole = with_clause(whole, clause, expression_text(changed))
    return None if whole == text else whole


def _changed(expr: Expr, *, versions: bool) -> Expr:
    if not isinstance(expr, ast.Call):
        return expr
    if expr.target is not None:
        return _with_amount(expr, versions=versions)
    if expr.function in _JOINING:
        args = tuple(_changed(arg, versions=versions) for arg in expr.args)
        same = all(new is old for new, old in zip(args, expr.args, strict=True))
        return expr if same else ast.Call(expr.id, expr.offset, None, expr.function, args)
    if expr.function not in _SIGNS:
        return expr
    left, right = expr.args
    if isinstance(left, ast.Call) and left.target is not None and left.function in _ORDERS:
        made = _with_amount(left, versions=versions)
        return expr if made is left else ast.Call(expr.id, expr.offset, None, expr.function, (made, right))
    first, second = _amount(left, right, versions), _amount(right, left, versions)
    if not (_is_amount(first) or _is_amount(second)) or isinstance(first, ast.Const) or isinstance(second, ast.Const):
        return expr
    compared = ast.Call(expr.id, expr.offset, first, "compareTo", (second,))
    return ast.Call(expr.id, expr.offset, None, expr.function, (compared, ast.Const(expr.id, expr.offset, 0, "int")))


def amounts(text: str) -> list[str]:
    """Return the quantities and versions that the expression compares by `compareTo`, such as `quantity("16Gi")`."""
    root = parsed(text).root
    calls = (each for each in (nodes(root) if root is not None else ()) if isinstance(each, ast.Call))
    given = (one for call in calls if call.function == "compareTo" and call.target is not None for one in call.args[:1])
    return [expression_text(one) for one in given if isinstance(one, ast.Call) and one.function in _MADE]


def _with_amount(expr: ast.Call, *, versions: bool) -> Expr:
    """Return a call such as `compareTo("40Gi")` with a quantity or version as its argument; others unchanged."""
    if expr.target is None or expr.function not in _ORDERS or len(expr.args) != 1:
        return expr
    made = _amount(expr.args[0], expr.target, versions)
    return expr if made is expr.args[0] else ast.Call(expr.id, expr.offset, expr.target, expr.function, (made,))


def _is_amount(expr: Expr) -> bool:
    """Return whether the expression is certainly a quantity or a version."""
    made = isinstance(expr, ast.Call) and expr.target is None and expr.function in _MADE
    return made or _is_capacity(expr)


def _is_capacity(expr: Expr) -> bool:
    """Return whether the expression is `device.capacity[DOMAIN].NAME`, in any notation."""
    steps = 0
    while True:
        if isinstance(expr, ast.Select):
            inner, name = expr.operand, expr.field
        elif isinstance(expr, ast.Call) and expr.function == "_[_]":
            inner, name = expr.args[0], ""
        else:
            return False
        if name == "capacity" and isinstance(inner, ast.Ident) and inner.name == "device":
            return steps == 2
        expr, steps = inner, steps + 1


def _amount(expr: Expr, other: Expr, versions: bool) -> Expr:
    """Return a constant in the other side's type, and everything else unchanged."""
    if not isinstance(expr, ast.Const):
        return expr
    if _is_capacity(other) and expr.kind in ("int", "double", "string") and isinstance(expr.value, int | float | str):
        amount = _shortest(expr.value) if isinstance(expr.value, int) else str(expr.value)
        return ast.Call(expr.id, expr.offset, None, "quantity", (ast.Const(expr.id, expr.offset, amount, "string"),))
    version = _version(expr.value) if versions and isinstance(expr.value, str) else None
    if version is None:
        return expr
    text = ast.Const(expr.id, expr.offset, version, "string")
    return ast.Call(expr.id, expr.offset, None, "semver", (text,))


def _shortest(number: int) -> str:
    """Return the number with a decimal or a binary suffix, whichever is shorter; decimal ones start at a million."""
    decimal = canonical(number, "DecimalSI") if abs(number) >= 1_000_000 else str(number)
    return min(decimal, canonical(number, "BinarySI"), key=len) if number % 1024 == 0 else decimal


# -- amounts compared with operators, in place, with certain types -----------------------------------------------------


class Insertion(NamedTuple):
    """An edit: `text` replaces the characters from `begin` up to `end`."""

    begin: int
    end: int
    text: str


def compare_to_edits(expression: str, scope: Environment) -> Iterator[Insertion]:
    """Yield the edits that turn `a >= b` into `a.compareTo(b) >= 0` where both are quantities or both are versions.

    Only types that are certain in `scope` count.
    """
    root, _ = parse(expression, scope.macros)
    if root is None:
        return
    inferred = infer(root, scope)
    tokens = [token for token in tokenize(expression)[0] if token.kind != END]
    at = {token.offset: index for index, token in enumerate(tokens)}
    for node in nodes(inferred.root):
        if isinstance(node, ast.Call) and node.function in _SIGNS and node.offset in at:
            left, right = (inferred.types.get(argument.id) for argument in node.args)
            if left is not None and right is not None and _are_compared(left, right):
                yield from _rewritten(expression, tokens, at[node.offset], _SIGNS[node.function])


def _are_compared(left: Type, right: Type) -> bool:
    """Return whether the types are compared: quantities only with quantities; an attribute may be a version."""
    if left == right:
        return left in (QUANTITY, SEMVER)
    return SEMVER in (left, right) and (is_dyn(left) or is_dyn(right))


def _rewritten(expression: str, tokens: Sequence[Token], sign: int, text: str) -> Iterator[Insertion]:
    first, last = _start(tokens, sign), _stop(tokens, sign)
    if tokens[sign].text != text or first >= sign or last <= sign:
        return
    left_end = _end(tokens[sign - 1])
    right_begin, right_end = tokens[sign + 1].offset, _end(tokens[last])
    if expression[left_end:right_begin].strip() != text:
        return  # there is a comment in between
    yield Insertion(left_end, right_begin, ".compareTo(")
    yield Insertion(right_end, right_end, f") {text} 0")


def _start(tokens: Sequence[Token], sign: int) -> int:
    """Return the first token of the operand before the operator."""
    depth, at = 0, sign
    while at > 0:
        text = tokens[at - 1].text
        if text in _CLOSING:
            depth += 1
        elif text in _OPENING:
            if depth == 0:
                break
            depth -= 1
        elif depth == 0 and text in _LOOSER:
            break
        at -= 1
    return at


def _stop(tokens: Sequence[Token], sign: int) -> int:
    """Return the last token of the operand after the operator."""
    depth, at = 0, sign
    while at + 1 < len(tokens):
        text = tokens[at + 1].text
        if text in _OPENING:
            depth += 1
        elif text in _CLOSING:
            if depth == 0:
                break
            depth -= 1
        elif depth == 0 and text in _LOOSER:
            break
        at += 1
    return at


def _end(token: Token) -> int:
    return token.offset + len(token.text)
