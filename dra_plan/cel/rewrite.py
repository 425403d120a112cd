"""Expressions changed: a name or a constant replaced, a part left out, guards put in front. Nothing is evaluated.

What is changed is found in the tree (`parts`) and written by the language's printer (`unparse`); the rest of the text
stays as it was.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from dra_plan.api.semver import SemverError
from dra_plan.api.semver import parse as parse_version

from . import ast
from .parts import Reference, TextSpan, clauses, is_named, mentions, parsed
from .unparse import constant_text, is_identifier

Plain = bool | int | str
"""A constant that an attribute may have as its value."""


def renamed(text: str, reference: Reference, name: str) -> str:
    """The expression with another name wherever it names this."""
    return _replaced(
        text, [(m.name, _as_written(text, m.name, name)) for m in mentions(text) if m.reference == reference]
    )


def with_domain(text: str, domain: str, to: str) -> str:
    """The expression with another domain wherever it names this one."""
    places = dict.fromkeys(m.domain for m in mentions(text) if m.reference.domain == domain and m.domain is not None)
    return _replaced(text, [(place, _as_written(text, place, to)) for place in places])


def _as_written(text: str, place: TextSpan, name: str) -> str:
    """The name as what it replaces is written: bare after a dot, else in quotes."""
    return name if is_identifier(place.of(text)) else constant_text(name)


def _replaced(text: str, changes: Iterable[tuple[TextSpan, str]]) -> str:
    for place, new in sorted(changes, reverse=True):
        text = f"{text[: place.start]}{new}{text[place.end :]}"
    return text


# -- parts ---------------------------------------------------------------------------------------------------------


def with_clause(text: str, clause: str, new: str) -> str:
    """The expression with one of its parts replaced; as it is if it has no such part."""
    return _replaced(text, [(place, new) for place in parsed(text).clauses() if place.of(text) == clause])


def without_clause(text: str, clause: str) -> str | None:
    """The other parts joined; None if there are none, or no such part."""
    parts = clauses(text)
    kept = [part for part in parts if part != clause]
    return " && ".join(kept) if kept and len(kept) < len(parts) else None


def presence(reference: Reference) -> str:
    """`"NAME" in device.attributes["DOMAIN"]`."""
    return f"{constant_text(reference.name)} in {_table(reference)}"


def access(reference: Reference) -> str:
    """`device.attributes["DOMAIN"].NAME`."""
    return f"{_table(reference)}.{reference.name}"


def _table(reference: Reference) -> str:
    table = "attributes" if reference.kind == "attribute" else "capacity"
    return f"device.{table}[{constant_text(reference.domain)}]"


def guarded(text: str, lacking: Iterable[Reference]) -> str | None:
    """The expression with a check, in front, of each name that may be lacking; None if it has all of them already."""
    known = clauses(text)
    guards = [guard for reference in lacking if (guard := presence(reference)) not in known]
    return " && ".join([*guards, grouped(text)]) if guards else None


def for_driver(text: str, driver: str) -> str:
    """The expression, looked at only for devices of one driver."""
    return f"device.driver == {constant_text(driver)} && {grouped(text)}"


def grouped(text: str) -> str:
    """The expression, in parentheses where `&&` in front would bind stronger than what stands in it."""
    found = parsed(text)
    whole = found.whole().of(text)
    loose = found.root is not None and found.is_operator(found.root, "||", "?") and not found.is_enclosed()
    return f"({whole})" if loose else whole


# -- constants -----------------------------------------------------------------------------------------------------


class Comparison(NamedTuple):
    """A comparison of something with a constant that stands at `place` of the text.

    `is_plain` says that what is compared is something of the device as it is published.
    """

    text: str
    place: TextSpan
    value: Plain
    is_equal: bool
    is_plain: bool

    @property
    def type(self) -> str:
        """The constant's type."""
        return {bool: "bool", int: "int", str: "string"}[type(self.value)]

    def with_value(self, value: Plain) -> str:
        """The comparison with another constant."""
        return _replaced(self.text, [(self.place, constant_text(value))])

    def retyped(self, published: str) -> str | None:
        """The comparison with the constant as the published type; None where that is not plain."""
        new = _constant_of(published, self.value)
        return None if new is None else _replaced(self.text, [(self.place, new)])


def comparison(clause: str) -> Comparison | None:
    """The comparison by `==` or `!=` with a string, an int or a bool that the whole clause is; None for all else."""
    found = parsed(clause)
    root = found.root
    if not (isinstance(root, ast.Call) and root.function in ("_==_", "_!=_")):
        return None
    compared, constant = root.args
    value = constant.value if isinstance(constant, ast.Const) and constant.kind in ("bool", "int", "string") else None
    if not isinstance(value, bool | int | str):
        return None
    return Comparison(clause, found.span(constant.offset), value, root.function == "_==_", is_named(compared))


def _constant_of(published: str, value: Plain) -> str | None:
    """The constant as a value of a type that devices publish."""
    if published == "string" and not isinstance(value, str):
        return constant_text(constant_text(value))
    if not isinstance(value, str):
        return None
    if published == "version":
        return f"semver({constant_text(value)})" if _is_version(value) else None
    is_meant = value in ("true", "false") if published == "bool" else published == "int" and _is_integer(value)
    return value if is_meant else None


def _is_integer(text: str) -> bool:
    return text.removeprefix("-").isdecimal() and text.isascii()


def _is_version(text: str) -> bool:
    try:
        parse_version(text)
    except SemverError:
        return False
    return True


def with_amount(clause: str, amount: str) -> str | None:
    """`X.compareTo(quantity(AMOUNT)) >= 0` (or == 0) with another amount; None for a clause of another form."""
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
