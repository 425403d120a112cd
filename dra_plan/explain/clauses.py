"""The text of a selector taken apart: the parts that `&&` joins, and the attributes and capacities it names.

Works on text that the compiler has accepted or will judge; evaluates nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_STRING = r"""[rR]?(?:'''(?:\\.|[^\\])*?'''|\"\"\"(?:\\.|[^\\])*?\"\"\"|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")"""
_TOKEN = re.compile(
    rf"(?P<string>{_STRING})|(?P<comment>//[^\n]*)|(?P<and>&&)|(?P<or>\|\|)|(?P<if>\?(?![.\[]))|(?P<other>.)", re.DOTALL
)
_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_REFERENCE = re.compile(
    rf"""\bdevice\s*\.\s*(?P<kind>attributes|capacity)\s*\[\s*\??\s*(?P<domain>{_STRING})\s*\]"""
    rf"""\s*(?:\.\s*\??\s*(?P<field>{_NAME})\b(?!\s*\()|\[\s*\??\s*(?P<index>{_STRING})\s*\])"""
)
_MEMBER = re.compile(
    rf"""(?P<item>{_STRING})\s+in\s+device\s*\.\s*(?P<kind>attributes|capacity)\s*(?:\[\s*(?P<domain>{_STRING})\s*\])?"""
)
_BIND = re.compile(
    rf"""\bcel\s*\.\s*bind\s*\(\s*(?P<name>{_NAME})\s*,\s*(?P<value>device\s*\.\s*(?:attributes|capacity)\s*\[\s*{_STRING}\s*\])\s*,"""
)
_DRIVER = re.compile(r"\bdevice\s*\.\s*driver\b")
_CLOSERS = {"(": ")", "[": "]", "{": "}"}


class Reference(NamedTuple):
    """Something of a device that a selector names: `kind` is attribute, capacity, domain or driver.

    `tests` is True where only its presence is asked (`"x" in ...`). The domain is as written.
    """

    kind: str
    domain: str
    name: str
    tests: bool = False

    @property
    def label(self) -> str:
        """DOMAIN/NAME, or `driver`."""
        return "driver" if self.kind == "driver" else f"{self.domain}/{self.name}" if self.name else self.domain


@lru_cache(maxsize=4096)
def clauses(expression: str) -> tuple[str, ...]:
    """The parts that must all be true, in order; the expression itself when there is no `&&` to split at.

    Parentheses around a part are taken off where that splits further.
    """
    parts = _split(expression)
    if len(parts) == 1:
        inner = _inside(parts[0])
        return clauses(inner) if inner is not None and len(_split(inner)) > 1 else (parts[0],)
    return tuple(clause for part in parts for clause in clauses(part))


def _split(expression: str) -> list[str]:
    """At every `&&` outside of brackets; whole when `||` or `?:` stand outside too, as they bind weaker."""
    depth, start, parts = 0, 0, []
    for match in _TOKEN.finditer(expression):
        text = match.group()
        if match["other"] is not None:
            depth += (text in "([{") - (text in ")]}")
        elif depth == 0 and (match["or"] or match["if"]):
            return [expression.strip()]
        elif depth == 0 and match["and"]:
            parts.append(expression[start : match.start()].strip())
            start = match.end()
    return [*parts, expression[start:].strip()]


def _inside(part: str) -> str | None:
    """What stands in the parentheses that enclose the whole part, or None."""
    if not part.startswith("("):
        return None
    depth = 0
    for match in _TOKEN.finditer(part):
        text = match.group()
        if match["other"] is not None:
            depth += (text in "([{") - (text in ")]}")
            if depth == 0 and match.end() < len(part):
                return None
    return part[1:-1].strip() if depth == 0 else None


@lru_cache(maxsize=4096)
def references(expression: str) -> tuple[Reference, ...]:
    """What the expression names by literal keys, in the order of the text, each once; names bound by cel.bind too."""
    text = _unbound(expression)
    found: list[tuple[int, Reference]] = []
    for match in _REFERENCE.finditer(text):
        name = match["field"] or _literal(match["index"])
        found.append((match.start(), Reference(_kind(match["kind"]), _literal(match["domain"]), name)))
    for match in _MEMBER.finditer(text):
        item = _literal(match["item"])
        domain = match["domain"]
        reference = Reference("domain", item, "", tests=True)
        if domain is not None:
            reference = Reference(_kind(match["kind"]), _literal(domain), item, tests=True)
        found.append((match.start(), reference))
    found += [(match.start(), Reference("driver", "", "driver")) for match in _DRIVER.finditer(text)]
    unique: dict[tuple[str, str, str], Reference] = {}
    for _, reference in sorted(found, key=lambda item: item[0]):
        known = unique.get(reference[:3])
        if known is None or (known.tests and not reference.tests):
            unique[reference[:3]] = reference
    return tuple(unique.values())


def is_reference(text: str) -> bool:
    """Whether the text names one attribute or capacity and does nothing with it."""
    return _REFERENCE.fullmatch(text) is not None or _DRIVER.fullmatch(text) is not None


def _unbound(expression: str) -> str:
    """The expression with names that cel.bind gives to a domain replaced by that domain."""
    text = expression
    for bound in _BIND.finditer(expression):
        domain = bound["value"].replace("\\", r"\\")
        text = re.sub(rf"(?<![\w.'\"]){bound['name']}(?=\s*[.\[])", domain, text)
    return text


def _kind(word: str) -> str:
    return "attribute" if word == "attributes" else "capacity"


def _literal(text: str | None) -> str:
    """The value of a string literal; escapes other than of quotes and backslashes do not occur in names."""
    body = (text or "").lstrip("rR")
    quotes = 3 if body[:3] in ("'''", '"""') else 1
    return re.sub(r"\\(.)", r"\1", body[quotes:-quotes])


_COMPARED = re.compile(rf"\s*(?:==|!=)\s*(?P<value>{_STRING}|-?\d+\b(?!\.)|true\b|false\b)\s*$")


def compared_type(clause: str) -> str | None:
    """The type of the constant at the end of `... == CONSTANT`: string, int or bool; None for anything else."""
    match = _COMPARED.search(clause)
    if match is None:
        return None
    value = match["value"]
    if value in ("true", "false"):
        return "bool"
    return "int" if re.fullmatch(r"-?\d+", value) else "string"
